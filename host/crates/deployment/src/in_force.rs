//! What is in force everywhere: units and policies. It is changed in one step, and each
//! cluster takes over what concerns it when its next turn begins, so that nobody waits for
//! a cluster that is busy.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::policies::Policies;
use super::{Cluster, ClusterSettings, Deployment};
use placewright_engine::generation::Generation;

/// Units and policies that are in force together.
#[derive(Debug)]
pub struct InForce {
    /// Counts up with every change.
    pub(super) number: u64,
    pub(super) generation: Arc<Generation>,
    pub(super) policies: Arc<Policies>,
    /// The units that are not trusted any more, and why.
    pub(super) distrusted: Arc<BTreeMap<String, String>>,
}

impl InForce {
    pub(super) fn new(generation: Arc<Generation>, policies: Policies) -> Self {
        Self {
            number: 1,
            generation,
            policies: Arc::new(policies),
            distrusted: Arc::default(),
        }
    }

    /// Other units, under the same policies.
    pub(super) fn with_units(&self, generation: Arc<Generation>) -> Self {
        Self {
            number: self.number + 1,
            generation,
            policies: self.policies.clone(),
            distrusted: self.distrusted.clone(),
        }
    }

    /// Other policies, of the same units.
    pub(super) fn with_policies(&self, policies: Policies) -> Self {
        Self {
            number: self.number + 1,
            generation: self.generation.clone(),
            policies: Arc::new(policies),
            distrusted: self.distrusted.clone(),
        }
    }
}

/// Settings that a cluster is being given. They count as its own for whoever changes what is
/// in force meanwhile.
#[derive(Debug, Clone)]
pub(super) struct Attaching {
    pub(super) cluster: Arc<Cluster>,
    pub(super) settings: ClusterSettings,
}

impl Deployment {
    /// What is in force.
    pub(super) fn in_force(&self) -> Arc<InForce> {
        self.in_force.load_full()
    }

    /// Put something else in force: decisions that begin afterwards are made by it. Whoever
    /// calls it has `control`, and has checked that all policies can run.
    pub(super) fn put_in_force(&self, in_force: InForce) {
        self.in_force.store(Arc::new(in_force));
        for cluster in self.clusters() {
            // One in which nothing is decided takes it over as well.
            cluster.nudge();
        }
    }
}
