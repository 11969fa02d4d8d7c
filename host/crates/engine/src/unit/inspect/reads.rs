//! Whether the tables and columns that parts read and write exist.

use std::collections::BTreeSet;

use super::problems::Problems;
use crate::contract::{ColumnRead, Description, Kind, Part, Scope, TableRead, Value, Write};
use placewright_model as model;
use placewright_model::schema::{ATTRIBUTE, Schema, Table};

/// The table of the unit's own settings; what is below it are settings that are
/// tables.
pub(super) const SETTINGS: &str = "settings";

/// How alike a name must be to be suggested, of 1.
const ALIKE: f64 = 0.7;

/// Columns that may be gates stand in these tables.
const GATED: [&str; 2] = ["request", "members"];

pub(super) fn check(
    part: Part,
    tables: &[TableRead],
    description: &Description,
    schema: &Schema,
    problems: &mut Problems,
) {
    let mut found = Problems::default();
    check_all(part, tables, description, schema, &mut found);
    problems.append(part.name(), found);
}

fn check_all(
    part: Part,
    tables: &[TableRead],
    description: &Description,
    schema: &Schema,
    problems: &mut Problems,
) {
    let mut known = BTreeSet::new();
    for read in tables {
        let name = read.table.as_str();
        if !known.insert(name) {
            problems.add(|| format!("the table {} is declared twice", name.escape_debug()));
        }
        if let Some(parent) = read.parent()
            && !known.contains(parent)
        {
            problems.add(|| {
                let (name, parent) = (name.escape_debug(), parent.escape_debug());
                format!(
                    "the table {name} is declared and {parent} is not declared before it; declare {parent}, with no columns if none are of interest"
                )
            });
        }
        if let Some(problem) = misplaced(part, name) {
            problems.add(|| problem);
        }
        let mut columns = BTreeSet::new();
        for column in &read.columns {
            if !columns.insert(&column.column) {
                problems.add(|| {
                    let (name, column) = (name.escape_debug(), column.column.escape_debug());
                    format!("{name}: the column {column} is declared twice")
                });
            }
            if column.gate && !GATED.contains(&name) {
                problems.add(|| {
                    let (name, column) = (name.escape_debug(), column.column.escape_debug());
                    format!("{name}: the column {column} is a gate; only columns of request and members can be")
                });
            }
        }
        match own_settings(name) {
            Some(setting) => check_settings(read, setting, description, problems),
            None => check_table(read, schema, problems),
        }
    }
}

/// `settings` gives none, `settings/NAME` gives the name.
fn own_settings(table: &str) -> Option<Option<&str>> {
    let rest = table.strip_prefix(SETTINGS)?;
    match rest.strip_prefix('/') {
        Some(setting) => Some(Some(setting)),
        None => rest.is_empty().then_some(None),
    }
}

/// Tables that exist for some parts only.
fn misplaced(part: Part, table: &str) -> Option<String> {
    let is =
        |root: &str| table == root || table.strip_prefix(root).is_some_and(|t| t.starts_with('/'));
    let only = if is("candidates") {
        [Part::Selection, Part::Explain].as_slice()
    } else if is("groups/vms") || is("groups/hosts") {
        &[Part::Balance]
    } else {
        return None;
    };
    if only.contains(&part) {
        return None;
    }
    let only: Vec<&str> = only.iter().map(|part| part.name()).collect();
    Some(format!(
        "the table {} exists for the part {} only",
        table.escape_debug(),
        only.join(" or ")
    ))
}

fn check_table(read: &TableRead, schema: &Schema, problems: &mut Problems) {
    let name = read.table.as_str();
    let Some(table) = schema.table(name) else {
        if !is_operators(name) {
            problems.add(|| {
                let known = schema.tables().map(|table| &*table.name).chain([SETTINGS]);
                let meant = did_you_mean(name, known);
                format!("there is no table {}{meant}", name.escape_debug())
            });
        }
        return;
    };
    for column in &read.columns {
        check_column(column, table, problems);
    }
}

