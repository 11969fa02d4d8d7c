//! The best of the hosts that are left, by tiers of sums and then the tie rule.

use std::cmp::Ordering;

use super::scale::least;
use placewright_inventory::Inventory;
use placewright_policy::Tie;

/// Sums that are compared at once: few of them are the least.
const SIDE_BY_SIDE: usize = 32;

/// The choice among survivors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    /// Its place in the list of survivors.
    pub(super) survivor: usize,
    /// How many had equal sums in every tier, it included.
    pub(super) tied: usize,
}

/// Choose among survivors of equal sums; `slot_of` gives a survivor's host. None if
/// there is no survivor.
pub(super) fn choose(
    mut tied: Vec<usize>,
    slot_of: impl Fn(usize) -> u32,
    rule: &[Tie],
    draw: f64,
    inventory: &Inventory,
) -> Option<Choice> {
    let count = tied.len();
    let (vms, pending) = inventory.vm_counts();
    let (vms, pending, listed) = (Column(vms), Column(pending), Column(inventory.listed()));
    let rank = |survivor: usize| inventory.ranks()[slot_of(survivor) as usize];
    for tie in rule {
        if tied.len() < 2 {
            break;
        }
        match tie {
            Tie::FewestVms => keep_least(&mut tied, |survivor| {
                let slot = slot_of(survivor);
                vms.value(slot) + pending.value(slot)
            }),
            Tie::Listed => keep_least(&mut tied, |survivor| listed.value(slot_of(survivor))),
            Tie::Id => keep_least(&mut tied, |survivor| i64::from(rank(survivor))),
            Tie::Draw => {
                tied.sort_unstable_by_key(|survivor| rank(*survivor));
                let place = (draw * tied.len() as f64) as usize;
                tied = vec![tied[place.min(tied.len() - 1)]];
            }
        }
    }
    // What no rule told apart is decided by the ids: never by chance of order.
    let survivor = tied.into_iter().min_by_key(|survivor| rank(*survivor))?;
    Some(Choice {
        survivor,
        tied: count,
    })
}

/// The tie rule as an order of hosts, as far as it needs no draw.
pub(super) struct TieOrder<'a> {
    rule: &'a [Tie],
    vms: Column<'a>,
    pending: Column<'a>,
    listed: Column<'a>,
    ranks: &'a [u32],
}

impl<'a> TieOrder<'a> {
    pub(super) fn new(rule: &'a [Tie], inventory: &'a Inventory) -> Self {
        let (vms, pending) = inventory.vm_counts();
        Self {
            rule,
            vms: Column(vms),
            pending: Column(pending),
            listed: Column(inventory.listed()),
            ranks: inventory.ranks(),
        }
    }

    /// Which of two hosts, by slot, comes first. What no rule tells apart is decided by
    /// the ids.
    pub(super) fn compare(&self, a: u32, b: u32) -> Ordering {
        let by_rank = || self.ranks[a as usize].cmp(&self.ranks[b as usize]);
        for tie in self.rule {
            let order = match tie {
                Tie::FewestVms => {
                    let vms = |slot| self.vms.value(slot) + self.pending.value(slot);
                    vms(a).cmp(&vms(b))
                }
                Tie::Listed => self.listed.value(a).cmp(&self.listed.value(b)),
                Tie::Id => by_rank(),
                Tie::Draw => break,
            };
            if order.is_ne() {
                return order;
            }
        }
        by_rank()
    }
}

/// The survivors whose sum is the least of all.
pub(super) fn cheapest(sums: &[f64]) -> Vec<usize> {
    let least = least(sums);
    let mut cheapest = Vec::new();
    for (number, sums) in sums.chunks(SIDE_BY_SIDE).enumerate() {
        if sums.iter().fold(false, |any, sum| any | (*sum == least)) {
            let first = number * SIDE_BY_SIDE;
            let survivors = (first..).zip(sums).filter(|(_, sum)| **sum == least);
            cheapest.extend(survivors.map(|(survivor, _)| survivor));
        }
    }
    cheapest
}

/// Keep the survivors whose sum is the least.
pub(super) fn keep_cheapest(tied: &mut Vec<usize>, sums: &[f64]) {
    let least = tied.iter().map(|survivor| sums[*survivor]);
    let least = least.fold(f64::INFINITY, f64::min);
    tied.retain(|survivor| sums[*survivor] == least);
}

fn keep_least(tied: &mut Vec<usize>, key: impl Fn(usize) -> i64) {
    if let Some(least) = tied.iter().map(|survivor| key(*survivor)).min() {
        tied.retain(|survivor| key(*survivor) == least);
    }
}

struct Column<'a>(&'a [i64]);

impl Column<'_> {
    fn value(&self, slot: u32) -> i64 {
        self.0.get(slot as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Host, Vm};

    fn fleet() -> Inventory {
        let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
        for id in ["c", "a", "b"] {
            inventory.add_host(Host::new(id)).unwrap();
        }
        inventory.run_vm(Vm::new("vm"), "a").unwrap();
        inventory
    }

    fn chosen(sums: &[Vec<f64>], rule: &[Tie], draw: f64) -> (String, usize) {
        let inventory = fleet();
        let mut tied = vec![0, 1, 2];
        for tier in sums {
            keep_cheapest(&mut tied, tier);
        }
        let slot_of = |survivor| survivor as u32;
        let choice = choose(tied, slot_of, rule, draw, &inventory).unwrap();
        let host = inventory.host(choice.survivor as u32).unwrap();
        (host.id.to_string(), choice.tied)
    }

    #[test]
    fn tiers_are_compared_one_after_the_other() {
        let sums = [vec![1.0, 1.0, 2.0], vec![5.0, 4.0, 0.0]];
        assert_eq!(chosen(&sums, &[Tie::Id], 0.0), ("a".into(), 1));
    }

    #[test]
    fn ties_fall_to_the_rule_and_last_to_the_id() {
        let equal = [vec![0.0; 3]];
        assert_eq!(chosen(&equal, &Tie::DEFAULT, 0.0), ("b".into(), 3));
        assert_eq!(chosen(&equal, &[Tie::Listed], 0.0), ("c".into(), 3));
        assert_eq!(chosen(&equal, &[], 0.0), ("a".into(), 3));
        assert_eq!(chosen(&equal, &[Tie::Draw], 0.5), ("b".into(), 3));
        assert_eq!(chosen(&equal, &[Tie::Draw], 0.999), ("c".into(), 3));
        assert_eq!(chosen(&[], &[Tie::Id], 0.0), ("a".into(), 3));
    }

    #[test]
    fn infinite_sums_are_chosen_only_where_there_is_nothing_else() {
        let infinite = f64::INFINITY;
        assert_eq!(chosen(&[vec![infinite, infinite, 9.0]], &[], 0.0).0, "b");
        assert_eq!(chosen(&[vec![infinite; 3]], &[], 0.0), ("a".into(), 3));
    }
}
