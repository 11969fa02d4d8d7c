//! The choice of a host by kept sums and those of the hosts that are looked at apart.

use std::cmp::Ordering;

use super::evaluate::Looked;
use super::{Apart, Sums};
use crate::choose::{TieOrder, choose};
use crate::encode::HostRows;
use crate::reuse::{Best, Class, Left};
use crate::run::Chosen;
use crate::run::kept::NotKept;
use placewright_policy::Tie;

impl Sums<'_, '_> {
    /// The best of those who are left of the class, and of the hosts apart.
    pub(super) fn choose(
        &mut self,
        class: &Class,
        left: &Left<'_>,
        apart: &Apart,
        ties: &TieOrder<'_>,
        draw: f64,
    ) -> Result<Option<Chosen>, NotKept> {
        let of_class = class.best(left, ties);
        let sums_of = |best: Best| class.sums.iter().map(move |tier| tier[best.row as usize]);
        let best_apart =
            (apart.survivors()).min_by(|a, b| compare(apart.sums_of(*a), apart.sums_of(*b)));
        let least: Vec<f64> = match (of_class, best_apart) {
            (None, None) => return Ok(None),
            (Some(best), Some(place)) if compare(sums_of(best), apart.sums_of(place)).is_le() => {
                sums_of(best).collect()
            }
            (_, Some(place)) => apart.sums_of(place).collect(),
            (Some(best), None) => sums_of(best).collect(),
        };
        let of_class =
            of_class.filter(|best| compare(sums_of(*best), least.iter().copied()).is_eq());
        let equal = apart.survivors();
        let equal =
            equal.filter(|place| compare(apart.sums_of(*place), least.iter().copied()).is_eq());
        let equal = equal.map(|place| apart.slots[place]);
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
            slots.extend(class.tied(best, left, ties));
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
            let sums = self.add_up(tier, Looked::AsRelated(slots), &sources);
            let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
            let mut sums = sums.into_iter();
            slots.retain(|_| sums.next() == Some(least));
            costs.push(least);
        }
        Ok(costs)
    }
}

/// Which sums are less, tier by tier.
fn compare(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> Ordering {
    let mut orders = a.zip(b).map(|(a, b)| a.total_cmp(&b));
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
