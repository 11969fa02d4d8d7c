//! What a stage came to: for choice, the stages after it and explanation.

use std::cmp::Ordering;

use super::{Raw, Removal, StageRun};
use crate::run::Removed;
use crate::scale::{against, plus, scale};
use crate::{Cost, Stage};
use placewright_policy::Scaling;

impl StageRun {
    /// The scaled costs of the survivors.
    pub(crate) fn scaled(&self, entry: usize, cost: &Cost) -> Vec<f64> {
        if let (Scaling::Rank, Some(order)) = (cost.scaling, &self.orders[entry]) {
            return self.ranks(entry, order, cost.factor);
        }
        let mut costs = match (&self.raw[entry], &self.survivors) {
            (Raw::Same(cost), _) => vec![*cost; self.survivors()],
            (Raw::Each(costs), None) => costs.clone(),
            (Raw::Each(costs), Some(rows)) => rows.iter().map(|row| costs[*row as usize]).collect(),
        };
        scale(cost.scaling, cost.range, cost.factor, &mut costs);
        costs
    }

    /// How many survivors have strictly lower raw costs than each: what ranking makes of
    /// them, without sorting.
    fn ranks(&self, entry: usize, order: &[u32], factor: f64) -> Vec<f64> {
        const NONE: u32 = u32::MAX;
        let mut survivor_at = vec![NONE; order.len()];
        for survivor in 0..self.survivors() {
            survivor_at[self.survivor_slot(survivor) as usize] = survivor as u32;
        }
        let mut ranks = vec![0.0; self.survivors()];
        let (mut lower, mut equal) = (0u32, 0u32);
        let mut last = None;
        for slot in order {
            let survivor = survivor_at[*slot as usize];
            if survivor == NONE {
                continue;
            }
            let raw = self.raw(entry, self.survivor_row(survivor as usize) as usize);
            if last != Some(raw) {
                lower += equal;
                (equal, last) = (0, Some(raw));
            }
            equal += 1;
            let rank = f64::from(lower);
            ranks[survivor as usize] = match factor < 0.0 && raw == f64::INFINITY {
                true => against(rank),
                false => rank,
            };
        }
        ranks
    }

    pub(crate) fn considered(&self) -> usize {
        self.rows
    }

    pub(crate) fn slot(&self, row: usize) -> u32 {
        match &self.slots {
            None => row as u32,
            Some(slots) => slots[row],
        }
    }

    pub(crate) fn removal(&self, row: usize) -> Option<Removal> {
        Some(self.removed_by[row]).filter(|removed| *removed != Removal::KEPT)
    }

    pub(crate) fn survivors(&self) -> usize {
        self.survivors.as_ref().map_or(self.rows, Vec::len)
    }

    pub(crate) fn survivor_row(&self, survivor: usize) -> u32 {
        match &self.survivors {
            None => survivor as u32,
            Some(rows) => rows[survivor],
        }
    }

    pub(crate) fn survivor_slot(&self, survivor: usize) -> u32 {
        self.slot(self.survivor_row(survivor) as usize)
    }

    /// The row of the host in that slot.
    pub(crate) fn row(&self, slot: u32) -> Option<usize> {
        match &self.slots {
            None => Some(slot as usize).filter(|row| *row < self.rows),
            Some(slots) => slots.binary_search(&slot).ok(),
        }
    }

    /// The place of a row among the survivors whose costs were added up.
    fn survivor(&self, row: u32) -> Option<usize> {
        match &self.survivors {
            None => Some(row as usize),
            Some(rows) => rows.binary_search(&row).ok(),
        }
    }

    /// The sums of a survivor's weighted costs, tier by tier.
    pub(crate) fn sums_of(&self, row: u32) -> Vec<f64> {
        let Some(survivor) = self.survivor(row) else {
            return Vec::new();
        };
        self.sums.iter().map(|tier| tier[survivor]).collect()
    }

    /// The sum of a survivor's weighted costs of all tiers.
    pub(in crate::run) fn sum(&self, row: u32) -> f64 {
        let tiers = self.sums_of(row).into_iter();
        tiers.fold(0.0, plus)
    }

    /// Whose sums are lower, tier by tier.
    pub(in crate::run) fn compare(&self, a: u32, b: u32) -> Ordering {
        let (Some(a), Some(b)) = (self.survivor(a), self.survivor(b)) else {
            return Ordering::Equal;
        };
        self.sums
            .iter()
            .map(|tier| tier[a].total_cmp(&tier[b]))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The rows that go on, ascending.
    pub(in crate::run) fn passed_rows(&self) -> Vec<u32> {
        match &self.passed {
            Some(rows) => rows.clone(),
            None => (0..self.survivors())
                .map(|survivor| self.survivor_row(survivor))
                .collect(),
        }
    }

    /// Whether the row goes on to the next stage.
    pub(crate) fn goes_on(&self, row: u32) -> bool {
        let passed = self.passed.as_ref();
        passed.is_none_or(|rows| rows.binary_search(&row).is_ok())
    }

    /// The slots of the rows that go on, ascending.
    pub(in crate::run) fn passed_slots(&self) -> Vec<u32> {
        match &self.passed {
            Some(rows) => rows.iter().map(|row| self.slot(*row as usize)).collect(),
            None => (0..self.survivors())
                .map(|survivor| self.survivor_slot(survivor))
                .collect(),
        }
    }

    /// The groups that the last selection made, by slots.
    pub(in crate::run) fn shares(&self) -> Vec<Vec<(u32, f64)>> {
        let groups = self.refined.last().into_iter().flatten();
        groups
            .map(|group| {
                let members = group.iter();
                members
                    .map(|member| (self.slot(member.row as usize), member.share))
                    .collect()
            })
            .collect()
    }

    /// Whether the cost entry counts: not if it was left out because its unit failed.
    pub(crate) fn counts(&self, entry: usize) -> bool {
        self.counts[entry]
    }

    pub(crate) fn raw(&self, entry: usize, row: usize) -> f64 {
        self.raw[entry].of(row)
    }

    /// How many hosts each reason removed, in policy order.
    pub(in crate::run) fn removed(&self, stage: &Stage) -> Vec<Removed> {
        if self.kept == self.rows {
            return Vec::new();
        }
        // There are few reasons, and many hosts.
        let mut removals: Vec<(Removal, usize)> = Vec::new();
        let removed = self.removed_by.iter().copied();
        for removal in removed.filter(|removed| *removed != Removal::KEPT) {
            match removals.iter_mut().find(|(known, _)| *known == removal) {
                Some((_, hosts)) => *hosts += 1,
                None => removals.push((removal, 1)),
            }
        }
        removals.sort_unstable();
        let told = removals.into_iter();
        told.map(|(removal, hosts)| removal.told(stage, hosts))
            .collect()
    }
}
