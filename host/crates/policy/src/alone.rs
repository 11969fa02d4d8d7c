//! The policy of a unit alone, where no other is given.

use super::Policy;
use placewright_document::made::{entry, list, table};
use placewright_document::{Content, Place, Table};
use placewright_engine::contract::Description;

/// The lists of a policy document whose entries name units.
pub const LISTS: [&str; 4] = ["filters", "costs", "selections", "effects"];

/// The tables of a policy document that name a unit.
pub const TABLES: [&str; 2] = ["order", "balance"];

impl Policy {
    /// The document of a policy of all parts of a unit and no other, each with a factor of 1
    /// and these settings. If one that decides fails there is no decision, so that no failure
    /// is overlooked. What is wrong with it, settings apart, is said of `place`.
    pub fn alone(unit: &Description, settings: &Table, place: &Place) -> Table {
        let text = |key, text: &str| entry(key, Content::Text(text.into()), place);
        let asked = || {
            let settings = entry("settings", Content::Table(settings.clone()), place);
            table(place, [text("unit", &unit.name), settings])
        };
        let judging = || {
            let mut judging = asked();
            judging.entries.push(text("on-failure", "fail"));
            judging
        };
        let answers = unit.judge.as_ref().map(|judge| judge.answers);
        let filters = answers.is_some_and(|answers| answers.verdicts);
        let costs = answers.is_some_and(|answers| answers.costs);
        let lists = [
            filters.then(judging),
            costs.then(judging),
            unit.selection.is_some().then(judging),
            unit.effects.is_some().then(asked),
        ];
        let tables = [
            unit.order.is_some().then(asked),
            unit.balance.is_some().then(asked),
        ];
        let lists = LISTS.into_iter().zip(lists);
        let lists = lists.filter_map(|(key, only)| Some(entry(key, list(place, [only?]), place)));
        let tables = TABLES.into_iter().zip(tables);
        let tables = tables.filter_map(|(key, only)| {
            let only = Content::Table(only?);
            Some(entry(key, only, place))
        });
        table(place, lists.chain(tables))
    }
}
