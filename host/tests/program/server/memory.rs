//! A server takes no more memory after hundreds of reloads than after some, nor after a
//! first start, which compiles, than after others.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::{Ends, wait_until};
use serde_json::{Value, json};

use super::deployment::{Api, cluster};
use super::folder;
use super::reload::{drive, replace, variant, wait_for};

/// Reloads before memory is looked at: histories have filled up and every variant has
/// been compiled.
const WARM: usize = 120;

/// Reloads after that.
const MORE: usize = 300;

/// Variants of the unit that take turns.
const VARIANTS: usize = 40;

/// What a reload may take for good, in KiB, on average. What is remembered of one takes
/// less than 4; the code of the smallest unit and what is kept for its calls more than 60.
const EACH: usize = 24;

/// Between two decisions of a client, so that the load leaves the processors to the reloads.
const REST: Duration = Duration::from_millis(4);

/// Memory of a process that is no file's, in KiB.
fn memory(process: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

#[test]
fn memory_is_flat_after_hundreds_of_reloads_under_load() {
    let data = folder();
    let words = ["--durability", "normal", "--recorded-decisions", "50"];
    let server = Server::start(data.path(), &words);
    let api = Api::of(&server);
    for name in ["c", "d"] {
        let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster(name, 20));
        assert_eq!(made.status, 201);
    }
    let file = data.path().join("units/worst-fit.wasm");
    let (ends, decided) = (AtomicBool::new(false), AtomicUsize::new(0));
    let reload = |rounds: std::ops::Range<usize>| {
        for round in rounds {
            let bytes = variant(round % VARIANTS);
            replace(&file, &bytes);
            wait_for(&api, &bytes, &format!("round {round}"));
        }
        memory(server.id())
    };
    std::thread::scope(|scope| {
        let _ends = Ends(&ends);
        for name in ["c", "d"] {
            let (api, ends, decided) = (Api::of(&server), &ends, &decided);
            scope.spawn(move || drive((&api, name), ends, decided, REST));
        }
        let warm = reload(0..WARM);
        let before = decided.load(Ordering::Relaxed);
        let after = reload(WARM..WARM + MORE);
        ends.store(true, Ordering::Relaxed);
        let decisions = decided.load(Ordering::Relaxed) - before;
        assert!(decisions > 0, "there was no load");
        let grown = after.saturating_sub(warm);
        println!("{MORE} reloads, {decisions} decisions: {warm} KiB, then {grown} KiB more");
        assert!(
            grown < MORE * EACH,
            "{grown} KiB more than {warm} KiB after {MORE} reloads and {decisions} decisions"
        );
    });
}

#[test]
fn a_first_start_keeps_no_memory_of_a_compiler() {
    let data = folder();
    let idle = || {
        let mut command = placewright(["serve", "--listen", "127.0.0.1:0"]);
        command.args(["--log-format", "json", "--data"]);
        command.arg(data.path());
        memory(Server::spawn(command).id())
    };
    let (first, second) = (idle(), idle());
    println!("{first} KiB after the first start, {second} KiB after the second");
    assert!(first < second + second / 4, "{first} and {second} KiB");
}

#[test]
fn memory_of_large_documents_is_given_back() {
    let data = folder();
    let server = Server::start(data.path(), &["--durability", "normal"]);
    let api = Api::of(&server);
    let before = memory(server.id());
    let nodes: Vec<_> = (0..100)
        .map(|index| json!({"index": index, "memory": 1 << 20, "host-nodes": [{"index": 0}]}))
        .collect();
    let hosts: Vec<_> = (0..10)
        .map(|host| {
            let vm = |vm: i32| json!({"id": format!("v-{host}-{vm}"), "numa-nodes": nodes});
            json!({
                "id": format!("h{host}"), "cpu.cores": 4000, "memory.total": "80 TiB",
                "vms": (0..80).map(vm).collect::<Vec<_>>(),
            })
        })
        .collect();
    let document = json!({"name": "c", "hosts": hosts});
    for _ in 0..3 {
        let made = api.send("POST", "/v1/clusters?policy=worst-fit", &document);
        assert_eq!(made.status, 201, "{}", made.body);
        let gone = api.send("DELETE", "/v1/clusters/c", &Value::Null);
        assert_eq!(gone.status, 204, "{}", gone.body);
    }
    // Of the hundreds of MiB that such a document takes.
    wait_until("memory given back", || {
        memory(server.id()) <= before + (100 << 10)
    });
}
