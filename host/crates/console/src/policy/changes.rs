//! What differs between two documents of a policy, part by part and in words.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use super::document::{LISTS, Language};
use crate::format::cut;

/// The key of a list under which the order of its entries stands, which no entry can have as its
/// name.
pub(super) const ORDER: &str = "(order)";
/// Letters of a value that are shown.
const VALUE: usize = 80;

/// What an entry has where its document says nothing.
const USUAL: [(&str, &str); 4] = [
    ("factor", "1"),
    ("scaling", "\"none\""),
    ("tier", "1"),
    ("position", "\"any\""),
];

/// The keys of a policy that are words, with what holds if nothing is said.
pub(super) const WORDS: [(&str, &str); 3] = [
    ("infinite-costs", "last-resort"),
    ("search", "allowed"),
    ("unheeded", "refuse"),
];

/// The rules for ties if nothing is said.
const TIES: [&str; 2] = ["fewest-vms", "id"];

/// A part of a document that differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    /// Where it stands: the keys on the way to it; entries of lists by their names.
    pub(super) path: Vec<String>,
    /// None: it was not there.
    pub(super) before: Option<Value>,
    /// None: it is not there any more.
    pub(super) after: Option<Value>,
}

impl Change {
    /// Whether both are about the same part of a document, or one about what the other has in it,
    /// and they do not come to the same.
    pub(super) fn collides(&self, other: &Self) -> bool {
        let both = self.path.iter().zip(&other.path);
        let is_same = both.clone().all(|(own, others)| own == others);
        let is_equal = self.path == other.path && self.after == other.after;
        is_same && !is_equal
    }

    /// Whether both do the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.path == other.path && self.after == other.after
    }

    /// What it is about, in words.
    fn place(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut rest = self.path.as_slice();
        if let [stages, number, more @ ..] = rest
            && stages == "stages"
        {
            let number: usize = number.parse().unwrap_or_default();
            words.push(format!("stage {}", number + 1));
            rest = more;
        }
        let words_of = |list: &str| match list {
            "filters" => Some("filter"),
            "costs" => Some("cost"),
            "selections" => Some("selection"),
            "effects" => Some("effect"),
            "watches" => Some("watch"),
            _ => None,
        };
        match rest {
            [list, order] if order == ORDER => words.push(format!("order of {list}")),
            [list, name, more @ ..] if words_of(list).is_some() => {
                let kind = words_of(list).unwrap_or_default();
                words.push(format!("{kind} {}", cut(name, 60)));
                words.extend(keys(more));
            }
            [key, name] if key == "unheeded-needs" => {
                words.push(format!("unheeded need {}", cut(name, 60)));
            }
            [key, name] if key == "settings" => {
                words.push(format!("setting {} of all units", cut(name, 60)));
            }
            [key] if key == "tie-rule" => words.push("ties".to_owned()),
            more => words.extend(keys(more)),
        }
        words.join(", ")
    }

    /// The change in words: "cost memory, factor: 1 → 2".
    pub(super) fn sentence(&self) -> String {
        let place = self.place();
        let is_whole = |value: &Value| value.is_object();
        match (&self.before, &self.after) {
            (None, Some(after)) if is_whole(after) => format!("{place}: added"),
            (Some(before), None) if is_whole(before) => format!("{place}: removed"),
            (before, after) => {
                let told = |value: &Option<Value>| match value {
                    Some(value) => written(value),
                    None => "not set".to_owned(),
                };
                format!("{place}: {} → {}", told(before), told(after))
            }
        }
    }
}

/// Keys below an entry or a table, in words.
fn keys(keys: &[String]) -> Vec<String> {
    match keys {
        [settings, name, ..] if settings == "settings" => {
            vec![format!("setting {}", cut(name, 60))]
        }
        [key, more @ ..] => {
            let mut words = vec![match key.as_str() {
                "on-failure" => "if it fails".to_owned(),
                key => cut(&key.replace('-', " "), 60),
            }];
            words.extend(self::keys(more));
            words
        }
        [] => Vec::new(),
    }
}

