//! Checks facts against the schema before they are taken in.

use std::borrow::Cow;
use std::sync::Arc;

use super::InventoryError;
use placewright_model::schema::{Column, Schema, Source, Table};
use placewright_model::{Facts, GREATEST_INTEGER, Value};

/// Whose facts are checked, for the error.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) entity: &'static str,
    pub(super) id: &'a Arc<str>,
}

/// Check the facts of one row of `table`, and of all rows below it.
pub(super) fn check(
    schema: &Schema,
    table: &Table,
    owner: Owner<'_>,
    facts: &Facts,
) -> Result<(), InventoryError> {
    for (column, value) in facts.values() {
        check_value(table, owner, column, value)?;
    }
    check_tables(schema, table, owner, facts)
}

/// The same of facts that are to stay. From then on columns go by the schema's own copy of
/// their names: one for all rows, where each would else bring copies of its own.
pub(super) fn take_in(
    schema: &Schema,
    table: &Table,
    owner: Owner<'_>,
    facts: &mut Facts,
) -> Result<(), InventoryError> {
    for (column, value) in facts.values_mut() {
        if let Cow::Borrowed(known) = check_value(table, owner, column, value)? {
            column.clone_from(&known.name);
        }
    }
    check_tables(schema, table, owner, facts)
}

fn check_tables(
    schema: &Schema,
    table: &Table,
    owner: Owner<'_>,
    facts: &Facts,
) -> Result<(), InventoryError> {
    for (name, rows) in facts.tables() {
        let below = child(schema, table, owner, name)?;
        for row in rows {
            check(schema, below, owner, row)?;
        }
    }
    Ok(())
}

/// The table `name` below `table`, if its rows may be given.
pub(super) fn child<'a>(
    schema: &'a Schema,
    table: &Table,
    owner: Owner<'_>,
    name: &Arc<str>,
) -> Result<&'a Arc<Table>, InventoryError> {
    schema
        .table(&format!("{}/{name}", table.name))
        .filter(|below| below.source != Source::Kept)
        .ok_or_else(|| unknown_table(owner, name))
}

pub(super) fn unknown_table(owner: Owner<'_>, name: &Arc<str>) -> InventoryError {
    InventoryError::UnknownTable {
        entity: owner.entity,
        id: owner.id.clone(),
        table: name.clone(),
    }
}

/// Check that a new row of `table` has what it must have.
pub(super) fn check_complete(
    table: &Table,
    owner: Owner<'_>,
    row: &Facts,
) -> Result<(), InventoryError> {
    let missing = table.columns.iter().find(|column| {
        !column.optional && column.source == Source::Given && row.get(&column.name).is_none()
    });
    match missing {
        Some(column) => Err(InventoryError::Missing {
            entity: owner.entity,
            id: owner.id.clone(),
            table: table.short_name().into(),
            column: column.name.clone(),
        }),
        None => Ok(()),
    }
}

/// The column of that name, if its values may be given.
pub(super) fn check_column<'a>(
    table: &'a Table,
    owner: Owner<'_>,
    column: &Arc<str>,
) -> Result<Cow<'a, Column>, InventoryError> {
    let Owner { entity, id } = owner;
    let Some(known) = table.column(column) else {
        return Err(InventoryError::UnknownColumn {
            entity,
            id: id.clone(),
            table: table.name.clone(),
            column: column.clone(),
        });
    };
    if known.source == Source::Kept {
        return Err(InventoryError::NotGiven {
            entity,
            id: id.clone(),
            column: of_table(table, column),
        });
    }
    Ok(known)
}

/// What a sentence calls a column: that of a nested table with the table.
fn of_table(table: &Table, column: &Arc<str>) -> Arc<str> {
    match table.parent() {
        Some(_) => format!("{column} in {}", table.short_name()).into(),
        None => column.clone(),
    }
}

/// Check one value of a row of `table`. The column that it is a value of.
pub(super) fn check_value<'a>(
    table: &'a Table,
    owner: Owner<'_>,
    column: &Arc<str>,
    value: &Value,
) -> Result<Cow<'a, Column>, InventoryError> {
    let known = check_column(table, owner, column)?;
    let Owner { entity, id } = owner;
    // The names are for the error: values come in with every request.
    let names = || (id.clone(), of_table(table, column));
    if known.kind != value.kind() {
        let (id, column) = names();
        return Err(InventoryError::WrongKind {
            entity,
            id,
            column,
            wanted: known.kind,
            given: value.kind(),
        });
    }
    let is_in_range = match value {
        Value::Integer(value) => value.unsigned_abs() <= GREATEST_INTEGER as u64,
        Value::Number(value) => value.is_finite(),
        _ => true,
    };
    if !is_in_range {
        let (id, column) = names();
        return Err(InventoryError::OutOfRange { entity, id, column });
    }
    match known.bounds.broken_by(value, known.measure) {
        Some(wanted) => {
            let (id, column) = names();
            Err(InventoryError::OutOfBounds {
                entity,
                id,
                column,
                wanted,
            })
        }
        None => Ok(known),
    }
}
