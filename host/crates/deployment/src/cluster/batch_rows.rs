//! What is to be kept of what changes from turn to turn of a batch: each decision is kept
//! with the rows on which it was made, be they the cluster's own or those of a copy.

use std::mem;

use super::durable::Rows;
use super::{ClusterSettings, ClusterState};
use placewright_inventory::Inventory;
use placewright_scheduler::{Copied, Decision, Turn};
use placewright_store::{Change, CopyTurn};
use placewright_sync::atomic::Ordering;

/// What had changed before each turn since the one before it.
pub(super) struct TurnRows {
    /// The version of the inventory up to which changes are noted.
    noted: u64,
    /// None: the inventory did not remember it.
    turns: Option<Vec<Vec<Change>>>,
}

impl TurnRows {
    /// Nothing is noted of what comes after this version of the inventory.
    pub(super) fn since(version: u64) -> Self {
        Self {
            noted: version,
            turns: Some(Vec::new()),
        }
    }

    /// A turn begins on these rows.
    pub(super) fn turn_begins(&mut self, rows: Rows<'_>) {
        let touched = rows.inventory().touched_since(self.noted);
        self.noted = rows.inventory().version();
        match (&mut self.turns, touched) {
            (Some(turns), Some(touched)) => turns.push(rows.touched(&touched)),
            _ => self.turns = None,
        }
    }

    /// What had changed before each decision since the one before it. None if that is not
    /// known.
    pub(super) fn of_decisions(self, turns: &[Turn]) -> Option<Vec<Vec<Change>>> {
        let noted = self.turns.filter(|noted| noted.len() == turns.len())?;
        let mut parts = Vec::with_capacity(noted.len());
        let mut rows = Vec::new();
        for (turn, noted) in turns.iter().zip(noted) {
            // What comes of a turn without a decision is found by the next.
            rows.extend(noted);
            if turn.outcome.is_ok() {
                parts.push(mem::take(&mut rows));
            }
        }
        Some(parts)
    }
}

/// The decisions of turns.
pub(super) fn decisions(turns: &[Turn]) -> impl Iterator<Item = &Decision> {
    turns.iter().filter_map(|turn| turn.outcome.as_deref().ok())
}

impl ClusterState {
    /// After a batch on the cluster's own rows: what is to be kept before each decision.
    pub(super) fn rows_of_decisions(&mut self, rows: TurnRows, turns: &[Turn]) -> Vec<Vec<Change>> {
        let Some(last) = decisions(turns).last() else {
            return Vec::new();
        };
        let Some(parts) = rows.of_decisions(turns) else {
            self.everything.store(true, Ordering::Release);
            return Vec::new();
        };
        self.noted = last.inventory_version;
        self.rows_changed |= parts.iter().any(|part| !part.is_empty());
        parts
    }

    /// After a batch on a copy: what that differed by when each decision was made. None if
    /// it is not known.
    pub(super) fn copy_of_decisions(
        &self,
        copy: &Copied,
        rows: TurnRows,
        turns: &[Turn],
        searched: bool,
    ) -> Option<Vec<CopyTurn>> {
        let parts = match searched {
            // The turns that were noted are not those of the plan.
            true => {
                let versions = decisions(turns).map(|decision| decision.inventory_version);
                let versions: Vec<u64> = versions.collect();
                let then = (*copy.inventory).clone();
                rows_between(&self.name, &self.settings, then, copy.from, &versions)?
            }
            false => rows.of_decisions(turns)?,
        };
        let turns = decisions(turns)
            .zip(parts)
            .map(|(decision, rows)| CopyTurn {
                decision: decision.number,
                rows,
            });
        Some(turns.collect())
    }
}

/// What is to be kept of what had changed in an inventory at each of these versions,
/// ascending: since the one before, and at first since `since`. None if the inventory does
/// not remember that.
fn rows_between(
    name: &str,
    settings: &ClusterSettings,
    mut then: Inventory,
    since: u64,
    versions: &[u64],
) -> Option<Vec<Vec<Change>>> {
    let since: Vec<u64> = std::iter::once(since)
        .chain(versions.iter().copied())
        .collect();
    let mut parts = Vec::with_capacity(versions.len());
    for (since, version) in since.iter().zip(versions).rev() {
        let touched = match then.take_back(*version) {
            true => then.touched_since(*since)?,
            false => return None,
        };
        parts.push(Rows::of(name, settings, &then).touched(&touched));
    }
    parts.reverse();
    Some(parts)
}
