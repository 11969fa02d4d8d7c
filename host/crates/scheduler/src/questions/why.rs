//! Why not there: what keeps VMs off one host, or how much worse it is than the
//! chosen one, and through which entries of the policy.

use std::sync::Arc;

use serde::Serialize;

use super::smallest::{self, Asked, Needed, Way, raises};
use super::{QuestionError, Situation, give_back};
use crate::{Decision, PlaceError, QuotaRefusal};
use placewright_chain::{Explanation, FactShown, HostShown, RemovalShown, ShareShown, StageShown};
use placewright_inventory::Inventory;
use placewright_model::Request;
use placewright_model::{Word, nearest};
use placewright_policy::Policy;

/// Of more hosts the one that was probably meant is not looked for.
const COMPARED: usize = 1000;

/// What a policy says of one host for one request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Why {
    /// The VMs of the request.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["web-3"])))]
    pub vms: Vec<Arc<str>>,
    /// Id of the host.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// The host that is chosen; none if every host is removed, or a quota refuses the VMs.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h2"))]
    pub chosen: Option<Arc<str>>,
    /// The quotas that do not allow what is asked for, whatever becomes of the host: which, what
    /// is held and what it limits. Of a recorded decision, the first of them. `standing` says how
    /// it is with the host itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub refused_by_quotas: Vec<QuotaRefusal>,
    /// How it stands to the decision.
    #[serde(flatten)]
    pub standing: Standing,
    /// What the units that keep the VMs off work out about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactShown>,
    /// If filters keep the VMs off it: the smallest changes that let it through, each found by
    /// asking the filters again. One change, or two together where one is not enough; those
    /// first that change least of the request. None if no two changes do. Where quotas refuse
    /// the VMs, each way begins with the limits that are to be raised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub ways: Vec<Way>,
}

impl Why {
    /// Whether something can be found that would let the host through.
    pub(crate) fn is_kept_out(&self) -> bool {
        matches!(
            self.standing,
            Standing::Removed { .. } | Standing::NotAsked { .. }
        )
    }

    /// Tell of quotas that refuse the VMs, and by how much they would have to be raised; without
    /// them, `chosen` would be the host.
    pub(crate) fn refuse(&mut self, refusals: Vec<QuotaRefusal>, chosen: Option<&Arc<str>>) {
        self.refused_by_quotas = refusals;
        let Some(first) = self.refused_by_quotas.first() else {
            return;
        };
        debug_assert!(!first.exceeded.is_empty(), "{first:?}");
        let raised = self.refused_by_quotas.iter().map(raises);
        let raised: Option<Vec<Vec<Needed>>> = raised.collect();
        let Some(raised) = raised.map(|raised| raised.concat()) else {
            // No limit is as high as it would have to be.
            return self.ways.clear();
        };
        match self.is_kept_out() {
            true => {
                for way in &mut self.ways {
                    let changes = [raised.clone(), std::mem::take(&mut way.changes)].concat();
                    *way = Way::new(changes, way.chosen);
                }
            }
            false => self.ways = vec![Way::new(raised, chosen == Some(&self.host))],
        }
    }
}

