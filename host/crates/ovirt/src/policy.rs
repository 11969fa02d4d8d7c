//! A policy here, and what of it can be said in oVirt's words.
//!
//! Both are one document: what oVirt's clients change is changed in it, and what they cannot say
//! is left as it stands. Where they would not see what else decides, they may only look.

mod edit;

pub(crate) use edit::{Editable, json_of};

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::catalogue::{Catalogue, POLICIES, PolicyUnit, UnitProperty};
use super::ids;
use super::import::source::Kind;
use super::import::table::{self, WATCHES};
use placewright_deployment::{Origin, PolicyRecord};
use placewright_engine::contract::Description;
use placewright_plugins::DEFAULT_POLICY;
use placewright_policy::{UnitDescriptions, UnitName};

/// A policy in oVirt's words.
#[derive(Debug)]
pub(crate) struct Said {
    pub id: String,
    /// What it is called in oVirt, unless another one is.
    pub name: String,
    pub description: String,
    /// Whether it cannot be changed, and why.
    pub locked: Option<String>,
    /// Whether clusters have it that are given none.
    pub is_default: bool,
    /// As they stand in the document.
    pub entries: Vec<Entry>,
    /// What is set for all units.
    pub properties: Vec<(String, String)>,
    /// The entries of units that may be set otherwise in a cluster.
    pub settable: Vec<Settable>,
}

/// A policy unit in a policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub kind: Kind,
    /// Id of the policy unit.
    pub unit: String,
    /// −1: first, 1: last, 0: anywhere; of a weight its factor.
    pub number: i64,
    /// Its place among the entries of that kind in the document.
    pub index: usize,
}

/// An entry of a policy by the name by which a cluster sets it otherwise.
#[derive(Debug)]
pub(crate) struct Settable {
    pub name: String,
    pub properties: Vec<UnitProperty>,
}

/// A document as plain values.
pub(crate) fn document(text: &str) -> Option<Map<String, Json>> {
    match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).ok(),
        false => toml::from_str(text).ok(),
    }
}

impl Said {
    /// What is said of a policy with these units.
    pub(crate) fn of(record: &PolicyRecord, catalogue: &Catalogue) -> Self {
        let document = document(&record.text);
        let is_read = document.is_some();
        let document = document.unwrap_or_default();
        let known = POLICIES.iter().find(|(key, ..)| **key == *record.name);
        let text = |key: &str| document.get(key).and_then(Json::as_str).map(str::to_owned);
        let mut reader = Reader {
            catalogue,
            unsayable: (!is_read).then(|| "its document cannot be read".to_owned()),
            entries: Vec::new(),
            settable: Vec::new(),
            units: Vec::new(),
        };
        reader.policy(&document);
        let properties = reader.properties(&document);
        let locked = match &record.origin {
            Origin::Program => Some("it comes with the program".to_owned()),
            Origin::File(file) => Some(format!("it is defined in the file {file}")),
            Origin::Api => reader.unsayable,
        };
        Self {
            id: known.map_or_else(
                || ids::of("policy", &[&record.name]),
                |(_, id, _)| (*id).to_owned(),
            ),
            name: known.map_or_else(
                || text("name").unwrap_or_else(|| record.name.to_string()),
                |(_, _, name)| (*name).to_owned(),
            ),
            description: text("description").unwrap_or_default(),
            locked,
            is_default: *record.name == *DEFAULT_POLICY,
            entries: reader.entries,
            properties,
            settable: reader.settable,
        }
    }

    /// The entries of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }

    /// The entry of a policy unit.
    pub(crate) fn entry(&self, kind: Kind, unit: &str) -> Option<&Entry> {
        self.of_kind(kind).find(|entry| entry.unit == unit)
    }
}

/// Reads a document, and finds out what cannot be said of it.
struct Reader<'c> {
    catalogue: &'c Catalogue,
    unsayable: Option<String>,
    entries: Vec<Entry>,
    settable: Vec<Settable>,
    units: Vec<&'c Description>,
}

/// The keys of a document that can be said.
const SAYABLE: [&str; 10] = [
    "name",
    "description",
    "settings",
    "filters",
    "costs",
    "effects",
    "balance",
    "watches",
    // What becomes of needs that no filter checks: nothing that an engine asks about.
    "unheeded",
    "unheeded-needs",
];

