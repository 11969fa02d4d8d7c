//! The policy units that an engine would list, made of the units in force.
//!
//! A unit here may filter, weigh and balance; oVirt has a unit for each of these. One that
//! stands for units of oVirt, by its aliases, is listed under their ids and names. Every other
//! is listed under its own name and an id that follows from it.

mod listed;
mod property;

pub(crate) use listed::POLICIES;
pub(crate) use property::UnitProperty;

use std::sync::Arc;

use super::ids;
use super::import::carry::{manner, reads};
use super::import::find::fits;
use super::import::source::Kind;
use super::import::table::{self, KNOWN, Scaled, WATCHES, Watch, What};
use listed::LISTED;
use placewright_engine::contract::Description;
use placewright_engine::generation::Generation;
use placewright_plugins as plugins;

/// All policy units.
#[derive(Debug)]
pub(crate) struct Catalogue {
    generation: Arc<Generation>,
    units: Vec<PolicyUnit>,
}

/// One policy unit.
#[derive(Debug, Clone)]
pub(crate) struct PolicyUnit {
    pub id: String,
    pub name: String,
    pub kind: Kind,
    pub description: String,
    /// Whether it comes with the program.
    pub internal: bool,
    /// The unit here; None: it stands for nothing.
    pub unit: Option<String>,
    /// Whether it stands in every policy made here, and in no list.
    pub mandatory: bool,
    /// The name of its entry, where the unit's is not enough.
    pub entry: Option<&'static str>,
    /// What its entry sets, so that the unit does as oVirt's.
    pub settings: Vec<(&'static str, &'static str)>,
    /// How its costs are scaled, so that they are added up as oVirt's are.
    pub scaling: Option<&'static str>,
    pub properties: Vec<UnitProperty>,
    /// Whether the unit says what follows from a placement.
    pub has_effects: bool,
    /// Conditions of which it reads since when they hold.
    pub watches: Vec<&'static Watch>,
}

impl Catalogue {
    /// The policy units of a generation.
    pub(crate) fn of(generation: Arc<Generation>) -> Self {
        let mut units = Vec::new();
        for unit in generation.units() {
            let description = unit.description();
            let is_nothing = description
                .aliases
                .iter()
                .any(|it| it == table::ENFORCEMENT);
            for kind in Kind::ALL {
                if fits(description, kind) && !(is_nothing && kind == Kind::Balance) {
                    units.extend(policy_units(description, kind));
                }
            }
        }
        units.push(nothing(&generation));
        units.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Self { generation, units }
    }

    /// Whether it is made of these units.
    pub(crate) fn is_of(&self, generation: &Arc<Generation>) -> bool {
        Arc::ptr_eq(&self.generation, generation)
    }

    /// The units that it is made of.
    pub(crate) fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    /// Those that are listed, by name.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &PolicyUnit> {
        self.units.iter().filter(|unit| !unit.mandatory)
    }

    /// Those that stand in every policy made here.
    pub(crate) fn mandatory(&self) -> impl Iterator<Item = &PolicyUnit> {
        // In oVirt's order.
        let order = |unit: &&PolicyUnit| LISTED.iter().position(|row| row.1 == unit.id);
        let mut units: Vec<_> = self.units.iter().filter(|unit| unit.mandatory).collect();
        units.sort_by_key(order);
        units.into_iter()
    }

    /// The listed one of that id.
    pub(crate) fn get(&self, id: &str) -> Option<&PolicyUnit> {
        self.listed().find(|unit| unit.id == id)
    }

    /// Those that a unit here stands for.
    pub(crate) fn of_unit<'a>(
        &'a self,
        name: &'a str,
        kind: Kind,
    ) -> impl Iterator<Item = &'a PolicyUnit> {
        let units = self.units.iter();
        units.filter(move |unit| unit.kind == kind && unit.unit.as_deref() == Some(name))
    }
}

/// What a unit is listed as.
fn policy_units(description: &Description, kind: Kind) -> Vec<PolicyUnit> {
    let is_alias = |id: &str| description.aliases.iter().any(|alias| alias == id);
    let known = LISTED.iter().filter(|row| row.0 == kind && is_alias(row.1));
    let units: Vec<_> = known
        .map(|(_, id, name)| policy_unit(description, kind, id, name))
        .collect();
    if !units.is_empty() {
        return units;
    }
    let id = ids::of("policy unit", &[kind.element(), &description.name]);
    vec![policy_unit(description, kind, &id, &description.name)]
}

fn policy_unit(description: &Description, kind: Kind, id: &str, name: &str) -> PolicyUnit {
    let known = KNOWN.iter().find(|row| row.id == id && row.kind == kind);
    let (entry, shared): (_, &[_]) = match known.map(|known| &known.what) {
        Some(What::Shares(entry, settings)) => (Some(*entry), settings),
        _ => (None, &[]),
    };
    let manner = manner(&description.name);
    let usual = manner.map_or(&[][..], |manner| manner.settings);
    let has = |name: &str| description.settings.iter().any(|it| it.name == name);
    let settings = usual.iter().chain(shared).copied();
    let settings: Vec<_> = settings.filter(|(name, _)| has(name)).collect();
    let scaled = manner.map_or(Scaled::Not, |manner| manner.scaled);
    let properties = description.settings.iter().filter_map(UnitProperty::of);
    let is_own = |it: &UnitProperty| settings.iter().any(|(name, _)| it.setting() == *name);
    let properties: Vec<_> = properties.filter(|it| !is_own(it)).collect();
    let watches = WATCHES.iter().filter(|watch| {
        let column = format!("watch.{}.since", watch.name);
        reads(description, &column)
    });
    PolicyUnit {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        description: description.summary.clone(),
        internal: plugins::UNITS
            .iter()
            .any(|unit| unit.name == description.name),
        unit: Some(description.name.clone()),
        mandatory: known.is_some_and(|known| matches!(known.what, What::Mandatory)),
        entry,
        settings,
        scaling: scaled.scaling(true).filter(|_| kind == Kind::Weight),
        properties,
        has_effects: description.effects.is_some(),
        watches: watches.collect(),
    }
}

/// The balance that moves nothing for load, which leaves room for the enforcement of affinity.
fn nothing(generation: &Generation) -> PolicyUnit {
    let known = KNOWN.iter().find(|row| matches!(row.what, What::Nothing));
    let (id, name) = known.map_or(("", ""), |known| (known.id, known.name));
    let enforcement = generation.units().find(|unit| {
        let aliases = &unit.description().aliases;
        aliases.iter().any(|alias| alias == table::ENFORCEMENT)
    });
    PolicyUnit {
        id: id.to_owned(),
        name: name.to_owned(),
        kind: Kind::Balance,
        description: "Moves nothing for load; rules of affinity are enforced all the same"
            .to_owned(),
        internal: true,
        unit: enforcement.map(|unit| unit.name().to_owned()),
        mandatory: false,
        entry: None,
        settings: Vec::new(),
        scaling: None,
        properties: Vec::new(),
        has_effects: false,
        watches: Vec::new(),
    }
}
