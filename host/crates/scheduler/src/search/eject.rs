//! Who was left out takes the place of others, who are placed elsewhere.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Search, Step, Tried, free, squeaky};
use placewright_model::Request;

impl Search<'_> {
    /// Put somebody who is left out in the place of one or two others, if these find
    /// another. Whether there is a better plan now.
    pub(super) fn eject_once(&mut self, best: &mut Tried) -> bool {
        let mut squeaky = squeaky(&best.steps, &best.turns);
        squeaky.sort_by_key(|request| Reverse(self.priority(*request)));
        let hosts = self.ejectable(best);
        let left_out = best.left_out.clone();
        self.world.clone_from(&best.world);
        for how_many in [1, 2] {
            for (request, (host, here)) in pairs(&squeaky, &hosts) {
                for out in ejections(here, how_many) {
                    if self.is_bounded() {
                        return false;
                    }
                    let Some(steps) = self.ejecting(best, request, host, &out) else {
                        continue;
                    };
                    self.attempt(steps, best);
                    if best.left_out < left_out {
                        return true;
                    }
                    self.world.clone_from(&best.world);
                }
            }
        }
        false
    }

    /// By the id of the host, the requests that the plan has sent there and whose
    /// places can be given back, the smallest first.
    fn ejectable(&self, best: &Tried) -> BTreeMap<Arc<str>, Vec<usize>> {
        let mut hosts: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (step, turn) in best.steps.iter().zip(&best.turns) {
            let mut members = turn.members.iter();
            // Who stays where it runs has no place reserved.
            if let Some(host) = turn.host()
                && members.all(|id| best.world.pending(id).is_some())
            {
                hosts.entry(host.clone()).or_default().push(step.request);
            }
        }
        for here in hosts.values_mut() {
            here.sort_by(|a, b| self.sizes[*a].total_cmp(&self.sizes[*b]));
        }
        hosts
    }

    /// The steps of a plan in which a request takes the place of others on a host, if
    /// on top of the best plan it can, and the others find a host each.
    fn ejecting(
        &mut self,
        best: &Tried,
        request: usize,
        host: &Arc<str>,
        out: &[usize],
    ) -> Option<Vec<Step>> {
        // Back to where the best plan ended.
        if !self.world.take_back(best.world.version()) {
            self.world.clone_from(&best.world);
        }
        let number = self.number + best.turns.len() as u64;
        for ejected in out {
            for member in &self.requests[*ejected].members {
                self.world.cancel_vm(&member.id).ok()?;
            }
        }
        let directed = Request {
            allowed: vec![host.clone()],
            ..self.requests[request].clone()
        };
        self.decide(directed, number)?.host()?;
        for ejected in out {
            self.decide(self.requests[*ejected].clone(), number)?
                .host()?;
        }
        let moves = |step: &Step| step.request == request || out.contains(&step.request);
        let first = best.steps.iter().position(&moves)?;
        let mut steps: Vec<Step> = best.steps[..first].to_vec();
        let (mut stay, mut left_out) = (Vec::new(), Vec::new());
        for (step, turn) in best.steps.iter().zip(&best.turns).skip(first) {
            match turn.host() {
                _ if moves(step) => {}
                Some(host) => stay.push(Step {
                    to: Some(host.clone()),
                    ..step.clone()
                }),
                None => left_out.push(free(step.request)),
            }
        }
        steps.append(&mut stay);
        steps.push(Step {
            request,
            to: Some(host.clone()),
        });
        steps.extend(out.iter().map(|ejected| free(*ejected)));
        steps.append(&mut left_out);
        Some(steps)
    }
}

/// Each request with each host.
fn pairs<'p, H>(
    requests: &'p [usize],
    hosts: &'p BTreeMap<Arc<str>, H>,
) -> impl Iterator<Item = (usize, (&'p Arc<str>, &'p H))> {
    let requests = requests.iter();
    requests.flat_map(move |request| hosts.iter().map(move |host| (*request, host)))
}

/// Each of these, or each pair of them with the greater one first: small ones soonest.
/// They are made one by one: of ten thousand there are fifty million pairs.
fn ejections(here: &[usize], how_many: usize) -> impl Iterator<Item = Vec<usize>> {
    here.iter().enumerate().flat_map(move |(place, greater)| {
        let (alone, smaller) = match how_many {
            1 => (Some(vec![*greater]), &here[..0]),
            _ => (None, &here[..place]),
        };
        let pairs = smaller.iter().map(|smaller| vec![*greater, *smaller]);
        alone.into_iter().chain(pairs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ones_are_ejected_soonest_alone_and_in_pairs() {
        let here = [7, 3, 9, 1];
        let alone: Vec<_> = ejections(&here, 1).collect();
        assert_eq!(alone, [[7], [3], [9], [1]]);
        let pairs: Vec<_> = ejections(&here, 2).collect();
        assert_eq!(pairs, [[3, 7], [9, 7], [9, 3], [1, 7], [1, 3], [1, 9]]);
        assert_eq!(ejections(&[], 2).count(), 0);
    }

    #[test]
    fn pairs_of_very_many_are_made_one_by_one() {
        // All of them would take some terabytes.
        let here: Vec<usize> = (0..1_000_000).collect();
        let last = ejections(&here, 2).nth(3);
        assert_eq!(last, Some(vec![3, 0]));
    }
}
