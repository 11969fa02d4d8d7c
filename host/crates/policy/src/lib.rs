//! What a cluster's admin decides: which units, in which order, how weighty, and
//! with which settings.
//!
//! A [`Policy`] is a policy document in which every name has been found and every
//! default filled in. It holds no unit and runs nothing: the chain does.
//!
//! Read [`Policy`], [`Stage`] and [`PolicyDocument`] first.

#![forbid(unsafe_code)]

mod alone;
mod check;
mod document;
mod form;
mod json_schema;
mod refused;
mod settings;
mod unit_name;
mod units;
mod words;

pub use alone::{LISTS, TABLES};
pub use check::UnitDescriptions;
pub use document::PolicyDocument;
pub use json_schema::policy_json_schema;
pub use refused::RefusedSettings;
pub use settings::Settings;
pub use unit_name::UnitName;
pub use units::unit_named;
pub use words::{InfiniteCosts, Keep, OnFailure, Position, Scaling, Search, Tie, Unheeded};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use placewright_document::serial;
use placewright_model::Measure;

/// The policy of a cluster, checked and complete. It is serialised as a policy
/// document that gives the same policy again.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Policy {
    /// Its name, for people.
    #[serde(serialize_with = "serial::text")]
    pub name: Arc<str>,
    /// What it is for, for people; may be empty.
    #[serde(serialize_with = "serial::text", skip_serializing_if = "is_empty")]
    pub description: Arc<str>,
    /// How ties between hosts of equal cost are broken, rule by rule. What is still tied
    /// after the last rule is decided by the hosts' ids.
    #[serde(serialize_with = "serial::word_list")]
    pub tie_rule: Vec<Tie>,
    /// One or more, in order: the candidates of one are those that the one before
    /// left.
    pub stages: Vec<Stage>,
    /// Units that say what follows from a placement, in the order in which they are
    /// asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectsEntry>,
    /// The unit that puts the requests of a batch in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<UnitEntry>,
    /// What becomes of hosts whose costs add up to infinity.
    #[serde(
        serialize_with = "serial::word",
        skip_serializing_if = "is_last_resort"
    )]
    pub infinite_costs: InfiniteCosts,
    /// Whether a batch may be searched for a better plan than first-come order gives.
    #[serde(serialize_with = "serial::word", skip_serializing_if = "is_allowed")]
    pub search: Search,
    /// The unit that proposes moves while the cluster runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<UnitEntry>,
    /// Conditions of which units can read since when they hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watches: Vec<Watch>,
    /// What becomes of a request with a need that no filter of the policy checks.
    #[serde(serialize_with = "serial::word", skip_serializing_if = "is_refused")]
    pub unheeded: Unheeded,
    /// The same for single needs, by their names.
    #[serde(
        serialize_with = "serial::word_map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub unheeded_needs: BTreeMap<Arc<str>, Unheeded>,
    /// Settings for all units that have no effect, as every entry of units that have them
    /// sets them itself.
    #[serde(skip)]
    pub overridden_settings: Vec<Arc<str>>,
}

impl Policy {
    /// What becomes of a request with the need of that name, if no filter checks it.
    pub fn unheeded(&self, need: &str) -> Unheeded {
        self.unheeded_needs
            .get(need)
            .copied()
            .unwrap_or(self.unheeded)
    }

    /// The units that its filters ask, those that are disabled left out, by name.
    pub fn filtering_units(&self) -> BTreeSet<Arc<str>> {
        let filters = self.stages.iter().flat_map(|stage| &stage.filters);
        let enabled = filters.filter(|entry| entry.enabled);
        enabled.map(|entry| entry.unit.name.clone()).collect()
    }

    /// Whether it names that unit, enabled or not.
    pub fn names(&self, unit: &str) -> bool {
        self.units().any(|used| *used.name == *unit)
    }

    /// What is allowed and seldom meant: a sentence each, for its author.
    pub fn remarks(&self) -> Vec<String> {
        let costs = self.stages.iter().flat_map(|stage| &stage.costs);
        let negative = costs.filter(|entry| entry.factor < 0.0);
        let remarks = negative.map(|entry| {
            format!(
                "the cost \"{}\" has the negative factor {}: hosts that the unit \"{}\" finds costly are preferred",
                entry.name, entry.factor, entry.unit.name
            )
        });
        let overridden = self.overridden_settings.iter().map(|setting| {
            format!(
                "the setting \"{setting}\" for all units has no effect: every entry of a unit that has it sets it itself"
            )
        });
        remarks.chain(overridden).collect()
    }

    /// The unit of the entry of that name that removes hosts: of the filter, or else of the
    /// cost or selection.
    pub fn unit_that_removes(&self, entry: &str) -> Option<&str> {
        let mut filters = self.stages.iter().flat_map(|stage| &stage.filters);
        if let Some(filter) = filters.find(|it| *it.name == *entry) {
            return Some(&filter.unit.name);
        }
        let mut others = self.stages.iter().flat_map(|stage| {
            let costs = stage.costs.iter().map(|it| (&it.name, &it.unit));
            costs.chain(stage.selections.iter().map(|it| (&it.name, &it.unit)))
        });
        let (_, unit) = others.find(|(name, _)| ***name == *entry)?;
        Some(&unit.name)
    }

