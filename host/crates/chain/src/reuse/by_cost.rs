//! Hosts in the order of their costs, kept while few of them change.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

/// The slots of all hosts in the order of their costs, made when it is first wanted.
#[derive(Debug, Default)]
pub(super) struct ByCost {
    order: Option<Arc<[u32]>>,
    /// Slots that may stand elsewhere by now, some more than once.
    moved: Vec<u32>,
}

impl ByCost {
    /// The cost of a host may be another one.
    pub(super) fn moves(&mut self, slot: u32) {
        if let Some(order) = &self.order {
            // Then it is as well made anew.
            match self.moved.len() < order.len() {
                true => self.moved.push(slot),
                false => *self = Self::default(),
            }
        }
    }

    /// The costs of these hosts may be others.
    pub(super) fn all_move(&mut self, slots: &[u32]) {
        if self.order.is_some() {
            slots.iter().for_each(|slot| self.moves(*slot));
        }
    }

    /// The order of these costs, by slot.
    pub(super) fn order(&mut self, costs: &[f64]) -> Arc<[u32]> {
        let compare = |a: &u32, b: &u32| {
            let by_cost = costs[*a as usize].total_cmp(&costs[*b as usize]);
            by_cost.then(a.cmp(b))
        };
        let mut moved = std::mem::take(&mut self.moved);
        let order: Arc<[u32]> = match self.order.take() {
            Some(order) if moved.is_empty() => order,
            Some(order) => {
                moved.sort_unstable_by(compare);
                moved.dedup();
                let mut is_moved = FixedBitSet::with_capacity(costs.len());
                is_moved.extend(moved.iter().map(|slot| *slot as usize));
                let mut merged = Vec::with_capacity(order.len());
                let mut moved = moved.into_iter().peekable();
                for slot in order
                    .iter()
                    .filter(|slot| !is_moved.contains(**slot as usize))
                {
                    while let Some(before) = moved.next_if(|moved| compare(moved, slot).is_lt()) {
                        merged.push(before);
                    }
                    merged.push(*slot);
                }
                merged.extend(moved);
                merged.into()
            }
            None => {
                let mut all: Vec<u32> = (0..costs.len() as u32).collect();
                all.sort_unstable_by(compare);
                all.into()
            }
        };
        self.order = Some(order.clone());
        order
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.order.as_ref().map_or(0, |order| order.len() * 4)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_costs_after_every_change(
            mut costs in proptest::collection::vec(0u8..9, 1..200),
            changes in proptest::collection::vec(
                proptest::collection::vec((any::<proptest::sample::Index>(), 0u8..9), 0..300), 0..9),
        ) {
            let mut by_cost = ByCost::default();
            for change in changes {
                for (at, cost) in change {
                    let slot = at.index(costs.len());
                    costs[slot] = cost;
                    by_cost.moves(slot as u32);
                }
                let numbers: Vec<f64> = costs.iter().map(|cost| f64::from(*cost)).collect();
                let order = by_cost.order(&numbers);
                let mut sorted: Vec<u32> = (0..costs.len() as u32).collect();
                sorted.sort_by_key(|slot| (costs[*slot as usize], *slot));
                prop_assert_eq!(&*order, &sorted[..]);
            }
        }
    }
}
