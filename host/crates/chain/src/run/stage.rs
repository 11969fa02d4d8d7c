//! One stage of a chain for one request: who is removed, what the others cost.

mod outcome;

use std::sync::Arc;

use super::super::choose::{cheapest, keep_cheapest};
use super::super::encode::HostRows;
use super::super::reuse::RemovalCode;
use super::super::scale::{add, plus, scale, weighted};
use super::super::{Stage, Step};
use super::ask::{Answer, Asker, NoAnswer, kept};
use super::refine::Groups;
use super::{DecisionError, LeftOut, Removed};
use placewright_engine::contract::{Evaluation, Judgement};
use placewright_inventory::Inventory;
use placewright_model::Request;
use placewright_policy::OnFailure;

/// Verdicts that are looked at at once: most remove no host.
const SIDE_BY_SIDE: usize = 64;

/// What a filter without answer for a host says.
pub(crate) const LACKS_A_VALUE: &str = "lacks a value that the unit needs";

/// What a selection says of a host that it leaves out.
const NOT_SELECTED: &str = "is not among those that the selection leaves";

/// Why a host is out of a stage: the step and its reason, 0 for a value that is
/// missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Removal(u32);

impl Removal {
    const KEPT: Self = Self(0);

    pub(crate) fn new(step: usize, reason: u8) -> Self {
        Self((step as u32 + 1) << 8 | u32::from(reason))
    }

    /// By the selection in that place of the stage.
    pub(super) fn by_selection(stage: &Stage, place: usize) -> Self {
        Self::new(stage.steps.len() + place, 0)
    }

    /// As a number of two bytes, for stages of few steps.
    pub(super) fn code(self) -> RemovalCode {
        RemovalCode::try_from(self.0).unwrap_or(RemovalCode::MAX)
    }

    pub(super) fn of_code(code: RemovalCode) -> Self {
        Self(u32::from(code))
    }

    fn step(self) -> usize {
        (self.0 >> 8) as usize - 1
    }

    /// Who removed the host: the entry's name, and its step; none for a selection.
    pub(crate) fn by(self, stage: &Stage) -> (Arc<str>, Option<&Step>) {
        match stage.steps.get(self.step()) {
            Some(step) => (step.filter_name(), Some(step)),
            None => {
                let selection = stage.selections.get(self.step() - stage.steps.len());
                let name = selection.map_or_else(|| stage.name.clone(), |it| it.step.name.clone());
                (name, None)
            }
        }
    }

    /// The reason's text, and whether waiting may help.
    pub(crate) fn reason(self, step: Option<&Step>) -> (&str, bool) {
        let Some(step) = step else {
            return (NOT_SELECTED, false);
        };
        let judge = step.unit.description().judge.as_ref();
        let number = (self.0 & 0xff) as usize;
        number
            .checked_sub(1)
            .and_then(|number| judge?.reasons.get(number))
            .map_or((LACKS_A_VALUE, false), |reason| {
                (&reason.text, reason.passing)
            })
    }
}

impl Removal {
    /// With its names, for so many hosts.
    pub(super) fn told(self, stage: &Stage, hosts: usize) -> Removed {
        let (filter, step) = self.by(stage);
        let (reason, passing) = self.reason(step);
        Removed {
            filter,
            reason: reason.into(),
            passing,
            hosts,
            names: Vec::new(),
        }
    }
}

/// What an entry gives as costs.
#[derive(Debug, Clone)]
enum Raw {
    /// One cost for all rows.
    Same(f64),
    /// By row.
    Each(Vec<f64>),
}

impl Raw {
    fn of(&self, row: usize) -> f64 {
        match self {
            Self::Same(cost) => *cost,
            Self::Each(costs) => costs[row],
        }
    }
}

/// How a stage went. A row is a host that entered the stage; a survivor is one
/// that no filter removed.
#[derive(Debug, Default)]
pub(crate) struct StageRun {
    /// The slots of the rows; None: row = slot.
    slots: Option<Vec<u32>>,
    rows: usize,
    removed_by: Vec<Removal>,
    /// How many rows no filter has removed so far.
    kept: usize,
    /// By cost entry: the raw costs of the rows that were asked about.
    raw: Vec<Raw>,
    /// By cost entry: the slots of the rows and maybe others in the order of their raw
    /// costs, if that is known.
    orders: Vec<Option<Arc<[u32]>>>,
    /// By cost entry: whether it counts.
    counts: Vec<bool>,
    /// The rows of the survivors; None: all.
    survivors: Option<Vec<u32>>,
    /// By tier: the sum of weighted costs of each survivor.
    pub(crate) sums: Vec<Vec<f64>>,
    /// The places of the survivors of least cost, all tiers compared.
    pub(crate) best: Vec<usize>,
    /// The groups after each selection.
    pub(crate) refined: Vec<Groups>,
    /// The rows that go on to the next stage, if not all survivors do.
    passed: Option<Vec<u32>>,
}

