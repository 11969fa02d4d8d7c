//! `balance` on documents and on files of Ganeti's htools, and `simulate --balance`.

use crate::run::{Folder, placewright};

/// Two nodes, of which one runs everything.
const GANETI: &str = "\
group|id|preferred||

n1|16384|0|12288|409600|307200|16|N|id|1
n2|16384|0|16384|409600|307200|16|N|id|1

i1|1024|51200|1|running|Y|n1|n2|drbd||1
i2|1024|51200|1|running|Y|n1|n2|drbd||1


";

const POLICY: &str = "
[settings]
high-utilization = 75
over-commit-duration = 0
[[costs]]
unit = 'even-distribution'
[balance]
unit = 'even-distribution'
[[watches]]
name = 'cpu-over'
column = 'cpu.usage'
at-least = 0.75
";

#[test]
fn a_ganeti_file_is_balanced_and_written_as_a_document() {
    let folder = Folder::new();
    let (file, after) = (folder.write("c.data", GANETI), folder.path("after.json"));
    let words = ["balance", "--ganeti", &file, "--apply", &after];
    let out = placewright(&words).done();
    assert!(out.contains("i1"), "{out}");
    assert!(
        out.contains("attribute.secondary:") && out.contains("host = n1"),
        "{out}"
    );
    let words = ["balance", "--cluster", &after, "--policy", "ganeti"];
    let out = placewright(&words).done();
    assert!(out.contains("Nothing is to be moved."), "{out}");
    assert!(out.contains("unit \"ganeti-score\" sees 2 hosts"), "{out}");
    let words = ["balance", "--ganeti", &file, "--format", "json"];
    let plan = placewright(&words).json();
    let step = &plan["moves"][0];
    assert_eq!(
        (&step["vm"], &step["to"]),
        (&"i1".into(), &"n2".into()),
        "{plan}"
    );
    assert!(step["cost-before"][0].as_f64() > step["cost-after"][0].as_f64());
    assert_eq!(step["changes"][0]["set"]["host"], "n1", "{plan}");
}

#[test]
fn a_malformed_ganeti_file_is_refused_with_line_and_field() {
    let folder = Folder::new();
    let file = folder.write("c.data", GANETI.replace("|running|", "|walking|"));
    let said = placewright(&["balance", "--ganeti", &file]).refused(2);
    assert!(
        said.contains("c.data:6:17: field 5 is the status"),
        "{said}"
    );
    let said = placewright(&["balance"]).refused(2);
    assert!(said.contains("--cluster"), "{said}");
}

#[test]
fn a_replay_moves_vms_and_counts() {
    let folder = Folder::new();
    let policy = folder.write("policy.toml", POLICY);
    // Both hosts are busy until the second VM leaves; then the smaller one of the
    // first host has room on the other one.
    let trace = "vm,tenant,core_u,ram_u,prio,start_s,end_s\n\
        0,7,200,8,0,0,-1\n\
        1,7,200,8,0,1,10\n\
        2,7,100,8,0,2,-1\n\
        3,7,100,8,0,3,-1\n\
        4,7,50,8,0,40,-1\n";
    let trace = folder.write("trace.csv", trace);
    let words = [
        "simulate",
        "--trace",
        &trace,
        "--policy",
        &policy,
        "--hosts=2",
        "--host-cores=4",
        "--host-memory=16GiB",
        "--balance=5s",
        "--format=json",
    ];
    let report = placewright(&words).json();
    let balance = &report["balance"];
    assert_eq!(balance["every-s"], 5, "{balance}");
    assert_eq!(balance["passes"], 7, "{balance}");
    assert_eq!(
        (&balance["moves"], &balance["passes-with-moves"]),
        (&1.into(), &1.into())
    );
    let without: Vec<&str> = words
        .into_iter()
        .filter(|it| !it.contains("balance="))
        .collect();
    assert!(placewright(&without).json().get("balance").is_none());
    let never = words.map(|word| word.replace("=5s", "=0s"));
    assert!(placewright(&never).refused(2).contains("a second or more"));
    let nobody = words.map(|word| word.replace(&policy, "best-fit"));
    assert!(
        placewright(&nobody)
            .refused(2)
            .contains("names no unit that balances")
    );
}
