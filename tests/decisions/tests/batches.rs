//! Many VMs, one turn after the other, in the order that a unit gives.

use std::sync::Arc;

use placewright_chain::DecisionError;
use placewright_inventory::Inventory;
use placewright_model::{Facts, Request, Value, Vm};
use placewright_scheduler::{Batch, BatchOrder, ExplainError, PlaceError, Plan, Scheduler};
use placewright_tests::parts::{fact, facts, following, of, of_tenant, ordering, parts};
use placewright_tests::scene::{GIB, cluster, request, scheduler, vm};
use placewright_tests::units::generation;

fn batch(ids: &[&str]) -> Batch {
    Batch {
        members: ids.iter().map(|id| vm(id)).collect(),
        ..Batch::default()
    }
}

/// The members of each turn.
fn turns(plan: &Plan) -> Vec<Vec<&str>> {
    let members = plan.turns.iter().map(|turn| &turn.members);
    members
        .map(|ids| ids.iter().map(|id| &**id).collect())
        .collect()
}

fn without_turn(plan: &Plan) -> Vec<&str> {
    plan.without_turn.iter().map(|id| &**id).collect()
}

/// Where each of these VMs goes.
fn hosts<'a>(plan: &'a Plan, ids: &[&str]) -> Vec<Option<&'a str>> {
    let host = |id: &&str| plan.host(id).map(|host| &**host);
    ids.iter().map(host).collect()
}

/// The number of the decision of a turn.
fn number(plan: &Plan, turn: usize) -> u64 {
    plan.turns[turn].outcome.as_ref().unwrap().number
}

/// Which VMs run where.
fn running(inventory: &Inventory, ids: &[&str]) -> Vec<Option<Arc<str>>> {
    let host = |id: &&str| {
        let entry = inventory.running(id)?;
        Some(inventory.host(entry.slot)?.id.clone())
    };
    ids.iter().map(host).collect()
}

/// Two hosts on which `a` and `b` run, and an empty one; the nearer to that place of
/// the list, the better.
fn settled(near: usize) -> Scheduler {
    let mut inventory = cluster(3);
    inventory.run_vm(vm("a"), "h0").unwrap();
    inventory.run_vm(vm("b"), "h1").unwrap();
    let policy = format!("[[costs]]\nunit = 'parts'\nsettings.near = {near}\n");
    of(inventory, &policy)
}

fn from_nothing(ids: &[&str], dry_run: bool) -> Batch {
    Batch {
        members: ids.iter().map(|id| Vm::new(*id)).collect(),
        from_nothing: true,
        dry_run,
        ..Batch::default()
    }
}

#[test]
fn without_an_order_unit_equal_members_have_turns_as_they_are_listed() {
    let mut scheduler = parts(3, "");
    let plan = scheduler.place_batch(batch(&["a", "b", "c"])).unwrap();
    assert_eq!(turns(&plan), [["a"], ["b"], ["c"]]);
    assert_eq!(without_turn(&plan), [] as [&str; 0]);
}

#[test]
fn turns_are_those_of_the_order_unit() {
    for (order, expected) in [
        ("reversed", vec![vec!["c"], vec!["b"], vec!["a"]]),
        ("pairs", vec![vec!["a", "b"], vec!["c"]]),
    ] {
        let mut scheduler = parts(3, &ordering(order));
        let plan = scheduler.place_batch(batch(&["a", "b", "c"])).unwrap();
        assert_eq!(turns(&plan), expected);
        for turn in &plan.turns {
            assert_eq!(turn.outcome.as_ref().unwrap().host.as_deref(), Some("h0"));
        }
        assert_eq!(scheduler.inventory().pending_count(), 3);
    }
}

#[test]
fn an_order_unit_is_shown_the_members_with_what_the_inventory_knows_of_them() {
    let mut scheduler = parts(2, &ordering("largest-first"));
    let large = vm("b").with("memory", 9 * GIB);
    scheduler.inventory_mut().run_vm(large, "h1").unwrap();
    let mut batch = batch(&["a", "c"]);
    batch.members.insert(1, Vm::new("b"));
    let plan = scheduler.place_batch(batch).unwrap();
    assert_eq!(turns(&plan), [["b"], ["a"], ["c"]]);
}

