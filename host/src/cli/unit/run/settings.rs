//! Settings on the command line.

use placewright_document::{Content, Entry, Node, Place, Table, parse};

use crate::cli::failure::Failure;

/// What problems of settings are said to stand in.
const FILE: &str = "--settings";

/// The table of settings that are given as `NAME=VALUE`; of two of a name, the last.
pub(super) fn table(given: &[String]) -> Result<Table, Failure> {
    let mut table = Table {
        place: place(1),
        entries: Vec::new(),
    };
    for (line, given) in (1..).zip(given) {
        let Some((name, value)) = given.split_once('=') else {
            return Err(Failure::input_because(format!(
                "the setting \"{given}\" has no value: write --settings NAME=VALUE"
            )));
        };
        let entry = Entry {
            key: name.trim().into(),
            place: place(line),
            node: Node {
                place: place(line),
                content: content(value),
            },
        };
        table.entries.retain(|known| known.key != entry.key);
        table.entries.push(entry);
    }
    Ok(table)
}

/// A value of TOML, or else a text: a shell takes the quotes of a text away.
fn content(value: &str) -> Content {
    let tree = parse(&format!("value = {value}"), FILE).ok();
    let node = tree.and_then(|tree| match <[Entry; 1]>::try_from(tree.entries) {
        Ok([entry]) => Some(entry.node),
        Err(_) => None,
    });
    node.map_or_else(|| Content::Text(value.trim().into()), |node| node.content)
}

fn place(line: u32) -> Place {
    Place {
        file: FILE.into(),
        line,
        column: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_in_a_policy_with_or_without_quotes() {
        let given = ["headroom=8 GiB", "share=\"a=b\"", "on = true", "n=2", "n=3"];
        let table = table(&given.map(str::to_owned)).unwrap();
        let text = |name: &str| match &table.get(name).unwrap().content {
            Content::Text(text) => text.to_string(),
            Content::Boolean(value) => value.to_string(),
            Content::Integer(value) => value.to_string(),
            other => other.noun().to_owned(),
        };
        assert_eq!(
            ["headroom", "share", "on", "n"].map(text),
            ["8 GiB", "a=b", "true", "3"]
        );
        assert_eq!(table.entries.len(), 4);
        let list = content("[{ account = \"a\", weight = 2 }]");
        assert!(matches!(list, Content::List(rows) if rows.len() == 1));
    }

    #[test]
    fn a_setting_without_a_value_is_told() {
        let failure = table(&["headroom".to_owned()]).unwrap_err();
        assert!(failure.to_string().contains("--settings NAME=VALUE"));
    }
}
