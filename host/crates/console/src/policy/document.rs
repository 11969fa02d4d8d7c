//! The document of a policy, changed by the fields of a form: what nobody touched stays as it was
//! written, comments too.

use axum::body::Bytes;
use axum::http::HeaderName;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::{amount, keys, rows};
use crate::ask::Sent;
use crate::url::Pairs;
use placewright_http::problem::{Code, Problem};

/// The lists of entries of a policy or a stage.
pub(super) const LISTS: [&str; 4] = ["filters", "costs", "selections", "effects"];

/// What a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Toml,
    Json,
}

impl Language {
    pub(super) fn of(text: &str) -> Self {
        match text.trim_start().starts_with('{') {
            true => Self::Json,
            false => Self::Toml,
        }
    }

    /// The document as a body.
    pub(super) fn sent(self, text: &str, headers: Vec<(HeaderName, String)>) -> Sent<'static> {
        Sent::Document {
            kind: match self {
                Self::Toml => "application/toml",
                Self::Json => "application/json",
            },
            text: Bytes::from(text.to_owned()),
            headers,
        }
    }
}

/// Where an entry of a policy stands, as the names of fields say: the stage, if there are
/// stages; the list; and the number in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) stage: Option<usize>,
    pub(super) list: String,
    pub(super) number: usize,
}

impl Place {
    /// The name of a field about the entry.
    pub(super) fn field(&self, key: &str) -> String {
        let stage = self.stage.map_or("-".to_owned(), |stage| stage.to_string());
        format!("entry/{stage}/{}/{}/{key}", self.list, self.number)
    }

    /// The entry and the key that a field is about.
    pub(super) fn of(name: &str) -> Option<(Self, &str)> {
        let mut parts = name.splitn(5, '/');
        (parts.next()? == "entry").then_some(())?;
        let stage = match parts.next()? {
            "-" => None,
            stage => Some(stage.parse().ok()?),
        };
        let (list, number) = (parts.next()?, parts.next()?.parse().ok()?);
        LISTS.contains(&list).then_some(())?;
        let place = Self {
            stage,
            list: list.to_owned(),
            number,
        };
        Some((place, parts.next()?))
    }
}

/// One of the tables of a list, however the list is written.
pub(super) fn nth(item: &mut Item, number: usize) -> Option<&mut dyn TableLike> {
    match item {
        Item::ArrayOfTables(tables) => tables
            .get_mut(number)
            .map(|table| table as &mut dyn TableLike),
        Item::Value(Value::Array(values)) => {
            let table = values.get_mut(number)?.as_inline_table_mut();
            table.map(|table| table as &mut dyn TableLike)
        }
        _ => None,
    }
}

/// The entry of a document that stands there.
pub(super) fn entry<'d>(
    document: &'d mut DocumentMut,
    place: &Place,
) -> Option<&'d mut dyn TableLike> {
    let list = match place.stage {
        None => document.get_mut(&place.list)?,
        Some(stage) => nth(document.get_mut("stages")?, stage)?.get_mut(&place.list)?,
    };
    nth(list, place.number)
}

/// A value as a field shows it.
pub(super) fn shown(item: &Item) -> Option<String> {
    match item.as_value()? {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(number.value().to_string()),
        Value::Boolean(yes) => Some(yes.value().to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::InlineTable(_) => None,
    }
}

/// What was written into a field, as the document has it.
fn written(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => text.into(),
        },
    }
}

/// The document with what the fields of a form say. One that cannot be read stays as it is: what
/// is wrong with it is told when it is tried.
///
/// # Errors
/// If a field is about an entry that the document does not have.
pub(super) fn with_fields(text: &str, fields: &Pairs) -> Result<String, Problem> {
    if !fields.iter().any(|(name, _)| is_about(name)) {
        return Ok(text.to_owned());
    }
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Ok(text.to_owned());
    };
    for (position, (name, value)) in fields.iter().enumerate() {
        if !is_about(name) {
            continue;
        }
        // A switch that is on comes after the field that says that it is there.
        if fields[position + 1..]
            .iter()
            .any(|(later, _)| later == name)
        {
            continue;
        }
        let changed = match name.starts_with("entry/") {
            true => change(&mut document, name, value.trim()),
            false => keys::change(&mut document, name, value.trim(), fields),
        };
        changed.ok_or_else(|| {
            let sentence = "a field is about a part that the document does not have";
            Problem::new(Code::InvalidParameter, sentence)
        })?;
    }
    tidy(&mut document, fields);
    Ok(document.to_string())
}

