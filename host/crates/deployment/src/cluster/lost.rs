//! Changes that could not be stored because the store failed, and that are no rows of the inventory.
//!
//! Rows are kept anew as they are when the store works again. Decisions and answers that
//! are given again are no rows: they are submitted once more, as they were, and what became
//! of reservations as it is by then.

use std::collections::{BTreeSet, VecDeque};
use std::sync::PoisonError;

use super::ClusterState;
use placewright_model::budget::Collection;
use placewright_store::Change;
use placewright_sync::Mutex;

/// What waits to be submitted once more. Filled by the store's thread.
#[derive(Debug, Default)]
pub(super) struct Lost(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    changes: VecDeque<Change>,
    bytes: usize,
    /// VMs of which it is to be kept how their last reservations ended, or that it is not
    /// known any more.
    ended: BTreeSet<String>,
}

impl Lost {
    /// These changes were not kept.
    pub(super) fn take_in(&self, changes: Vec<Change>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            waiting.take_in(change);
        }
        let mut dropped = 0;
        // Some ten thousand decisions.
        while waiting.bytes > Collection::Unstored.most()
            && let Some(change) = waiting.changes.pop_front()
        {
            waiting.bytes -= change.bytes();
            dropped += 1;
        }
        if dropped > 0 {
            tracing::warn!(
                dropped,
                "the store has failed for so long that some decisions are not recorded"
            );
        }
    }

    /// Bytes of what waits.
    pub(super) fn bytes(&self) -> u64 {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.bytes as u64
    }

    fn take(&self) -> Waiting {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting)
    }
}

impl Waiting {
    fn take_in(&mut self, change: Change) {
        let change = match change {
            Change::RecordDecision {
                cluster,
                number,
                at,
                body,
            } => Change::RecordDecision {
                cluster,
                number,
                at,
                body: late(body),
            },
            Change::PutEndedReservation { vm, .. } | Change::RemoveEndedReservation { vm, .. } => {
                // No more than those of which is known how they ended.
                if self.ended.len() < Collection::EndedReservations.most() {
                    self.ended.insert(vm);
                }
                return;
            }
            Change::Idempotency { .. }
            | Change::ForgetAnswer { .. }
            | Change::ForgetAnswers { .. }
            | Change::RemovePlan { .. } => change,
            // Rows, counters, plans and the chain are kept as they are when the store works
            // again.
            _ => return,
        };
        self.bytes += change.bytes();
        self.changes.push_back(change);
    }
}

/// The body of a decision that is kept later than it was made: the rows that are kept by
/// then are not those on which it was made.
fn late(body: String) -> String {
    const LATE: &str = r#"{"late":true,"#;
    match body.strip_prefix('{') {
        Some(rest) if !body.starts_with(LATE) => format!("{LATE}{rest}"),
        _ => body,
    }
}

impl ClusterState {
    /// What was not kept before and is to be submitted once more, as the store may work
    /// again.
    pub(super) fn once_more(&mut self) -> Vec<Change> {
        let Waiting { changes, ended, .. } = self.lost.take();
        let mut changes = Vec::from(changes);
        for vm in ended {
            let cluster = self.name.to_string();
            changes.push(match self.ended.of(&vm) {
                Some(ended) => Change::PutEndedReservation {
                    body: super::durable::json(ended),
                    cluster,
                    vm,
                },
                None => Change::RemoveEndedReservation { cluster, vm },
            });
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(number: u64, bytes: usize) -> Change {
        Change::RecordDecision {
            cluster: "c".to_owned(),
            number,
            at: 1,
            body: format!(r#"{{"decision":"{}"}}"#, "x".repeat(bytes)),
        }
    }

    #[test]
    fn of_more_than_the_bound_the_oldest_go_first() {
        let lost = Lost::default();
        lost.take_in(
            (0..5)
                .map(|number| decision(number, Collection::Unstored.most() / 4))
                .collect(),
        );
        let waiting = lost.take();
        assert!(
            waiting.bytes <= Collection::Unstored.most(),
            "{}",
            waiting.bytes
        );
        let numbers = waiting.changes.iter().map(|change| match change {
            Change::RecordDecision { number, .. } => *number,
            other => panic!("{other:?}"),
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn a_decision_is_marked_once_however_often_it_is_not_kept() {
        let lost = Lost::default();
        lost.take_in(vec![decision(1, 1)]);
        lost.take_in(Vec::from(lost.take().changes));
        let waiting = lost.take();
        let [Change::RecordDecision { body, .. }] = waiting.changes.as_slices().0 else {
            panic!("{waiting:?}");
        };
        assert_eq!(body, r#"{"late":true,"decision":"x"}"#);
    }
}
