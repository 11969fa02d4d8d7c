//! From the documents that an engine answers with to the policy that they hold.
//!
//! Everything is told that an engine would refuse to store. What its units are
//! called here does not matter yet.

mod gather;

use placewright_document::{Place, Problems};

use super::element::Element;
use super::{shown, table};
use gather::Gathered;

/// A policy as an engine stores it.
#[derive(Debug)]
pub struct Policy {
    /// What it is called; never empty.
    pub name: String,
    /// What people read of it; may be empty.
    pub description: String,
    /// The one that is first, those in between, the one that is last.
    pub filters: Vec<Entry>,
    /// The units that weigh hosts, with their factors.
    pub weights: Vec<Entry>,
    /// The unit that proposes moves.
    pub balance: Option<Entry>,
    /// Parameters, each once.
    pub properties: Vec<Property>,
}

/// What a unit does in a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Filter,
    Weight,
    Balance,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Filter, Self::Weight, Self::Balance];

    /// The element of an entry.
    pub fn element(self) -> &'static str {
        match self {
            Kind::Filter => "filter",
            Kind::Weight => "weight",
            Kind::Balance => "balance",
        }
    }

    /// The element of the list.
    pub fn list(self) -> &'static str {
        match self {
            Kind::Filter => "filters",
            Kind::Weight => "weights",
            Kind::Balance => "balances",
        }
    }

    /// The type of units of this kind.
    pub fn unit_type(self) -> &'static str {
        match self {
            Kind::Balance => "load_balancing",
            kind => kind.element(),
        }
    }
}

/// A unit in a list of a policy. It has an id or a name, or both.
#[derive(Debug)]
pub struct Entry {
    pub kind: Kind,
    /// In lower case.
    pub id: Option<String>,
    pub name: Option<String>,
    /// A filter's position: -1 first, 1 last; a weight's factor.
    pub number: i64,
    pub place: Place,
}

/// A parameter and its value.
#[derive(Debug)]
pub struct Property {
    pub name: String,
    pub value: String,
    pub place: Place,
}

impl Policy {
    /// The policy that the documents hold; if they hold several, the one of the name
    /// or id that is wanted.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn read(documents: &[Element], wanted: Option<&str>) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let Some(gathered) = Gathered::from(documents, wanted, &mut problems) else {
            return Err(problems);
        };
        let mut reader = Reader {
            problems: &mut problems,
        };
        let [mut filters, weights, balances] =
            Kind::ALL.map(|kind| reader.entries(kind, &gathered));
        reader.at_most_one(&filters, -1, "first");
        reader.at_most_one(&filters, 1, "last");
        filters.sort_by_key(|filter| filter.number);
        let policy = Self {
            name: reader.name(gathered.policy),
            description: reader.text(gathered.policy, "description"),
            filters,
            weights,
            balance: reader.only(balances),
            properties: reader.properties(&gathered),
        };
        problems.or(policy)
    }
}

struct Reader<'p> {
    problems: &'p mut Problems,
}

