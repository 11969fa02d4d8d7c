//! The availability zone that a request asks for stays with its VMs: who is moved later,
//! whoever moves it, is asked for again in the same zone.

use std::sync::Arc;

use super::PlaceError;
use placewright_model::{Request, Value};

const ZONE: &str = "zone";

/// Let the VMs of a request have the zone that it asks for, or let it ask for the one that
/// they have.
///
/// # Errors
/// If it asks for none, and its VMs have several.
pub(super) fn agree(request: &mut Request) -> Result<(), PlaceError> {
    if let Some(zone) = request.facts.get(ZONE).cloned() {
        for member in &mut request.members {
            member.facts.set(ZONE, zone.clone());
        }
        return Ok(());
    }
    let zones = request.members.iter();
    let mut zones: Vec<&str> = zones.filter_map(|vm| vm.facts.text(ZONE)).collect();
    zones.sort_unstable();
    zones.dedup();
    match zones.as_slice() {
        [] => Ok(()),
        [zone] => {
            let zone: Arc<str> = (*zone).into();
            request.facts.set(ZONE, Value::Text(zone));
            Ok(())
        }
        [first, second, ..] => Err(PlaceError::Zones((*first).into(), (*second).into())),
    }
}
