//! What is read back.

use std::collections::BTreeMap;

use super::change::{Counters, GroupRow, HostRow, MeasuredRow, TenantRow, VmRow};

/// What a start needs, the rows of clusters and the bytes of artifacts apart: those
/// are large, and read one by one ([`Store::inventory`](super::Store::inventory),
/// [`Store::artifact`](super::Store::artifact)).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved {
    /// By name.
    pub clusters: Vec<SavedCluster>,
    /// The revision in force of each policy, by name.
    pub policies: Vec<PolicyRevision>,
    /// By digest.
    pub artifacts: Vec<SavedArtifact>,
    /// By name.
    pub units: Vec<SavedUnit>,
    /// By key.
    pub settings: BTreeMap<String, String>,
}

/// A cluster without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCluster {
    /// Its name.
    pub name: String,
    /// JSON of the caller.
    pub body: String,
    /// As [`Change::Counter`](super::Change::Counter) put them last.
    pub counters: Counters,
}

/// The rows of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedInventory {
    /// By position, then id.
    pub hosts: Vec<HostRow>,
    /// Those that are pending after the others, each by id.
    pub vms: Vec<VmRow>,
    /// By id.
    pub tenants: Vec<TenantRow>,
    /// By position, then id.
    pub groups: Vec<GroupRow>,
    /// By id.
    pub measured: Vec<MeasuredRow>,
    /// VMs that were taken off their hosts on a copy, as they ran there; of a cluster itself
    /// there are none. By id.
    pub vacated: Vec<VmRow>,
}

/// A cluster as it was when a decision was made, or why that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedPast {
    /// No such decision is recorded.
    NoDecision {
        /// The oldest that is; none if there is none.
        oldest: Option<u64>,
    },
    /// It is not known for decisions before this one.
    Gone {
        /// The first one of which it is known.
        since: u64,
        /// Why it is not there any more.
        why: Gone,
    },
    /// It is known.
    Known(Box<Then>),
}

/// Why it is not known how a cluster was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// There was more than the bound.
    Bytes,
    /// An earlier version of the program did not keep it.
    Version,
}

/// A cluster as it was when a decision was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Then {
    /// The decision.
    pub decision: SavedDecision,
    /// As [`Change::PutCluster`](super::Change::PutCluster) put it.
    pub body: String,
    /// As [`Change::PutChain`](super::Change::PutChain) put it; none if it did not.
    pub chain: Option<String>,
    /// The rows.
    pub inventory: SavedInventory,
}

/// What happened to a cluster, decision by decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The number of the oldest decision that is recorded.
    pub oldest: Option<u64>,
    /// From which decision on it is known how the cluster was, and why not before it; None: of all
    /// that are recorded.
    pub dropped: Option<(u64, Gone)>,
    /// The decisions in order, one at least.
    pub decisions: Vec<SavedDecision>,
    /// What rows became after each of them and before the next one, in order.
    pub changes: Vec<RecordedChange>,
    /// As [`Change::PutCluster`](super::Change::PutCluster) had put it when the first one was made.
    pub body: String,
    /// The rows when the first one was made.
    pub inventory: SavedInventory,
}

/// What a row became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The number of the decision after which it did.
    pub decision: u64,
    /// What the row is of.
    pub what: RowKind,
    /// Its id; empty for what there is one of.
    pub id: String,
    /// JSON of the caller when the decision was made; None: there was no such row.
    pub before: Option<String>,
    /// The same when the next one was made, or now.
    pub after: Option<String>,
}

/// What a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "as the rows of changes")]
pub enum RowKind {
    Cluster,
    Host,
    Vm,
    PendingVm,
    Tenant,
    Group,
    Measured,
    Chain,
}

/// A revision of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRevision {
    /// The policy.
    pub name: String,
    /// Its number.
    pub revision: u64,
    /// When it was put.
    pub at: i64,
    /// Who put it.
    pub by: String,
    /// JSON of the caller.
    pub body: String,
}

/// An artifact without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedArtifact {
    /// What it is found by.
    pub digest: String,
    /// The name of the unit.
    pub name: String,
    /// How many bytes it has.
    pub length: u64,
}

/// The signature of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedSignature {
    /// As it came.
    pub bytes: Vec<u8>,
    /// The trusted key that had made it, by its name then. None: it was not checked.
    pub signer: Option<String>,
}

/// A unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedUnit {
    /// Its name.
    pub name: String,
    /// The digest in force.
    pub digest: Option<String>,
    /// Whether it may be used.
    pub enabled: bool,
    /// JSON of the caller.
    pub body: String,
}

/// A recorded decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedDecision {
    /// Its number in the cluster.
    pub number: u64,
    /// When it was made.
    pub at: i64,
    /// JSON of the caller.
    pub body: String,
}

/// A plan of moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPlan {
    /// Its number in the cluster.
    pub number: u64,
    /// JSON of the caller.
    pub body: String,
}

/// What came of the last reservation of a VM that ended without the VM running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedEndedReservation {
    /// Id of the VM.
    pub vm: String,
    /// JSON of the caller.
    pub body: String,
}

/// The answers of a cluster that are to be repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedAnswers {
    /// The newest, the oldest of them first.
    pub answers: Vec<SavedAnswer>,
    /// The keys of older ones that were not read, as there are too many bytes of them.
    pub left_out: Vec<String>,
}

/// An answer to be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedAnswer {
    /// The key that the request came with.
    pub key: String,
    /// When it was answered.
    pub at: i64,
    /// JSON of the caller.
    pub body: String,
}
