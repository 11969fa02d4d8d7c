//! The rows of the table `candidates`: the hosts that a stage has left, with what
//! their place and costs are so far.

use std::sync::Arc;

/// The candidates, in the order of slots; one entry per candidate in each list.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) slots: Vec<u32>,
    /// The group that each stands in, best first.
    pub(super) groups: Vec<i64>,
    pub(super) shares: Vec<f64>,
    /// The sums of the stage's weighted costs.
    pub(super) costs: Vec<f64>,
    /// What the policy's costs said, by the name of the entry: those of this stage
    /// and of the stages before that the part reads.
    pub(super) named: Vec<(Arc<str>, Vec<f64>)>,
}

impl Candidates {
    /// The place of the host in that slot.
    pub(super) fn place(&self, slot: u32) -> Option<usize> {
        self.slots.binary_search(&slot).ok()
    }

    /// The raw costs that the policy's entry of that name gave.
    pub(super) fn named(&self, name: &str) -> Option<&[f64]> {
        let (_, costs) = self.named.iter().find(|(known, _)| **known == *name)?;
        Some(costs)
    }
}
