//! What somebody changed in a policy, carried over to a revision that somebody else saved
//! meanwhile.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::changes::{Change, ORDER, between};
use super::document::{LISTS, nth};
use super::order;

/// What both have changed of the same revision.
pub(super) struct Both {
    /// What the other one changed.
    pub(super) theirs: Vec<Change>,
    /// What collides with nothing of that.
    pub(super) free: Vec<Change>,
    /// What both changed, to another outcome: theirs stays.
    pub(super) colliding: Vec<Change>,
}

impl Both {
    /// Compare two documents with the one that both began with. None: one of them cannot be read.
    pub(super) fn of(base: &str, theirs: &str, mine: &str) -> Option<Self> {
        let theirs = between(base, theirs)?;
        let own = between(base, mine)?;
        let own = own
            .into_iter()
            .filter(|change| !theirs.iter().any(|it| it.is_same(change)));
        let (colliding, free) = own.partition(|change| theirs.iter().any(|it| it.collides(change)));
        Some(Self {
            theirs,
            free,
            colliding,
        })
    }
}

/// The document of the other one with these changes of one's own, and those that it does not take:
/// comments of both stay.
pub(super) fn carried(theirs: &str, mine: &str, changes: &[Change]) -> (String, Vec<Change>) {
    let mut text = theirs.to_owned();
    let mut left = Vec::new();
    for change in changes {
        match carry(&text, mine, change) {
            // It must say now what it should, and still be a document.
            Some(changed) if is_in(&changed, mine, change) => text = changed,
            _ => left.push(change.clone()),
        }
    }
    (text, left)
}

/// Whether a document has a change of another one.
fn is_in(text: &str, mine: &str, change: &Change) -> bool {
    let differing = between(text, mine);
    differing.is_some_and(|differing| differing.iter().all(|it| it.path != change.path))
}

fn carry(theirs: &str, mine: &str, change: &Change) -> Option<String> {
    let mut of_mine: DocumentMut = mine.parse().ok()?;
    let mut document: DocumentMut = theirs.parse().ok()?;
    let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
    let (stage, path) = match path.as_slice() {
        ["stages", number, rest @ ..] => (Some(number.parse::<usize>().ok()?), rest),
        path => (None, path),
    };
    let is_list = |key: &str| LISTS.contains(&key) || key == "watches";
    match path {
        [list, name, ..] if is_list(list) && *name == ORDER => {
            let order = change.after.as_ref()?.as_array()?.iter();
            let order: Vec<&str> = order.filter_map(serde_json::Value::as_str).collect();
            put_in_order(theirs, (stage, list), &order)
        }
        [list, name] if is_list(list) => match &change.after {
            None => {
                let number = number_of(holder(&mut document, stage)?.get(list)?, name)?;
                without(theirs, (stage, list), number)
            }
            Some(_) => {
                let item = holder(&mut of_mine, stage)?.get_mut(list)?;
                let number = number_of(item, name)?;
                let entry = entry(item, number)?;
                let before = number.checked_sub(1).and_then(|it| name_of(item, it));
                add(theirs, (stage, list), entry, before.as_deref())
            }
        },
        [list, name, keys @ ..] if is_list(list) => {
            let from = holder(&mut of_mine, stage)?.get_mut(list)?;
            let number = number_of(from, name)?;
            let from = nth(from, number)?;
            let to = holder(&mut document, stage)?.get_mut(list)?;
            let number = number_of(to, name)?;
            put(nth(to, number)?, keys, at(from, keys))?;
            Some(document.to_string())
        }
        keys => {
            let item = at(holder(&mut of_mine, stage)?, keys);
            put(holder(&mut document, stage)?, keys, item)?;
            Some(document.to_string())
        }
    }
}

/// The table that has the lists: the document, or one of its stages.
fn holder(document: &mut DocumentMut, stage: Option<usize>) -> Option<&mut dyn TableLike> {
    match stage {
        None => Some(document.as_table_mut()),
        Some(stage) => nth(document.get_mut("stages")?, stage),
    }
}

/// The names of a list's entries.
fn names(list: &Item) -> Vec<String> {
    let name = |table: &dyn TableLike| {
        let said = |key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
        said("name").or_else(|| said("unit")).unwrap_or_default()
    };
    match list {
        Item::ArrayOfTables(tables) => tables.iter().map(|it| name(it)).collect(),
        Item::Value(Value::Array(values)) => {
            let values = values.iter().filter_map(Value::as_inline_table);
            values.map(|it| name(it)).collect()
        }
        _ => Vec::new(),
    }
}

fn number_of(list: &Item, name: &str) -> Option<usize> {
    names(list).iter().position(|known| known == name)
}

fn name_of(list: &Item, number: usize) -> Option<String> {
    names(list).into_iter().nth(number)
}

