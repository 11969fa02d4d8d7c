//! The periodic pass: what a balance unit proposes is held against the chain, and
//! planned, begun and cancelled step by step.

use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, GroupRule, Host, Value, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{
    BalanceError, BalanceOptions, BalancePlan, MoveError, Scheduler, SchedulerOptions,
};
use placewright_tests::scene::GIB;

/// Moves VMs from hosts with a load of 75 % or more.
const POLICY: &str = "
[settings]
high-utilization = 75
over-commit-duration = 0
[[filters]]
unit = 'memory'
[[filters]]
unit = 'affinity'
[[costs]]
unit = 'even-distribution'
[balance]
unit = 'even-distribution'
[[watches]]
name = 'cpu-over'
column = 'cpu.usage'
at-least = 0.75
";

fn generation() -> Generation {
    let engine = Engine::new(Limits::default(), None).unwrap();
    let units = ["memory", "affinity", "even-distribution", "gpus"].map(|name| {
        let unit = plugins::UNITS.iter().find(|unit| unit.name == name);
        let bytes = unit.expect("it comes with the program").bytes;
        Unit::load(&engine, bytes, name).unwrap()
    });
    Generation::new(units).unwrap()
}

fn scheduler(inventory: Inventory) -> Scheduler {
    scheduler_by(POLICY, inventory)
}

/// A scheduler by that policy.
fn scheduler_by(policy: &str, inventory: Inventory) -> Scheduler {
    let generation = generation();
    let policy = Policy::load(policy, "p.toml", &generation, inventory.schema()).unwrap();
    let options = SchedulerOptions::default();
    Scheduler::new(inventory, Arc::new(policy), &generation, options).unwrap()
}

fn host(id: &str, usage: f64, memory: i64) -> Host {
    Host::new(id)
        .with("cpu.cores", 10_i64)
        .with("cpu.usage", Value::Number(usage))
        .with("memory.total", memory)
}

/// A VM of 4 GiB that makes so many percent of a host's load.
fn vm(id: &str, percent: i64) -> Vm {
    let usage = Value::Number(percent as f64 / 20.0);
    Vm::new(id)
        .with("cpu", 2000_i64)
        .with("memory", 4 * GIB)
        .with("cpu.usage", usage)
}

/// A busy host with two VMs, and a host with little to do.
fn busy_and_idle() -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    inventory.add_host(host("busy", 0.9, 64 * GIB)).unwrap();
    inventory.add_host(host("idle", 0.1, 64 * GIB)).unwrap();
    inventory.run_vm(vm("a", 20), "busy").unwrap();
    inventory.run_vm(vm("b", 20), "busy").unwrap();
    inventory.advance(1000);
    inventory
}

fn options() -> BalanceOptions {
    BalanceOptions::default()
}

fn plan(scheduler: &mut Scheduler, now: i64, options: &BalanceOptions) -> BalancePlan {
    scheduler.plan_balance(now, options).unwrap()
}

fn moves(plan: &BalancePlan) -> Vec<(&str, &str, &str)> {
    let moves = plan.moves.iter();
    moves.map(|it| (&*it.vm, &*it.from, &*it.to)).collect()
}

/// Every host with all its columns, and every VM with its places.
fn everything(inventory: &Inventory) -> Vec<String> {
    let mut lines = Vec::new();
    for (slot, host) in inventory.hosts() {
        for column in [
            "cpu.usage",
            "memory.committed",
            "memory.pending",
            "vms.count",
            "vms.pending",
            "vms.migrating",
            "load.pending",
            "vcpus.pending",
        ] {
            lines.push(format!(
                "{} {column} {:?}",
                host.id,
                inventory.host_value(slot, column)
            ));
        }
        for entry in inventory.vms_of(host) {
            lines.push(format!("{} {:?} {}", host.id, entry.vm, entry.pending));
        }
    }
    lines
}

