//! Decides from kept sums: only hosts of which something changed are looked at.

mod all;
mod choose;
mod skips;

use super::super::choose::TieOrder;
use super::super::encode::HostRows;
use super::super::reuse::{
    Class, Dirty, FOR_GOOD, KEPT, Kept, Left, RemovalCode, Said, Shape, Verdict,
};
use super::super::scale::{plus, scale, weighted};
use super::super::{Chain, Cost, Stage};
use super::ask::Asker;
use super::kept::{Exception, NotKept, Where};
use super::stage::Removal;
use super::{Decided, Removed};
use crate::inventory::Inventory;
use crate::policy::Scaling;

/// Decide about all hosts that are up. None if it cannot be done from kept sums: then
/// all hosts have to be looked at.
pub(super) fn decide(
    chain: &Chain,
    kept: &mut Kept,
    asker: &mut Asker<'_>,
    draw: f64,
) -> Option<Decided> {
    let [stage] = &chain.stages[..] else {
        return None;
    };
    kept.of_class?;
    let inventory = asker.inventory;
    // Where no host is up, units are asked all the same: they may refuse or fail.
    inventory.up_slots().next()?;
    let mut sums = Sums::begin(chain, stage, kept, asker)?;
    let tiers = stage.late_tier.min(stage.tiers.len());
    let place = sums
        .kept
        .class(&sums.class_key(), tiers, inventory.changes())?;
    // Out of its place meanwhile: if a unit fails, one is left of which nothing is known.
    let is_timed = sums.kept.is_timed;
    let empty = Class::new(tiers, is_timed, inventory.changes());
    let mut class = std::mem::replace(sums.kept.classes.get_mut(place)?, empty);
    let ties = TieOrder::new(&chain.policy.tie_rule, inventory);
    let before = class.bytes();
    let apart = sums.sync(&mut class, &ties).ok()?;
    sums.kept.grew(class.bytes().saturating_sub(before));
    let left = Left::of(&class, &sums.masks());
    let among = left.among.as_ref();
    let chosen = sums.choose(&class, among, &apart, &ties, draw).ok()?;
    let decided = Decided {
        chosen,
        considered: class.considered() + apart.len(),
        removed: removed(stage, left.removed, &apart),
        left_out: Vec::new(),
        shares: Vec::new(),
    };
    *kept.classes.get_mut(place)? = class;
    kept.decided_from_sums();
    Some(decided)
}

/// The answers of all steps to the request at hand.
struct Sums<'s, 'a> {
    chain: &'s Chain,
    stage: &'s Stage,
    kept: &'s mut Kept,
    asker: &'s mut Asker<'a>,
    inventory: &'a Inventory,
    /// By step of the stage.
    steps: Vec<OfStep>,
    /// By cost entry: the step that gives it.
    step_of_cost: Vec<usize>,
}

/// The answers of one step.
struct OfStep {
    at: Where,
    /// It is no part of the class: the hosts that it removes are skipped over.
    skips: bool,
    /// The hosts related to the request, by slot.
    related: Vec<u32>,
    exceptions: Vec<Exception>,
}

/// The hosts that are looked at apart from the others, since they are related to the request.
struct Apart {
    /// By slot, ascending; with who removes them.
    hosts: Vec<(u32, RemovalCode)>,
    tiers: usize,
    /// Host by host, of each tier by tier.
    sums: Vec<f64>,
}

impl Apart {
    fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Those that nobody removes, with their sums tier by tier.
    fn survivors(&self) -> impl Iterator<Item = (u32, &[f64])> + Clone {
        let hosts = self.hosts.iter().enumerate();
        let kept = hosts.filter(|(_, (_, removal))| *removal == KEPT);
        kept.map(|(number, (slot, _))| {
            let first = number * self.tiers;
            (*slot, &self.sums[first..first + self.tiers])
        })
    }
}

/// Where to look for what a step says of a host.
#[derive(Clone, Copy)]
enum Source<'k> {
    One(Said),
    /// Verdicts, costs and untils by slot.
    Each(&'k [Verdict], &'k [f64], &'k [i64]),
}

impl Source<'_> {
    #[inline]
    fn said(&self, slot: u32) -> Said {
        let slot = slot as usize;
        match self {
            Source::One(said) => *said,
            Source::Each(verdicts, costs, until) => Said {
                verdict: verdicts[slot],
                cost: costs.get(slot).copied().unwrap_or(0.0),
                until: until.get(slot).copied().unwrap_or(FOR_GOOD),
            },
        }
    }
}

