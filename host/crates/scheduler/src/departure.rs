//! A VM that may not leave its host is placed anew there or not at all.

use super::{MovedVm, PlaceError};
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

/// The members that run on other hosts than the one that is chosen, if one is.
pub(super) fn moves(inventory: &Inventory, request: &Request, to: Option<&str>) -> Vec<MovedVm> {
    let Some(to) = to else {
        return Vec::new();
    };
    let moved = request.members.iter().filter_map(|member| {
        let slot = inventory.runs_on(&member.id)?;
        let from = inventory.host(slot)?.id.clone();
        let is_taken_off = inventory.running(&member.id).is_none();
        let live = match is_taken_off {
            true => !inventory.host_state(slot).is_lost(),
            false => inventory.moves_live(&member.id),
        };
        let vm = member.id.clone();
        (*from != *to).then_some(MovedVm { vm, from, live })
    });
    moved.collect()
}

/// The host that a VM may not leave: [`placewright_model::HostState::departure`] says so.
fn barred(inventory: &Inventory, member: &Vm) -> Option<u32> {
    let slot = inventory.runs_on(&member.id)?;
    let departure = match inventory.departure(&member.id) {
        Some(departure) => departure,
        // It was taken off its host for a plan from nothing.
        None => {
            if member.is_stopped() {
                return None;
            }
            let shape = Shape::of(&member.facts);
            inventory.host_state(slot).departure(shape.migratable)
        }
    };
    (departure == Departure::Barred).then_some(slot)
}
