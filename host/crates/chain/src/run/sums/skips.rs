//! Filters that are no part of classes: what they remove, kept up to date by itself.

use super::Sums;
use crate::encode::HostRows;
use crate::reuse::{Mask, RemovalCode};
use crate::run::kept::{NotKept, Where};
use crate::run::stage::Removal;

impl Sums<'_, '_> {
    /// Make sure that the answers of such a step are known about every host that is up.
    pub(super) fn refresh_skipped(&mut self, number: usize) -> Result<(), NotKept> {
        let (step, of_step) = (&self.stage.steps[number], &self.steps[number]);
        let Where::At(place) = of_step.at else {
            return Ok(());
        };
        let inventory = self.inventory;
        let is_up = |slot: &u32| inventory.is_up(*slot);
        let mut needed: Vec<u32> = of_step.related.iter().copied().filter(is_up).collect();
        if let Some(answers) = self.kept.steps[step.place].store.get(place) {
            needed.extend(answers.stale().filter(is_up));
        }
        needed.sort_unstable();
        needed.dedup();
        match needed.len() == inventory.slots() {
            true => self.refresh(number, HostRows::All(needed.len() as u32)),
            false => self.refresh(number, HostRows::List(&needed)),
        }
    }

    /// The hosts that such steps remove, by the removal, ascending. Hosts that are not
    /// up, or are looked at apart, may be among them.
    pub(super) fn masks(&self) -> Vec<(RemovalCode, Mask<'_>)> {
        let mut masks = Vec::new();
        for (number, (step, of_step)) in self.stage.steps.iter().zip(&self.steps).enumerate() {
            let Where::At(place) = of_step.at else {
                continue;
            };
            let of_unit = &self.kept.steps[step.place];
            let Some(answers) = of_unit.store.get(place).filter(|_| of_step.skips) else {
                continue;
            };
            let code = |reason| Removal::new(number, reason).code();
            match answers.skipped() {
                Some(groups) => masks.extend(groups.filter_map(|(verdict, hosts)| {
                    Some((code(verdict.reason()?), Mask::Hosts(hosts)))
                })),
                None => {
                    let reason = answers.one().and_then(|said| said.verdict.reason());
                    masks.extend(reason.map(|reason| (code(reason), Mask::All)));
                }
            }
        }
        masks
    }
}
