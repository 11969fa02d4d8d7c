//! The sums of all hosts for one class of requests: those to which every step of the
//! chain says the same of every host that stands in no relation to the request.

use std::cmp::Ordering;
use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::tournament::{Contest, Tournament};
use crate::chain::choose::TieOrder;
use crate::inventory::{Aspects, ChangeLog, Cursor};

/// Why a host takes no part, as the number of a removal; 0: it does.
pub(in crate::chain) type RemovalCode = u16;

/// The host takes part.
pub(in crate::chain) const KEPT: RemovalCode = 0;

/// The host is not up, or is looked at apart from the others.
pub(in crate::chain) const NOT_CONSIDERED: RemovalCode = RemovalCode::MAX;

/// What a chain comes to for each host.
#[derive(Debug)]
pub(in crate::chain) struct Class {
    pub(in crate::chain) last_used: u64,
    cursor: Cursor,
    now: i64,
    /// Whether answers may end with time.
    is_timed: bool,
    /// No answer that the sums are made of ends before.
    pub(in crate::chain) ends: i64,
    /// By tier, by slot.
    pub(in crate::chain) sums: Vec<Vec<f64>>,
    removals: Vec<RemovalCode>,
    /// How many hosts each removal has, by its number.
    counts: Vec<(RemovalCode, usize)>,
    considered: usize,
    tree: Tournament,
    /// Slots that may change who is best.
    playing: Vec<u32>,
    /// Slots that were looked at apart the last time, ascending.
    left: Vec<u32>,
}

/// The slots that have to be looked at again.
pub(in crate::chain) enum Dirty {
    All,
    /// Ascending.
    Some(Vec<u32>),
}

