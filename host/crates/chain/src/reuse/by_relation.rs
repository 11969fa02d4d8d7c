//! Answers about hosts of which a step reads nothing but how they stand to the request.

use std::collections::BTreeMap;

use super::USES_PER_CHECK;
use super::answers::Said;

/// So many are kept; if there are more, all are asked for again.
const MOST: usize = 256;

/// What a step says of hosts, by the numbers in the rows of their relations with the
/// request: hosts with equal rows have one answer.
#[derive(Debug, Default)]
pub(super) struct ByRelation {
    said: BTreeMap<Box<[i64]>, Known>,
    /// All numbers of all rows.
    numbers: usize,
}

#[derive(Debug)]
struct Known {
    said: Said,
    /// How often it was used since the unit said it last.
    uses: u64,
}

impl ByRelation {
    /// What was said of hosts with these rows.
    pub(super) fn get(&self, rows: &[i64]) -> Option<Said> {
        self.said.get(rows).map(|known| known.said)
    }

    /// The same, to be used once; None also if it was used so often that it is to be asked
    /// for again.
    pub(super) fn take_use(&mut self, rows: &[i64]) -> Option<Said> {
        let known = self.said.get_mut(rows)?;
        known.uses += 1;
        (known.uses < USES_PER_CHECK).then_some(known.said)
    }

    /// Keep what is said of hosts with these rows.
    pub(super) fn insert(&mut self, rows: &[i64], said: Said) {
        if self.said.len() == MOST && !self.said.contains_key(rows) {
            *self = Self::default();
        }
        let known = Known { said, uses: 0 };
        if self.said.insert(rows.into(), known).is_none() {
            self.numbers += rows.len();
        }
    }

    /// The bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.said.len() * size_of::<(Box<[i64]>, Known)>() + self.numbers * size_of::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_of_a_relation_is_asked_for_again_after_some_uses() {
        let mut known = ByRelation::default();
        known.insert(&[1], Said::NOTHING);
        for _ in 1..USES_PER_CHECK {
            assert!(known.take_use(&[1]).is_some());
        }
        assert!(known.take_use(&[1]).is_none());
        // It is still known, to be held against what is said now.
        assert!(known.get(&[1]).is_some());
        known.insert(&[1], Said::NOTHING);
        assert!(known.take_use(&[1]).is_some());
    }

    #[test]
    fn more_relations_than_are_kept_are_told_anew_and_take_no_more_room() {
        let mut known = ByRelation::default();
        let said = |cost: usize| Said {
            cost: cost as f64,
            ..Said::NOTHING
        };
        for vms in 0..MOST {
            known.insert(&[1, vms as i64], said(vms));
        }
        let full = known.bytes();
        assert!(known.get(&[1, 7]).is_some_and(|it| it.agrees(&said(7))));
        known.insert(&[1, MOST as i64], said(MOST));
        assert!(known.get(&[1, 7]).is_none());
        assert!(known.get(&[1, MOST as i64]).is_some());
        assert!(known.bytes() < full);
    }
}
