//! The sums of all hosts for one class of requests: those to which every step of the
//! chain says the same of every host that stands in no relation to the request.

use std::cmp::Ordering;
use std::mem;
use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::among::Among;
use super::groups::{Group, Groups};
use super::left::Left;
use super::tournament::{Best, Contest, Tournament};
use crate::choose::TieOrder;
use placewright_inventory::{Aspects, ChangeLog, Cursor};

/// Why a host takes no part, as the number of a removal; 0: it does.
pub(crate) type RemovalCode = u16;

/// The host takes part.
pub(crate) const KEPT: RemovalCode = 0;

/// The host is not up, or it changed and has not been looked at since.
pub(crate) const NOT_CONSIDERED: RemovalCode = RemovalCode::MAX;

/// Mostly no more hosts have changed.
const FEW: usize = 64;

/// A set of slots takes time for every slot, some 32 of which are as much as to sort one.
const SLOTS_PER_SORTED: usize = 256;

/// What a chain comes to for each host.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) last_used: u64,
    cursor: Cursor,
    now: i64,
    /// Whether answers may end with time.
    is_timed: bool,
    /// No answer that the sums are made of ends before.
    pub(crate) ends: i64,
    /// By tier, by slot; in the first tier infinite where the host takes no part.
    pub(crate) sums: Vec<Vec<f64>>,
    removals: Vec<RemovalCode>,
    /// The hosts that are considered, by their removals.
    groups: Groups,
    considered: FixedBitSet,
    tree: Tournament,
    /// Slots that may change who is best.
    playing: Vec<u32>,
    /// Slots of hosts that changed and have not been looked at since.
    postponed: Vec<u32>,
}

/// The slots that have to be looked at again.
pub(crate) enum Dirty {
    All,
    /// Ascending.
    Some(Vec<u32>),
}

impl Class {
    /// A class of which nothing is known yet.
    pub(crate) fn new(tiers: usize, is_timed: bool, log: &ChangeLog) -> Self {
        Self {
            last_used: 0,
            cursor: log.end(),
            now: i64::MIN,
            is_timed,
            ends: i64::MAX,
            sums: vec![Vec::new(); tiers],
            removals: Vec::new(),
            groups: Groups::default(),
            considered: FixedBitSet::new(),
            tree: Tournament::default(),
            playing: Vec::new(),
            postponed: Vec::new(),
        }
    }

    /// Which hosts may have other sums than those that are known.
    pub(crate) fn dirty(
        &mut self,
        log: &ChangeLog,
        aspects: Aspects,
        slots: usize,
        now: i64,
    ) -> Dirty {
        let is_over = self.is_timed && (now < self.now || now > self.ends);
        let changes = log.since(self.cursor);
        let mut dirty = mem::take(&mut self.postponed);
        self.cursor = log.end();
        self.now = now;
        let Some(changes) = changes.filter(|_| !is_over && self.removals.len() == slots) else {
            self.ends = i64::MAX;
            return Dirty::All;
        };
        dirty.reserve(FEW);
        let changes = changes.filter(|(_, changed)| changed.meets(aspects));
        dirty.extend(changes.map(|(slot, _)| slot));
        bring_in_order(&mut dirty, slots);
        match dirty.len() * 2 > slots {
            true => Dirty::All,
            false => Dirty::Some(dirty),
        }
    }

    /// Make room for so many hosts.
    pub(crate) fn grow(&mut self, slots: usize) {
        if self.removals.len() < slots {
            self.removals.resize(slots, NOT_CONSIDERED);
            self.considered.grow(slots);
            self.groups.grow(slots);
            for tier in &mut self.sums {
                tier.resize(slots, f64::INFINITY);
            }
        }
    }

    /// Whether the host takes part, or why not.
    #[inline]
    fn set_removal(&mut self, slot: u32, removal: RemovalCode) {
        let old = mem::replace(&mut self.removals[slot as usize], removal);
        if old == removal {
            return;
        }
        if old != NOT_CONSIDERED {
            self.groups.remove(slot, old);
        }
        if removal != NOT_CONSIDERED {
            self.groups.insert(slot, removal);
        }
        let is_considered = removal != NOT_CONSIDERED;
        self.considered.set(slot as usize, is_considered);
    }

