//! Which keys events of a kind may have, besides those that all have.

use super::{Event, EventKind};

impl EventKind {
    /// The keys of what events of this kind are about. One may be missing where it is not known,
    /// and `by` where the reader may not know who it was.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Reset => &[],
            Self::ClusterCreated
            | Self::ClusterRemoved
            | Self::InventoryChanged
            | Self::QuotaChanged
            | Self::QuotaRemoved => &["cluster", "by"],
            Self::ClusterWithoutPolicy | Self::ClusterStopped | Self::ClusterRestarted => {
                &["cluster"]
            }
            Self::PolicyAttached | Self::BalanceFailed => &["cluster", "policy", "by"],
            Self::PolicyChanged
            | Self::PolicyLostFilters
            | Self::PolicyRemoved
            | Self::PolicyRefused
            | Self::PolicyKeptAlthoughDeleted => &["policy", "by"],
            Self::VmPlaced | Self::ReservationExpired | Self::ReservationLost => {
                &["cluster", "vm", "host", "decision", "by"]
            }
            Self::VmConfirmed | Self::VmMoved | Self::VmResized | Self::VmCancelled => {
                &["cluster", "vm", "host", "by"]
            }
            Self::HostStateChanged => &["cluster", "host", "by"],
            Self::PlanMade
            | Self::PlanBegun
            | Self::PlanEnded
            | Self::PlanHalted
            | Self::PlanCancelled
            | Self::RestartBegun
            | Self::RestartFailed => &["cluster", "plan", "policy", "by"],
            Self::UnitSeen | Self::FileWaits | Self::FolderTrouble | Self::LibraryNotKept => {
                &["by"]
            }
            Self::UnitRefused
            | Self::UnitInForce
            | Self::UnitHeld
            | Self::UnitKeptAlthoughDeleted
            | Self::UnitRemoved
            | Self::UnitDistrusted
            | Self::UnitRolledBack
            | Self::UnitTakesName
            | Self::UnitDisabled
            | Self::UnitEnabled
            | Self::UnitPinned
            | Self::UnitUnpinned
            | Self::ShadowBegan
            | Self::ShadowDiscarded
            | Self::ShadowPromoted => &["unit", "by"],
            Self::UnitReturned | Self::UnitNotReturned => &["cluster", "unit", "by"],
            Self::UnitPaused
            | Self::UnitTriedAgain
            | Self::UnitRecovered
            | Self::UnitQuarantined => &["cluster", "unit"],
            Self::Noted | Self::NotedWarning => &["cluster", "vm", "host", "by"],
        }
    }
}

impl Event {
    /// Keys that it has and that events of its kind do not have, as the contract says.
    pub(super) fn unknown_keys(&self) -> Vec<&'static str> {
        let has = [
            ("cluster", self.cluster.is_some()),
            ("unit", self.unit.is_some()),
            ("policy", self.policy.is_some()),
            ("vm", self.vm.is_some()),
            ("host", self.host.is_some()),
            ("decision", self.decision.is_some()),
            ("plan", self.plan.is_some()),
            ("by", self.by.is_some()),
        ];
        let known = self.kind.keys();
        let unknown = has.iter().filter(|(key, is)| *is && !known.contains(key));
        unknown.map(|(key, _)| *key).collect()
    }
}