impl Class {
    /// A class of which nothing is known yet.
    pub(in crate::chain) fn new(tiers: usize, is_timed: bool, log: &ChangeLog) -> Self {
        Self {
            last_used: 0,
            cursor: log.end(),
            now: i64::MIN,
            is_timed,
            ends: i64::MAX,
            sums: vec![Vec::new(); tiers],
            removals: Vec::new(),
            counts: Vec::new(),
            considered: 0,
            tree: Tournament::default(),
            playing: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Which hosts may have other sums than when the class was last used.
    pub(in crate::chain) fn dirty(
        &mut self,
        log: &ChangeLog,
        aspects: Aspects,
        slots: usize,
        now: i64,
    ) -> Dirty {
        let is_over = self.is_timed && (now < self.now || now > self.ends);
        let changes = log.since(self.cursor);
        let mut dirty = std::mem::take(&mut self.left);
        self.cursor = log.end();
        self.now = now;
        let Some(changes) = changes.filter(|_| !is_over && self.removals.len() == slots) else {
            self.ends = i64::MAX;
            return Dirty::All;
        };
        // In a set, since many come more than once.
        let mut set = FixedBitSet::with_capacity(slots);
        set.extend(dirty.drain(..).map(|slot| slot as usize));
        let changed = changes.filter(|(_, changed)| changed.meets(aspects));
        set.extend(changed.map(|(slot, _)| slot as usize));
        dirty.reserve(set.count_ones(..));
        dirty.extend(set.ones().map(|slot| slot as u32));
        match dirty.len() * 2 > slots {
            true => Dirty::All,
            false => Dirty::Some(dirty),
        }
    }

    /// Make room for so many hosts.
    pub(in crate::chain) fn grow(&mut self, slots: usize) {
        if self.removals.len() < slots {
            self.removals.resize(slots, NOT_CONSIDERED);
            for tier in &mut self.sums {
                tier.resize(slots, 0.0);
            }
        }
    }

    /// Whether the host takes part, or why not.
    fn set_removal(&mut self, slot: u32, removal: RemovalCode) {
        let old = std::mem::replace(&mut self.removals[slot as usize], removal);
        if old == removal {
            return;
        }
        self.considered -= usize::from(old != NOT_CONSIDERED);
        self.considered += usize::from(removal != NOT_CONSIDERED);
        if !matches!(old, KEPT | NOT_CONSIDERED)
            && let Ok(place) = self.counts.binary_search_by_key(&old, |(code, _)| *code)
        {
            self.counts[place].1 -= 1;
        }
        if !matches!(removal, KEPT | NOT_CONSIDERED) {
            match self
                .counts
                .binary_search_by_key(&removal, |(code, _)| *code)
            {
                Ok(place) => self.counts[place].1 += 1,
                Err(place) => self.counts.insert(place, (removal, 1)),
            }
        }
    }

    /// Set whether the host takes part, or why not, before its sums are set; `sum` is
    /// that of the first tier.
    pub(in crate::chain) fn set(&mut self, slot: u32, removal: RemovalCode, sum: f64) {
        let place = slot as usize;
        let old = match (self.removals[place], self.sums.first()) {
            (KEPT, tier) => Some(tier.map_or(0.0, |tier| tier[place])),
            _ => None,
        };
        let new = (removal == KEPT).then_some(sum);
        // Who was and stays behind another host plays for nothing.
        let rival = self.tree.rival(slot);
        let is_behind = |sum: Option<f64>| match (sum, rival) {
            (Some(sum), Some(rival)) => sum > rival,
            (sum, _) => sum.is_none(),
        };
        if !is_behind(old) || !is_behind(new) {
            self.playing.push(slot);
        }
        self.set_removal(slot, removal);
    }

    /// Leave out a host that is not up.
    pub(in crate::chain) fn leave_out(&mut self, slot: u32) {
        self.set(slot, NOT_CONSIDERED, 0.0);
    }

    /// Look at this host apart, this time.
    pub(in crate::chain) fn set_apart(&mut self, slot: u32) {
        self.leave_out(slot);
        self.left.push(slot);
    }

    /// Find the best anew after hosts, or `all` of them, were set.
    pub(in crate::chain) fn play(&mut self, all: bool, ties: &TieOrder<'_>) {
        let mut tree = std::mem::take(&mut self.tree);
        let mut playing = std::mem::take(&mut self.playing);
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

    pub(in crate::chain) fn tree(&self) -> &Tournament {
        &self.tree
    }

    pub(in crate::chain) fn board<'a>(&'a self, ties: &'a TieOrder<'a>) -> Board<'a> {
        Board { class: self, ties }
    }

    /// How many hosts are considered, apart from those that are looked at apart.
    pub(in crate::chain) fn considered(&self) -> usize {
        self.considered
    }

    /// How many hosts each removal has, in the order of their numbers.
    pub(in crate::chain) fn counts(&self) -> impl Iterator<Item = (RemovalCode, usize)> {
        let counts = self.counts.iter().copied();
        counts.filter(|(_, hosts)| *hosts > 0)
    }

    /// The bytes that it takes.
    pub(in crate::chain) fn bytes(&self) -> usize {
        self.removals.len() * (size_of::<RemovalCode>() + 8 * self.sums.len()) + self.tree.bytes()
    }
}

/// The hosts of a class as they compete.
pub(in crate::chain) struct Board<'a> {
    class: &'a Class,
    ties: &'a TieOrder<'a>,
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

    fn unrivalled(&self, rows: Range<usize>) -> Option<(f64, u32)> {
        let sums = self.class.sums.first()?.get(rows.clone())?;
        let removals = self.class.removals.get(rows.clone())?;
        let sums = sums.iter().zip(removals);
        // No sum is NaN.
        let sums = sums.map(|(sum, removal)| match *removal {
            KEPT => *sum,
            _ => f64::INFINITY,
        });
        let less = |a: f64, b| if b < a { b } else { a };
        let least = sums.clone().fold(f64::INFINITY, less);
        let mut equal = sums.enumerate().filter(|(_, sum)| *sum == least);
        let (place, _) = equal.next()?;
        let is_alone = equal.next().is_none() && least < f64::INFINITY;
        is_alone.then_some((least, (rows.start + place) as u32))
    }
}
