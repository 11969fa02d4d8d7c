//! What is kept and how well, and how it goes.

/// What a commit outlasts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it comes. After a loss of power the file is
    /// sound, but the last commits may be missing.
    #[default]
    Process,
    /// A loss of power too; each group of commits then waits for the disk.
    Power,
}

/// What is kept, and how well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// What a commit outlasts.
    pub durability: Durability,
    /// Recorded decisions kept of each cluster.
    pub decisions: usize,
    /// How many bytes these have at most with their requests, but for the last of them: with
    /// more the oldest are not recorded any more.
    pub decision_bytes: u64,
    /// How much may be kept of each cluster so that recorded decisions can be explained:
    /// what has changed since then, in bytes. With more the oldest goes, and decisions
    /// before it are recorded, but not explained.
    pub history_bytes: u64,
    /// Revisions kept of each policy; at least the one in force is.
    pub revisions: usize,
    /// How many bytes the revisions of a policy have at most that are in force no more.
    pub revision_bytes: u64,
    /// Events kept of all units together.
    pub unit_events: usize,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            decisions: 10_000,
            decision_bytes: 16 << 20,
            history_bytes: 48 << 20,
            revisions: 100,
            revision_bytes: 1 << 20,
            unit_events: 10_000,
        }
    }
}

/// Whether the store keeps what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// The last commit was made, and no damage was met.
    Works,
    /// A sentence that says why not and what to do. What was reported as failed is not
    /// tried again, but new submissions are, and without any the store tries by itself
    /// whether it works again; but a damaged file is one until it is opened anew.
    Fails(String),
}