impl<'s, 'a> Sums<'s, 'a> {
    /// Find the answers of all steps. None if those of any are not kept: all the others
    /// are noted all the same, to be kept the next time.
    fn begin(
        chain: &'s Chain,
        stage: &'s Stage,
        kept: &'s mut Kept,
        asker: &'s mut Asker<'a>,
    ) -> Option<Self> {
        let found: Vec<Option<Where>> = stage
            .steps
            .iter()
            .map(|step| asker.kept_at(kept, step))
            .collect();
        let mut steps = Vec::with_capacity(stage.steps.len());
        for (step, at) in stage.steps.iter().zip(found) {
            let at = at?;
            let related = match at {
                Where::Nothing => Vec::new(),
                Where::At(_) => asker.related(step),
            };
            if let Where::At(place) = at
                && kept.steps[step.place].shape != Some(Shape::Each)
            {
                // One answer for all is a part of the class: it has to be known first.
                let other = asker.first_up_but(&related);
                let needed = HostRows::List(other.as_slice());
                asker.refresh(kept, step, place, needed, 0, &related).ok()?;
            }
            steps.push(OfStep {
                at,
                skips: kept.steps[step.place].skips,
                related,
                exceptions: Vec::new(),
            });
        }
        let mut step_of_cost = vec![0; stage.costs.len()];
        for (number, step) in stage.steps.iter().enumerate() {
            for entry in &step.costs {
                step_of_cost[*entry] = number;
            }
        }
        Some(Self {
            chain,
            stage,
            inventory: asker.inventory,
            kept,
            asker,
            steps,
            step_of_cost,
        })
    }

    /// What tells the class from others: which answers its sums are made of.
    fn class_key(&self) -> Vec<u64> {
        let mut key = Vec::with_capacity(self.steps.len());
        let steps = self.stage.steps.iter().zip(&self.steps);
        let of_class = steps.filter(|(_, of_step)| !of_step.skips);
        key.extend(of_class.map(|(step, of_step)| match of_step.at {
            Where::Nothing => 0,
            Where::At(place) => {
                let answers = self.kept.steps[step.place].store.get(place);
                answers.map_or(0, |answers| answers.serial)
            }
        }));
        key
    }

    /// Bring the class up to date, and look at the related hosts.
    fn sync(&mut self, class: &mut Class, ties: &TieOrder<'_>) -> Result<Apart, NotKept> {
        let inventory = self.inventory;
        let slots = inventory.slots();
        let aspects = self.kept.of_class.unwrap_or_default();
        let now = self.asker.subject.request.now;
        let everybody = inventory.is_all_up();
        let is_up = |slot: &u32| everybody || inventory.is_up(*slot);
        let related = || self.steps.iter().map(|of_step| &of_step.related);
        let mut apart = Vec::with_capacity(related().map(Vec::len).sum());
        apart.extend(related().flatten().copied().filter(is_up));
        apart.sort_unstable();
        apart.dedup();
        let dirty = class.dirty(inventory.changes(), aspects, slots, now, &apart);
        class.grow(slots);
        let all = u32::try_from(slots).unwrap_or(u32::MAX);
        let changed = match dirty {
            Dirty::All => None,
            Dirty::Some(changed) => Some(changed),
        };
        let up: Vec<u32> = match &changed {
            _ if everybody => Vec::new(),
            None => inventory.up_slots().collect(),
            Some(changed) => changed.iter().copied().filter(is_up).collect(),
        };
        let needed = match &changed {
            None if everybody => HostRows::All(all),
            Some(changed) if everybody => HostRows::List(changed),
            _ => HostRows::List(&up),
        };
        for number in 0..self.steps.len() {
            if self.steps[number].skips {
                self.refresh_skipped(number)?;
            } else if !self.waits(number) {
                self.refresh(number, needed)?;
            }
        }
        let sources = self.sources();
        let is_all = changed.is_none();
        let mut rows = changed.unwrap_or_else(|| (0..all).collect());
        if !everybody || !apart.is_empty() {
            let mut next_apart = apart.iter().copied().peekable();
            rows.retain(|slot| {
                let is_apart = next_apart.next_if_eq(slot).is_some();
                let is_up = is_apart || is_up(slot);
                if !is_up {
                    class.leave_out(*slot);
                }
                is_up && !is_apart
            });
        }
        self.evaluate_all(&rows, &sources, class);
        let tiers = class.sums.len();
        let mut looked_at = Apart {
            hosts: Vec::with_capacity(apart.len()),
            tiers,
            sums: vec![0.0; apart.len() * tiers],
        };
        let mut said = vec![Said::NOTHING; self.steps.len()];
        let exceptions = self.steps.iter().map(|of_step| of_step.exceptions.iter());
        let mut exceptions: Vec<_> = exceptions.map(Iterator::peekable).collect();
        for (number, slot) in apart.into_iter().enumerate() {
            class.set_apart(slot);
            for ((said, source), exceptions) in said.iter_mut().zip(&sources).zip(&mut exceptions) {
                while exceptions.next_if(|(other, _)| *other < slot).is_some() {}
                *said = match exceptions.next_if(|(other, _)| *other == slot) {
                    Some((_, said)) => *said,
                    None => source.said(slot),
                };
            }
            let sums = &mut looked_at.sums[number * tiers..(number + 1) * tiers];
            let (removal, _) = self.evaluate(|step| said[step], sums);
            looked_at.hosts.push((slot, removal));
        }
        class.play(is_all, ties);
        Ok(looked_at)
    }

