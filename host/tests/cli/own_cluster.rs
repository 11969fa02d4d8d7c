//! `simulate --cluster`: a cluster of hosts of several sizes, and what happens to it, small enough
//! to be worked out by hand.

use std::fs;

use crate::run::{Folder, INPUT, placewright};
use serde_json::{Value, json};

/// Two zones; one host is larger than the others. A VM runs on it at the start.
const CLUSTER: &str = r#"
name = "own"
now = 0

[attributes.hosts]
rack = "text"

[[hosts]]
id = "large"
zone = "z1"
cpu.cores = 16
memory.total = "64 GiB"
attribute.rack = "r1"

[[hosts]]
id = "small-1"
zone = "z1"
cpu.cores = 4
memory.total = "16 GiB"

[[hosts]]
id = "small-2"
zone = "z2"
cpu.cores = 4
memory.total = "16 GiB"

[[vms]]
id = "old"
host = "large"
cpu = 2
memory = "8 GiB"

[[groups]]
id = "apart"
vms = ["a", "b"]
rule = "negative"
hard = true
"#;

/// Each host takes a VM of 3 cores; who has more free CPU takes the next one.
const LINES: &str = r#"{"time": 10, "place": {"id": "a", "cpu": 3, "memory": "4 GiB"}}
{"time": 20, "place": {"id": "b", "cpu": 3, "memory": "4 GiB", "ha": true, "zone": "z2"}}
{"time": 30, "place": {"id": "c", "cpu": 20, "memory": "4 GiB"}}
{"time": 40, "down": ["small-2"]}
{"time": 3640, "up": ["small-2"]}
{"time": 3650, "remove": ["c"]}
{"time": 3660, "remove": ["a"]}
{"time": 3700, "changes": {"hosts": [{"id": "new", "zone": "z1", "cpu.cores": 8, "memory.total": "32 GiB"}], "gone": {"hosts": ["small-1"]}}}
"#;

/// The same, but for the change of hosts.
const ROWS: &str = "\
time,event,id,cpu,memory,ha,zone
10,place,a,3,4 GiB,,
20,place,b,3,4 GiB,true,z2
1970-01-01T00:00:30Z,place,c,20,4 GiB,,
40,down,small-2,,,,
3640,up,small-2,,,,
3650,remove,c,,,,
3660,remove,a,,,,
";

const POLICY: &str = "\
name = 'own'
tie-rule = ['id']
[[filters]]
unit = 'cpu'
[[filters]]
unit = 'memory'
";

fn simulated(folder: &Folder, events: &str, more: &[&str]) -> crate::run::Run {
    let cluster = folder.write("cluster.toml", CLUSTER);
    let words = ["simulate", "--cluster", &cluster, "--events", events];
    placewright(&[words.as_slice(), more].concat())
}

/// The only report, without what differs from run to run.
fn report(run: crate::run::Run) -> Value {
    let mut reports = run.json();
    let reports = reports.as_array_mut().unwrap();
    assert_eq!(reports.len(), 1);
    let mut report = reports.remove(0);
    for timed in ["seconds", "decisions-per-second", "calls", "reuse"] {
        report.as_object_mut().unwrap().remove(timed).unwrap();
    }
    report
}

