//! Decisions as programs read them.

use std::sync::Arc;

use serde::Serialize;

use super::{Decision, MovedVm, QuotaRefusal, RemovedHosts};
use placewright_chain::{Explanation, LeftOutShown, ShareShown, UnheededNeed};
use placewright_model::{Rfc3339, doubts};

/// A decision as programs read it.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Decision))]
#[serde(rename_all = "kebab-case")]
pub struct DecisionShown<'a> {
    /// Counts up from 1 in each cluster.
    #[cfg_attr(feature = "openapi", schema(example = 17))]
    number: u64,
    /// Ids of the VMs.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["web-3"])))]
    vms: Vec<&'a str>,
    /// Id of the chosen host; null if there is none for them.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h1"))]
    host: Option<&'a str>,
    /// If a quota does not allow what is asked for: which, and what is held. No host was looked
    /// for then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = QuotaRefusal))]
    refused_by_quota: Option<&'a QuotaRefusal>,
    /// Whether the places are reserved: not after a dry run, nor where all or nothing was
    /// asked for and some VM finds no host, nor where all VMs run on that host already and stay
    /// as they are.
    reserved: bool,
    /// If they are: the second after which they are free again unless they are confirmed;
    /// null: they stay reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i64>, example = 1764000300))]
    expires: Option<Option<i64>>,
    /// The same time; null: they stay reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    expires_time: Option<Option<Rfc3339>>,
    /// The VMs that run elsewhere: where, and whether they run while they are moved.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<MovedVm>))]
    moves: &'a [MovedVm],
    /// How many hosts units were asked about.
    #[cfg_attr(feature = "openapi", schema(example = 12))]
    considered: usize,
    /// How many hosts had the same costs as the chosen one, it included; 0 if there is none.
    #[cfg_attr(feature = "openapi", schema(example = 1))]
    tied: usize,
    /// The sums of its weighted costs, tier by tier; null = infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.25])))]
    costs: Vec<f64>,
    /// Groups of candidates, best first, each candidate with its share of chance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shares: Vec<Vec<ShareShown>>,
    /// How many hosts each reason removed, in policy order.
    removed: Vec<RemovedHosts>,
    /// Entries of the policy that were left out, because their units failed.
    left_out: Vec<LeftOutShown>,
    /// Needs that no filter of the policy checks, where the policy warns of them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<UnheededNeed>))]
    unheeded: &'a [UnheededNeed],
    /// What of the request is allowed and surely a mistake; of one that finds no host also
    /// what it names and no host of the cluster has; of one in a plan from nothing also why its
    /// place is not reserved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(example = json!(["VM \"web-3\" has no \"memory\": it counts as 0"])))]
    warnings: Vec<String>,
    /// The number, 0 or more and less than 1, that decided what was left to chance.
    #[cfg_attr(feature = "openapi", schema(example = 0.61))]
    draw: f64,
    /// The version of the inventory that it was made on.
    #[cfg_attr(feature = "openapi", schema(example = 4711))]
    inventory_version: u64,
    /// Why there, and why not elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Explanation))]
    explanation: Option<&'a Explanation>,
}

fn shares(group: &[(Arc<str>, f64)]) -> Vec<ShareShown> {
    let members = group.iter();
    members
        .map(|(host, share)| ShareShown {
            host: host.clone(),
            share: *share,
        })
        .collect()
}

impl<'a> DecisionShown<'a> {
    /// A decision with its explanation, if one is wanted.
    pub fn new(decision: &'a Decision, explanation: Option<&'a Explanation>) -> Self {
        let decided = &decision.decided;
        let chosen = decided.chosen.as_ref();
        let removed = decided.removed.iter().map(RemovedHosts::from);
        let reserved = decision.reserved.filter(|_| !decision.unchanged);
        let left_out = decided.left_out.iter().map(|left_out| LeftOutShown {
            entry: left_out.entry.clone(),
            fault: left_out.fault.to_string(),
        });
        Self {
            number: decision.number,
            vms: decision.request.members.iter().map(|vm| &*vm.id).collect(),
            host: decision.host.as_deref(),
            refused_by_quota: decision.refused.as_deref(),
            reserved: reserved.is_some(),
            expires: reserved.map(|terms| terms.expires),
            expires_time: reserved.map(|terms| terms.expires.map(Rfc3339)),
            moves: &decision.moves,
            considered: decided.considered,
            tied: chosen.map_or(0, |chosen| chosen.tied),
            costs: chosen.map_or(Vec::new(), |chosen| chosen.costs.clone()),
            shares: decision.shares.iter().map(|group| shares(group)).collect(),
            removed: removed.collect(),
            left_out: left_out.collect(),
            unheeded: &decision.unheeded,
            warnings: [
                doubts(&decision.request.members, []),
                decision.unknown.clone(),
                decision.unreserved.iter().cloned().collect(),
            ]
            .concat(),
            draw: decision.draw,
            inventory_version: decision.inventory_version,
            explanation,
        }
    }
}
