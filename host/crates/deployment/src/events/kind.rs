//! What events are of.

use serde::{Serialize, Serializer};

use placewright_document::Word;

macro_rules! kinds {
    ($($(#[doc = $meaning:literal])+ $(#[$default:meta])? $kind:ident = $word:literal,)*) => {
        /// What happened, in one word.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, utoipa::ToSchema)]
        #[schema(rename_all = "kebab-case")]
        pub enum EventKind {
            $($(#[doc = $meaning])+ $(#[$default])? $kind,)*
        }

        impl Word for EventKind {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$kind),)*];
        }

        impl EventKind {
            /// What it tells, for people.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($meaning),+).trim_ascii(),)*
                }
            }
        }
    };
}

kinds! {
    /// Events were missed that are no longer stored: read again what you follow.
    #[default]
    Reset = "reset",
    /// A cluster was created.
    ClusterCreated = "cluster-created",
    /// A cluster was removed.
    ClusterRemoved = "cluster-removed",
    /// A cluster has another policy, or other settings of its policy.
    PolicyAttached = "policy-attached",
    /// A policy has a new revision.
    PolicyChanged = "policy-changed",
    /// The new revision of a policy lacks a filter that the last one had.
    PolicyLostFilters = "policy-lost-filters",
    /// A policy was removed.
    PolicyRemoved = "policy-removed",
    /// The file of a policy was refused.
    PolicyRefused = "policy-refused",
    /// The file of a policy is gone; clusters that use the policy keep it.
    PolicyKeptAlthoughDeleted = "policy-kept-although-deleted",
    /// Nothing is decided in a cluster: no policy can run there.
    ClusterWithoutPolicy = "cluster-without-policy",
    /// A cluster is stopped: its rows in the store cannot be read.
    ClusterStopped = "cluster-stopped",
    /// A cluster that a fault of the program had ended runs again, as it was stored.
    ClusterRestarted = "cluster-restarted",
    /// A place is reserved for a VM until it is confirmed.
    VmPlaced = "vm-placed",
    /// A VM runs where its place was reserved.
    VmConfirmed = "vm-confirmed",
    /// A VM runs on another host than before.
    VmMoved = "vm-moved",
    /// A VM runs on its host with other amounts or values than before.
    VmResized = "vm-resized",
    /// The place that was reserved for a VM was given back.
    VmCancelled = "vm-cancelled",
    /// The place that was reserved for a VM was not confirmed in time.
    ReservationExpired = "reservation-expired",
    /// The place that was reserved for a VM ended: its host is down or faulty.
    ReservationLost = "reservation-lost",
    /// Hosts, VMs, groups or tenants were changed.
    InventoryChanged = "inventory-changed",
    /// The state of a host has changed.
    HostStateChanged = "host-state-changed",
    /// A plan of moves was made; nothing is begun.
    PlanMade = "plan-made",
    /// Moves of a plan were begun: their places are reserved.
    PlanBegun = "plan-begun",
    /// A plan that continues by itself has no moves left.
    PlanEnded = "plan-ended",
    /// A plan does not continue by itself any more: who had it do so may not operate there now.
    PlanHalted = "plan-halted",
    /// A plan was cancelled: places of moves that were not confirmed are free again.
    PlanCancelled = "plan-cancelled",
    /// The server has begun to restart VMs of hosts that are down or in error: the moves of its plan that are begun are to be carried out.
    RestartBegun = "restart-begun",
    /// VMs of hosts that are down or in error cannot be restarted by the server.
    RestartFailed = "restart-failed",
    /// A periodic plan could not be made.
    BalanceFailed = "balance-failed",
    /// A file of a unit was found.
    UnitSeen = "unit-seen",
    /// A candidate for a unit was refused; the version in force stays.
    UnitRefused = "unit-refused",
    /// A file that was refused is tried again later.
    FileWaits = "file-waits",
    /// A unit is in force.
    UnitInForce = "unit-in-force",
    /// A unit passed all checks but is not in force.
    UnitHeld = "unit-held",
    /// The file of a unit is gone; policies that use the unit keep it.
    UnitKeptAlthoughDeleted = "unit-kept-although-deleted",
    /// A unit is no longer in force.
    UnitRemoved = "unit-removed",
    /// A unit is no longer trusted, and no longer in force.
    UnitDistrusted = "unit-distrusted",
    /// A unit was rolled back to an earlier digest.
    UnitRolledBack = "unit-rolled-back",
    /// A unit kept failing; the version before it is in force again.
    UnitReturned = "unit-returned",
    /// A unit keeps failing, and there is no earlier version to return to.
    UnitNotReturned = "unit-not-returned",
    /// A unit replaces one of the same name that comes with the program, in all policies.
    UnitTakesName = "unit-takes-name",
    /// Units of this name are disabled.
    UnitDisabled = "unit-disabled",
    /// Units of this name are enabled again.
    UnitEnabled = "unit-enabled",
    /// A unit is pinned: it stays whatever its file becomes.
    UnitPinned = "unit-pinned",
    /// A unit is no longer pinned: it follows its file again.
    UnitUnpinned = "unit-unpinned",
    /// A unit keeps failing and is paused.
    UnitPaused = "unit-paused",
    /// A paused unit is tried again.
    UnitTriedAgain = "unit-tried-again",
    /// A paused unit works again.
    UnitRecovered = "unit-recovered",
    /// A unit answers differently although nothing has changed: its answers are no longer cached.
    UnitQuarantined = "unit-quarantined",
    /// A candidate runs as the shadow of a unit.
    ShadowBegan = "shadow-began",
    /// A shadow was discarded.
    ShadowDiscarded = "shadow-discarded",
    /// A shadow came into force.
    ShadowPromoted = "shadow-promoted",
    /// A watched folder, or a file in it, cannot be read.
    FolderTrouble = "folder-trouble",
    /// The list of units in force cannot be stored for the next start.
    LibraryNotKept = "library-not-kept",
    /// A client had something noted that it did or saw.
    Noted = "noted",
    /// A client had a warning noted.
    NotedWarning = "noted-warning",
    /// A quota of a tenant is new, or has another revision.
    QuotaChanged = "quota-changed",
    /// A quota of a tenant was removed.
    QuotaRemoved = "quota-removed",
}

