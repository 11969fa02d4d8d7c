//! The filters, costs and selections of a stage.

use super::Checker;
use super::entry::Entry;
use super::names::EntryNames;
use crate::{CostEntry, EffectsEntry, FilterEntry, OnFailure, Position, Scaling, SelectionEntry};
use placewright_document::Place;
use placewright_document::form::Fields;
use placewright_engine::contract::{self, Description};

impl<'a, 't> Checker<'a, 't> {
    /// The filters of a stage.
    pub(super) fn filters(
        &mut self,
        drafts: &'a [Fields<'t>],
        names: &mut EntryNames<'t>,
    ) -> Vec<FilterEntry> {
        let mut placed = Vec::new();
        let mut filters: Vec<FilterEntry> = Vec::new();
        for draft in drafts {
            let position = draft.word("position").unwrap_or_default();
            if draft.boolean("enabled") != Some(false) {
                placed.push((position, draft.place_of("position").unwrap_or(draft.place)));
            }
            let Some(entry) = self.entry(draft, "filters") else {
                continue;
            };
            filters.push(FilterEntry {
                name: names.name(draft, &entry.description.name),
                unit: entry.unit,
                position,
                on_failure: draft.word("on-failure").unwrap_or(OnFailure::Fail),
                settings: entry.settings,
                enabled: entry.enabled,
            });
        }
        self.check_positions("filter", &placed);
        filters.sort_by_key(|filter| filter.position);
        filters
    }

    /// The costs of a stage.
    pub(super) fn costs(
        &mut self,
        drafts: &'a [Fields<'t>],
        names: &mut EntryNames<'t>,
    ) -> Vec<CostEntry> {
        let mut costs = Vec::new();
        for draft in drafts {
            let Some(entry) = self.entry(draft, "costs") else {
                continue;
            };
            let scaling = draft.word("scaling").unwrap_or_default();
            self.check_range(&entry, scaling);
            costs.push(CostEntry {
                name: names.name(draft, &entry.description.name),
                unit: entry.unit,
                factor: draft.number("factor").unwrap_or(1.0),
                scaling,
                tier: draft
                    .integer("tier")
                    .and_then(|tier| u32::try_from(tier).ok())
                    .unwrap_or(1),
                on_failure: draft.word("on-failure").unwrap_or(OnFailure::LeaveOut),
                settings: entry.settings,
                enabled: entry.enabled,
            });
        }
        costs
    }

    /// The selections of a stage.
    pub(super) fn selections(
        &mut self,
        drafts: &'a [Fields<'t>],
        names: &mut EntryNames<'t>,
    ) -> Vec<SelectionEntry> {
        let mut enabled = Vec::new();
        let mut selections: Vec<SelectionEntry> = Vec::new();
        for draft in drafts {
            let Some(entry) = self.entry(draft, "selections") else {
                continue;
            };
            if entry.enabled {
                enabled.push((entry.description, entry.place));
            }
            selections.push(SelectionEntry {
                name: names.name(draft, &entry.description.name),
                unit: entry.unit,
                on_failure: draft.word("on-failure").unwrap_or(OnFailure::BestCost),
                settings: entry.settings,
                enabled: entry.enabled,
            });
        }
        self.check_selection_order(&enabled);
        selections
    }

    /// A unit that must stand first or last among the selections of a stage does.
    fn check_selection_order(&mut self, enabled: &[(&Description, &Place)]) {
        let last = enabled.len().saturating_sub(1);
        for (number, (description, place)) in enabled.iter().enumerate() {
            let Some(part) = &description.selection else {
                continue;
            };
            let word = match part.position {
                contract::Position::First if number != 0 => "first",
                contract::Position::Last if number != last => "last",
                _ => continue,
            };
            let message = format!(
                "unit \"{}\" must stand {word} among the selections of a stage, since it {}",
                description.name,
                match word {
                    "first" => "gives the shares that the others start from",
                    _ => "leaves nothing for others to refine",
                }
            );
            self.problems.add(place, message);
        }
    }

    /// What follows from placements.
    pub(super) fn effects(&mut self, drafts: &'a [Fields<'t>]) -> Vec<EffectsEntry> {
        let mut names = EntryNames::new("effect", drafts.iter(), &mut self.problems);
        let mut effects = Vec::new();
        for draft in drafts {
            let Some(entry) = self.entry(draft, "effects") else {
                continue;
            };
            effects.push(EffectsEntry {
                name: names.name(draft, &entry.description.name),
                unit: entry.unit,
                enabled: entry.enabled,
                settings: entry.settings,
            });
        }
        effects
    }

    fn check_range(&mut self, entry: &Entry<'_, '_>, scaling: Scaling) {
        let declared = entry
            .description
            .judge
            .as_ref()
            .and_then(|part| part.cost_range);
        if let (Scaling::Range, None, Some(place)) =
            (scaling, declared, entry.fields.place_of("scaling"))
        {
            let message = format!(
                "unit \"{}\" does not say between which numbers its costs lie, so \"range\" cannot scale them; use \"min-max\" or \"rank\"",
                entry.description.name
            );
            self.problems.add(place, message);
        }
    }

    /// At most one entry of a stage may stand first, and at most one last.
    fn check_positions(&mut self, what: &str, placed: &[(Position, &Place)]) {
        for (position, word) in [(Position::First, "first"), (Position::Last, "last")] {
            let mut there = placed.iter().filter(|(other, _)| *other == position);
            let Some((_, first)) = there.next() else {
                continue;
            };
            for (_, place) in there {
                let message = format!(
                    "only one {what} of a stage can be {word}, and that is the one at {first}"
                );
                self.problems.add(place, message);
            }
        }
    }
}
