//! Hosts that are emptied, and clusters that are put right before their load is looked at.

use std::sync::Arc;

use placewright_chain::Proposed;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Group, GroupRule, Host, Value, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{
    BalanceError, BalanceOptions, BalancePlan, Cause, MoveError, Origin, Scheduler,
    SchedulerOptions,
};
use placewright_tests::scene::GIB;

/// Memory and groups are heeded, and nothing balances.
const POLICY: &str = "
[[filters]]
unit = 'memory'
[[filters]]
unit = 'affinity'
[[costs]]
unit = 'memory'
";

/// Nothing is heeded.
const CARELESS: &str = "
unheeded = 'ignore'
[[costs]]
unit = 'memory'
";

thread_local! {
    static UNITS: Generation = {
        let engine = Engine::new(Limits::default(), None).unwrap();
        let units = ["memory", "affinity"].map(|name| {
            let unit = plugins::UNITS.iter().find(|unit| unit.name == name);
            let bytes = unit.expect("it comes with the program").bytes;
            Unit::load(&engine, bytes, name).unwrap()
        });
        Generation::new(units).unwrap()
    };
}

pub(super) fn scheduler_by(policy: &str, inventory: Inventory) -> Scheduler {
    UNITS.with(|generation| {
        let policy = Policy::load(policy, "p.toml", generation, inventory.schema()).unwrap();
        let options = SchedulerOptions::default();
        Scheduler::new(inventory, Arc::new(policy), generation, options).unwrap()
    })
}

pub(super) fn scheduler(inventory: Inventory) -> Scheduler {
    scheduler_by(POLICY, inventory)
}

/// Hosts with so many GiB of memory, and VMs with as many on them.
pub(super) fn cluster(hosts: &[(&str, i64)], vms: &[(&str, i64, &str)]) -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for (id, memory) in hosts {
        let host = Host::new(*id)
            .with("cpu.cores", 8_i64)
            .with("memory.total", *memory * GIB);
        inventory.add_host(host).unwrap();
    }
    for (id, memory, host) in vms {
        inventory.run_vm(vm(id, *memory), host).unwrap();
    }
    inventory.advance(1000);
    inventory
}

pub(super) fn vm(id: &str, memory: i64) -> Vm {
    Vm::new(id)
        .with("cpu", 100_i64)
        .with("memory", memory * GIB)
}

pub(super) fn group(id: &str, vms: &[&str], rule: GroupRule) -> Group {
    Group {
        vms: vms.iter().map(|vm| Arc::from(*vm)).collect(),
        hosts: Vec::new(),
        vm_rule: Some(rule),
        host_rule: None,
        priority: 1.0,
        ..Group::new(id)
    }
}

const APART: GroupRule = GroupRule::Negative { hard: true };
pub(super) const TOGETHER: GroupRule = GroupRule::Positive { hard: true };

pub(super) fn state(inventory: &mut Inventory, host: &str, state: &str) {
    let state = Some(Value::Text(state.into()));
    inventory.set_host_value(host, "state", state).unwrap();
}

pub(super) fn emptied(scheduler: &mut Scheduler, hosts: &[&str]) -> BalancePlan {
    let hosts: Vec<Arc<str>> = hosts.iter().map(|id| Arc::from(*id)).collect();
    scheduler.plan_evacuation(1000, &hosts).unwrap()
}

pub(super) fn balanced(scheduler: &mut Scheduler) -> BalancePlan {
    let options = BalanceOptions::default();
    scheduler.plan_balance(1000, &options).unwrap()
}

pub(super) fn moves(plan: &BalancePlan) -> Vec<(&str, &str, &str)> {
    let moves = plan.moves.iter();
    moves.map(|it| (&*it.vm, &*it.from, &*it.to)).collect()
}

pub(super) fn stuck(plan: &BalancePlan) -> Vec<&str> {
    plan.stuck.iter().map(|it| &*it.vm).collect()
}

/// Begin and confirm every move.
pub(super) fn carry_out(scheduler: &mut Scheduler, plan: &BalancePlan) {
    for step in &plan.moves {
        if scheduler.inventory().pending(&step.vm).is_none() {
            let with = plan
                .moves
                .iter()
                .filter(|other| other.vm == step.vm || step.together.contains(&other.vm));
            let with: Vec<_> = with.collect();
            scheduler.begin_together(&with, 1000, None).unwrap();
        }
        scheduler.inventory_mut().confirm_vm(&step.vm).unwrap();
    }
}

