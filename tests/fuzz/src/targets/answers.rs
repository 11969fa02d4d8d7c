//! Answers of every part, as a unit may give them: each is refused, or is one that can be used.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arbitrary::Unstructured;
use placewright_engine::contract::{Answers, Call, Part, Proposal};
use placewright_engine::unit::{Instance, Unit};
use serde_json::{Value, json};

use crate::guest::{Contract, telling, told};
use crate::world::forgetful;

/// So much that no slow machine runs into it.
const PATIENT: Duration = Duration::from_secs(20);

/// Rows of each table of a call.
const ROWS: usize = 3;

/// What a unit that is told its answers says of itself.
pub(crate) fn description(name: &str, evaluation: u8) -> Value {
    let column = |name: &str, kind: u8| json!({ "column": name, "kind": [kind] });
    let settings = json!({ "table": "settings", "columns": [column("answer", 3)] });
    let read = |table: &str, columns: Value| json!({ "table": table, "columns": columns });
    let hosts = read("hosts", json!([column("id", 3)]));
    let members = read("members", json!([]));
    let writes = json!([{
        "table": "fixed-keys",
        "columns": [["name", [3]], ["value", [1]]],
        "scope": [0],
        "moment": [0],
    }]);
    let reasons = json!([
        { "text": "is not liked" },
        { "text": "is not liked now", "passing": true },
    ]);
    json!({
        "name": name,
        "version": "1.0.0",
        "summary": "Answers what it is set to answer.",
        "settings": [{
            "name": "answer",
            "kind": [3],
            "default": [1, [3, ""]],
            "meaning": "What it answers.",
        }],
        "judge": [1, {
            "answers": { "verdicts": true, "costs": true },
            "evaluation": [evaluation],
            "reads": [hosts, settings],
            "reasons": reasons,
        }],
        "selection": [1, {
            "reads": [read("candidates", json!([column("share", 1)])), settings],
            "position": [1],
        }],
        "effects": [1, { "reads": [members, settings], "writes": writes }],
        "balance": [1, {
            "reads": [hosts, read("hosts/vms", json!([])), settings],
            "reasons": reasons,
        }],
        "order": [1, { "reads": [members, settings] }],
        "explain": [1, { "reads": [hosts, settings] }],
    })
}

fn unit() -> &'static Arc<Unit> {
    static UNIT: OnceLock<Arc<Unit>> = OnceLock::new();
    UNIT.get_or_init(|| {
        let component = told(&description("told", 1));
        match Unit::load(forgetful(), &component, "told.wasm") {
            Ok(unit) => unit,
            Err(error) => panic!("{error}"),
        }
    })
}

/// The parts that answer, each with an instance of its own.
const PARTS: [Part; 7] = [
    Part::Judge,
    Part::Selection,
    Part::Effects,
    Part::Balance,
    Part::Order,
    Part::Explain,
    Part::Settings,
];

thread_local! {
    static INSTANCES: RefCell<Vec<Option<Instance>>> = RefCell::default();
}

/// Whatever comes back is checked: no row, reason or number that is not one.
pub(crate) fn answers(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let part = *input.choose(&PARTS).unwrap_or(&Part::Judge);
    let image = Contract::get().arbitrary(part, &mut input);
    let call = Call {
        rows: vec![ROWS as u32; 3],
        texts: vec![telling(part, &image).into()],
        ..Call::default()
    };
    INSTANCES.with_borrow_mut(|instances| {
        instances.resize_with(PARTS.len(), || None);
        let number = PARTS.iter().position(|it| *it == part).unwrap_or(0);
        let instance = instances[number].get_or_insert_with(|| {
            let fresh = unit().instantiate(part);
            fresh.unwrap_or_else(|fault| panic!("{fault}"))
        });
        ask(instance, part, &call);
        if instance.is_poisoned() {
            instances[number] = None;
        }
    });
}

/// Call the part and look at what comes back.
fn ask(instance: &mut Instance, part: Part, call: &Call) {
    let fault = match part {
        Part::Judge => match instance.judge(Answers::BOTH, call, ROWS, PATIENT) {
            Ok(judgement) => {
                assert_eq!(
                    (judgement.verdicts.len(), judgement.costs.len()),
                    (ROWS, ROWS)
                );
                assert!(judgement.verdicts.iter().all(|verdict| *verdict <= 2));
                assert!(judgement.costs.iter().all(|cost| *cost > f64::NEG_INFINITY));
                return;
            }
            Err(fault) => fault,
        },
        Part::Selection => match instance.refine(call, ROWS, PATIENT) {
            Ok(shares) => {
                let rows: BTreeSet<u32> = shares.rows.iter().copied().collect();
                assert_eq!(rows.len(), shares.rows.len(), "each at most once");
                assert!(rows.iter().all(|row| (*row as usize) < ROWS));
                assert!(
                    shares
                        .shares
                        .iter()
                        .all(|share| (0.0..=1.0).contains(share))
                );
                return;
            }
            Err(fault) => fault,
        },
        Part::Effects => match instance.placed(call, ROWS, PATIENT) {
            Ok(changes) => {
                assert!(changes.iter().all(|change| change.write == 0
                    || changes.is_empty()
                    || matches!(
                        change.operation,
                        placewright_engine::contract::Operation::Reserve(_)
                    )));
                return;
            }
            Err(fault) => fault,
        },
        Part::Balance => match instance.balance(call, PATIENT) {
            Ok(proposals) => {
                assert!(proposals.iter().all(|it| (1..=2).contains(&it.reason())));
                let exists = |row: &u32| (*row as usize) < ROWS;
                for proposal in &proposals {
                    if let Proposal::Move(it) = proposal {
                        assert!(exists(&it.vm) && it.among.iter().chain(&it.accept).all(exists));
                    }
                }
                return;
            }
            Err(fault) => fault,
        },
        Part::Order => match instance.order(call, PATIENT) {
            Ok(turns) => {
                let rows: BTreeSet<u32> = turns.rows.iter().copied().collect();
                assert_eq!(rows.len(), turns.rows.len(), "each at most once");
                return;
            }
            Err(fault) => fault,
        },
        Part::Explain => match instance.explain(call, PATIENT) {
            Ok(facts) => {
                let rows = facts.iter().filter_map(|fact| fact.about.as_ref());
                assert!(rows.into_iter().all(|it| (it.row as usize) < ROWS));
                return;
            }
            Err(fault) => fault,
        },
        _ => match instance.check_settings(call, PATIENT) {
            Ok(()) => return,
            Err(fault) => fault,
        },
    };
    let said = fault.to_string();
    assert!(said.contains("\"told\""), "{said}");
    assert!(said.len() < 64 << 10, "{} bytes are said", said.len());
    assert_eq!(said.lines().count(), 1, "{said}");
}
