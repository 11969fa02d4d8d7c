//! Changes to rows that follow from a placement.

use std::sync::Arc;

use super::Facts;

/// Whose table is written, and so how long what is written lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOwner {
    /// The placement of the VM of that id: gone when the VM leaves the host, or the
    /// reservation ends. Its tables are those below `hosts/vms`.
    Placement(Arc<str>),
    /// The VM of that id, for as long as the inventory knows it.
    Vm(Arc<str>),
    /// The tenant of that id.
    Tenant(Arc<str>),
    /// The host of that id.
    Host(Arc<str>),
    /// The cluster.
    Cluster,
}

/// When a write takes force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMoment {
    /// At once.
    Decided,
    /// When the VM of that place in the request is reported to run where it was
    /// placed; at once if it runs there already.
    Running,
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteChange {
    /// Add a row at the end.
    Append(Facts),
    /// Replace the values of a row, by its number among the owner's rows.
    Set(usize, Facts),
    /// Remove a row, by its number among the owner's rows.
    Remove(usize),
    /// Add so much of an amount to what the placement reserves (`memory`, `cpu`, or
    /// a name of the operator's); only for a placement.
    Reserve(Arc<str>, i64),
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    pub owner: WriteOwner,
    /// The table's name below its owner, for example `keys`.
    pub table: Arc<str>,
    pub moment: WriteMoment,
    /// The VM whose running it may wait for.
    pub vm: Arc<str>,
    pub change: WriteChange,
}