impl<'c> Reader<'c> {
    /// Note what cannot be said, unless something was noted before.
    fn cannot(&mut self, what: impl FnOnce() -> String) {
        self.unsayable
            .get_or_insert_with(|| format!("{}, which cannot be said in oVirt's words", what()));
    }

    fn policy(&mut self, document: &Map<String, Json>) {
        let other = document.keys().find(|key| !SAYABLE.contains(&key.as_str()));
        if let Some(other) = other {
            self.cannot(|| format!("it has \"{other}\""));
        }
        let stages = list(document, "stages");
        let parts: Vec<&Map<String, Json>> = match stages.is_empty() {
            true => vec![document],
            false => stages,
        };
        for (key, kind) in [("filters", Kind::Filter), ("costs", Kind::Weight)] {
            let all = parts.iter().flat_map(|part| list(part, key));
            for (index, entry) in all.enumerate() {
                self.entry(kind, index, entry);
            }
        }
        if let Some(balance) = document.get("balance").and_then(Json::as_object) {
            self.entry(Kind::Balance, 0, balance);
        }
        self.unique();
        self.followers(document);
    }

    fn entry(&mut self, kind: Kind, index: usize, entry: &Map<String, Json>) {
        let named = entry.get("unit").and_then(Json::as_str).unwrap_or_default();
        let unit: Option<UnitName> = named.parse().ok();
        let generation: &'c _ = self.catalogue.generation();
        let found = unit
            .as_ref()
            .and_then(|unit| generation.as_ref().find(unit));
        let (Some(unit), Some(description)) = (unit, found) else {
            return self.cannot(|| format!("its unit \"{named}\" is not there"));
        };
        self.units.push(description);
        let settable = description.settings.iter().filter_map(UnitProperty::of);
        let name = entry.get("name").and_then(Json::as_str);
        self.settable.push(Settable {
            name: match kind {
                Kind::Balance => "balance".to_owned(),
                _ => name.unwrap_or(&description.name).to_owned(),
            },
            properties: settable.collect(),
        });
        if unit.pin.is_some() {
            self.cannot(|| format!("the unit \"{named}\" is pinned to a digest"));
        }
        let catalogue: &'c Catalogue = self.catalogue;
        let all: Vec<&PolicyUnit> = catalogue.of_unit(&description.name, kind).collect();
        let settings = entry.get("settings").and_then(Json::as_object);
        let exactly: Vec<_> = all
            .iter()
            .copied()
            .filter(|unit| sets(unit, settings, |_| true))
            .collect();
        // A filter that does what several of oVirt's do stands for all of them.
        let is_shared = kind == Kind::Filter && all.len() > 1;
        let meant: Vec<&PolicyUnit> = match exactly.is_empty() {
            false => exactly.into_iter().take(1).collect(),
            true if is_shared && all.iter().all(|unit| sets_manner(unit, settings)) => all,
            true => {
                self.cannot(|| format!("the entry of \"{named}\" has settings of its own"));
                all.into_iter().take(1).collect()
            }
        };
        let number = self.number(kind, entry, &meant);
        for unit in meant {
            if !unit.mandatory {
                self.entries.push(Entry {
                    kind,
                    unit: unit.id.clone(),
                    number,
                    index,
                });
            }
        }
    }

    /// The position of a filter or the factor of a weight; and whether the entry says more.
    fn number(&mut self, kind: Kind, entry: &Map<String, Json>, meant: &[&PolicyUnit]) -> i64 {
        let text = |key: &str| entry.get(key).and_then(Json::as_str);
        let named = text("unit").unwrap_or_default();
        for (key, value) in entry {
            let is_usual = match (key.as_str(), value) {
                ("unit" | "name" | "settings", _) => true,
                ("enabled", Json::Bool(true)) => true,
                ("position", _) => kind == Kind::Filter,
                ("factor" | "scaling", _) => kind == Kind::Weight,
                ("tier", tier) => tier.as_i64() == Some(1),
                ("on-failure", how) => how.as_str() == Some(usual_failure(kind)),
                _ => false,
            };
            if !is_usual {
                self.cannot(|| format!("the entry of \"{named}\" has \"{key}\""));
            }
        }
        match kind {
            Kind::Balance => 0,
            Kind::Filter => match text("position") {
                Some("first") => -1,
                Some("last") => 1,
                _ => 0,
            },
            Kind::Weight => {
                let wanted = meant.first().and_then(|unit| unit.scaling);
                if text("scaling").unwrap_or("none") != wanted.unwrap_or("none") {
                    self.cannot(|| format!("the costs of \"{named}\" are scaled in another way"));
                }
                let factor = entry.get("factor").and_then(Json::as_f64).unwrap_or(1.0);
                let whole = (0.0..=MOST).contains(&factor) && factor.fract() == 0.0;
                if !whole {
                    self.cannot(|| {
                        format!("the factor {factor} of \"{named}\" is no whole number")
                    });
                }
                factor.round().clamp(-MOST, MOST) as i64
            }
        }
    }

