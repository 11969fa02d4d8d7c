//! Recorded decisions, made again under a policy that is not saved.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use utoipa::ToSchema;

use super::cluster::Cluster;
use super::past::Wanted;
use super::rules::rule_in;
use super::{Deployment, DeploymentError, Edit};
use placewright_chain::{Explanation, Reuse, ShareShown};
use placewright_scheduler::{Cancel, MadeAgain, PlaceError};

/// How long decisions are made again. The answer says how many there was no time for.
const TIME: Duration = Duration::from_secs(5);

/// Units' answers are used again from one decision to the next, as far as they take no more than
/// this: few hosts change between two of them.
const REUSE: Reuse = Reuse {
    bytes: 16 << 20,
    // Of more decisions than are made again at once.
    whole_after: 1 << 14,
};

/// What is asked of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftWanted {
    /// The newest decisions, at most so many.
    pub decisions: usize,
    /// Of those that differ, at most so many say which entry tips them.
    pub examples: usize,
    /// The number of a decision of which the shares of chance are told.
    pub shares_of: Option<u64>,
    /// Each is made on what those before it have come to, and none is explained.
    pub in_sequence: bool,
}

/// What would have become of recorded decisions under a draft of a policy: each by itself on
/// the inventory of then, or one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DraftReplayed {
    /// Whether each decision was made on what those before it have come to; else each was made by
    /// itself, and loads that would have shifted meanwhile do not count.
    pub in_sequence: bool,
    /// How many decisions were made again.
    #[schema(example = 200)]
    pub tried: usize,
    /// How many there were to make again; more than `tried` where there was no time for all.
    #[schema(example = 200)]
    pub of: usize,
    /// How many of them would have another outcome.
    #[schema(example = 3)]
    pub differing: usize,
    /// How many of these would find no decision, as a unit gives no answer.
    #[schema(example = 0)]
    pub failing: usize,
    /// How many requests found no host.
    #[schema(example = 2)]
    pub rejected_before: usize,
    /// How many would find none under the draft.
    #[schema(example = 1)]
    pub rejected_after: usize,
    /// By hosts that get a VM either way, how many decisions chose it and would choose it: those
    /// first where these differ most.
    pub hosts: Vec<HostCount>,
    /// The decisions that would have another outcome, the newest first.
    pub changed: Vec<DraftChange>,
    /// The shares of chance of the decision that was asked about, if selections decide there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<DraftShares>,
    /// What is allowed in the draft and seldom meant, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, example = json!(["VM \"web-3\" has no \"memory\": it counts as 0"]))]
    pub warnings: Vec<String>,
}

/// How many decisions fall on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HostCount {
    /// Id of the host.
    #[schema(value_type = String, example = "h1")]
    pub host: Arc<str>,
    /// As they were made.
    #[schema(example = 8)]
    pub before: usize,
    /// Under the draft.
    #[schema(example = 5)]
    pub after: usize,
}

/// A decision that would have another outcome.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DraftChange {
    /// Its number.
    #[schema(example = 17)]
    pub decision: u64,
    /// The VMs that were to be placed.
    #[schema(value_type = Vec<String>, example = json!(["web-3"]))]
    pub vms: Vec<Arc<str>>,
    /// The host that was chosen; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "h1")]
    pub before: Option<Arc<str>>,
    /// The host that would be chosen; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "h2")]
    pub after: Option<Arc<str>>,
    /// Why there would be no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "the unit ran out of time")]
    pub failure: Option<String>,
    /// What tips it, for the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tipped: Option<Tipped>,
}

/// What tips a decision.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Tipped {
    /// The policy's entry whose answer changes most in favour of the other host.
    #[schema(value_type = String, example = "spread")]
    pub entry: Arc<str>,
    /// By how much the other host is cheaper under the draft; absent: it is not a question of
    /// costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 0.4)]
    pub by: Option<f64>,
    /// Why the host of before is removed, or that of after was: completes "host ...".
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "has too little memory")]
    pub reason: Option<String>,
}

