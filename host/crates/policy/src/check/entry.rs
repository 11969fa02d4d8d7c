//! What all entries have in common: a unit that is there and fits the list, and
//! its settings.

use super::Checker;
use crate::unit_name::SHORT;
use crate::{Settings, UnitName};
use placewright_document::form::Fields;
use placewright_document::{Place, alternatives, shown};
use placewright_engine::contract::{Description, Part};

/// What an entry of any kind has.
pub(super) struct Entry<'a, 't> {
    pub(super) fields: &'a Fields<'t>,
    pub(super) unit: UnitName,
    /// Where the unit is named.
    pub(super) place: &'t Place,
    pub(super) description: &'a Description,
    pub(super) settings: Settings,
    pub(super) enabled: bool,
}

impl<'a, 't> Checker<'a, 't> {
    /// What every entry has, if its unit is found and fits the list.
    pub(super) fn entry(&mut self, draft: &'a Fields<'t>, list: &str) -> Option<Entry<'a, 't>> {
        let wanted: Option<UnitName> = draft.text("unit").and_then(|unit| unit.parse().ok());
        let (Some(wanted), Some(place)) = (wanted, draft.place_of("unit")) else {
            self.all_found = false;
            return None;
        };
        let Some(description) = self.units.find(&wanted) else {
            self.all_found = false;
            self.unknown_unit(&wanted, place);
            return None;
        };
        let settings = self.settings(description, draft);
        self.check_list(description, list, place);
        self.check_reads(description, part_of(list), place);
        Some(Entry {
            fields: draft,
            unit: UnitName {
                name: description.name.as_str().into(),
                pin: wanted.pin,
            },
            place,
            description,
            settings,
            enabled: draft.boolean("enabled").unwrap_or(true),
        })
    }

    fn unknown_unit(&mut self, wanted: &UnitName, place: &Place) {
        let name = shown(&wanted.name);
        let in_force = self.units.find(&UnitName::new(wanted.name.clone()));
        if let (Some(pin), Some(unit)) = (&wanted.pin, in_force) {
            let digest = self.units.digest(&unit.name).unwrap_or_default();
            let message = none_of_pin(&name, pin, unit, &digest);
            return self.problems.add(place, message);
        }
        self.problems.add_misnamed_or(
            place,
            format!("there is no unit \"{name}\""),
            &wanted.name,
            self.units.names(),
            " in force: take one of the list of units (GET /v1/units), or hand this one in first",
        );
    }

    fn check_list(&mut self, description: &Description, list: &str, place: &Place) {
        let fitting = lists_for(description);
        if fitting.contains(&list) {
            return;
        }
        let lacks = match list {
            "filters" => "gives no verdicts",
            "costs" => "gives no costs",
            "selections" => "does not refine candidates",
            "effects" => "says nothing of what follows from a placement",
            "order" => "puts no batch in order",
            _ => "proposes no moves",
        };
        let instead = match fitting.as_slice() {
            [] => "it has no part that a policy can use".to_owned(),
            fitting => format!("it can stand under {}", alternatives(fitting)),
        };
        let message = format!(
            "unit \"{}\" {lacks}, so it cannot stand under \"{list}\"; {instead}",
            description.name
        );
        self.problems.add(place, message);
    }
}

/// What is wrong with a pin: of a name one version is in force.
fn none_of_pin(name: &str, pin: &str, in_force: &Description, digest: &str) -> String {
    let short = digest.get(..SHORT).unwrap_or(digest);
    let more = if pin.len() > SHORT { "…" } else { "" };
    let pin = pin.get(..SHORT).unwrap_or(pin);
    format!(
        "there is a unit \"{name}\", but none whose digest begins with {pin}{more}: in force is version {}, with the digest {short}; \
         write \"{name}@{short}\", or put the version in force that you want",
        shown(&in_force.version)
    )
}

/// The lists of a policy document in which a unit can stand.
fn lists_for(description: &Description) -> Vec<&'static str> {
    let answers = description.judge.as_ref().map(|part| part.answers);
    let mut lists = Vec::new();
    if answers.is_some_and(|answers| answers.verdicts) {
        lists.push("filters");
    }
    if answers.is_some_and(|answers| answers.costs) {
        lists.push("costs");
    }
    if description.selection.is_some() {
        lists.push("selections");
    }
    if description.effects.is_some() {
        lists.push("effects");
    }
    if description.order.is_some() {
        lists.push("order");
    }
    if description.balance.is_some() {
        lists.push("balance");
    }
    lists
}

/// The part that is asked for entries of a list.
fn part_of(list: &str) -> Part {
    match list {
        "selections" => Part::Selection,
        "effects" => Part::Effects,
        "order" => Part::Order,
        "balance" => Part::Balance,
        _ => Part::Judge,
    }
}
