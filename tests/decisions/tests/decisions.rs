//! Decisions of the scheduler over units built from their sources: the same again
//! and again, reserved as they are made, and explained on demand.

use std::sync::Arc;

use placewright_chain::Runner;
use placewright_scheduler::{Decision, ExplainError, Scheduler, SchedulerOptions};
use placewright_tests::scene::{
    GIB, both, cluster, costing, filtering, policy, request, scheduler, vm,
};
use placewright_tests::units::{generation, unit};

const BEST_FIT: &str = "
    name = 'packing'
    tie-rule = ['id']
    [[filters]]
    unit = 'best-fit'
    [[costs]]
    unit = 'best-fit'
    scaling = 'min-max'
    factor = 3
";

fn packing(hosts: usize) -> Scheduler {
    scheduler(cluster(hosts), BEST_FIT, &generation(&["best-fit"]))
}

/// Where VMs of changing sizes go, one after the other.
fn sequence(scheduler: &mut Scheduler) -> Vec<Arc<Decision>> {
    (0..40_i64)
        .map(|number| {
            let vm = vm(&format!("v{number}"))
                .with("cpu", 500 * (1 + number % 5))
                .with("memory", (1 + number * 7 % 23) * GIB);
            scheduler.place(request(vm)).unwrap()
        })
        .collect()
}

/// All of a decision but the chain, which is the same by its units.
fn outcome(decision: &Decision) -> String {
    format!(
        "{} {} {} {:?} {:?}",
        decision.number,
        decision.inventory_version,
        decision.draw.to_bits(),
        decision.decided,
        decision.host
    )
}

#[test]
fn the_same_requests_in_the_same_order_give_the_same_decisions() {
    let outcomes = |_| -> Vec<String> {
        let mut scheduler = packing(5);
        sequence(&mut scheduler)
            .iter()
            .map(|it| outcome(it))
            .collect()
    };
    let [first, second] = [0, 1].map(outcomes);
    assert_eq!(first, second);
}

#[test]
fn a_fresh_runner_decides_what_a_warm_one_has_decided() {
    let mut scheduler = packing(5);
    let decisions = sequence(&mut scheduler);
    for decision in decisions {
        let past = scheduler.inventory().at_version(decision.inventory_version);
        let limit = SchedulerOptions::default().chain_limit * 60;
        let again = Runner::new(decision.chain.clone(), limit)
            .decide(&past.unwrap(), &decision.request, decision.draw)
            .unwrap();
        assert_eq!(again, decision.decided);
    }
}

#[test]
fn draws_follow_from_the_seed_and_the_number_of_the_decision() {
    let hosts = |seed: u64| -> Vec<_> {
        let generation = both();
        let text =
            "tie-rule = ['draw']\n".to_owned() + &filtering("misbehaving", "keeps-everything");
        let policy = policy(&text, &generation).unwrap();
        let options = SchedulerOptions {
            seed,
            chain_limit: SchedulerOptions::default().chain_limit * 60,
            ..SchedulerOptions::default()
        };
        let mut scheduler =
            Scheduler::new(cluster(8), policy.into(), &generation, options).unwrap();
        sequence(&mut scheduler)
            .into_iter()
            .map(|it| it.host.clone())
            .collect()
    };
    assert_eq!(hosts(7), hosts(7));
    assert_ne!(hosts(7), hosts(8));
}

#[test]
fn a_decision_reserves_its_place_so_that_the_next_one_sees_it() {
    let mut scheduler = packing(2);
    let large = |id| vm(id).with("memory", 60 * GIB);
    let hosts: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|id| scheduler.place(request(large(id))).unwrap().host.clone())
        .collect();
    assert_eq!(hosts, [Some("h0".into()), Some("h1".into()), None]);
    assert_eq!(scheduler.inventory().pending_count(), 2);
}

#[test]
fn a_dry_run_changes_nothing() {
    let mut scheduler = packing(2);
    let before = scheduler.inventory().version();
    let mut request = request(vm("v"));
    request.dry_run = true;
    assert!(scheduler.place(request).unwrap().host.is_some());
    assert_eq!(scheduler.inventory().version(), before);
    assert_eq!(scheduler.inventory().pending_count(), 0);
}

