//! The answers of one step of a chain to one kind of request, as if no host stood in a
//! relation to the request.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::USES_PER_CHECK;
use super::by_cost::ByCost;
use super::by_relation::ByRelation;
use super::groups::Groups;
use placewright_engine::contract::Judgement;
use placewright_inventory::{Aspects, ChangeLog, Cursor};

/// What a step says of one host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said {
    pub(crate) verdict: Verdict,
    /// 0 where no costs are asked for.
    pub(crate) cost: f64,
    /// The last second at which this still holds.
    pub(crate) until: i64,
}

impl Said {
    /// What a step says whose gates are closed.
    pub(crate) const NOTHING: Self = Self {
        verdict: Verdict::KEEP,
        cost: 0.0,
        until: FOR_GOOD,
    };

    /// What a judgement says of the host in that place of the call.
    pub(crate) fn of(judgement: &Judgement, place: usize) -> Self {
        let reason = judgement.verdicts.get(place).copied().unwrap_or(0);
        Self {
            verdict: Verdict::of(reason),
            cost: judgement.costs.get(place).copied().unwrap_or(0.0),
            until: judgement.until.get(place).copied().unwrap_or(FOR_GOOD),
        }
    }

    /// Of a host that lacks a value that the unit needs.
    pub(crate) fn lacking() -> Self {
        Self {
            verdict: Verdict::LACKS,
            cost: f64::INFINITY,
            until: FOR_GOOD,
        }
    }

    /// That as the answer about one host, which lacks no value.
    pub(crate) fn judgement(self) -> Judgement {
        Judgement {
            verdicts: vec![self.verdict.code()],
            costs: vec![self.cost],
            until: Vec::new(),
        }
    }

    /// Whether both mean the same for a decision.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        self.verdict == other.verdict && self.cost.to_bits() == other.cost.to_bits()
    }
}

/// No time is beyond it.
pub(crate) const FOR_GOOD: i64 = i64::MAX;

/// Whether a host stays, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict(u16);

impl From<Verdict> for u64 {
    fn from(verdict: Verdict) -> Self {
        verdict.0.into()
    }
}

impl Verdict {
    pub(crate) const KEEP: Self = Self(0);
    /// The host lacks a value that the unit needs.
    pub(crate) const LACKS: Self = Self(0x100);

    fn of(reason: u8) -> Self {
        match reason {
            0 => Self::KEEP,
            _ => Self(0x100 | u16::from(reason)),
        }
    }

    /// What a unit says for it: 0 for a host that stays, or that lacks a value.
    pub(crate) fn code(self) -> u8 {
        (self.0 & 0xff) as u8
    }

    /// The reason that removes the host, 0 for a value that is missing; None: it stays.
    pub(crate) fn reason(self) -> Option<u8> {
        (self != Self::KEEP).then(|| self.code())
    }
}

/// What a step depends on besides the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Asked once for all hosts.
    Request,
    /// Nothing of a host but its relations with the request: all hosts without any
    /// have one answer.
    Alike,
    /// An answer for each host.
    Each,
}

/// The answers of one step to one kind of request.
#[derive(Debug)]
pub(crate) struct Answers {
    /// What tells these answers from all others that were ever kept.
    pub(crate) serial: u64,
    pub(crate) last_used: u64,
    rows: Rows,
    cursor: Cursor,
    /// The latest time of a decision that used them.
    now: i64,
    /// No answer that is fresh ends before.
    ends: i64,
    /// Where to look for the next host to ask again.
    pub(crate) next_check: u32,
    pub(crate) uses: u64,
    /// How many uses there had been when hosts were asked about again last.
    checked_at: u64,
    /// At which use it was due last to ask about hosts again; 0 before the first time.
    due_at: u64,
    /// How many uses there had been when it was due last to ask without the cache.
    whole_at: u64,
    /// To ask so is due, and was not done yet.
    is_whole_due: bool,
}

