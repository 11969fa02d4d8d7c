//! Units that depend on the call, on other hosts or on the calls before, made at random: no
//! decision goes on being another one than without kept answers for longer than is stated.

use std::sync::Arc;

use placewright_chain::{Reuse, Runner};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Vm};
use placewright_policy::Unheeded;
use placewright_scheduler::{Decision, Scheduler, SchedulerOptions};
use placewright_tests::scene::GIB;
use proptest::prelude::*;

use super::{PATIENT, generation, loaded};

/// Until the answers of a kind of request are kept, and until a due call is made.
const FIRST: u64 = 3;

/// Never asked as if nothing were kept.
const NEVER: u64 = u64::MAX;

/// A cluster of so many hosts: the first with 1 GiB of memory, each further one with 1 GiB
/// more.
fn scheduler(hosts: usize, policy: &str, whole_after: u64) -> Scheduler {
    let mut inventory = Inventory::new("test", Arc::new(Schema::built_in().clone()));
    for number in 0..hosts {
        let memory = (number as i64 + 1) * GIB;
        let host = Host::new(format!("h{number:02}")).with("memory.total", memory);
        inventory.add_host(host).expect("ids differ");
    }
    let options = SchedulerOptions {
        chain_limit: PATIENT,
        recorded: 0,
        reuse: Some(Reuse {
            whole_after,
            ..Reuse::default()
        }),
        unheeded: Unheeded::Ignore,
        ..SchedulerOptions::default()
    };
    let policy = loaded(policy, generation());
    Scheduler::new(inventory, policy, generation(), options).expect("the units are there")
}

fn hostile(entry: &str, how: &str, number: usize, of: usize) -> String {
    format!(
        "[[{entry}]]\nunit = 'hostile'\nsettings = {{ how = '{how}', number = {number}, of = {of} }}\n"
    )
}

const TIES: &str = "tie-rule = ['id']\n";

/// A request that changes nothing.
fn asking(memory: i64) -> Request {
    Request {
        members: vec![Vm::new("v").with("memory", memory)],
        dry_run: true,
        ..Request::default()
    }
}

/// Whether the decision is the one that fresh instances of the units come to, each asked
/// once about all hosts.
fn is_right(scheduler: &Scheduler, decision: &Decision) -> bool {
    let mut fresh = Runner::new(decision.chain.clone(), PATIENT);
    // The last was a dry run: nothing has changed since.
    let decided = fresh.decide(scheduler.inventory(), &decision.request, decision.draw);
    decided.as_ref() == Ok(&decision.decided)
}

/// After how many decisions the unit is found out; None: not after so many.
fn found_out_after(
    scheduler: &mut Scheduler,
    most: u64,
    requests: fn(i64) -> Request,
) -> Option<u64> {
    (1..=most).find(|number| {
        let request = requests(*number as i64);
        let decision = scheduler.place(request).expect("nothing is refused");
        let is_found_out = !scheduler.quarantined().is_empty();
        assert!(!is_found_out || is_right(scheduler, &decision));
        is_found_out
    })
}

#[test]
fn what_shows_when_asked_about_few_hosts_is_noticed_within_the_bound_of_any_host() {
    const HOSTS: usize = 7;
    let bound = Reuse::checked_within(HOSTS);
    assert_eq!(bound, 4 * 64);
    for of in 1..=HOSTS {
        let policy = TIES.to_owned() + &hostile("costs", "few-rows", HOSTS, of);
        let mut scheduler = scheduler(HOSTS, &policy, NEVER);
        let after = found_out_after(&mut scheduler, bound + FIRST, |_| asking(1));
        assert!(after.is_some(), "of the host with {of} GiB");
        assert_eq!(&*scheduler.quarantined()[0].host, format!("h{:02}", of - 1));
    }
}

#[test]
fn a_unit_is_asked_again_also_where_other_units_see_a_new_kind_of_request_each_time() {
    const HOSTS: usize = 4;
    // Whose answers to the request are never known keeps sums from being used.
    let policy = TIES.to_owned()
        + &hostile("costs", "few-rows", HOSTS, HOSTS)
        + "[[costs]]\nunit = 'memory'\n";
    let mut scheduler = scheduler(HOSTS, &policy, NEVER);
    // A request that names hosts is decided by another way than the others.
    let requests = |number| Request {
        allowed: match number {
            3 => (0..HOSTS)
                .map(|host| format!("h{host:02}").into())
                .collect(),
            _ => Vec::new(),
        },
        ..asking(number)
    };
    let bound = Reuse::checked_within(HOSTS) + FIRST;
    assert!(found_out_after(&mut scheduler, bound, requests).is_some());
}

