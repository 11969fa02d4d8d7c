//! Decisions, batches and plans of a cluster whose units answer anything.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arbitrary::Unstructured;
use placewright_document::LONGEST_TEXT;
use placewright_engine::contract::Part;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::{Request, Vm};
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{BalanceOptions, Batch, Scheduler, SchedulerOptions};

use super::answers::description;
use crate::guest::{Contract, telling, told};
use crate::world::{cluster, forgetful, schema};

/// Two units that are told what to answer: the one says so, the other claims to judge row by row.
fn units() -> &'static Generation {
    static UNITS: OnceLock<Generation> = OnceLock::new();
    UNITS.get_or_init(|| {
        let units = [("told", 1), ("lying", 0)].map(|(name, evaluation)| {
            let component = told(&description(name, evaluation));
            match Unit::load(forgetful(), &component, name) {
                Ok(unit) => unit,
                Err(error) => panic!("{error}"),
            }
        });
        Generation::new(units).expect("their names differ")
    })
}

/// A policy with an entry for each part, or some of them, and whether it holds what it claims.
fn policy(input: &mut Unstructured<'_>) -> (Policy, bool) {
    const ENTRIES: [(&str, Part); 6] = [
        ("[[filters]]", Part::Judge),
        ("[[costs]]", Part::Judge),
        ("[[selections]]", Part::Selection),
        ("[[effects]]", Part::Effects),
        ("[order]", Part::Order),
        ("[balance]", Part::Balance),
    ];
    let lies = input.ratio(1_u8, 4).unwrap_or(false);
    let unit = if lies { "lying" } else { "told" };
    let mut text = String::new();
    for (number, (list, part)) in ENTRIES.into_iter().enumerate() {
        if !input.ratio(3_u8, 4).unwrap_or(true) {
            continue;
        }
        text.push_str(&format!("{list}\nunit = '{unit}'\n"));
        if list.starts_with("[[") {
            text.push_str(&format!("name = 'entry-{number}'\n"));
        }
        if number < 3 && input.arbitrary().unwrap_or(false) {
            text.push_str("on-failure = 'fail'\n");
        }
        let image = Contract::get().arbitrary(part, input);
        let answer = telling(part, &image);
        // A longer one is no setting.
        if answer.len() <= LONGEST_TEXT {
            text.push_str(&format!("settings.answer = '{answer}'\n"));
        }
    }
    match Policy::load(&text, "policy.toml", units(), &schema()) {
        Ok(policy) => (policy, !lies),
        Err(problems) => panic!("{problems}\n{text}"),
    }
}

/// Nothing panics, what fails changes nothing, and what was decided comes out the same again.
pub(crate) fn decisions(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let (policy, honest) = policy(&mut input);
    let options = SchedulerOptions {
        // So much that no slow machine runs into it.
        chain_limit: Duration::from_secs(60),
        unheeded: Unheeded::Ignore,
        ..SchedulerOptions::default()
    };
    let policy = Arc::new(policy);
    let mut scheduler = match Scheduler::new(cluster(), policy, units(), options) {
        Ok(scheduler) => scheduler,
        Err(error) => panic!("{error}"),
    };
    let mut now = 1000;
    for number in 0..4 {
        let Ok(what) = input.int_in_range(0..=4_u8) else {
            break;
        };
        now += input.int_in_range(0..=400).unwrap_or(0);
        let vm = |id: String| {
            Vm::new(id)
                .with("cpu", 1000_i64)
                .with("memory", 1_i64 << 30)
        };
        let before = scheduler.inventory().version();
        match what {
            0 => {
                let batch = Batch {
                    members: vec![vm(format!("x{number}")), vm(format!("y{number}"))],
                    now,
                    all_or_nothing: number % 2 == 0,
                    search: (number > 1).then_some(8),
                    ..Batch::default()
                };
                if scheduler.place_batch(batch).is_err() {
                    assert_eq!(scheduler.inventory().pending_count(), pending(&scheduler));
                }
            }
            1 => drop(scheduler.balance(now)),
            2 => drop(scheduler.plan_balance(now, &BalanceOptions::default())),
            _ => {
                let request = Request {
                    members: vec![vm(format!("w{number}"))],
                    now,
                    draw: Some(0.5),
                    ..Request::default()
                };
                if let Ok(decision) = scheduler.place(request) {
                    again(
                        &scheduler,
                        decision.number,
                        decision.host.as_deref(),
                        honest,
                    );
                } else {
                    let here = scheduler.inventory();
                    assert!(here.pending(&format!("w{number}")).is_none());
                    assert!(here.version() >= before);
                }
            }
        }
        assert_whole(scheduler.inventory());
    }
}

fn pending(scheduler: &Scheduler) -> usize {
    scheduler.inventory().pending_ids().count()
}

/// The decision names a host that there is, and is the same when it is made again.
fn again(scheduler: &Scheduler, number: u64, host: Option<&str>, honest: bool) {
    if let Some(host) = host {
        assert!(scheduler.inventory().slot(host).is_some(), "{host}");
    }
    let explained = scheduler.explain(number);
    let past = scheduler.past(number).expect("it was made just now");
    let same = past.comes_out_the_same();
    if honest {
        assert!(explained.is_ok(), "{explained:?}");
        assert!(matches!(same, Ok(true)), "{same:?}");
    }
}

/// What the inventory counts is what it holds.
fn assert_whole(inventory: &Inventory) {
    let hosts = inventory.hosts();
    let vms: usize = hosts.map(|(_, host)| inventory.vms_of(host).count()).sum();
    assert_eq!(vms, inventory.running_count() + inventory.pending_count());
}