    /// Whether a step is asked only about hosts that earlier tiers leave equal.
    fn waits(&self, number: usize) -> bool {
        let step = &self.stage.steps[number];
        step.filter.is_none() && step.tier(self.stage) >= self.stage.late_tier
    }

    fn refresh(&mut self, number: usize, needed: HostRows<'_>) -> Result<(), NotKept> {
        let (step, of_step) = (&self.stage.steps[number], &mut self.steps[number]);
        if let Where::At(place) = of_step.at
            && self.kept.steps[step.place].shape != Some(Shape::Request)
        {
            let related = &of_step.related;
            let asker = &mut *self.asker;
            let all = self.inventory.host_count();
            of_step.exceptions = asker.refresh(self.kept, step, place, needed, all, related)?;
        }
        Ok(())
    }

    fn sources(&self) -> Vec<Source<'_>> {
        let steps = self.stage.steps.iter().zip(&self.steps);
        steps
            .map(|(step, of_step)| {
                let Where::At(place) = of_step.at else {
                    return Source::One(Said::NOTHING);
                };
                let of_step = &self.kept.steps[step.place];
                let Some(answers) = of_step.store.get(place) else {
                    return Source::One(Said::NOTHING);
                };
                match answers.columns() {
                    Some((verdicts, costs, until)) => Source::Each(verdicts, costs, until),
                    None => Source::One(answers.said(0)),
                }
            })
            .collect()
    }

    /// Whether a host stays or who removes it first, its sums tier by tier if it stays,
    /// and the last second at which that holds; by all steps, whether they are part of the
    /// class or not.
    fn evaluate(&self, said: impl Fn(usize) -> Said, sums: &mut [f64]) -> (RemovalCode, i64) {
        let mut ends = FOR_GOOD;
        let mut removal = KEPT;
        for (number, step) in self.stage.steps.iter().enumerate() {
            if self.kept.is_timed {
                ends = ends.min(said(number).until);
            }
            if step.filter.is_some()
                && removal == KEPT
                && let Some(reason) = said(number).verdict.reason()
            {
                removal = Removal::new(number, reason).code();
            }
        }
        sums.fill(0.0);
        if removal == KEPT {
            for (entry, cost) in self.stage.costs.iter().enumerate() {
                if let Some(sum) = sums.get_mut(cost.tier)
                    && cost.factor != 0.0
                {
                    *sum = added(*sum, cost, said(self.step_of_cost[entry]).cost);
                }
            }
        }
        (removal, ends)
    }
}

/// A sum and the weighted cost of one entry, whose scale no other host has a part in.
fn added(sum: f64, cost: &Cost, raw: f64) -> f64 {
    let mut scaled = [raw];
    if cost.scaling != Scaling::None {
        scale(cost.scaling, cost.range, &mut scaled);
    }
    plus(sum, weighted(cost.factor, scaled[0]))
}

/// How many hosts each reason removed, in policy order.
fn removed(stage: &Stage, mut counts: Vec<(RemovalCode, usize)>, apart: &Apart) -> Vec<Removed> {
    let removals = apart.hosts.iter().map(|(_, removal)| *removal);
    for removal in removals.filter(|removal| *removal != KEPT) {
        match counts.binary_search_by_key(&removal, |(code, _)| *code) {
            Ok(place) => counts[place].1 += 1,
            Err(place) => counts.insert(place, (removal, 1)),
        }
    }
    let counts = counts.into_iter();
    counts
        .map(|(code, hosts)| Removal::of_code(code).told(stage, hosts))
        .collect()
}