fn check_column(read: &ColumnRead, table: &Table, problems: &mut Problems) {
    let name = read.column.as_str();
    let Some(column) = table.column(name) else {
        if !name.starts_with(ATTRIBUTE) {
            problems.add(|| {
                let known = table.columns.iter().map(|column| &*column.name);
                let (table, meant) = (&table.name, did_you_mean(name, known));
                format!(
                    "{table}: there is no column {}{meant}; `placewright columns --table {table}` lists them",
                    name.escape_debug()
                )
            });
        }
        return;
    };
    same_kind(&table.name, name, column.kind, read.kind, problems);
}

fn same_kind(table: &str, column: &str, is: model::Kind, declared: Kind, problems: &mut Problems) {
    let declared = model::Kind::from(declared);
    if declared != is {
        problems.add(|| {
            format!(
                "{table}: the column {column} is of kind {is} and is declared as {declared}; read it as {is}"
            )
        });
    }
}

/// What an operator defines is only known when a policy uses the unit.
fn is_operators(table: &str) -> bool {
    table
        .split('/')
        .skip(1)
        .any(|name| name.starts_with(ATTRIBUTE))
}

fn check_settings(
    read: &TableRead,
    setting: Option<&str>,
    description: &Description,
    problems: &mut Problems,
) {
    let columns: Vec<(&str, Kind)> = match setting {
        None => description
            .settings
            .iter()
            .filter(|setting| setting.columns.is_empty())
            .map(|setting| (setting.name.as_str(), setting.kind))
            .collect(),
        Some(name) => {
            let table = description
                .settings
                .iter()
                .find(|setting| setting.name == name && !setting.columns.is_empty());
            let Some(table) = table else {
                return problems.add(|| {
                    let (table, name) = (read.table.escape_debug(), name.escape_debug());
                    format!(
                        "the table {table} is read and there is no setting {name} that is a table"
                    )
                });
            };
            let columns = table.columns.iter();
            columns
                .map(|column| (column.name.as_str(), column.kind))
                .collect()
        }
    };
    for column in &read.columns {
        match columns.iter().find(|(name, _)| *name == column.column) {
            Some((name, kind)) => {
                same_kind(&read.table, name, (*kind).into(), column.kind, problems);
            }
            None => problems.add(|| {
                let meant = did_you_mean(&column.column, columns.iter().map(|(name, _)| *name));
                let (table, column) = (&read.table, column.column.escape_debug());
                format!("{table}: there is no setting {column}{meant}")
            }),
        }
    }
}

/// Hold what a part writes against the schema.
pub(super) fn check_writes(part: Part, writes: &[Write], schema: &Schema, problems: &mut Problems) {
    let mut found = Problems::default();
    for write in writes {
        check_write(part, write, schema, &mut found);
    }
    problems.append(part.name(), found);
}

fn check_write(part: Part, write: &Write, schema: &Schema, problems: &mut Problems) {
    if part == Part::Balance && write.scope != Scope::Vm {
        problems.add(|| {
            format!(
                "{} is written in another scope than vm; a move writes only for its VM",
                write.table.escape_debug()
            )
        });
    }
    let parent = match write.scope {
        Scope::Placement => "hosts/vms",
        Scope::Vm => "members",
        Scope::Tenant => "tenant",
        Scope::Host => "hosts",
        Scope::Cluster => "cluster",
    };
    let name = format!("{parent}/{}", write.table);
    let Some(table) = schema.table(&name) else {
        if !write.table.starts_with(ATTRIBUTE) {
            problems.add(|| {
                let known = schema.children(parent).map(|table| table.short_name());
                let meant = did_you_mean(&write.table, known);
                format!("there is no table {} to write{meant}", name.escape_debug())
            });
        }
        return;
    };
    for (column, kind) in &write.columns {
        let read = ColumnRead {
            column: column.clone(),
            kind: *kind,
            required: false,
            gate: false,
        };
        check_column(&read, table, problems);
    }
}

/// The one of the known names that is most alike, if any is. Names are compared character by
/// character: they must be within the bounds of the contract.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or_else(String::new, |(_, known)| {
            format!(" (did you mean {known}?)")
        })
}

/// The kind that a value of the contract is of.
pub(super) fn kind_of(value: &Value) -> model::Kind {
    model::Value::from(value).kind()
}
