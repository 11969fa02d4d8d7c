//! Turns in another order.

use std::collections::BTreeSet;

use super::{Search, Step, Tried, free, squeaky};

/// How far those who were left out are moved to the front.
#[derive(Debug, Clone, Copy)]
enum Front {
    /// Before all others of their priority.
    OfTheirPriority,
    /// Before all others.
    OfAll,
}

impl Search<'_> {
    /// Largest first within each priority; then those who were left out to the front,
    /// until an order comes again.
    pub(super) fn reorder(&mut self, best: &mut Tried) {
        let mut seen: BTreeSet<Vec<Step>> = BTreeSet::new();
        seen.insert(best.steps.clone());
        let mut largest_first: Vec<usize> = (0..self.requests.len()).collect();
        largest_first.sort_by(|a, b| {
            let by_priority = self.priority(*b).cmp(&self.priority(*a));
            by_priority.then(self.sizes[*b].total_cmp(&self.sizes[*a]))
        });
        let largest_first = largest_first.into_iter().map(free).collect();
        let first_come = (best.steps.clone(), squeaky(&best.steps, &best.turns));
        self.try_new(largest_first, &mut seen, best);
        for front in [Front::OfTheirPriority, Front::OfAll] {
            let (mut steps, mut squeaky) = first_come.clone();
            while best.left_out() > 0 {
                let next = self.moved_to_front(&steps, &squeaky, front);
                let Some(left) = self.try_new(next.clone(), &mut seen, best) else {
                    break;
                };
                (steps, squeaky) = (next, left);
            }
        }
    }

    /// Try a plan, unless it was tried before; the requests that it leaves out.
    fn try_new(
        &mut self,
        steps: Vec<Step>,
        seen: &mut BTreeSet<Vec<Step>>,
        best: &mut Tried,
    ) -> Option<Vec<usize>> {
        if best.left_out() == 0 || !seen.insert(steps.clone()) {
            return None;
        }
        self.attempt(steps, best)
    }

    fn moved_to_front(&self, steps: &[Step], squeaky: &[usize], front: Front) -> Vec<Step> {
        let mut moved = steps.to_vec();
        // Stable: within each part the order stays.
        moved.sort_by_key(|step| {
            let stays = !squeaky.contains(&step.request);
            match front {
                Front::OfTheirPriority => (-i128::from(self.priority(step.request)), stays),
                Front::OfAll => (0, stays),
            }
        });
        moved
    }
}
