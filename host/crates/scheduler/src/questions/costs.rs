//! What a request would cost on every host, and which hosts are removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{QuestionError, Situation};
use placewright_chain::Explanation;
use placewright_model::Request;

/// What a policy says of every host for one request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct HostCosts {
    /// Name of the policy.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "house"))]
    pub policy: Arc<str>,
    /// Id of the host that is chosen; none if every host is removed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h1"))]
    pub chosen: Option<Arc<str>>,
    /// The tiers of the costs, by number.
    #[cfg_attr(feature = "openapi", schema(example = json!([0])))]
    pub tiers: Vec<u32>,
    /// Every host of the cluster, in the order of their ids.
    pub hosts: Vec<CostedHost>,
}

/// What a policy says of one host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CostedHost {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// The sums of its weighted costs, tier by tier; null = infinite. Empty if it is not left to the
    /// last stage, or the policy has no costs there.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.25])))]
    pub costs: Vec<f64>,
    /// The policy's entry that removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory"))]
    pub filter: Option<Arc<str>>,
    /// If it is not left: why. Completes "host ...".
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "has too little free memory"))]
    pub reason: Option<String>,
}

impl Situation<'_> {
    /// What the request would cost on every host, and which hosts are removed by which entry of the
    /// policy. Nothing is changed.
    ///
    /// # Errors
    /// If there is no decision.
    pub fn host_costs(&self, request: &Request) -> Result<HostCosts, QuestionError> {
        let (_, explanation) = self.decide(request)?;
        Ok(of(explanation))
    }
}

/// What an explanation says of each host, in short.
fn of(explanation: Explanation) -> HostCosts {
    let last = explanation.stages.len().saturating_sub(1);
    let mut tiers = Vec::new();
    let mut hosts: BTreeMap<Arc<str>, CostedHost> = BTreeMap::new();
    for (number, stage) in explanation.stages.into_iter().enumerate() {
        if number == last {
            tiers = stage.tiers;
        }
        for shown in stage.hosts {
            let (filter, reason) = match shown.removed {
                Some(removed) => (Some(removed.filter), Some(removed.reason)),
                None if number < last && shown.passed_over => {
                    let reason = format!("is not among the best of stage \"{}\"", stage.name);
                    (None, Some(reason))
                }
                None => (None, None),
            };
            let is_left = reason.is_none() && number == last;
            let costed = CostedHost {
                host: shown.host.clone(),
                costs: if is_left { shown.sums } else { Vec::new() },
                filter,
                reason,
            };
            hosts.insert(shown.host, costed);
        }
    }
    for not in explanation.not_considered {
        let costed = CostedHost {
            host: not.host.clone(),
            costs: Vec::new(),
            filter: None,
            reason: Some(not.reason),
        };
        hosts.entry(not.host).or_insert(costed);
    }
    HostCosts {
        policy: explanation.policy,
        chosen: explanation.chosen,
        tiers,
        hosts: hosts.into_values().collect(),
    }
}