/// How a host stands to the decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "standing")]
pub enum Standing {
    /// It is the one.
    Chosen {
        /// How many hosts have the same costs, this one included.
        #[cfg_attr(feature = "openapi", schema(example = 1))]
        tied: usize,
    },
    /// No unit was asked about it.
    NotAsked {
        /// Completes "host ...".
        #[cfg_attr(feature = "openapi", schema(example = "is in maintenance"))]
        reason: String,
    },
    /// Entries of the policy remove it: the first one does, each further one would if
    /// those before it did not.
    Removed {
        /// The entries, with their reasons.
        by: Vec<RemovalShown>,
    },
    /// Another host is cheaper.
    Costlier {
        /// The stage in which they differ.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "fit"))]
        stage: Arc<str>,
        /// The first tier in which they differ.
        #[cfg_attr(feature = "openapi", schema(example = 1))]
        tier: u32,
        /// By how much its sum in that tier is greater; null = infinite.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.15))]
        by: f64,
        /// The entry that adds most to it.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "spread"))]
        through: Option<Arc<str>>,
        /// Entry by entry, what makes the difference, in policy order.
        differences: Vec<Difference>,
    },
    /// It has the same costs as the chosen host, and this rule told them apart.
    Tied {
        /// The rule, as a policy writes it.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["fewest-vms", "id"])))]
        rule: Vec<&'static str>,
    },
    /// A quota does not allow what is asked for, so that no host was looked for; this one would
    /// have been left.
    RefusedByQuota {
        /// Which quota, what it allows and what is held: a sentence.
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "quota shop-north allows 20 VMs, and 20 are held"))]
        because: Arc<str>,
    },
    /// The request prefers hosts that were left, and this is none of them.
    NotPreferred,
    /// Where it is left to chance: another host was drawn.
    NotDrawn {
        /// The group of candidates that it is in, the best being 1.
        #[cfg_attr(feature = "openapi", schema(example = 2))]
        group: usize,
        /// Its share of chance there.
        #[cfg_attr(feature = "openapi", schema(example = 0.25))]
        share: f64,
        /// The group that was drawn from; none if no candidate had a chance.
        #[cfg_attr(feature = "openapi", schema(required = true, example = 1))]
        #[serde(rename = "drawn-from")]
        drawn_from: Option<usize>,
        /// The same under the name that clients of this version may have been made for. It is no part of
        /// the contract: generators make one name of both.
        #[cfg_attr(feature = "openapi", schema(ignore))]
        #[serde(rename = "drawn_from")]
        drawn_from_as_before: Option<usize>,
    },
}

/// What one cost entry says of a host and of the chosen one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = CostDifference))]
#[serde(rename_all = "kebab-case")]
pub struct Difference {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "spread"))]
    pub name: Arc<str>,
    /// The tier of the entry.
    #[cfg_attr(feature = "openapi", schema(example = 1))]
    pub tier: u32,
    /// What the unit said of the host; null = infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 40.0))]
    pub raw: f64,
    /// What it said of the chosen one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 20.0))]
    pub raw_chosen: f64,
    /// The same on the scale of the entry.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.4))]
    pub scaled: f64,
    /// That of the chosen one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.2))]
    pub scaled_chosen: f64,
    /// Scaled, times the factor.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.8))]
    pub weighted: f64,
    /// That of the chosen one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.4))]
    pub weighted_chosen: f64,
    /// By how much its weighted cost is greater; 0 if both are infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<f64>, required = true, example = 0.4))]
    pub by: f64,
}

impl Situation<'_> {
    /// Why the request's VMs do not go to that host, or why they do.
    ///
    /// # Errors
    /// If there is no such host, or there is no decision.
    pub fn why(&self, request: &Request, host: &str) -> Result<Why, QuestionError> {
        let host = known_host(self.inventory, host)?;
        let (decision, mut explanation) = self.decide(request)?;
        let refusals = self.refusals(&decision)?;
        let chosen = explanation.chosen.clone();
        if let Some(first) = refusals.first() {
            explanation = explanation.refused(first.because.as_str().into());
        }
        let mut why = of(&explanation, self.policy, request, &host);
        if why.is_kept_out() {
            why.ways = self.ways(&decision, &host)?;
        }
        why.refuse(refusals, chosen.as_ref());
        if let Standing::Removed { by } = &mut why.standing {
            let again = |policy: Policy| {
                self.options.cancel.check().map_err(PlaceError::from)?;
                let asked = self.decide_by(Arc::new(policy.clone()), request);
                // Without one of them there may be no decision.
                Ok(asked
                    .ok()
                    .map(|(_, it)| of(&it, &policy, request, &host).standing))
            };
            *by = all_removals(self.policy, std::mem::take(by), again)?;
        }
        Ok(why)
    }

    /// The quotas that do not allow what a decision asks for.
    fn refusals(&self, decision: &Decision) -> Result<Vec<QuotaRefusal>, QuestionError> {
        if !self.options.quotas.is_limiting() {
            return Ok(Vec::new());
        }
        let mut scheduler = self.scheduler(self.policy.clone())?;
        give_back(&mut scheduler, &decision.request)?;
        let quotas = &self.options.quotas;
        Ok(quotas.refusals(scheduler.inventory(), &decision.request))
    }

    /// The smallest changes that let the host through.
    fn ways(&self, decision: &Decision, host: &Arc<str>) -> Result<Vec<Way>, QuestionError> {
        let mut scheduler = self.scheduler(self.policy.clone())?;
        give_back(&mut scheduler, &decision.request)?;
        let chain = scheduler.chain().clone();
        let asked = Asked {
            chain: &chain,
            inventory: scheduler.into_inventory(),
            request: &decision.request,
            draw: decision.draw,
            host,
            cancel: &self.options.cancel,
        };
        smallest::ways(asked, self.options.chain_limit)
    }
}

