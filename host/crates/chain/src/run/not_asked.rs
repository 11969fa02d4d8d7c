//! Hosts that no unit is asked about: how many, why, and which.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Removed;
use placewright_inventory::Inventory;
use placewright_model::Request;

/// So many hosts are named for one reason.
const MOST_NAMED: usize = 10;

/// Why nobody is asked about a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why<'i> {
    /// The request excludes it.
    Excluded,
    /// It is not up, but in this state.
    State(&'i str),
}

/// The hosts in question that are not up, state by state; if no host was considered, also those
/// that the request excludes.
pub(super) fn removed(inventory: &Inventory, request: &Request, considered: usize) -> Vec<Removed> {
    // There may be thousands of them in every decision: words are made for each state alone.
    let mut hosts: BTreeMap<Why<'_>, Vec<u32>> = BTreeMap::new();
    for slot in in_question(inventory, request, considered) {
        let is_excluded = request.forced.is_none()
            && (inventory.host(slot)).is_some_and(|host| request.excluded.contains(&host.id));
        let why = match inventory.state_not_up(slot) {
            _ if is_excluded && considered > 0 => continue,
            _ if is_excluded => Why::Excluded,
            Some(state) => Why::State(state),
            None => continue,
        };
        hosts.entry(why).or_default().push(slot);
    }
    let removed = hosts.into_iter().map(|(why, slots)| {
        let (filter, reason) = match why {
            Why::Excluded => ("request", EXCLUDED.to_owned()),
            Why::State(state) => ("state", is_not_up(state)),
        };
        let (hosts, first) = first_of(inventory, slots);
        let named = first.iter().filter_map(|slot| inventory.host(*slot));
        Removed {
            filter: filter.into(),
            reason: reason.into(),
            passing: false,
            hosts,
            names: named.map(|host| host.id.clone()).collect(),
        }
    });
    removed.collect()
}

/// How many hosts these are, and the first ones by id.
fn first_of(inventory: &Inventory, mut slots: Vec<u32>) -> (usize, Vec<u32>) {
    // A request may allow a host twice.
    slots.sort_unstable();
    slots.dedup();
    let hosts = slots.len();
    let ranks = inventory.ranks();
    let rank = |slot: &u32| ranks[*slot as usize];
    if hosts > MOST_NAMED {
        slots.select_nth_unstable_by_key(MOST_NAMED, rank);
        slots.truncate(MOST_NAMED);
    }
    slots.sort_unstable_by_key(rank);
    (hosts, slots)
}

/// The reason of a host that the request excludes; completes "host ...".
pub(in super::super) const EXCLUDED: &str = "is excluded by the request";

/// Why a host is not considered, if it is not up; completes "host ...".
pub(in super::super) fn not_up(inventory: &Inventory, slot: u32) -> Option<String> {
    inventory.state_not_up(slot).map(is_not_up)
}

fn is_not_up(state: &str) -> String {
    format!("is not up: its state is {state}")
}

/// The hosts that the request allows, without those that are up where some were considered.
fn in_question(inventory: &Inventory, request: &Request, considered: usize) -> Vec<u32> {
    let slots = |ids: &[Arc<str>]| ids.iter().filter_map(|id| inventory.slot(id)).collect();
    match (&request.forced, &request.allowed[..]) {
        (Some(forced), _) => slots(std::slice::from_ref(forced)),
        (None, []) if considered > 0 => inventory.not_up_slots().collect(),
        (None, []) => inventory.hosts().map(|(slot, _)| slot).collect(),
        (None, allowed) => slots(allowed),
    }
}
