//! Why a replay comes to no end.

use placewright_chain::ChainError;
use placewright_document::FleetEvent;
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
    /// VMs of an event came to no decision.
    #[error("line {line}, at second {time}: VMs came to no decision: {source}")]
    EventPlace {
        /// The line of the event.
        line: u32,
        /// Its time.
        time: i64,
        /// Why.
        source: Box<PlaceError>,
    },
    /// An event does not go together with the cluster as it is then.
    #[error("line {line}, at second {time}: {source}")]
    Event {
        /// The line of the event.
        line: u32,
        /// Its time.
        time: i64,
        /// Why.
        source: Box<InventoryError>,
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

impl ReplayError {
    /// VMs of an event came to no decision.
    pub(super) fn place(event: &FleetEvent, source: PlaceError) -> Self {
        Self::EventPlace {
            line: event.line,
            time: event.time,
            source: Box::new(source),
        }
    }

    /// An event does not go together with the cluster as it is then.
    pub(super) fn event(event: &FleetEvent, source: InventoryError) -> Self {
        Self::Event {
            line: event.line,
            time: event.time,
            source: Box::new(source),
        }
    }
}