#[test]
fn what_shows_only_when_asked_about_all_hosts_is_noticed_within_the_bound() {
    const HOSTS: usize = 6;
    const AFTER: u64 = 150;
    let policy = TIES.to_owned() + &hostile("costs", "few-rows", HOSTS, HOSTS);
    let mut scheduler = scheduler(HOSTS, &policy, AFTER);
    for _ in 0..FIRST {
        scheduler.place(asking(1)).expect("nothing is refused");
    }
    // It is asked about this host and a few others: what it says then is kept, and said
    // again whenever it is asked about few.
    let vm = Vm::new("other").with("memory", 1i64);
    let changed = scheduler.inventory_mut();
    changed.run_vm(vm, "h05").expect("the host is there");
    let wrong = scheduler.place(asking(1)).expect("nothing is refused");
    assert!(!is_right(&scheduler, &wrong), "{:?}", wrong.decided);
    let after = found_out_after(&mut scheduler, AFTER, |_| asking(1));
    assert!(after.is_some());
    let mut never = self::scheduler(HOSTS, &policy, NEVER);
    for _ in 0..FIRST {
        never.place(asking(1)).expect("nothing is refused");
    }
    let vm = Vm::new("other").with("memory", 1i64);
    never
        .inventory_mut()
        .run_vm(vm, "h05")
        .expect("it is there");
    assert_eq!(found_out_after(&mut never, 4 * AFTER, |_| asking(1)), None);
}

#[derive(Debug, Clone)]
enum Deed {
    Run(usize, usize),
    Stop(usize),
    Memory(usize, i64),
    State(usize, bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (0..12_usize, 0..8_usize).prop_map(|(vm, host)| Deed::Run(vm, host)),
        2 => (0..12_usize).prop_map(Deed::Stop),
        1 => (0..8_usize, 1..9_i64).prop_map(|(host, gib)| Deed::Memory(host, gib)),
        1 => (0..8_usize, any::<bool>()).prop_map(|(host, up)| Deed::State(host, up)),
    ]
}

/// Do it; what is not possible is not done.
fn done(inventory: &mut Inventory, deed: &Deed) {
    let host = |host: usize| format!("h{host:02}");
    let _ = match deed {
        Deed::Run(vm, on) => inventory.run_vm(Vm::new(format!("vm-{vm}")), &host(*on)),
        Deed::Stop(vm) => inventory.remove_vm(&format!("vm-{vm}")),
        Deed::Memory(of, gib) => {
            inventory.set_host_value(&host(*of), "memory.total", Some((gib * GIB).into()))
        }
        Deed::State(of, up) => {
            let state = if *up { "up" } else { "maintenance" };
            inventory.set_host_value(&host(*of), "state", Some(state.into()))
        }
    };
}

fn how() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "honest",
        "row-number",
        "few-rows",
        "many-rows",
        "other-hosts",
        "nth-call",
        "later-calls",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_decision_goes_on_being_wrong_for_longer_than_is_stated(
        hosts in 1..9_usize,
        (how, number, of) in (how(), 1..9_usize, 0..9_usize),
        is_filter in any::<bool>(),
        is_second in any::<bool>(),
        whole_after in 1..40_u64,
        deeds in prop::collection::vec((deed(), 1..30_usize), 1..12),
    ) {
        let mut policy = TIES.to_owned();
        if is_second {
            // It is asked about fewer hosts than there are.
            policy += "[[filters]]\nunit = 'memory'\n";
        }
        policy += &hostile(if is_filter { "filters" } else { "costs" }, how, number, of);
        policy += "[[costs]]\nunit = 'even-distribution'\n";
        let mut scheduler = scheduler(hosts, &policy, whole_after);
        let mut wrong = 0;
        for (deed, decisions) in deeds {
            done(scheduler.inventory_mut(), &deed);
            for _ in 0..decisions {
                let decision = scheduler.place(asking(2 * GIB)).expect("nothing is refused");
                let is_found_out = !scheduler.quarantined().is_empty();
                wrong = match is_right(&scheduler, &decision) {
                    true => 0,
                    false => wrong + 1,
                };
                prop_assert!(!is_found_out || wrong == 0, "{:?}", scheduler.quarantined());
                prop_assert!(wrong <= whole_after + FIRST, "{} wrong decisions", wrong);
            }
        }
        prop_assert!(how != "honest" || scheduler.quarantined().is_empty());
    }
}
