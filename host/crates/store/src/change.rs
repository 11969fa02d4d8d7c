//! What can be asked of the store: changes, as data.

use super::saved::SavedSignature;

/// One change. Bodies are JSON text that the caller makes and reads; times are what
/// the caller counts in, and ids are compared byte by byte.
///
/// Whatever is put replaces what was there under the same key. To remove what is not
/// there is no error. What belongs to a cluster is refused if the cluster was not put
/// before ([`StoreError::UnknownCluster`](super::StoreError::UnknownCluster)), removals
/// apart, which then have nothing to do.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields are told of at each variant")]
pub enum Change {
    /// A cluster: what the deployment knows of it besides its rows.
    PutCluster {
        cluster: String,
        body: String,
    },
    /// A cluster with everything of it: rows, counters, decisions, plans, answers, and
    /// what came of reservations.
    RemoveCluster {
        cluster: String,
    },
    /// A host, with its place in the order in which hosts are listed.
    PutHost {
        cluster: String,
        id: String,
        position: i64,
        body: String,
    },
    RemoveHost {
        cluster: String,
        id: String,
    },
    /// A VM; its pending and its other row are kept apart and can both be there.
    PutVm {
        cluster: String,
        id: String,
        pending: bool,
        body: String,
    },
    /// One of the two rows of a VM.
    RemoveVm {
        cluster: String,
        id: String,
        pending: bool,
    },
    PutTenant {
        cluster: String,
        id: String,
        body: String,
    },
    RemoveTenant {
        cluster: String,
        id: String,
    },
    /// A group, with its place in the order in which groups are listed.
    PutGroup {
        cluster: String,
        id: String,
        position: i64,
        body: String,
    },
    RemoveGroup {
        cluster: String,
        id: String,
    },
    /// What is measured of a host; and noted of what is watched there.
    PutMeasured {
        cluster: String,
        id: String,
        body: String,
    },
    RemoveMeasured {
        cluster: String,
        id: String,
    },
    /// The chain that decides in a cluster.
    PutChain {
        cluster: String,
        body: String,
    },
    /// All hosts, VMs, tenants and groups of a cluster, and what is measured, in place of those that were
    /// there. Of rows with the same key the last one counts.
    ReplaceInventory {
        cluster: String,
        hosts: Vec<HostRow>,
        vms: Vec<VmRow>,
        tenants: Vec<TenantRow>,
        groups: Vec<GroupRow>,
        measured: Vec<MeasuredRow>,
    },
    /// Where a cluster's numbers and its clock stand.
    Counter {
        cluster: String,
        counters: Counters,
    },
    /// A plan of moves, found by its number.
    PutPlan {
        cluster: String,
        number: u64,
        body: String,
    },
    RemovePlan {
        cluster: String,
        number: u64,
    },
    /// A decision that was made on the rows as they are after the changes before this
    /// one. How they were is remembered up to
    /// [`StoreOptions::history_bytes`](super::StoreOptions::history_bytes), as long as
    /// the decision is. The oldest are removed when there are more than
    /// [`StoreOptions::decisions`](super::StoreOptions::decisions), in batches: up to a
    /// sixteenth more is there for a while.
    RecordDecision {
        cluster: String,
        number: u64,
        at: i64,
        body: String,
    },
    /// A revision of a policy; the one with the highest number is in force. The oldest
    /// are removed when there are more than
    /// [`StoreOptions::revisions`](super::StoreOptions::revisions).
    PutPolicy {
        name: String,
        revision: u64,
        at: i64,
        by: String,
        body: String,
    },
    /// What a copy of the rows differed by, on which the last decisions were made instead:
    /// those that were recorded up to `last`, which is the last one of all, and from the
    /// first of `turns` on. It is remembered as long as they are, within the same bound.
    RecordCopy {
        cluster: String,
        last: u64,
        turns: Vec<CopyTurn>,
    },
    /// A policy with its history.
    RemovePolicy {
        name: String,
    },
    /// The bytes of a unit, found by their digest, and the name that it goes by.
    PutArtifact {
        digest: String,
        name: String,
        bytes: Vec<u8>,
        /// One that a trusted key has made takes the place of the one that is kept; any
        /// other does only where none is kept.
        signature: Option<SavedSignature>,
    },
    RemoveArtifact {
        digest: String,
    },
    /// What is known of a unit by its name: the digest in force, if any, and whether
    /// it may be used.
    PutUnit {
        name: String,
        digest: Option<String>,
        enabled: bool,
        body: String,
    },
    /// A unit; its events stay.
    RemoveUnit {
        name: String,
    },
    /// Something that happened to a unit. The last
    /// [`StoreOptions::unit_events`](super::StoreOptions::unit_events) of all units are kept.
    UnitEvent(UnitEvent),
    /// What came of the last reservation of a VM that ended without the VM running.
    PutEndedReservation {
        cluster: String,
        vm: String,
        body: String,
    },
    RemoveEndedReservation {
        cluster: String,
        vm: String,
    },
    /// The answer to a request that came with a key, to be repeated. Answers are kept
    /// until [`Change::ForgetAnswers`].
    Idempotency {
        cluster: String,
        key: String,
        at: i64,
        body: String,
    },
    /// Remove one answer of a cluster.
    ForgetAnswer {
        /// The cluster.
        cluster: String,
        /// The key that the request came with.
        key: String,
    },
    /// Remove a cluster's answers from before a time.
    ForgetAnswers {
        cluster: String,
        before: i64,
    },
    /// Anything else of which there is one.
    Setting {
        key: String,
        body: String,
    },
    RemoveSetting {
        key: String,
    },
}

