//! What a cluster's admin decides: which units, in which order, how weighty, and
//! with which settings.
//!
//! A [`Policy`] is a policy document in which every name has been found and every
//! default filled in. It holds no unit and runs nothing: the chain does.

mod settings;
mod unit_name;
mod words;

pub use settings::Settings;
pub use unit_name::UnitName;
pub use words::{OnFailure, Position, Scaling, Tie};

use std::sync::Arc;

/// The policy of a cluster, checked and complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Its name, for people.
    pub name: Arc<str>,
    /// What it is for, for people; may be empty.
    pub description: Arc<str>,
    /// How hosts of equal cost are told apart, rule by rule. What is still tied
    /// after the last rule is decided by the hosts' ids.
    pub tie_rule: Vec<Tie>,
    /// One or more, in order: the candidates of one are those that the one before
    /// left.
    pub stages: Vec<Stage>,
    /// The unit that proposes moves while the cluster runs.
    pub balance: Option<BalanceEntry>,
    /// Conditions of which units can read since when they hold.
    pub watches: Vec<Watch>,
}

/// One round of filters, costs and selections.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Unique in the policy.
    pub name: Arc<str>,
    /// In the order in which they are asked: one that stands first, those that
    /// stand anywhere as written, one that stands last.
    pub filters: Vec<FilterEntry>,
    /// As written.
    pub costs: Vec<CostEntry>,
    /// In the order in which they are asked, as for filters; the unit says where
    /// it must stand.
    pub selections: Vec<SelectionEntry>,
}

/// A unit that removes hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterEntry {
    /// Unique among the policy's filters.
    pub name: Arc<str>,
    /// The unit, under its own name.
    pub unit: UnitName,
    /// Where it stands among the filters of its stage.
    pub position: Position,
    /// [`OnFailure::Fail`] or [`OnFailure::LeaveOut`].
    pub on_failure: OnFailure,
    /// What the unit is set to.
    pub settings: Settings,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
}

/// A unit that says how well hosts suit.
#[derive(Debug, Clone, PartialEq)]
pub struct CostEntry {
    /// Unique among the policy's costs: later stages read `cost.NAME`.
    pub name: Arc<str>,
    /// The unit, under its own name.
    pub unit: UnitName,
    /// Its costs are multiplied by this; finite, of either sign.
    pub factor: f64,
    /// What is done with its costs before.
    pub scaling: Scaling,
    /// Costs of tier 1 are compared first, those of tier 2 where these are equal,
    /// and so on.
    pub tier: u32,
    /// [`OnFailure::Fail`] or [`OnFailure::LeaveOut`].
    pub on_failure: OnFailure,
    /// What the unit is set to.
    pub settings: Settings,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
}

/// A unit that refines the candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionEntry {
    /// Unique among the policy's selections.
    pub name: Arc<str>,
    /// The unit, under its own name.
    pub unit: UnitName,
    /// [`OnFailure::Fail`] or [`OnFailure::BestCost`].
    pub on_failure: OnFailure,
    /// What the unit is set to.
    pub settings: Settings,
    /// False: it is checked with the policy, and not asked.
    pub enabled: bool,
}

/// The unit that proposes moves.
#[derive(Debug, Clone, PartialEq)]
pub struct BalanceEntry {
    /// The unit, under its own name.
    pub unit: UnitName,
    /// What the unit is set to.
    pub settings: Settings,
}

/// A condition on a column of `hosts`. Since when it holds without a break is the
/// column `watch.NAME.since`.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// Unique in the policy.
    pub name: Arc<str>,
    /// A column of `hosts` of kind integer or number.
    pub column: Arc<str>,
    /// The condition holds for values from here, if given.
    pub at_least: Option<f64>,
    /// The condition holds for values up to here, if given.
    pub at_most: Option<f64>,
}
