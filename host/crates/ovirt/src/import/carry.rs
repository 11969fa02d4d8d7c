//! From oVirt's policy to one of units here.

use placewright_document::{Place, Problems};
use placewright_engine::contract::{Description, Part, Setting};
use placewright_model::{Kind as ValueKind, Measure};
use placewright_policy::UnitDescriptions;
use regex::Regex;

use super::find::{Finder, Found};
use super::shown;
use super::source::{Entry as SourceEntry, Kind, Policy, Property};
use super::table::{self, Amount, Known, Parameter, Scaled, What};

/// What may be chosen.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Do places count, and not distances?
    pub ranks: bool,
    /// Are the filters added that oVirt puts before those of every policy?
    pub mandatory: bool,
}

/// A policy of units here, to be written.
#[derive(Debug, Default)]
pub struct Carried {
    /// What all units have in common: names and values in TOML.
    pub settings: Vec<(String, String)>,
    /// The mandatory ones before those of the policy.
    pub filters: Vec<Entry>,
    /// What hosts cost.
    pub costs: Vec<Entry>,
    /// What follows from a placement for those that filter.
    pub effects: Vec<Entry>,
    /// What proposes moves.
    pub balance: Option<Entry>,
    /// A balance that there would be in oVirt besides.
    pub beside: Option<String>,
    /// What is watched on hosts.
    pub watches: Vec<Entry>,
    /// What is not carried over.
    pub losses: Vec<Loss>,
}

/// An entry of a list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where the unit's name is not enough.
    pub name: Option<String>,
    /// The unit, if the list is one of units.
    pub unit: Option<String>,
    /// Other keys and their values in TOML.
    pub keys: Vec<(&'static str, String)>,
    /// What is set, in TOML.
    pub settings: Vec<(String, String)>,
}

/// Something that is not carried over.
#[derive(Debug)]
pub struct Loss {
    /// Where it stands; none for what no policy lists.
    pub place: Option<Place>,
    /// What it is, and what is missing without it.
    pub sentence: String,
    /// Does every policy lack it? Then it is told, and held against none.
    pub usual: bool,
}

/// Carry a policy over.
///
/// # Errors
/// Everything in it that no policy could have.
pub fn carry(
    policy: &Policy,
    units: &dyn UnitDescriptions,
    options: Options,
) -> Result<Carried, Problems> {
    let mut carrier = Carrier {
        finder: Finder::new(units),
        options,
        carried: Carried::default(),
        used: Vec::new(),
        problems: Problems::new(),
    };
    if options.mandatory {
        carrier.mandatory();
    }
    for filter in &policy.filters {
        carrier.filter(filter);
    }
    for weight in &policy.weights {
        carrier.weight(weight);
    }
    if let Some(balance) = &policy.balance {
        carrier.balance(balance);
    }
    for property in &policy.properties {
        carrier.property(property);
    }
    carrier.watches(&policy.properties);
    carrier.problems.or(carrier.carried)
}

struct Carrier<'u> {
    finder: Finder<'u>,
    options: Options,
    carried: Carried,
    /// The units of the policy so far.
    used: Vec<&'u Description>,
    problems: Problems,
}

impl<'u> Carrier<'u> {
    fn mandatory(&mut self) {
        for known in table::KNOWN {
            let lost = match known.what {
                What::Mandatory => "has no unit here",
                What::MandatoryNotWanted(why) => why,
                _ => continue,
            };
            match self.finder.by_alias(known.id, known.kind) {
                Some(unit) => {
                    let entry = self.of(unit, Some(known));
                    self.add_filter(entry);
                }
                None => self.carried.losses.push(Loss {
                    place: None,
                    sentence: format!(
                        "mandatory filter \"{}\" {lost}: {}",
                        known.name,
                        without(known.kind)
                    ),
                    usual: matches!(known.what, What::MandatoryNotWanted(_)),
                }),
            }
        }
    }

