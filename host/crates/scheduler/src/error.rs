//! Why a scheduler gives no answer.

use std::sync::Arc;

use super::{InterruptedError, UnknownVms};
use placewright_chain::{DecisionError, UnheededNeed};
use placewright_inventory::InventoryError;

/// Why a request comes to no decision. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum PlaceError {
    #[error("the request names no VM")]
    NoMembers,
    #[error(
        "the VMs of the request belong to several availability zones, \"{0}\" and \"{1}\": name the one that is meant as \"zone\", or place them one by one"
    )]
    Zones(Arc<str>, Arc<str>),
    #[error("the request names VM \"{0}\" twice")]
    MemberTwice(Arc<str>),
    #[error(transparent)]
    UnknownVms(UnknownVms),
    #[error("VM \"{0}\" has a place reserved already: confirm or cancel it first")]
    Pending(Arc<str>),
    #[error(
        "VM \"{vm}\" runs on {host} and may not leave it (its \"migratable\" is false, and the host is neither down nor in error): stop it first"
    )]
    NotMigratable {
        vm: Arc<str>,
        /// Id of the host where it runs.
        host: Arc<str>,
    },
    #[error(
        "policy \"{0}\" forbids the search for a better plan: who comes first is served first; ask without search"
    )]
    SearchForbidden(Arc<str>),
    #[error("{}", unheeded(.0))]
    Unheeded(Vec<UnheededNeed>),
    #[error("the draw must be 0 or more and less than 1, not {0}")]
    BadDraw(f64),
    #[error(
        "what follows from the placement by entry \"{entry}\" of the policy cannot be written: {error}"
    )]
    Effects {
        entry: Arc<str>,
        error: InventoryError,
    },
    /// The work that it belongs to ended before.
    #[error(transparent)]
    Interrupted(#[from] InterruptedError),
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    #[error(transparent)]
    Refusal(#[from] DecisionError),
}

fn unheeded(needs: &[UnheededNeed]) -> String {
    let mut text = String::new();
    for need in needs {
        text += &format!("{need}; ");
    }
    let names: Vec<&str> = needs.iter().map(|need| &*need.need).collect();
    text + &format!(
        "add such a filter to the policy, or let it say what becomes of {} under \"unheeded-needs\" (warn or ignore)",
        names.join(", ")
    )
}

/// Why a decision cannot be explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum ExplainError {
    #[error("decision {0} is not among the ones that are remembered")]
    Forgotten(u64),
    /// It was made, and as many later ones are recorded as are at all.
    #[error("decision {number} is no longer recorded: {why}")]
    NotRecorded { number: u64, why: String },
    /// What is needed for it is no longer stored.
    #[error("decision {number} can no longer be explained: {why}")]
    NoLonger { number: u64, why: String },
    #[error("decision {0} is too long ago: the inventory of then is no longer remembered")]
    TooLongAgo(u64),
    #[error(transparent)]
    Refusal(#[from] DecisionError),
}
