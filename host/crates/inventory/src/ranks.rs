//! The places of hosts' ids among all ids, by slot.
//!
//! One host that comes or goes moves the places of many others. Where many come and go in
//! one change, all of them get their places together, at its end.

use super::Inventory;

/// Of a slot whose host has no place yet.
const NONE: u32 = u32::MAX;

/// Places that are still to be given.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    /// How many changes are under way, one within the other, that end with
    /// [`Inventory::rank_together`].
    under_way: usize,
    /// Slots of hosts that came meanwhile.
    new: Vec<u32>,
    /// Whether hosts went meanwhile, and so left gaps.
    gaps: bool,
    /// How many slots were looked at to give places.
    #[cfg(any(test, feature = "testing"))]
    looked_at: usize,
}

impl Inventory {
    /// By slot: the place of the host's id among all ids, compared as bytes.
    #[inline]
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Do `work`, in which hosts come and go, and then give all of them their places among
    /// the ids. Until then places are not up to date.
    pub fn rank_together<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.ranking.under_way += 1;
        let done = work(self);
        self.ranking.under_way -= 1;
        self.rank_if_due();
        done
    }

    /// Give the host in `slot`, which has just come, its place.
    pub(super) fn rank_host(&mut self, slot: u32) {
        self.ranks[slot as usize] = NONE;
        self.ranking.new.push(slot);
        self.rank_if_due();
    }

    /// The host in `slot` has just gone: close the gap that it leaves.
    pub(super) fn close_gap(&mut self, slot: u32) {
        self.ranks[slot as usize] = NONE;
        self.ranking.gaps = true;
        self.rank_if_due();
    }

    /// How many slots were looked at so far to give places.
    #[cfg(any(test, feature = "testing"))]
    pub fn looked_at_for_ranks(&self) -> usize {
        self.ranking.looked_at
    }

    fn rank_if_due(&mut self) {
        if self.ranking.under_way > 0 {
            return;
        }
        let mut new = std::mem::take(&mut self.ranking.new);
        let gaps = std::mem::take(&mut self.ranking.gaps);
        if new.is_empty() && !gaps {
            return;
        }
        // One that came and went has no place, and one that came twice has one.
        new.retain(|slot| self.host(*slot).is_some());
        let id = |slot: u32| self.host(slot).map(|host| &host.id);
        new.sort_by(|a, b| id(*a).cmp(&id(*b)));
        new.dedup();
        if !gaps && self.follow_all(&new) {
            return;
        }
        self.merge_ranks(new);
    }

    /// Give new hosts, sorted by id, the next places, if their ids come after all others and
    /// their slots do too, as fleets are mostly added. False if they do not.
    fn follow_all(&mut self, new: &[u32]) -> bool {
        let Some(first) = new.first().copied() else {
            return true;
        };
        let before = self.hosts.get(..first as usize).unwrap_or_default();
        let last = before.iter().rposition(Option::is_some);
        let (mut next, follows) = match last.and_then(|slot| self.hosts[slot].as_ref()) {
            Some(last_host) => {
                let rank = last.map_or(NONE, |slot| self.ranks[slot]);
                let is_last =
                    rank != NONE && rank as usize + 1 + new.len() == self.host_slots.len();
                let follows = self.host(first).is_some_and(|host| host.id > last_host.id);
                (rank.wrapping_add(1), is_last && follows)
            }
            None => (0, new.len() == self.host_slots.len()),
        };
        if !follows {
            return false;
        }
        for slot in new {
            self.ranks[*slot as usize] = next;
            next += 1;
        }
        true
    }

    /// Give all hosts their places: those that have one stay in their order, and the new
    /// ones, sorted by id, come between them.
    fn merge_ranks(&mut self, new: Vec<u32>) {
        let mut ranked = vec![NONE; self.highest_rank()];
        for (slot, rank) in (0u32..).zip(&self.ranks) {
            if let Some(place) = ranked.get_mut(*rank as usize) {
                *place = slot;
            }
        }
        #[cfg(any(test, feature = "testing"))]
        {
            self.ranking.looked_at += self.ranks.len();
        }
        let mut ranked = ranked.into_iter().filter(|slot| *slot != NONE).peekable();
        let mut new = new.into_iter().peekable();
        let mut rank = 0;
        loop {
            let id = |slot: &u32| self.host(*slot).map(|host| &host.id);
            let slot = match (ranked.peek(), new.peek()) {
                (Some(old), Some(other)) if id(old) <= id(other) => ranked.next(),
                (_, Some(_)) => new.next(),
                (_, None) => ranked.next(),
            };
            let Some(slot) = slot else { break };
            self.ranks[slot as usize] = rank;
            rank += 1;
        }
    }

    /// One more than the highest place that a host has.
    fn highest_rank(&self) -> usize {
        let ranks = self.ranks.iter().filter(|rank| **rank != NONE);
        ranks.max().map_or(0, |rank| *rank as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::InventoryError;
    use placewright_document::{ChangedRow, ClusterDocument, InventoryChanges};
    use placewright_model::schema::Schema;
    use placewright_model::{FactsChange, Host};

    fn empty() -> Inventory {
        Inventory::new("c", Arc::new(Schema::default()))
    }

    fn document(hosts: impl Iterator<Item = String>) -> ClusterDocument {
        let text = "name = \"c\"";
        ClusterDocument {
            hosts: hosts.map(Host::new).collect(),
            ..ClusterDocument::read(text, "c.toml").unwrap()
        }
    }

    #[track_caller]
    fn are_ranked(inventory: &Inventory) {
        let mut hosts: Vec<_> = inventory.hosts().collect();
        hosts.sort_by(|a, b| a.1.id.cmp(&b.1.id));
        let ranks = hosts
            .iter()
            .map(|(slot, _)| inventory.ranks()[*slot as usize]);
        let ranks: Vec<u32> = ranks.collect();
        assert_eq!(ranks, (0..).take(hosts.len()).collect::<Vec<u32>>());
    }

    #[test]
    fn hosts_of_a_document_are_ranked_once_in_whatever_order_they_are_listed() {
        const HOSTS: usize = 3000;
        let id = |number: usize| format!("h{number:05}");
        let mut inventory = Inventory::of_document(document((0..HOSTS).rev().map(id)), 0).unwrap();
        are_ranked(&inventory);
        assert!(
            inventory.looked_at_for_ranks() <= 2 * HOSTS,
            "{}",
            inventory.looked_at_for_ranks()
        );
        // The same of a document of changes, of one that is refused, and of hosts that go.
        let came = |number| ChangedRow {
            id: id(number).into(),
            facts: FactsChange::default(),
        };
        let mut changes = InventoryChanges {
            hosts: (HOSTS..2 * HOSTS).rev().map(came).collect(),
            ..InventoryChanges::default()
        };
        changes.gone.hosts = (0..HOSTS).step_by(2).map(|it| id(it).into()).collect();
        let mut refused = changes.clone();
        refused.gone.hosts.push("unknown".into());
        inventory.change(refused).unwrap_err();
        are_ranked(&inventory);
        inventory.change(changes).unwrap();
        are_ranked(&inventory);
        assert!(
            inventory.looked_at_for_ranks() <= 20 * HOSTS,
            "{}",
            inventory.looked_at_for_ranks()
        );
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_ids_whatever_came_and_went(
            steps in prop::collection::vec((0..3_u8, 0..12_u8), 0..60)
        ) {
            let mut inventory = empty();
            let mut steps = steps.into_iter();
            while let Some((kind, number)) = steps.next() {
                let refused = kind == 2;
                let together: Vec<_> = steps.by_ref().take(usize::from(number)).collect();
                let _: Result<(), InventoryError> = inventory.all_or_nothing(|inventory| {
                    inventory.rank_together(|inventory| {
                        for (kind, number) in together {
                            let id = format!("h{number:02}");
                            let _ = match kind {
                                0 | 1 => inventory.add_host(Host::new(id)).map(drop),
                                _ => inventory.remove_host(&id),
                            };
                        }
                    });
                    match refused {
                        true => Err(InventoryError::UnknownHost("none".into())),
                        false => Ok(()),
                    }
                });
                are_ranked(&inventory);
                let id = format!("x{number:02}");
                let _ = match kind {
                    0 => inventory.add_host(Host::new(id)).map(drop),
                    _ => inventory.remove_host(&id),
                };
                are_ranked(&inventory);
            }
        }
    }
}
