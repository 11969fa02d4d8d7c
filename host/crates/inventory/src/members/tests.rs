use std::collections::BTreeSet;

use super::*;
use placewright_document::{ClusterDocument, InventoryChanges};
use placewright_model::budget::ClusterBounds;
use placewright_model::schema::Schema;
use placewright_model::{GroupRule, Host, Vm};
use proptest::prelude::*;

/// Groups with VMs of their own, each with those of all before it; the ids in an order that is not
/// the one of the list.
fn nested(count: usize) -> String {
    let group = |at: usize| {
        let others: Vec<String> = (0..at).map(|it| format!(r#""m{it}""#)).collect();
        format!(
            r#"{{"id": "m{at}", "vms": ["v{at}", "w"], "vms-of": [{}], "hosts-of": [{0}]}}"#,
            others.join(",")
        )
    };
    (0..count).map(group).collect::<Vec<_>>().join(",")
}

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    for host in ["a", "b", "c"] {
        inventory.add_host(Host::new(host)).unwrap();
    }
    inventory
}

fn change(inventory: &mut Inventory, text: &str) -> Result<(), InventoryError> {
    let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
    inventory.change(changes).map(drop)
}

/// What is known of groups: each with its members and where they are, which VMs are in it, and its
/// bytes.
fn known(inventory: &Inventory) -> Vec<String> {
    let groups = inventory.groups();
    let mut known: Vec<String> = groups.map(|entry| format!("{entry:?}")).collect();
    for vm in vm_ids() {
        let groups = inventory.groups_of(&vm).map(|entry| &entry.group.id);
        known.push(format!("{vm}: {:?}", groups.collect::<Vec<_>>()));
    }
    known.push(inventory.bytes().to_string());
    known
}

fn vm_ids() -> Vec<String> {
    (0..8).map(|it| format!("v{it}")).collect()
}

/// That every group has the members, and is counted, as follows from what was given of all.
fn check(inventory: &Inventory) {
    let mut bytes = inventory.recounted();
    for entry in inventory.groups() {
        let given = entry.given();
        let others = |ids: &[Arc<str>]| -> Vec<Group> {
            let others = ids.iter().filter_map(|id| inventory.group(id));
            others.map(|other| other.given().clone()).collect()
        };
        let mut expected = given.clone();
        for other in others(&given.vms_of) {
            add(&mut expected.vms, &given.vms, &other.vms);
        }
        for other in others(&given.hosts_of) {
            add(&mut expected.hosts, &given.hosts, &other.hosts);
        }
        assert_eq!(entry.group, expected);
        let members: BTreeSet<&Arc<str>> = expected.vms.iter().collect();
        let places = members.iter().flat_map(|vm| inventory.places_of(vm));
        assert_eq!(entry.presence, presence(places.flatten().collect()));
        let slots = expected.hosts.iter().filter_map(|it| inventory.slot(it));
        let slots: BTreeSet<u32> = slots.collect();
        assert_eq!(entry.hosts, slots.into_iter().collect::<Vec<_>>());
        bytes += weight::of_new_group(given);
        let taken = &expected.vms[given.vms.len()..];
        bytes += taken.iter().map(|it| weight::of_member(it)).sum::<u64>();
        let taken = &expected.hosts[given.hosts.len()..];
        bytes += taken.iter().map(|it| weight::of_id(it)).sum::<u64>();
    }
    assert_eq!(inventory.bytes(), bytes);
    for vm in vm_ids() {
        let groups = inventory.groups();
        let expected = groups.filter(|it| it.group.vms.iter().any(|id| **id == *vm));
        let expected: Vec<_> = expected.map(|it| &it.group.id).collect();
        let known: Vec<_> = inventory.groups_of(&vm).map(|it| &it.group.id).collect();
        assert_eq!(known, expected, "of {vm}");
    }
}

/// Add those that are no members yet.
fn add(members: &mut Vec<Arc<str>>, own: &[Arc<str>], others: &[Arc<str>]) {
    for other in others {
        if !own.contains(other) && !members.contains(other) {
            members.push(other.clone());
        }
    }
}

#[test]
fn a_document_has_the_members_of_each_group_worked_out_once() {
    let text = format!(
        r#"{{"name": "c", "hosts": [{{"id": "a", "vms": [{{"id": "w"}}, {{"id": "v3"}}]}}],
            "groups": [{}]}}"#,
        nested(30)
    );
    let document = ClusterDocument::read(&text, "c.json").unwrap();
    let inventory = Inventory::of_document(document, 0).unwrap();
    assert_eq!(inventory.worked_out_groups(), 30);
    assert_eq!(inventory.group("m29").unwrap().presence[0].1.vms, 2);
    check(&inventory);
    // Group by group it comes to the same.
    let mut single = cluster();
    single.remove_host("b").unwrap();
    single.remove_host("c").unwrap();
    for vm in ["w", "v3"] {
        single.run_vm(Vm::new(vm), "a").unwrap();
    }
    let mut groups: Vec<Group> = inventory.groups().map(|it| it.given().clone()).collect();
    groups.reverse();
    for group in groups {
        single.set_group(group).unwrap();
    }
    assert_eq!(known(&single), known(&inventory));
}

