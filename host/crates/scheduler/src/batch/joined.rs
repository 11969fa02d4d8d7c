//! VMs of a batch that hard groups keep together have one turn: room for all of them is looked
//! for, and the first one does not take a host on which the others do not fit. Where no host takes
//! all of them, each has a turn of its own, as if they were placed one by one.

use std::collections::{BTreeMap, HashMap};

use placewright_inventory::Inventory;
use placewright_model::{GroupRule, Vm};

/// The turns that are joined to one, as places of VMs.
pub(super) type Joined = Vec<Vec<usize>>;

/// Join the turns of VMs that hard groups keep together, each at the place of the first of
/// them. VMs of several tenants or zones are not joined: a request has one of each.
pub(super) fn turns(inventory: &Inventory, vms: &[Vm], turns: Vec<Vec<usize>>) -> Vec<Joined> {
    let mut turn_of = vec![None; vms.len()];
    for (turn, places) in turns.iter().enumerate() {
        for place in places {
            turn_of[*place] = Some(turn);
        }
    }
    // The first turn with which each one is joined.
    let mut joined: Vec<usize> = (0..turns.len()).collect();
    let mut any = false;
    // By group, and by what a request has one of, a turn that has such a VM.
    let mut known: HashMap<(&str, Option<&str>, Option<&str>), usize> = HashMap::new();
    for (vm, mine) in vms.iter().zip(turn_of) {
        let Some(mine) = mine else {
            continue;
        };
        let groups = inventory.groups_of(&vm.id).map(|entry| &entry.group);
        let hard = groups.filter(|it| it.vm_rule == Some(GroupRule::Positive { hard: true }));
        for group in hard {
            let key = (&*group.id, vm.facts.text("tenant"), vm.facts.text("zone"));
            let theirs = *known.entry(key).or_insert(mine);
            let (one, two) = (first(&joined, mine), first(&joined, theirs));
            joined[one.max(two)] = one.min(two);
            any |= one != two;
        }
    }
    if !any {
        return turns.into_iter().map(|turn| vec![turn]).collect();
    }
    let mut together: BTreeMap<usize, Joined> = BTreeMap::new();
    for (turn, places) in turns.into_iter().enumerate() {
        let joined = first(&joined, turn);
        together.entry(joined).or_default().push(places);
    }
    together.into_values().collect()
}

/// The first turn with which a turn is joined.
pub(super) fn first(joined: &[usize], mut turn: usize) -> usize {
    while joined[turn] != turn {
        turn = joined[turn];
    }
    turn
}