/// What stands below these keys.
fn at(table: &dyn TableLike, keys: &[&str]) -> Option<Item> {
    match keys {
        [] => None,
        [key] => table.get(key).cloned(),
        [key, rest @ ..] => at(table.get(key)?.as_table_like()?, rest),
    }
}

/// Put it there, or take away what is there. None: there is no place for it.
fn put(table: &mut dyn TableLike, keys: &[&str], item: Option<Item>) -> Option<()> {
    match keys {
        [] => None,
        [key] => {
            match item {
                None => drop(table.remove(key)),
                Some(item) => match table.get_mut(key) {
                    Some(there) => {
                        *there = item;
                    }
                    None => drop(table.insert(key, free(item))),
                },
            }
            Some(())
        }
        [key, rest @ ..] => {
            if table.get(key).is_none() {
                let new = toml_edit::InlineTable::new();
                table.insert(key, Item::Value(Value::InlineTable(new)));
            }
            let below = table.get_mut(key)?.as_table_like_mut()?;
            put(below, rest, item)?;
            if below.is_empty() {
                table.remove(key);
            }
            Some(())
        }
    }
}

/// An item that has no place in a document yet.
fn free(mut item: Item) -> Item {
    if let Item::Table(table) = &mut item {
        order::each(table, &mut |table| table.set_position(None));
    }
    item
}

/// An entry as a table of its own with its comments, without a place.
fn entry(list: &mut Item, number: usize) -> Option<Table> {
    let mut table = match list {
        Item::ArrayOfTables(tables) => tables.get(number)?.clone(),
        list => {
            let pairs = nth(list, number)?;
            let mut table = Table::new();
            for (key, item) in pairs.iter() {
                table.insert(key, item.clone());
            }
            table
        }
    };
    order::each(&mut table, &mut |table| table.set_position(None));
    Some(table)
}

/// The document with an entry behind that of the other name, or at the beginning of its list.
fn add(
    text: &str,
    (stage, list): (Option<usize>, &str),
    entry: Table,
    before: Option<&str>,
) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let holder = holder(&mut document, stage)?;
    let last = match holder.get_mut(list) {
        Some(Item::ArrayOfTables(tables)) => {
            tables.push(entry);
            tables.len() - 1
        }
        Some(Item::Value(Value::Array(values))) => {
            values.push(entry.into_inline_table());
            values.len() - 1
        }
        Some(_) => return None,
        None => {
            let mut tables = ArrayOfTables::new();
            tables.push(entry);
            holder.insert(list, Item::ArrayOfTables(tables));
            0
        }
    };
    let names = names(holder.get(list)?);
    let text = document.to_string();
    let place = match before {
        None => 0,
        // One that is not there any more leaves it at the end.
        Some(before) => names
            .iter()
            .position(|name| name == before)
            .map_or(last, |it| (it + 1).min(last)),
    };
    moved(&text, (stage, list), last, place)
}

/// The document without an entry.
fn without(text: &str, (stage, list): (Option<usize>, &str), number: usize) -> Option<String> {
    let stage = stage.map_or("-".to_owned(), |stage| stage.to_string());
    if list == "watches" {
        return order::without_watch(text, number);
    }
    order::removed(text, &format!("{}{stage}/{list}/{number}", order::REMOVE)).ok()
}

/// The document with the named entries of a list in that order; others stay where they are.
fn put_in_order(
    text: &str,
    (stage, list): (Option<usize>, &str),
    order: &[&str],
) -> Option<String> {
    let mut text = text.to_owned();
    for (number, name) in order.iter().enumerate() {
        let mut document: DocumentMut = text.parse().ok()?;
        let names = names(holder(&mut document, stage)?.get(list)?);
        let known = |name: &str| names.iter().position(|it| it == name);
        // The places of those that are put in order, from the first on.
        let mut places: Vec<usize> = order.iter().filter_map(|name| known(name)).collect();
        places.sort_unstable();
        let (Some(from), Some(to)) = (known(name), places.get(number)) else {
            continue;
        };
        text = moved(&text, (stage, list), from, *to)?;
    }
    Some(text)
}

