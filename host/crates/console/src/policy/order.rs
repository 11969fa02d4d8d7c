//! A policy's entries, moved, added and removed by a form: an entry takes its comments along.

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::document::{LISTS, Place, nth};
use crate::format::cut;
use crate::value::{text, texts};
use placewright_http::problem::{Code, Problem};

/// What the deed of a form begins with that moves an entry.
pub(super) const MOVE: &str = "move/";

/// The deed that moves an entry to that number in its list.
pub(super) fn deed(place: &Place, to: usize) -> String {
    let stage = place
        .stage
        .map_or("-".to_owned(), |stage| stage.to_string());
    format!("{MOVE}{stage}/{}/{}/{to}", place.list, place.number)
}

/// The document with the entry moved.
///
/// # Errors
/// If the document does not have the entry or the place, or is not TOML.
pub(super) fn moved(text: &str, deed: &str) -> Result<String, Problem> {
    try_move(text, deed).ok_or_else(|| {
        let sentence = "the document has no such entry to be moved, or no such place in its list";
        Problem::new(Code::InvalidParameter, sentence)
    })
}

fn try_move(text: &str, deed: &str) -> Option<String> {
    let (place, to) = deed.strip_prefix(MOVE)?.rsplit_once('/')?;
    let to: usize = to.parse().ok()?;
    let name = format!("entry/{place}/");
    let (place, _) = Place::of(&name)?;
    let mut document: DocumentMut = text.parse().ok()?;
    let list = match place.stage {
        None => document.get_mut(&place.list)?,
        Some(stage) => nth(document.get_mut("stages")?, stage)?.get_mut(&place.list)?,
    };
    match list {
        Item::ArrayOfTables(tables) => in_tables(tables, place.number, to)?,
        Item::Value(Value::Array(values)) => in_array(values, place.number, to)?,
        _ => return None,
    }
    Some(document.to_string())
}

/// What the deed of a form begins with that removes an entry.
pub(super) const REMOVE: &str = "remove/";

/// The deed of a form that adds an entry.
pub(super) const ADD: &str = "add";

/// The field that names the unit of an entry that is added, and the one that names its list.
pub(super) const ADD_UNIT: &str = "add-unit";
pub(super) const ADD_LIST: &str = "add-list";

/// The lists that a unit can be added to, the kind of unit that stands in each, and how that is called.
pub(super) const KINDS: [(&str, &str, &str); 4] = [
    ("filters", "filter", "a filter"),
    ("costs", "cost function", "a cost function"),
    ("selections", "selection", "a selection"),
    ("effects", "placement effects", "an effect"),
];

/// Why a unit cannot stand in a list: a sentence. None: it is of the kind that stands there, or it is
/// not known of what kind it is.
pub(super) fn misplaced(unit: &serde_json::Value, list: &str) -> Option<String> {
    let kinds = texts(unit, "kinds");
    let (_, wanted, article) = KINDS.iter().find(|(known, ..)| *known == list)?;
    (!kinds.is_empty() && !kinds.contains(wanted)).then(|| {
        format!(
            "The unit {} is not {article}: its kind is {}.",
            cut(text(unit, "name"), 60),
            kinds.join(", ")
        )
    })
}

/// The deed that removes an entry.
pub(super) fn removal(place: &Place) -> String {
    let stage = place
        .stage
        .map_or("-".to_owned(), |stage| stage.to_string());
    format!("{REMOVE}{stage}/{}/{}", place.list, place.number)
}

/// The document without the entry, and without its list if nothing else is in that.
///
/// # Errors
/// If the document does not have the entry, or is not TOML.
pub(super) fn removed(text: &str, deed: &str) -> Result<String, Problem> {
    try_remove(text, deed).ok_or_else(|| {
        let sentence = "the document has no such entry to be removed";
        Problem::new(Code::InvalidParameter, sentence)
    })
}

fn try_remove(text: &str, deed: &str) -> Option<String> {
    let name = format!("entry/{}/", deed.strip_prefix(REMOVE)?);
    let (place, _) = Place::of(&name)?;
    let mut document: DocumentMut = text.parse().ok()?;
    let holder: &mut dyn TableLike = match place.stage {
        None => document.as_table_mut(),
        Some(stage) => nth(document.get_mut("stages")?, stage)?,
    };
    let is_empty = match holder.get_mut(&place.list)? {
        Item::ArrayOfTables(tables) if place.number < tables.len() => {
            tables.remove(place.number);
            tables.is_empty()
        }
        Item::Value(Value::Array(values)) if place.number < values.len() => {
            values.remove(place.number);
            values.is_empty()
        }
        _ => return None,
    };
    if is_empty {
        holder.remove(&place.list);
    }
    Some(document.to_string())
}

