//! From a policy document and the units at hand to a policy.
//!
//! Goes on after every mistake, so that all of them are told at once.

mod entry;
mod lists;
mod names;
mod reads;
mod resolve;
mod unheeded;
mod watches;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::document::Draft;
use super::{Keep, Policy, Settings, Stage, Tie, UnitEntry, UnitName};
use names::EntryNames;
use placewright_document::form::Fields;
use placewright_document::{Place, Problems, Table, shown};
use placewright_engine::contract::Description;
use placewright_model::schema::Schema;

/// The units that a policy may name.
pub trait UnitDescriptions {
    /// The description of the unit of that name or alias, and of that digest if
    /// one is pinned.
    fn find(&self, unit: &UnitName) -> Option<&Description>;

    /// The digest of the unit that is found under a name without a pin, in hexadecimal.
    fn digest(&self, name: &str) -> Option<String>;

    /// All names and aliases.
    fn names(&self) -> Vec<&str>;
}

/// One check of one document.
pub(super) struct Checker<'a, 't> {
    units: &'a dyn UnitDescriptions,
    schema: &'a Schema,
    draft: &'a Draft<'t>,
    /// The settings for all units.
    shared: Option<&'t Table>,
    /// All settings that the policy's units have.
    known_settings: BTreeSet<&'a str>,
    /// Those of them that some entry takes from `shared`.
    taken_settings: BTreeSet<&'a str>,
    /// Whether every unit was found.
    all_found: bool,
    problems: Problems,
}

impl<'a, 't> Checker<'a, 't> {
    pub(super) fn new(
        units: &'a dyn UnitDescriptions,
        schema: &'a Schema,
        draft: &'a Draft<'t>,
        problems: Problems,
    ) -> Self {
        Self {
            units,
            schema,
            draft,
            shared: draft.fields.table("settings"),
            known_settings: BTreeSet::new(),
            taken_settings: BTreeSet::new(),
            all_found: true,
            problems,
        }
    }

    /// The policy, called `name` if its document has no name for it.
    pub(super) fn policy(mut self, name: &str) -> Result<Policy, Problems> {
        let draft = self.draft;
        let fields = &draft.fields;
        let stages = self.stages();
        let effects = self.effects(&draft.effects);
        let mut alone = |fields: &'a Option<Fields<'t>>, key| {
            let entry = self.entry(fields.as_ref()?, key)?;
            Some(UnitEntry {
                unit: entry.unit,
                settings: entry.settings,
            })
        };
        let order = alone(&draft.order, "order");
        let balance = alone(&draft.balance, "balance");
        let watches = watches::watches(&draft.watches, self.schema, &mut self.problems);
        let unheeded_needs = unheeded::needs(fields, self.schema, &mut self.problems);
        self.unknown_shared_settings();
        let overridden_settings = self.overridden_settings();
        self.problems.or(Policy {
            name: fields.text("name").unwrap_or_else(|| name.into()),
            description: fields.text("description").unwrap_or_default(),
            tie_rule: fields
                .words("tie-rule")
                .unwrap_or_else(|| Tie::DEFAULT.to_vec()),
            stages,
            effects,
            order,
            infinite_costs: fields.word("infinite-costs").unwrap_or_default(),
            search: fields.word("search").unwrap_or_default(),
            balance,
            watches,
            unheeded: fields.word("unheeded").unwrap_or_default(),
            unheeded_needs,
            overridden_settings,
        })
    }

    /// The unit of an enabled entry, its settings with defaults, and the place of the unit's name.
    pub(super) fn set_entry(
        &mut self,
        fields: &'a Fields<'t>,
        list: &str,
    ) -> Option<(UnitName, Settings, &'t Place)> {
        let entry = self.entry(fields, list).filter(|entry| entry.enabled)?;
        Some((entry.unit, entry.settings, entry.place))
    }

    fn stages(&mut self) -> Vec<Stage> {
        let drafts = &self.draft.stages;
        let problems = &mut self.problems;
        let mut stage_names =
            EntryNames::new("stage", drafts.iter().map(|stage| &stage.fields), problems);
        let filters = drafts.iter().flat_map(|stage| &stage.filters);
        let mut filters = EntryNames::new("filter", filters, problems);
        let costs = drafts.iter().flat_map(|stage| &stage.costs);
        let mut costs = EntryNames::new("cost", costs, problems);
        let selections = drafts.iter().flat_map(|stage| &stage.selections);
        let mut selections = EntryNames::new("selection", selections, problems);
        let mut stages: Vec<_> = (1..)
            .zip(drafts)
            .map(|(number, stage)| Stage {
                name: stage_names.name(&stage.fields, &format!("stage-{number}")),
                filters: self.filters(&stage.filters, &mut filters),
                costs: self.costs(&stage.costs, &mut costs),
                selections: self.selections(&stage.selections, &mut selections),
                keep: stage.fields.word("keep").unwrap_or_default(),
            })
            .collect();
        if stages.is_empty() {
            // `stages = []`: every host will do.
            stages.push(Stage {
                name: "stage-1".into(),
                filters: Vec::new(),
                costs: Vec::new(),
                selections: Vec::new(),
                keep: Keep::All,
            });
        }
        stages
    }

    /// The settings for all units that units have, and that each of their entries sets itself.
    fn overridden_settings(&self) -> Vec<Arc<str>> {
        let shared = self.shared.iter().flat_map(|shared| &shared.entries);
        let overridden = shared.filter(|entry| {
            self.known_settings.contains(&*entry.key) && !self.taken_settings.contains(&*entry.key)
        });
        overridden.map(|entry| entry.key.clone()).collect()
    }

    /// Complain of settings for all units that no unit has. Where a unit was not
    /// found, they may have been meant for it.
    fn unknown_shared_settings(&mut self) {
        let Some(shared) = self.shared.filter(|_| self.all_found) else {
            return;
        };
        for entry in &shared.entries {
            if !self.known_settings.contains(&*entry.key) {
                self.problems.add_misnamed(
                    &entry.place,
                    format!(
                        "no unit of this policy has a setting \"{}\"",
                        shown(&entry.key)
                    ),
                    &entry.key,
                    self.known_settings.iter().copied(),
                );
            }
        }
    }
}
