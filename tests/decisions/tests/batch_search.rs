//! Batches of which not everybody finds a host at once: all or nothing, and the search
//! for a plan that leaves out less.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};
use placewright_plugins as plugins;
use placewright_scheduler::{
    Batch, BatchOrder, PlaceError, Plan, SEARCH_DECISIONS, Scheduler, Searched,
};
use placewright_tests::scene::scheduler;
use placewright_tests::units::engine;
use proptest::prelude::*;

/// The components that come with the program and that Pacemaker's policies name.
fn generation() -> &'static Generation {
    static GENERATION: OnceLock<Generation> = OnceLock::new();
    const UNITS: [&str; 5] = [
        "utilization",
        "host-score",
        "vm-count",
        "current-host",
        "placement-strategy",
    ];
    GENERATION.get_or_init(|| {
        let units = plugins::UNITS.iter();
        let units = units.filter(|unit| UNITS.contains(&unit.name));
        let units: Vec<Arc<Unit>> = units
            .map(|unit| Unit::load(engine(), unit.bytes, unit.name).unwrap())
            .collect();
        Generation::new(units).unwrap()
    })
}

/// A policy that comes with the program.
fn embedded(policy: &str) -> &'static str {
    plugins::policy(policy).unwrap().text
}

fn rows(amounts: &[(&str, i64)], column: &str) -> Vec<Facts> {
    let row = |(name, amount): &(&str, i64)| Facts::new().with("name", *name).with(column, *amount);
    amounts.iter().map(row).collect()
}

fn vm(id: &str, needs: &[(&str, i64)]) -> Vm {
    let mut vm = Vm::new(id);
    vm.facts.set_rows("amounts", rows(needs, "need"));
    vm
}

fn cluster(hosts: &[(&str, &[(&str, i64)])]) -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for (id, totals) in hosts {
        let mut host = Host::new(*id);
        host.facts.set_rows("amounts", rows(totals, "total"));
        inventory.add_host(host).unwrap();
    }
    inventory
}

/// The example of Pacemaker's own documentation, "Utilization and Placement Strategy".
fn documented(policy: &str) -> (Scheduler, Vec<Vm>) {
    let inventory = cluster(&[
        ("node1", &[("cpu", 2), ("memory", 2048)]),
        ("node2", &[("cpu", 4), ("memory", 4096)]),
    ]);
    let vms = vec![
        vm("rsc-small", &[("cpu", 1), ("memory", 1024)]),
        vm("rsc-medium", &[("cpu", 2), ("memory", 2048)]),
        vm("rsc-large", &[("cpu", 3), ("memory", 3072)]),
    ];
    (scheduler(inventory, embedded(policy), generation()), vms)
}

fn hosts<'p>(plan: &'p Plan, vms: &[Vm]) -> Vec<Option<&'p str>> {
    let hosts = vms.iter().map(|vm| plan.host(&vm.id));
    hosts.map(|host| host.map(|host| &**host)).collect()
}

const PACKING: [&str; 3] = [
    "pacemaker-utilization",
    "pacemaker-balanced",
    "pacemaker-minimal",
];

#[test]
fn without_a_search_the_large_resource_of_pacemakers_example_stays_inactive() {
    for policy in PACKING {
        let (mut scheduler, members) = documented(policy);
        let batch = Batch {
            members: members.clone(),
            ..Batch::default()
        };
        let plan = scheduler.place_batch(batch).unwrap();
        let large = plan.host("rsc-large");
        assert_eq!(large, None, "{policy}: {:?}", hosts(&plan, &members));
        assert_eq!(plan.searched, None);
        assert!(plan.reserved);
    }
}

#[test]
fn with_a_search_all_of_pacemakers_example_is_placed_and_every_place_is_reserved() {
    for policy in PACKING {
        for from_nothing in [false, true] {
            let (mut scheduler, members) = documented(policy);
            let batch = Batch {
                members: members.clone(),
                search: Some(SEARCH_DECISIONS),
                from_nothing,
                ..Batch::default()
            };
            let plan = scheduler.place_batch(batch).unwrap();
            let expected = [Some("node2"), Some("node1"), Some("node2")];
            assert_eq!(hosts(&plan, &members), expected, "{policy}");
            let searched = plan.searched.unwrap();
            assert_eq!((searched.first_come, searched.left_out), (1, 0));
            assert!(!searched.bounded && searched.decisions > 0);
            assert!(plan.reserved);
            for (vm, host) in members.iter().zip(expected) {
                let inventory = scheduler.inventory();
                let entry = inventory.pending(&vm.id).unwrap();
                assert_eq!(
                    inventory.host(entry.slot).unwrap().id.as_ref(),
                    host.unwrap()
                );
            }
            // Its decisions can be explained like all others, and are numbered in turn.
            for (turn, number) in plan.turns.iter().zip(1..) {
                let decision = turn.outcome.as_ref().unwrap();
                assert_eq!(decision.number, number);
                let explanation = scheduler.explain(number).unwrap();
                assert_eq!(explanation.chosen, decision.host);
            }
        }
    }
}

