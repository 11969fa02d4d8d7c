//! Rows of the schema's tables.

use serde_json::{Map, Value as Json, json};

use super::{Contract, reference};
use crate::json_schema::{closed, described, example, list, one_line, value};
use placewright_model::schema::{Column, Schema, Source, Table, attribute_entity};
use placewright_model::{Kind, Measure};

/// Columns of which clients of this version know all words as a type of its own.
const WORDS_FROM_THE_BEGINNING: &[(&str, &str)] = &[("hosts", "state")];

/// How a row stands in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As people write it: amounts may be texts.
    Written,
    /// As what is different: whatever may be missing may be null, too.
    Changed,
    /// As a server shows it, with what it works out: amounts are numbers.
    Shown,
}

impl Contract {
    /// A row of `table` with `properties` besides its columns and the tables below it. What it
    /// is called begins with `noun`, and so do the names of what is below it.
    pub(super) fn row(
        &mut self,
        table: &str,
        noun: &str,
        form: Form,
        properties: Map<String, Json>,
        required: Vec<&str>,
    ) -> Json {
        let schema = Schema::built_in();
        let mut all = Map::new();
        for column in columns(schema.table(table).map(|it| &**it), form) {
            let schema = match column.choices {
                [] => {
                    let sums = form == Form::Shown && may_be_sum(column, table);
                    column_schema(column, form, sums)
                }
                choices if !WORDS_FROM_THE_BEGINNING.contains(&(table, &*column.name)) => {
                    open_words(column, choices)
                }
                choices => {
                    let name = format!("{noun}{}", self::noun(&column.name));
                    let words = json!({ "type": "string", "enum": choices });
                    let words = self.add(&name, described(words, &column.meaning));
                    described(words, &column.meaning)
                }
            };
            all.insert(column.name.to_string(), schema);
            if let Some(key) = column.rfc3339_key() {
                all.insert(key.into_owned(), same_time(form));
            }
        }
        for below in schema.children(table).filter(|it| is_given(it)) {
            let rows = list(self.row_below(below, noun, form));
            let name = below.short_name().to_owned();
            all.insert(name, described(rows, &below.meaning));
        }
        all.extend(properties);
        if form == Form::Changed {
            nullable(&mut all, &required);
        }
        let mut row = closed(all, required);
        if attribute_entity(table).is_some() {
            row["additionalProperties"] = described(
                json!({}),
                "Attributes that the deployment adds, each under `attribute.NAME`",
            );
        }
        row
    }

    /// The schema of a row of a table that stands below another one.
    fn row_below(&mut self, table: &Table, above: &str, form: Form) -> Json {
        let noun = format!("{above}{}", noun(table.short_name()));
        // A row below another one is given as a whole.
        let form = match form {
            Form::Changed => Form::Written,
            form => form,
        };
        let needed = || {
            let columns = columns(Some(table), Form::Written);
            let needed = columns.filter(|it| !it.optional && it.source == Source::Given);
            needed.map(|it| &*it.name).collect::<Vec<_>>()
        };
        // A server shows each of these times after RFC 3339, too.
        let times = table
            .columns
            .iter()
            .filter(|it| needed().contains(&&*it.name));
        let times: Vec<_> = times.filter_map(Column::rfc3339_key).collect();
        let shown_always = needed().into_iter().chain(times.iter().map(|it| &**it));
        let shown_always = shown_always.collect();
        let shown = self.row(&table.name, &noun, Form::Shown, Map::new(), shown_always);
        let shown = described(without_computed(shown, table), &sentence(&table.meaning));
        if form == Form::Shown {
            return self.add(&noun, shown);
        }
        let written = self.row(&table.name, &noun, form, Map::new(), needed());
        let written = described(written, &sentence(&table.meaning));
        match written == shown {
            true => self.add(&noun, shown),
            false => self.add(&format!("{noun}Document"), written),
        }
    }
}

/// Rows of it stand in documents.
fn is_given(table: &Table) -> bool {
    table.source != Source::Kept
}

fn columns(table: Option<&Table>, form: Form) -> impl Iterator<Item = &Column> {
    let columns = table.into_iter().flat_map(|table| &table.columns);
    columns.filter(move |column| form == Form::Shown || column.source != Source::Kept)
}

/// Rows below others are shown as they were given.
fn without_computed(mut row: Json, table: &Table) -> Json {
    let computed = table.columns.iter().filter(|it| it.source == Source::Kept);
    for column in computed {
        if let Some(properties) = row["properties"].as_object_mut() {
            properties.remove(&*column.name);
            if let Some(key) = column.rfc3339_key() {
                properties.remove(&*key);
            }
        }
    }
    row
}

