//! Plans as they are kept outside the process.

use serde::de::{Deserialize, Deserializer};
use serde::{Deserialize as DeserializeDerive, Serialize};

use super::{BalancePlan, Because};
use crate::model::Write;

/// A plan as it is kept: as programs read it, and in full what is written with its moves.
#[derive(Debug, Clone, PartialEq, Serialize, DeserializeDerive)]
#[serde(rename_all = "kebab-case")]
pub struct SavedPlan {
    plan: BalancePlan,
    /// By move.
    #[serde(default)]
    writes: Vec<Vec<Write>>,
}

impl From<&BalancePlan> for SavedPlan {
    fn from(plan: &BalancePlan) -> Self {
        let moves = plan.moves.iter();
        Self {
            plan: plan.clone(),
            writes: moves.map(|step| step.changes.clone()).collect(),
        }
    }
}

impl From<SavedPlan> for BalancePlan {
    fn from(saved: SavedPlan) -> Self {
        let mut plan = saved.plan;
        for (step, writes) in plan.moves.iter_mut().zip(saved.writes) {
            step.changes = writes;
        }
        plan
    }
}

impl<'de> Deserialize<'de> for Because {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::Said)
    }
}

/// Costs; null = infinite.
pub(super) fn costs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    Vec::deserialize(deserializer).map(finite_or_not)
}

/// The same, if there are any.
pub(super) fn costs_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<f64>>, D::Error> {
    let costs: Option<Vec<Option<f64>>> = Option::deserialize(deserializer)?;
    Ok(costs.map(finite_or_not))
}

fn finite_or_not(costs: Vec<Option<f64>>) -> Vec<f64> {
    let costs = costs.into_iter();
    costs.map(|cost| cost.unwrap_or(f64::INFINITY)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entity, Facts, RowChange};
    use crate::scheduler::{PlannedMove, RefusedMove};

    #[test]
    fn a_plan_that_was_kept_is_had_again_with_all_that_is_written() {
        let row = RowChange::Append(Facts::new().with("host", "n2"));
        let plan = BalancePlan {
            now: 7,
            inventory_version: 9,
            moves: vec![PlannedMove {
                vm: "v".into(),
                from: "a".into(),
                to: "b".into(),
                reason: "is full".to_owned(),
                cost_before: Some(vec![f64::INFINITY, 0.1]),
                cost_after: vec![1.0, 0.2],
                changes: vec![Write::row(Entity::Vm("v".into()), "keys", row).once_running("v")],
            }],
            notes: Vec::new(),
            refused: vec![RefusedMove {
                after: 0,
                vm: "w".into(),
                from: "a".into(),
                because: Because::Said(Because::NoGain.to_string()),
            }],
            cut_short: true,
        };
        let text = serde_json::to_string(&SavedPlan::from(&plan)).unwrap();
        let again: SavedPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(BalancePlan::from(again), plan);
    }
}