#[test]
fn a_host_is_emptied_the_largest_vms_first_and_each_on_top_of_those_before() {
    let inventory = cluster(
        &[("a", 64), ("b", 17), ("c", 14)],
        &[("s", 4, "a"), ("l", 12, "a"), ("m", 8, "a"), ("x", 4, "b")],
    );
    let mut scheduler = scheduler(inventory);
    let version = scheduler.inventory().version();
    let plan = emptied(&mut scheduler, &["a"]);
    assert_eq!(plan.origin, Origin::Evacuation(vec!["a".into()]));
    assert_eq!(
        scheduler.inventory().version(),
        version,
        "nothing is changed"
    );
    assert_eq!(
        moves(&plan),
        [("l", "a", "c"), ("m", "a", "b"), ("s", "a", "b")]
    );
    assert!(plan.moves.iter().all(|it| it.cause == Cause::Evacuation));
    assert_eq!(plan.stuck, []);
    let Proposed::HostState { host, state, .. } = &plan.notes[0] else {
        panic!("{:?}", plan.notes);
    };
    assert_eq!((&**host, &**state), ("a", "maintenance"));
    carry_out(&mut scheduler, &plan);
    let a = scheduler.inventory().slot("a").unwrap();
    let host = scheduler.inventory().host(a).unwrap();
    assert_eq!(scheduler.inventory().vms_of(host).count(), 0);
}

#[test]
fn of_several_hosts_that_are_emptied_none_takes_what_another_gives() {
    let inventory = cluster(
        &[("a", 64), ("b", 64), ("c", 10)],
        &[("v", 8, "a"), ("w", 4, "b")],
    );
    let plan = emptied(&mut scheduler(inventory), &["b", "a", "a"]);
    assert_eq!(moves(&plan), [("v", "a", "c")]);
    assert_eq!(stuck(&plan), ["w"]);
    let MoveError::Nowhere {
        considered,
        removed,
        ..
    } = &plan.stuck[0].because
    else {
        panic!("{:?}", plan.stuck);
    };
    assert_eq!((*considered, removed[0].hosts), (1, 1));
    assert_eq!(&*removed[0].filter, "memory");
}

#[test]
fn hard_groups_are_heeded_by_vms_that_leave_a_host() {
    let mut inventory = cluster(
        &[("a", 64), ("b", 64), ("c", 16)],
        &[
            ("p1", 4, "a"),
            ("p2", 4, "a"),
            ("n1", 4, "a"),
            ("n2", 4, "b"),
        ],
    );
    inventory
        .set_group(group("pair", &["p1", "p2"], TOGETHER))
        .unwrap();
    inventory
        .set_group(group("apart", &["n1", "n2"], APART))
        .unwrap();
    let mut scheduler = scheduler(inventory);
    let plan = emptied(&mut scheduler, &["a"]);
    assert_eq!(plan.stuck, []);
    let to = |vm: &str| {
        let found = plan.moves.iter().find(|it| &*it.vm == vm);
        found.unwrap().to.to_string()
    };
    assert_eq!(to("n1"), "c", "beside n2 it may not be");
    assert_eq!(to("p1"), to("p2"));
    let pair = plan.moves.iter().find(|it| &*it.vm == "p1").unwrap();
    assert_eq!(pair.together, [Arc::from("p2")]);
    // Alone it cannot be begun.
    assert!(scheduler.begin_move(pair, 1000).is_err());
    carry_out(&mut scheduler, &plan);
}

#[test]
fn a_vm_that_may_not_be_moved_while_it_runs_stays_unless_its_host_is_down() {
    let mut inventory = cluster(&[("a", 64), ("b", 64)], &[]);
    let fixed = vm("v", 4).with("migratable", false);
    inventory.run_vm(fixed, "a").unwrap();
    let mut scheduler = scheduler(inventory);
    let plan = emptied(&mut scheduler, &["a"]);
    assert_eq!(plan.stuck[0].because, MoveError::NotMigratable);
    state(scheduler.inventory_mut(), "a", "down");
    assert_eq!(moves(&emptied(&mut scheduler, &["a"])), [("v", "a", "b")]);
}

#[test]
fn who_has_a_place_elsewhere_leaves_by_itself_and_is_told_of() {
    let inventory = cluster(&[("a", 64), ("b", 64)], &[("v", 4, "a"), ("w", 4, "b")]);
    let mut scheduler = scheduler(inventory);
    for (id, host) in [("v", "b"), ("new", "a")] {
        let vm = Arc::new(vm(id, 4));
        let inventory = scheduler.inventory_mut();
        inventory.reserve_vm(vm, host, Some(2000)).unwrap();
    }
    let plan = emptied(&mut scheduler, &["a"]);
    assert_eq!(moves(&plan), []);
    assert_eq!(plan.stuck, []);
    let told: Vec<_> = plan
        .reserved
        .iter()
        .map(|it| (&*it.vm, &*it.host, it.from.as_deref(), it.expires))
        .collect();
    let expected = [
        ("new", "a", None, Some(2000)),
        ("v", "b", Some("a"), Some(2000)),
    ];
    assert_eq!(told, expected);
    assert!(!plan.reasons.is_empty());
}

