//! The choice of a host by kept sums and those of the hosts that are looked at apart.

use std::cmp::Ordering;

use fixedbitset::FixedBitSet;

use super::{Apart, Sums, added};
use crate::chain::choose::{TieOrder, choose};
use crate::chain::encode::HostRows;
use crate::chain::reuse::Class;
use crate::chain::run::Chosen;
use crate::chain::run::kept::NotKept;
use crate::policy::Tie;

impl Sums<'_, '_> {
    /// The best of the class, or of those `among` it who are left, and of the hosts apart.
    pub(super) fn choose(
        &mut self,
        class: &Class,
        among: Option<&FixedBitSet>,
        apart: &Apart,
        ties: &TieOrder<'_>,
        draw: f64,
    ) -> Result<Option<Chosen>, NotKept> {
        let of_class = class.best(among, ties);
        let class_sums = |row: u32| -> Vec<f64> {
            let tiers = class.sums.iter();
            tiers.map(|tier| tier[row as usize]).collect()
        };
        let in_class = of_class.map(|best| class_sums(best.row));
        let all = apart.survivors().map(|(_, sums)| sums);
        let all = all.chain(in_class.as_deref());
        let Some(least) = all.min_by(|a, b| compare(a, b)).map(<[f64]>::to_vec) else {
            return Ok(None);
        };
        let of_class =
            of_class.filter(|_| in_class.is_some_and(|sums| compare(&sums, &least).is_eq()));
        let equal = apart.survivors();
        let equal = equal.filter(|(_, sums)| compare(sums, &least).is_eq());
        let equal = equal.map(|(slot, _)| slot);
        let rule = &self.chain.policy.tie_rule;
        let is_late = self.stage.late_tier < self.stage.tiers.len();
        if !is_late && !rule.contains(&Tie::Draw) {
            let tied = equal.clone().count() + of_class.map_or(0, |best| best.tied as usize);
            let slots = equal.chain(of_class.map(|best| best.row));
            let slot = slots.min_by(|a, b| ties.compare(*a, *b));
            return Ok(slot.map(|slot| Chosen {
                slot,
                costs: least,
                tied,
            }));
        }
        let mut slots: Vec<u32> = equal.collect();
        if let Some(best) = of_class {
            slots.extend(class.tied(best, among, ties));
        }
        slots.sort_unstable();
        let costs = self.add_late_tiers(least, &mut slots)?;
        let tied = slots.iter().map(|slot| *slot as usize).collect();
        let choice = choose(tied, |slot| slot as u32, rule, draw, self.inventory);
        Ok(choice.map(|choice| Chosen {
            slot: choice.survivor as u32,
            costs,
            tied: choice.tied,
        }))
    }

    /// Ask the steps of late tiers about hosts that are equal in the tiers before, keep
    /// those that are still equal, and give their sums in all tiers.
    fn add_late_tiers(
        &mut self,
        mut costs: Vec<f64>,
        slots: &mut Vec<u32>,
    ) -> Result<Vec<f64>, NotKept> {
        for tier in self.stage.late_tier..self.stage.tiers.len() {
            for number in 0..self.steps.len() {
                if self.waits(number) && self.stage.steps[number].tier(self.stage) == tier {
                    self.refresh(number, HostRows::List(slots))?;
                }
            }
            let sources = self.sources();
            let sum = |slot: &u32| {
                let mut sum = 0.0;
                for (entry, cost) in self.stage.costs.iter().enumerate() {
                    if cost.tier == tier && cost.factor != 0.0 {
                        let step = self.step_of_cost[entry];
                        let exceptions = &self.steps[step].exceptions;
                        let exception = exceptions.iter().find(|(related, _)| related == slot);
                        let said = exception.map_or_else(|| sources[step].said(*slot), |it| it.1);
                        sum = added(sum, cost, said.cost);
                    }
                }
                sum
            };
            let sums: Vec<f64> = slots.iter().map(sum).collect();
            let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
            let mut sums = sums.into_iter();
            slots.retain(|_| sums.next() == Some(least));
            costs.push(least);
        }
        Ok(costs)
    }
}

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let orders = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    orders
        .into_iter()
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