impl Reader<'_> {
    fn text(&mut self, element: &Element, name: &str) -> String {
        element.text(name, self.problems).unwrap_or_default()
    }

    fn name(&mut self, policy: &Element) -> String {
        let name = self.text(policy, "name");
        if name.is_empty() {
            let message = "the policy needs a name; give it one in an element \"name\"";
            self.problems.add(&policy.place, message);
        }
        name
    }

    fn entries(&mut self, kind: Kind, gathered: &Gathered<'_>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for element in gathered.entries(kind) {
            let Some(entry) = self.entry(kind, element) else {
                continue;
            };
            if let Some(first) = entries.iter().find(|first| first.is_same(&entry)) {
                let message = format!(
                    "{} stands here for the second time; the first is at {}",
                    entry.noun(),
                    first.place
                );
                self.problems.add(&entry.place, message);
            } else {
                entries.push(entry);
            }
        }
        entries
    }

    fn entry(&mut self, kind: Kind, element: &Element) -> Option<Entry> {
        let unit = element.get("scheduling_policy_unit").unwrap_or(element);
        // The id of an entry is that of its unit.
        let id = (unit.text("id", self.problems))
            .or_else(|| id_in(&unit.text("href", self.problems)?))
            .or_else(|| element.text("id", self.problems));
        let name = unit.text("name", self.problems);
        if id.is_none() && name.is_none() {
            let message = format!(
                "a {} names no unit; give its id: <scheduling_policy_unit id=\"...\"/>",
                kind.element()
            );
            self.problems.add(&element.place, message);
            return None;
        }
        let entry = Entry {
            kind,
            id: id.map(|id| id.to_ascii_lowercase()),
            name,
            number: self.number(kind, element)?,
            place: element.place.clone(),
        };
        self.check_type(&entry, unit);
        Some(entry)
    }

    fn check_type(&mut self, entry: &Entry, unit: &Element) {
        let Some(given) = unit.value("type", self.problems) else {
            return;
        };
        let right = entry.kind.unit_type();
        if !given.text.eq_ignore_ascii_case(right) {
            let message = format!(
                "{} is of type {}, and only units of type {right} stand among the {}",
                entry.noun(),
                shown(&given.text),
                entry.kind.list()
            );
            self.problems.add(&given.place, message);
        }
    }

    fn number(&mut self, kind: Kind, element: &Element) -> Option<i64> {
        let (name, default, least, greatest, rule) = match kind {
            Kind::Filter => (
                "position",
                0,
                -1,
                1,
                "-1 for the first, 1 for the last, or 0",
            ),
            Kind::Weight => ("factor", 1, 0, i64::from(i32::MAX), "a whole number from 0"),
            Kind::Balance => return Some(0),
        };
        let Some(given) = element.value(name, self.problems) else {
            return Some(default);
        };
        let number = given.text.parse().ok();
        let number = number.filter(|number| (least..=greatest).contains(number));
        if number.is_none() {
            let message = format!("\"{name}\" must be {rule}, not {}", shown(&given.text));
            self.problems.add(&given.place, message);
        }
        number
    }

    fn at_most_one(&mut self, filters: &[Entry], position: i64, word: &str) {
        let mut there = filters.iter().filter(|filter| filter.number == position);
        let Some(first) = there.next() else {
            return;
        };
        for other in there {
            let message = format!(
                "only one filter can be {word}, and that is the one at {}; give this one position 0",
                first.place
            );
            self.problems.add(&other.place, message);
        }
    }

    fn only(&mut self, balances: Vec<Entry>) -> Option<Entry> {
        let mut balances = balances.into_iter();
        let first = balances.next()?;
        for other in balances {
            let message = format!(
                "a policy has one balance, and that is the one at {}; leave one of them out",
                first.place
            );
            self.problems.add(&other.place, message);
        }
        Some(first)
    }

    /// The parameters; those of a cluster go before those of its policy.
    fn properties(&mut self, gathered: &Gathered<'_>) -> Vec<Property> {
        let mut properties: Vec<Property> = Vec::new();
        for owner in gathered.owners() {
            let own = self.properties_of(owner);
            for property in own {
                if properties.iter().all(|it| it.name != property.name) {
                    properties.push(property);
                }
            }
        }
        properties
    }

    fn properties_of(&mut self, owner: &Element) -> Vec<Property> {
        let mut properties: Vec<Property> = Vec::new();
        let lists = ["properties", "custom_scheduling_policy_properties"];
        let lists = lists.iter().flat_map(|list| owner.all(list));
        for element in lists.flat_map(|list| list.all("property")) {
            let Some(name) = element.text("name", self.problems) else {
                let message = "a property needs a name; give it one, or leave it out";
                self.problems.add(&element.place, message);
                continue;
            };
            let property = Property {
                value: self.text(element, "value"),
                place: element.place.clone(),
                name,
            };
            let first = properties.iter().find(|it| it.name == property.name);
            if let Some(first) = first.filter(|first| first.value != property.value) {
                let message = format!(
                    "{} has another value at {}; leave only what is right",
                    shown(&property.name),
                    first.place
                );
                self.problems.add(&property.place, message);
            }
            properties.push(property);
        }
        for thresholds in owner.all("thresholds") {
            self.thresholds(thresholds, &mut properties);
        }
        properties
    }

    /// Three of the parameters as version 3 wrote them.
    fn thresholds(&mut self, thresholds: &Element, properties: &mut Vec<Property>) {
        for &(attribute, parameter, each) in table::THRESHOLDS {
            let Some(given) = thresholds.value(attribute, self.problems) else {
                continue;
            };
            match given.text.parse::<i64>() {
                Ok(number) if number % each == 0 => properties.push(Property {
                    name: parameter.to_owned(),
                    value: (number / each).to_string(),
                    place: given.place.clone(),
                }),
                _ => {
                    let message = format!(
                        "\"{attribute}\" must be a whole number{}, not {}",
                        match each {
                            1 => String::new(),
                            each => format!(" that {each} divides"),
                        },
                        shown(&given.text)
                    );
                    self.problems.add(&given.place, message);
                }
            }
        }
    }
}

impl Entry {
    /// What it is called in sentences.
    pub fn noun(&self) -> String {
        let kind = self.kind.element();
        match (&self.name, &self.id) {
            (Some(name), Some(id)) => format!("{kind} {} ({})", shown(name), plain(id)),
            (Some(name), None) => format!("{kind} {}", shown(name)),
            (None, Some(id)) => match self.known() {
                Some(known) => format!("{kind} \"{}\" ({})", known.name, plain(id)),
                None => format!("{kind} {}", plain(id)),
            },
            (None, None) => kind.to_owned(),
        }
    }

    /// What the table says of its unit, by the id, else by kind and name.
    pub fn known(&self) -> Option<&'static table::Known> {
        let by_id = |id: &String| table::KNOWN.iter().find(|known| known.id == id);
        let by_name = |name: &String| {
            let mut known = table::KNOWN.iter();
            known.find(|known| known.kind == self.kind && known.name == name)
        };
        let by_id = self.id.as_ref().and_then(by_id);
        let known = by_id.filter(|known| known.kind == self.kind);
        known.or_else(|| self.name.as_ref().and_then(by_name))
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(id), Some(other)) => id == other,
            _ => self.name.is_some() && self.name == other.name,
        }
    }
}

/// An id without quotes, unless it has something that an id has not.
fn plain(id: &str) -> String {
    let usual = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match id.len() <= 36 && id.chars().all(usual) {
        true => id.to_owned(),
        false => shown(id),
    }
}

/// The id at the end of an address.
fn id_in(href: &str) -> Option<String> {
    let id = href.trim_end_matches('/').rsplit('/').next()?;
    (!id.is_empty()).then(|| id.to_owned())
}