    /// That no policy unit stands twice in a list.
    fn unique(&mut self) {
        let mut seen = BTreeSet::new();
        let mut entries = self.entries.iter();
        let twice = entries.find(|entry| !seen.insert((entry.kind.element(), entry.unit.clone())));
        if let Some(twice) = twice.cloned() {
            self.cannot(|| format!("it has the {} {} twice", twice.kind.element(), twice.unit));
        }
    }

    /// Effects and watches follow from the units: others cannot be said.
    fn followers(&mut self, document: &Map<String, Json>) {
        for effects in list(document, "effects") {
            let unit = effects.get("unit").and_then(Json::as_str);
            let filters = list(document, "filters").into_iter();
            let mut filters = filters.filter_map(|it| it.get("unit").and_then(Json::as_str));
            let follows =
                effects.len() == 1 && unit.is_some_and(|unit| filters.any(|it| it == unit));
            if !follows {
                let unit = unit.unwrap_or_default().to_owned();
                self.cannot(|| format!("it has the effects of \"{unit}\""));
            }
        }
        for watch in list(document, "watches") {
            let name = watch.get("name").and_then(Json::as_str).unwrap_or_default();
            if !WATCHES.iter().any(|known| known.name == name) {
                self.cannot(|| format!("it watches \"{name}\""));
            }
        }
    }

    /// What is set for all units.
    fn properties(&mut self, document: &Map<String, Json>) -> Vec<(String, String)> {
        let Some(settings) = document.get("settings").and_then(Json::as_object) else {
            return Vec::new();
        };
        let mut properties = Vec::new();
        for (name, value) in settings {
            let known = self.units.iter().flat_map(|unit| &unit.settings);
            let known = known.filter(|setting| setting.name == *name);
            match known.filter_map(UnitProperty::of).next() {
                Some(property) => {
                    properties.push((property.name().to_owned(), property.text(value)));
                }
                None => self.cannot(|| format!("it sets \"{name}\"")),
            }
        }
        properties
    }
}

/// Factors are bound so that clients read them as whole numbers.
const MOST: f64 = i32::MAX as f64;

fn usual_failure(kind: Kind) -> &'static str {
    match kind {
        Kind::Weight => "leave-out",
        Kind::Filter | Kind::Balance => "fail",
    }
}

/// Whether an entry sets just what those of a policy unit do.
fn sets(
    unit: &PolicyUnit,
    settings: Option<&Map<String, Json>>,
    counts: impl Fn(&str) -> bool,
) -> bool {
    let expected = unit.settings.iter().filter(|(name, _)| counts(name));
    let expected: Vec<_> = expected.collect();
    let given = |name: &str| settings.and_then(|it| it.get(name)).map(Json::to_string);
    settings.map_or(0, Map::len) == expected.len()
        && expected
            .iter()
            .all(|(name, value)| given(name).as_deref() == Some(*value))
}

/// Whether an entry sets what every entry of the unit does, and nothing that tells one policy
/// unit from another.
fn sets_manner(unit: &PolicyUnit, settings: Option<&Map<String, Json>>) -> bool {
    let known = table::KNOWN.iter().find(|known| known.id == unit.id);
    let own: &[(&str, &str)] = match known.map(|known| &known.what) {
        Some(table::What::Shares(_, settings)) => settings,
        _ => &[],
    };
    sets(unit, settings, |name| {
        own.iter().all(|(own, _)| *own != name)
    })
}

/// The tables of a list; none if it is no list.
fn list<'d>(document: &'d Map<String, Json>, key: &str) -> Vec<&'d Map<String, Json>> {
    let list = document.get(key).and_then(Json::as_array);
    let tables = list.into_iter().flatten().filter_map(Json::as_object);
    tables.collect()
}
