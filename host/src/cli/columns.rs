//! `placewright columns`: the schema, for authors of units and documents.

use std::fmt::Write;

use clap::{Args, ValueEnum};
use placewright_document::nearest;
use placewright_model::schema::{Column, Rows, Schema, Source, Table};
use serde::Serialize;

use super::failure::{Answer, Failure};
use super::output;

/// Show the tables and columns that units can read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright columns --table hosts
  placewright columns --format json
  placewright columns --format markdown > columns.md")]
pub(super) struct Columns {
    /// Only this table, for example hosts or hosts/vms
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: ColumnsFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ColumnsFormat {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
    /// For documentation
    Markdown,
}

impl Columns {
    /// Print them.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let schema = Schema::built_in();
        let tables: Vec<&Table> = match &self.table {
            None => schema.tables().map(|table| &**table).collect(),
            Some(name) => vec![schema.table(name).ok_or_else(|| unknown(schema, name))?],
        };
        match self.format {
            ColumnsFormat::Json => {
                output::print_json(&tables.into_iter().map(TableShown::new).collect::<Vec<_>>())?;
            }
            ColumnsFormat::Table => output::print(&for_people(&tables))?,
            ColumnsFormat::Markdown => output::print(&markdown(&tables))?,
        }
        Ok(Answer::Yes)
    }
}

fn unknown(schema: &Schema, name: &str) -> Failure {
    let names = schema.tables().map(|table| &*table.name);
    let hint = nearest(name, names)
        .map_or("; run placewright columns to see all".to_owned(), |near| {
            format!(" (did you mean \"{near}\"?)")
        });
    Failure::input_because(format!("there is no table \"{name}\"{hint}"))
}

/// A table as programs read it.
#[derive(Serialize)]
struct TableShown<'a> {
    name: &'a str,
    rows: &'static str,
    relation: bool,
    source: &'static str,
    meaning: &'a str,
    columns: Vec<ColumnShown<'a>>,
}

/// A column as programs read it.
#[derive(Serialize)]
struct ColumnShown<'a> {
    name: &'a str,
    kind: String,
    measure: Option<&'static str>,
    optional: bool,
    source: &'static str,
    least: Option<f64>,
    greatest: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    choices: &'a [&'static str],
    meaning: &'a str,
}

impl<'a> TableShown<'a> {
    fn new(table: &'a Table) -> Self {
        Self {
            name: &table.name,
            rows: match table.rows {
                Rows::One => "one",
                Rows::Optional => "optional",
                Rows::Many => "many",
            },
            relation: table.relation,
            source: source(table.source),
            meaning: &table.meaning,
            columns: table.columns.iter().map(ColumnShown::new).collect(),
        }
    }
}

impl<'a> ColumnShown<'a> {
    fn new(column: &'a Column) -> Self {
        Self {
            name: &column.name,
            kind: column.kind.to_string(),
            measure: column.measure.map(|measure| measure.name()),
            optional: column.optional,
            source: source(column.source),
            least: column.bounds.least,
            greatest: column.bounds.greatest,
            choices: column.choices,
            meaning: &column.meaning,
        }
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Given => "given",
        Source::Added => "added",
        Source::Kept => "kept",
    }
}

const LEGEND: &str = "\
Columns marked ? may be absent. given: by documents, requests and updates; added: given, and what
the VMs add up to is added to it; kept: worked out by the runtime. A relation exists for the request
at hand.";

fn about(table: &Table) -> String {
    let rows = match table.rows {
        Rows::One => "one row",
        Rows::Optional => "one row or none",
        Rows::Many => "any number of rows",
    };
    let relation = if table.relation { ", a relation" } else { "" };
    format!("{} ({rows}{relation})", table.meaning)
}

/// What stands in the lines of both printed forms.
fn line(column: &Column) -> [String; 5] {
    let absent = if column.optional { "?" } else { "" };
    [
        format!("{}{absent}", column.name),
        column.kind.to_string(),
        column
            .measure
            .map_or(String::new(), |measure| measure.to_string()),
        source(column.source).to_owned(),
        column.meaning.to_string(),
    ]
}

const HEADINGS: [&str; 5] = ["column", "kind", "measure", "source", "meaning"];

fn for_people(tables: &[&Table]) -> String {
    let mut text = String::new();
    for table in tables {
        let mut shown = output::table(&HEADINGS);
        shown.add_rows(table.columns.iter().map(line));
        let _ = write!(
            text,
            "{}: {}\n{}\n\n",
            table.name,
            about(table),
            output::shown(&shown)
        );
    }
    text + LEGEND
}

fn markdown(tables: &[&Table]) -> String {
    let mut text = String::new();
    for table in tables {
        let _ = write!(text, "## `{}`\n\n{}.\n\n", table.name, about(table));
        let _ = writeln!(text, "| {} |\n|---|---|---|---|---|", HEADINGS.join(" | "));
        for column in &table.columns {
            let [name, kind, measure, source, meaning] = line(column);
            let meaning = meaning.replace('|', "\\|");
            let _ = writeln!(
                text,
                "| `{name}` | {kind} | {measure} | {source} | {meaning} |"
            );
        }
        text.push('\n');
    }
    text + LEGEND
}
