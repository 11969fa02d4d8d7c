//! A VM that may not leave its host is placed anew there or not at all.

use super::PlaceError;
use placewright_inventory::{Inventory, Shape};
use placewright_model::{Departure, Request, Vm};

/// Let VMs that may not leave the host where they run have that host alone to choose from.
///
/// # Errors
/// If the request wants such a VM elsewhere, or its host takes no VMs.
pub(super) fn confine(inventory: &Inventory, request: &mut Request) -> Result<(), PlaceError> {
    for number in 0..request.members.len() {
        let member = &request.members[number];
        let Some(slot) = barred(inventory, member) else {
            continue;
        };
        let Some(host) = inventory.host(slot).map(|host| host.id.clone()) else {
            continue;
        };
        let may_be_there = inventory.is_up(slot)
            && !request.excluded.contains(&host)
            && (request.allowed.is_empty() || request.allowed.contains(&host))
            && (request.forced.as_ref()).is_none_or(|forced| *forced == host);
        if !may_be_there {
            return Err(PlaceError::NotMigratable {
                vm: member.id.clone(),
                host,
            });
        }
        request.allowed = vec![host];
    }
    Ok(())
}

/// The host that a VM may not leave: [`placewright_model::HostState::departure`] says so.
fn barred(inventory: &Inventory, member: &Vm) -> Option<u32> {
    let slot = inventory.runs_on(&member.id)?;
    let departure = match inventory.departure(&member.id) {
        Some(departure) => departure,
        // It was taken off its host for a plan from nothing.
        None => {
            let shape = Shape::of(&member.facts);
            inventory.host_state(slot).departure(shape.migratable)
        }
    };
    (departure == Departure::Barred).then_some(slot)
}
