//! Hosts that no unit is asked about: how many, why, and which.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Removed;
use placewright_inventory::Inventory;
use placewright_model::{Request, Value};

/// So many hosts are named for one reason.
const MOST_NAMED: usize = 10;

/// The hosts in question that are not up, state by state; if no host was considered, also those
/// that the request excludes.
pub(super) fn removed(
    inventory: &Inventory,
    request: &Request,
    considered: usize,
) -> impl Iterator<Item = Removed> {
    let mut reasons: BTreeMap<(&str, String), Vec<u32>> = BTreeMap::new();
    for slot in in_question(inventory, request, considered) {
        let is_excluded = request.forced.is_none()
            && (inventory.host(slot)).is_some_and(|host| request.excluded.contains(&host.id));
        let reason = match not_up(inventory, slot) {
            _ if is_excluded && considered > 0 => continue,
            _ if is_excluded => ("request", EXCLUDED.to_owned()),
            Some(reason) => ("state", reason),
            None => continue,
        };
        reasons.entry(reason).or_default().push(slot);
    }
    let ranks = inventory.ranks();
    let removed = reasons.into_iter().map(|((filter, reason), mut slots)| {
        slots.sort_unstable_by_key(|slot| ranks[*slot as usize]);
        slots.dedup();
        let hosts = slots.iter().filter_map(|slot| inventory.host(*slot));
        Removed {
            filter: filter.into(),
            reason: reason.into(),
            passing: false,
            hosts: slots.len(),
            names: hosts.take(MOST_NAMED).map(|host| host.id.clone()).collect(),
        }
    });
    removed.collect::<Vec<_>>().into_iter()
}

/// What is said of a host that the request excludes.
pub(in super::super) const EXCLUDED: &str = "is excluded by the request";

/// Why a host is not considered, if it is not up; completes "host ...".
pub(in super::super) fn not_up(inventory: &Inventory, slot: u32) -> Option<String> {
    match inventory.host_value(slot, "state") {
        Some(Value::Text(state)) if !inventory.is_up(slot) => {
            Some(format!("is not up: its state is {state}"))
        }
        _ => None,
    }
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
