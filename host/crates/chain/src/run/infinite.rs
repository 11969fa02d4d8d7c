//! Hosts that cost infinitely much, under a policy by which that means that they cannot
//! take the VMs.

use std::sync::Arc;

use super::super::choose::{choose, keep_cheapest};
use super::super::subject::Subject;
use super::super::{Chain, Stage};
use super::{Chosen, Decided, DecisionError, Removed, Runner, StageRun};
use placewright_inventory::Inventory;
use placewright_model::Request;
use placewright_policy::{InfiniteCosts, Scaling};

/// What a cost entry says of a host that it costs infinitely much.
pub(crate) const COSTS_INFINITELY_MUCH: &str = "costs infinitely much, so it cannot take the VM";

/// Whether a host was chosen that is no place by the policy. Its last stage goes by costs
/// alone then: a selection says itself whom it leaves.
pub(super) fn is_no_place(chain: &Chain, decided: &Decided) -> bool {
    (chain.stages.last()).is_some_and(|stage| cuts_infinite(chain, stage))
        && (decided.chosen.iter()).any(|chosen| chosen.costs.contains(&f64::INFINITY))
}

/// Whether hosts that cost infinitely much are no places in this stage.
pub(crate) fn cuts_infinite(chain: &Chain, stage: &Stage) -> bool {
    let is_last = chain
        .stages
        .last()
        .is_some_and(|last| last.name == stage.name);
    is_last && stage.selections.is_empty() && chain.policy.infinite_costs == InfiniteCosts::NoPlace
}

impl Runner {
    /// Choose again among the hosts that cost infinitely much in no tier.
    pub(super) fn without_infinite(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        decided: Decided,
    ) -> Result<Decided, DecisionError> {
        let subject = Subject::new(request, inventory, draw);
        // With the costs of all tiers.
        self.run_stages(inventory, &subject, true, None)?;
        let (Some(stage), Some(run)) = (self.chain.stages.last(), self.stages.last()) else {
            return Ok(decided);
        };
        let (infinite, mut best): (Vec<usize>, Vec<usize>) =
            (0..run.survivors()).partition(|survivor| run.is_infinite(*survivor));
        for tier in &run.sums {
            keep_cheapest(&mut best, tier);
        }
        let slot_of = |survivor| run.survivor_slot(survivor);
        let rule = &self.chain.policy.tie_rule;
        let chosen = choose(best, slot_of, rule, draw, inventory).map(|choice| Chosen {
            slot: slot_of(choice.survivor),
            costs: run.sums.iter().map(|tier| tier[choice.survivor]).collect(),
            tied: choice.tied,
        });
        let mut removed = decided.removed;
        for survivor in infinite {
            let entry = run.infinite_by(stage, run.survivor_row(survivor));
            match removed.iter_mut().find(|it| it.filter == entry) {
                Some(known) if &*known.reason == COSTS_INFINITELY_MUCH => known.hosts += 1,
                _ => removed.push(Removed {
                    filter: entry,
                    reason: COSTS_INFINITELY_MUCH.into(),
                    passing: false,
                    hosts: 1,
                    names: Vec::new(),
                }),
            }
        }
        Ok(Decided {
            chosen,
            removed,
            ..decided
        })
    }
}

impl StageRun {
    /// Whether a survivor costs infinitely much in any tier.
    pub(crate) fn is_infinite(&self, survivor: usize) -> bool {
        let mut tiers = self.sums.iter();
        tiers.any(|tier| tier[survivor] == f64::INFINITY)
    }

    /// The first cost entry by which a row costs infinitely much; the stage, if it is but
    /// the sum of several.
    pub(crate) fn infinite_by(&self, stage: &Stage, row: u32) -> Arc<str> {
        let entries = stage.costs.iter().enumerate();
        let mut counted = entries.filter(|(entry, cost)| {
            // On every scale, infinite costs have a place.
            let is_summed = self.counts(*entry) && cost.factor != 0.0;
            let raw = self.raw(*entry, row as usize);
            is_summed && cost.scaling == Scaling::None && raw == f64::INFINITY
        });
        let entry = counted.next();
        entry.map_or_else(|| stage.name.clone(), |(_, cost)| cost.name.clone())
    }
}