    /// Set whether the host takes part, or why not, and its sum in the first tier, which is
    /// infinite if it takes no part.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, removal: RemovalCode, sum: f64) {
        let place = slot as usize;
        let removals = &self.removals;
        let took_part = || removals[place] == KEPT;
        let (old, was_kept) = match self.sums.first_mut() {
            Some(tier) => {
                let old = mem::replace(&mut tier[place], sum);
                // Who had a finite sum took part, as most did.
                (old, old < f64::INFINITY || took_part())
            }
            None => (0.0, took_part()),
        };
        let is_kept = removal == KEPT;
        // Who was and stays behind another host plays for nothing.
        let rival = self.tree.rival(slot);
        let was_behind = !was_kept || old > rival;
        let is_behind = !is_kept || sum > rival;
        if !was_behind || !is_behind {
            self.playing.push(slot);
        }
        if !was_kept || !is_kept {
            self.set_removal(slot, removal);
        }
    }

    /// Leave out a host that is not up.
    pub(crate) fn leave_out(&mut self, slot: u32) {
        self.set(slot, NOT_CONSIDERED, f64::INFINITY);
    }

    /// Leave out a host that changed until the class is used again: this time it is looked
    /// at apart.
    pub(crate) fn postpone(&mut self, slot: u32) {
        self.leave_out(slot);
        self.postponed.push(slot);
    }

    /// Find the best anew after hosts, or `all` of them, were set.
    pub(crate) fn play(&mut self, all: bool, ties: &TieOrder<'_>) {
        let mut tree = mem::take(&mut self.tree);
        let mut playing = mem::take(&mut self.playing);
        match all {
            true => tree = Tournament::new(self.removals.len(), &self.board(ties)),
            false => {
                playing.sort_unstable();
                playing.dedup();
                tree.update(&playing, &self.board(ties));
            }
        }
        playing.clear();
        self.playing = playing;
        self.tree = tree;
    }

    /// The best of those who are left of the class.
    pub(crate) fn best(&self, left: &Left<'_>, ties: &TieOrder<'_>) -> Option<Best> {
        let board = self.board(ties);
        let best = self.tree.best()?;
        let apart = left.apart();
        if !left.is_filtered() && apart.binary_search(&best.row).is_err() {
            let is_tied = |row: &&u32| best.tied > 1 && board.are_tied(best.row, **row);
            let tied = best.tied - apart.iter().filter(is_tied).count() as u32;
            return Some(Best { tied, ..best });
        }
        let kept = &self.groups.get(KEPT)?.hosts;
        let among = left.among(kept);
        self.tree.best_among(Among::new(&among, kept), &board)
    }

    /// The hosts that are left of the class and whose sums are those of the best of them,
    /// ascending.
    pub(crate) fn tied(&self, best: Best, left: &Left<'_>, ties: &TieOrder<'_>) -> Vec<u32> {
        let Some(kept) = self.groups.get(KEPT).map(|group| &group.hosts) else {
            return Vec::new();
        };
        let board = self.board(ties);
        if !left.is_filtered() && left.apart().is_empty() {
            return self.tree.tied(&board);
        }
        let among = left.among(kept);
        self.tree.tied_among(Among::new(&among, kept), best, &board)
    }

    fn board<'a>(&'a self, ties: &'a TieOrder<'a>) -> Board<'a> {
        Board { class: self, ties }
    }

    /// The hosts that are considered.
    pub(crate) fn considered_hosts(&self) -> &FixedBitSet {
        &self.considered
    }

    /// How many those are.
    pub(crate) fn considered(&self) -> usize {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Whether this host takes part, or why not.
    pub(crate) fn removal(&self, slot: u32) -> RemovalCode {
        self.removals[slot as usize]
    }

    /// The hosts that are removed, by their removals, ascending.
    pub(crate) fn removals(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| group.said != KEPT)
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let of_hosts = size_of::<RemovalCode>() + 8 * self.sums.len();
        let sets = self.groups.bytes() + size_of_val(self.considered.as_slice());
        self.removals.len() * of_hosts + sets + self.tree.bytes()
    }
}

/// Sort slots, each of which is below so many, and leave out what comes more than once.
fn bring_in_order(list: &mut Vec<u32>, slots: usize) {
    if list.len() < slots / SLOTS_PER_SORTED {
        list.sort_unstable();
        list.dedup();
        return;
    }
    let mut set = FixedBitSet::with_capacity(slots);
    for slot in list.drain(..) {
        set.insert(slot as usize);
    }
    list.extend(set.ones().map(|slot| slot as u32));
}

/// The hosts of a class as they compete.
struct Board<'a> {
    class: &'a Class,
    ties: &'a TieOrder<'a>,
}

impl Board<'_> {
    /// Whether a row takes part and has the sums of `best`, one that does.
    fn are_tied(&self, best: u32, row: u32) -> bool {
        let is_equal = self.sum(row).is_some_and(|sum| Some(sum) == self.sum(best));
        is_equal && self.later_tiers(best, row).is_eq()
    }
}

impl Contest for Board<'_> {
    fn sum(&self, row: u32) -> Option<f64> {
        let row = row as usize;
        match self.class.removals[row] {
            KEPT => Some(self.class.sums.first().map_or(0.0, |tier| tier[row])),
            _ => None,
        }
    }

    fn later_tiers(&self, a: u32, b: u32) -> Ordering {
        let later = self.class.sums.iter().skip(1);
        let mut orders = later.map(|tier| tier[a as usize].total_cmp(&tier[b as usize]));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn is_preferred(&self, a: u32, b: u32) -> bool {
        self.ties.compare(a, b).is_lt()
    }

    fn sums(&self, rows: Range<usize>) -> Option<&[f64]> {
        self.class.sums.first()?.get(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_slots_and_many_are_brought_in_the_same_order(
            list in proptest::collection::vec(0u32..4000, 0..60),
        ) {
            let in_order: Vec<u32> = BTreeSet::from_iter(list.clone()).into_iter().collect();
            // So many slots that some of the lists are few of them, and others many.
            for slots in [4000, 60 * SLOTS_PER_SORTED, 30 * SLOTS_PER_SORTED] {
                let mut list = list.clone();
                bring_in_order(&mut list, slots);
                prop_assert_eq!(&list, &in_order);
            }
        }
    }
}