#[test]
fn an_order_unit_is_shown_hosts_of_every_state() {
    let mut inventory = cluster(2);
    inventory
        .set_host_value("h1", "state", Some("down".into()))
        .unwrap();
    let mut scheduler = of(inventory, &ordering("one-for-each-host"));
    let plan = scheduler.place_batch(batch(&["a", "b", "c"])).unwrap();
    assert_eq!(turns(&plan), [["a"], ["b"]]);
    assert_eq!(without_turn(&plan), ["c"]);
}

#[test]
fn members_without_a_turn_are_told_and_not_placed() {
    let mut scheduler = parts(3, &ordering("all-but-first"));
    let plan = scheduler.place_batch(batch(&["a", "b", "c"])).unwrap();
    assert_eq!(without_turn(&plan), ["a"]);
    assert_eq!(
        hosts(&plan, &["a", "b", "c"]),
        [None, Some("h0"), Some("h0")]
    );
    assert!(scheduler.inventory().pending("a").is_none());
}

#[test]
fn an_order_that_fails_or_refuses_leaves_everything_as_it_was() {
    for (order, said) in [
        ("fail", "failed: the part has lost its way"),
        ("refuse", "the VM must name its owner"),
    ] {
        let mut scheduler = parts(3, &ordering(order));
        let before = scheduler.inventory().version();
        let error = scheduler.place_batch(batch(&["a", "b"])).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(
            matches!(error, PlaceError::Refusal(DecisionError::Failed { .. })),
            order == "fail"
        );
        assert_eq!(scheduler.inventory().version(), before);
        assert_eq!(scheduler.decisions().count(), 0);
        // The numbers of decisions go on as if nothing had been.
        assert_eq!(scheduler.place(request(vm("a"))).unwrap().number, 1);
    }
}

