//! The units of a generation, as policies name them.

use super::{UnitDescriptions, UnitName};
use placewright_engine::contract::Description;
use placewright_engine::generation::Generation;

impl UnitDescriptions for Generation {
    fn find(&self, unit: &UnitName) -> Option<&Description> {
        let alias = || {
            self.units().find(|known| {
                let aliases = &known.description().aliases;
                aliases.iter().any(|alias| **alias == *unit.name)
            })
        };
        // A name goes before an alias; of two units with one alias, the first by
        // name is meant.
        let found = self.get(&unit.name).or_else(alias)?;
        let pinned = unit
            .pin
            .as_deref()
            .is_none_or(|pin| found.digest().to_string().starts_with(pin));
        pinned.then(|| found.description())
    }

    fn names(&self) -> Vec<&str> {
        let descriptions = self.units().map(|unit| unit.description());
        descriptions
            .flat_map(|unit| std::iter::once(&unit.name).chain(&unit.aliases))
            .map(String::as_str)
            .collect()
    }
}
