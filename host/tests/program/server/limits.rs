//! Units that break a limit, each alone, while others decide: it fails where it is used
//! and nowhere else.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use placewright_tests::component::by_default;
use placewright_tests::server::Server;
use placewright_tests::units::component;
use placewright_tests::waiting::{Ends, wait_until};
use serde_json::{Value, json};

use super::deployment::{Answer, Api, cluster, vm};
use super::{folder, get};

/// The clusters in which all goes well.
const GOOD: [&str; 2] = ["good-0", "good-1"];

/// A running server with clusters in which decisions go on.
struct Scene<'s> {
    server: &'s Server,
    api: Api,
    /// Decisions made in each good cluster.
    decided: [AtomicUsize; 2],
    ends: AtomicBool,
}

impl<'s> Scene<'s> {
    fn new(server: &'s Server) -> Self {
        let api = Api::of(server);
        for name in GOOD {
            let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster(name, 20));
            assert_eq!(made.status, 201, "{made:?}");
        }
        Self {
            server,
            api,
            decided: Default::default(),
            ends: AtomicBool::new(false),
        }
    }

    /// Run `work` while VMs are placed in the good clusters and given back.
    fn under_load(&self, work: impl FnOnce()) {
        std::thread::scope(|scope| {
            for (name, decided) in GOOD.iter().zip(&self.decided) {
                let api = Api::of(self.server);
                scope.spawn(move || self.drive(&api, name, decided));
            }
            let _ends = Ends(&self.ends);
            work();
        });
    }

    fn drive(&self, api: &Api, name: &str, decided: &AtomicUsize) {
        let mut number = 0;
        while !self.ends.load(Ordering::Relaxed) {
            let id = format!("v{number}");
            let placed = api.send("POST", &format!("/v1/clusters/{name}/place"), &vm(&id));
            assert_eq!(placed.status, 200, "{placed:?}");
            assert!(placed.body["host"].is_string(), "{placed:?}");
            assert_eq!(placed.body["left-out"], json!([]), "{placed:?}");
            let path = format!("/v1/clusters/{name}/cancel");
            assert_eq!(api.send("POST", &path, &json!({"vms": [id]})).status, 204);
            decided.fetch_add(1, Ordering::Relaxed);
            number += 1;
        }
    }

    fn counts(&self) -> [usize; 2] {
        [0, 1].map(|it| self.decided[it].load(Ordering::Relaxed))
    }

    /// Wait until each good cluster has decided so often since then.
    fn goes_on(&self, since: [usize; 2], decisions: usize, what: &str) {
        wait_until(&format!("{what}: decisions of the others"), || {
            (0..2).all(|it| self.counts()[it] >= since[it] + decisions)
        });
    }

    /// A cluster under a policy of one unit, which is asked for verdicts and costs at once.
    fn bad_cluster(&self, name: &str, unit: &str, how: &str, hosts: usize) {
        let entry = json!({"unit": unit, "settings": {"how": how}});
        let policy = json!({"filters": [&entry], "costs": [&entry]});
        let headers = [("content-type", "application/json"), ("if-none-match", "*")];
        let path = format!("/v1/policies/{name}");
        let made = self
            .api
            .ask("PUT", &path, &headers, policy.to_string().as_bytes());
        let made = made.unwrap();
        assert_eq!(made.status, 200, "{made:?}");
        let path = format!("/v1/clusters?policy={name}");
        let made = self.api.send("POST", &path, &cluster(name, hosts));
        assert_eq!(made.status, 201, "{made:?}");
    }

    fn place(&self, cluster: &str, id: &str) -> Answer {
        let path = format!("/v1/clusters/{cluster}/place");
        self.api.send("POST", &path, &vm(id))
    }

    /// A number of the metrics.
    fn metric(&self, line: &str) -> f64 {
        let (_, metrics) = get(&format!("{}/metrics", self.server.url), None);
        let found = metrics.lines().find_map(|it| it.strip_prefix(line));
        let found = found.unwrap_or_else(|| panic!("{line} is not in: {metrics}"));
        found.trim().parse().unwrap()
    }

    /// How long, in seconds, the requests of a cluster have waited for their turns and
    /// their chains have run, each on average.
    fn seconds(&self, cluster: &str) -> f64 {
        let mean = |what: &str| {
            let of = |kind: &str| {
                let line = format!("placewright_{what}_{kind}{{cluster=\"{cluster}\"}}");
                self.metric(&line)
            };
            of("sum") / of("count")
        };
        mean("decision_wait_seconds") + mean("decision_chain_seconds")
    }
}

/// Put a unit into the folder of units, in one step.
fn put(units: &Path, name: &str, bytes: &[u8]) {
    let new = units.join(format!(".{name}"));
    fs::write(&new, bytes).unwrap();
    fs::rename(new, units.join(name)).unwrap();
}

