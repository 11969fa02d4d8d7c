//! What becomes of requests with needs that no filter of the policy checks.

use super::{PlaceError, SchedulerOptions};
use placewright_chain::{Chain, UnheededNeed};
use placewright_inventory::Inventory;
use placewright_model::Request;
use placewright_policy::Unheeded;

/// The needs of the request that go unheeded and that the decision warns of.
///
/// # Errors
/// If there are some that the policy refuses.
pub(super) fn unheeded(
    chain: &Chain,
    options: &SchedulerOptions,
    inventory: &Inventory,
    request: &Request,
) -> Result<Vec<UnheededNeed>, PlaceError> {
    if options.unheeded == Unheeded::Ignore {
        return Ok(Vec::new());
    }
    let unheeded = chain.unheeded(inventory, request);
    if unheeded.is_empty() {
        return Ok(Vec::new());
    }
    let (refused, warned): (Vec<_>, Vec<_>) = unheeded
        .into_iter()
        .partition(|(rule, _)| (*rule).min(options.unheeded) == Unheeded::Refuse);
    let needs = |list: Vec<(Unheeded, UnheededNeed)>| list.into_iter().map(|(_, need)| need);
    match refused.is_empty() {
        true => Ok(needs(warned).collect()),
        false => Err(PlaceError::Unheeded(needs(refused).collect())),
    }
}