impl StageRun {
    /// Ask the steps of the stage; those of the late tiers wait, unless all hosts are
    /// to be shown.
    pub(super) fn run(
        stage: &Stage,
        rows: HostRows<'_>,
        asker: &mut Asker<'_>,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Self, DecisionError> {
        let mut run = Self::new(stage, rows);
        for number in 0..stage.steps.len() {
            let step = &stage.steps[number];
            // Filters never wait, not even in a stage without costs, which has no tier.
            let waits = step.filter.is_none() && step.tier(stage) >= stage.late_tier;
            if asker.whole || !waits {
                let asked = run.asked(step);
                run.ask(stage, number, asked, rows, asker, left_out)?;
            }
        }
        if run.kept < run.rows {
            run.survivors = Some(run.kept_rows());
        }
        Ok(run)
    }

    fn new(stage: &Stage, rows: HostRows<'_>) -> Self {
        Self {
            slots: match rows {
                HostRows::All(_) => None,
                HostRows::List(slots) => Some(slots.to_vec()),
            },
            rows: rows.len(),
            removed_by: vec![Removal::KEPT; rows.len()],
            kept: rows.len(),
            raw: vec![Raw::Same(0.0); stage.costs.len()],
            orders: vec![None; stage.costs.len()],
            counts: vec![true; stage.costs.len()],
            survivors: None,
            sums: Vec::new(),
            best: Vec::new(),
            refined: Vec::new(),
            passed: None,
        }
    }

    /// The slots that the filters of the stage leave of these: nothing else is asked.
    pub(super) fn filtered(
        stage: &Stage,
        slots: &[u32],
        asker: &mut Asker<'_>,
    ) -> Result<Vec<u32>, DecisionError> {
        let rows = HostRows::List(slots);
        let mut run = Self::new(stage, rows);
        let filters = stage.steps.iter().enumerate();
        for (number, step) in filters.filter(|(_, step)| step.filter.is_some()) {
            let asked = run.asked(step);
            run.ask(stage, number, asked, rows, asker, &mut Vec::new())?;
        }
        let left = run.kept_rows().into_iter();
        Ok(left.map(|row| rows.slot(row as usize)).collect())
    }