/// Take away what has no value any more of the settings that are tables.
fn tidy(document: &mut DocumentMut, fields: &Pairs) {
    for (name, _) in fields {
        let Some((place, key)) = Place::of(name) else {
            keys::tidy(document, name);
            continue;
        };
        if let Some(setting) = rows::setting(key)
            && let Some(entry) = entry(document, &place)
        {
            rows::tidy(entry, setting);
        }
    }
}

/// Whether a field is about a part of the document.
fn is_about(name: &str) -> bool {
    let kinds = ["entry/", "policy/", "stage/", "watch/"];
    kinds.iter().any(|kind| name.starts_with(kind))
}

/// Change what one field is about, if it says something else than the document.
fn change(document: &mut DocumentMut, name: &str, value: &str) -> Option<()> {
    let (place, key) = Place::of(name)?;
    let entry = entry(document, &place)?;
    match key.strip_prefix("settings/") {
        Some(setting) => put_setting(entry, setting, value)?,
        None if key.starts_with(rows::ROWS) => rows::put_cell(entry, key, value)?,
        None if key == "on-failure" && place.list != "effects" => put(entry, key, value, ""),
        None if key == "factor" => put(entry, key, value, "1"),
        None if key == "scaling" && place.list == "costs" => put(entry, key, value, "none"),
        None if key == "tier" && place.list == "costs" => put(entry, key, value, "1"),
        None if key == "position" && place.list == "filters" => put(entry, key, value, "any"),
        // What is neither on nor off stays, unless somebody switches it on.
        None if key == "enabled"
            && value != "on"
            && entry.get(key).is_some_and(|it| it.as_bool().is_none()) => {}
        None if key == "enabled" => put(
            entry,
            key,
            if value == "on" { "true" } else { "false" },
            "true",
        ),
        None => return None,
    }
    Some(())
}

/// Set what a unit is set to, or take it away if the value is empty.
pub(super) fn put_setting(entry: &mut dyn TableLike, name: &str, value: &str) -> Option<()> {
    if entry.get("settings").is_none() {
        if value.is_empty() {
            return Some(());
        }
        entry.insert(
            "settings",
            Item::Value(Value::InlineTable(toml_edit::InlineTable::new())),
        );
    }
    let settings = entry.get_mut("settings")?.as_table_like_mut()?;
    put(settings, name, value, "");
    if settings.is_empty() {
        entry.remove("settings");
    }
    Some(())
}

/// The document of a copy: with the name of that, where it says one.
pub(super) fn renamed(text: &str, name: &str) -> String {
    match Language::of(text) {
        Language::Json => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(mut document) if document.get("name").is_some() => {
                document["name"] = name.into();
                format!("{document:#}")
            }
            _ => text.to_owned(),
        },
        Language::Toml => match text.parse::<DocumentMut>() {
            Ok(mut document) if document.contains_key("name") => {
                document["name"] = toml_edit::value(name);
                document.to_string()
            }
            _ => text.to_owned(),
        },
    }
}

/// Whether a field has the value of the document. Surrounding spaces are ignored; forms end lines
/// with CRLF, and fields of one line have no line breaks.
fn is_same(known: &str, value: &str) -> bool {
    let lines = |text: &str| text.trim().replace("\r\n", "\n");
    let (known, value) = (lines(known), lines(value));
    known == value || known.replace('\n', "") == value
}

