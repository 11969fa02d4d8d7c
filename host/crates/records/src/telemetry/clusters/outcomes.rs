//! The words by which what happens in a cluster is counted.

/// How a decision ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A host was chosen.
    Placed,
    /// No host may run the VM.
    Rejected,
    /// No decision was made: a unit failed, or a time limit was reached.
    Failed,
}

impl Outcome {
    pub(super) const ALL: [Self; 3] = [Self::Placed, Self::Rejected, Self::Failed];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Placed => "placed",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}

/// What became of a plan of moves that was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BalanceOutcome {
    /// It is kept, to be looked at.
    Planned,
    /// There was nothing to be moved or told.
    NothingToMove,
    /// A unit failed, or the cluster did not decide.
    Failed,
}

impl BalanceOutcome {
    pub(super) const ALL: [Self; 3] = [Self::Planned, Self::NothingToMove, Self::Failed];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::NothingToMove => "nothing-to-move",
            Self::Failed => "failed",
        }
    }
}

/// How a reservation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationEnd {
    /// Its VM runs there.
    Confirmed,
    /// Its time was up.
    Expired,
    /// The place was given back.
    Released,
    /// The host went down.
    HostLost,
}

impl ReservationEnd {
    pub(super) const ALL: [Self; 4] = [
        Self::Confirmed,
        Self::Expired,
        Self::Released,
        Self::HostLost,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Expired => "expired",
            Self::Released => "released",
            Self::HostLost => "host-lost",
        }
    }
}

/// What became of a move of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveChange {
    /// A place is reserved where the VM is to go.
    Begun,
    /// The VM runs there.
    Confirmed,
    /// It was not confirmed in time.
    Expired,
    /// It was given up.
    Cancelled,
    /// The cluster has changed so that the move is none any more.
    Stale,
}

impl MoveChange {
    pub(super) const ALL: [Self; 5] = [
        Self::Begun,
        Self::Confirmed,
        Self::Expired,
        Self::Cancelled,
        Self::Stale,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Confirmed => "confirmed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Stale => "stale",
        }
    }
}