/// Shares of chance of one decision. Each list has groups of candidates, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DraftShares {
    /// The number of the decision.
    #[schema(example = 17)]
    pub decision: u64,
    /// As it was made.
    pub before: Vec<Vec<ShareShown>>,
    /// Under the draft.
    pub after: Vec<Vec<ShareShown>>,
}

impl Deployment {
    /// Make recorded decisions of a cluster again under the draft of a policy, with the units
    /// in force. Nothing is changed, and the cluster goes on deciding.
    ///
    /// # Errors
    /// Everything that is wrong with the draft; or the decision of which shares are wanted is
    /// not recorded.
    pub fn try_draft(
        &self,
        cluster: &Cluster,
        draft: &Edit,
        wanted: DraftWanted,
        cancel: &Cancel,
    ) -> Result<DraftReplayed, DeploymentError> {
        let warnings = self.check_policy(draft)?;
        let record = self.draft(draft, "", 0);
        let generation = self.generation();
        let rule = rule_in(cluster, &record, &generation)?;
        let again = Wanted {
            decisions: wanted.decisions,
            examples: wanted.examples,
            until: Instant::now() + TIME,
            patience: self.options.wait,
            cancel: cancel.clone(),
            reuse: Some(REUSE),
            baseline: None,
        };
        let by = (&rule.policy, &*generation);
        let again = match wanted.in_sequence {
            true => self.made_in_sequence(cluster, by, again)?,
            false => self.made_again(cluster, by, again)?,
        };
        cancel.check().map_err(PlaceError::from)?;
        let shares = wanted.shares_of.map(|number| {
            let before = self.kept_past(cluster.name(), number)?.explain()?;
            let by = (&rule.policy, &*generation);
            let after = self.kept_by(cluster.name(), number, by)?.explain()?;
            Ok::<_, DeploymentError>(DraftShares {
                decision: number,
                before: groups(before),
                after: groups(after),
            })
        });
        Ok(DraftReplayed {
            in_sequence: wanted.in_sequence,
            of: again.of,
            shares: shares.transpose()?.filter(|it| !it.after.is_empty()),
            warnings,
            ..DraftReplayed::of(&again.made)
        })
    }
}

/// The groups of candidates after the last selection.
fn groups(explanation: Explanation) -> Vec<Vec<ShareShown>> {
    let stages = explanation.stages.into_iter();
    let mut selections = stages.flat_map(|stage| stage.selections);
    let last = selections.by_ref().last();
    last.map_or_else(Vec::new, |selection| selection.groups)
}

impl DraftReplayed {
    fn of(again: &[MadeAgain]) -> Self {
        let mut counts: BTreeMap<&Arc<str>, (usize, usize)> = BTreeMap::new();
        let (mut failing, mut rejected_before, mut rejected_after) = (0, 0, 0);
        for made in again {
            match &made.before {
                Some(host) => counts.entry(host).or_default().0 += 1,
                None => rejected_before += 1,
            }
            match &made.host {
                Ok(Some(host)) => counts.entry(host).or_default().1 += 1,
                Ok(None) => rejected_after += 1,
                Err(_) => failing += 1,
            }
        }
        let counts = counts.into_iter().map(|(host, (before, after))| HostCount {
            host: host.clone(),
            before,
            after,
        });
        let mut hosts: Vec<HostCount> = counts.collect();
        hosts.sort_by_key(|it| (Reverse(it.before.abs_diff(it.after)), Reverse(it.before)));
        let changed: Vec<DraftChange> = again
            .iter()
            .filter(|made| made.differs())
            .map(DraftChange::of)
            .collect();
        Self {
            in_sequence: false,
            tried: again.len(),
            of: again.len(),
            differing: changed.len(),
            failing,
            rejected_before,
            rejected_after,
            hosts,
            changed,
            shares: None,
            warnings: Vec::new(),
        }
    }
}