/// What changed on a copy before a decision was made on it.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyTurn {
    /// The number of the decision.
    pub decision: u64,
    /// Rows that were put or removed since the decision before, or since the copy was made.
    pub rows: Vec<Change>,
}

/// Where the numbers of a cluster stand; all 0 before the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of the next decision.
    pub next_decision: u64,
    /// The time up to which the inventory was brought, in seconds.
    pub clock: i64,
    /// The number of the next plan of moves.
    pub next_plan: u64,
    /// No version of the inventory that anybody was told of is above this one.
    pub version: u64,
    /// How often the rows have changed.
    pub revision: u64,
}

/// A host as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRow {
    /// Unique in the cluster.
    pub id: String,
    /// The place in the order in which hosts are listed.
    pub position: i64,
    /// JSON of the caller.
    pub body: String,
}

/// A VM as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmRow {
    /// Unique in the cluster together with `pending`.
    pub id: String,
    /// Whether the row is a reservation's.
    pub pending: bool,
    /// JSON of the caller.
    pub body: String,
}

/// What is measured of a host, and noted of what is watched there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredRow {
    /// The id of the host.
    pub id: String,
    /// JSON of the caller.
    pub body: String,
}

/// A tenant as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRow {
    /// Unique in the cluster.
    pub id: String,
    /// JSON of the caller.
    pub body: String,
}

/// A group as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    /// Unique in the cluster.
    pub id: String,
    /// The place in the order in which groups are listed.
    pub position: i64,
    /// JSON of the caller.
    pub body: String,
}

/// Something that happened to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitEvent {
    /// The unit.
    pub name: String,
    /// The digest that it is about, if there is one.
    pub digest: Option<String>,
    /// When.
    pub at: i64,
    /// The kind of event, in a word of the caller.
    pub what: String,
    /// JSON of the caller.
    pub body: String,
}

/// What a change or row is taken to weigh in the queue besides its texts.
const OVERHEAD: usize = 128;

