//! Ganeti's own test clusters, balanced by the policy `ganeti`: each ends with a
//! score that is at most hbal's, after no more moves.

mod score;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use placewright_document::ClusterDocument;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{BalanceOptions, BalancePlan, Scheduler, SchedulerOptions};
use placewright_tests::repository;
use serde::Deserialize;

/// Scores are given with eight decimals.
const ROUNDING: f64 = 1e-8;

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
}

/// What hbal makes of a case.
struct Reference {
    case: String,
    initial: f64,
    last: f64,
    moves: usize,
}

fn vector(file: &str) -> String {
    let path = repository().join("tests/ganeti").join(file);
    fs::read_to_string(path).unwrap()
}

fn cases() -> BTreeMap<String, String> {
    let cases = vector("cases.jsonl");
    let cases = cases.lines().map(|line| {
        let case: Case = serde_json::from_str(line).unwrap();
        (case.name, case.text)
    });
    cases.collect()
}

fn references() -> Vec<Reference> {
    let table = vector("hbal-reference.csv");
    let rows = table.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        Reference {
            case: fields[0].to_owned(),
            initial: fields[3].parse().unwrap(),
            last: fields[4].parse().unwrap(),
            moves: fields[5].parse().unwrap(),
        }
    });
    rows.collect()
}

fn generation() -> Generation {
    let unit = plugins::UNITS
        .iter()
        .find(|unit| unit.name == "ganeti-score");
    let bytes = unit.expect("the unit comes with the program").bytes;
    let engine = Engine::new(Limits::default(), None).unwrap();
    Generation::new([Unit::load(&engine, bytes, "ganeti-score").unwrap()]).unwrap()
}

fn scheduler(text: &str, generation: &Generation) -> Scheduler {
    let document = placewright_tools::ganeti::read(text, "case.data", None);
    let document = document.unwrap_or_else(|problems| panic!("{problems}"));
    let inventory = Inventory::of_document(document, 0).unwrap();
    let policy = plugins::policy("ganeti").expect("the policy comes with the program");
    let policy = Policy::load(policy.text, "ganeti.toml", generation, inventory.schema()).unwrap();
    let options = SchedulerOptions::default();
    Scheduler::new(inventory, Arc::new(policy), generation, options).unwrap()
}

fn plan(scheduler: &mut Scheduler) -> BalancePlan {
    let options = BalanceOptions {
        cool_down: 0,
        // As in Ganeti, it is the unit that says what leaves which node.
        repairs: false,
        ..BalanceOptions::default()
    };
    scheduler.plan_balance(0, &options).unwrap()
}

#[test]
fn every_case_ends_with_at_most_hbals_score_after_no_more_moves() {
    let (cases, generation) = (cases(), generation());
    let mut worse = Vec::new();
    println!(
        "{:32} {:>12} {:>12} {:>5} {:>12} {:>5}",
        "case", "initial", "hbal", "moves", "ours", "moves"
    );
    for reference in references() {
        let mut scheduler = scheduler(&cases[&reference.case], &generation);
        let initial = score::of(scheduler.inventory());
        let plan = plan(&mut scheduler);
        scheduler.carry_out(&plan).unwrap();
        let last = score::of(scheduler.inventory());
        println!(
            "{:32} {:>12.8} {:>12.8} {:>5} {:>12.8} {:>5}",
            reference.case,
            initial,
            reference.last,
            reference.moves,
            last,
            plan.moves.len()
        );
        if (initial - reference.initial).abs() > ROUNDING {
            worse.push(format!("{} begins with {initial}", reference.case));
        }
        if last > reference.last + ROUNDING || plan.moves.len() > reference.moves {
            worse.push(format!("{} ends with {last}", reference.case));
        }
    }
    assert_eq!(worse, [""; 0]);
}

#[test]
fn after_every_step_the_score_is_lower_and_is_the_cost_that_the_plan_tells() {
    let (cases, generation) = (cases(), generation());
    let mut steps = 0;
    for reference in references() {
        let mut scheduler = scheduler(&cases[&reference.case], &generation);
        let plan = plan(&mut scheduler);
        let mut before = score::of(scheduler.inventory());
        for step in &plan.moves {
            scheduler.begin_move(step, 0).unwrap();
            if step.from != step.to {
                scheduler.inventory_mut().confirm_vm(&step.vm).unwrap();
            }
            let after = score::of(scheduler.inventory());
            assert!(after < before, "{}: {step:?}", reference.case);
            // Instances on nodes that are offline, and these nodes, are not shown to costs.
            if reference.case != "hbal-evac.data" {
                assert!(
                    (step.cost_after[0] - after).abs() < 1e-9,
                    "{step:?}: {after}"
                );
            }
            before = after;
            steps += 1;
        }
    }
    assert!(steps > 30, "{steps} steps");
}

