//! Finds the units here that stand for oVirt's.

use placewright_engine::contract::Description;
use placewright_policy::{UnitDescriptions, UnitName};

use super::source::{Entry, Kind};
use super::table::What;

/// Looks among units.
pub(crate) struct Finder<'u> {
    units: &'u dyn UnitDescriptions,
}

/// What came of it.
pub(crate) enum Found<'u> {
    Unit(&'u Description),
    /// A unit that has not the part for that list.
    Misfit(&'u Description),
    /// There is none on purpose: why.
    NotWanted(&'static str),
    /// It stands for nothing.
    Nothing,
    Unknown,
}

impl<'u> Finder<'u> {
    pub(crate) fn new(units: &'u dyn UnitDescriptions) -> Self {
        Self { units }
    }

    /// By the id; else by the name among the units of that kind, since oVirt has
    /// units of one name and different kinds.
    pub(crate) fn find(&self, entry: &Entry) -> Found<'u> {
        let known = entry.known();
        let ids = entry.id.as_deref().into_iter();
        let mut ids = ids.chain(known.map(|known| known.id));
        if let Some(unit) = ids.find_map(|id| self.units.find(&UnitName::new(id))) {
            return match fits(unit, entry.kind) {
                true => Found::Unit(unit),
                false => Found::Misfit(unit),
            };
        }
        match known.map(|known| &known.what) {
            Some(What::NotWanted(why) | What::MandatoryNotWanted(why)) => {
                return Found::NotWanted(why);
            }
            Some(What::Nothing) => return Found::Nothing,
            _ => {}
        }
        let name = entry.name.as_deref().or(known.map(|known| known.name));
        name.and_then(|name| self.by_name(name, entry.kind))
            .map_or(Found::Unknown, Found::Unit)
    }

    /// The unit of that alias, if it is of that kind.
    pub(crate) fn by_alias(&self, alias: &str, kind: Kind) -> Option<&'u Description> {
        let unit = self.units.find(&UnitName::new(alias))?;
        fits(unit, kind).then_some(unit)
    }

    /// The unit of that name, however it is spelt.
    fn by_name(&self, name: &str, kind: Kind) -> Option<&'u Description> {
        let wanted = letters(name);
        let names = self.units.names().into_iter();
        let mut units = names
            .filter(|name| letters(name) == wanted)
            .filter_map(|name| self.units.find(&UnitName::new(name)));
        units.find(|unit| fits(unit, kind))
    }
}

/// A name without case, blanks and hyphens.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a unit has the part that is asked for entries of a kind.
pub(crate) fn fits(unit: &Description, kind: Kind) -> bool {
    let answers = unit.judge.as_ref().map(|part| part.answers);
    match kind {
        Kind::Filter => answers.is_some_and(|answers| answers.verdicts),
        Kind::Weight => answers.is_some_and(|answers| answers.costs),
        Kind::Balance => unit.balance.is_some(),
    }
}
