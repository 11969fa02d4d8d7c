//! What a chain comes to for many hosts at once: entry by entry, so that for each the
//! answers are walked through once.

use super::super::super::reuse::{Class, FOR_GOOD, KEPT, RemovalCode, Said, Verdict};
use super::super::super::scale::{add, scale};
use super::super::stage::Removal;
use super::{Apart, Source, Sums};

/// The hosts that are looked at.
#[derive(Clone, Copy)]
pub(super) enum Looked<'s> {
    /// As if they stood in no relation to the request, and by the filters alone that are part
    /// of the class. Slots.
    AsClass(&'s [u32]),
    /// As they stand to the request, and by all filters. Slots, ascending.
    AsRelated(&'s [u32]),
}

impl<'s> Looked<'s> {
    fn slots(self) -> &'s [u32] {
        match self {
            Self::AsClass(slots) | Self::AsRelated(slots) => slots,
        }
    }
}

impl Sums<'_, '_> {
    /// Set of these hosts in the class whether they stay or who removes them first, their
    /// sums tier by tier if they stay, and the last second at which all that holds.
    pub(super) fn evaluate(&self, slots: &[u32], sources: &[Source<'_>], class: &mut Class) {
        if self.kept.is_timed {
            let of_class = sources.iter().zip(&self.steps);
            let of_class = of_class.filter(|(_, of_step)| !of_step.skips);
            let ends = of_class.map(|(source, _)| source.ends(slots));
            class.ends = ends.fold(class.ends, i64::min);
        }
        let looked = Looked::AsClass(slots);
        let removals = self.removals(looked, sources);
        for tier in 0..class.sums.len().max(1) {
            let mut sums = self.add_up(tier, looked, sources);
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

    /// Look at hosts apart from the class.
    pub(super) fn evaluate_apart(
        &self,
        slots: Vec<u32>,
        sources: &[Source<'_>],
        tiers: usize,
    ) -> Apart {
        if slots.is_empty() {
            return Apart::default();
        }
        let looked = Looked::AsRelated(&slots);
        let sums = (0..tiers).map(|tier| self.add_up(tier, looked, sources));
        Apart {
            removals: self.removals(looked, sources),
            sums: sums.collect(),
            slots,
        }
    }

    /// The sums of a tier.
    pub(super) fn add_up(
        &self,
        tier: usize,
        looked: Looked<'_>,
        sources: &[Source<'_>],
    ) -> Vec<f64> {
        let slots = looked.slots();
        let mut sums = vec![0.0; slots.len()];
        let mut raw: Vec<f64> = Vec::with_capacity(slots.len());
        for (entry, cost) in self.stage.costs.iter().enumerate() {
            if cost.tier != tier || cost.factor == 0.0 {
                continue;
            }
            let step = self.step_of_cost[entry];
            raw.clear();
            match &sources[step] {
                Source::One(said) => raw.resize(slots.len(), said.cost),
                Source::Each(_, costs, _) => {
                    let of_slot = |slot: &u32| costs.get(*slot as usize).copied();
                    raw.extend(slots.iter().map(|slot| of_slot(slot).unwrap_or(0.0)));
                }
            }
            for (row, said) in self.exceptions(step, looked) {
                raw[row] = said.cost;
            }
            // The scale is fixed: no host has a part in it.
            scale(cost.scaling, cost.range, cost.factor, &mut raw);
            add(&mut sums, cost.factor, &raw);
        }
        sums
    }

    /// Whether hosts stay or who removes them first.
    fn removals(&self, looked: Looked<'_>, sources: &[Source<'_>]) -> Vec<RemovalCode> {
        let slots = looked.slots();
        let mut removals = vec![KEPT; slots.len()];
        let mut said: Vec<Verdict> = Vec::with_capacity(slots.len());
        for (number, step) in self.stage.steps.iter().enumerate() {
            let is_of_class = !self.steps[number].skips;
            let counts = is_of_class || matches!(looked, Looked::AsRelated(_));
            if step.filter.is_none() || !counts {
                continue;
            }
            said.clear();
            match &sources[number] {
                Source::One(one) => said.resize(slots.len(), one.verdict),
                Source::Each(verdicts, ..) => {
                    said.extend(slots.iter().map(|slot| verdicts[*slot as usize]));
                }
            }
            for (row, exception) in self.exceptions(number, looked) {
                said[row] = exception.verdict;
            }
            if said.iter().all(|verdict| *verdict == Verdict::KEEP) {
                continue;
            }
            for (removal, verdict) in removals.iter_mut().zip(&said) {
                if let Some(reason) = verdict.reason()
                    && *removal == KEPT
                {
                    *removal = Removal::new(number, reason).code();
                }
            }
        }
        removals
    }

    /// What a step says of hosts because of their relation to the request, with the places
    /// of the hosts.
    fn exceptions(&self, step: usize, looked: Looked<'_>) -> impl Iterator<Item = (usize, Said)> {
        let (exceptions, slots) = match looked {
            Looked::AsClass(_) => (&[][..], &[][..]),
            Looked::AsRelated(slots) => (&self.steps[step].exceptions[..], slots),
        };
        let mut rows = slots.iter().enumerate().peekable();
        exceptions.iter().filter_map(move |(slot, said)| {
            while rows.next_if(|(_, other)| *other < slot).is_some() {}
            let (row, _) = rows.next_if(|(_, other)| *other == slot)?;
            Some((row, *said))
        })
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
