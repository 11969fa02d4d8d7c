//! Settings that a unit refuses by a rule of its own, and where they stand in the document.

use std::sync::Arc;

use super::check::{Checker, UnitDescriptions};
use super::document::{Draft, PolicyDocument};
use super::{Settings, UnitName};
use placewright_document::form::Fields;
use placewright_document::{Place, Problems, Table};
use placewright_model::schema::Schema;

/// What an entry of a policy is set to, and its unit refuses.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedSettings {
    /// The list of the document that the entry stands in, such as `filters`, or its table: `order`
    /// or `balance`.
    pub list: &'static str,
    /// The unit, under its own name.
    pub unit: UnitName,
    /// What it is set to.
    pub settings: Settings,
    /// What the unit says of that.
    pub sentence: Arc<str>,
}

impl RefusedSettings {
    /// The setting that the sentence names first.
    fn named(&self) -> Option<&str> {
        let names = self.settings.value_names.iter();
        let names = names.chain(&self.settings.table_names);
        let found = names.filter_map(|name| Some((word_at(&self.sentence, name)?, &**name)));
        found.min().map(|(_, name)| name)
    }
}

/// Where a name stands in a sentence as a word of its own.
fn word_at(sentence: &str, name: &str) -> Option<usize> {
    let is_apart = |next: Option<char>| next.is_none_or(|it| !it.is_alphanumeric() && it != '-');
    let mut found = sentence.match_indices(name).map(|(at, _)| at);
    found.find(|&at| {
        let (before, behind) = (&sentence[..at], &sentence[at + name.len()..]);
        is_apart(before.chars().next_back()) && is_apart(behind.chars().next())
    })
}

impl PolicyDocument {
    /// Where the settings stand that a unit refuses: the one that it names, or else the entry.
    /// None: no entry of the document is set to them, as where a cluster has settings of its own.
    pub fn place_of(
        &self,
        refused: &RefusedSettings,
        units: &dyn UnitDescriptions,
        schema: &Schema,
    ) -> Option<Place> {
        let mut problems = Problems::new();
        let draft = Draft::read(self.tree(), &mut problems);
        let mut checker = Checker::new(units, schema, &draft, problems);
        let entries = draft.entries_of(refused.list);
        let place = entries.into_iter().find_map(|fields| {
            let (unit, settings, place) = checker.set_entry(fields, refused.list)?;
            let is_it = unit == refused.unit && settings == refused.settings;
            is_it.then_some((fields, place))
        });
        let (fields, of_entry) = place?;
        let shared = draft.fields.table("settings");
        let tables = [fields.table("settings"), shared];
        let of_setting = refused.named().and_then(|name| {
            let mut tables = tables.into_iter().flatten();
            tables.find_map(|table| place_of_key(table, name))
        });
        Some(of_setting.unwrap_or(of_entry).clone())
    }
}

fn place_of_key<'t>(table: &'t Table, key: &str) -> Option<&'t Place> {
    let entry = table.entries.iter().find(|entry| *entry.key == *key);
    entry.map(|entry| &entry.place)
}

impl<'t> Draft<'t> {
    /// The entries of a list, or that of a table.
    fn entries_of(&self, list: &str) -> Vec<&Fields<'t>> {
        let stages = self.stages.iter();
        match list {
            "filters" => stages.flat_map(|stage| &stage.filters).collect(),
            "costs" => stages.flat_map(|stage| &stage.costs).collect(),
            "selections" => stages.flat_map(|stage| &stage.selections).collect(),
            "effects" => self.effects.iter().collect(),
            "order" => self.order.iter().collect(),
            _ => self.balance.iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word_of_its_own() {
        assert_eq!(word_at("\"factor\" must be above 0", "factor"), Some(1));
        assert_eq!(word_at("row 3 of typical: wrong", "typical"), Some(9));
        assert_eq!(word_at("cpu-factor and factors", "factor"), None);
        assert_eq!(word_at("over-factor, then factor", "factor"), Some(18));
    }
}