#[derive(Debug)]
enum Rows {
    /// The same for all hosts; None: not asked yet.
    One {
        said: Option<Said>,
        is_stale: bool,
        by_relation: ByRelation,
    },
    Each {
        verdicts: Vec<Verdict>,
        /// Empty if the step gives no costs.
        costs: Vec<f64>,
        /// Empty if answers hold for good.
        until: Vec<i64>,
        /// Which have to be asked again before they are used.
        stale: FixedBitSet,
        by_cost: ByCost,
        /// The hosts that are removed, stale ones included, by the verdict; only where
        /// they are skipped over.
        skipped: Option<Groups>,
    },
}

impl Answers {
    /// None are known yet. Hosts that are removed are skipped over if `skips`.
    pub(crate) fn new(shape: Shape, skips: bool, serial: u64, log: &ChangeLog) -> Self {
        let rows = match shape {
            Shape::Request | Shape::Alike => Rows::One {
                said: None,
                is_stale: true,
                by_relation: ByRelation::default(),
            },
            Shape::Each => Rows::Each {
                verdicts: Vec::new(),
                costs: Vec::new(),
                until: Vec::new(),
                stale: FixedBitSet::new(),
                by_cost: ByCost::default(),
                skipped: skips.then(Groups::default),
            },
        };
        Self {
            serial,
            last_used: 0,
            rows,
            cursor: log.end(),
            now: i64::MIN,
            ends: FOR_GOOD,
            next_check: 0,
            uses: 0,
            checked_at: 0,
            due_at: 0,
            whole_at: 0,
            is_whole_due: false,
        }
    }

    /// Whether there were so many uses since hosts were asked about again that it is time
    /// to; for all calls of that use.
    pub(crate) fn is_check_due(&mut self) -> bool {
        if self.uses.saturating_sub(self.checked_at) >= USES_PER_CHECK {
            self.due_at = self.uses;
        }
        self.due_at == self.uses
    }

    /// Hosts are asked about again.
    pub(crate) fn checked(&mut self) {
        self.checked_at = self.uses;
    }

    /// Whether the step became due, with this use, to be asked without the cache.
    /// Where that is not done at once, it stays due and is not told again.
    pub(super) fn is_whole_due(&mut self, after: u64) -> bool {
        let is_due = self.uses.saturating_sub(self.whole_at) >= after;
        if is_due {
            self.whole_at = self.uses;
            self.is_whole_due = true;
        }
        is_due
    }

    /// Whether the step is to be asked now without the cache; then it is not due any
    /// more.
    pub(crate) fn takes_whole(&mut self) -> bool {
        std::mem::take(&mut self.is_whole_due)
    }

    /// Bring it up to the inventory's last change and to `now`: what may have become
    /// another answer is stale.
    pub(crate) fn sync(
        &mut self,
        log: &ChangeLog,
        aspects: Aspects,
        slots: usize,
        want: Want,
        now: i64,
    ) {
        let back_in_time = now < self.now;
        let ended = now > self.ends;
        self.now = now;
        match &mut self.rows {
            Rows::One { said, is_stale, .. } => {
                let is_over = said.is_some_and(|said| said.until < now);
                *is_stale |= want.until && (back_in_time || is_over);
            }
            Rows::Each {
                verdicts,
                costs,
                until,
                stale,
                by_cost,
                skipped,
            } => {
                let known = verdicts.len();
                if known < slots {
                    *by_cost = ByCost::default();
                    verdicts.resize(slots, Verdict::KEEP);
                    if want.costs {
                        costs.resize(slots, 0.0);
                    }
                    if want.until {
                        until.resize(slots, FOR_GOOD);
                    }
                    stale.grow(slots);
                    if let Some(skipped) = skipped {
                        skipped.grow(slots);
                    }
                    stale.insert_range(known..);
                }
                match log.since(self.cursor) {
                    Some(changes) => changes.for_each(|(slot, changed)| {
                        if changed.meets(aspects) {
                            stale.insert(slot as usize);
                        }
                    }),
                    None => stale.insert_range(..),
                }
                if want.until && back_in_time {
                    stale.insert_range(..);
                } else if want.until && ended {
                    self.ends = FOR_GOOD;
                    for (slot, until) in until.iter().enumerate() {
                        if stale.contains(slot) {
                            continue;
                        }
                        if *until < now {
                            stale.insert(slot);
                        } else {
                            self.ends = self.ends.min(*until);
                        }
                    }
                }
            }
        }
        self.cursor = log.end();
    }