#[test]
fn a_vm_leaves_a_busy_host_and_planning_changes_nothing() {
    let mut scheduler = scheduler(busy_and_idle());
    let before = (
        scheduler.inventory().version(),
        everything(scheduler.inventory()),
    );
    let plan = plan(&mut scheduler, 1000, &options());
    // With one of them gone, the host is busy no more.
    assert_eq!(moves(&plan), [("a", "busy", "idle")]);
    let step = &plan.moves[0];
    assert!(
        step.cost_before.as_ref().unwrap()[0] > step.cost_after[0],
        "{step:?}"
    );
    assert_eq!(plan.reasons, [""; 0]);
    let reason = step.reason.split_once(" (").unwrap();
    assert!(
        reason
            .0
            .starts_with("host busy has had too high a CPU load"),
        "{step:?}"
    );
    assert_eq!(
        reason.1,
        "cpu.usage is 90.0 %, and at least 75.0 % for 0 s)"
    );
    let after = (
        scheduler.inventory().version(),
        everything(scheduler.inventory()),
    );
    assert_eq!(after, before);
}

#[test]
fn a_move_that_the_balance_unit_proposes_has_the_policys_effects_follow() {
    let with_gpus = |mut host: Host| {
        let gpus = (0..2_i64).map(|index| Facts::new().with("index", index));
        host.facts.set_rows("gpus", gpus.collect());
        host
    };
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    let busy = with_gpus(host("busy", 0.9, 64 * GIB));
    inventory.add_host(busy).unwrap();
    let idle = with_gpus(host("idle", 0.1, 64 * GIB));
    inventory.add_host(idle).unwrap();
    let wanted = |vm: Vm| vm.with("gpu.count", 1_i64).with("gpu.share", 1000_i64);
    inventory.run_vm(wanted(vm("a", 20)), "busy").unwrap();
    inventory.advance(1000);
    let policy = format!("{POLICY}[[filters]]\nunit = 'gpus'\n[[effects]]\nunit = 'gpus'\n");
    let mut scheduler = scheduler_by(&policy, inventory);
    let gpus = |inventory: &Inventory| {
        let entry = inventory.pending("a").or(inventory.running("a")).unwrap();
        let rows = entry.placed_rows("gpus").iter();
        rows.map(|row| row.integer("index").unwrap())
            .collect::<Vec<_>>()
    };
    let plan = plan(&mut scheduler, 1000, &options());
    assert_eq!(moves(&plan), [("a", "busy", "idle")], "{:?}", plan.refused);
    assert!(!plan.moves[0].changes.is_empty(), "{plan:?}");

    let mut carried = scheduler.copy();
    carried.carry_out(&plan).unwrap();
    assert_eq!(gpus(carried.inventory()), [0]);

    // What follows is what follows as things are when the move is begun.
    let came = wanted(vm("came", 1));
    scheduler
        .place(placewright_tests::scene::request(came))
        .unwrap();
    assert_eq!(
        scheduler.inventory().pending("came").map(|it| it.slot),
        Some(1)
    );
    scheduler.begin_move(&plan.moves[0], 1000).unwrap();
    assert_eq!(gpus(scheduler.inventory()), [1]);
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    assert_eq!(gpus(scheduler.inventory()), [1]);
}

#[test]
fn a_vm_with_a_need_that_no_filter_checks_is_not_moved() {
    let mut inventory = busy_and_idle();
    inventory.remove_vm("a").unwrap();
    let mut pinned = vm("a", 20);
    pinned.pinning.pinned.push("busy".into());
    inventory.run_vm(pinned, "busy").unwrap();
    let plan = plan(&mut scheduler(inventory), 1000, &options());
    assert_eq!(moves(&plan), [("b", "busy", "idle")]);
    let refused = plan.refused.iter().find(|refused| *refused.vm == *"a");
    let because = &refused.unwrap().because;
    assert!(matches!(because, MoveError::Unheeded(_)), "{because}");
    assert!(because.to_string().contains("pinned"), "{because}");
}

