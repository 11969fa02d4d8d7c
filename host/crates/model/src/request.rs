//! What a caller asks of the scheduler.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Facts, Vm};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A VM of which a document says nothing but its id, as a text: one that the cluster knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedVm {
    /// The way to it in the document: `vms[2]`.
    pub path: Arc<str>,
    /// Its id.
    pub id: Arc<str>,
}

/// A request to place VMs, together on one host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Request {
    /// The VMs, usually one. A member that runs already is migrated.
    pub members: Vec<Vm>,
    /// Those of them that are named only. The cluster must know them; a request that was taken
    /// in has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedVm>,
    /// Columns of the table `request`, `now` and `draw` apart.
    pub facts: Facts,
    /// Seconds since 1970-01-01 UTC at which the decision is made.
    pub now: i64,
    /// The number in 0..1 that decides what is left to chance. None: the
    /// scheduler derives one from the cluster's seed and the decision's number,
    /// and records it.
    pub draw: Option<f64>,
    /// If not empty, only these hosts are considered.
    pub allowed: Vec<Arc<str>>,
    /// These hosts are not considered.
    pub excluded: Vec<Arc<str>>,
    /// If given, an administrator's choice: this host is taken without a unit being
    /// asked, if it is up. What follows from a placement follows all the same.
    pub forced: Option<Arc<str>>,
    /// Of the hosts that all filters left, only these are kept, if there is any.
    pub preferred: Vec<Arc<str>>,
    /// Decide, but change nothing.
    pub dry_run: bool,
    /// Of a batch: reserve nothing unless every VM finds a host. The VMs of one request
    /// go together anyway.
    #[serde(default, skip_serializing_if = "is_false")]
    pub all_or_nothing: bool,
    /// Seconds for which the places are reserved; 0: until somebody confirms or gives
    /// them back. None: as long as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_for: Option<i64>,
    /// Place VMs anew that run already on a host that is up.
    #[serde(default, skip_serializing_if = "is_false")]
    pub again: bool,
    /// By id of a VM, what it is to have no more of what the cluster knows of it: columns, tables,
    /// and lists of its pinning.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unset: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}
