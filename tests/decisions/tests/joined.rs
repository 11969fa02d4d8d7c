//! Hard groups are judged by where their VMs can run: those on hosts that are lost keep
//! nobody, and groups that are apart go to any host that takes them.

use placewright_inventory::Inventory;
use placewright_model::{Facts, Host, Request, Vm};
use placewright_scheduler::{BalanceOptions, Batch, BatchOrder, MoveError};

use super::evacuation::{
    TOGETHER, balanced, carry_out, cluster, emptied, group, moves, scheduler, state, stuck, vm,
};
use placewright_tests::scene::GIB;

fn ask(ids: &[&str]) -> Request {
    Request {
        members: ids.iter().map(|id| Vm::new(*id)).collect(),
        now: 1000,
        ..Request::default()
    }
}

/// Hosts a, b and c; v0 and v1 run on a, which is lost, and belong together.
fn lost(how: &str) -> Inventory {
    let vms = [("v0", 4, "a"), ("v1", 4, "a"), ("x", 1, "b")];
    let mut inventory = cluster(&[("a", 64), ("b", 64), ("c", 64)], &vms);
    let together = group("g", &["v0", "v1"], TOGETHER);
    inventory.set_group(together).unwrap();
    state(&mut inventory, "a", how);
    inventory
}

#[test]
fn members_on_a_host_that_is_lost_keep_nobody_and_the_first_one_chooses() {
    for how in ["down", "error"] {
        let mut one_by_one = scheduler(lost(how));
        let hosts = ["v0", "v1"].map(|id| one_by_one.place(ask(&[id])).unwrap().host.clone());
        assert_eq!(hosts[0], hosts[1], "{how}");
        let first = hosts[0].clone().expect("v0 finds a host");

        let batch = Batch {
            members: ask(&["v0", "v1"]).members,
            now: 1000,
            ..Batch::default()
        };
        let plan = scheduler(lost(how)).place_batch(batch).unwrap();
        for id in ["v0", "v1"] {
            assert_eq!(plan.host(id), Some(&first), "{how}");
        }
        let plan = balanced(&mut scheduler(lost(how)));
        let expected = [("v0", "a", &*first), ("v1", "a", &*first)];
        assert_eq!(moves(&plan), expected, "{how}");
    }
    // A host in maintenance runs its VMs: who belongs to them cannot be elsewhere.
    let kept = scheduler(lost("maintenance")).place(ask(&["v0"])).unwrap();
    assert_eq!(kept.host, None);
}

/// Hosts of 3 and 8 GiB, and a hard group of three VMs that run nowhere.
fn room_for_all_on_one() -> (Inventory, Batch) {
    let mut inventory = cluster(&[("small", 4), ("large", 8)], &[]);
    inventory
        .set_group(group("g", &["v0", "v1", "v2"], TOGETHER))
        .unwrap();
    let batch = Batch {
        members: ["v0", "other", "v1", "v2"].map(|id| vm(id, 1)).into(),
        now: 1000,
        ..Batch::default()
    };
    (inventory, batch)
}

#[test]
fn a_batch_places_those_together_that_a_hard_group_keeps_together() {
    for order in [BatchOrder::Policy, BatchOrder::Listed] {
        let (inventory, mut batch) = room_for_all_on_one();
        // The first of them alone would go there.
        batch.order = order;
        let fits_best = |vm: &Vm| vm.clone().with("memory", 3 * GIB / 2);
        batch.members = batch.members.iter().map(fits_best).collect();
        let plan = scheduler(inventory).place_batch(batch).unwrap();
        let turns: Vec<Vec<&str>> = plan
            .turns
            .iter()
            .map(|turn| turn.members.iter().map(|id| &**id).collect())
            .collect();
        assert_eq!(turns, [vec!["v0", "v1", "v2"], vec!["other"]]);
        for id in ["v0", "v1", "v2"] {
            assert_eq!(plan.host(id).map(|it| &**it), Some("large"));
        }
    }
    // Who belongs to one that runs follows it.
    let (mut inventory, mut batch) = room_for_all_on_one();
    inventory.run_vm(vm("v0", 1), "small").unwrap();
    batch.members.remove(0);
    let plan = scheduler(inventory).place_batch(batch).unwrap();
    assert_eq!(plan.host("v1").map(|it| &**it), Some("small"));
    assert_eq!(plan.host("v2").map(|it| &**it), Some("small"));
    // A request has one tenant: each is placed for its own.
    let (inventory, mut batch) = room_for_all_on_one();
    batch.members[2].facts.set("tenant", "acme");
    let plan = scheduler(inventory).place_batch(batch).unwrap();
    let turns = plan.turns.iter().map(|turn| turn.members.len());
    assert_eq!(turns.collect::<Vec<_>>(), [2, 1, 1]);
}

