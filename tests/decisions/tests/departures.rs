//! Whether a VM may leave its host is one rule, whoever asks, and a known VM is placed as it is
//! known.

use std::sync::Arc;

use placewright_model::{Departure, Facts, HostState, Request, Vm, Word};
use placewright_scheduler::{Batch, PlaceError, Scheduler};

use crate::evacuation::{cluster, scheduler, state, vm};

/// Where a VM that runs on "a" goes if it is placed again, in a cluster in which "b" has more
/// room.
fn placed(host_state: &str, migratable: bool, request: Request) -> Result<Option<String>, String> {
    let decision = of(host_state, migratable).place(request);
    let decision = decision.map_err(|error| {
        assert!(matches!(error, PlaceError::NotMigratable { .. }), "{error}");
        error.to_string()
    })?;
    Ok(decision.host.clone().map(|host| host.to_string()))
}

fn of(host_state: &str, migratable: bool) -> Scheduler {
    let mut inventory = cluster(&[("a", 32), ("b", 64)], &[]);
    let known = vm("v", 4).with("migratable", migratable);
    inventory.run_vm(known, "a").unwrap();
    state(&mut inventory, "a", host_state);
    scheduler(inventory)
}

fn again() -> Request {
    Request {
        members: vec![Vm::new("v")],
        now: 1000,
        again: true,
        ..Request::default()
    }
}

#[test]
fn placements_and_migrations_go_by_the_rule_of_departures() {
    for (word, host_state) in HostState::WORDS {
        for migratable in [true, false] {
            let migrate = Request {
                excluded: vec!["a".into()],
                ..again()
            };
            let forced = Request {
                forced: Some("b".into()),
                ..again()
            };
            for request in [migrate, forced] {
                let placed = placed(word, migratable, request);
                match host_state.departure(migratable) {
                    Departure::Barred => assert!(placed.is_err(), "{word} {migratable}"),
                    _ => assert_eq!(placed, Ok(Some("b".into())), "{word} {migratable}"),
                }
            }
        }
    }
}

#[test]
fn a_vm_that_may_not_leave_is_placed_again_on_its_own_host_alone() {
    assert_eq!(placed("up", true, again()), Ok(Some("b".into())));
    assert_eq!(placed("up", false, again()), Ok(Some("a".into())));
    assert!(placed("maintenance", false, again()).is_err());
    let batch = |from_nothing| Batch {
        members: vec![Vm::new("v")],
        now: 1000,
        from_nothing,
        ..Batch::default()
    };
    for from_nothing in [true, false] {
        let plan = of("up", false).place_batch(batch(from_nothing)).unwrap();
        assert_eq!(plan.turns[0].host().map(|it| &**it), Some("a"));
    }
}

#[test]
fn vms_that_may_not_leave_their_hosts_are_not_put_together() {
    let mut scheduler = of("up", false);
    let other = vm("w", 4).with("migratable", false);
    scheduler.inventory_mut().run_vm(other, "b").unwrap();
    let request = Request {
        members: vec![Vm::new("v"), Vm::new("w")],
        ..again()
    };
    let refused = scheduler.place(request).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "VM \"w\" runs on b and may not leave it (its \"migratable\" is false, and the host is neither down nor in error): stop it first"
    );
}

#[test]
fn a_request_that_names_a_known_vm_alone_is_made_for_its_tenant() {
    for tenant in [None, Some("other")] {
        let mut inventory = cluster(&[("a", 32), ("b", 64)], &[]);
        inventory
            .run_vm(vm("v", 4).with("tenant", "acme"), "a")
            .unwrap();
        let mut scheduler = scheduler(inventory);
        let mut request = again();
        if let Some(tenant) = tenant {
            // As a document gives it: to the request, and to its VMs.
            request.facts = Facts::new().with("tenant", tenant);
            request.members[0].facts.set("tenant", tenant);
        }
        let decision = scheduler.place(request).unwrap();
        let asked = &decision.request;
        let expected = tenant.unwrap_or("acme");
        assert_eq!(asked.facts.text("tenant"), Some(expected));
        let member: &Vm = &asked.members[0];
        assert_eq!(member.facts.text("tenant"), Some(expected));
        let memory = Arc::new(vm("v", 4)).facts.integer("memory");
        assert_eq!(member.facts.integer("memory"), memory);
    }
}

#[test]
fn decisions_and_plans_say_of_each_move_whether_the_vm_runs_meanwhile() {
    let cases = [
        ("up", None, Some(true)),
        ("maintenance", None, Some(true)),
        ("up", Some("paused"), Some(false)),
        ("up", Some("down"), Some(false)),
        ("down", None, Some(false)),
        ("error", None, Some(false)),
    ];
    for (host_state, vm_state, live) in cases {
        let mut scheduler = of(host_state, true);
        if let Some(state) = vm_state {
            scheduler.inventory_mut().remove_vm("v").unwrap();
            let known = vm("v", 4).with("state", state);
            scheduler.inventory_mut().run_vm(known, "a").unwrap();
        }
        let plan = scheduler.plan_evacuation(1000, &["a".into()]).unwrap();
        let planned: Vec<bool> = plan.moves.iter().map(|it| it.live).collect();
        assert_eq!(planned, [live.unwrap()], "{host_state} {vm_state:?}");
        let request = Request {
            excluded: vec!["a".into()],
            ..again()
        };
        let decision = scheduler.place(request).unwrap();
        let [moved] = &decision.moves[..] else {
            panic!("{host_state}: {:?}", decision.moves);
        };
        assert_eq!((&*moved.vm, &*moved.from), ("v", "a"));
        assert_eq!(Some(moved.live), live, "{host_state} {vm_state:?}");
    }
    // Who does not run is started elsewhere also if it may not be moved while it runs.
    let mut scheduler = of("up", false);
    scheduler.inventory_mut().remove_vm("v").unwrap();
    let stopped = vm("v", 4).with("migratable", false).with("state", "down");
    scheduler.inventory_mut().run_vm(stopped, "a").unwrap();
    let moved = scheduler.place(again()).unwrap();
    assert_eq!(moved.host.as_deref(), Some("b"));
}