fn moved(
    text: &str,
    (stage, list): (Option<usize>, &str),
    from: usize,
    to: usize,
) -> Option<String> {
    if from == to {
        return Some(text.to_owned());
    }
    // The order of watches means nothing.
    if list == "watches" {
        return Some(text.to_owned());
    }
    let stage = stage.map_or("-".to_owned(), |stage| stage.to_string());
    let deed = format!("{}{stage}/{list}/{from}/{to}", order::MOVE);
    order::moved(text, &deed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# ours\ntie-rule = [\"id\"]\n\n# Room first.\n[[filters]]\nunit = \"memory\"\n\n[[filters]]\nunit = \"cpu\"\n\n[[costs]]\nunit = \"memory\"\nfactor = 2 # twice\n\n[[costs]]\nunit = \"cpu\"\n";

    fn both(theirs: &str, mine: &str) -> (Both, String, Vec<Change>) {
        let both = Both::of(BASE, theirs, mine).unwrap();
        let (text, left) = carried(theirs, mine, &both.free);
        (both, text, left)
    }

    fn told(changes: &[Change]) -> Vec<String> {
        changes.iter().map(Change::sentence).collect()
    }

    #[test]
    fn what_does_not_collide_is_carried_over_and_comments_of_both_stay() {
        let theirs = BASE
            .replace("factor = 2 # twice", "factor = 3 # three times")
            .replace("# ours", "# theirs");
        let mine = BASE
            .replace("unit = \"cpu\"\n\n[[costs]]", "unit = \"cpu\"\nsettings = { overcommit = 2 } # mine\n\n# Mine, too.\n[[filters]]\nunit = \"network\"\n\n[[costs]]")
            .replace("tie-rule = [\"id\"]", "tie-rule = [\"draw\"]\nunheeded = \"warn\"");
        let (both, text, left) = both(&theirs, &mine);
        assert_eq!(told(&both.theirs), ["cost memory, factor: 2 → 3"]);
        assert!(both.colliding.is_empty() && left.is_empty(), "{left:?}");
        for part in [
            "# theirs",
            "factor = 3 # three times",
            "overcommit = 2",
            "# Mine, too.\n[[filters]]\nunit = \"network\"",
            "tie-rule = [\"draw\"]",
            "unheeded = \"warn\"",
            "# Room first.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // The new filter stands behind the one that it stood behind.
        let network = text.find("\"network\"").unwrap();
        assert!(text.find("overcommit").unwrap() < network, "{text}");
        assert!(between(&text, &mine).unwrap().len() == 1, "{text}");
    }

    #[test]
    fn what_collides_stays_as_the_other_one_saved_it() {
        let theirs = BASE.replace("factor = 2", "factor = 3");
        let mine = BASE.replace("factor = 2", "factor = 4").replace(
            "unit = \"memory\"\n\n[[filters]]",
            "unit = \"memory\"\nenabled = false\n\n[[filters]]",
        );
        let (both, text, left) = both(&theirs, &mine);
        assert_eq!(told(&both.colliding), ["cost memory, factor: 2 → 4"]);
        assert_eq!(told(&both.free), ["filter memory, enabled: on → off"]);
        assert!(
            text.contains("factor = 3") && text.contains("enabled = false"),
            "{text}"
        );
        assert!(left.is_empty());
        // Both to the same outcome: nothing collides, and nothing is to be carried.
        let same = Both::of(BASE, &theirs, &theirs).unwrap();
        assert!(same.colliding.is_empty() && same.free.is_empty());
    }

    #[test]
    fn removed_entries_and_another_order_are_carried_over() {
        let theirs = BASE.replace("factor = 2 # twice", "factor = 3");
        let mine = BASE
            .replace(
                "# Room first.\n[[filters]]\nunit = \"memory\"\n\n[[filters]]\nunit = \"cpu\"\n",
                "[[filters]]\nunit = \"cpu\"\n\n# Room first.\n[[filters]]\nunit = \"memory\"\n",
            )
            .replace("\n[[costs]]\nunit = \"cpu\"\n", "");
        let (both, text, left) = both(&theirs, &mine);
        assert_eq!(
            told(&both.free),
            [
                "order of filters: memory, cpu → cpu, memory",
                "cost cpu: removed"
            ]
        );
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(
            told(&between(&text, &mine).unwrap()),
            ["cost memory, factor: 3 → 2"]
        );
        // One that they removed cannot be tuned by another one.
        let gone = BASE.replace("\n[[costs]]\nunit = \"cpu\"\n", "");
        let tuned = format!("{BASE}factor = 7\n");
        let both = Both::of(BASE, &gone, &tuned).unwrap();
        assert_eq!(told(&both.colliding), ["cost cpu, factor: 1 → 7"]);
    }

    #[test]
    fn changes_of_stages_and_of_documents_in_one_line_are_carried_over() {
        let staged = |factor: &str, overcommit: &str| {
            format!(
                "[[stages]]\nname = \"a\"\nfilters = [{{ unit = \"cpu\", settings = {{ overcommit = {overcommit} }} }}]\ncosts = [{{ unit = \"cpu\", factor = {factor} }}]\n"
            )
        };
        let (base, theirs, mine) = (staged("1", "1"), staged("2", "1"), staged("1", "4"));
        let both = Both::of(&base, &theirs, &mine).unwrap();
        let (text, left) = carried(&theirs, &mine, &both.free);
        assert_eq!((text, left), (staged("2", "4"), Vec::new()));
        // JSON has no comments to keep, and is not carried over.
        let json = "{\"filters\": []}";
        let (text, left) = carried(
            json,
            "filters = []\nsearch = \"forbidden\"\n",
            &[Change {
                path: vec!["search".to_owned()],
                before: None,
                after: Some("forbidden".into()),
            }],
        );
        assert_eq!((text.as_str(), left.len()), (json, 1));
    }
}