/// After the entry that removes a host, the others that would: each found by asking again without
/// those before. `standing` is how the host stands under a policy; None ends it: there is no answer.
pub(crate) fn all_removals(
    policy: &Policy,
    mut removals: Vec<RemovalShown>,
    mut standing: impl FnMut(Policy) -> Result<Option<Standing>, QuestionError>,
) -> Result<Vec<RemovalShown>, QuestionError> {
    let mut policy = policy.clone();
    while let Some(last) = removals.last() {
        let mut filters = policy
            .stages
            .iter_mut()
            .flat_map(|stage| &mut stage.filters);
        let Some(filter) = filters.find(|it| it.name == last.filter && it.enabled) else {
            // A selection: what it removes hangs on the costs of all.
            break;
        };
        filter.enabled = false;
        match standing(policy.clone())? {
            Some(Standing::Removed { by }) if !by.is_empty() => removals.extend(by),
            _ => break,
        }
    }
    Ok(removals)
}

/// The host of that id.
pub(crate) fn known_host(inventory: &Inventory, id: &str) -> Result<Arc<str>, QuestionError> {
    let host = inventory.slot(id).and_then(|slot| inventory.host(slot));
    host.map(|host| host.id.clone()).ok_or_else(|| {
        // Each is compared: of very many none is suggested.
        let ids = inventory.hosts().map(|(_, host)| &*host.id);
        let ids = ids.filter(|_| inventory.host_count() <= COMPARED);
        QuestionError::UnknownHost {
            host: id.to_owned(),
            nearest: nearest(id, ids).map(Into::into),
        }
    })
}

/// What an explanation says of one host. Of the entries that remove it, that is the
/// first.
pub(crate) fn of(
    explanation: &Explanation,
    policy: &Policy,
    request: &Request,
    host: &Arc<str>,
) -> Why {
    let standing = standing(explanation, policy, request, host);
    let facts = match &standing {
        Standing::Removed { by } => facts(explanation, host, by),
        _ => Vec::new(),
    };
    Why {
        vms: request.members.iter().map(|vm| vm.id.clone()).collect(),
        host: host.clone(),
        chosen: explanation.chosen.clone(),
        refused_by_quotas: Vec::new(),
        standing,
        facts,
        ways: Vec::new(),
    }
}

/// What the units of these removals work out, as far as it is about this host or
/// about none.
fn facts(explanation: &Explanation, host: &Arc<str>, by: &[RemovalShown]) -> Vec<FactShown> {
    let facts = explanation.stages.iter().flat_map(|stage| &stage.facts);
    facts
        .filter(|fact| by.iter().any(|removal| removal.unit == fact.unit))
        .filter(|fact| match &fact.about {
            Some((table, row)) if table == "hosts" => **row == **host,
            _ => true,
        })
        .cloned()
        .collect()
}

