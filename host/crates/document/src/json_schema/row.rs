//! Rows of the schema's tables as objects. A dotted name stands as it is, and as
//! objects in each other.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::{closed, described, list, value};
use placewright_model::schema::{Column, Schema, Source, Table, attribute_entity};

/// Names by their parts: `cpu` to `total` and `usage`, each with what stands
/// there.
#[derive(Default)]
struct Names {
    schema: Option<Json>,
    longer: BTreeMap<String, Names>,
}

impl Names {
    fn insert(&mut self, name: &str, schema: &Json) {
        let mut at = self;
        for part in name.split('.') {
            at = at.longer.entry(part.to_owned()).or_default();
        }
        at.schema = Some(schema.clone());
    }

    fn into_schema(self) -> Json {
        let nested = (!self.longer.is_empty()).then(|| {
            let longer = self.longer.into_iter();
            closed(
                longer
                    .map(|(part, names)| (part, names.into_schema()))
                    .collect(),
                Vec::new(),
            )
        });
        match (self.schema, nested) {
            (Some(schema), None) | (None, Some(schema)) => schema,
            (Some(schema), Some(nested)) => json!({ "anyOf": [schema, nested] }),
            (None, None) => json!({}),
        }
    }
}

/// A row of `table` in a document, which has `properties` besides its columns and
/// the tables below it.
pub fn row(
    schema: &Schema,
    table: &str,
    properties: Map<String, Json>,
    required: Vec<&str>,
) -> Json {
    let mut all = columns_and_tables(schema, table);
    all.extend(properties);
    let mut object = closed(all, required);
    let mut patterns = Map::new();
    if attribute_entity(table).is_some() {
        patterns.insert("^attribute(\\.|$)".to_owned(), json!({}));
    }
    if table == "hosts" {
        patterns.insert("^watch(\\.|$)".to_owned(), json!({}));
    }
    if !patterns.is_empty() {
        object["patternProperties"] = patterns.into();
    }
    object
}

fn columns_and_tables(schema: &Schema, table: &str) -> Map<String, Json> {
    let mut names = Names::default();
    let mut flat = Map::new();
    let columns = schema.table(table).into_iter();
    let columns = columns.flat_map(|table| &table.columns);
    for column in columns.filter(|column| column.source != Source::Kept) {
        let schema = column_schema(column);
        names.insert(&column.name, &schema);
        if column.name.contains('.') {
            flat.insert(column.name.to_string(), schema);
        }
        if let Some(key) = column.rfc3339_key() {
            let meaning = "The same time after RFC 3339, as servers show it beside";
            let time = described(json!({ "type": "string" }), meaning);
            names.insert(&key, &time);
        }
    }
    let mut properties: Map<String, Json> = names
        .longer
        .into_iter()
        .map(|(part, names)| (part, names.into_schema()))
        .collect();
    properties.extend(flat);
    properties.extend(below(schema, table));
    properties
}

fn column_schema(column: &Column) -> Json {
    described(
        value(column.kind, column.measure, column.bounds, column.choices),
        &column.meaning,
    )
}

/// The tables below `table` that documents give, as lists of rows.
fn below(schema: &Schema, table: &str) -> Map<String, Json> {
    schema
        .children(table)
        .filter(|below| below.source != Source::Kept)
        .map(|below| {
            let rows = list(row(schema, &below.name, Map::new(), needed(below)));
            (
                below.short_name().to_owned(),
                described(rows, &below.meaning),
            )
        })
        .collect()
}

/// The columns that a row below another one must have, as far as an object can
/// say so: a dotted name may be written in two ways.
fn needed(table: &Table) -> Vec<&str> {
    let columns = table.columns.iter().filter(|column| {
        !column.optional && column.source == Source::Given && !column.name.contains('.')
    });
    columns.map(|column| &*column.name).collect()
}