#[test]
fn a_vm_whose_zone_or_tenants_bindings_no_filter_checks_is_not_moved() {
    let mut inventory = busy_and_idle();
    inventory.remove_vm("a").unwrap();
    inventory.remove_vm("b").unwrap();
    let bound = Facts::new().with_row(
        "bindings",
        Facts::new().with("host", "busy").with("start", 0_i64),
    );
    inventory.set_tenant("acme", bound).unwrap();
    let zoned = vm("zoned", 20).with("zone", "z");
    let owned = vm("owned", 20).with("tenant", "acme");
    inventory.run_vm(zoned, "busy").unwrap();
    inventory.run_vm(owned, "busy").unwrap();
    let plan = plan(&mut scheduler(inventory), 1000, &options());
    assert_eq!(moves(&plan), []);
    for (vm, need) in [("zoned", "(zone)"), ("owned", "(bindings)")] {
        let refused = plan.refused.iter().find(|refused| *refused.vm == *vm);
        let because = refused.unwrap().because.to_string();
        assert!(because.contains(need), "{because}");
    }
}

#[test]
fn a_move_that_the_chain_would_not_make_is_not_planned() {
    let mut inventory = busy_and_idle();
    inventory.run_vm(vm("c", 1), "idle").unwrap();
    let apart = Group {
        vms: ["a", "b", "c"].map(Arc::from).into(),
        hosts: Vec::new(),
        vm_rule: Some(GroupRule::Negative { hard: true }),
        host_rule: None,
        priority: 1.0,
        ..Group::new("apart")
    };
    inventory.set_group(apart).unwrap();
    let mut scheduler = scheduler(inventory);
    let proposed = scheduler.balance(1000).unwrap();
    assert!(
        !proposed.is_empty(),
        "the unit itself knows nothing of groups"
    );
    let plan = plan(&mut scheduler, 1000, &options());
    assert_eq!(moves(&plan), []);
    let because: Vec<&MoveError> = plan.refused.iter().map(|it| &it.because).collect();
    assert_eq!(because, [&MoveError::NoHost, &MoveError::NoHost]);
    assert_eq!(
        plan.reasons[1],
        "unit \"even-distribution\" proposes to move 2 VMs, of which none is moved: 2: the policy's filters leave none of the hosts that are proposed"
    );
    assert_eq!(
        plan.reasons[2],
        "for example VM a: the one host in question does not take it: affinity: 1 (runs VMs that these must be kept apart from)"
    );
}

#[test]
fn a_plan_without_moves_says_for_how_long_the_load_has_lasted() {
    let patient = POLICY.replace("over-commit-duration = 0", "over-commit-duration = 120");
    let mut scheduler = scheduler_by(&patient, busy_and_idle());
    let reasons = |scheduler: &mut Scheduler, now| plan(scheduler, now, &options()).reasons;
    let told =
        "cpu.usage is at least 75.0 % on 1 of 2 hosts (watch cpu-over), longest on host busy: for";
    assert_eq!(
        reasons(&mut scheduler, 1000),
        [
            "no VM runs on a host that is not up, no hard group is broken, and no host has promised more than it may",
            "unit \"even-distribution\" sees 2 hosts and 2 VMs, and proposes no move",
            &format!(
                "{told} 0 s; setting over-commit-duration asks for 120 s, and watch.cpu-over.since is not given"
            ),
        ]
    );
    assert_eq!(
        reasons(&mut scheduler, 1045)[2],
        format!("{told} 45 s; setting over-commit-duration asks for 120 s")
    );
    assert_eq!(reasons(&mut scheduler, 1120), [""; 0]);
}

#[test]
fn a_plan_without_moves_says_what_was_not_measured_or_watched() {
    let mut inventory = busy_and_idle();
    for host in ["busy", "idle"] {
        inventory.set_host_value(host, "cpu.usage", None).unwrap();
    }
    let plan_of = |policy: &str| {
        let mut scheduler = scheduler_by(policy, inventory.clone());
        plan(&mut scheduler, 1000, &options()).reasons
    };
    assert_eq!(
        plan_of(POLICY)[2..],
        [
            "cpu.usage is at least 75.0 % on no host (watch cpu-over)",
            "cpu.usage is not known of 2 of 2 hosts"
        ]
    );
    let unwatched = POLICY.split("[[watches]]").next().unwrap();
    assert_eq!(
        plan_of(unwatched)[2],
        "watch.cpu-over.since is not given: policy \"p\" has no watch of the name cpu-over"
    );
    let unbalanced = POLICY.split("[balance]").next().unwrap();
    assert_eq!(
        plan_of(unbalanced)[1],
        "policy \"p\" names no unit that balances, so that load is not looked at"
    );
}