#[test]
fn a_batch_takes_vms_of_several_tenants_and_names_what_it_has_one_of() {
    let of = |id: &str, facts: Facts| {
        let mut member = vm(id, 1);
        if let Some(tenant) = facts.get("tenant").cloned() {
            member.facts.set("tenant", tenant);
        }
        Request {
            members: vec![member],
            facts,
            now: 1000,
            ..Request::default()
        }
    };
    let tenant = |id: &str| Facts::new().with("tenant", id);
    let mixed = [
        of("a", tenant("acme")),
        of("b", tenant("globex")),
        of("c", Facts::new()),
    ];
    let batch = Batch::of_requests(mixed.to_vec()).unwrap();
    assert_eq!((batch.members.len(), batch.facts.text("tenant")), (3, None));
    let plan = scheduler(room_for_all_on_one().0)
        .place_batch(batch)
        .unwrap();
    let tenants = plan.turns.iter().map(|turn| {
        let decision = turn.outcome.as_ref().unwrap();
        decision.request.facts.text("tenant").map(str::to_owned)
    });
    let tenants: std::collections::BTreeSet<_> = tenants.collect();
    assert_eq!(
        tenants,
        [None, Some("acme".to_owned()), Some("globex".to_owned())].into()
    );
    let same = Batch::of_requests(mixed[..1].to_vec()).unwrap();
    assert_eq!(same.facts.text("tenant"), Some("acme"));

    let refused =
        |requests: [Request; 2]| Batch::of_requests(requests.into()).unwrap_err().to_string();
    let later = Request {
        now: 2000,
        ..of("late", Facts::new())
    };
    assert_eq!(
        refused([of("a", Facts::new()), later]),
        "VM \"late\" (entry 1) has now 2000 and VM \"a\" has 1000: all VMs of a batch have one now; send one batch for each"
    );
    let kind = Facts::new().with("kind", "migrate");
    assert_eq!(
        refused([of("a", kind), of("b", Facts::new())]),
        "VM \"b\" (entry 1) has kind none and VM \"a\" has \"migrate\": all VMs of a batch have one kind; send one batch for each"
    );
    // Who asks for VMs of somebody else asks for all of them.
    let mut for_another = of("b", tenant("globex"));
    for_another.members[0].facts.set("tenant", "acme");
    let sentence = refused([of("a", tenant("acme")), for_another]);
    assert!(
        sentence.contains("has tenant \"globex\" and VM \"a\" has \"acme\""),
        "{sentence}"
    );
    let forced = Request {
        forced: Some("h".into()),
        ..of("f", Facts::new())
    };
    let sentence = refused([of("a", Facts::new()), forced]);
    assert!(
        sentence.starts_with("the request for VM \"f\" (entry 1) has \"force\""),
        "{sentence}"
    );
}

#[test]
fn a_group_that_is_apart_is_joined_where_there_is_room_for_all() {
    let vms = [("a", 8, "h1"), ("b", 8, "h2"), ("filler", 54, "h1")];
    let mut inventory = cluster(&[("h1", 64), ("h2", 64)], &vms);
    inventory
        .set_group(group("g", &["a", "b"], TOGETHER))
        .unwrap();
    let mut scheduler = scheduler(inventory);
    let plan = balanced(&mut scheduler);
    assert_eq!(moves(&plan), [("a", "h1", "h2")]);
    assert_eq!(stuck(&plan), [""; 0]);
    carry_out(&mut scheduler, &plan);
    assert_eq!(moves(&balanced(&mut scheduler)), []);
}