#[test]
fn a_search_that_nobody_needs_changes_nothing() {
    let (mut scheduler, mut members) = documented("pacemaker-balanced");
    members.truncate(2);
    let batch = |search| Batch {
        members: members.clone(),
        dry_run: true,
        search,
        ..Batch::default()
    };
    let without = scheduler.place_batch(batch(None)).unwrap();
    let with = scheduler.place_batch(batch(Some(1000))).unwrap();
    assert_eq!(hosts(&with, &members), hosts(&without, &members));
    assert_eq!(with.searched, None);
}

#[test]
fn nothing_is_searched_for_where_there_is_no_decision() {
    let (mut scheduler, members) = documented("pacemaker-minimal");
    let batch = |members: &[Vm]| Batch {
        members: members.to_vec(),
        search: Some(1000),
        ..Batch::default()
    };
    scheduler.place_batch(batch(&members[..1])).unwrap();
    // The first one has a place already.
    let plan = scheduler.place_batch(batch(&members[..2])).unwrap();
    let error = plan.turns[0].outcome.as_ref().unwrap_err();
    assert_eq!(*error, PlaceError::Pending("rsc-small".into()));
    assert_eq!(plan.searched, None);
    assert!(plan.reserved && plan.host("rsc-medium").is_some());
}

#[test]
fn a_search_ends_at_its_bound_and_keeps_the_first_come_plan() {
    let (mut scheduler, members) = documented("pacemaker-utilization");
    for bound in [0, 1, 2] {
        let plan = scheduler
            .place_batch(Batch {
                members: members.clone(),
                search: Some(bound),
                dry_run: true,
                ..Batch::default()
            })
            .unwrap();
        let searched = Searched {
            first_come: 1,
            left_out: 1,
            decisions: bound,
            bounded: true,
        };
        assert_eq!(plan.searched, Some(searched));
        let expected = [Some("node1"), Some("node2"), None];
        assert_eq!(hosts(&plan, &members), expected);
    }
}

#[test]
fn a_policy_may_forbid_the_search() {
    let text = format!("search = 'forbidden'\n{}", embedded("pacemaker-minimal"));
    let mut scheduler = scheduler(cluster(&[("a", &[])]), &text, generation());
    let batch = |search| Batch {
        members: vec![vm("v", &[])],
        search,
        ..Batch::default()
    };
    let before = scheduler.inventory().version();
    let error = scheduler.place_batch(batch(Some(10))).unwrap_err();
    assert_eq!(
        error,
        PlaceError::SearchForbidden("pacemaker-minimal".into())
    );
    assert!(error.to_string().contains("ask without search"), "{error}");
    assert_eq!(scheduler.inventory().version(), before);
    assert!(scheduler.place_batch(batch(None)).is_ok());
}

#[test]
fn greater_priorities_are_not_given_up_for_more_vms() {
    // One VM of priority 1 takes the host alone; two of priority 0 would share it.
    let inventory = cluster(&[("a", &[("cpu", 4)])]);
    let mut scheduler = scheduler(inventory, embedded("pacemaker-minimal"), generation());
    let members = vec![
        vm("low-1", &[("cpu", 2)]),
        vm("low-2", &[("cpu", 2)]),
        vm("high", &[("cpu", 3)]).with("priority", 1_i64),
    ];
    let plan = scheduler
        .place_batch(Batch {
            members: members.clone(),
            search: Some(1000),
            ..Batch::default()
        })
        .unwrap();
    assert_eq!(hosts(&plan, &members), [None, None, Some("a")]);
    assert!(
        !plan.searched.unwrap().bounded,
        "it has tried everything it knows"
    );
}

