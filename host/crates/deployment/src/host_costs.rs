//! What a request would cost on every host, under the policy of the cluster or another one.

use std::collections::BTreeMap;

use super::cluster::{Cluster, Kept};
use super::rules::rule;
use super::{Deployment, DeploymentError, PolicyRecord};
use placewright_model::Request;
use placewright_scheduler::Cancel;
use placewright_scheduler::questions::{HostCosts, Situation, supposing};

impl Deployment {
    /// What a request would cost on every host of a copy of the cluster, and which hosts are
    /// removed: under `policy` with the units in force, or under the policy that decides there if
    /// that is None. Nothing is changed.
    ///
    /// # Errors
    /// If the policy cannot run there, or there is no decision.
    pub fn host_costs(
        &self,
        (cluster, kept): (&Cluster, &Kept),
        policy: Option<&PolicyRecord>,
        request: &Request,
        cancel: Cancel,
    ) -> Result<HostCosts, DeploymentError> {
        let options = kept.options(cancel);
        // What is different in the cluster belongs to the policy that is attached there.
        let other = policy.filter(|it| *it.name != *cluster.settings().policy);
        let Some(other) = other else {
            return Ok(kept.situation_by(&options).host_costs(request)?);
        };
        let generation = self.generation();
        let rule = rule(other, &BTreeMap::new(), &cluster.schema(), &generation)?;
        let options = supposing(&options);
        let situation = Situation {
            policy: &rule.policy,
            generation: &generation,
            ..kept.situation_by(&options)
        };
        Ok(situation.host_costs(request)?)
    }
}