/// The schema of a column. `sums`: it may hold what others add up to.
fn column_schema(column: &Column, form: Form, sums: bool) -> Json {
    let mut schema = value(column.kind, column.measure, column.bounds, column.choices);
    if sums {
        without_limits(&mut schema, column);
    }
    if column.kind == Kind::Text && &*column.name == "name" && column.source == Source::Given {
        schema = one_line(schema);
    }
    let mut meaning = column.meaning.to_string();
    if let Some(measure) = column.measure {
        let texts = form != Form::Shown;
        meaning = format!("{meaning}; {}", unit(measure));
        let example = example(measure, column.kind);
        match texts {
            true => {
                meaning = format!("{meaning}, or a text such as {}", measure.example());
                schema["examples"] = json!([example]);
            }
            false => {
                schema["type"] = schema["type"][0].take();
                schema["examples"] = json!([example]);
                if let Some(schema) = schema.as_object_mut() {
                    schema.remove("pattern");
                }
            }
        }
    }
    if let Some(example) = given_example(column) {
        schema["examples"] = json!([example]);
    }
    described(schema, &meaning)
}

/// Whether a server shows more in a column than was given. Rows below others are shown as they were
/// given.
fn may_be_sum(column: &Column, table: &str) -> bool {
    match column.source {
        Source::Given => false,
        Source::Added => attribute_entity(table).is_some(),
        Source::Kept => true,
    }
}

/// Sums of what is given may be more than any value that is given, so that bounds of the column
/// alone are said of them.
fn without_limits(schema: &mut Json, column: &Column) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    if column.bounds.least.is_none() {
        schema.remove("minimum");
    }
    if column.bounds.greatest.is_none() {
        schema.remove("maximum");
    }
    schema.remove("maxLength");
}

/// A text of which these words alone are taken. Clients of this version may have been made when
/// the description allowed any text.
fn open_words(column: &Column, words: &[&str]) -> Json {
    let either = json!({ "anyOf": [
        { "type": "string", "enum": words },
        { "type": "string" },
    ] });
    let mut either = described(either, &column.meaning);
    if let Some(example) = given_example(column) {
        either["examples"] = json!([example]);
    }
    either
}

/// The example that the column's declaration gives.
fn given_example(column: &Column) -> Option<Json> {
    match (column.example, column.kind) {
        ("", _) => None,
        (text, Kind::Text) => Some(text.into()),
        (number, _) => serde_json::from_str(number).ok(),
    }
}

/// A time after RFC 3339, which stands beside the same in seconds.
fn same_time(form: Form) -> Json {
    let meaning = match form {
        Form::Shown => "The same time",
        Form::Written | Form::Changed => {
            "The same time, as servers show it beside; where both are given, they must be the same"
        }
    };
    described(time_schema(), meaning)
}

/// The schema of a time after RFC 3339.
pub(super) fn time_schema() -> Json {
    json!({ "type": "string", "format": "date-time" })
}

/// What a number of that measure counts.
pub(super) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes => "in bytes",
        Measure::Millicores => "in cores",
        Measure::Seconds => "in seconds",
        Measure::Time => "in seconds since 1970-01-01 UTC",
        Measure::Fraction => "a fraction, 1 is all of it",
        Measure::Percent => "in percent",
    }
}

/// Whatever is not required may be null.
pub(super) fn nullable(properties: &mut Map<String, Json>, required: &[&str]) {
    for (name, schema) in properties {
        if required.contains(&&**name) {
            continue;
        }
        let is_word = schema.get("enum").is_some();
        // Of words that are open the other texts.
        let last = schema.get_mut("anyOf").and_then(Json::as_array_mut);
        if let Some(last) = last.and_then(|either| either.last_mut())
            && last["type"] == "string"
        {
            last["type"] = json!(["string", "null"]);
            continue;
        }
        match schema.get_mut("type") {
            Some(Json::String(kind)) if !is_word => schema["type"] = json!([kind, "null"]),
            Some(Json::Array(kinds)) => kinds.push("null".into()),
            _ => {
                let meaning = schema
                    .as_object_mut()
                    .and_then(|it| it.remove("description"));
                let mut either = json!({ "anyOf": [schema.take(), { "type": "null" }] });
                if let Some(meaning) = meaning {
                    either["description"] = meaning;
                }
                *schema = either;
            }
        }
    }
}

/// An object whose optional keys may be null. Null is the same as a missing key, except where a
/// running VM is placed again: there it removes the value.
pub(super) fn or_null(mut object: Json) -> Json {
    let required = object.get("required").cloned().unwrap_or_default();
    let required: Vec<&str> = required
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    if let Some(properties) = object["properties"].as_object_mut() {
        nullable(properties, &required);
    }
    object
}

/// One of what a table has rows of: `NumaNode` for `numa-nodes`.
fn noun(table: &str) -> String {
    let one = match table {
        "usage" => table,
        several => several.strip_suffix('s').unwrap_or(several),
    };
    let words = one.split(['-', '.']);
    words.map(capital).collect()
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// What each row of a table is said to be.
fn sentence(meaning: &str) -> String {
    format!("One of: {}", crate::form::lower_first(meaning))
}

/// A list of what that name stands for.
pub(super) fn list_of(name: &str) -> Json {
    list(reference(name))
}