#[test]
fn all_or_nothing_reserves_nothing_if_somebody_is_left_out_and_tells_who() {
    let (mut scheduler, members) = documented("pacemaker-balanced");
    let batch = |search| Batch {
        members: members.clone(),
        all_or_nothing: true,
        search,
        ..Batch::default()
    };
    let state = |scheduler: &Scheduler| {
        let inventory = scheduler.inventory();
        let columns: BTreeMap<String, Vec<i64>> = ["vms.pending", "vms.count", "batch.placed"]
            .into_iter()
            .map(|name| {
                let column = inventory.column_index(name).unwrap();
                (
                    name.to_owned(),
                    inventory.column(column).integers().to_vec(),
                )
            })
            .collect();
        (inventory.version(), inventory.pending_count(), columns)
    };
    let before = state(&scheduler);
    let plan = scheduler.place_batch(batch(None)).unwrap();
    assert!(!plan.reserved);
    assert_eq!(
        plan.left_out().map(|id| &**id).collect::<Vec<_>>(),
        ["rsc-large"]
    );
    assert_eq!(state(&scheduler), before);
    // What was planned can be explained all the same.
    let failed = plan.turns[2].outcome.as_ref().unwrap();
    let removed: usize = failed
        .decided
        .removed
        .iter()
        .map(|removed| removed.hosts)
        .sum();
    assert_eq!(removed, 2);
    assert_eq!(scheduler.explain(failed.number).unwrap().chosen, None);
    // With the search there is a place for everybody.
    let plan = scheduler
        .place_batch(batch(Some(SEARCH_DECISIONS)))
        .unwrap();
    assert!(plan.reserved);
    assert_eq!(plan.left_out().count(), 0);
    assert_eq!(scheduler.inventory().pending_count(), 3);
}

#[test]
fn all_or_nothing_fails_if_the_order_gives_somebody_no_turn_or_no_decision() {
    let (mut scheduler, members) = documented("pacemaker-balanced");
    let batch = |members: &[Vm]| Batch {
        members: members.to_vec(),
        all_or_nothing: true,
        ..Batch::default()
    };
    assert!(
        scheduler
            .place_batch(batch(&members[..1]))
            .unwrap()
            .reserved
    );
    // It has a place already, so that there is no decision on it.
    let plan = scheduler.place_batch(batch(&members[..2])).unwrap();
    assert!(!plan.reserved);
    assert_eq!(scheduler.inventory().pending_count(), 1);
}