impl DraftChange {
    fn of(made: &MadeAgain) -> Self {
        let after = made.after().cloned();
        let explained = made.explained.as_deref();
        let hosts = (made.before.as_ref(), after.as_ref());
        let tipped = explained.and_then(|(then, now)| tipped(then, now, hosts));
        Self {
            decision: made.number,
            vms: made
                .request
                .members
                .iter()
                .map(|vm| vm.id.clone())
                .collect(),
            before: made.before.clone(),
            after,
            failure: made.host.as_ref().err().map(ToString::to_string),
            tipped,
        }
    }
}

/// The entry that removed a host, and why.
type Removal<'e> = Option<(&'e Arc<str>, &'e str)>;

/// Weighted costs by entry.
type Costs<'e> = Vec<(&'e Arc<str>, f64)>;

/// What an explanation says of a host: why it was removed, or its weighted costs.
fn of_host<'e>(explanation: &'e Explanation, host: &Arc<str>) -> (Removal<'e>, Costs<'e>) {
    let stages = explanation.stages.iter();
    let shown = stages.flat_map(|stage| stage.hosts.iter().filter(|it| it.host == *host));
    let (mut removed, mut costs) = (None, Vec::new());
    for shown in shown {
        let by = shown.removed.as_ref();
        removed = removed.or(by.map(|it| (&it.filter, it.reason.as_str())));
        costs.extend(shown.costs.iter().map(|cost| (&cost.name, cost.weighted)));
    }
    (removed, costs)
}

/// The entry that tips a decision from the one host to the other.
fn tipped(
    then: &Explanation,
    now: &Explanation,
    (before, after): (Option<&Arc<str>>, Option<&Arc<str>>),
) -> Option<Tipped> {
    let by_removal = |removed: Removal<'_>| {
        let (entry, reason) = removed?;
        Some(Tipped {
            entry: entry.clone(),
            by: None,
            reason: Some(reason.to_owned()),
        })
    };
    // The host of before is kept out now, or that of after is not any more.
    let before_now = before.map(|host| of_host(now, host));
    if let Some(tipped) = before_now
        .as_ref()
        .and_then(|(removed, _)| by_removal(*removed))
    {
        return Some(tipped);
    }
    let after_then = after.map(|host| of_host(then, host));
    if let Some(tipped) = after_then
        .as_ref()
        .and_then(|(removed, _)| by_removal(*removed))
    {
        return Some(tipped);
    }
    let (_, before_now) = before_now?;
    let (_, after_then) = after_then?;
    let (_, before_then) = of_host(then, before?);
    let (_, after_now) = of_host(now, after?);
    let cost = |of: &[(&Arc<str>, f64)], name: &str| {
        let found = of.iter().find(|(entry, _)| ***entry == *name);
        found.map_or(0.0, |(_, cost)| *cost)
    };
    let mut entries: Vec<&Arc<str>> = Vec::new();
    for (entry, _) in before_now.iter().chain(&before_then) {
        if !entries.contains(entry) {
            entries.push(entry);
        }
    }
    // By how much an entry speaks more for the other host than it did.
    let swing = |entry: &Arc<str>| {
        let now = cost(&before_now, entry) - cost(&after_now, entry);
        let then = cost(&before_then, entry) - cost(&after_then, entry);
        now - then
    };
    let most = entries
        .into_iter()
        .filter(|entry| swing(entry).is_finite())
        .max_by(|a, b| swing(a).total_cmp(&swing(b)))?;
    let sum = |of: &[(&Arc<str>, f64)]| of.iter().map(|(_, cost)| cost).sum::<f64>();
    let by = sum(&before_now) - sum(&after_now);
    Some(Tipped {
        entry: most.clone(),
        by: by.is_finite().then_some(by),
        reason: None,
    })
}
