//! The policy of a case: the one that it gives, or all parts of the unit alone.

use super::{Case, GivenPolicy};
use placewright_document::made::entry;
use placewright_document::{Content, Entry, Problems, Table};
use placewright_engine::contract::Description;
use placewright_engine::generation::Generation;
use placewright_policy::{LISTS, Policy, TABLES};

/// The policy that a case goes by, with the unit set as the case says.
pub(super) fn policy(
    case: &Case,
    unit: &Description,
    generation: &Generation,
) -> Result<Policy, Problems> {
    let schema = &case.cluster.schema;
    match &case.policy {
        None => {
            let alone = Policy::alone(unit, &case.settings, &case.place);
            Policy::of_tree(&alone, &unit.name, generation, schema)
        }
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

/// The tables of a policy document that name a unit, those of its stages included.
fn entries(policy: &mut Table) -> Vec<&mut Table> {
    let mut found = Vec::new();
    for Entry { key, node, .. } in &mut policy.entries {
        match &mut node.content {
            Content::Table(table) if TABLES.contains(&&**key) => found.push(table),
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
