//! Decides from kept sums: only hosts of which something changed are looked at.

mod choose;
mod evaluate;
mod skips;

use std::borrow::Cow;

use super::super::choose::TieOrder;
use super::super::encode::HostRows;
use super::super::reuse::{Class, Dirty, KEPT, Kept, Left, RemovalCode, Said, Shape, Verdict};
use super::super::{Chain, Stage};
use super::ask::Asker;
use super::kept::{Exception, NotKept, Where};
use super::stage::Removal;
use super::{Decided, Removed};
use placewright_inventory::Inventory;

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
    let left = Left::of(&class, &sums.masks(), &apart.slots);
    let chosen = sums.choose(&class, &left, &apart, &ties, draw).ok()?;
    let decided = Decided {
        chosen,
        considered: left.considered + apart.slots.len(),
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
#[derive(Default)]
struct Apart {
    /// Ascending.
    slots: Vec<u32>,
    /// Who removes each of them.
    removals: Vec<RemovalCode>,
    /// Tier by tier, the sums of each of them.
    sums: Vec<Vec<f64>>,
}

impl Apart {
    /// The places of those that nobody removes.
    fn survivors(&self) -> impl Iterator<Item = usize> + Clone {
        let removals = self.removals.iter().enumerate();
        removals.filter_map(|(place, removal)| (*removal == KEPT).then_some(place))
    }

    /// The sums of the host in that place, tier by tier.
    fn sums_of(&self, place: usize) -> impl Iterator<Item = f64> {
        self.sums.iter().map(move |tier| tier[place])
    }
}

/// Where to look for what a step says of a host.
#[derive(Clone, Copy)]
enum Source<'k> {
    One(Said),
    /// Verdicts, costs and untils by slot.
    Each(&'k [Verdict], &'k [f64], &'k [i64]),
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
        let mut is_whole_due = false;
        for (step, at) in stage.steps.iter().zip(&found) {
            if let Some(Where::At(place)) = at {
                is_whole_due |= kept.is_whole_due(step.place, *place);
            }
        }
        if is_whole_due {
            // The long way asks as if nothing were kept.
            return None;
        }
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
        let mut key = Vec::with_capacity(2 * self.steps.len());
        let steps = self.stage.steps.iter().zip(&self.steps);
        for (step, of_step) in steps.filter(|(_, of_step)| !of_step.skips) {
            let answers = match of_step.at {
                Where::Nothing => None,
                Where::At(place) => self.kept.steps[step.place].store.get(place),
            };
            key.extend(match answers {
                Some(answers) if answers.columns().is_some() => [u64::MAX, answers.serial],
                // Requests that are told the same share a class.
                one => {
                    let said = one.map_or(Said::NOTHING, |answers| answers.said(0));
                    [said.verdict.into(), said.cost.to_bits()]
                }
            });
        }
        key
    }

    /// Bring the class up to date, but for the related hosts, and look at those.
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
        let dirty = class.dirty(inventory.changes(), aspects, slots, now);
        class.grow(slots);
        let is_all = matches!(dirty, Dirty::All);
        let mut rows = match dirty {
            Dirty::All => (0..slots as u32).collect(),
            Dirty::Some(changed) => changed,
        };
        if !everybody || !apart.is_empty() {
            let mut next_apart = apart.iter().copied().peekable();
            rows.retain(|slot| {
                while next_apart.next_if(|apart| apart < slot).is_some() {}
                if next_apart.next_if_eq(slot).is_some() {
                    class.postpone(*slot);
                    return false;
                }
                let is_up = is_up(slot);
                if !is_up {
                    class.leave_out(*slot);
                }
                is_up
            });
        }
        let needed = merged(&rows, &apart);
        let needed = match is_all && everybody {
            true => HostRows::All(slots as u32),
            false => HostRows::List(&needed),
        };
        for number in 0..self.steps.len() {
            if self.steps[number].skips {
                self.refresh_skipped(number)?;
            } else if !self.waits(number) {
                self.refresh(number, needed)?;
            }
        }
        let sources = self.sources();
        self.evaluate(&rows, &sources, class);
        let tiers = class.sums.len();
        let apart = self.evaluate_apart(apart, &sources, tiers);
        class.play(is_all, ties);
        Ok(apart)
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
}

/// Both of two ascending lists that have nothing in common, ascending.
fn merged<'l>(a: &'l [u32], b: &[u32]) -> Cow<'l, [u32]> {
    if b.is_empty() {
        return Cow::Borrowed(a);
    }
    let mut both = Vec::with_capacity(a.len() + b.len());
    both.extend_from_slice(a);
    both.extend_from_slice(b);
    both.sort();
    Cow::Owned(both)
}

/// How many hosts each reason removed, in policy order.
fn removed(stage: &Stage, mut counts: Vec<(RemovalCode, usize)>, apart: &Apart) -> Vec<Removed> {
    let removals = apart.removals.iter().copied();
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
