//! What all entries have in common: a unit that is there and fits the list, and
//! its settings.

use super::Checker;
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
        match &wanted.pin {
            Some(pin)
                if self
                    .units
                    .find(&UnitName::new(wanted.name.clone()))
                    .is_some() =>
            {
                let message =
                    format!("there is a unit \"{name}\", but none whose digest begins with {pin}");
                self.problems.add(place, message);
            }
            _ => self.problems.add_misnamed(
                place,
                format!("there is no unit \"{name}\""),
                &wanted.name,
                self.units.names(),
            ),
        }
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