#[test]
fn a_group_that_is_apart_is_joined_on_another_host_if_none_of_its_own_has_room() {
    let vms = [
        ("a", 8, "h1"),
        ("b", 8, "h2"),
        ("f1", 54, "h1"),
        ("f2", 54, "h2"),
    ];
    let mut inventory = cluster(&[("h1", 64), ("h2", 64), ("h3", 17)], &vms);
    inventory
        .set_group(group("g", &["a", "b"], TOGETHER))
        .unwrap();
    let mut scheduler = scheduler(inventory);
    let plan = balanced(&mut scheduler);
    assert_eq!(moves(&plan), [("a", "h1", "h3"), ("b", "h2", "h3")]);
    // Alone none of them may go there: both are begun at once.
    assert_eq!(plan.together(0), 0..2);
    assert!(scheduler.begin_move(&plan.moves[0], 1000).is_err());
    carry_out(&mut scheduler, &plan);
    assert_eq!(moves(&balanced(&mut scheduler)), []);
}

#[test]
fn a_group_that_no_host_takes_stays_and_the_nearest_host_is_named_with_what_it_lacks() {
    let vms = [
        ("a", 8, "h1"),
        ("b", 8, "h2"),
        ("c", 2, "h2"),
        ("f1", 54, "h1"),
        ("f2", 50, "h2"),
    ];
    let mut inventory = cluster(&[("h1", 64), ("h2", 64), ("h3", 9)], &vms);
    let together = group("g", &["a", "b", "c"], TOGETHER);
    inventory.set_group(together).unwrap();
    let plan = balanced(&mut scheduler(inventory));
    assert_eq!(moves(&plan), []);
    assert_eq!(stuck(&plan), ["a"], "{plan:?}");
    let told = plan.told().stuck.remove(0);
    let nearest = told.nearest.as_ref().expect("a host came nearest");
    assert_eq!((&*nearest.host, &*nearest.filter), ("h2", "memory"));
    assert!(told.why.contains("host \"h2\" came nearest"), "{told:?}");
    assert!(matches!(plan.stuck[0].because, MoveError::Apart { .. }));
}

#[test]
fn of_hosts_that_are_emptied_at_once_the_parts_of_a_group_go_to_one_host() {
    let vms = [("a", 8, "h1"), ("b", 8, "h2")];
    let mut inventory = cluster(&[("h1", 64), ("h2", 64), ("h3", 10), ("h4", 17)], &vms);
    inventory
        .set_group(group("g", &["a", "b"], TOGETHER))
        .unwrap();
    let mut scheduler = scheduler(inventory);
    let plan = emptied(&mut scheduler, &["h1", "h2"]);
    assert_eq!(moves(&plan), [("a", "h1", "h4"), ("b", "h2", "h4")]);
    assert_eq!(stuck(&plan), [""; 0]);
    carry_out(&mut scheduler, &plan);

    // Of those that stay nobody could be joined, but all can go elsewhere.
    let full = vm("full", 1);
    let world = scheduler.inventory_mut();
    world.run_vm(full, "h4").unwrap();
    let more = Host::new("h5")
        .with("cpu.cores", 8_i64)
        .with("memory.total", 17 * GIB);
    world.add_host(more).unwrap();
    world.run_vm(vm("a", 8), "h3").unwrap();
    let plan = emptied(&mut scheduler, &["h3"]);
    let to: Vec<_> = plan.moves.iter().map(|it| (&*it.vm, &*it.to)).collect();
    assert!(plan.stuck.is_empty(), "{plan:?}");
    assert!(
        to.contains(&("a", to[0].1)) && to.contains(&("b", to[0].1)),
        "{to:?}"
    );
}

