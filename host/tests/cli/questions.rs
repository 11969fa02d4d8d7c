//! `explain`, `capacity` and `what-if` on the documents in `host/examples`.

use serde_json::Value;

use crate::run::{Folder, INPUT, NO, Run, example, placewright};

fn ask(command: &str, words: &[&str]) -> Run {
    let (cluster, policy) = (example("cluster.toml"), example("even.toml"));
    let about = [command, "--cluster", &cluster, "--policy", &policy];
    placewright(&[about.as_slice(), words].concat())
}

#[test]
fn why_not_there_names_the_unit_and_the_reason() {
    let vm = example("vm.toml");
    let out = ask("explain", &["--vm", &vm, "--host", "h1"]).done();
    for part in ["database-2 cannot go to h1", "affinity", "Chosen: h2"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let why = ask(
        "explain",
        &["--vm", &vm, "--host", "h1", "--format", "json"],
    )
    .json();
    assert_eq!(why["standing"], "removed", "{why}");
    assert_eq!(why["by"][0]["filter"], "affinity", "{why}");
    let out = ask("explain", &["--vm", &vm, "--host", "h3"]).done();
    assert!(out.contains("its state is maintenance"), "{out}");
}

#[test]
fn why_not_there_tells_entry_by_entry_what_costs_more() {
    let out = ask("explain", &["--vm", "web-1", "--host", "h1"]).done();
    assert!(out.contains("web-1 goes to h2: h1 costs"), "{out}");
    let why = ask(
        "explain",
        &["--vm", "web-1", "--host", "h1", "--format", "json"],
    )
    .json();
    assert_eq!(why["standing"], "costlier", "{why}");
    let differences = why["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 2, "{why}");
    assert!(why["by"].as_f64().unwrap() > 0.0, "{why}");
}

#[test]
fn without_a_host_the_whole_decision_is_explained() {
    // Of a VM that has a place reserved, too.
    let out = ask("explain", &["--vm", "web-2"]).done();
    assert!(
        out.contains("Chosen: ") && out.contains("Policy: even"),
        "{out}"
    );
}

#[test]
fn a_decision_without_a_unit_stands_beside_the_one_that_is() {
    let vm = example("vm.toml");
    let words = [
        "--vm",
        &vm,
        "--without",
        "affinity",
        "--factor",
        "even-distribution=-1",
    ];
    let out = ask("explain", &words).done();
    for part in [
        "as it is",
        "without affinity",
        "would be host h1 instead of host h2",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let json = [words.as_slice(), &["--host", "h1", "--format", "json"]].concat();
    let compared = ask("explain", &json).json();
    assert_eq!(compared["chosen-before"], "h2", "{compared}");
    assert_eq!(compared["chosen-after"], "h1", "{compared}");
    assert_eq!(
        compared["hosts"][0]["before"]["fate"], "removed",
        "{compared}"
    );
    assert_eq!(compared["hosts"][0]["after"]["fate"], "left", "{compared}");
    assert_eq!(
        compared["why"]["before"]["standing"], "removed",
        "{compared}"
    );
    assert_eq!(compared["why"]["after"]["standing"], "chosen", "{compared}");
}

#[test]
fn unknown_vms_hosts_and_entries_are_told_with_the_nearest() {
    let vm = example("vm.toml");
    for (words, said) in [
        (vec!["--vm", "web-11"], "did you mean \"web-1\"?"),
        (vec!["--vm", "no-such.toml"], "cannot read no-such.toml"),
        (
            vec!["--vm", &vm, "--host", "h11"],
            "no host \"h11\" in the cluster (did you mean",
        ),
        (
            vec!["--vm", &vm, "--without", "afinity"],
            "has no entry \"afinity\" (did you mean \"affinity\"?)",
        ),
        (
            vec!["--vm", &vm, "--factor", "memory=2"],
            "has no cost \"memory\"",
        ),
        (
            vec!["--vm", &vm, "--factor", "affinity"],
            "for example affinity=2.5",
        ),
        (
            vec!["--vm", &vm, "--factor", "affinity=inf"],
            "no finite number",
        ),
    ] {
        let run = ask("explain", &words);
        assert_eq!((run.code, run.out.as_str()), (INPUT, ""), "{words:?}");
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
}

#[test]
fn capacity_tells_how_many_fit_where_and_what_stops_the_next() {
    let out = ask("capacity", &["--vm", "database-1"]).done();
    for part in ["more of database-1 fit", "h2", "What stops the next one"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // The rule that keeps databases apart holds for copies, too.
    let found = ask("capacity", &["--vm", "database-1", "--format", "json"]).json();
    assert_eq!(found["fit"], 1, "{found}");
    let found = ask("capacity", &["--vm", "web-1", "--format", "json"]).json();
    let hosts = found["hosts"].as_array().unwrap().iter();
    let sum: u64 = hosts.map(|host| host["fit"].as_u64().unwrap()).sum();
    assert!(sum > 10 && found["fit"] == sum, "{found}");
    let (not_up, stopped): (Vec<&Value>, Vec<&Value>) = found["stopped-by"]
        .as_array()
        .unwrap()
        .iter()
        .partition(|reason| reason["filter"] == "state");
    assert_eq!(not_up[0]["names"], serde_json::json!(["h3"]), "{found}");
    let stopped = stopped.iter().map(|it| it["hosts"].as_u64().unwrap());
    assert_eq!(found["considered"], stopped.sum::<u64>(), "{found}");
    let out = ask("capacity", &["--vm", "web-1", "--at-most", "5"]).done();
    assert!(out.contains("5 more of web-1 fit, and maybe more"), "{out}");
}

#[test]
fn what_if_a_host_fails_tells_who_goes_where_and_who_finds_none() {
    let all = ["--restart", "all"];
    let words = ["--without-host", "h1", "--format", "json"];
    let run = ask("what-if", &[&words[..], &all].concat());
    let failure: Value = serde_json::from_str(&run.out).unwrap();
    let ids: Vec<&str> = failure["vms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vm| vm["vm"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["database-1", "web-1"], "the larger first: {failure}");
    assert_eq!(failure["vms"][0]["host"], "h2", "{failure}");
    let survived = failure["survived"].as_bool().unwrap();
    assert_eq!(run.code, i32::from(!survived), "{failure}");
    // h3 is in maintenance, so that nobody is left.
    let words = ["--without-host", "h1", "--without-host", "h2"];
    let run = ask("what-if", &[&words[..], &all].concat());
    assert_eq!(run.code, NO);
    assert!(run.out.contains("Of 3 VMs, 3 find no host."), "{}", run.out);
    assert_eq!(ask("what-if", &words).out, run.out, "all is the default");
    let run = ask("what-if", &["--without-host", "h1", "--restart", "ha"]);
    let said = "Of 1 VMs, all find another host. 1 is not restarted: web-1.";
    assert!(run.out.contains(said), "{}", run.out);
    assert_eq!(
        ask("what-if", &["--n-plus-1", "--restart", "some"]).code,
        INPUT
    );
    let said = ask("what-if", &["--without-host", "h4"]).refused(INPUT);
    assert!(said.contains("no host \"h4\""), "{said}");
    assert_eq!(ask("what-if", &[]).code, INPUT);
}

#[test]
fn n_plus_one_is_asked_of_every_host_that_is_up() {
    let run = ask("what-if", &["--n-plus-1", "--format", "json"]);
    let all: Value = serde_json::from_str(&run.out).unwrap();
    let failures = all["failures"].as_array().unwrap();
    let hosts: Vec<&Value> = failures
        .iter()
        .map(|failure| &failure["hosts"][0])
        .collect();
    assert_eq!(hosts, ["h1", "h2"]);
    let survived = failures.iter().all(|failure| failure["survived"] == true);
    assert_eq!(all["survived"], survived);
    assert_eq!(run.code, i32::from(!survived));
    let table = ask("what-if", &["--n-plus-1"]);
    assert!(table.out.contains("host that fails"), "{}", table.out);
}

/// The example of Pacemaker's documentation.
const NODES: &str = "[[hosts]]\nid = 'node1'\namounts = [{ name = 'cpu', total = 2 }]\n\
                     [[hosts]]\nid = 'node2'\namounts = [{ name = 'cpu', total = 4 }]\n";
const RESOURCES: &str = "[[vms]]\nid = 'small'\nmemory = '1 MiB'\namounts = [{ name = 'cpu', need = 1 }]\n\
                         [[vms]]\nid = 'medium'\nmemory = '1 MiB'\namounts = [{ name = 'cpu', need = 2 }]\n\
                         [[vms]]\nid = 'large'\nmemory = '1 MiB'\namounts = [{ name = 'cpu', need = 3 }]\n";

#[test]
fn a_batch_is_placed_all_or_not_at_all_and_a_search_finds_more() {
    let folder = Folder::new();
    let cluster = folder.write("cluster.toml", NODES);
    let vms = folder.write("vms.toml", RESOURCES);
    let place = |words: &[&str]| {
        let about = [
            "place",
            "--cluster",
            &cluster,
            "--policy",
            "pacemaker-balanced",
            "--vm",
            &vms,
        ];
        placewright(&[about.as_slice(), words].concat())
    };
    let run = place(&["--batch", "--all-or-nothing"]);
    assert_eq!(run.code, NO);
    assert!(run.out.contains("so none gets one"), "{}", run.out);
    let run = place(&["--batch", "--all-or-nothing", "--format", "json"]);
    let decisions: Value = serde_json::from_str(&run.out).unwrap();
    for decision in decisions.as_array().unwrap() {
        assert_eq!(decision["reserved"], false, "{decision}");
        assert_eq!(decision["placed"], false, "{decision}");
    }
    for search in [["--search"].as_slice(), &["--search", "500"]] {
        let out = place(&[&["--batch", "--all-or-nothing"], search].concat()).done();
        assert!(
            out.contains("First-come order leaves out 1, this plan 0"),
            "{out}"
        );
    }
    let said = place(&["--search"]).refused(INPUT);
    assert!(said.contains("give --batch"), "{said}");
    assert_eq!(place(&["--all-or-nothing"]).code, INPUT);
}

#[test]
fn a_batch_from_nothing_says_which_places_running_vms_still_take() {
    let folder = Folder::new();
    let cluster = "[[hosts]]\nid = 'h1'\ncpu.cores = 16\nmemory.total = '16 GiB'\n\
                   [[vms]]\nid = 'v'\nhost = 'h1'\ncpu = 1\nmemory = '10 GiB'\n";
    let cluster = folder.write("cluster.toml", cluster);
    let vms = "vms = [{ id = 'x', cpu = 1, memory = '10 GiB' }, { id = 'v' }]\n";
    let vms = folder.write("vms.toml", vms);
    let place = |words: &[&str]| {
        let about = ["place", "--cluster", &cluster, "--vm", &vms, "--batch"];
        let anew = ["--from-nothing", "--listed"];
        placewright(&[about.as_slice(), &anew, words].concat())
    };
    let run = place(&["--format", "json"]);
    assert_eq!(run.code, NO);
    let decisions: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(decisions[0]["host"], "h1");
    let warning = decisions[0]["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.contains("no place is reserved"), "{decisions}");
    let out = place(&[]).out.replace(['\n', '│'], " ");
    assert!(out.contains("warning: no place"), "{out}");
}