#[test]
fn a_cluster_is_replayed_as_worked_out_by_hand() {
    let folder = Folder::new();
    let events = folder.write("week.jsonl", LINES);
    let decisions = folder.path("decisions.jsonl");
    let more = [
        "--policy=general",
        "--format=json",
        "--decisions",
        &decisions,
    ];
    let report = report(simulated(&folder, &events, &more));
    assert_eq!(
        (&report["placed"], &report["refused"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["refused-millicores"], 20_000);
    assert_eq!(report["refused-by"][0]["requests"], 1);
    assert_eq!(
        (&report["hosts"], &report["end-hosts"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(
        (&report["vms"], &report["peak-vms"], &report["end-vms"]),
        (&json!(1), &json!(3), &json!(2))
    );
    let failures = &report["failures"];
    assert_eq!(
        (&failures["hosts"], &failures["vms"]),
        (&json!(1), &json!(1))
    );
    // One VM for an hour.
    assert_eq!(failures["lost-vm-seconds"], 3600.0);
    assert_eq!(report["moved"]["restarts"], 0);
    let written = fs::read_to_string(&decisions).unwrap();
    let written: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(written.len(), 3);
    assert_eq!(
        (&written[1]["vms"], &written[1]["host"]),
        (&json!(["b"]), &json!("small-2"))
    );
    assert_eq!(
        (&written[2]["line"], &written[2]["host"]),
        (&json!(3), &Value::Null)
    );
}

#[test]
fn a_table_of_events_is_replayed_as_lines_of_json_are() {
    let folder = Folder::new();
    let lines: String = LINES
        .lines()
        .take(7)
        .map(|line| format!("{line}\n"))
        .collect();
    let (lines, rows) = (folder.write("e.jsonl", lines), folder.write("e.csv", ROWS));
    let unnamed = folder.write("events", ROWS);
    let [of_lines, of_rows] =
        [lines, rows].map(|events| report(simulated(&folder, &events, &["--format=json"])));
    assert_eq!(of_lines, of_rows);
    let again = simulated(&folder, &unnamed, &["--format=json", "--events-format=csv"]);
    assert_eq!(report(again), of_rows);
    let said = simulated(&folder, &unnamed, &[]).refused(INPUT);
    assert!(said.contains("--events-format"), "{said}");
}

#[test]
fn vms_of_hosts_that_fail_start_elsewhere_if_that_is_wanted() {
    let folder = Folder::new();
    // Without a zone of its own it may go anywhere.
    let lines = LINES.replace(", \"zone\": \"z2\"", ", \"allowed\": [\"small-2\"]");
    let events = folder.write("week.jsonl", lines);
    for (restart, restarted) in [("--restart", 1), ("--restart=ha", 1), ("--restart=all", 1)] {
        let report = report(simulated(&folder, &events, &[restart, "--format=json"]));
        assert_eq!(report["moved"]["restarts"], restarted, "{restart}");
        assert_eq!(report["failures"]["lost-vm-seconds"], 0.0, "{restart}");
    }
    let lines = LINES.replace(
        ", \"ha\": true, \"zone\": \"z2\"",
        ", \"allowed\": [\"small-2\"]",
    );
    let events = folder.write("week.jsonl", lines);
    let report = report(simulated(
        &folder,
        &events,
        &["--restart=ha", "--format=json"],
    ));
    assert_eq!(report["moved"]["restarts"], 0);
}

#[test]
fn policies_stand_side_by_side_and_nothing_depends_on_how_many_run_at_once() {
    let folder = Folder::new();
    let events = folder.write("week.jsonl", LINES);
    let mine = folder.write("mine.toml", POLICY);
    let plot = folder.path("week.svg");
    let policies = [
        "--policy=general",
        "--policy=best-fit",
        "--policy",
        &mine,
        "--plot",
        &plot,
    ];
    let run = |jobs: &str| {
        let run = simulated(&folder, &events, &[policies.as_slice(), &[jobs]].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(
            run.err.starts_with("decisions a second: general"),
            "{}",
            run.err
        );
        (run.out, fs::read_to_string(&plot).unwrap())
    };
    let one = run("--jobs=1");
    assert_eq!(one, run("--jobs=3"));
    let (table, plot) = one;
    let head = table.lines().next().unwrap();
    let names: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(names, ["general", "best-fit", "own"]);
    for name in names {
        assert!(plot.contains(&format!("{name}\n")), "{name}");
        assert!(table.contains(&format!("Decisions of {name}: ")), "{table}");
    }
    let said = placewright(&[
        "simulate",
        "--trace=t",
        "--hosts=1",
        "--host-cores=1",
        "--host-memory=1GiB",
        "--policy=a",
        "--policy=b",
    ]);
    assert!(said.refused(INPUT).contains("with --cluster only"));
}

#[test]
fn events_that_cannot_be_are_refused_with_their_line() {
    let folder = Folder::new();
    for (events, part) in [
        (
            "{\"time\": 1, \"remove\": [\"nobody\"]}",
            "week.jsonl: line 1, at second 1",
        ),
        (
            "{\"time\": 2, \"up\": [\"large\"]}\n{\"time\": 1, \"up\": [\"large\"]}",
            "week.jsonl:2:1: events stand in order of time",
        ),
        ("{\"time\": 2, \"plase\": {}}", "did you mean \"place\"?"),
        (
            "{\"time\": 2, \"statistics\": [{\"id\": \"small\", \"cpu.usage\": 0.5}]}",
            "line 1, at second 2",
        ),
        ("", "has no events"),
    ] {
        let events = folder.write("week.jsonl", events);
        let said = simulated(&folder, &events, &[]).refused(INPUT);
        assert!(said.contains(part), "{said}");
    }
    let events = folder.write("week.csv", "time,event,id,colour\n1,remove,old,\n");
    let said = simulated(&folder, &events, &[]).refused(INPUT);
    assert!(
        said.contains("week.csv:1:1: events have no column \"colour\""),
        "{said}"
    );
}

#[test]
fn a_host_that_is_taken_out_is_emptied_first() {
    let folder = Folder::new();
    let events = folder.write(
        "week.jsonl",
        "{\"time\": 5, \"changes\": {\"gone\": {\"hosts\": [\"large\"]}}}\n",
    );
    let report = report(simulated(&folder, &events, &["--format=json"]));
    assert_eq!(report["moved"]["evacuations"], 1);
    assert_eq!(
        (&report["end-hosts"], &report["end-vms"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["hosts-emptied"], 1);
}
