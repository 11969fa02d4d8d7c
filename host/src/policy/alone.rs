//! The policy of a unit alone, where no other is given.

use toml::{Table, Value};

use super::Policy;
use crate::contract::Description;

impl Policy {
    /// The document of a policy of all parts of a unit and no other, in TOML: each part
    /// that decides with a factor of 1 and its default settings, and no decision if it
    /// fails, so that no failure is overlooked.
    pub fn alone(unit: &Description) -> String {
        let named = || Table::from_iter([("unit".to_owned(), Value::from(unit.name.as_str()))]);
        let judging = || {
            let mut entry = named();
            entry.insert("on-failure".to_owned(), Value::from("fail"));
            entry
        };
        let answers = unit.judge.as_ref().map(|judge| judge.answers);
        let filters = answers.is_some_and(|answers| answers.verdicts);
        let costs = answers.is_some_and(|answers| answers.costs);
        let lists = [
            ("filters", filters.then(judging)),
            ("costs", costs.then(judging)),
            ("selections", unit.selection.is_some().then(judging)),
            ("effects", unit.effects.is_some().then(named)),
        ];
        let tables = [
            ("order", unit.order.is_some().then(named)),
            ("balance", unit.balance.is_some().then(named)),
        ];
        let lists = lists.map(|(key, entry)| Some((key, Value::from(vec![entry?]))));
        let tables = tables.map(|(key, entry)| Some((key, Value::from(entry?))));
        let mut document = Table::from_iter([("name".to_owned(), Value::from("alone"))]);
        for (key, value) in lists.into_iter().chain(tables).flatten() {
            document.insert(key.to_owned(), value);
        }
        document.to_string()
    }
}