    /// Whether the host has to be asked about.
    pub(crate) fn is_stale(&self, slot: u32) -> bool {
        match &self.rows {
            Rows::One { is_stale, .. } => *is_stale,
            Rows::Each { stale, .. } => stale.contains(slot as usize),
        }
    }

    /// Which hosts have to be asked about; None if all have one answer.
    pub(crate) fn stale_slots(&self) -> Option<&FixedBitSet> {
        match &self.rows {
            Rows::One { .. } => None,
            Rows::Each { stale, .. } => Some(stale),
        }
    }

    /// What was said of a host; of a stale one what was said last.
    pub(crate) fn said(&self, slot: u32) -> Said {
        match &self.rows {
            Rows::One { said, .. } => said.unwrap_or(Said::NOTHING),
            Rows::Each {
                verdicts,
                costs,
                until,
                ..
            } => {
                let slot = slot as usize;
                Said {
                    verdict: verdicts[slot],
                    cost: costs.get(slot).copied().unwrap_or(0.0),
                    until: until.get(slot).copied().unwrap_or(FOR_GOOD),
                }
            }
        }
    }

    /// What was said of hosts, by slot: verdicts, costs (empty if the step gives none)
    /// and the last seconds at which they hold (empty if they hold for good). None if
    /// one answer is for all.
    pub(crate) fn columns(&self) -> Option<(&[Verdict], &[f64], &[i64])> {
        match &self.rows {
            Rows::One { .. } => None,
            Rows::Each {
                verdicts,
                costs,
                until,
                ..
            } => Some((verdicts, costs, until)),
        }
    }

    /// The hosts that are removed, each set with the verdict: also hosts that are not up
    /// and of which that was said last. None if they are not skipped over, or one answer
    /// is for all.
    pub(crate) fn skipped(&self) -> Option<impl Iterator<Item = (Verdict, &FixedBitSet)>> {
        let Rows::Each { skipped, .. } = &self.rows else {
            return None;
        };
        let groups = skipped.as_ref()?.iter();
        Some(groups.map(|group| (Verdict(group.said), &group.hosts)))
    }

    /// The slots that have to be asked about again before they are used, ascending.
    pub(crate) fn stale(&self) -> impl Iterator<Item = u32> {
        let stale = match &self.rows {
            Rows::One { .. } => None,
            Rows::Each { stale, .. } => Some(stale.ones().map(|slot| slot as u32)),
        };
        stale.into_iter().flatten()
    }

    /// The one answer that holds for all hosts, if there is only one.
    pub(crate) fn one(&self) -> Option<Said> {
        match &self.rows {
            Rows::One { said, is_stale, .. } => said.filter(|_| !is_stale),
            Rows::Each { .. } => None,
        }
    }

    /// Keep what was said of a host.
    pub(crate) fn keep(&mut self, slot: u32, said: Said) {
        self.ends = self.ends.min(said.until);
        match &mut self.rows {
            Rows::One {
                said: known,
                is_stale,
                ..
            } => {
                *known = Some(said);
                *is_stale = false;
            }
            Rows::Each {
                verdicts,
                costs,
                until,
                stale,
                by_cost,
                skipped,
            } => {
                by_cost.moves(slot);
                let place = slot as usize;
                set_verdict(verdicts, skipped, slot, said.verdict);
                if let Some(cost) = costs.get_mut(place) {
                    *cost = said.cost;
                }
                if let Some(until) = until.get_mut(place) {
                    *until = said.until;
                }
                stale.set(place, false);
            }
        }
    }