/// A value in words.
fn written(value: &Value) -> String {
    let whole = match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        Value::Array(values) if values.iter().all(Value::is_string) => {
            let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            match words.is_empty() {
                true => "none".to_owned(),
                false => words.join(", "),
            }
        }
        // The rows of a table.
        Value::Array(rows) if rows.iter().all(Value::is_object) => {
            let rows = rows.iter().filter_map(Value::as_object);
            let rows = rows.map(|row| {
                let cells = row.iter();
                let cells: Vec<String> = cells
                    .map(|(column, cell)| format!("{column} {}", written(cell)))
                    .collect();
                cells.join(", ")
            });
            rows.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    };
    cut(&whole, VALUE)
}

/// What differs, in the order in which documents have it. None: one of the two cannot be read.
pub(super) fn between(before: &str, after: &str) -> Option<Vec<Change>> {
    let (before, after) = (tree(before)?, tree(after)?);
    let mut changes = Vec::new();
    of_policy(&before, &after, &mut changes);
    Some(changes)
}

/// A document as a tree. None: it cannot be read.
pub(crate) fn tree(text: &str) -> Option<Value> {
    match Language::of(text) {
        Language::Json => serde_json::from_str(text).ok(),
        Language::Toml => {
            let document: DocumentMut = text.parse().ok()?;
            value(document.as_item())
        }
    }
}

/// An item of TOML as JSON has it.
fn value(item: &Item) -> Option<Value> {
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables.iter().map(|table| of_table(table));
        return Some(Value::Array(tables.collect()));
    }
    if let Some(table) = item.as_table_like() {
        return Some(of_table(table));
    }
    Some(match item.as_value()? {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(yes) => json!(yes.value()),
        toml_edit::Value::Datetime(time) => json!(time.value().to_string()),
        toml_edit::Value::Array(values) => {
            let values = values.iter();
            let values = values.filter_map(|it| value(&Item::Value(it.clone())));
            Value::Array(values.collect())
        }
        toml_edit::Value::InlineTable(table) => of_table(table),
    })
}