#[test]
fn a_request_at_fault_is_refused_and_changes_nothing() {
    let mut scheduler = packing(2);
    let before = scheduler.inventory().version();
    let unknown_host = {
        let mut request = request(vm("v"));
        request.forced = Some("h9".into());
        request
    };
    let twice = {
        let mut request = request(vm("v"));
        request.members.push(vm("v"));
        request
    };
    for (request, part) in [
        (unknown_host, "host \"h9\""),
        (twice, "names VM \"v\" twice"),
        (request(vm("v").with("memory", -1_i64)), "memory must be"),
        (
            request(vm("v").with("memorie", 1_i64)),
            "no column \"memorie\"",
        ),
        (
            request(vm("v").with("memory", "much")),
            "of kind integer, not text",
        ),
    ] {
        let said = scheduler.place(request).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(scheduler.inventory().version(), before);
}

#[test]
fn an_explanation_says_who_removed_which_host_and_why_with_the_values() {
    let mut scheduler = packing(3);
    let decision = scheduler
        .place(request(vm("v").with("memory", 70 * GIB)))
        .unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(&*explanation.policy, "packing");
    assert_eq!(explanation.chosen.as_deref(), Some("h1"));
    assert_eq!(explanation.inventory_version, decision.inventory_version);
    assert_eq!(explanation.draw.to_bits(), decision.draw.to_bits());

    let [shown] = &explanation.units[..] else {
        panic!("one unit decides");
    };
    assert_eq!(shown.name, "best-fit");
    assert_eq!(shown.digest, unit("best-fit").digest().to_string());

    let hosts = &explanation.stages[0].hosts;
    let removed = hosts[0].removed.as_ref().unwrap();
    assert_eq!((&*removed.filter, &*removed.unit), ("best-fit", "best-fit"));
    assert_eq!(removed.reason, "has too little free memory");
    let values: Vec<_> = removed
        .values
        .iter()
        .map(|value| (&*value.table, &*value.column, &*value.value))
        .collect();
    for expected in [
        ("members", "memory", "70.0 GiB"),
        ("hosts", "memory.total", "64.0 GiB"),
        ("hosts", "memory.committed", "0 B"),
    ] {
        assert!(values.contains(&expected), "{values:?}");
    }
}

#[test]
fn an_explanation_shows_raw_scaled_and_weighted_costs_of_every_survivor() {
    let mut scheduler = packing(3);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    let hosts = &explanation.stages[0].hosts;
    let costs: Vec<_> = hosts.iter().map(|host| &host.costs[0]).collect();
    // (1600 - 100) · memory + (memory - 16) · 1600, in steps of 10m and 256 MiB.
    let raw = |steps: f64| 1500.0 * steps + (steps - 16.0) * 1600.0;
    for (cost, (gib, scaled)) in costs.iter().zip([(64.0, 0.0), (80.0, 0.5), (96.0, 1.0)]) {
        assert_eq!(cost.raw, raw(gib * 4.0));
        assert_eq!((cost.scaled, cost.weighted), (scaled, 3.0 * scaled));
    }
    assert_eq!(hosts[2].sums, [3.0]);
    assert_eq!(decision.host.as_deref(), Some("h0"));
    assert_eq!(explanation.tied, 1);
}

#[test]
fn an_explanation_is_of_the_inventory_as_it_was() {
    let mut scheduler = packing(2);
    let first = scheduler.place(request(vm("a"))).unwrap();
    let before = scheduler.explain(first.number).unwrap();
    scheduler.inventory_mut().confirm_vm("a").unwrap();
    scheduler.place(request(vm("b"))).unwrap();
    scheduler.inventory_mut().remove_vm("a").unwrap();
    assert_eq!(scheduler.explain(first.number).unwrap(), before);
    assert_eq!(
        scheduler.explain(99).unwrap_err(),
        ExplainError::Forgotten(99)
    );
}

#[test]
fn the_past_is_remembered_as_long_as_a_decision_of_it_can_be_explained() {
    let generation = generation(&["best-fit"]);
    let policy = policy(BEST_FIT, &generation).unwrap();
    let options = SchedulerOptions {
        recorded: 10,
        chain_limit: SchedulerOptions::default().chain_limit * 60,
        ..SchedulerOptions::default()
    };
    let mut scheduler = Scheduler::new(cluster(8), policy.into(), &generation, options).unwrap();
    for decision in sequence(&mut scheduler) {
        let vm = &decision.request.members[0];
        scheduler.inventory_mut().cancel_vm(&vm.id).unwrap();
    }
    let oldest = scheduler.decisions().next().unwrap().clone();
    let before = scheduler.explain(oldest.number).unwrap();
    scheduler.forget_the_past();
    let inventory = scheduler.inventory();
    assert_eq!(inventory.oldest_version(), oldest.inventory_version);
    assert_eq!(scheduler.explain(oldest.number).unwrap(), before);
}

#[test]
fn instances_stay_warm_so_a_fresh_runner_finds_a_unit_that_remembers() {
    let text = costing("misbehaving", "remembers") + "scaling = 'none'\n";
    let policy = std::sync::Arc::new(placewright_tests::scene::policy(&text, &both()).unwrap());
    let options = SchedulerOptions {
        // Kept answers would show what the unit does.
        reuse: None,
        ..SchedulerOptions::default()
    };
    let mut scheduler = Scheduler::new(cluster(2), policy, &both(), options).unwrap();
    let cost = |decision: &Decision| decision.decided.chosen.as_ref().unwrap().costs[0];
    let first = scheduler.place(request(vm("a"))).unwrap();
    let second = scheduler.place(request(vm("b"))).unwrap();
    let again = {
        let past = scheduler.inventory().at_version(second.inventory_version);
        let limit = SchedulerOptions::default().chain_limit * 60;
        let mut runner = Runner::new(second.chain.clone(), limit);
        let decided = runner.decide(&past.unwrap(), &second.request, second.draw);
        decided.unwrap().chosen.unwrap().costs[0]
    };
    assert_eq!(cost(&first), (64 * GIB) as f64);
    assert_ne!(again, cost(&second));
}