#[test]
fn a_move_must_lower_the_cost_by_more_than_the_margin() {
    let mut scheduler = scheduler(busy_and_idle());
    let gain = {
        let plan = plan(&mut scheduler, 1000, &options());
        plan.moves[0].cost_before.as_ref().unwrap()[0] - plan.moves[0].cost_after[0]
    };
    let with_margin = |margin| BalanceOptions {
        margin,
        ..options()
    };
    let less = plan(&mut scheduler, 1000, &with_margin(gain - 0.5));
    assert_eq!(less.moves.len(), 1);
    let equal = plan(&mut scheduler, 1000, &with_margin(gain));
    assert_eq!(equal.moves, []);
    assert!(
        equal
            .refused
            .iter()
            .all(|it| it.because == MoveError::NoGain),
        "{equal:?}"
    );
}

#[test]
fn a_vm_that_was_moved_stays_until_it_has_cooled_down() {
    let mut scheduler = scheduler(busy_and_idle());
    let first = plan(&mut scheduler, 1000, &options());
    scheduler.begin_move(&first.moves[0], 1000).unwrap();
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    // Now it is the other host that is busy, and "a" is the only one there.
    for (host, usage) in [("busy", 0.1), ("idle", 0.9)] {
        let usage = Some(Value::Number(usage));
        scheduler
            .inventory_mut()
            .set_host_value(host, "cpu.usage", usage)
            .unwrap();
    }
    let soon = plan(&mut scheduler, 1299, &options());
    assert_eq!(moves(&soon), []);
    assert_eq!(soon.refused[0].because, MoveError::Cooling);
    let later = plan(&mut scheduler, 1300, &options());
    assert_eq!(moves(&later), [("a", "idle", "busy")]);
}

#[test]
fn a_plan_that_is_cancelled_leaves_nothing() {
    let mut scheduler = scheduler(busy_and_idle());
    let before = everything(scheduler.inventory());
    let first = plan(&mut scheduler, 1000, &options());
    assert_eq!(scheduler.apply_balance(&first, 0, 1000), Ok(1));
    assert!(scheduler.inventory().pending("a").is_some());
    let again = scheduler.begin_move(&first.moves[0], 1000);
    assert_eq!(again, Err(BalanceError::Pending("a".into())));
    assert_eq!(scheduler.cancel_balance(&first), 1);
    assert_eq!(everything(scheduler.inventory()), before);
    // Nor does it count as moved.
    let second = plan(&mut scheduler, 1001, &options());
    assert_eq!(moves(&second), moves(&first));
}

#[test]
fn a_plan_for_a_cluster_that_has_changed_is_refused() {
    let mut scheduler = scheduler(busy_and_idle());
    let plan = plan(&mut scheduler, 1000, &options());
    scheduler
        .inventory_mut()
        .run_vm(vm("a", 20), "idle")
        .unwrap();
    assert_eq!(scheduler.carry_out(&plan), Err(BalanceError::Stale));
    let begun = scheduler.begin_move(&plan.moves[0], 1000);
    assert!(
        matches!(begun, Err(BalanceError::Elsewhere { .. })),
        "{begun:?}"
    );
    let vm = vm("a", 20);
    scheduler.inventory_mut().run_vm(vm, "busy").unwrap();
    let down = Some(Value::from("down"));
    scheduler
        .inventory_mut()
        .set_host_value("idle", "state", down)
        .unwrap();
    let begun = scheduler.apply_balance(&plan, 0, 1000);
    assert!(
        matches!(begun, Err(BalanceError::NotLegal { .. })),
        "{begun:?}"
    );
    assert!(scheduler.inventory().pending("a").is_none());
}

#[test]
fn a_plan_holds_no_more_moves_than_it_may() {
    let mut scheduler = scheduler(busy_and_idle());
    let none = BalanceOptions {
        moves: 0,
        ..options()
    };
    let plan = plan(&mut scheduler, 1000, &none);
    assert!(plan.moves.is_empty() && plan.cut_short, "{plan:?}");
}

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as i64 % bound
    }
}

