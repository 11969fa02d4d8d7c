//! The units of a generation, as policies name them.

use super::{UnitDescriptions, UnitName};
use placewright_engine::contract::Description;
use placewright_engine::generation::Generation;

use placewright_engine::unit::Unit;

/// The unit that a policy means by a name. A name goes before an alias; of two units with one alias,
/// the first by name is meant.
pub fn unit_named<'g>(generation: &'g Generation, name: &str) -> Option<&'g Unit> {
    let alias = || {
        generation.units().find(|known| {
            let aliases = &known.description().aliases;
            aliases.iter().any(|alias| alias == name)
        })
    };
    generation.get(name).or_else(alias).map(|unit| &**unit)
}

impl UnitDescriptions for Generation {
    fn find(&self, unit: &UnitName) -> Option<&Description> {
        let found = unit_named(self, &unit.name)?;
        let pinned = unit
            .pin
            .as_deref()
            .is_none_or(|pin| found.digest().to_string().starts_with(pin));
        pinned.then(|| found.description())
    }

    fn digest(&self, name: &str) -> Option<String> {
        unit_named(self, name).map(|unit| unit.digest().to_string())
    }

    fn names(&self) -> Vec<&str> {
        let descriptions = self.units().map(|unit| unit.description());
        descriptions
            .flat_map(|unit| std::iter::once(&unit.name).chain(&unit.aliases))
            .map(String::as_str)
            .collect()
    }
}
