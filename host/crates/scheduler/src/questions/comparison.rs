//! A decision without an entry of the policy, or with another factor, beside the
//! decision as it is.

use std::sync::Arc;

use serde::Serialize;

use super::{Change, QuestionError, Situation};
use placewright_chain::{Explanation, HostShown};
use placewright_model::Request;

/// A decision as it is, and as it would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Comparison {
    /// The host that is chosen as things are; none if every host is removed.
    pub chosen_before: Option<Arc<str>>,
    /// The host that would be chosen.
    pub chosen_after: Option<Arc<str>>,
    /// Host by host, in the order of their ids.
    pub hosts: Vec<HostCompared>,
}

/// What becomes of a host before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostCompared {
    /// Id of the host.
    pub host: Arc<str>,
    /// As things are.
    pub before: Fate,
    /// As they would be.
    pub after: Fate,
}

/// What becomes of a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = HostFate))]
#[serde(rename_all = "kebab-case", tag = "fate")]
pub enum Fate {
    /// No unit is asked about it.
    NotAsked {
        /// Completes "host ...".
        #[cfg_attr(feature = "openapi", schema(example = "has too little memory"))]
        reason: String,
    },
    /// An entry of the policy removes it.
    Removed {
        /// The policy's entry.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory"))]
        filter: Arc<str>,
        /// Completes "host ...".
        #[cfg_attr(feature = "openapi", schema(example = "has too little memory"))]
        reason: String,
    },
    /// It is left to the end of that stage, with these sums of weighted costs, tier by
    /// tier; null = infinite.
    Left {
        /// Name of the stage.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "fit"))]
        stage: Arc<str>,
        /// The sums of its weighted costs, tier by tier; null = infinite.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.25])))]
        sums: Vec<f64>,
        /// It does not go on to the next stage.
        #[serde(rename = "passed-over")]
        passed_over: bool,
        /// The same under the name that clients of this version may have been made for. It is no part of
        /// the contract: generators make one name of both.
        #[cfg_attr(feature = "openapi", schema(ignore))]
        #[serde(rename = "passed_over")]
        passed_over_as_before: bool,
    },
}

impl Comparison {
    /// Whether another host would be chosen.
    pub fn differs(&self) -> bool {
        self.chosen_before != self.chosen_after
    }
}

impl Situation<'_> {
    /// The decision as it is, and as it would be after the change. Both are made with
    /// the same draw.
    ///
    /// # Errors
    /// If the policy does not take the change, or there is no decision.
    pub fn compare(&self, request: &Request, change: &Change) -> Result<Comparison, QuestionError> {
        let changed = Arc::new(change.of(self.policy)?);
        let (_, before) = self.decide(request)?;
        let (_, after) = self.decide_by(changed, request)?;
        let mut hosts: Vec<&Arc<str>> = self.inventory.hosts().map(|(_, host)| &host.id).collect();
        hosts.sort_unstable();
        let compared = hosts.into_iter().map(|host| HostCompared {
            host: host.clone(),
            before: fate(&before, host),
            after: fate(&after, host),
        });
        Ok(Comparison {
            hosts: compared.collect(),
            chosen_before: before.chosen.clone(),
            chosen_after: after.chosen.clone(),
        })
    }
}

pub(super) fn fate(explanation: &Explanation, host: &Arc<str>) -> Fate {
    let stages = explanation.stages.iter().rev();
    let last = stages.into_iter().find_map(|stage| {
        let place = stage.hosts.binary_search_by(|shown| shown.host.cmp(host));
        Some((&stage.name, &stage.hosts[place.ok()?]))
    });
    match last {
        Some((stage, shown)) => fate_in(stage, shown),
        None => {
            let not_asked = explanation.not_considered.iter();
            let reason = not_asked.into_iter().find(|it| it.host == *host);
            let forced = || "is taken without asking".to_owned();
            let reason = reason.map_or_else(forced, |it| it.reason.clone());
            Fate::NotAsked { reason }
        }
    }
}

fn fate_in(stage: &Arc<str>, shown: &HostShown) -> Fate {
    match &shown.removed {
        Some(removal) => Fate::Removed {
            filter: removal.filter.clone(),
            reason: removal.reason.clone(),
        },
        None => Fate::Left {
            stage: stage.clone(),
            sums: shown.sums.clone(),
            passed_over: shown.passed_over,
            passed_over_as_before: shown.passed_over,
        },
    }
}
