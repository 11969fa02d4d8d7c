//! Answers about hosts of which a step reads nothing but how they stand to the request.

use std::collections::BTreeMap;

use super::answers::Said;

/// So many are kept; if there are more, all are asked for again.
const MOST: usize = 256;

/// What a step says of hosts, by the numbers in the rows of their relations with the
/// request: hosts with equal rows have one answer.
#[derive(Debug, Default)]
pub(super) struct ByRelation {
    said: BTreeMap<Box<[i64]>, Said>,
    /// All numbers of all rows.
    numbers: usize,
}

impl ByRelation {
    /// What was said of hosts with these rows.
    pub(super) fn get(&self, rows: &[i64]) -> Option<Said> {
        self.said.get(rows).copied()
    }

    /// Keep what is said of hosts with these rows.
    pub(super) fn insert(&mut self, rows: &[i64], said: Said) {
        if self.said.len() == MOST {
            *self = Self::default();
        }
        if self.said.insert(rows.into(), said).is_none() {
            self.numbers += rows.len();
        }
    }

    /// The bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.said.len() * size_of::<(Box<[i64]>, Said)>() + self.numbers * size_of::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
