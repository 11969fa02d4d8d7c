//! Why a replay comes to no end.

use placewright_chain::ChainError;
use placewright_inventory::InventoryError;
use placewright_scheduler::{BalanceError, PlaceError};

/// What stops a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Every VM of the trace is larger than a host of the fleet.
    #[error("{0} has no VM that a host of this fleet could run: make the hosts larger")]
    NothingFits(String),
    /// The policy cannot be run with these units.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The fleet or a VM does not fit the schema.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// A VM came to no decision.
    #[error("the VM of line {line} of the trace came to no decision: {source}")]
    Place {
        /// Where the trace tells of it.
        line: u64,
        /// Why.
        source: Box<PlaceError>,
    },
    /// A pass of the balance unit came to no plan.
    #[error("the balance pass at second {time} came to no plan: {source}")]
    Balance {
        /// When it was due.
        time: i64,
        /// Why.
        source: Box<BalanceError>,
    },
}
