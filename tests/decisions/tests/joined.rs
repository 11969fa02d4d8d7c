//! Hard groups are judged by where their VMs can run: those on hosts that are lost keep
//! nobody, and groups that are apart go to any host that takes them.

use placewright_inventory::Inventory;
use placewright_model::{Host, Request, Vm};
use placewright_scheduler::{Batch, MoveError};

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
        let hosts = ["v0", "v1"].map(|id| one_by_one.place(ask(&[id])).unwrap().host);
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