/// What goes wrong, in which unit, and a part of what is said of it.
const BREAKS: [(&str, &str, &str); 7] = [
    ("misbehaving", "loops-forever", "misbehaving"),
    ("misbehaving", "eats-memory", "of memory"),
    (
        "misbehaving",
        "recurses-forever",
        "a recursion that does not end",
    ),
    ("misbehaving", "recurses-with-large-frames", "misbehaving"),
    ("misbehaving", "panics", "is beyond me"),
    ("unsound", "traps-silently", "trapped"),
    ("unsound", "huge-answer", "answer with less"),
];

/// How often a unit fails in a row before it is not called for a while.
const FAILURES: usize = 3;

/// Decisions that each of the others makes at least while one turn runs into the limit
/// of time: some hundred times fewer than on an idle machine.
const MEANWHILE: usize = 5;

#[test]
fn a_unit_that_breaks_a_limit_fails_alone_and_the_others_go_on() {
    let data = folder();
    // 128 MiB of an answer have room in the memory. What breaks another limit than that of time
    // breaks it in time on a machine with much else to do, too.
    let limits = ["--decision-hold", "6s", "--unit-memory", "160 MiB"];
    let words = [
        &limits[..],
        &["--unit-answer", "16 MiB"],
        &["--durability", "normal"],
    ]
    .concat();
    let server = Server::start(data.path(), &words);
    let scene = Scene::new(&server);
    let units = data.path().join("units");
    for name in ["misbehaving", "unsound"] {
        put(&units, &format!("{name}.wasm"), &component(name));
        let path = format!("/v1/units/{name}");
        // While it is tried out, it is known and not in force.
        wait_until(name, || scene.api.get(&path).body["in-force"].is_string());
    }
    scene.under_load(|| {
        for (unit, how, says) in BREAKS {
            scene.bad_cluster(how, unit, how, 3);
            for time in 0..FAILURES {
                let before = scene.counts();
                let failed = scene.place(how, &format!("v{time}"));
                let after = scene.counts();
                assert!(failed.status >= 400, "{how}: {failed:?}");
                let said = failed.body.to_string();
                assert!(said.contains(says) && said.contains(unit), "{how}: {said}");
                if how == "loops-forever" {
                    for (before, after) in before.iter().zip(after) {
                        let meanwhile = after - before;
                        assert!(meanwhile >= MEANWHILE, "{meanwhile} decisions meanwhile");
                    }
                }
                scene.goes_on(after, 3, how);
            }
            // It is not called for a while, which nobody waits for. Where that is over before
            // it is asked for, it fails once more, and the next while is twice as long.
            let mut failures = FAILURES;
            loop {
                let refused = scene.place(how, "w");
                assert!(refused.status >= 400, "{how}: {refused:?}");
                let said = refused.body["detail"].as_str().unwrap_or_default();
                if said.contains("decisions are suspended for") {
                    break;
                }
                failures += 1;
                assert!(
                    failures < 2 * FAILURES,
                    "{how}: it is not paused: {refused:?}"
                );
            }
            let failed =
                format!("placewright_decisions_total{{cluster=\"{how}\",outcome=\"failed\"}}");
            assert_eq!(scene.metric(&failed) as usize, failures, "{how}");
        }
        // What a unit says beyond its share is dropped, and its decision made.
        scene.bad_cluster("chatters", "misbehaving", "chatters", 3);
        let before = scene.counts();
        for time in 0..FAILURES {
            let placed = scene.place("chatters", &format!("v{time}"));
            assert!(placed.body["host"].is_string(), "{placed:?}");
        }
        scene.goes_on(before, 3, "chatters");
    });
    // Far below what the turns of the unit that loops have taken, and no decision of
    // the others has failed.
    let looping = scene.seconds("loops-forever");
    for name in GOOD {
        let seconds = scene.seconds(name);
        assert!(seconds < looping / 4.0, "{name}: {seconds} s, {looping} s");
        let failed =
            format!("placewright_decisions_total{{cluster=\"{name}\",outcome=\"failed\"}}");
        assert_eq!(scene.metric(&failed), 0.0);
    }
    server.signal("TERM");
    let (status, log) = server.ended();
    assert!(status.success());
    // 10,000 lines of 7 KB were said, three times.
    assert!(log.len() < 8 << 20, "the log has {} bytes", log.len());
}

/// What is wrong with the file of that name, once that is known.
fn trouble(api: &Api, file: &str) -> String {
    let mut found = None;
    wait_until(file, || {
        let files = api.get("/v1/unit-files").body;
        let files: &Vec<Value> = files["items"].as_array().unwrap();
        let mut files = files.iter().filter(|it| {
            let path = it["path"].as_str().unwrap_or_default();
            path.ends_with(file)
        });
        found = files.find_map(|it| it["trouble"].as_str().map(str::to_owned));
        found.is_some()
    });
    found.unwrap_or_default()
}

