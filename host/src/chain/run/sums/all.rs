//! What a chain comes to for many hosts at once: entry by entry, so that for each the
//! answers are walked through once.

use super::super::super::reuse::{Class, FOR_GOOD, KEPT, RemovalCode, Verdict};
use super::super::super::scale::{add, scale};
use super::super::stage::Removal;
use super::{Source, Sums, added};

impl Sums<'_, '_> {
    /// Set of these hosts whether they stay or who removes them first, their sums tier by
    /// tier if they stay, and the last second at which all that holds: as
    /// [`evaluate`](Self::evaluate) says of each, but by the steps alone that are part of
    /// the class.
    pub(super) fn evaluate_all(&self, slots: &[u32], sources: &[Source<'_>], class: &mut Class) {
        if self.kept.is_timed {
            let of_class = sources.iter().zip(&self.steps);
            let of_class = of_class.filter(|(_, of_step)| !of_step.skips);
            let ends = of_class.map(|(source, _)| source.ends(slots));
            class.ends = ends.fold(class.ends, i64::min);
        }
        let removals = self.removals(slots, sources);
        let mut sums = vec![0.0; slots.len()];
        for tier in 0..class.sums.len().max(1) {
            self.add_up(tier, slots, sources, &mut sums);
            for (sum, removal) in sums.iter_mut().zip(&removals) {
                if *removal != KEPT {
                    *sum = f64::INFINITY;
                }
            }
            if tier == 0 {
                for ((slot, removal), sum) in slots.iter().zip(&removals).zip(&sums) {
                    class.set(*slot, *removal, *sum);
                }
            } else if let Some(of_class) = class.sums.get_mut(tier) {
                for (slot, sum) in slots.iter().zip(&sums) {
                    of_class[*slot as usize] = *sum;
                }
            }
        }
    }

    /// The sums of a tier.
    fn add_up(&self, tier: usize, slots: &[u32], sources: &[Source<'_>], sums: &mut [f64]) {
        sums.fill(0.0);
        let mut raw: Vec<f64> = Vec::with_capacity(slots.len());
        for (entry, cost) in self.stage.costs.iter().enumerate() {
            if cost.tier != tier || cost.factor == 0.0 {
                continue;
            }
            match &sources[self.step_of_cost[entry]] {
                Source::One(said) => {
                    for sum in sums.iter_mut() {
                        *sum = added(*sum, cost, said.cost);
                    }
                }
                Source::Each(_, costs, _) => {
                    let of_slot = |slot: &u32| costs.get(*slot as usize).copied();
                    raw.clear();
                    raw.extend(slots.iter().map(|slot| of_slot(slot).unwrap_or(0.0)));
                    // The scale is fixed: no host has a part in it.
                    scale(cost.scaling, cost.range, &mut raw);
                    add(sums, cost.factor, &raw);
                }
            }
        }
    }

    fn removals(&self, slots: &[u32], sources: &[Source<'_>]) -> Vec<RemovalCode> {
        let mut removals = vec![KEPT; slots.len()];
        for (number, step) in self.stage.steps.iter().enumerate() {
            if step.filter.is_none() || self.steps[number].skips {
                continue;
            }
            match &sources[number] {
                Source::One(said) => {
                    let Some(reason) = said.verdict.reason() else {
                        continue;
                    };
                    let code = Removal::new(number, reason).code();
                    let stay = removals.iter_mut().filter(|removal| **removal == KEPT);
                    stay.for_each(|removal| *removal = code);
                }
                Source::Each(verdicts, ..) => {
                    let stays = |slot: &u32| verdicts[*slot as usize] == Verdict::KEEP;
                    if slots.iter().all(stays) {
                        continue;
                    }
                    for (removal, slot) in removals.iter_mut().zip(slots) {
                        if let Some(reason) = verdicts[*slot as usize].reason()
                            && *removal == KEPT
                        {
                            *removal = Removal::new(number, reason).code();
                        }
                    }
                }
            }
        }
        removals
    }
}

impl Source<'_> {
    /// The last second at which all that is said of these hosts still holds.
    fn ends(&self, slots: &[u32]) -> i64 {
        match self {
            Source::One(_) if slots.is_empty() => FOR_GOOD,
            Source::One(said) => said.until,
            Source::Each(_, _, until) => {
                let until = slots.iter().map(|slot| until.get(*slot as usize));
                until.flatten().copied().fold(FOR_GOOD, i64::min)
            }
        }
    }
}
