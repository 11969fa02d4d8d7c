//! What a request costs on every host, for those who compare hosts.

use super::choose::{choose, keep_cheapest};
use super::run::{DecisionError, Extent, Runner};
use placewright_inventory::Inventory;
use placewright_model::Request;

/// The hosts that may take a request, with what it costs on each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weighing {
    /// By slot, ascending: the sums of weighted costs, tier by tier, of the hosts that
    /// are left at the end of the last stage.
    hosts: Vec<(u32, Vec<f64>)>,
    /// The slot of the host that the chain takes, of those among which it may choose.
    pub chosen: Option<u32>,
}

impl Weighing {
    /// The slots of the hosts that may take the request, ascending, with what it costs
    /// there, tier by tier.
    pub fn hosts(&self) -> impl Iterator<Item = (u32, &[f64])> {
        self.hosts
            .iter()
            .map(|(slot, costs)| (*slot, costs.as_slice()))
    }

    /// What the request costs on the host in that slot, tier by tier; None if it is
    /// not left.
    pub fn costs(&self, slot: u32) -> Option<&[f64]> {
        let place = self.hosts.binary_search_by_key(&slot, |(slot, _)| *slot);
        Some(&self.hosts[place.ok()?].1)
    }
}

impl Runner {
    /// Judge all hosts, with what is cached of them, and choose among those in the
    /// slots `among`; empty: among all. The others are judged all the same: what a host costs may
    /// depend on them. Only a policy with selections gets to see no more than `among`.
    ///
    /// # Errors
    /// As for [`Runner::decide`].
    pub fn weigh(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        among: &[u32],
    ) -> Result<Weighing, DecisionError> {
        let decided = self.run(inventory, request, draw, Extent::AllCosts)?;
        let mut chosen = decided.chosen.map(|chosen| chosen.slot);
        let (mut hosts, mut selects) = (Vec::new(), false);
        if let Some(run) = self.stage_runs().last() {
            selects = !run.refined.is_empty();
            for survivor in 0..run.survivors() {
                let sums = run.sums.iter().map(|tier| tier[survivor]).collect();
                hosts.push((run.survivor_slot(survivor), sums));
            }
            if !among.is_empty() && !selects {
                let mut left: Vec<usize> = (0..run.survivors())
                    .filter(|survivor| among.contains(&run.survivor_slot(*survivor)))
                    .collect();
                for tier in &run.sums {
                    keep_cheapest(&mut left, tier);
                }
                let rule = &self.chain().policy().tie_rule;
                let slot_of = |survivor| run.survivor_slot(survivor);
                let choice = choose(left, slot_of, rule, draw, inventory);
                chosen = choice.map(|choice| slot_of(choice.survivor));
            }
        }
        if selects && !among.is_empty() {
            let ids = among.iter().filter_map(|slot| inventory.host(*slot));
            let restricted = Request {
                allowed: ids.map(|host| host.id.clone()).collect(),
                ..request.clone()
            };
            let decided = self.run(inventory, &restricted, draw, Extent::Choice)?;
            chosen = decided.chosen.map(|chosen| chosen.slot);
        }
        Ok(Weighing { hosts, chosen })
    }

    /// The hosts that may take the request, best first, at most so many, each with what
    /// it costs there, tier by tier: each is the one that would be chosen if those before
    /// it were left out of the choice. Empty if selections decide, or the request forces a
    /// host.
    ///
    /// # Errors
    /// As for [`Runner::decide`].
    pub fn rank(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        most: usize,
    ) -> Result<Vec<(u32, Vec<f64>)>, DecisionError> {
        self.run(inventory, request, draw, Extent::AllAsked)?;
        let last = self.stage_runs().last();
        let Some(run) = last.filter(|run| run.refined.is_empty()) else {
            return Ok(Vec::new());
        };
        let rule = &self.chain().policy().tie_rule;
        let slot_of = |survivor| run.survivor_slot(survivor);
        let mut left: Vec<usize> = (0..run.survivors()).collect();
        let mut ranked = Vec::new();
        while ranked.len() < most {
            let mut best = left.clone();
            for tier in &run.sums {
                keep_cheapest(&mut best, tier);
            }
            let Some(choice) = choose(best, slot_of, rule, draw, inventory) else {
                break;
            };
            let next = choice.survivor;
            left.retain(|survivor| *survivor != next);
            let costs = run.sums.iter().map(|tier| tier[next]).collect();
            ranked.push((slot_of(next), costs));
        }
        Ok(ranked)
    }
}