fn of_table(table: &dyn toml_edit::TableLike) -> Value {
    let pairs = table.iter();
    let pairs = pairs.filter_map(|(key, item)| Some((key.to_owned(), value(item)?)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn of_policy(before: &Value, after: &Value, changes: &mut Vec<Change>) {
    let of = |value: &'_ Value| value.as_object().cloned().unwrap_or_default();
    let (old, new) = (of(before), of(after));
    let stages = |tree: &Map<String, Value>| tree.get("stages").map_or(0, len);
    match (stages(&old), stages(&new)) {
        (0, 0) => of_lists((before, after), &[], changes),
        (a, b) if a == b => {
            for number in 0..a {
                let path = ["stages".to_owned(), number.to_string()];
                let (old, new) = (&before["stages"][number], &after["stages"][number]);
                of_lists((old, new), &path, changes);
                for key in ["name", "keep"] {
                    let path = [&path[..], &[key.to_owned()]].concat();
                    one(&path, (&old[key], &new[key]), changes);
                }
            }
        }
        // Which of them is which is not known.
        _ => one(
            &["stages".to_owned()],
            (&before["stages"], &after["stages"]),
            changes,
        ),
    }
    of_list("effects", (before, after), &[], changes);
    of_list("watches", (before, after), &[], changes);
    for table in ["order", "balance"] {
        of_entry(
            &[table.to_owned()],
            (&before[table], &after[table]),
            changes,
        );
    }
    for table in ["settings", "unheeded-needs"] {
        let (old, new) = (of(&before[table]), of(&after[table]));
        let path = [table.to_owned()];
        for key in both(&old, &new) {
            let path = [&path[..], std::slice::from_ref(&key)].concat();
            let (old, new) = (&before[table][&key], &after[table][&key]);
            one(&path, (old, new), changes);
        }
    }
    let or = |value: &Value, usual: Value| {
        if value.is_null() {
            usual
        } else {
            value.clone()
        }
    };
    for (key, usual) in WORDS {
        let (old, new) = (
            or(&before[key], usual.into()),
            or(&after[key], usual.into()),
        );
        one(&[key.to_owned()], (&old, &new), changes);
    }
    let (old, new) = (
        or(&before["tie-rule"], json!(TIES)),
        or(&after["tie-rule"], json!(TIES)),
    );
    one(&["tie-rule".to_owned()], (&old, &new), changes);
    for key in ["name", "description"] {
        one(&[key.to_owned()], (&before[key], &after[key]), changes);
    }
}

/// The keys of two tables, those of the second that the first has not at the end.
fn both(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<String> {
    let more = new.keys().filter(|key| !old.contains_key(*key));
    old.keys().chain(more).cloned().collect()
}

fn len(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

fn of_lists((before, after): (&Value, &Value), path: &[String], changes: &mut Vec<Change>) {
    for list in LISTS.iter().filter(|list| **list != "effects") {
        of_list(list, (before, after), path, changes);
    }
}

/// The entries of a list by their names: a second one of a name has its number beside it.
fn named(list: &Value) -> Vec<(String, &Value)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let entries = list.as_array().into_iter().flatten();
    let named = entries.map(|entry| {
        let name = entry["name"].as_str().or(entry["unit"].as_str());
        let name = name.unwrap_or_default();
        let number = seen.entry(name).or_default();
        *number += 1;
        let name = match number {
            1 => name.to_owned(),
            number => format!("{name} ({number})"),
        };
        (name, entry)
    });
    named.collect()
}

fn of_list(
    list: &str,
    (before, after): (&Value, &Value),
    path: &[String],
    changes: &mut Vec<Change>,
) {
    let (old, new) = (named(&before[list]), named(&after[list]));
    let path = [path, &[list.to_owned()]].concat();
    let find = |entries: &[(String, &Value)], name: &str| {
        let found = entries.iter().find(|(known, _)| known == name);
        found.map(|(_, entry)| (*entry).clone())
    };
    let more = new
        .iter()
        .filter(|(name, _)| find(&old, name).is_none())
        .collect::<Vec<_>>();
    for (name, _) in old.iter().chain(more) {
        let path = [&path[..], std::slice::from_ref(name)].concat();
        let pair = (find(&old, name), find(&new, name));
        match pair {
            (Some(old), Some(new)) => of_entry(&path, (&old, &new), changes),
            (before, after) => changes.push(Change {
                path,
                before,
                after,
            }),
        }
    }
    // Of those that both have.
    let shared = |of: &[(String, &Value)], others: &[(String, &Value)]| -> Vec<String> {
        let names = of.iter().map(|(name, _)| name);
        let names = names.filter(|name| find(others, name).is_some());
        names.cloned().collect()
    };
    let (order, now) = (shared(&old, &new), shared(&new, &old));
    let path = [&path[..], &[ORDER.to_owned()]].concat();
    one(&path, (&json!(order), &json!(now)), changes);
}

/// An entry or a table of a unit, key by key.
fn of_entry(path: &[String], (before, after): (&Value, &Value), changes: &mut Vec<Change>) {
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else {
        return one(path, (before, after), changes);
    };
    let of = |entry: &Map<String, Value>, key: &str| {
        let said = entry.get(key).cloned();
        let usual = USUAL.iter().find(|(known, _)| *known == key);
        let usual = usual.and_then(|(_, usual)| serde_json::from_str(usual).ok());
        said.or(usual)
            .or((key == "enabled").then_some(Value::Bool(true)))
            .unwrap_or_default()
    };
    for key in both(old, new) {
        let path = [path, std::slice::from_ref(&key)].concat();
        if key != "settings" {
            one(&path, (&of(old, &key), &of(new, &key)), changes);
            continue;
        }
        let none = Map::new();
        let settings = |entry: &'_ Map<String, Value>| {
            let settings = entry.get("settings").and_then(Value::as_object);
            settings.unwrap_or(&none).clone()
        };
        let (old, new) = (settings(old), settings(new));
        for name in both(&old, &new) {
            let path = [&path[..], std::slice::from_ref(&name)].concat();
            let value = |of: &Map<String, Value>| of.get(&name).cloned().unwrap_or_default();
            one(&path, (&value(&old), &value(&new)), changes);
        }
    }
}

/// One value; null stands for none.
fn one(path: &[String], (before, after): (&Value, &Value), changes: &mut Vec<Change>) {
    let is_number = |value: &Value| value.is_number();
    let is_same = match is_number(before) && is_number(after) {
        // 2 is 2.0.
        true => before.as_f64() == after.as_f64(),
        false => before == after,
    };
    if is_same {
        return;
    }
    let some = |value: &Value| Some(value.clone()).filter(|it| !it.is_null());
    changes.push(Change {
        path: path.to_vec(),
        before: some(before),
        after: some(after),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\ntie-rule = [\"id\"]\n[[filters]]\nunit = \"memory\"\n[[filters]]\nunit = \"cpu\"\nsettings = { overcommit = 2 }\n[[costs]]\nunit = \"memory\"\nfactor = 1\n[balance]\nunit = \"even-distribution\"\n";

    fn told(after: &str) -> Vec<String> {
        let changes = between(TEXT, after).unwrap();
        changes.iter().map(Change::sentence).collect()
    }

    #[test]
    fn what_differs_is_told_in_words() {
        let after = "tie-rule = [\"fewest-vms\", \"id\"]\nunheeded = \"warn\"\n[[filters]]\nunit = \"memory\"\nenabled = false\n[[filters]]\nunit = \"network\"\n[[costs]]\nunit = \"memory\"\nfactor = 2\nscaling = \"rank\"\n[balance]\nunit = \"even-distribution\"\nsettings = { threshold = 5 }\n[settings]\nhigh = 80\n";
        assert_eq!(
            told(after),
            [
                "filter memory, enabled: on → off",
                "filter cpu: removed",
                "filter network: added",
                "cost memory, factor: 1 → 2",
                "cost memory, scaling: none → rank",
                "balance, setting threshold: not set → 5",
                "setting high of all units: not set → 80",
                "unheeded: refuse → warn",
                "ties: id → fewest-vms, id",
            ]
        );
    }

    #[test]
    fn what_says_the_same_in_other_words_does_not_differ() {
        let after = "tie-rule = [ \"id\" ]\nsearch = \"allowed\"\nfilters = [{ unit = \"memory\", enabled = true, position = \"any\" }, { unit = \"cpu\", settings = { overcommit = 2.0 } }]\ncosts = [{ unit = \"memory\" }]\nbalance = { unit = \"even-distribution\" }\n";
        assert_eq!(told(after), [""; 0]);
        let json = "{\"tie-rule\": [\"id\"], \"filters\": [{\"unit\": \"memory\"}, {\"unit\": \"cpu\", \"settings\": {\"overcommit\": 2}}], \"costs\": [{\"unit\": \"memory\"}], \"balance\": {\"unit\": \"even-distribution\"}}";
        assert_eq!(told(json), [""; 0]);
        assert!(between(TEXT, "= no").is_none());
    }

    #[test]
    fn another_order_and_stages_are_told() {
        let after = TEXT.replace(
            "[[filters]]\nunit = \"memory\"\n[[filters]]\nunit = \"cpu\"\nsettings = { overcommit = 2 }\n",
            "[[filters]]\nunit = \"cpu\"\nsettings = { overcommit = 2 }\n[[filters]]\nunit = \"memory\"\n",
        );
        assert_eq!(
            told(&after),
            ["order of filters: memory, cpu → cpu, memory"]
        );
        let staged = |factor: &str, keep: &str| {
            format!(
                "[[stages]]\nname = \"a\"\ncosts = [{{ unit = \"cpu\", factor = {factor} }}]\nkeep = \"{keep}\"\n"
            )
        };
        let changes = between(&staged("1", "all"), &staged("3", "best")).unwrap();
        let told: Vec<String> = changes.iter().map(Change::sentence).collect();
        assert_eq!(
            told,
            [
                "stage 1, cost cpu, factor: 1 → 3",
                "stage 1, keep: all → best"
            ]
        );
    }

    #[test]
    fn changes_collide_if_they_are_about_the_same_part_and_come_to_another_outcome() {
        let factor = |factor: &str| {
            let after = TEXT.replace("factor = 1", &format!("factor = {factor}"));
            between(TEXT, &after).unwrap().remove(0)
        };
        assert!(factor("2").collides(&factor("3")));
        assert!(!factor("2").collides(&factor("2")));
        let removed = TEXT.replace("[[costs]]\nunit = \"memory\"\nfactor = 1\n", "");
        let removed = between(TEXT, &removed).unwrap().remove(0);
        assert!(removed.collides(&factor("2")) && factor("2").collides(&removed));
        let other = TEXT.replace("overcommit = 2", "overcommit = 3");
        let other = between(TEXT, &other).unwrap().remove(0);
        assert!(!other.collides(&factor("2")));
    }
}