#[test]
fn a_file_that_breaks_a_limit_is_refused_while_others_decide() {
    let data = folder();
    let limits = ["--unit-time", "2s", "--unit-memory", "64 MiB"];
    let words = [
        &limits[..],
        &["--unit-file", "4 MiB"],
        &["--durability", "normal"],
    ]
    .concat();
    let server = Server::start(data.path(), &words);
    let scene = Scene::new(&server);
    let units = data.path().join("units");
    let plain = component("misbehaving");
    let huge = [&plain[..], &vec![0; 5 << 20]].concat();
    let files: [(&str, Vec<u8>, &str); 5] = [
        ("huge", huge, "4"),
        ("loops", by_default(&plain, "loops-forever"), "does not end"),
        ("eats", by_default(&plain, "eats-memory"), "memory"),
        (
            "recurses",
            by_default(&plain, "recurses-forever"),
            "does not end",
        ),
        ("lies", component("misleading").to_vec(), "misleading"),
    ];
    scene.under_load(|| {
        for (name, bytes, says) in files {
            let before = scene.counts();
            put(&units, &format!("{name}.wasm"), &bytes);
            let said = trouble(&scene.api, &format!("{name}.wasm"));
            assert!(said.contains(says), "{name}: {said}");
            scene.goes_on(before, 3, name);
        }
        // The folder is none the worse for it.
        put(&units, "good.wasm", &plain);
        let path = "/v1/units/misbehaving";
        wait_until("a good unit", || scene.api.get(path).status == 200);
    });
}

#[test]
fn a_unit_that_takes_too_long_to_compile_is_refused_while_others_decide() {
    // The units that come with the program are compiled already.
    drop(Server::start(folder().path(), &[]));
    let data = folder();
    let server = Server::start(data.path(), &["--unit-compile-time", "1ms"]);
    let scene = Scene::new(&server);
    scene.under_load(|| {
        // Nobody has seen these bytes before.
        let note = format!("{:?}", std::time::SystemTime::now());
        let mut bytes = component("misbehaving").to_vec();
        let length = u8::try_from(note.len()).unwrap();
        bytes.extend([0, length + 2, 1, b'n']);
        bytes.extend(note.as_bytes());
        let before = scene.counts();
        put(&data.path().join("units"), "slow.wasm", &bytes);
        let said = trouble(&scene.api, "slow.wasm");
        assert!(said.contains("longer than the limit of 1ms"), "{said}");
        scene.goes_on(before, 3, "compiling");
    });
}

#[test]
fn more_clusters_than_instances_decide_in_turns_and_the_others_go_on() {
    let data = folder();
    let server = Server::start(data.path(), &["--unit-instances", "8"]);
    let scene = Scene::new(&server);
    scene.under_load(|| {
        scene.goes_on([0, 0], 1, "the first decisions");
        let before = scene.counts();
        for number in 0..20 {
            let name = format!("more-{number}");
            let path = "/v1/clusters?policy=worst-fit";
            let made = scene.api.send("POST", path, &cluster(&name, 2));
            assert_eq!(made.status, 201, "{made:?}");
        }
        for round in 0..3 {
            for number in 0..20 {
                let placed = scene.place(&format!("more-{number}"), &format!("v{round}"));
                assert_eq!(placed.status, 200, "{placed:?}");
            }
        }
        scene.goes_on(before, 3, "instances");
    });
}

#[test]
fn a_policy_with_more_entries_than_there_are_instances_takes_none_from_other_clusters() {
    let data = folder();
    let server = Server::start(data.path(), &["--unit-instances", "8"]);
    let api = Api::of(&server);
    let filters = (0..20).map(|number| {
        let settings = json!({"overcommit": 10 + number});
        json!({"name": format!("f{number}"), "unit": "cpu", "settings": settings})
    });
    let policy = json!({"filters": filters.collect::<Vec<_>>()}).to_string();
    let headers = [("content-type", "application/json"), ("if-none-match", "*")];
    let made = api.ask("PUT", "/v1/policies/greedy", &headers, policy.as_bytes());
    assert_eq!(made.unwrap().status, 200);
    for (name, policy) in [
        ("modest", "worst-fit"),
        ("greedy", "greedy"),
        ("late", "worst-fit"),
    ] {
        let path = format!("/v1/clusters?policy={policy}");
        assert_eq!(api.send("POST", &path, &cluster(name, 3)).status, 201);
    }
    for round in 0..3 {
        for name in ["modest", "greedy", "late"] {
            let path = format!("/v1/clusters/{name}/place");
            let placed = api.send("POST", &path, &vm(&format!("v{round}")));
            assert_eq!(placed.status, 200, "{name}: {placed:?}");
        }
    }
}