fn random_cluster(seed: u64) -> Inventory {
    let mut numbers = Numbers(seed);
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    let hosts = 3 + numbers.below(4);
    let mut load = vec![5; hosts as usize];
    let mut vms = Vec::new();
    for number in 0..12 + numbers.below(10) {
        // The first hosts get more.
        let host = numbers.below(hosts).min(numbers.below(hosts)) as usize;
        let percent = 5 + numbers.below(15);
        if load[host] + percent <= 99 {
            load[host] += percent;
            vms.push((vm(&format!("v{number:02}"), percent), host));
        }
    }
    for (number, load) in load.iter().enumerate() {
        let memory = (26 + 4 * numbers.below(8)) * GIB;
        let host = host(&format!("h{number}"), *load as f64 / 100.0, memory);
        inventory.add_host(host).unwrap();
    }
    let mut ids = Vec::new();
    for (vm, host) in vms {
        let id = vm.id.clone();
        inventory.run_vm(vm, &format!("h{host}")).unwrap();
        ids.push(id);
    }
    for number in 0..2 {
        let vms = ids
            .iter()
            .filter(|_| numbers.below(4) == 0)
            .cloned()
            .collect();
        let group = Group {
            vms,
            hosts: Vec::new(),
            vm_rule: Some(GroupRule::Negative { hard: true }),
            host_rule: None,
            priority: 1.0,
            ..Group::new(format!("g{number}"))
        };
        inventory.set_group(group).unwrap();
    }
    inventory.advance(1000);
    inventory
}

/// For each host: how much more memory is promised than it has, and how many pairs of VMs
/// are on it that want to be apart.
fn violations(inventory: &Inventory) -> Vec<(i64, usize)> {
    let hosts = inventory.hosts().map(|(_, host)| {
        let vms: Vec<_> = inventory.vms_of(host).collect();
        let promised: i64 = vms.iter().map(|it| it.shape.memory).sum();
        let total = host.facts.integer("memory.total").unwrap();
        let pairs = inventory.groups().map(|entry| {
            let here = vms.iter().filter(|it| entry.group.vms.contains(&it.vm.id));
            let here = here.count();
            here * here.saturating_sub(1) / 2
        });
        ((promised - total).max(0), pairs.sum())
    });
    hosts.collect()
}

#[test]
fn whoever_stops_after_any_step_has_lost_nothing() {
    let (mut steps, mut refused) = (0, 0);
    for seed in 0..60 {
        let mut scheduler = scheduler_of(random_cluster(seed));
        let plan = plan(&mut scheduler, 1000, &options());
        refused += plan.refused.len();
        for step in &plan.moves {
            let before = violations(scheduler.inventory());
            let legal = scheduler.begin_move(step, 1000);
            assert_eq!(legal, Ok(()), "seed {seed}: {step:?}");
            scheduler.inventory_mut().confirm_vm(&step.vm).unwrap();
            let after = violations(scheduler.inventory());
            let slot = scheduler.inventory().slot(&step.to).unwrap() as usize;
            for (host, (after, before)) in after.iter().zip(&before).enumerate() {
                assert!(
                    after.0 <= before.0 && after.1 <= before.1,
                    "seed {seed}: {step:?}"
                );
                // Where it goes there is room, and nobody whom it avoids.
                assert!(host != slot || after.0 == 0, "seed {seed}: {step:?}");
            }
            let (before, after) = (step.cost_before.as_deref(), step.cost_after[0]);
            assert!(
                before.is_none_or(|before| after < before[0]),
                "seed {seed}: {step:?}"
            );
            steps += 1;
        }
    }
    assert!(
        steps > 20 && refused > 0,
        "{steps} steps, {refused} refused"
    );
}

thread_local! {
    static UNITS: Generation = generation();
}

/// As `scheduler`, with units that are loaded once.
fn scheduler_of(inventory: Inventory) -> Scheduler {
    UNITS.with(|generation| {
        let policy = Policy::load(POLICY, "p.toml", generation, inventory.schema()).unwrap();
        let options = SchedulerOptions::default();
        Scheduler::new(inventory, Arc::new(policy), generation, options).unwrap()
    })
}
