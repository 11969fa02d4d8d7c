//! What is known of a cluster without a turn: how large it is, and what is wrong with it.

use std::sync::Arc;

use super::rates::Rates;
use super::{ClusterState, Counted, PausedUnit};
use placewright_sync::ArcSwap;
use placewright_sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What the thread of a cluster publishes for those who ask without a turn.
#[derive(Debug)]
pub(super) struct Glance {
    hosts: AtomicUsize,
    vms: AtomicUsize,
    pending: AtomicUsize,
    groups: AtomicUsize,
    /// The version of the inventory.
    version: AtomicU64,
    /// How often its rows have changed.
    revision: AtomicU64,
    health: ArcSwap<Health>,
    /// How often what decides, or what is wrong with it, has changed.
    rules: AtomicU64,
    rates: Rates,
}

/// By what a cluster decides, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    /// Revision of the policy that decides.
    pub policy_revision: u64,
    /// Why nothing is decided, if the policy cannot run.
    pub broken: Option<String>,
    /// Units that keep failing and are not called for a while.
    pub paused: Vec<PausedUnit>,
    /// Units whose answers are not kept.
    pub quarantined: Vec<Arc<str>>,
}

impl Default for Glance {
    fn default() -> Self {
        Self {
            hosts: AtomicUsize::default(),
            vms: AtomicUsize::default(),
            pending: AtomicUsize::default(),
            groups: AtomicUsize::default(),
            version: AtomicU64::default(),
            revision: AtomicU64::default(),
            health: ArcSwap::from_pointee(Health::default()),
            rules: AtomicU64::default(),
            rates: Rates::default(),
        }
    }
}

impl Glance {
    /// How many of each there were after the last turn.
    pub(super) fn counted(&self) -> Counted {
        Counted {
            hosts: self.hosts.load(Ordering::Relaxed),
            vms: self.vms.load(Ordering::Relaxed),
            pending: self.pending.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            version: self.version(),
        }
    }

    /// The version of the inventory after the last turn.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// How often the rows of the inventory had changed after the last turn.
    pub(super) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// How often what decides has changed.
    pub(super) fn rules(&self) -> u64 {
        self.rules.load(Ordering::Acquire)
    }

    /// Decisions of the last hour, by the minute.
    pub(super) fn rates(&self) -> &Rates {
        &self.rates
    }

    pub(super) fn health(&self) -> Arc<Health> {
        self.health.load_full()
    }
}

impl ClusterState {
    /// Publish how large the cluster is after a turn.
    pub(super) fn publish_counts(&self) {
        let (inventory, glance) = (self.inventory(), &self.glance);
        let counts = [
            (&glance.hosts, inventory.host_count()),
            (&glance.vms, inventory.running_count()),
            (&glance.pending, inventory.pending_count()),
            (&glance.groups, inventory.group_count()),
        ];
        for (published, count) in counts {
            published.store(count, Ordering::Relaxed);
        }
        glance
            .revision
            .store(self.kept_revision(), Ordering::Release);
        glance.version.store(inventory.version(), Ordering::Release);
    }

    /// Publish what is wrong with it; called where that changes.
    pub(super) fn publish_health(&self) {
        self.glance.health.store(Arc::new(Health {
            policy_revision: self.attached.revision,
            broken: self.broken.clone(),
            paused: self.paused_units(),
            quarantined: self.quarantined_units(),
        }));
        self.glance.rules.fetch_add(1, Ordering::AcqRel);
    }
}