#[test]
fn without_an_order_unit_the_important_come_first_unless_the_list_is_asked_for() {
    let policy = "[[filters]]\nunit = 'utilization'\n";
    let inventory = cluster(&[("a", &[("cpu", 4)])]);
    let mut scheduler = scheduler(inventory, policy, generation());
    let members = vec![
        vm("small", &[("cpu", 1)]),
        vm("large", &[("cpu", 4)]),
        vm("high", &[("cpu", 1)]).with("priority", 1_i64),
    ];
    let mut turns = |order| {
        let batch = Batch {
            members: members.clone(),
            order,
            dry_run: true,
            ..Batch::default()
        };
        let plan = scheduler.place_batch(batch).unwrap();
        let ids = plan.turns.iter().map(|turn| turn.members[0].to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(turns(BatchOrder::Policy), ["high", "large", "small"]);
    assert_eq!(turns(BatchOrder::Listed), ["small", "large", "high"]);
}

/// A small fleet with one amount: what hosts have, and what VMs need, with their
/// priorities.
type Fleet = (Vec<i64>, Vec<(i64, i64)>);

fn fleets() -> impl Strategy<Value = Fleet> {
    let hosts = prop::collection::vec(1i64..10, 1..4);
    let vms = prop::collection::vec((1i64..7, 0i64..3), 1..7);
    (hosts, vms)
}

/// Small fleets in which not all may fit.
fn crowded() -> impl Strategy<Value = Fleet> {
    let hosts = prop::collection::vec(6i64..13, 2..4);
    let vms = prop::collection::vec((2i64..7, 0i64..2), 5..8);
    (hosts, vms)
}

/// How many are left out of each priority, the greatest first.
type LeftOut = Vec<usize>;

fn left_out(vms: &[(i64, i64)], placed: impl Fn(usize) -> bool) -> LeftOut {
    let mut left_out = vec![0; 3];
    for (number, (_, priority)) in vms.iter().enumerate() {
        left_out[2 - *priority as usize] += usize::from(!placed(number));
    }
    left_out
}

/// The best that any assignment comes to.
fn best((hosts, vms): &Fleet) -> LeftOut {
    let ways = (hosts.len() + 1).pow(vms.len() as u32);
    let assignments = (0..ways).filter_map(|way| {
        let mut free = hosts.clone();
        let mut rest = way;
        let mut placed = vec![false; vms.len()];
        for (number, (need, _)) in vms.iter().enumerate() {
            let host = rest % (hosts.len() + 1);
            rest /= hosts.len() + 1;
            if host < hosts.len() {
                free[host] -= need;
                placed[number] = true;
            }
        }
        let fits = free.iter().all(|free| *free >= 0);
        fits.then(|| left_out(vms, |number| placed[number]))
    });
    assignments.min().unwrap()
}

fn planned(fleet: &Fleet, policy: &str, search: Option<usize>) -> (Plan, Scheduler) {
    let (hosts, vms) = fleet;
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for (number, total) in hosts.iter().enumerate() {
        let mut host = Host::new(format!("h{number}"));
        host.facts
            .set_rows("amounts", rows(&[("cpu", *total)], "total"));
        inventory.add_host(host).unwrap();
    }
    let mut scheduler = scheduler(inventory, embedded(policy), generation());
    let members = (0..).zip(vms).map(|(number, (need, priority))| {
        vm(&format!("v{number}"), &[("cpu", *need)]).with("priority", *priority)
    });
    let batch = Batch {
        members: members.collect(),
        search,
        ..Batch::default()
    };
    let plan = scheduler.place_batch(batch).unwrap();
    (plan, scheduler)
}

fn of_plan(fleet: &Fleet, plan: &Plan) -> LeftOut {
    left_out(&fleet.1, |number| {
        plan.host(&format!("v{number}")).is_some()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_search_is_never_worse_than_first_come_order_nor_better_than_possible(
        fleet in fleets(),
        policy in prop::sample::select(&PACKING[..]),
    ) {
        let (without, _) = planned(&fleet, policy, None);
        let (with, scheduler) = planned(&fleet, policy, Some(SEARCH_DECISIONS));
        let (first_come, found) = (of_plan(&fleet, &without), of_plan(&fleet, &with));
        prop_assert!(found <= first_come, "{found:?} {first_come:?}");
        prop_assert!(found >= best(&fleet));
        if found == first_come {
            let place = |plan: &Plan| -> Vec<_> {
                let ids = (0..fleet.1.len()).map(|number| format!("v{number}"));
                ids.map(|id| plan.host(&id).cloned()).collect()
            };
            prop_assert_eq!(place(&with), place(&without), "the first-come plan stays");
        }
        // No host carries more than it has, and what was planned is what is reserved.
        for (_, host) in scheduler.inventory().hosts() {
            let cpu = &host.amounts[0];
            prop_assert!(cpu.used + cpu.pending <= cpu.total, "{host:?}");
        }
        let placed = with.turns.iter().filter(|turn| turn.host().is_some()).count();
        prop_assert_eq!(scheduler.inventory().pending_count(), placed);
        // The same input gives the same plan.
        let (again, _) = planned(&fleet, policy, Some(SEARCH_DECISIONS));
        prop_assert_eq!(again.searched, with.searched);
        for (a, b) in again.turns.iter().zip(&with.turns) {
            prop_assert_eq!(&a.members, &b.members);
            prop_assert_eq!(a.host(), b.host());
        }
    }
}

#[test]
fn a_search_finds_most_of_what_is_possible() {
    // Of fleets where first-come order leaves out more than need be, in a fixed sample.
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut possible, mut found) = (0, 0);
    for _ in 0..150 {
        let fleet = crowded().new_tree(&mut runner).unwrap().current();
        let (without, _) = planned(&fleet, "pacemaker-utilization", None);
        let best = best(&fleet);
        if of_plan(&fleet, &without) == best {
            continue;
        }
        possible += 1;
        let (with, _) = planned(&fleet, "pacemaker-utilization", Some(SEARCH_DECISIONS));
        found += usize::from(of_plan(&fleet, &with) == best);
    }
    assert!(
        possible > 10,
        "{possible} fleets where there is something to find"
    );
    assert!(found * 10 >= possible * 9, "{found} of {possible}");
    println!("{found} of {possible} found");
}