#[test]
fn a_vm_that_finds_no_host_names_the_one_that_came_nearest() {
    let vms = [("v", 40, "a"), ("w", 30, "b")];
    let inventory = cluster(&[("a", 64), ("b", 64), ("c", 32)], &vms);
    let plan = emptied(&mut scheduler(inventory), &["a"]);
    assert_eq!(stuck(&plan), ["v"]);
    let told = plan.told().stuck.remove(0);
    let nearest = told.nearest.as_ref().expect("a host came nearest");
    assert_eq!((&*nearest.host, &*nearest.filter), ("b", "memory"));
    assert!(told.why.contains("nearest is host b"), "{told:?}");
}

/// A hard group of three VMs on three hosts. The first host takes one of them, and not all.
fn on_three_hosts(hosts: &[(&str, i64)]) -> Inventory {
    let vms = [("m0", 2, "h0"), ("m1", 3, "h1"), ("m2", 1, "h2")];
    let mut inventory = cluster(hosts, &vms);
    let together = group("g", &["m0", "m1", "m2"], TOGETHER);
    inventory.set_group(together).unwrap();
    inventory
}

#[test]
fn a_host_that_takes_some_of_a_group_and_not_all_keeps_nobody_from_the_next_one() {
    let options = BalanceOptions {
        cool_down: 3600,
        ..BalanceOptions::default()
    };
    let joined = |hosts: &[(&str, i64)]| {
        let mut scheduler = scheduler(on_three_hosts(hosts));
        let plan = scheduler.plan_balance(1000, &options).unwrap();
        let to: Vec<(String, String)> = plan
            .moves
            .iter()
            .map(|step| (step.vm.to_string(), step.to.to_string()))
            .collect();
        let stuck = stuck(&plan).into_iter().map(str::to_owned);
        (to, stuck.collect::<Vec<_>>())
    };
    let to = |host: &str, vms: &[&str]| {
        let vms = vms.iter().map(|vm| ((*vm).to_owned(), host.to_owned()));
        (vms.collect::<Vec<_>>(), Vec::<String>::new())
    };
    let one_of_theirs = [("h0", 6), ("h1", 10), ("h2", 6)];
    assert_eq!(joined(&one_of_theirs), to("h1", &["m2", "m0"]));
    let another = [("h0", 6), ("h1", 6), ("h2", 6), ("h3", 12)];
    assert_eq!(joined(&another), to("h3", &["m0", "m1", "m2"]));
    let (moves, stuck) = joined(&[("h0", 6), ("h1", 6), ("h2", 6)]);
    assert_eq!(moves, []);
    assert!(!stuck.is_empty(), "it says who cannot go");
}

#[test]
fn who_lies_on_a_lost_host_goes_with_all_of_the_group_before_any_of_it_is_left_behind() {
    let vms = [("m0", 1, "h0"), ("m1", 3, "h0"), ("m2", 2, "h2")];
    let mut inventory = cluster(&[("h0", 8), ("h1", 10), ("h2", 6)], &vms);
    let together = group("g", &["m0", "m1", "m2"], TOGETHER);
    inventory.set_group(together).unwrap();
    state(&mut inventory, "h0", "down");
    let plan = balanced(&mut scheduler(inventory));
    let to: Vec<_> = plan.moves.iter().map(|it| (&*it.vm, &*it.to)).collect();
    assert_eq!(to.len(), 3, "{plan:?}");
    assert!(to.iter().all(|(_, to)| *to == "h1"), "{to:?}");
    assert_eq!(stuck(&plan), [""; 0]);
}

#[test]
fn a_plan_of_one_move_begins_to_join_a_group_on_a_host_that_takes_all_of_it() {
    let options = BalanceOptions {
        moves: 1,
        ..BalanceOptions::default()
    };
    let mut scheduler = scheduler(on_three_hosts(&[("h0", 6), ("h1", 10), ("h2", 6)]));
    for (vm, from) in [("m2", "h2"), ("m0", "h0")] {
        let plan = scheduler.plan_balance(1000, &options).unwrap();
        assert_eq!(moves(&plan), [(vm, from, "h1")]);
        carry_out(&mut scheduler, &plan);
    }
    let plan = scheduler.plan_balance(1000, &options).unwrap();
    assert_eq!(moves(&plan), []);
}