impl Change {
    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let texts = match self {
            Self::PutCluster { cluster, body } | Self::PutChain { cluster, body } => {
                cluster.len() + body.len()
            }
            Self::RemoveCluster { cluster } | Self::ForgetAnswers { cluster, .. } => cluster.len(),
            Self::PutHost {
                cluster, id, body, ..
            }
            | Self::PutVm {
                cluster, id, body, ..
            }
            | Self::PutTenant { cluster, id, body }
            | Self::PutMeasured { cluster, id, body }
            | Self::PutGroup {
                cluster, id, body, ..
            } => cluster.len() + id.len() + body.len(),
            Self::RemoveHost { cluster, id }
            | Self::RemoveVm { cluster, id, .. }
            | Self::RemoveTenant { cluster, id }
            | Self::RemoveMeasured { cluster, id }
            | Self::RemoveGroup { cluster, id } => cluster.len() + id.len(),
            Self::ReplaceInventory {
                cluster,
                hosts,
                vms,
                tenants,
                groups,
                measured,
            } => {
                let row = |id: &String, body: &String| id.len() + body.len() + OVERHEAD;
                cluster.len()
                    + hosts.iter().map(|r| row(&r.id, &r.body)).sum::<usize>()
                    + vms.iter().map(|r| row(&r.id, &r.body)).sum::<usize>()
                    + tenants.iter().map(|r| row(&r.id, &r.body)).sum::<usize>()
                    + groups.iter().map(|r| row(&r.id, &r.body)).sum::<usize>()
                    + measured.iter().map(|r| row(&r.id, &r.body)).sum::<usize>()
            }
            Self::Counter { cluster, .. } | Self::RemovePlan { cluster, .. } => cluster.len(),
            Self::RecordCopy { cluster, turns, .. } => {
                let rows = turns.iter().flat_map(|turn| &turn.rows);
                cluster.len() + rows.map(Self::bytes).sum::<usize>()
            }
            Self::RecordDecision { cluster, body, .. } | Self::PutPlan { cluster, body, .. } => {
                cluster.len() + body.len()
            }
            Self::PutPolicy { name, by, body, .. } => name.len() + by.len() + body.len(),
            Self::RemovePolicy { name } | Self::RemoveUnit { name } => name.len(),
            Self::PutArtifact {
                digest,
                name,
                bytes,
                signature,
            } => {
                let signature = signature.as_ref().map_or(0, |it| it.bytes.len());
                digest.len() + name.len() + bytes.len() + signature
            }
            Self::RemoveArtifact { digest } => digest.len(),
            Self::PutUnit { name, body, .. } => name.len() + body.len(),
            Self::UnitEvent(event) => event.name.len() + event.what.len() + event.body.len(),
            Self::Idempotency {
                cluster, key, body, ..
            } => cluster.len() + key.len() + body.len(),
            Self::PutEndedReservation { cluster, vm, body } => {
                cluster.len() + vm.len() + body.len()
            }
            Self::RemoveEndedReservation { cluster, vm } => cluster.len() + vm.len(),
            Self::ForgetAnswer { cluster, key } => cluster.len() + key.len(),
            Self::Setting { key, body } => key.len() + body.len(),
            Self::RemoveSetting { key } => key.len(),
        };
        texts + OVERHEAD
    }

    /// What it is about, for errors.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::PutCluster { .. } => "the body of a cluster",
            Self::PutHost { .. } => "the row of a host",
            Self::PutVm { .. } => "the row of a VM",
            Self::PutTenant { .. } => "the row of a tenant",
            Self::PutMeasured { .. } => "what is measured of a host",
            Self::PutChain { .. } => "the chain that decides",
            Self::PutGroup { .. } => "the row of a group",
            Self::ReplaceInventory { .. } => "a row of an inventory",
            Self::RecordDecision { .. } => "the record of a decision",
            Self::RecordCopy { .. } => "a row of a copy of an inventory",
            Self::PutPlan { .. } => "a plan of moves",
            Self::PutPolicy { .. } => "a policy",
            Self::PutArtifact { .. } => "the code of a unit",
            Self::UnitEvent(_) => "the event of a unit",
            Self::PutEndedReservation { .. } => "an ended reservation",
            Self::Idempotency { .. } => "an answer",
            Self::Setting { .. } => "a setting",
            _ => "a name",
        }
    }
}
