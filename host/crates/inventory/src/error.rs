//! Why an inventory refuses a change. A refused change leaves everything as it was.

use std::sync::Arc;

use crate::RefusedEntries;
use placewright_model::Kind;
use placewright_model::budget::Full;
use placewright_model::schema::AttributeError;

/// A change that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum InventoryError {
    #[error("host \"{0}\" is in the inventory already")]
    HostExists(Arc<str>),
    #[error("there is no host \"{0}\"")]
    UnknownHost(Arc<str>),
    #[error(
        "there is no host \"{0}\"; a VM is called so, and what was measured of VMs is given under \"vms\""
    )]
    IsVm(Arc<str>),
    #[error("host \"{host}\" still has {vms} VMs; move or remove them first")]
    HostInUse { host: Arc<str>, vms: usize },
    #[error("VM \"{0}\" runs already")]
    VmRuns(Arc<str>),
    #[error("VM \"{0}\" has a place reserved already")]
    VmPending(Arc<str>),
    #[error("VM \"{0}\" does not run and has no place reserved")]
    UnknownVm(Arc<str>),
    #[error("group \"{group}\" has no rule that \"{key}\" could be about; give the rule with it")]
    NoRule { group: Arc<str>, key: &'static str },
    #[error(transparent)]
    Attribute(#[from] AttributeError),
    #[error(transparent)]
    Full(#[from] Full),
    /// Entries of a document of changes that do not go together with the cluster as it is.
    #[error(transparent)]
    Entries(#[from] RefusedEntries),
    #[error("{entity} \"{id}\": there is no column \"{column}\" in {table}")]
    UnknownColumn {
        entity: &'static str,
        id: Arc<str>,
        table: Arc<str>,
        column: Arc<str>,
    },
    #[error("{entity} \"{id}\": there is no table \"{table}\"")]
    UnknownTable {
        entity: &'static str,
        id: Arc<str>,
        table: Arc<str>,
    },
    #[error("{entity} \"{id}\": {table} has no row {row}: it has {rows} rows, counted from 0")]
    NoRow {
        entity: &'static str,
        id: Arc<str>,
        table: Arc<str>,
        row: usize,
        rows: usize,
    },
    #[error("{entity} \"{id}\": row {row} of {table} is removed, and set or removed besides")]
    RowRemoved {
        entity: &'static str,
        id: Arc<str>,
        table: Arc<str>,
        row: usize,
    },
    #[error("{entity} \"{id}\": a row of {table} needs {column}")]
    Missing {
        entity: &'static str,
        id: Arc<str>,
        table: Arc<str>,
        column: Arc<str>,
    },
    #[error("{entity} \"{id}\": {column} is of kind {wanted}, not {given}")]
    WrongKind {
        entity: &'static str,
        id: Arc<str>,
        column: Arc<str>,
        wanted: Kind,
        given: Kind,
    },
    #[error("{entity} \"{id}\": {column} is worked out by the runtime and cannot be given")]
    NotGiven {
        entity: &'static str,
        id: Arc<str>,
        column: Arc<str>,
    },
    #[error("{entity} \"{id}\": {column} must be within ±(2^53 - 1) and not NaN or infinite")]
    OutOfRange {
        entity: &'static str,
        id: Arc<str>,
        column: Arc<str>,
    },
    #[error(
        "VM \"{vm}\" cannot be counted on host \"{host}\": its VMs would take more than 2^53 - 1 of {what} together"
    )]
    SumTooGreat {
        vm: Arc<str>,
        host: Arc<str>,
        what: &'static str,
    },
    #[error("{entity} \"{id}\": {column} must be {wanted}")]
    OutOfBounds {
        entity: &'static str,
        id: Arc<str>,
        column: Arc<str>,
        wanted: String,
    },
}

impl InventoryError {
    /// Whether it is that a host or VM is not there.
    pub fn is_about_missing(&self) -> bool {
        matches!(
            self,
            Self::UnknownHost(_) | Self::IsVm(_) | Self::UnknownVm(_)
        )
    }

    /// The same where a document had no lists that its sender knows of: that of the first entry,
    /// without its position.
    #[must_use]
    pub fn of_one_entry(self) -> Self {
        match self {
            Self::Entries(entries) => *entries.into_first().why,
            other => other,
        }
    }
}