    /// The units that it names, enabled or not, as often as it does.
    pub fn units(&self) -> impl Iterator<Item = &UnitName> {
        let of_stages = self.stages.iter().flat_map(|stage| {
            let filters = stage.filters.iter().map(|entry| &entry.unit);
            let costs = stage.costs.iter().map(|entry| &entry.unit);
            let selections = stage.selections.iter().map(|entry| &entry.unit);
            filters.chain(costs).chain(selections)
        });
        let effects = self.effects.iter().map(|entry| &entry.unit);
        let alone = self.order.iter().chain(&self.balance);
        of_stages
            .chain(effects)
            .chain(alone.map(|entry| &entry.unit))
    }
}

fn is_refused(unheeded: &Unheeded) -> bool {
    *unheeded == Unheeded::Refuse
}

fn is_last_resort(costs: &InfiniteCosts) -> bool {
    *costs == InfiniteCosts::LastResort
}

fn is_allowed(search: &Search) -> bool {
    *search == Search::Allowed
}

/// One round of filters, costs and selections.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Stage {
    /// Unique in the policy.
    #[serde(serialize_with = "serial::text")]
    pub name: Arc<str>,
    /// In the order in which they are asked: one that stands first, those that
    /// stand anywhere as written, one that stands last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FilterEntry>,
    /// As written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostEntry>,
    /// As written, which is the order in which they are asked; a unit may demand to
    /// stand first or last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selections: Vec<SelectionEntry>,
    /// Which of the candidates that are then left go on.
    #[serde(serialize_with = "serial::word", skip_serializing_if = "is_all")]
    pub keep: Keep,
}

fn is_all(keep: &Keep) -> bool {
    *keep == Keep::All
}

/// A unit that removes hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FilterEntry {
    /// Unique among the policy's filters.
    #[serde(serialize_with = "serial::text")]
    pub name: Arc<str>,
    /// The unit, under its own name.
    #[serde(serialize_with = "serial::displayed")]
    pub unit: UnitName,
    /// Where it stands among the filters of its stage.
    #[serde(serialize_with = "serial::word")]
    pub position: Position,
    /// [`OnFailure::Fail`] or [`OnFailure::LeaveOut`].
    #[serde(serialize_with = "serial::word")]
    pub on_failure: OnFailure,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
    /// What the unit is set to.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

/// A unit that says how well hosts suit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CostEntry {
    /// Unique among the policy's costs: later stages read `cost.NAME`.
    #[serde(serialize_with = "serial::text")]
    pub name: Arc<str>,
    /// The unit, under its own name.
    #[serde(serialize_with = "serial::displayed")]
    pub unit: UnitName,
    /// Its costs are multiplied by this; finite, of either sign.
    pub factor: f64,
    /// What is done with its costs before.
    #[serde(serialize_with = "serial::word")]
    pub scaling: Scaling,
    /// Costs of tier 1 are compared first, those of tier 2 where these are equal,
    /// and so on.
    pub tier: u32,
    /// [`OnFailure::Fail`] or [`OnFailure::LeaveOut`].
    #[serde(serialize_with = "serial::word")]
    pub on_failure: OnFailure,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
    /// What the unit is set to.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

/// A unit that refines the candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SelectionEntry {
    /// Unique among the policy's selections.
    #[serde(serialize_with = "serial::text")]
    pub name: Arc<str>,
    /// The unit, under its own name.
    #[serde(serialize_with = "serial::displayed")]
    pub unit: UnitName,
    /// [`OnFailure::Fail`] or [`OnFailure::BestCost`].
    #[serde(serialize_with = "serial::word")]
    pub on_failure: OnFailure,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
    /// What the unit is set to.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

/// A unit that says what follows from a placement. If it fails, so does the
/// decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct EffectsEntry {
    /// Unique among the policy's effects.
    #[serde(serialize_with = "serial::text")]
    pub name: Arc<str>,
    /// The unit, under its own name.
    #[serde(serialize_with = "serial::displayed")]
    pub unit: UnitName,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
    /// What the unit is set to.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

/// A unit of which a policy has one: for the order of a batch, or for balance.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnitEntry {
    /// The unit, under its own name.
    #[serde(serialize_with = "serial::displayed")]
    pub unit: UnitName,
    /// What the unit is set to.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

/// A condition on a column of `hosts`: of two bounds, that the value lies between
/// them or, if they cross, outside of them. Since when it holds without a break is the
/// column `watch.NAME.since`.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// Unique in the policy.
    pub name: Arc<str>,
    /// A column of `hosts` of kind integer or number.
    pub column: Arc<str>,
    /// The unit of measure of the column.
    pub measure: Option<Measure>,
    /// The condition holds for values from here, if given.
    pub at_least: Option<f64>,
    /// The condition holds for values up to here, if given.
    pub at_most: Option<f64>,
}

impl Serialize for Watch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &*self.name)?;
        map.serialize_entry("column", &*self.column)?;
        for (key, bound) in [("at-least", self.at_least), ("at-most", self.at_most)] {
            if let Some(bound) = bound {
                let of_one = self.measure.map_or(1.0, Measure::of_one);
                map.serialize_entry(key, &(bound / of_one))?;
            }
        }
        map.end()
    }
}

fn is_empty(text: &Arc<str>) -> bool {
    text.is_empty()
}

#[cfg(test)]
mod junk;
#[cfg(test)]
mod tests;
