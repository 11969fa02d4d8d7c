//! Files of units are replaced while decisions go on.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use placewright_engine::unit::Digest;
use placewright_tests::server::Server;
use placewright_tests::waiting::{Ends, wait_until};
use serde_json::json;

use super::deployment::{Api, cluster, vm};
use super::folder;

/// How often a file is replaced.
const ROUNDS: usize = 60;

/// VMs that come and go in turn: what is remembered of each that has gone is there from the
/// start.
const VMS: usize = 500;

/// The same unit with other bytes: with a section that nobody reads.
pub(super) fn variant(number: usize) -> Vec<u8> {
    let embedded = placewright_plugins::UNITS.iter();
    let unit = embedded
        .clone()
        .find(|unit| unit.name == "worst-fit")
        .unwrap();
    let note = format!("variant {number}");
    let mut section = vec![4];
    section.extend_from_slice(b"note");
    section.extend_from_slice(note.as_bytes());
    let mut bytes = unit.bytes.to_vec();
    bytes.push(0);
    bytes.push(u8::try_from(section.len()).unwrap());
    bytes.extend(section);
    bytes
}

fn in_force(api: &Api) -> String {
    let unit = api.get("/v1/units/worst-fit").body;
    unit["in-force"].as_str().unwrap().to_owned()
}

/// Wait until these bytes are in force.
pub(super) fn wait_for(api: &Api, bytes: &[u8], what: &str) {
    let wanted = Digest::of(bytes).to_string();
    wait_until(&format!("{what} in force"), || in_force(api) == wanted);
}

pub(super) fn replace(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("new");
    fs::write(&new, bytes).unwrap();
    fs::rename(new, path).unwrap();
}

/// Replace the file in one of the ways in which files are replaced; gives what is to be
/// in force then.
fn disturb(folder: &Path, round: usize) -> Option<Vec<u8>> {
    let path = folder.join("worst-fit.wasm");
    let good = variant(round);
    match round % 6 {
        0 => replace(&path, &good),
        1 => {
            // Written in pieces, with time between them.
            let pieces: Vec<&[u8]> = good.chunks(good.len() / 3).collect();
            let _ = fs::remove_file(&path);
            let mut written = Vec::new();
            for piece in pieces {
                written.extend_from_slice(piece);
                fs::write(&path, &written).unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        2 => {
            let target = folder.join(format!("kept-{round}"));
            fs::write(&target, &good).unwrap();
            let link = folder.join("link.new");
            let _ = fs::remove_file(&link);
            symlink(&target, &link).unwrap();
            fs::rename(link, &path).unwrap();
        }
        3 => {
            replace(&path, &variant(1000 + round));
            replace(&path, &good);
        }
        4 => {
            replace(&path, b"this is no component");
            return None;
        }
        _ => {
            let _ = fs::remove_file(&path);
            std::thread::sleep(Duration::from_millis(5));
            replace(&path, &good);
        }
    }
    Some(good)
}

/// Place, and give the place back, until told to end, with a rest after each; counts.
pub(super) fn drive(
    (api, cluster): (&Api, &str),
    ends: &AtomicBool,
    decided: &AtomicUsize,
    rest: Duration,
) {
    let mut number = 0;
    while !ends.load(Ordering::Relaxed) {
        let id = format!("{cluster}-{}", number % VMS);
        let placed = api.send("POST", &format!("/v1/clusters/{cluster}/place"), &vm(&id));
        assert_eq!(placed.status, 200, "{placed:?}");
        assert!(placed.body["host"].is_string(), "{placed:?}");
        assert_eq!(placed.body["left-out"], json!([]), "{placed:?}");
        let path = format!("/v1/clusters/{cluster}/cancel");
        assert_eq!(api.send("POST", &path, &json!({"vms": [id]})).status, 204);
        decided.fetch_add(1, Ordering::Relaxed);
        number += 1;
        std::thread::sleep(rest);
    }
}

#[test]
fn units_are_replaced_under_load_and_no_decision_fails() {
    let data = folder();
    let units = data.path().join("units");
    let server = Server::start(data.path(), &["--durability", "normal"]);
    let api = Api::of(&server);
    for name in ["c", "d"] {
        let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster(name, 20));
        assert_eq!(made.status, 201);
    }
    let (ends, decided) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let _ends = Ends(&ends);
        for name in ["c", "d"] {
            let (api, ends, decided) = (Api::of(&server), &ends, &decided);
            scope.spawn(move || drive((&api, name), ends, decided, Duration::ZERO));
        }
        let mut last = None;
        for round in 0..ROUNDS {
            last = disturb(&units, round).or(last);
            let what = format!("round {round}");
            wait_for(&api, last.as_ref().unwrap(), &what);
        }
    });
    assert!(decided.load(Ordering::Relaxed) > ROUNDS);
    let history = api.get("/v1/unit-files").body;
    assert!(history["items"][0]["path"].is_string(), "{history}");
    // What was no component was refused each time, or was gone before it had settled.
    let file = units.join("worst-fit.wasm");
    replace(&file, b"this is no component either");
    let mut told = String::new();
    wait_until("a file that was refused", || {
        let files = api.get("/v1/unit-files").body;
        let troubles = files["items"].as_array().unwrap().iter();
        let trouble = troubles.filter_map(|file| file["trouble"].as_str()).next();
        told = trouble.unwrap_or_default().to_owned();
        trouble.is_some()
    });
    assert!(told.contains("component"), "{told}");
    // A file that is gone takes no policy down.
    let before = in_force(&api);
    fs::remove_file(&file).unwrap();
    wait_until("a unit without its file", || {
        let unit = api.get("/v1/units/worst-fit").body;
        unit["kept-although-deleted"].as_bool().unwrap()
    });
    assert_eq!(in_force(&api), before);
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("after"));
    assert!(placed.body["host"].is_string(), "{placed:?}");
}