/// The document with a unit at the end of a list, of the last stage where there are stages.
///
/// # Errors
/// If there is no such list, or the document is not TOML.
pub(super) fn added(text: &str, list: &str, unit: &str) -> Result<String, Problem> {
    let wrong = |sentence: &str| Problem::new(Code::InvalidParameter, sentence.to_owned());
    if unit.is_empty() {
        return Err(wrong("name the unit that is to be added"));
    }
    if !LISTS.contains(&list) {
        return Err(wrong(
            "a unit is added to filters, costs, selections or effects",
        ));
    }
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| wrong("the document is not TOML: mend it before a unit is added"))?;
    let last = document.get("stages").map_or(0, super::chain::len);
    let holder: Option<&mut dyn TableLike> = match last.checked_sub(1) {
        None => Some(document.as_table_mut()),
        Some(last) => document.get_mut("stages").and_then(|it| nth(it, last)),
    };
    let holder = holder.ok_or_else(|| wrong("the document has no such stage"))?;
    // Where the holder is written in one line, its lists are, too.
    let is_inline = last > 0 && holder.get("name").is_some() && is_in_one_line(holder);
    match holder.get_mut(list) {
        Some(Item::ArrayOfTables(tables)) => tables.push(table(unit)),
        Some(Item::Value(Value::Array(values))) => values.push(table(unit).into_inline_table()),
        Some(_) => return Err(wrong("the document has something else in that list")),
        None if is_inline => {
            let values: Array = [table(unit).into_inline_table()].into_iter().collect();
            holder.insert(list, Item::Value(values.into()));
        }
        None => {
            let mut tables = ArrayOfTables::new();
            tables.push(table(unit));
            holder.insert(list, Item::ArrayOfTables(tables));
        }
    }
    Ok(document.to_string())
}

/// What the deed of a form begins with that removes a watch.
pub(super) const UNWATCH: &str = "unwatch/";

/// The document without the watch that a deed names.
///
/// # Errors
/// If the document does not have it, or is not TOML.
pub(super) fn unwatched(text: &str, deed: &str) -> Result<String, Problem> {
    let number = deed.strip_prefix(UNWATCH).and_then(|it| it.parse().ok());
    let changed = number.and_then(|number| without_watch(text, number));
    changed.ok_or_else(|| {
        let sentence = "the document has no such watch to be removed";
        Problem::new(Code::InvalidParameter, sentence)
    })
}

/// The document without a watch, and without their list if nothing else is in that.
pub(super) fn without_watch(text: &str, number: usize) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let is_empty = match document.get_mut("watches")? {
        Item::ArrayOfTables(tables) if number < tables.len() => {
            tables.remove(number);
            tables.is_empty()
        }
        Item::Value(Value::Array(values)) if number < values.len() => {
            values.remove(number);
            values.is_empty()
        }
        _ => return None,
    };
    if is_empty {
        document.remove("watches");
    }
    Some(document.to_string())
}

/// Whether all of a table's lists are values, so that it has no header of its own for them.
fn is_in_one_line(table: &dyn TableLike) -> bool {
    table.iter().all(|(_, item)| item.is_value())
}

fn table(unit: &str) -> Table {
    let mut table = Table::new();
    table.insert("unit", toml_edit::value(unit));
    table
}

/// Tables are written in the order of their positions, those below them too.
fn in_tables(tables: &mut ArrayOfTables, from: usize, to: usize) -> Option<()> {
    (from < tables.len() && to < tables.len()).then_some(())?;
    let mut all: Vec<isize> = Vec::new();
    for table in tables.iter_mut() {
        each(table, &mut |table| all.extend(table.position()));
    }
    all.sort_unstable();
    let table = tables.remove(from);
    tables.insert(to, table);
    let mut free = all.into_iter();
    for table in tables.iter_mut() {
        let mut own: Vec<isize> = Vec::new();
        each(table, &mut |table| own.extend(table.position()));
        own.sort_unstable();
        let new: Vec<isize> = free.by_ref().take(own.len()).collect();
        each(table, &mut |table| {
            let place = table.position().and_then(|it| own.binary_search(&it).ok());
            if let Some(place) = place {
                table.set_position(new.get(place).copied());
            }
        });
    }
    Some(())
}

/// A table, and the tables below it.
pub(super) fn each(table: &mut Table, look: &mut dyn FnMut(&mut Table)) {
    look(table);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(below) => each(below, look),
            Item::ArrayOfTables(tables) => {
                for below in tables.iter_mut() {
                    each(below, look);
                }
            }
            _ => {}
        }
    }
}

