//! A copy of a cluster as it was after a turn, for those who only read.
//!
//! It is made when somebody reads and the last one is not of the present. All who asked
//! before it was made share it. Since it takes the cluster's thread as long as a copy of the
//! inventory does, there is rest between two of them: reads take a bounded share of that
//! thread, however many they are, and between two decisions at most one copy is made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::listed::{self, ListError, Part};
use super::recently_changed::RecentlyChanged;
use super::{ClusterState, Kept, WantedHosts, WantedVms, shown};
use crate::DeploymentError;
use placewright_chain::{Chain, UnheededInCluster};
use placewright_inventory::Inventory;

/// A copy is followed by a rest of so many times what it took.
const REST: u32 = 9;

/// The longest such rest.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Batches of more VMs publish a copy before they begin, so that reads need not wait for
/// their end.
pub(super) const LONG_BATCH: usize = 100;

/// A cluster as it was after a turn.
#[derive(Debug)]
pub struct Snapshot {
    /// The inventory, and what decides.
    kept: Kept,
    chain: Arc<Chain>,
    /// Why nothing can be decided, if the policy cannot run.
    broken: Option<String>,
    seed: u64,
    revision: u64,
    /// How often what decides has changed until then.
    rules: u64,
    recently_changed: Arc<RecentlyChanged>,
    /// When it was begun, and how long it took.
    begun: Instant,
    took: Duration,
}

impl Snapshot {
    /// The inventory's version: counts up with every single change of it.
    pub fn version(&self) -> u64 {
        self.inventory().version()
    }

    /// How often what decides had changed.
    pub(super) fn rules(&self) -> u64 {
        self.rules
    }

    /// Whether it was made after `asked`.
    pub(super) fn is_after(&self, asked: Instant) -> bool {
        self.begun >= asked
    }

    /// When the next one may be made.
    pub(super) fn next(&self) -> Instant {
        self.begun + self.took + (self.took * REST).min(LONGEST_REST)
    }

    /// The cluster.
    pub fn inventory(&self) -> &Inventory {
        self.kept.inventory()
    }

    /// What the last turns changed, later ones too.
    pub(super) fn recently_changed(&self) -> &RecentlyChanged {
        &self.recently_changed
    }

    /// How often the rows of the inventory have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What questions are asked of.
    ///
    /// # Errors
    /// If no policy can run.
    pub fn kept(&self) -> Result<&Kept, DeploymentError> {
        match &self.broken {
            None => Ok(&self.kept),
            Some(why) => Err(DeploymentError::NoPolicy {
                cluster: self.inventory().name().clone(),
                why: why.clone(),
            }),
        }
    }

    /// How much of the CPU of hosts without `cpu.overcommit` the policy lets be promised, 1 = all of
    /// it once; None if it says nothing.
    pub(super) fn cpu_overcommit(&self) -> Option<f64> {
        self.chain.cpu_overcommit()
    }

    /// The needs of VMs that have a place which no filter of the policy checks.
    pub fn unheeded(&self) -> Vec<UnheededInCluster> {
        self.chain.unheeded_in(self.inventory())
    }

    /// The document of the cluster, which is written row by row.
    pub fn document(&self) -> impl Serialize + '_ {
        shown::Whole {
            inventory: self.inventory(),
            seed: self.seed,
        }
    }

    /// At most so many of the wanted hosts in their order, from after that cursor on.
    ///
    /// # Errors
    /// If a filter, the order or the cursor makes no sense.
    pub fn hosts_shown(
        &self,
        wanted: &WantedHosts,
        after: Option<&str>,
        most: usize,
    ) -> Result<Part, ListError> {
        listed::hosts(self.inventory(), wanted, after, most)
    }

    /// At most so many of the wanted VMs that run or have a place reserved in their order, from
    /// after that cursor on.
    ///
    /// # Errors
    /// If a filter, the order or the cursor makes no sense.
    pub fn vms_shown(
        &self,
        wanted: &WantedVms,
        after: Option<&str>,
        most: usize,
    ) -> Result<Part, ListError> {
        listed::vms(self.inventory(), wanted, after, most)
    }

    /// The affinity groups, as documents write them, by id.
    pub fn groups_shown(&self) -> impl Iterator<Item = Value> {
        shown::groups(self.inventory())
    }

    /// Check that a filter of groups names a host and a VM that there are.
    ///
    /// # Errors
    /// If not.
    pub fn check_members(&self, vm: Option<&str>, host: Option<&str>) -> Result<(), ListError> {
        vm.map_or(Ok(()), |vm| listed::check_vm(self.inventory(), vm))?;
        host.map_or(Ok(()), |host| listed::check_host(self.inventory(), host))
    }

    /// The tenants, as documents write them, by id.
    pub fn tenants_shown(&self) -> impl Iterator<Item = Value> {
        shown::tenants(self.inventory())
    }
}

impl ClusterState {
    /// The cluster as it is, for somebody who asked then: the last copy, if it is of the
    /// present or was made after that, or a new one.
    pub(super) fn publish(&mut self, asked: Instant) -> Arc<Snapshot> {
        let rules = self.glance.rules();
        // When something was measured is no part of a version, but of a revision.
        let revision = self.revision();
        let present = (self.inventory().version(), revision);
        if let Some(last) = self.snapshot.load_full()
            && (last.is_after(asked) || (last.version(), last.revision) == present)
            && last.rules == rules
        {
            return last;
        }
        let begun = Instant::now();
        let snapshot = Arc::new(Snapshot {
            kept: self.kept(),
            chain: self.scheduler.chain().clone(),
            broken: self.broken.clone(),
            seed: self.settings.seed,
            revision,
            rules,
            recently_changed: self.recently_changed.clone(),
            begun,
            took: begun.elapsed(),
        });
        self.snapshot.store(Some(snapshot.clone()));
        self.publish_counts();
        snapshot
    }

    /// Before a turn that takes long: let those who read have the cluster as it is.
    pub(super) fn publish_before_long_turn(&mut self) {
        self.publish(Instant::now());
    }
}
