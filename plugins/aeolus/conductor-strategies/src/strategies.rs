//! The four strategies.

use std::collections::{BTreeMap, BTreeSet};

use placewright_sdk::prelude::*;

use crate::groups::Groups;
use crate::{Host, Settings};

/// A row of the setting `strategies`.
#[derive(Row)]
pub struct Strategy {
    /// One of weighting, penalty_for_failure, strict_order and cost_order.
    pub name: Text,
    /// False: it is passed over.
    pub enabled: Option<bool>,
    /// For penalty_for_failure: points taken off for each failure; 5 if not given.
    pub penalty_percentage: Option<f64>,
    /// For penalty_for_failure: for how many minutes a failure counts; 240 if not
    /// given.
    pub time_period_minutes: Option<i64>,
    /// For penalty_for_failure: accounts with so many failures come last; there is no
    /// such limit if not given.
    pub failure_count_hard_limit: Option<i64>,
    /// For cost_order: the formula, 1, 2 or 3; 1 if not given.
    pub impact: Option<i64>,
}

/// A row of the setting `account-scores`.
#[derive(Row)]
pub struct AccountScore {
    /// Name of the account: the host's attribute account, or else its id.
    pub account: Text,
    /// From -100 to 100.
    pub score: i64,
}

/// A row of the setting `priority-groups`.
#[derive(Row)]
pub struct PriorityMember {
    /// Score of the group: the greater, the better.
    pub score: i64,
    /// Name of an account in it.
    pub account: Text,
}

enum Step {
    Weighting,
    PenaltyForFailure {
        points: f64,
        period: i64,
        hard_limit: Option<i64>,
    },
    StrictOrder,
    CostOrder(Impact),
}

/// What is taken off for a price, before it is clamped.
#[derive(Clone, Copy)]
enum Impact {
    Linear,
    Logarithmic,
    Square,
}

impl Impact {
    fn penalty(self, price: f64) -> f64 {
        match self {
            Self::Linear => 16.5 * price,
            Self::Logarithmic => 10.0 * (33.0 * (price + 1.0)).ln(),
            Self::Square => 4.125 * ((price + 2.0).powi(2) - 1.0),
        }
    }

    fn reward(self, price: f64) -> f64 {
        100.0 - self.penalty(price).clamp(-100.0, 100.0)
    }
}

impl Step {
    fn of(row: &Strategy) -> Result<Self, String> {
        match &*row.name {
            "weighting" => Ok(Self::Weighting),
            "strict_order" => Ok(Self::StrictOrder),
            "penalty_for_failure" => Self::penalty_for_failure(row),
            "cost_order" => match row.impact.unwrap_or(1) {
                1 => Ok(Self::CostOrder(Impact::Linear)),
                2 => Ok(Self::CostOrder(Impact::Logarithmic)),
                3 => Ok(Self::CostOrder(Impact::Square)),
                other => Err(format!(
                    "the impact of cost_order must be 1, 2 or 3, not {other}"
                )),
            },
            other => Err(format!(
                "a strategy must be weighting, penalty_for_failure, strict_order or cost_order, not \"{other}\""
            )),
        }
    }

    fn penalty_for_failure(row: &Strategy) -> Result<Self, String> {
        let points = row.penalty_percentage.unwrap_or(5.0);
        let minutes = row.time_period_minutes.unwrap_or(240);
        if !(points.is_finite() && points >= 0.0) || minutes < 0 {
            let message = "penalty-percentage and time-period-minutes of penalty_for_failure must be from 0 up";
            return Err(message.into());
        }
        Ok(Self::PenaltyForFailure {
            points,
            period: minutes.saturating_mul(60),
            hard_limit: row.failure_count_hard_limit,
        })
    }
}

/// The settings, checked.
pub struct Program {
    steps: Vec<Step>,
    scores: BTreeMap<Text, i64>,
    priority_groups: BTreeMap<i64, BTreeSet<Text>>,
}

impl Program {
    /// The strategies that are set.
    ///
    /// # Errors
    ///
    /// A sentence for the admin.
    pub fn of(settings: &Settings) -> Result<Self, String> {
        let mut steps = Vec::new();
        for row in &settings.strategies {
            let step = Step::of(&row)?;
            if row.enabled != Some(false) {
                steps.push(step);
            }
        }
        let mut scores = BTreeMap::new();
        for AccountScore { account, score } in &settings.account_scores {
            if !(-100..=100).contains(&score) {
                return Err(format!(
                    "the score of an account must be from -100 to 100, and that of \"{account}\" is {score}"
                ));
            }
            if scores.insert(account.clone(), score).is_some() {
                return Err(format!(
                    "an account can have one score, and \"{account}\" has two"
                ));
            }
        }
        let mut priority_groups: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for PriorityMember { score, account } in &settings.priority_groups {
            priority_groups.entry(score).or_default().insert(account);
        }
        Ok(Self {
            steps,
            scores,
            priority_groups,
        })
    }

    /// The groups that the strategies make of hosts.
    pub fn apply(&self, hosts: &[&Host], now: i64) -> Groups {
        let mut groups = Groups::new(hosts.len());
        for step in &self.steps {
            match step {
                Step::Weighting => groups.add(|place| {
                    let score = self.scores.get(hosts[place].account().as_str());
                    score.map_or(0.0, |score| *score as f64)
                }),
                Step::PenaltyForFailure {
                    points,
                    period,
                    hard_limit,
                } => {
                    let from = now.saturating_sub(*period);
                    let failures = |place: usize| hosts[place].failures_from(from);
                    groups.add(|place| -points * failures(place) as f64);
                    if let Some(limit) = hard_limit {
                        groups.fail(|place| failures(place) as i64 >= *limit);
                    }
                }
                Step::StrictOrder => {
                    for (score, accounts) in &self.priority_groups {
                        let holds = |place: usize| accounts.contains(hosts[place].account());
                        groups.add_group(*score, holds);
                    }
                }
                Step::CostOrder(impact) => groups.add_in_default(|place| {
                    let price = hosts[place].price();
                    price.map_or(0.0, |price| impact.reward(price))
                }),
            }
        }
        groups
    }
}
