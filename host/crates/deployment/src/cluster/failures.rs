//! How often units have failed lately in the decisions of a cluster.

use std::collections::{BTreeMap, VecDeque};

use crate::returns::ReturnAfter;
use placewright_engine::unit::{Digest, Fault};

/// The failures of units in the last decisions. Nothing is kept of those that have not failed.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// How many decisions there were.
    decisions: u64,
    /// By the names of units: the digest, and the numbers of the decisions in which it failed.
    units: BTreeMap<String, (Digest, VecDeque<u64>)>,
}

impl Failures {
    /// Count one decision.
    pub(super) fn decided(&mut self) {
        self.decisions += 1;
    }

    /// Count a failure in the last decision. If the unit has failed too often: in how many of
    /// the last decisions.
    pub(super) fn failed(&mut self, fault: &Fault, after: ReturnAfter) -> Option<usize> {
        let (name, digest) = (&fault.unit.name, fault.unit.digest);
        if !self.units.contains_key(name) {
            self.units
                .insert(name.clone(), (digest, VecDeque::default()));
        }
        let (known, failures) = self.units.get_mut(name)?;
        if *known != digest {
            (*known, *failures) = (digest, VecDeque::default());
        }
        let oldest = self.decisions.saturating_sub(after.decisions);
        while failures.front().is_some_and(|number| *number <= oldest) {
            failures.pop_front();
        }
        if failures.back() != Some(&self.decisions) {
            failures.push_back(self.decisions);
        }
        let lately = failures.len();
        (lately >= after.failures).then_some(lately)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use placewright_engine::contract::Part;
    use placewright_engine::unit::{Cause, Identity, Place};

    fn fault(bytes: &[u8]) -> Fault {
        Fault {
            unit: Arc::new(Identity {
                name: "u".to_owned(),
                digest: Digest::of(bytes),
            }),
            part: Part::Judge,
            cause: Box::new(Cause::Poisoned),
            place: Place::Untold,
        }
    }

    #[test]
    fn failures_count_while_they_are_among_the_last_decisions() {
        let after = ReturnAfter {
            failures: 3,
            decisions: 10,
        };
        let mut failures = Failures::default();
        let mut fail_every = |every: u64, decisions: u64, bytes: &[u8]| {
            (0..decisions)
                .filter_map(|number| {
                    failures.decided();
                    let fails = number % every == 0;
                    fails.then(|| failures.failed(&fault(bytes), after))?
                })
                .next()
        };
        assert_eq!(fail_every(5, 100, b"a"), None, "two of ten");
        assert_eq!(fail_every(4, 100, b"b"), Some(3));
        assert_eq!(fail_every(1, 2, b"c"), None, "another unit");
        assert_eq!(fail_every(1, 1, b"c"), Some(3));
    }
}
