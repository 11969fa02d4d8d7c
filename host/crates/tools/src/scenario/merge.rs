//! Trees with changes: what a case says over what its file says.
//!
//! A dotted name may be written in one or as tables in each other, and a change need not
//! be written as what it changes is.

use placewright_document::{Content, Entry, Node, Table};

/// `base` with everything that `changes` say, in place of what it said of that.
pub(super) fn merged(base: &Table, changes: &Table) -> Table {
    let mut merged = base.clone();
    for change in &changes.entries {
        for name in leaves(change) {
            remove(&mut merged.entries, &name);
        }
        put(&mut merged.entries, change);
    }
    merged
}

/// Take out the value of a dotted name. False if there is none.
pub(super) fn remove(entries: &mut Vec<Entry>, name: &str) -> bool {
    let before = entries.len();
    entries.retain(|entry| *entry.key != *name || is_table(&entry.node));
    let mut removed = entries.len() < before;
    for entry in entries {
        let rest = name.strip_prefix(&*entry.key);
        let rest = rest.and_then(|rest| rest.strip_prefix('.'));
        if let (Some(rest), Content::Table(table)) = (rest, &mut entry.node.content) {
            removed |= remove(&mut table.entries, rest);
        }
    }
    removed
}

/// The dotted names of the values that an entry gives.
fn leaves(entry: &Entry) -> Vec<String> {
    let Content::Table(table) = &entry.node.content else {
        return vec![entry.key.to_string()];
    };
    let below = table.entries.iter().flat_map(leaves);
    below.map(|name| format!("{}.{name}", entry.key)).collect()
}

/// Add an entry whose values are given nowhere else any more.
fn put(entries: &mut Vec<Entry>, change: &Entry) {
    let Some(at) = entries.iter().position(|entry| entry.key == change.key) else {
        entries.push(change.clone());
        return;
    };
    match (&mut entries[at].node.content, &change.node.content) {
        (Content::Table(table), Content::Table(changes)) => {
            for change in &changes.entries {
                put(&mut table.entries, change);
            }
        }
        // A value beside longer names that begin as its own: `cpu` beside `cpu.usage`.
        (Content::Table(_), _) => {
            let table = entries.remove(at);
            entries.extend(flattened(table));
            entries.push(change.clone());
        }
        _ => entries[at] = change.clone(),
    }
}

/// The values of a table, each under its dotted name.
fn flattened(entry: Entry) -> Vec<Entry> {
    let Entry { key, place, node } = entry;
    match node.content {
        Content::Table(table) => {
            let below = table.entries.into_iter().flat_map(flattened);
            below
                .map(|below| Entry {
                    key: format!("{key}.{}", below.key).into(),
                    ..below
                })
                .collect()
        }
        _ => vec![Entry { key, place, node }],
    }
}

fn is_table(node: &Node) -> bool {
    matches!(node.content, Content::Table(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_document::parse;

    fn tree(text: &str) -> Table {
        parse(text, "t.toml").unwrap()
    }

    /// The dotted names with their values.
    fn shown(table: &Table) -> Vec<String> {
        let flat = table.entries.iter().cloned().flat_map(flattened);
        flat.map(|entry| match entry.node.content {
            Content::Integer(value) => format!("{} {value}", entry.key),
            other => format!("{} {}", entry.key, other.noun()),
        })
        .collect()
    }

    #[test]
    fn a_change_finds_its_column_however_the_two_are_written() {
        for base in [
            "memory = { free = 1, total = 2 }",
            "\"memory.free\" = 1\nmemory.total = 2",
        ] {
            for change in ["memory = { free = 9 }", "\"memory.free\" = 9"] {
                let merged = merged(&tree(base), &tree(change));
                let mut shown = shown(&merged);
                shown.sort();
                assert_eq!(
                    shown,
                    ["memory.free 9", "memory.total 2"],
                    "{base} and {change}"
                );
            }
        }
    }

    #[test]
    fn a_value_goes_beside_longer_names_that_begin_as_its_own() {
        let merged = merged(&tree("cpu.usage = 1"), &tree("cpu = 500"));
        assert_eq!(shown(&merged), ["cpu.usage 1", "cpu 500"]);
    }

    #[test]
    fn lists_are_replaced_as_a_whole() {
        let merged = merged(&tree("a = [1, 2]\nb = 1"), &tree("a = [3]\nc = 2"));
        assert_eq!(shown(&merged), ["b 1", "a a list", "c 2"]);
        let Some(Content::List(list)) = merged.get("a").map(|node| &node.content) else {
            panic!("there is a list");
        };
        assert_eq!(list.len(), 1);
    }

    #[test]
    fn a_column_is_taken_out_by_its_dotted_name() {
        let mut table = tree("memory = { free = 1, total = 2 }");
        assert!(remove(&mut table.entries, "memory.free"));
        assert!(!remove(&mut table.entries, "memory.free"));
        assert_eq!(shown(&table), ["memory.total 2"]);
    }
}
