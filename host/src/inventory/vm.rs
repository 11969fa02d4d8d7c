//! A VM that has a place.

use std::sync::Arc;

use super::Shape;
use crate::model::Vm;

/// A VM that runs on a host, or has a place reserved on it.
#[derive(Debug, Clone)]
pub struct VmEntry {
    pub vm: Arc<Vm>,
    /// What it needs.
    pub shape: Shape,
    /// The slot of its host.
    pub slot: u32,
    /// Its place is reserved and it does not run there yet.
    pub pending: bool,
    /// Second after which a reservation ends by itself; None: it does not.
    pub expires: Option<i64>,
}