#[test]
fn a_batch_at_fault_is_refused_and_changes_nothing() {
    let mut scheduler = parts(3, &ordering("listed"));
    let before = scheduler.inventory().version();
    let mut wrong = batch(&["a"]);
    wrong.members.push(vm("b").with("memory", -1_i64));
    let bad_draw = Batch {
        draw: Some(1.0),
        ..batch(&["a"])
    };
    for (batch, part) in [
        (Batch::default(), "names no VM"),
        (batch(&["a", "b", "a"]), "names VM \"a\" twice"),
        (wrong, "memory must be"),
        (bad_draw, "the draw must be"),
    ] {
        let said = scheduler.place_batch(batch).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(scheduler.inventory().version(), before);
}

#[test]
fn each_turn_sees_the_ones_before() {
    // Without costs, the host with the fewest VMs is taken.
    let mut scheduler = parts(3, "[order]\nunit = 'parts'\nsettings.turns = 'reversed'");
    let plan = scheduler.place_batch(batch(&["a", "b", "c"])).unwrap();
    assert_eq!(
        hosts(&plan, &["a", "b", "c"]),
        [Some("h2"), Some("h1"), Some("h0")]
    );
}

#[test]
fn how_many_a_batch_has_placed_on_each_host_is_shown_to_units_and_begins_anew() {
    let mut scheduler = parts(3, &ordering("pairs"));
    let plan = scheduler
        .place_batch(batch(&["a", "b", "c", "d", "e"]))
        .unwrap();
    let placed = |scheduler: &Scheduler, decision: u64| {
        let explanation = scheduler.explain(decision).unwrap();
        fact(&explanation, "placed", "h0").cloned()
    };
    for (turn, expected) in [(0, 0), (1, 2), (2, 4)] {
        let number = number(&plan, turn);
        assert_eq!(placed(&scheduler, number), Some(Value::Integer(expected)));
    }
    let alone = scheduler.place(request(vm("f"))).unwrap();
    assert_eq!(placed(&scheduler, alone.number), Some(Value::Integer(0)));
}

#[test]
fn a_turn_without_a_decision_does_not_stop_the_others() {
    let policy = "[[filters]]\nunit = 'best-fit'\n[[costs]]\nunit = 'best-fit'";
    let mut scheduler = scheduler(cluster(1), policy, &generation(&["best-fit"]));
    scheduler.place(request(vm("b"))).unwrap();
    let mut batch = Batch {
        order: BatchOrder::Listed,
        ..batch(&["a", "b", "d"])
    };
    batch.members.insert(2, vm("c").with("memory", 1000 * GIB));
    let plan = scheduler.place_batch(batch).unwrap();
    assert_eq!(turns(&plan), [["a"], ["b"], ["c"], ["d"]]);
    assert_eq!(
        hosts(&plan, &["a", "b", "c", "d"]),
        [Some("h0"), None, None, Some("h0")]
    );
    let error = plan.turns[1].outcome.as_ref().unwrap_err();
    assert_eq!(*error, PlaceError::Pending("b".into()));
    let without_host = plan.turns[2].outcome.as_ref().unwrap();
    assert_eq!(without_host.decided.removed[0].hosts, 1);
}

#[test]
fn a_dry_run_of_a_batch_changes_nothing_and_its_decisions_can_be_explained() {
    let mut scheduler = parts(3, "[[filters]]\nunit = 'parts'");
    let before = scheduler.inventory().version();
    let plan = scheduler
        .place_batch(Batch {
            dry_run: true,
            ..batch(&["a", "b", "c"])
        })
        .unwrap();
    // The turns were made one on top of the other.
    assert_eq!(
        hosts(&plan, &["a", "b", "c"]),
        [Some("h0"), Some("h1"), Some("h2")]
    );
    assert_eq!(scheduler.inventory().version(), before);
    assert_eq!(scheduler.inventory().pending_count(), 0);
    // Whatever happens to the cluster after it.
    scheduler.inventory_mut().remove_host("h0").unwrap();
    let explanation = scheduler.explain(number(&plan, 2)).unwrap();
    assert_eq!(explanation.chosen.as_deref(), Some("h2"));
    assert_eq!(fact(&explanation, "placed", "h0"), Some(&Value::Integer(1)));
}

#[test]
fn of_batches_that_are_tried_only_the_last_is_kept_to_be_explained() {
    let mut scheduler = settled(2);
    let tried = |from_nothing, ids: &[&str]| Batch {
        dry_run: true,
        from_nothing,
        ..batch(ids)
    };
    let mut place = |batch: Batch| number(&scheduler.place_batch(batch).unwrap(), 0);
    let meant = place(batch(&["c"]));
    let first = place(tried(false, &["d", "e"]));
    let second = place(tried(true, &["d"]));
    // What is meant is decided on the inventory itself, and needs no copy.
    let after = place(batch(&["d"]));
    for kept in [meant, second, after] {
        assert_eq!(scheduler.explain(kept).map(|_| ()), Ok(()));
    }
    for gone in [first, first + 1] {
        let error = scheduler.explain(gone).unwrap_err();
        assert_eq!(error, ExplainError::TooLongAgo(gone));
    }
    assert_eq!(scheduler.decisions().count(), 5);
}

#[test]
fn a_plan_from_nothing_counts_the_members_nowhere_and_still_says_where_they_run() {
    let mut scheduler = settled(2);
    let before = scheduler.inventory().version();
    let plan = scheduler
        .place_batch(from_nothing(&["a", "b"], true))
        .unwrap();
    assert_eq!(hosts(&plan, &["a", "b"]), [Some("h2"), Some("h2")]);
    let first = plan.turns[0].outcome.as_ref().unwrap();
    // What the inventory knows of them was taken over.
    assert_eq!(first.request.members[0], vm("a"));
    let explanation = scheduler.explain(first.number).unwrap();
    let current: Vec<_> = facts(&explanation)
        .iter()
        .filter(|fact| fact.name == "current")
        .map(|fact| fact.about.as_ref().unwrap().1.as_str())
        .collect();
    assert_eq!(current, ["h0"]);
    // The real inventory was only looked at.
    let inventory = scheduler.inventory();
    assert_eq!(inventory.version(), before);
    assert_eq!(
        running(inventory, &["a", "b"]),
        [Some("h0".into()), Some("h1".into())]
    );
}

#[test]
fn in_a_plan_from_nothing_the_members_leave_their_room_to_each_other() {
    // Each takes more than half of its host: beside the other there is no room.
    let mut inventory = cluster(2);
    let large = |id: &str| vm(id).with("memory", 40 * GIB);
    inventory.run_vm(large("a"), "h0").unwrap();
    inventory.run_vm(large("b"), "h1").unwrap();
    let policy = "[[filters]]\nunit = 'best-fit'\n[[costs]]\nunit = 'best-fit'";
    let mut scheduler = scheduler(inventory, policy, &generation(&["best-fit"]));
    let plan = scheduler
        .place_batch(from_nothing(&["b", "a"], true))
        .unwrap();
    assert_eq!(hosts(&plan, &["a", "b"]), [Some("h1"), Some("h0")]);
}

#[test]
fn a_plan_from_nothing_that_is_meant_reserves_for_those_who_move() {
    let mut scheduler = settled(1);
    let plan = scheduler
        .place_batch(from_nothing(&["a", "b"], false))
        .unwrap();
    assert_eq!(hosts(&plan, &["a", "b"]), [Some("h1"), Some("h1")]);
    let inventory = scheduler.inventory();
    // `a` is to move to h1; `b` stays there.
    let pending = inventory.pending("a").unwrap();
    assert_eq!(&*inventory.host(pending.slot).unwrap().id, "h1");
    assert!(inventory.pending("b").is_none());
    assert_eq!(
        running(inventory, &["a", "b"]),
        [Some("h0".into()), Some("h1".into())]
    );
    assert_eq!(inventory.host_value(1, "vms.pending"), Some(1_i64.into()));
    let unchanged = [0, 1].map(|turn| plan.turns[turn].outcome.as_ref().unwrap().unchanged);
    assert_eq!(unchanged, [false, true]);
}

/// A host of 64 GiB on which `v` runs with 40, under a policy that promises memory once.
fn full_host(more: usize) -> Scheduler {
    let mut inventory = cluster(1 + more);
    let large = vm("v").with("memory", 40 * GIB);
    inventory.run_vm(large, "h0").unwrap();
    let policy = "[[filters]]\nunit = 'first-fit'\n[[costs]]\nunit = 'first-fit'";
    scheduler(inventory, policy, &generation(&["first-fit"]))
}

/// A new VM of 40 GiB has its turn before `v`.
fn newcomer_first(all_or_nothing: bool) -> Batch {
    Batch {
        members: vec![vm("x").with("memory", 40 * GIB), Vm::new("v")],
        order: BatchOrder::Listed,
        all_or_nothing,
        ..from_nothing(&[], false)
    }
}

fn unreserved(plan: &Plan, turn: usize) -> Option<&str> {
    plan.turns[turn]
        .outcome
        .as_ref()
        .unwrap()
        .unreserved
        .as_deref()
}

#[test]
fn in_a_plan_from_nothing_no_place_is_reserved_that_a_running_vm_still_takes() {
    let mut scheduler = full_host(0);
    let plan = scheduler.place_batch(newcomer_first(false)).unwrap();
    // On paper x has the host, and v none.
    assert_eq!(hosts(&plan, &["x", "v"]), [Some("h0"), None]);
    assert!(!plan.reserved);
    let why = unreserved(&plan, 0).expect("it says why");
    assert!(why.contains("host \"h0\" has"), "{why}");
    assert_eq!(scheduler.inventory().pending_count(), 0);
    let recorded = scheduler.decisions().next().unwrap();
    assert_eq!(recorded.reserved, None);
}

#[test]
fn in_a_plan_from_nothing_places_are_reserved_where_the_hosts_hold_them_now() {
    let mut scheduler = full_host(1);
    let plan = scheduler.place_batch(newcomer_first(false)).unwrap();
    assert_eq!(hosts(&plan, &["x", "v"]), [Some("h0"), Some("h1")]);
    // v moves to the empty host; x waits until it has done so.
    assert!(!plan.reserved && unreserved(&plan, 0).is_some());
    assert_eq!(unreserved(&plan, 1), None);
    let inventory = scheduler.inventory();
    assert_eq!(inventory.pending("v").map(|it| it.slot), Some(1));
    assert!(inventory.pending("x").is_none());
    scheduler.inventory_mut().confirm_vm("v").unwrap();
    let plan = scheduler
        .place_batch(Batch {
            members: vec![vm("x").with("memory", 40 * GIB)],
            ..from_nothing(&[], false)
        })
        .unwrap();
    assert!(plan.reserved);
    assert_eq!(
        scheduler.inventory().pending("x").map(|it| it.slot),
        Some(0)
    );
}

#[test]
fn a_plan_from_nothing_of_all_or_nothing_reserves_nothing_if_one_place_is_taken() {
    let mut scheduler = full_host(1);
    let before = scheduler.inventory().version();
    let plan = scheduler.place_batch(newcomer_first(true)).unwrap();
    assert_eq!(hosts(&plan, &["x", "v"]), [Some("h0"), Some("h1")]);
    assert!(!plan.reserved && unreserved(&plan, 0).is_some());
    assert_eq!(scheduler.inventory().pending_count(), 0);
    assert_eq!(scheduler.inventory().version(), before);
}

#[test]
fn reservations_swap_hosts_in_a_plan_from_nothing_if_nothing_runs_there() {
    let mut inventory = cluster(2);
    let large = |id: &str| vm(id).with("memory", 40 * GIB);
    for (id, host) in [("a", "h1"), ("b", "h0")] {
        inventory.reserve_vm(large(id).into(), host, None).unwrap();
    }
    inventory
        .run_vm(vm("small").with("memory", GIB), "h1")
        .unwrap();
    let policy = "[[filters]]\nunit = 'first-fit'\n[[costs]]\nunit = 'first-fit'";
    let mut scheduler = scheduler(inventory, policy, &generation(&["first-fit"]));
    let batch = Batch {
        // Of a VM whose place is reserved its id is enough, as it is of one that runs.
        members: vec![Vm::new("a"), large("b"), Vm::new("small")],
        order: BatchOrder::Listed,
        ..from_nothing(&[], false)
    };
    let plan = scheduler.place_batch(batch).unwrap();
    assert!(plan.reserved);
    let inventory = scheduler.inventory();
    let slots = ["a", "b"].map(|id| inventory.pending(id).map(|it| it.slot));
    assert_eq!(slots, [Some(0), Some(1)]);
    let memory = inventory.pending("a").unwrap().vm.facts.integer("memory");
    assert_eq!(memory, Some(40 * GIB));
}

#[test]
fn who_finds_no_host_in_a_plan_from_nothing_goes_on_running() {
    let mut inventory = cluster(1);
    inventory.run_vm(vm("a"), "h0").unwrap();
    let policy = "[[filters]]\nunit = 'parts'\nsettings.without = 'h0'";
    let mut scheduler = of(inventory, policy);
    let plan = scheduler.place_batch(from_nothing(&["a"], false)).unwrap();
    assert_eq!(hosts(&plan, &["a"]), [None]);
    assert_eq!(running(scheduler.inventory(), &["a"]), [Some("h0".into())]);
}

#[test]
fn a_plan_from_nothing_takes_the_place_of_earlier_reservations() {
    let mut scheduler = settled(2);
    scheduler
        .inventory_mut()
        .reserve_vm(vm("c").into(), "h0", None)
        .unwrap();
    let mut again = from_nothing(&["a"], false);
    again.members.push(vm("c"));
    let plan = scheduler.place_batch(again).unwrap();
    assert_eq!(hosts(&plan, &["a", "c"]), [Some("h2"), Some("h2")]);
    let pending = scheduler.inventory().pending("c").unwrap();
    assert_eq!(pending.slot, 2);
    assert_eq!(scheduler.inventory().pending_count(), 2);
}

#[test]
fn effects_of_a_batch_are_written_turn_by_turn_and_the_same_from_a_plan() {
    for from_nothing in [false, true] {
        let policy = "
            [[costs]]
            unit = 'parts'
            [[effects]]
            unit = 'parts'
            settings.follow = 'bind'
            [order]
            unit = 'parts'
            settings.turns = 'reversed'";
        let mut scheduler = parts(2, policy);
        let plan = scheduler
            .place_batch(Batch {
                facts: Facts::new().with("tenant", "acme"),
                now: 7,
                from_nothing,
                ..batch(&["a", "b"])
            })
            .unwrap();
        assert_eq!(turns(&plan), [["b"], ["a"]]);
        let tenant = scheduler.inventory().tenant("acme").unwrap();
        let starts = tenant.rows("bindings").iter();
        let starts: Vec<_> = starts.map(|row| row.integer("start")).collect();
        assert_eq!(starts, [Some(7), Some(7)]);
        assert_eq!(scheduler.inventory().pending_count(), 2);
    }
}

#[test]
fn in_a_plan_from_nothing_what_cannot_be_written_fails_its_turn_and_no_other() {
    // The tenant has one binding, which the effects of each turn are to remove.
    let mut bound = parts(2, &following("bind"));
    bound.place(of_tenant("acme", "old", 0)).unwrap();
    let mut inventory = bound.inventory().clone();
    inventory.run_vm(vm("a"), "h0").unwrap();
    let policy = "
        [[costs]]
        unit = 'parts'
        [[effects]]
        unit = 'parts'
        settings.follow = 'unbind'";
    let mut scheduler = of(inventory, policy);
    let plan = scheduler
        .place_batch(Batch {
            members: vec![vm("b"), vm("a")],
            facts: Facts::new().with("tenant", "acme"),
            from_nothing: true,
            ..Batch::default()
        })
        .unwrap();
    let outcomes = plan.turns.iter().map(|turn| &turn.outcome);
    let (placed, failed): (Vec<_>, Vec<_>) = outcomes.partition(|outcome| outcome.is_ok());
    assert_eq!((placed.len(), failed.len()), (1, 1));
    let error = failed[0].as_ref().unwrap_err();
    assert!(matches!(error, PlaceError::Effects { .. }), "{error}");
    let tenant = scheduler.inventory().tenant("acme").unwrap();
    assert_eq!(tenant.rows("bindings").len(), 0);
    assert_eq!(scheduler.decisions().count(), 1);
    assert!(scheduler.inventory().running("a").is_some());
}

#[test]
fn the_same_seed_gives_the_same_plan_again() {
    let plan = |_| -> Vec<_> {
        let policy = "
            [[selections]]
            unit = 'parts'
            [order]
            unit = 'parts'
            settings.turns = 'pairs'";
        let mut scheduler = parts(5, policy);
        let ids: Vec<String> = (0..30).map(|number| format!("v{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let plan = scheduler.place_batch(batch(&ids)).unwrap();
        let decision = |turn: usize| plan.turns[turn].outcome.clone().unwrap();
        let decisions = (0..plan.turns.len()).map(decision);
        decisions
            .map(|it| (it.number, it.draw.to_bits(), it.host.clone()))
            .collect()
    };
    let [first, second] = [0, 1].map(plan);
    assert_eq!(first, second);
    assert_eq!(first.len(), 15);
    let draws: std::collections::BTreeSet<_> = first.iter().map(|(_, draw, _)| draw).collect();
    assert_eq!(draws.len(), 15, "each turn has a draw of its own");
}

#[test]
fn a_draw_that_is_given_is_that_of_every_turn() {
    let mut scheduler = parts(4, "[[selections]]\nunit = 'parts'");
    let plan = scheduler
        .place_batch(Batch {
            draw: Some(0.6),
            ..batch(&["a", "b"])
        })
        .unwrap();
    assert_eq!(hosts(&plan, &["a", "b"]), [Some("h2"), Some("h2")]);
}

#[test]
fn vms_of_one_request_go_on_one_host_or_none_of_them_anywhere() {
    let large = |id: &str| vm(id).with("memory", 40 * GIB);
    let together = |ids: [&str; 2]| Request {
        members: ids.map(large).into(),
        ..Request::default()
    };
    // A host of 64 GiB has room for one of these, one of 128 GiB for two.
    let place = |memory: i64| {
        let mut inventory = cluster(3);
        for host in ["h0", "h1", "h2"] {
            let memory = Some((memory * GIB).into());
            inventory
                .set_host_value(host, "memory.total", memory)
                .unwrap();
        }
        let policy = "[[filters]]\nunit = 'worst-fit'\n[[costs]]\nunit = 'worst-fit'";
        let mut scheduler = scheduler(inventory, policy, &generation(&["worst-fit"]));
        let requests = vec![
            together(["a", "b"]),
            request(large("c")),
            together(["d", "e"]),
        ];
        let plan = scheduler.place_batch(Batch::of_requests(requests).unwrap());
        (plan.unwrap(), scheduler.inventory().pending_count())
    };
    let (plan, pending) = place(128);
    let hosts = hosts(&plan, &["a", "b", "c", "d", "e"]);
    assert!(hosts.iter().all(Option::is_some), "{hosts:?}");
    assert!(hosts[0] == hosts[1] && hosts[3] == hosts[4], "{hosts:?}");
    assert_eq!((plan.turns.len(), pending), (3, 5));
    let (plan, pending) = place(64);
    assert_eq!(plan.left_out().count(), 4);
    assert_eq!((plan.host("c").is_some(), pending), (true, 1));
}