fn standing(
    explanation: &Explanation,
    policy: &Policy,
    request: &Request,
    host: &Arc<str>,
) -> Standing {
    let not_asked = explanation.not_considered.iter();
    if let Some(it) = not_asked.into_iter().find(|it| it.host == *host) {
        let reason = it.reason.clone();
        return Standing::NotAsked { reason };
    }
    let chosen = explanation.chosen.as_ref();
    if chosen == Some(host) {
        let tied = explanation.tied;
        return Standing::Chosen { tied };
    }
    // The last stage that it came to.
    let mut stages = explanation.stages.iter().enumerate().rev();
    let Some((number, stage, here)) = stages.find_map(|(number, stage)| {
        let here = shown(stage, host)?;
        Some((number, stage, here))
    }) else {
        let reason = "was not asked about".to_owned();
        return Standing::NotAsked { reason };
    };
    if let Some(removal) = &here.removed {
        let by = vec![removal.clone()];
        return Standing::Removed { by };
    }
    if let Some(because) = explanation.refused.clone() {
        return Standing::RefusedByQuota { because };
    }
    let prefers = |host: &Arc<str>| request.preferred.contains(host);
    if chosen.is_some_and(prefers) && !prefers(host) {
        return Standing::NotPreferred;
    }
    let there = chosen.and_then(|chosen| shown(stage, chosen));
    if let Some(there) = there
        && let Some(costlier) = costlier(stage, &policy.stages[number].costs, here, there)
    {
        return costlier;
    }
    if let Some(selection) = stage.selections.last() {
        return not_drawn(&selection.groups, host, chosen);
    }
    Standing::Tied {
        rule: policy.tie_rule.iter().map(|tie| tie.word()).collect(),
    }
}

fn shown<'s>(stage: &'s StageShown, host: &Arc<str>) -> Option<&'s HostShown> {
    stage.hosts.iter().find(|shown| shown.host == *host)
}

/// In which tier a host costs more than the chosen one; none if all are equal, or a
/// selection did not go by costs.
fn costlier(
    stage: &StageShown,
    entries: &[placewright_policy::CostEntry],
    here: &HostShown,
    there: &HostShown,
) -> Option<Standing> {
    let sums = here.sums.iter().zip(&there.sums);
    let (place, by) = sums
        .map(|(here, there)| excess(*here, *there))
        .enumerate()
        .find(|(_, by)| *by != 0.0)?;
    if by < 0.0 {
        return None;
    }
    let differences = here.costs.iter().filter_map(|cost| {
        let other = there.costs.iter().find(|other| other.name == cost.name)?;
        let entry = entries.iter().find(|entry| entry.name == cost.name)?;
        Some(Difference {
            name: cost.name.clone(),
            tier: entry.tier,
            raw: cost.raw,
            raw_chosen: other.raw,
            scaled: cost.scaled,
            scaled_chosen: other.scaled,
            weighted: cost.weighted,
            weighted_chosen: other.weighted,
            by: excess(cost.weighted, other.weighted),
        })
    });
    let differences: Vec<Difference> = differences.collect();
    let tier = stage.tiers.get(place).copied().unwrap_or(1);
    // Of equal ones the first.
    let in_tier = differences.iter().rev().filter(|it| it.tier == tier);
    let through = in_tier.max_by(|a, b| a.by.total_cmp(&b.by));
    Some(Standing::Costlier {
        stage: stage.name.clone(),
        tier,
        by,
        through: through.map(|it| it.name.clone()),
        differences,
    })
}

/// By how much a cost is greater; equal infinite ones do not differ.
fn excess(here: f64, there: f64) -> f64 {
    match here == there {
        true => 0.0,
        false => here - there,
    }
}

fn not_drawn(groups: &[Vec<ShareShown>], host: &Arc<str>, chosen: Option<&Arc<str>>) -> Standing {
    let place = |wanted: &Arc<str>| {
        (1..).zip(groups).find_map(|(number, group)| {
            let member = group.iter().find(|member| member.host == *wanted)?;
            Some((number, member.share))
        })
    };
    let (group, share) = place(host).unwrap_or((0, 0.0));
    let drawn_from = chosen.and_then(place).map(|(group, _)| group);
    Standing::NotDrawn {
        group,
        share,
        drawn_from,
        drawn_from_as_before: drawn_from,
    }
}
