//! `simulate` on traces of a few lines, of which every figure can be worked out by
//! hand.

use std::fs;
use std::io::Write;

use crate::run::{Folder, placewright};

const HEADER: &str = "vm,tenant,core_u,ram_u,prio,start_s,end_s\n";

/// FNV-1a, 64 bits, over the hosts of the arrivals; none = rejected.
fn hash(hosts: &[Option<u32>]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for host in hosts {
        for byte in host.unwrap_or(u32::MAX).to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

fn replay(trace: &str, policy: &str, more: &[&str]) -> crate::run::Run {
    let words = [
        "simulate",
        "--trace",
        trace,
        "--policy",
        policy,
        "--hosts=2",
        "--host-cores=4",
        "--host-memory=16GiB",
    ];
    placewright(&[words.as_slice(), more].concat())
}

/// Two hosts of 4 cores and 16 GiB. A VM of 3 cores stays on the first; one of 2
/// goes to the second; one of 1 fits both; one of 3 finds none; when the second
/// host's VM has left at 50, as the next one comes, that has room.
fn trace() -> String {
    let rows = [
        "0,7,300,8,0,-1,-1",
        "1,7,200,8,0,10,50",
        "2,7,100,8,0,20,-1",
        "3,7,300,8,0,30,40",
        "4,7,400,8,0,50,60",
        // Another scale, and larger than a host: left out.
        "5,7,2,8,0,50,60",
        "6,7,9000,8,0,50,60",
    ];
    HEADER.to_owned() + &rows.join("\n") + "\n"
}

#[test]
fn a_trace_is_replayed_as_worked_out_by_hand() {
    let folder = Folder::new();
    let trace = folder.write("trace.csv", trace());
    for (policy, hosts) in [
        // The VM of 1 core fills the first host up.
        ("best-fit", [Some(0), Some(1), Some(0), None, Some(1)]),
        ("first-fit", [Some(0), Some(1), Some(0), None, Some(1)]),
        // It goes where most is free, and the last one finds no room.
        ("worst-fit", [Some(0), Some(1), Some(1), None, None]),
    ] {
        let report = replay(&trace, policy, &["--format", "json"]).json();
        assert_eq!(
            report["decision-fnv1a64"],
            hash(&hosts),
            "{policy}: {report}"
        );
        let placed = hosts.iter().flatten().count();
        assert_eq!(report["placed"], placed, "{policy}");
        assert_eq!(report["rejected"], hosts.len() - placed, "{policy}");
        assert_eq!(report["trace"]["left-out-other-scale"], 1);
        assert_eq!(report["trace"]["left-out-too-large"], 1);
        assert_eq!(report["peak-used-hosts"], 2);
    }
}

#[test]
fn rejected_cores_are_counted() {
    let folder = Folder::new();
    let trace = folder.write("trace.csv", trace());
    let report = replay(&trace, "worst-fit", &["--format", "json"]).json();
    assert_eq!(report["rejected-cores"], 7.0);
    let out = replay(&trace, "worst-fit", &[]).done();
    assert!(
        out.contains("VMs rejected") && out.contains("their cores"),
        "{out}"
    );
}

#[test]
fn a_compressed_trace_is_replayed_like_a_plain_one() {
    let folder = Folder::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(trace().as_bytes()).unwrap();
    let compressed = folder.write("trace.csv.gz", encoder.finish().unwrap());
    let plain = folder.write("trace.csv", trace());
    let hash = |trace: &str| {
        let report = replay(trace, "best-fit", &["--format", "json"]).json();
        report["decision-fnv1a64"].clone()
    };
    assert_eq!(hash(&compressed), hash(&plain));
}

#[test]
fn a_trace_of_flavors_is_replayed_with_the_table_beside_it() {
    let folder = Folder::new();
    let trace = folder.write(
        "vms.csv",
        "vm,batch,flavor,start_s,dur_s\n0,0,0,0,10\n1,1,1,5,-1\n2,2,1,10,-1\n",
    );
    let run = replay(&trace, "best-fit", &["--format", "json"]);
    assert!(run.refused(2).contains("--flavors"));
    folder.write("flavors.csv", "flavor,cores,ram_qgib\n0,4,16\n1,2,8\n");
    let report = replay(&trace, "best-fit", &["--format", "json"]).json();
    assert_eq!(
        report["decision-fnv1a64"],
        hash(&[Some(0), Some(1), Some(1)]),
        "{report}"
    );
}

#[test]
fn a_picture_is_drawn() {
    let folder = Folder::new();
    let trace = folder.write("trace.csv", trace());
    let picture = folder.path("out.svg");
    replay(&trace, "best-fit", &["--plot", &picture]).done();
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.trim_start().starts_with("<svg"), "{}", &svg[..100]);
    let nowhere = folder.path("missing/out.svg");
    let said = replay(&trace, "best-fit", &["--plot", &nowhere]).refused(2);
    assert!(said.contains("cannot write"), "{said}");
}

#[test]
fn a_replay_can_be_cut_short() {
    let folder = Folder::new();
    let trace = folder.write("trace.csv", trace());
    let report = replay(&trace, "best-fit", &["--limit", "2", "--format", "json"]).json();
    assert_eq!(report["trace"]["arrivals"], 2);
    assert_eq!(report["decision-fnv1a64"], hash(&[Some(0), Some(1)]));
}

#[test]
fn the_demo_needs_no_files_and_compares_three_policies() {
    let out = placewright(&["demo"]).done();
    for part in [
        "none",
        "even-distribution",
        "power-saving",
        "rejected",
        "decisions per second",
        "Chosen: host-",
        "what the unit saw",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[test]
fn keys_of_reports_are_written_with_hyphens() {
    let folder = Folder::new();
    let trace = folder.write("trace.csv", trace());
    let report = replay(
        &trace,
        "even-distribution",
        &["--format", "json", "--balance=5s"],
    )
    .json();
    for key in ["decision-fnv1a64", "rejected-cores", "mean-hosts-by-load"] {
        assert!(report.get(key).is_some(), "{key}: {report}");
    }
    assert!(report["fleet"]["host-memory-bytes"].is_i64(), "{report}");
    assert_eq!(with_underscores(&report), [""; 0]);
}

/// The keys of a report, at any depth, that have an underscore.
pub(crate) fn with_underscores(report: &serde_json::Value) -> Vec<&str> {
    use serde_json::Value;
    match report {
        Value::Array(items) => items.iter().flat_map(with_underscores).collect(),
        Value::Object(entries) => {
            let here = entries.keys().map(String::as_str);
            let here = here.filter(|key| key.contains('_'));
            here.chain(entries.values().flat_map(with_underscores))
                .collect()
        }
        _ => Vec::new(),
    }
}