    fn filter(&mut self, filter: &SourceEntry) {
        let is_mandatory =
            |known: &Known| matches!(known.what, What::Mandatory | What::MandatoryNotWanted(_));
        if self.options.mandatory && filter.known().is_some_and(is_mandatory) {
            return;
        }
        let Some(mut entry) = self.entry(filter) else {
            return;
        };
        // The first of a policy stands behind what is mandatory.
        if filter.number < 0 && !self.options.mandatory {
            entry.keys.push(("position", "\"first\"".to_owned()));
        } else if filter.number > 0 {
            entry.keys.push(("position", "\"last\"".to_owned()));
        }
        self.add_filter(entry);
    }

    /// Add a filter, unless it is there: two of oVirt's may be one here.
    fn add_filter(&mut self, filter: Entry) {
        let mut others = self.carried.filters.iter();
        if others.any(|other| other.unit == filter.unit && other.settings == filter.settings) {
            return;
        }
        let mut used = self.used.iter();
        let unit = used.find(|unit| filter.unit.as_ref() == Some(&unit.name));
        if unit.is_some_and(|unit| unit.effects.is_some()) {
            self.carried.effects.push(Entry {
                keys: Vec::new(),
                ..filter.clone()
            });
        }
        self.carried.filters.push(filter);
    }

    fn weight(&mut self, weight: &SourceEntry) {
        let Some(mut entry) = self.entry(weight) else {
            return;
        };
        let manner = entry.unit.as_deref().and_then(manner);
        let scaled = manner.map_or(Scaled::Not, |manner| manner.scaled);
        entry.keys.push(("factor", weight.number.to_string()));
        if let Some(scaling) = scaled.scaling(self.options.ranks) {
            entry.keys.push(("scaling", format!("\"{scaling}\"")));
        }
        self.carried.costs.push(entry);
    }

    fn balance(&mut self, balance: &SourceEntry) {
        let own = self.entry(balance);
        let enforcement = self.finder.by_alias(table::ENFORCEMENT, Kind::Balance);
        self.carried.balance = match (own, enforcement) {
            (Some(own), beside) => {
                self.carried.beside = beside.map(|unit| unit.name.clone());
                Some(own)
            }
            (None, Some(unit)) => Some(self.of(unit, None)),
            (None, None) => None,
        };
    }

    /// The entry here, if there is one.
    fn entry(&mut self, entry: &SourceEntry) -> Option<Entry> {
        let why = match self.finder.find(entry) {
            Found::Unit(unit) => return Some(self.of(unit, entry.known())),
            Found::Nothing => return None,
            Found::Misfit(unit) => {
                let message = format!(
                    "{} is the unit \"{}\", which cannot stand among the {}; move it or leave it out",
                    entry.noun(),
                    unit.name,
                    entry.kind.list()
                );
                self.problems.add(&entry.place, message);
                return None;
            }
            Found::NotWanted(why) => why,
            Found::Unknown => "has no unit here, by its id or its name",
        };
        self.carried.losses.push(Loss {
            place: Some(entry.place.clone()),
            sentence: format!("{} {why}: {}", entry.noun(), without(entry.kind)),
            usual: false,
        });
        None
    }

    /// An entry of a unit, with what tells it apart from others of the same unit.
    fn of(&mut self, unit: &'u Description, known: Option<&Known>) -> Entry {
        self.used.push(unit);
        let (name, own): (_, &[_]) = match known.map(|known| &known.what) {
            Some(What::Shares(name, settings)) => (Some(*name), settings),
            _ => (None, &[]),
        };
        let usual = manner(&unit.name).map_or(&[][..], |manner| manner.settings);
        let has = |name: &str| unit.settings.iter().any(|setting| setting.name == name);
        let settings = usual.iter().chain(own).filter(|(name, _)| has(name));
        let settings: Vec<_> = settings
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Entry {
            name: name.filter(|_| !settings.is_empty()).map(str::to_owned),
            unit: Some(unit.name.clone()),
            keys: Vec::new(),
            settings,
        }
    }

