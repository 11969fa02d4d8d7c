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
    /// Events were missed that are no longer remembered: read anew what you follow.
    #[default]
    Reset = "reset",
    /// A cluster was made.
    ClusterCreated = "cluster-created",
    /// A cluster was taken out.
    ClusterRemoved = "cluster-removed",
    /// Another policy decides in a cluster, or is set otherwise there.
    PolicyAttached = "policy-attached",
    /// A policy has a new revision.
    PolicyChanged = "policy-changed",
    /// The new revision of a policy lacks a filter that the last one had.
    PolicyLostFilters = "policy-lost-filters",
    /// A policy was taken out.
    PolicyRemoved = "policy-removed",
    /// The file of a policy is not taken over.
    PolicyRefused = "policy-refused",
    /// The file of a policy is gone, and clusters go on with it.
    PolicyKeptAlthoughDeleted = "policy-kept-although-deleted",
    /// Nothing is decided in a cluster: no policy can run there.
    ClusterWithoutPolicy = "cluster-without-policy",
    /// A cluster stands still: its rows in the store cannot be read.
    ClusterStopped = "cluster-stopped",
    /// A cluster that a fault of the program had ended goes on as it was kept.
    ClusterRestarted = "cluster-restarted",
    /// A VM has got a place, which is reserved until it is confirmed.
    VmPlaced = "vm-placed",
    /// A VM runs where its place was reserved.
    VmConfirmed = "vm-confirmed",
    /// A VM runs on another host than before.
    VmMoved = "vm-moved",
    /// The place that was reserved for a VM was given back.
    VmCancelled = "vm-cancelled",
    /// The place that was reserved for a VM was not confirmed in time.
    ReservationExpired = "reservation-expired",
    /// Hosts, VMs, groups or tenants were changed.
    InventoryChanged = "inventory-changed",
    /// The state of a host is another one.
    HostStateChanged = "host-state-changed",
    /// A plan of moves was made; nothing is begun.
    PlanMade = "plan-made",
    /// Moves of a plan were begun: their places are reserved.
    PlanBegun = "plan-begun",
    /// A plan that goes on by itself has no moves any more to begin or to wait for.
    PlanEnded = "plan-ended",
    /// A plan was cancelled: places of moves that were not confirmed are free again.
    PlanCancelled = "plan-cancelled",
    /// No plan could be made that was due.
    BalanceFailed = "balance-failed",
    /// A file was found that is to become a unit.
    UnitSeen = "unit-seen",
    /// A candidate for a unit is not let in; what was in force goes on.
    UnitRefused = "unit-refused",
    /// A file that was refused is tried again later.
    FileWaits = "file-waits",
    /// A unit is in force.
    UnitInForce = "unit-in-force",
    /// A unit passed all checks and is not in force.
    UnitHeld = "unit-held",
    /// The file of a unit is gone, and policies go on with it.
    UnitKeptAlthoughDeleted = "unit-kept-although-deleted",
    /// A unit is not in force any more.
    UnitRemoved = "unit-removed",
    /// A unit that was let in is not trusted any more, and not in force.
    UnitDistrusted = "unit-distrusted",
    /// A unit went back to an earlier digest.
    UnitRolledBack = "unit-rolled-back",
    /// A unit kept failing, and the version that was in force before it is again.
    UnitReturned = "unit-returned",
    /// A unit keeps failing, and no version that was in force before it can be again.
    UnitNotReturned = "unit-not-returned",
    /// A unit replaces one of the same name that comes with the program, in all policies.
    UnitTakesName = "unit-takes-name",
    /// No unit of that name is in force until it is enabled.
    UnitDisabled = "unit-disabled",
    /// Units of that name may be in force again.
    UnitEnabled = "unit-enabled",
    /// A unit stays whatever its file becomes.
    UnitPinned = "unit-pinned",
    /// A unit follows its file again.
    UnitUnpinned = "unit-unpinned",
    /// A unit keeps failing, and is not called for a while.
    UnitPaused = "unit-paused",
    /// A unit that was paused is called once more.
    UnitTriedAgain = "unit-tried-again",
    /// A unit that was paused works again.
    UnitRecovered = "unit-recovered",
    /// A unit answers differently though nothing has changed: its answers are not kept.
    UnitQuarantined = "unit-quarantined",
    /// A candidate judges beside a unit.
    ShadowBegan = "shadow-began",
    /// A candidate that judged beside a unit was discarded.
    ShadowDiscarded = "shadow-discarded",
    /// The candidate of a unit is in force.
    ShadowPromoted = "shadow-promoted",
    /// A folder that is watched, or a file in it, cannot be read.
    FolderTrouble = "folder-trouble",
    /// Which units are in force cannot be kept for the next start.
    LibraryNotKept = "library-not-kept",
    /// A client had something noted that it did or saw.
    Noted = "noted",
    /// A client had a warning noted.
    NotedWarning = "noted-warning",
}

impl EventKind {
    /// Whether somebody should look at it: it is a warning in the log.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::PolicyRefused
                | Self::PolicyLostFilters
                | Self::BalanceFailed
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
            Self::VmPlaced | Self::VmConfirmed | Self::VmMoved | Self::VmCancelled
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
            .map(|(word, kind)| format!("| `{word}` | {} |", kind.meaning()))
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
