//! What was decided, with all that is needed to decide it again.

use std::sync::Arc;

use serde::Serialize;

use super::QuotaRefusal;
use placewright_chain::{Chain, Decided, Followed, UnheededNeed};
use placewright_inventory::{Inventory, Terms};
use placewright_model::Request;

/// A VM that leaves the host where it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MovedVm {
    /// Id of the VM.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// Id of the host where it runs.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
    pub from: Arc<str>,
    /// Whether it runs while it is moved (a live migration); false: it is stopped or paused, or
    /// is started on its new host, as its host is down or faulty.
    pub live: bool,
}

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
    /// Why no host was looked for, if a quota does not allow what is asked for.
    pub refused: Option<Box<QuotaRefusal>>,
    /// What the chain came to.
    pub decided: Decided,
    /// Id of the chosen host; None if every host was removed or none was looked for.
    pub host: Option<Arc<str>>,
    /// How the places are reserved; None: they are not, as after a dry run.
    pub reserved: Option<Terms>,
    /// Of a plan from nothing: why no place is reserved on that host though one was to be, a
    /// sentence without its full stop.
    pub unreserved: Option<String>,
    /// Whether every VM runs on that host already with what it asks for, so that there is
    /// nothing to be reserved.
    pub unchanged: bool,
    /// Where selections decide: the groups of candidates, best first, each candidate
    /// by its id and with its share of chance in its group.
    pub shares: Vec<Vec<(Arc<str>, f64)>>,
    /// What the policy's effects have follow from it.
    pub followed: Vec<Followed>,
    /// The members that run elsewhere and so would be moved.
    pub moves: Vec<MovedVm>,
    /// Needs of the request that no filter of the policy checks, where the policy warns
    /// of them.
    pub unheeded: Vec<UnheededNeed>,
    /// Of a decision for no host: what the request names and no host of the cluster has, a
    /// sentence each.
    pub unknown: Vec<String>,
}

impl Decision {
    /// The slot of the chosen host, in the inventory that it was made on.
    pub(super) fn slot(&self, inventory: &Inventory) -> Option<u32> {
        inventory.slot(self.host.as_deref()?)
    }
}