    fn property(&mut self, property: &Property) {
        let noun = format!("property {}", shown(&property.name));
        let mut lost = |why: String| {
            self.carried.losses.push(Loss {
                place: Some(property.place.clone()),
                sentence: format!("{noun} = {}: {why}", shown(&property.value)),
                usual: false,
            });
        };
        let mut parameters = table::PARAMETERS.iter();
        let Some(parameter) = parameters.find(|it| it.name == property.name) else {
            return lost("no unit here has such a parameter".to_owned());
        };
        if !parameter.matches(&property.value) {
            let message = format!(
                "{noun} must match {}, and {} does not; correct it, or leave it out",
                parameter.expression,
                shown(&property.value)
            );
            return self.problems.add(&property.place, message);
        }
        let settings = self.used.iter().flat_map(|unit| &unit.settings);
        let mut settings = settings.filter(|setting| setting.name == parameter.setting);
        let Some(setting) = settings.next() else {
            return lost(format!(
                "none of the units that are carried over has a setting \"{}\"",
                parameter.setting
            ));
        };
        match parameter.amount.toml(&property.value, setting) {
            Some(value) => {
                let setting = (parameter.setting.to_owned(), value);
                self.carried.settings.push(setting);
            }
            None => {
                let message = format!("{noun} is too great: {}", shown(&property.value));
                self.problems.add(&property.place, message);
            }
        }
    }

    /// The watches that the units read.
    fn watches(&mut self, properties: &[Property]) {
        for watch in table::WATCHES {
            let column = format!("watch.{}.since", watch.name);
            if !self.used.iter().any(|unit| reads(unit, &column)) {
                continue;
            }
            let percent = |(parameter, default): (&str, &str)| {
                let given = properties.iter().find(|it| it.name == parameter);
                let percent = given.map_or(default, |property| &property.value);
                format!("\"{percent} %\"")
            };
            self.carried.watches.push(Entry {
                name: Some(watch.name.to_owned()),
                unit: None,
                keys: vec![
                    ("column", format!("\"{}\"", watch.column)),
                    ("at-least", percent(watch.at_least)),
                    ("at-most", percent(watch.at_most)),
                ],
                settings: Vec::new(),
            });
        }
    }
}

/// What a policy lacks without a unit.
fn without(kind: Kind) -> &'static str {
    match kind {
        Kind::Filter => "hosts that it would leave out stay",
        Kind::Weight => "what it prefers counts for nothing",
        Kind::Balance => "VMs that it would move stay",
    }
}

pub(crate) fn manner(unit: &str) -> Option<&'static table::Manner> {
    table::MANNERS.iter().find(|manner| manner.unit == unit)
}

/// Whether a part that judges or balances reads a column of hosts.
pub(crate) fn reads(unit: &Description, column: &str) -> bool {
    let parts = [Part::Judge, Part::Balance].into_iter();
    let tables = parts.filter_map(|part| unit.reads(part)).flatten();
    let mut columns = tables
        .filter(|table| table.table == "hosts")
        .flat_map(|table| &table.columns);
    columns.any(|read| read.column == column)
}

impl Parameter {
    fn matches(&self, value: &str) -> bool {
        let whole = format!("^(?:{})$", self.expression);
        Regex::new(&whole).is_ok_and(|expression| expression.is_match(value))
    }
}

impl Amount {
    /// A value that matched the parameter's expression, for a setting, in TOML; none
    /// if no setting can hold it. Where the setting has a measure, the amount is
    /// written with its own, and that is that.
    pub(crate) fn toml(self, value: &str, setting: &Setting) -> Option<String> {
        let measure = setting.measure.as_deref().and_then(Measure::from_name);
        let (suffix, each) = match self {
            Amount::Percent => (" %", 1),
            Amount::Mebibytes => (" MiB", 1 << 20),
            Amount::Minutes => (" min", 60),
            Amount::Number => return number(value),
            Amount::Switch => return Some(value.to_owned()),
        };
        let Some(measure) = measure else {
            return Some(value.parse::<i64>().ok()?.checked_mul(each)?.to_string());
        };
        let amount = format!("{value}{suffix}");
        let read = measure.parse(&amount, ValueKind::from(setting.kind));
        read.is_ok().then(|| format!("\"{amount}\""))
    }
}

/// A number without zeros before it, which TOML does not allow.
fn number(value: &str) -> Option<String> {
    match value.parse::<i64>() {
        Ok(whole) => Some(whole.to_string()),
        Err(_) if value.contains('.') => {
            let number = value.parse::<f64>().ok()?;
            Some(format!("{number:?}"))
        }
        Err(_) => None,
    }
}
