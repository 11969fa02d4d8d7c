//! The policy of a case: the one that it gives, or all parts of the unit alone.

use super::made::{entry, list, table};
use super::{Case, GivenPolicy};
use crate::contract::Description;
use crate::document::{Content, Entry, Problems, Table};
use crate::library::Generation;
use crate::policy::Policy;

/// The lists of a policy document whose entries name units.
const LISTS: [&str; 4] = ["filters", "costs", "selections", "effects"];

/// The tables of a policy document that name a unit.
const ALONE: [&str; 2] = ["order", "balance"];

/// The policy that a case goes by, with the unit set as the case says.
pub(super) fn policy(
    case: &Case,
    unit: &Description,
    generation: &Generation,
) -> Result<Policy, Problems> {
    let schema = &case.cluster.schema;
    match &case.policy {
        None => Policy::of_tree(&alone(case, unit), &unit.name, generation, schema),
        Some(GivenPolicy { tree, name }) => {
            let mut tree = (**tree).clone();
            if !names_unit(&tree, unit) {
                let mut problems = Problems::new();
                let message = format!("the policy does not name the unit \"{}\"", unit.name);
                problems.add(&case.place, message);
                return Err(problems);
            }
            set(&mut tree, unit, &case.settings);
            Policy::of_tree(&tree, name, generation, schema)
        }
    }
}

/// All parts of the unit and no other, each with a factor of 1. If it fails there is no
/// decision, so that no failure is overlooked.
fn alone(case: &Case, unit: &Description) -> Table {
    let place = &case.place;
    let settings = || entry("settings", Content::Table(case.settings.clone()), place);
    let text = |key, text: &str| entry(key, Content::Text(text.into()), place);
    let judging = || {
        let fails = text("on-failure", "fail");
        table(place, [text("unit", &unit.name), fails, settings()])
    };
    let asked = || table(place, [text("unit", &unit.name), settings()]);
    let answers = unit.judge.as_ref().map(|judge| judge.answers);
    let lists = [
        answers
            .is_some_and(|answers| answers.verdicts)
            .then(judging),
        answers.is_some_and(|answers| answers.costs).then(judging),
        unit.selection.is_some().then(judging),
        unit.effects.is_some().then(asked),
    ];
    let tables = [
        unit.order.is_some().then(asked),
        unit.balance.is_some().then(asked),
    ];
    let lists = LISTS.into_iter().zip(lists);
    let lists = lists.filter_map(|(key, only)| Some(entry(key, list(place, [only?]), place)));
    let tables = ALONE.into_iter().zip(tables);
    let tables = tables.filter_map(|(key, only)| Some(entry(key, Content::Table(only?), place)));
    table(place, lists.chain(tables))
}

/// The tables of a policy document that name a unit, those of its stages included.
fn entries(policy: &mut Table) -> Vec<&mut Table> {
    let mut found = Vec::new();
    for Entry { key, node, .. } in &mut policy.entries {
        match &mut node.content {
            Content::Table(table) if ALONE.contains(&&**key) => found.push(table),
            Content::List(list) => {
                let tables = list.iter_mut().filter_map(|node| match &mut node.content {
                    Content::Table(table) => Some(table),
                    _ => None,
                });
                match &**key {
                    "stages" => found.extend(tables.flat_map(entries)),
                    key if LISTS.contains(&key) => found.extend(tables),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether an entry of a policy document names the unit, by its name or an alias.
fn is_of(entry: &Table, unit: &Description) -> bool {
    let Some(Content::Text(named)) = entry.get("unit").map(|node| &node.content) else {
        return false;
    };
    let name = named.split_once('@').map_or(&**named, |(name, _)| name);
    name == unit.name || unit.aliases.iter().any(|alias| name == alias)
}

fn names_unit(policy: &Table, unit: &Description) -> bool {
    let mut policy = policy.clone();
    entries(&mut policy).iter().any(|entry| is_of(entry, unit))
}

/// Set the unit, wherever it is named, over what the policy sets.
fn set(policy: &mut Table, unit: &Description, settings: &Table) {
    let of_unit = entries(policy).into_iter();
    for named in of_unit.filter(|named| is_of(named, unit)) {
        let mut own = named.entries.iter_mut();
        let own = own.find(|entry| *entry.key == *"settings");
        match own.map(|entry| &mut entry.node.content) {
            Some(Content::Table(own)) => {
                own.entries
                    .retain(|entry| settings.get(&entry.key).is_none());
                own.entries.extend(settings.entries.iter().cloned());
            }
            Some(_) => {}
            None if settings.entries.is_empty() => {}
            None => {
                let settings = Content::Table(settings.clone());
                let place = named.place.clone();
                named.entries.push(entry("settings", settings, &place));
            }
        }
    }
}