/// Lines and spaces of an array stay where they are.
fn in_array(values: &mut Array, from: usize, to: usize) -> Option<()> {
    (from < values.len() && to < values.len()).then_some(())?;
    let spaces: Vec<_> = values.iter().map(|value| value.decor().clone()).collect();
    let value = values.remove(from);
    values.insert_formatted(to, value);
    for (value, space) in values.iter_mut().zip(spaces) {
        *value.decor_mut() = space;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"a\"\n\n# Memory first.\n[[filters]]\nunit = \"memory\"\n[filters.settings]\nheadroom = \"1 GiB\" # a little\n\n[[costs]]\nunit = \"memory\"\n\n# Then CPU.\n[[filters]]\nunit = \"cpu\"\n\n[[filters]]\nunit = \"affinity\"\n";

    fn units(text: &str) -> Vec<String> {
        let document: DocumentMut = text.parse().unwrap();
        let filters = document["filters"].as_array_of_tables().unwrap();
        let units = filters.iter().map(|it| it["unit"].as_str().unwrap());
        units.map(str::to_owned).collect()
    }

    #[test]
    fn an_entry_is_moved_with_its_comments_and_settings() {
        let text = moved(TEXT, "move/-/filters/0/1").unwrap();
        assert_eq!(units(&text), ["cpu", "memory", "affinity"], "{text}");
        let document: DocumentMut = text.parse().unwrap();
        let memory = &document["filters"].as_array_of_tables().unwrap().get(1);
        let headroom = memory.unwrap()["settings"]["headroom"].as_str();
        assert_eq!(headroom, Some("1 GiB"), "{text}");
        assert!(
            text.contains("# Memory first.\n[[filters]]\nunit = \"memory\"\n"),
            "{text}"
        );
        assert!(text.contains("headroom = \"1 GiB\" # a little"), "{text}");
        assert!(
            text.contains("# Then CPU.\n[[filters]]\nunit = \"cpu\"\n"),
            "{text}"
        );
        let back = moved(&text, "move/-/filters/1/0").unwrap();
        assert_eq!(units(&back), units(TEXT));
    }

    #[test]
    fn an_entry_is_moved_over_several_others_and_in_a_stage() {
        let text = moved(TEXT, "move/-/filters/2/0").unwrap();
        assert_eq!(units(&text), ["affinity", "memory", "cpu"], "{text}");
        let staged = "[[stages]]\nname = \"s\"\nfilters = [{ unit = \"a\" }, { unit = \"b\" }]\n";
        let text = moved(staged, "move/0/filters/1/0").unwrap();
        assert_eq!(
            text,
            "[[stages]]\nname = \"s\"\nfilters = [{ unit = \"b\" }, { unit = \"a\" }]\n"
        );
    }

    #[test]
    fn an_entry_is_removed_and_takes_its_empty_list_along() {
        let without = removed(TEXT, "remove/-/filters/0").unwrap();
        assert_eq!(units(&without), ["cpu", "affinity"]);
        assert!(!without.contains("headroom"), "{without}");
        let without = removed(TEXT, "remove/-/costs/0").unwrap();
        assert!(!without.contains("costs"), "{without}");
        for deed in [
            "remove/-/costs/1",
            "remove/0/costs/0",
            "remove/-/name/0",
            "remove/x",
        ] {
            assert!(removed(TEXT, deed).is_err(), "{deed}");
        }
    }

    #[test]
    fn a_unit_is_added_at_the_end_of_a_list_however_it_is_written() {
        let more = added(TEXT, "filters", "numa").unwrap();
        assert_eq!(units(&more), ["memory", "cpu", "affinity", "numa"]);
        assert!(more.contains("# Memory first."), "{more}");
        let more = added(TEXT, "selections", "random").unwrap();
        assert!(more.contains("[[selections]]\nunit = \"random\""), "{more}");
        let array = "filters = [{ unit = \"memory\" }]\n";
        let more = added(array, "filters", "cpu").unwrap();
        assert_eq!(
            more.parse::<DocumentMut>().unwrap()["filters"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
        let staged = "[[stages]]\nname = \"a\"\n[[stages.filters]]\nunit = \"memory\"\n[[stages]]\nname = \"b\"\n";
        let more = added(staged, "costs", "cpu").unwrap();
        let more = more.parse::<DocumentMut>().unwrap();
        let last = more["stages"].as_array_of_tables().unwrap().get(1).unwrap();
        let costs = last["costs"].as_array().map(Array::len);
        let costs = costs.or(last["costs"].as_array_of_tables().map(ArrayOfTables::len));
        assert_eq!(costs, Some(1));
        assert!(added(TEXT, "filters", "").is_err());
        assert!(added(TEXT, "name", "cpu").is_err());
        assert!(added("= no", "filters", "cpu").is_err());
    }

    #[test]
    fn a_unit_is_added_where_its_kind_stands() {
        let unit = serde_json::json!({"name": "network", "kinds": ["filter"]});
        assert_eq!(misplaced(&unit, "filters"), None);
        assert_eq!(
            misplaced(&unit, "costs").as_deref(),
            Some("The unit network is not a cost function: its kind is filter.")
        );
        // One that is not in force may not tell.
        assert_eq!(misplaced(&serde_json::json!({"name": "x"}), "costs"), None);
    }

    #[test]
    fn what_is_not_there_is_not_moved() {
        for deed in [
            "move/-/filters/3/0",
            "move/-/filters/0/3",
            "move/-/effects/0/0",
            "move/0/filters/0/1",
            "move/-/name/0/1",
            "move/-/filters/0",
            "move/",
        ] {
            assert!(moved(TEXT, deed).is_err(), "{deed}");
        }
        assert!(moved("= no", "move/-/filters/0/1").is_err());
    }
}
