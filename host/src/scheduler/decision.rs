//! What was decided, with all that is needed to decide it again.

use std::sync::Arc;

use crate::chain::{Chain, Decided};
use crate::model::Request;

/// One decision.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Counts up from 1 in each scheduler.
    pub number: u64,
    /// The request, with what the inventory knew filled in.
    pub request: Arc<Request>,
    /// The version of the inventory that it was made on.
    pub inventory_version: u64,
    /// The number that decided what was left to chance.
    pub draw: f64,
    /// The chain that made it; holds on to its units.
    pub chain: Arc<Chain>,
    /// What the chain came to.
    pub decided: Decided,
    /// Id of the chosen host; None if every host was removed.
    pub host: Option<Arc<str>>,
}