#[test]
fn a_cluster_without_nodes_or_instances_needs_no_move() {
    let (cases, generation) = (cases(), generation());
    for case in [
        "empty-cluster.data",
        "missing-resources.data",
        "hspace-tiered-exclusive.data",
    ] {
        let mut scheduler = scheduler(&cases[case], &generation);
        assert_eq!(plan(&mut scheduler).moves, [], "{case}");
    }
}

#[test]
fn of_several_groups_one_is_chosen() {
    let text = &cases()["hbal-split-insts.data"];
    let read = |group| placewright_tools::ganeti::read(text, "case.data", group);
    let error = read(None).unwrap_err().to_string();
    assert!(
        error.contains("choose one of group-01, group-02"),
        "{error}"
    );
    assert!(read(Some("group-03")).is_err());
    let chosen = read(Some("group-02")).unwrap();
    assert_eq!(chosen.hosts.len(), 2);
    assert!(
        chosen
            .vms
            .iter()
            .all(|vm| chosen.hosts.iter().any(|host| host.id == vm.host))
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_line_and_field() {
    const GOOD: &str = "g|u|preferred||\n\nn1|1024|0|1024|100|100|4|N|u|1\nn2|1024|0|1024|100|100|4|N|u|1\n\ni1|128|10|1|running|Y|n1|n2|drbd||1\n\n\n";
    assert!(placewright_tools::ganeti::read(GOOD, "c.data", None).is_ok());
    for (from, to, message) in [
        (
            "g|u|preferred||",
            "g|u",
            "c.data:1:1: a group has the fields",
        ),
        (
            "n1|1024|0",
            "n1|much|0",
            "c.data:3:4: field 2 is the total memory",
        ),
        (
            "|4|N|u|1\nn2",
            "|4|N|v|1\nn2",
            "c.data:3:28: field 9: there is no group \"v\"",
        ),
        (
            "n2|1024|0",
            "n1|1024|0",
            "c.data:4:1: field 1: \"n1\" is no name of its own",
        ),
        ("i1|128", "i1|-128", "c.data:6:4: field 2 is the memory"),
        ("|running|", "|runing|", "(did you mean \"running\"?)"),
        (
            "|Y|n1|",
            "|J|n1|",
            "field 6 is the flag of auto-balance, and must be Y or N",
        ),
        (
            "|n1|n2|",
            "|n1|n3|",
            "field 8 is the secondary node, and there is no node \"n3\"",
        ),
        (
            "|n1|n2|",
            "|n1|n1|",
            "the secondary node must not be the primary node",
        ),
        ("|drbd|", "|drdb|", "(did you mean \"drbd\"?)"),
        ("drbd||1", "drbd||one", "field 11 is the use of spindles"),
        ("n2|drbd||1\n\n\n", "n2|drbd||1\n", "has 4 sections or more"),
    ] {
        let bad = GOOD.replace(from, to);
        assert_ne!(bad, GOOD, "{from}");
        let error = placewright_tools::ganeti::read(&bad, "c.data", None).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(message), "{message}: {error}");
    }
    let error = placewright_tools::ganeti::read(&cases()["invalid-node.data"], "c.data", None);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("there is no node \"no-such-node\""),
        "{error}"
    );
}

#[test]
fn a_cluster_read_and_written_as_a_document_is_the_same() {
    for (name, text) in cases() {
        let Ok(read) = placewright_tools::ganeti::read(&text, "case.data", None) else {
            continue;
        };
        let written = serde_json::to_string(&read).unwrap();
        let again = ClusterDocument::read(&written, "case.json");
        let again = again.unwrap_or_else(|problems| panic!("{name}: {problems}"));
        assert_eq!(again.hosts, read.hosts, "{name}");
        assert_eq!(again.vms, read.vms, "{name}");
        assert_eq!(serde_json::to_string(&again).unwrap(), written, "{name}");
    }
}