impl EventKind {
    /// Whether somebody should look at it: it is a warning in the log.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::PolicyRefused
                | Self::PolicyLostFilters
                | Self::BalanceFailed
                | Self::RestartFailed
                | Self::ReservationLost
                | Self::ClusterWithoutPolicy
                | Self::ClusterStopped
                | Self::ClusterRestarted
                | Self::UnitRefused
                | Self::UnitDistrusted
                | Self::UnitPaused
                | Self::UnitReturned
                | Self::UnitNotReturned
                | Self::UnitTakesName
                | Self::UnitQuarantined
                | Self::FolderTrouble
                | Self::LibraryNotKept
                | Self::NotedWarning
        )
    }

    /// Whether it happens as often as VMs come and go: then it is logged as a detail.
    pub fn is_frequent(self) -> bool {
        matches!(
            self,
            Self::VmPlaced
                | Self::VmConfirmed
                | Self::VmMoved
                | Self::VmResized
                | Self::VmCancelled
        )
    }
}

impl Serialize for EventKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_book_lists_every_kind() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../book/src/events.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let listed: Vec<String> = rows.map(str::to_owned).collect();
        let kinds = EventKind::WORDS.iter();
        let wanted: Vec<String> = kinds
            .map(|(word, kind)| {
                let keys = kind.keys().iter().map(|key| format!("`{key}`"));
                let keys = keys.collect::<Vec<_>>().join(", ");
                format!("| `{word}` | {} | {keys} |", kind.meaning())
            })
            .collect();
        assert_eq!(listed, wanted);
    }

    #[test]
    fn every_kind_has_a_word_of_its_own_and_a_meaning() {
        let words: BTreeSet<&str> = EventKind::WORDS.iter().map(|(word, _)| *word).collect();
        assert_eq!(words.len(), EventKind::WORDS.len());
        for (word, kind) in EventKind::WORDS {
            assert!(kind.meaning().ends_with('.'), "{word}");
            assert!(word.bytes().all(|it| it == b'-' || it.is_ascii_lowercase()));
        }
    }
}