    /// What was said of hosts with these rows in their relations, where one answer is for all
    /// hosts with none.
    pub(crate) fn said_by_relation(&self, rows: &[i64]) -> Option<Said> {
        match &self.rows {
            Rows::One { by_relation, .. } => by_relation.get(rows),
            Rows::Each { .. } => None,
        }
    }

    /// The same, to be used for a host; None also if it is time to ask for it again.
    pub(crate) fn use_by_relation(&mut self, rows: &[i64]) -> Option<Said> {
        match &mut self.rows {
            Rows::One { by_relation, .. } => by_relation.take_use(rows),
            Rows::Each { .. } => None,
        }
    }

    /// Keep what was said of hosts with these rows in their relations.
    pub(crate) fn keep_by_relation(&mut self, rows: &[i64], said: Said) {
        if let Rows::One { by_relation, .. } = &mut self.rows {
            by_relation.insert(rows, said);
        }
    }

    /// Keep what a judgement says of these hosts, row by row; only if each host has an answer
    /// of its own.
    pub(crate) fn keep_each(&mut self, slots: &[u32], judgement: &Judgement) {
        let Rows::Each {
            verdicts,
            costs,
            until,
            stale,
            by_cost,
            skipped,
        } = &mut self.rows
        else {
            return;
        };
        by_cost.all_move(slots);
        for (row, slot) in slots.iter().enumerate() {
            let reason = judgement.verdicts.get(row).copied().unwrap_or(0);
            set_verdict(verdicts, skipped, *slot, Verdict::of(reason));
        }
        if !costs.is_empty() {
            for (row, slot) in slots.iter().enumerate() {
                let cost = judgement.costs.get(row).copied();
                costs[*slot as usize] = cost.unwrap_or(0.0);
            }
        }
        if !until.is_empty() {
            for (row, slot) in slots.iter().enumerate() {
                let last = judgement.until.get(row).copied().unwrap_or(FOR_GOOD);
                until[*slot as usize] = last;
                self.ends = self.ends.min(last);
            }
        }
        for slot in slots {
            stale.remove(*slot as usize);
        }
    }

    /// All slots in the order of their costs, those of stale hosts included, and how
    /// many bytes more that takes than before.
    pub(crate) fn order(&mut self) -> Option<(Arc<[u32]>, usize)> {
        match &mut self.rows {
            Rows::One { .. } => None,
            Rows::Each { costs, by_cost, .. } => {
                let before = by_cost.bytes();
                let order = by_cost.order(costs);
                Some((order, by_cost.bytes().saturating_sub(before)))
            }
        }
    }

    /// The bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        match &self.rows {
            Rows::One { by_relation, .. } => by_relation.bytes(),
            Rows::Each {
                verdicts,
                costs,
                until,
                by_cost,
                skipped,
                ..
            } => {
                let of_answers = verdicts.len() * 2 + verdicts.len() / 8;
                let of_skipped = skipped.as_ref().map_or(0, Groups::bytes);
                of_answers + of_skipped + costs.len() * 8 + until.len() * 8 + by_cost.bytes()
            }
        }
    }
}

/// Set the verdict about a host, also among those that are skipped over.
#[inline]
fn set_verdict(verdicts: &mut [Verdict], skipped: &mut Option<Groups>, slot: u32, new: Verdict) {
    let old = std::mem::replace(&mut verdicts[slot as usize], new);
    if let Some(skipped) = skipped
        && old != new
    {
        if old != Verdict::KEEP {
            skipped.remove(slot, old.0);
        }
        if new != Verdict::KEEP {
            skipped.insert(slot, new.0);
        }
    }
}

/// What a step gives for each host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    pub(crate) costs: bool,
    /// Answers may end with time.
    pub(crate) until: bool,
}