#[test]
fn vms_leave_hosts_that_are_not_up_whatever_the_policy_balances() {
    let mut inventory = cluster(
        &[("a", 64), ("b", 64), ("c", 64)],
        &[("v", 4, "a"), ("w", 4, "b")],
    );
    state(&mut inventory, "a", "maintenance");
    state(&mut inventory, "b", "error");
    let plan = balanced(&mut scheduler(inventory));
    assert_eq!(moves(&plan), [("v", "a", "c"), ("w", "b", "c")]);
    let reasons: Vec<&str> = plan.moves.iter().map(|it| &*it.reason).collect();
    assert_eq!(reasons, ["host a is in maintenance", "host b is in error"]);
    assert!(plan.moves.iter().all(|it| it.cause == Cause::HostState));
}

#[test]
fn broken_hard_groups_are_put_right_with_the_smallest_vms_that_will_do() {
    let mut inventory = cluster(
        &[("a", 64), ("b", 64), ("c", 64)],
        &[
            ("n1", 8, "a"),
            ("n2", 4, "a"),
            ("t1", 4, "b"),
            ("t2", 4, "b"),
            ("t3", 4, "c"),
            ("h", 4, "a"),
        ],
    );
    inventory
        .set_group(group("apart", &["n1", "n2"], APART))
        .unwrap();
    inventory
        .set_group(group("team", &["t1", "t2", "t3"], TOGETHER))
        .unwrap();
    let licence = Group {
        hosts: vec!["c".into()],
        vm_rule: None,
        host_rule: Some(GroupRule::Positive { hard: true }),
        ..group("licence", &["h"], APART)
    };
    inventory.set_group(licence).unwrap();
    // A policy that heeds no groups is asked only about hosts that put them right.
    for policy in [POLICY, CARELESS] {
        let mut scheduler = scheduler_by(policy, inventory.clone());
        let plan = balanced(&mut scheduler);
        let moved: Vec<(&str, &str)> = plan.moves.iter().map(|it| (&*it.vm, &*it.to)).collect();
        assert_eq!(moved.len(), 3, "{plan:?}");
        assert_ne!(moved[0], ("n2", "a"));
        assert_eq!(moved[0].0, "n2");
        assert_eq!(moved[1..], [("h", "c"), ("t3", "b")]);
        assert!(plan.moves.iter().all(|it| it.cause == Cause::HardGroup));
        assert_eq!(plan.stuck, []);
        carry_out(&mut scheduler, &plan);
        assert_eq!(moves(&balanced(&mut scheduler)), []);
    }
}

#[test]
fn a_hard_group_that_cannot_be_put_right_is_told_of() {
    let mut inventory = cluster(&[("a", 64), ("b", 2)], &[("n1", 8, "a"), ("n2", 4, "a")]);
    inventory
        .set_group(group("apart", &["n1", "n2"], APART))
        .unwrap();
    let plan = balanced(&mut scheduler(inventory));
    assert_eq!(stuck(&plan), ["n2", "n1"]);
    let told = &plan.stuck[0];
    assert_eq!(
        told.reason,
        "group apart keeps VM n2 apart from VM n1, and both are on host a"
    );
    assert!(told.because.to_string().contains("memory"), "{told:?}");
}

#[test]
fn a_host_that_has_promised_too_much_gives_the_smallest_vm_that_is_enough() {
    let vms = [("s", 2, "a"), ("m", 6, "a"), ("l", 12, "a")];
    let inventory = cluster(&[("a", 16), ("b", 64)], &vms);
    let mut scheduler = scheduler(inventory);
    let plan = balanced(&mut scheduler);
    assert_eq!(moves(&plan), [("m", "a", "b")]);
    assert_eq!(
        plan.moves[0].reason,
        "host a has promised 20.0 GiB of memory, and may promise 16.0 GiB"
    );
    // What is not promised more than once may be promised more often where the host says so.
    let more = Some(Value::Number(1.5));
    let inventory = scheduler.inventory_mut();
    inventory
        .set_host_value("a", "memory.overcommit", more)
        .unwrap();
    assert_eq!(moves(&balanced(&mut scheduler)), []);
}