    /// Ask one step about these of the rows; None: about all.
    fn ask(
        &mut self,
        stage: &Stage,
        number: usize,
        asked: Option<Vec<u32>>,
        rows: HostRows<'_>,
        asker: &mut Asker<'_>,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(), DecisionError> {
        let step = &stage.steps[number];
        let answer = match &asked {
            None => asker.ask(step, rows),
            Some(asked) => {
                let slots: Vec<u32> = asked.iter().map(|row| rows.slot(*row as usize)).collect();
                asker.ask(step, HostRows::List(&slots))
            }
        };
        match answer {
            Ok(answer) => self.take(number, step, asked, answer),
            Err(NoAnswer::Refusal(refusal)) => return Err(refusal),
            Err(NoAnswer::Fault(fault)) => {
                let fault = kept(fault);
                for entry in self.without(step, stage, &fault)? {
                    left_out.push(LeftOut {
                        entry,
                        fault: fault.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The rows to ask about; None: all. Row-wise answers do not depend on who else
    /// is asked about, so all of them may be, which is cheaper while most are left.
    fn asked(&self, step: &Step) -> Option<Vec<u32>> {
        let most_are_left = self.kept * 2 > self.rows;
        let all = self.kept == self.rows
            || (step.evaluation == Evaluation::RowWise && most_are_left)
            || step.plan.hosts.is_none();
        (!all).then(|| self.kept_rows())
    }

    fn kept_rows(&self) -> Vec<u32> {
        let rows = (0u32..).zip(&self.removed_by);
        rows.filter(|(_, removed)| **removed == Removal::KEPT)
            .map(|(row, _)| row)
            .collect()
    }

    fn take(&mut self, number: usize, step: &Step, asked: Option<Vec<u32>>, answer: Answer) {
        match answer {
            Answer::Nothing => self.cost_all(step, 0.0),
            Answer::Same(judgement) => {
                if let Some(reason @ 1..) = judgement.verdicts.first() {
                    for removed in &mut self.removed_by {
                        if *removed == Removal::KEPT {
                            *removed = Removal::new(number, *reason);
                        }
                    }
                    self.kept = 0;
                }
                self.cost_all(step, judgement.costs.first().copied().unwrap_or(0.0));
            }
            Answer::Each {
                judgement,
                lacking,
                order,
            } => {
                for entry in &step.costs {
                    self.orders[*entry].clone_from(&order);
                }
                self.take_each(number, step, asked.as_deref(), judgement, &lacking);
            }
        }
    }

    fn cost_all(&mut self, step: &Step, cost: f64) {
        for entry in &step.costs {
            self.raw[*entry] = Raw::Same(cost);
        }
    }

    fn take_each(
        &mut self,
        number: usize,
        step: &Step,
        asked: Option<&[u32]>,
        judgement: Judgement,
        lacking: &[u32],
    ) {
        let Judgement {
            verdicts,
            mut costs,
            ..
        } = judgement;
        let row_of = |place: usize| match asked {
            None => place,
            Some(asked) => asked[place] as usize,
        };
        if step.filter.is_some() {
            let mut remove = |place: usize, reason: u8| {
                let removed = &mut self.removed_by[row_of(place)];
                if *removed == Removal::KEPT {
                    *removed = Removal::new(number, reason);
                    self.kept -= 1;
                }
            };
            for (number, verdicts) in verdicts.chunks(SIDE_BY_SIDE).enumerate() {
                if verdicts.iter().fold(0, |any, reason| any | reason) != 0 {
                    let places = (number * SIDE_BY_SIDE..).zip(verdicts);
                    for (place, reason) in places.filter(|(_, reason)| **reason != 0) {
                        remove(place, *reason);
                    }
                }
            }
            for place in lacking {
                remove(*place as usize, 0);
            }
        }
        let Some((last, others)) = step.costs.split_last() else {
            return;
        };
        for place in lacking {
            costs[*place as usize] = f64::INFINITY;
        }
        let costs = match asked {
            None => costs,
            Some(asked) => {
                let mut all = vec![0.0; self.rows];
                for (row, cost) in asked.iter().zip(costs) {
                    all[*row as usize] = cost;
                }
                all
            }
        };
        for entry in others {
            self.raw[*entry] = Raw::Each(costs.clone());
        }
        self.raw[*last] = Raw::Each(costs);
    }

    /// Go on without a step whose unit failed, if the policy says so; else the
    /// decision fails. The names of the entries that are left out.
    fn without(
        &mut self,
        step: &Step,
        stage: &Stage,
        fault: &Arc<placewright_engine::unit::Fault>,
    ) -> Result<Vec<Arc<str>>, DecisionError> {
        let filter = step
            .filter
            .iter()
            .map(|filter| (&filter.name, filter.on_failure));
        let costs = step.costs.iter().map(|entry| {
            let cost = &stage.costs[*entry];
            (&cost.name, cost.on_failure)
        });
        let mut names = Vec::new();
        for (name, on_failure) in filter.chain(costs) {
            if on_failure == OnFailure::Fail {
                return Err(DecisionError::Failed {
                    entry: name.clone(),
                    fault: fault.clone(),
                });
            }
            names.push(name.clone());
        }
        for entry in &step.costs {
            self.counts[*entry] = false;
        }
        Ok(names)
    }

    /// Keep only the hosts that the request prefers, if any of them is left.
    pub(super) fn prefer(&mut self, request: &Request, inventory: &Inventory) {
        if request.preferred.is_empty() {
            return;
        }
        let preferred: Vec<u32> = request
            .preferred
            .iter()
            .filter_map(|id| inventory.slot(id))
            .collect();
        let rows: Vec<u32> = (0..self.survivors())
            .map(|survivor| self.survivor_row(survivor))
            .filter(|row| preferred.contains(&self.slot(*row as usize)))
            .collect();
        if !rows.is_empty() {
            self.survivors = Some(rows);
        }
    }

    /// Add up the weighted costs of the survivors, tier by tier, entry by entry in
    /// policy order. Steps of late tiers are asked now, about the survivors that are
    /// still equal; the others' sums in that tier stay 0.
    pub(super) fn add_up(
        &mut self,
        stage: &Stage,
        rows: HostRows<'_>,
        asker: &mut Asker<'_>,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(), DecisionError> {
        self.sums = vec![vec![0.0; self.survivors()]; stage.tiers.len()];
        // None: all.
        let mut best: Option<Vec<usize>> = None;
        let survivors = self.survivors();
        let all = || (0..survivors).collect();
        for tier in 0..stage.tiers.len() {
            if tier >= stage.late_tier && !asker.whole {
                let best = best.get_or_insert_with(all);
                let equal = best.iter().map(|survivor| self.survivor_row(*survivor));
                let equal: Vec<u32> = equal.collect();
                for number in 0..stage.steps.len() {
                    if stage.steps[number].tier(stage) == tier {
                        let asked = Some(equal.clone());
                        self.ask(stage, number, asked, rows, asker, left_out)?;
                    }
                }
                self.add_late_tier(stage, tier, best);
            } else {
                self.add_tier(stage, tier);
            }
            match &mut best {
                None => best = Some(cheapest(&self.sums[tier])),
                Some(best) => keep_cheapest(best, &self.sums[tier]),
            }
        }
        self.best = best.unwrap_or_else(all);
        Ok(())
    }

    /// The sums of these survivors in a late tier, whose costs are on no scale that
    /// other hosts have a part in.
    fn add_late_tier(&mut self, stage: &Stage, tier: usize, survivors: &[usize]) {
        for (entry, cost) in stage.costs.iter().enumerate() {
            if cost.tier != tier || !self.counts[entry] || cost.factor == 0.0 {
                continue;
            }
            let rows = survivors.iter().map(|it| self.survivor_row(*it) as usize);
            let mut scaled: Vec<f64> = rows.map(|row| self.raw[entry].of(row)).collect();
            scale(cost.scaling, cost.range, cost.factor, &mut scaled);
            for (survivor, scaled) in survivors.iter().zip(scaled) {
                let sum = &mut self.sums[tier][*survivor];
                *sum = plus(*sum, weighted(cost.factor, scaled));
            }
        }
    }

    fn add_tier(&mut self, stage: &Stage, tier: usize) {
        for (entry, cost) in stage.costs.iter().enumerate() {
            if cost.tier != tier || !self.counts[entry] || cost.factor == 0.0 {
                continue;
            }
            match self.raw[entry] {
                // All hosts that are left are one step on every scale.
                Raw::Same(mut same) => {
                    let one = std::slice::from_mut(&mut same);
                    scale(cost.scaling, cost.range, cost.factor, one);
                    let same = weighted(cost.factor, same);
                    if same != 0.0 {
                        for sum in &mut self.sums[tier] {
                            *sum = plus(*sum, same);
                        }
                    }
                }
                Raw::Each(_) => {
                    let scaled = self.scaled(entry, cost);
                    add(&mut self.sums[tier], cost.factor, &scaled);
                }
            }
        }
    }

    /// Let a selection remove the survivors that are in no group any more.
    pub(super) fn cut(&mut self, groups: &Groups, removal: Removal) {
        let mut left = vec![false; self.rows];
        for member in groups.iter().flatten() {
            left[member.row as usize] = true;
        }
        for survivor in 0..self.survivors() {
            let row = self.survivor_row(survivor) as usize;
            if self.removed_by[row] == Removal::KEPT && !left[row] {
                self.removed_by[row] = removal;
                self.kept -= 1;
            }
        }
    }

    /// Let only these rows, ascending, go on.
    pub(super) fn pass(&mut self, rows: Vec<u32>) {
        self.passed = Some(rows);
    }
}

impl Step {
    /// The first tier that it gives costs for; 0 for a filter.
    pub(crate) fn tier(&self, stage: &Stage) -> usize {
        if self.filter.is_some() {
            return 0;
        }
        let tiers = self.costs.iter().map(|entry| stage.costs[*entry].tier);
        tiers.min().unwrap_or(0)
    }

    pub(crate) fn filter_name(&self) -> Arc<str> {
        match &self.filter {
            Some(filter) => filter.name.clone(),
            None => self.unit.description().name.as_str().into(),
        }
    }
}