#[test]
fn changes_of_many_groups_have_the_members_of_each_worked_out_once_and_so_has_the_way_back() {
    let mut inventory = cluster();
    change(
        &mut inventory,
        &format!(r#"{{"groups": [{}]}}"#, nested(30)),
    )
    .unwrap();
    assert_eq!(inventory.worked_out_groups(), 30);
    let (before, version) = (known(&inventory), inventory.version());
    let more = |at: usize| format!(r#"{{"id": "m{at}", "vms": ["v{}"]}}"#, at + 1);
    let all: Vec<String> = (0..30).map(more).collect();
    let text = format!(r#"{{"groups": [{}]}}"#, all.join(","));
    change(&mut inventory, &text).unwrap();
    assert_eq!(inventory.worked_out_groups(), 60);
    check(&inventory);
    let gone: Vec<String> = (0..15).map(|at| format!(r#""m{at}""#)).collect();
    let text = format!(r#"{{"gone": {{"groups": [{}]}}}}"#, gone.join(","));
    change(&mut inventory, &text).unwrap();
    assert_eq!(inventory.worked_out_groups(), 75);
    check(&inventory);
    assert!(inventory.take_back(version));
    assert_eq!(inventory.worked_out_groups(), 105);
    assert_eq!(known(&inventory), before);
}

#[test]
fn a_change_that_gives_a_group_no_other_members_leaves_those_that_have_them_alone() {
    let mut inventory = cluster();
    change(
        &mut inventory,
        &format!(r#"{{"groups": [{}]}}"#, nested(10)),
    )
    .unwrap();
    let before = inventory.worked_out_groups();
    let mut group = inventory.group("m0").unwrap().given().clone();
    group.vm_rule = Some(GroupRule::Positive { hard: true });
    inventory.set_group(group).unwrap();
    assert_eq!(inventory.worked_out_groups(), before + 1);
    // One without members of its own gives others none.
    let empty = |id: &str| Group {
        vms_of: vec!["m0".into()],
        ..Group::new(id)
    };
    let user = Group {
        vms_of: vec!["empty".into()],
        ..Group::new("user")
    };
    inventory.set_group(user).unwrap();
    inventory.set_group(empty("empty")).unwrap();
    inventory.remove_group("empty");
    assert_eq!(inventory.worked_out_groups(), before + 3);
    check(&inventory);
}

#[test]
fn the_same_members_of_many_others_are_counted_once_as_they_are_kept() {
    let mut inventory = cluster();
    let groups = |count: usize| -> Vec<Group> {
        let own = (0..count).map(|it| Group {
            vms: vm_ids().iter().map(|vm| vm.as_str().into()).collect(),
            ..Group::new(format!("g{it:02}"))
        });
        let own: Vec<Group> = own.collect();
        let all = Group {
            vms_of: own.iter().map(|group| group.id.clone()).collect(),
            ..Group::new("all")
        };
        own.into_iter().chain([all]).collect()
    };
    let set = |inventory: &mut Inventory, groups: Vec<Group>| {
        inventory.group_together(|inventory| {
            let mut groups = groups.into_iter();
            groups.try_for_each(|group| inventory.set_group(group))
        })
    };
    set(&mut inventory, groups(40)).unwrap();
    let bytes = inventory.bytes();
    check(&inventory);
    // In exactly so many bytes they fit, and in less they do not, and leave nothing behind.
    for (bound, fits) in [(bytes, true), (bytes - 1, false)] {
        let mut inventory = cluster();
        inventory.set_bounds(ClusterBounds {
            inventory: bound,
            ..ClusterBounds::NONE
        });
        let (before, version) = (known(&inventory), inventory.version());
        let done = set(&mut inventory, groups(40));
        assert_eq!(done.is_ok(), fits, "{done:?}");
        if !fits {
            assert!(matches!(done, Err(InventoryError::Full(_))));
            assert_eq!((known(&inventory), inventory.version()), (before, version));
        }
        check(&inventory);
    }
}

#[test]
fn members_that_do_not_fit_in_those_that_have_them_are_refused_before_they_are_in_any() {
    let mut inventory = cluster();
    let user = |it: usize| Group {
        vms_of: vec!["all".into()],
        ..Group::new(format!("g{it:02}"))
    };
    for it in 0..50 {
        inventory.set_group(user(it)).unwrap();
    }
    inventory.set_bounds(ClusterBounds {
        inventory: inventory.bytes() + 100_000,
        ..ClusterBounds::NONE
    });
    let before = known(&inventory);
    let all = |count: usize| Group {
        vms: (0..count).map(|it| format!("v{it}").into()).collect(),
        ..Group::new("all")
    };
    let worked_out = inventory.worked_out_groups();
    let refused = inventory.set_group(all(400)).unwrap_err();
    assert!(matches!(refused, InventoryError::Full(_)), "{refused}");
    assert_eq!(known(&inventory), before);
    check(&inventory);
    // Those that were there are worked out once for the way back, and no more.
    assert!(inventory.worked_out_groups() <= worked_out + 50);
    inventory.set_group(all(10)).unwrap();
    check(&inventory);
    // What is too much already may stay, and become less.
    inventory.set_bounds(ClusterBounds {
        inventory: 1,
        ..ClusterBounds::NONE
    });
    inventory.set_group(all(10)).unwrap();
    inventory.set_group(user(7)).unwrap();
    inventory.set_group(all(9)).unwrap();
    inventory.set_group(all(10)).unwrap_err();
    check(&inventory);
}

#[test]
fn one_group_may_take_in_a_change_the_room_that_another_gives_up() {
    let mut inventory = cluster();
    let group = |id: &str, vms: std::ops::Range<usize>, of: &[&str]| Group {
        vms: vms.map(|it| format!("v{it}").into()).collect(),
        vms_of: of.iter().map(|id| Arc::from(*id)).collect(),
        ..Group::new(id)
    };
    inventory.set_group(group("one", 0..0, &[])).unwrap();
    inventory.set_group(group("two", 0..8, &[])).unwrap();
    inventory.set_group(group("a", 0..0, &["one"])).unwrap();
    inventory.set_group(group("b", 0..0, &["two"])).unwrap();
    inventory.set_bounds(ClusterBounds {
        inventory: inventory.bytes(),
        ..ClusterBounds::NONE
    });
    let swap = |inventory: &mut Inventory, more: usize| {
        inventory.group_together(|inventory| {
            inventory.set_group(group("two", 0..0, &[]))?;
            inventory.set_group(group("one", 0..8 + more, &[]))
        })
    };
    let before = known(&inventory);
    swap(&mut inventory, 1).unwrap_err();
    assert_eq!(known(&inventory), before);
    swap(&mut inventory, 0).unwrap();
    check(&inventory);
}

/// A step of a history.
#[derive(Debug, Clone)]
enum Step {
    Set(Group),
    Remove(String),
    Run(String, &'static str),
    Reserve(String, &'static str),
    Stop(String),
    RemoveHost,
}

fn group() -> impl Strategy<Value = Group> {
    let ids = |of: &'static str, count: usize| {
        let id = (0..count).prop_map(move |it| Arc::from(format!("{of}{it}")));
        prop::collection::vec(id, 0..5)
    };
    let hosts = prop::sample::subsequence(vec!["a", "b"], 0..=2);
    let lists = (ids("v", 8), ids("g", 6), ids("g", 6));
    ((0..6_usize), lists, hosts).prop_map(|(id, (vms, vms_of, hosts_of), hosts)| Group {
        vms,
        hosts: hosts.into_iter().map(Arc::from).collect(),
        vms_of,
        hosts_of,
        ..Group::new(format!("g{id}"))
    })
}

fn step() -> impl Strategy<Value = Step> {
    let vm = || prop::sample::select(vm_ids());
    let host = || prop::sample::select(vec!["a", "b"]);
    prop_oneof![
        8 => group().prop_map(Step::Set),
        2 => (0..6_usize).prop_map(|it| Step::Remove(format!("g{it}"))),
        3 => (vm(), host()).prop_map(|(vm, host)| Step::Run(vm, host)),
        2 => (vm(), host()).prop_map(|(vm, host)| Step::Reserve(vm, host)),
        2 => vm().prop_map(Step::Stop),
        1 => Just(Step::RemoveHost),
    ]
}

fn carry_out(inventory: &mut Inventory, step: Step) {
    // Steps that do not go together with the cluster as it is change nothing.
    match step {
        Step::Set(group) => drop(inventory.set_group(group)),
        Step::Remove(id) => inventory.remove_group(&id),
        Step::Run(vm, host) => {
            let vm = Vm::new(vm.as_str()).with("migratable", !vm.ends_with('3'));
            drop(inventory.run_vm(vm, host));
        }
        Step::Reserve(vm, host) => {
            drop(inventory.reserve_vm(Arc::new(Vm::new(vm.as_str())), host, None));
        }
        Step::Stop(vm) => drop(inventory.remove_vm(&vm)),
        Step::RemoveHost => drop(inventory.remove_host("c")),
    }
}

proptest! {
    #[test]
    fn groups_have_the_members_that_follow_from_what_was_given_after_any_history(
        steps in prop::collection::vec(step(), 1..40),
        together in 1_usize..12,
    ) {
        let (mut one, mut many) = (cluster(), cluster());
        let mut versions = Vec::new();
        for steps in steps.chunks(together) {
            versions.push((one.version(), known(&one)));
            for step in steps {
                carry_out(&mut one, step.clone());
                check(&one);
            }
            many.group_together(|many| {
                for step in steps {
                    carry_out(many, step.clone());
                }
                Ok::<_, InventoryError>(())
            })
            .unwrap();
            prop_assert_eq!(known(&many), known(&one));
        }
        for (version, before) in versions.into_iter().rev() {
            for inventory in [&mut one, &mut many] {
                prop_assert!(inventory.take_back(version));
                prop_assert_eq!(known(inventory), before.clone());
            }
        }
    }
}