#[test]
fn no_host_is_relieved_by_another_one_promising_too_much() {
    let vms = [("v", 8, "a"), ("w", 12, "a"), ("x", 8, "b")];
    let inventory = cluster(&[("a", 16), ("b", 12)], &vms);
    let plan = balanced(&mut scheduler_by(CARELESS, inventory));
    assert_eq!(moves(&plan), []);
    assert_eq!(stuck(&plan), ["v", "w"]);
    assert_eq!(plan.stuck[0].because, MoveError::NoBetter("b".into()));
}

#[test]
fn nothing_is_put_right_where_that_is_not_wanted() {
    let mut inventory = cluster(&[("a", 64), ("b", 64)], &[("v", 4, "a")]);
    state(&mut inventory, "a", "maintenance");
    let options = BalanceOptions {
        repairs: false,
        ..BalanceOptions::default()
    };
    let plan = scheduler(inventory).plan_balance(1000, &options).unwrap();
    assert_eq!(moves(&plan), []);
    assert_eq!(plan.stuck, []);
}

/// Why the first move of a plan is not begun any more, after the cluster was changed.
fn needless(scheduler: &mut Scheduler, change: impl FnOnce(&mut Inventory)) -> String {
    let plan = balanced(scheduler);
    let first = plan.moves.first().expect("there is something to move");
    assert_eq!(scheduler.copy().begin_move(first, 1000), Ok(()));
    change(scheduler.inventory_mut());
    match scheduler.begin_move(first, 1000) {
        Err(BalanceError::Needless { why, .. }) => {
            assert_eq!(scheduler.inventory().pending_count(), 0);
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_move_off_a_host_that_is_up_again_is_not_begun() {
    for before in ["maintenance", "down", "error"] {
        let mut inventory = cluster(&[("h1", 64), ("h2", 64)], &[("v", 1, "h1")]);
        state(&mut inventory, "h1", before);
        let why = needless(&mut scheduler(inventory), |world| state(world, "h1", "up"));
        assert_eq!(why, "host h1 is up again");
    }
}

#[test]
fn a_move_for_a_hard_group_that_is_kept_or_gone_or_soft_is_not_begun() {
    let broken = |rule| {
        let vms = [("a", 1, "h1"), ("b", 2, "h1"), ("c", 3, "h2")];
        let mut inventory = cluster(&[("h1", 64), ("h2", 64), ("h3", 64)], &vms);
        let members = match rule {
            APART => ["a", "b"],
            _ => ["a", "c"],
        };
        inventory.set_group(group("g", &members, rule)).unwrap();
        scheduler(inventory)
    };
    for rule in [APART, TOGETHER] {
        let kept = needless(&mut broken(rule), |world| {
            let (vm, memory) = match rule {
                APART => ("b", 2),
                _ => ("a", 1),
            };
            let to = if rule == APART { "h3" } else { "h2" };
            world.run_vm(self::vm(vm, memory), to).unwrap();
        });
        assert_eq!(kept, "the rule of group g is satisfied by now");
        let gone = needless(&mut broken(rule), |world| world.remove_group("g"));
        assert_eq!(gone, "group g is gone");
        let soft = needless(&mut broken(rule), |world| {
            let soft = match rule {
                APART => GroupRule::Negative { hard: false },
                _ => GroupRule::Positive { hard: false },
            };
            world.set_group(group("g", &["a", "b", "c"], soft)).unwrap();
        });
        assert_eq!(soft, "group g is not hard any more");
    }
}

#[test]
fn a_move_off_a_host_that_promises_no_more_than_it_may_by_now_is_not_begun() {
    let over = || {
        let vms = [("a", 6, "h1"), ("b", 6, "h1"), ("c", 6, "h1")];
        scheduler(cluster(&[("h1", 10), ("h2", 64)], &vms))
    };
    let why = needless(&mut over(), |world| {
        let more = Some(Value::Integer(20 * GIB));
        world.set_host_value("h1", "memory.total", more).unwrap();
    });
    assert_eq!(why, "host h1 promises no more than it may by now");
    // Moves that are under way count as if they were done.
    let mut scheduler = over();
    let plan = balanced(&mut scheduler);
    assert_eq!(plan.moves.len(), 2, "{plan:?}");
    scheduler.begin_move(&plan.moves[0], 1000).unwrap();
    assert_eq!(scheduler.copy().begin_move(&plan.moves[1], 1000), Ok(()));
    let gone = ["a", "b", "c"].into_iter().find(|vm| {
        let moved = plan.moves.iter().any(|step| *step.vm == **vm);
        !moved
    });
    let world = scheduler.inventory_mut();
    world.remove_vm(gone.unwrap()).unwrap();
    let begun = scheduler.begin_move(&plan.moves[1], 1000);
    assert!(
        matches!(begun, Err(BalanceError::Needless { .. })),
        "{begun:?}"
    );
}
