//! A vector's question, put to the scheduler.

use placewright_chain::{Explanation, StageShown};
use placewright_inventory::Inventory;
use placewright_model::Request;

use super::document::Document;
use super::input::Input;
use crate::units::Units;

/// Decide on the scheduled VMs under a policy, and explain it.
///
/// # Errors
/// What is wrong with the vector, or why there is no decision.
pub(super) fn explain(
    input: &Input,
    policy: &Document,
    units: &Units,
) -> Result<Explanation, String> {
    explain_in(input.inventory()?, input.request()?, policy, units)
}

/// The same for a cluster and a request that are made already.
///
/// # Errors
/// Why there is no decision.
pub(super) fn explain_in(
    inventory: Inventory,
    request: Request,
    policy: &Document,
    units: &Units,
) -> Result<Explanation, String> {
    let mut scheduler = units.scheduler(inventory, &policy.text()?)?;
    let decision = scheduler.place(request);
    let decision = decision.map_err(|error| error.to_string())?;
    let explanation = scheduler.explain(decision.number);
    explanation.map_err(|error| error.to_string())
}

/// The policy's only stage.
///
/// # Errors
/// If there is another number of stages.
pub(super) fn stage(explanation: &Explanation) -> Result<&StageShown, String> {
    match explanation.stages.as_slice() {
        [stage] => Ok(stage),
        stages => Err(format!("{} stages, not one", stages.len())),
    }
}