/// Put a value under a key, unless the key says that already, or is not there and need not be.
pub(super) fn put(table: &mut dyn TableLike, key: &str, value: &str, usual: &str) {
    let known = table.get(key).and_then(shown);
    if is_same(known.as_deref().unwrap_or(usual), value) {
        return;
    }
    // So is a number that is written otherwise.
    let item = table.get(key);
    let number = item.and_then(|it| it.as_float().or(it.as_integer().map(|it| it as f64)));
    if number.is_some() && number == value.parse().ok() {
        return;
    }
    // Shown in another unit of measure than written, it is the same still.
    let bytes = known.as_deref().and_then(|known| known.parse().ok());
    if bytes.is_some_and(|bytes| amount::bytes(bytes) == value) {
        return;
    }
    if value.is_empty() {
        table.remove(key);
        return;
    }
    let mut new = written(value);
    if let Some(Item::Value(old)) = table.get(key) {
        *new.decor_mut() = old.decor().clone();
    }
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(new),
        None => drop(table.insert(key, Item::Value(new))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\nname = \"a\"\n\n[[filters]]\nunit = \"cpu\" # CPU\nsettings = { overcommit = 2.0 }\n\n[[costs]]\nunit = \"memory\"\nfactor = 2 # twice\n\n[[costs]]\nunit = \"cpu\"\n";

    fn changed(fields: &[(&str, &str)]) -> String {
        let fields = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        with_fields(TEXT, &fields.collect()).unwrap()
    }

    #[test]
    fn a_copy_has_a_name_of_its_own_if_its_document_has_one() {
        assert_eq!(renamed(TEXT, "7"), TEXT.replace("\"a\"", "\"7\""));
        let json = renamed("{\"name\": \"a\", \"costs\": []}", "b");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json, serde_json::json!({"name": "b", "costs": []}));
        for unnamed in ["[[costs]]\nunit = \"a\"\n", "{\"costs\": []}", "{", "x"] {
            assert_eq!(renamed(unnamed, "b"), unnamed);
        }
    }

    #[test]
    fn what_no_field_changes_stays_as_it_was_written() {
        let same = [
            ("entry/-/filters/0/enabled", "off"),
            ("entry/-/filters/0/enabled", "on"),
            ("entry/-/filters/0/settings/overcommit", "2"),
            ("entry/-/filters/0/settings/other", ""),
            ("entry/-/costs/0/factor", "2"),
            ("entry/-/costs/1/factor", "1"),
            ("entry/-/costs/1/scaling", "none"),
            ("entry/-/costs/1/tier", "1"),
            ("entry/-/filters/0/position", "any"),
        ];
        assert_eq!(changed(&same), TEXT);
        let text = "name = \"a\"\ndescription = \"two\\nlines \\n\"\n[[costs]]\nunit = \"cpu\"\nfactor = 1.0e-7\n";
        for description in ["two\r\nlines \r\n", "twolines "] {
            let fields = [
                ("policy/description", description),
                ("entry/-/costs/0/factor", "0.0000001"),
            ];
            let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(with_fields(text, &fields.into()).unwrap(), text);
        }
    }

    #[test]
    fn fields_change_their_entries_and_keep_comments() {
        let text = changed(&[
            ("entry/-/costs/0/factor", "0.8"),
            ("entry/-/costs/1/factor", "3"),
            ("entry/-/filters/0/settings/overcommit", "150 %"),
            ("entry/-/costs/1/settings/margin", "4 GiB"),
            ("entry/-/filters/0/enabled", "off"),
            ("entry/-/filters/0/position", "last"),
            ("entry/-/costs/0/scaling", "rank"),
            ("entry/-/costs/1/tier", "2"),
        ]);
        for written in ["position = \"last\"", "scaling = \"rank\"", "tier = 2"] {
            assert!(text.contains(written), "{written}: {text}");
        }
        assert!(text.contains("factor = 0.8 # twice"), "{text}");
        assert!(text.contains("unit = \"cpu\"\nfactor = 3"), "{text}");
        assert!(text.contains("overcommit = \"150 %\""), "{text}");
        assert!(text.contains("settings = { margin = \"4 GiB\" }"), "{text}");
        assert!(text.contains("enabled = false"), "{text}");
        assert!(text.starts_with("# mine\n"), "{text}");
        assert!(
            changed(&[("entry/-/filters/0/settings/overcommit", "")])
                .contains("# CPU\n\n[[costs]]")
        );
    }

    #[test]
    fn a_switch_leaves_alone_what_is_neither_on_nor_off() {
        let text = "[[costs]]\nunit = \"cpu\"\nenabled = \"maybe\"\n";
        let switched = |to: &str| {
            let fields = vec![("entry/-/costs/0/enabled".to_owned(), to.to_owned())];
            with_fields(text, &fields).unwrap()
        };
        assert_eq!(switched("off"), text);
        assert!(switched("on").contains("enabled = true"));
    }

    #[test]
    fn fields_about_what_is_not_there_are_refused() {
        for name in [
            "entry/-/costs/7/factor",
            "entry/0/costs/0/factor",
            "entry/-/name/0/factor",
            "entry/-/costs/0/unit",
            "entry/-/costs/0/position",
            "entry/-/filters/0/tier",
            "policy/name",
            "stage/0/keep",
            "watch/0/name",
            "entry/x",
        ] {
            let fields = vec![(name.to_owned(), "1".to_owned())];
            assert!(with_fields(TEXT, &fields).is_err(), "{name}");
        }
        // What cannot be read is told of when it is tried.
        let fields = vec![("entry/-/costs/0/factor".to_owned(), "1".to_owned())];
        assert_eq!(with_fields("= no", &fields).unwrap(), "= no");
    }
}
