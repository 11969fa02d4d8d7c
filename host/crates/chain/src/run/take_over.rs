//! What a runner knows is known to the runner of another chain, where both ask the same.

use std::mem;

use super::Runner;
use crate::reuse::Kept;
use crate::{Chain, Step};
use placewright_inventory::Inventory;

impl Runner {
    /// Take over from the runner of another chain over the same inventory what it holds for
    /// the steps that this chain has too, kept answers included. It changes no answer.
    pub fn take_over(&mut self, mut before: Runner, inventory: &Inventory) {
        let pairs = pairs(&before.chain, &self.chain);
        for (old, new) in &pairs {
            mem::swap(&mut self.steps[*new], &mut before.steps[*old]);
        }
        if let (Some(reuse), Some(kept)) = (self.reuse, before.kept)
            && before.reuse == self.reuse
        {
            let mut taken = Kept::new(&self.chain, reuse, inventory);
            taken.take_over(kept, &pairs, &self.chain, inventory);
            self.kept = Some(taken);
        }
    }
}

/// The places of the steps that ask the same in both chains: old, new.
fn pairs(before: &Chain, after: &Chain) -> Vec<(usize, usize)> {
    let mut left: Vec<&Step> = steps(before).collect();
    let mut pairs = Vec::new();
    for step in steps(after) {
        if let Some(number) = left.iter().position(|old| asks_the_same(old, step)) {
            pairs.push((left.swap_remove(number).place, step.place));
        }
    }
    pairs
}

fn steps(chain: &Chain) -> impl Iterator<Item = &Step> {
    chain.stages.iter().flat_map(|stage| &stage.steps)
}

fn asks_the_same(a: &Step, b: &Step) -> bool {
    a.unit.digest() == b.unit.digest()
        && a.want == b.want
        && a.settings == b.settings
        && a.plan == b.plan
        && a.evaluation == b.evaluation
}
