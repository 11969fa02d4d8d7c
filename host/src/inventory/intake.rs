//! Checks facts against the schema before they are taken in.

use std::sync::Arc;

use super::InventoryError;
use crate::model::schema::{Schema, Source, Table};
use crate::model::{Facts, GREATEST_INTEGER, Value};

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
        .ok_or_else(|| InventoryError::UnknownTable {
            entity: owner.entity,
            id: owner.id.clone(),
            table: name.clone(),
        })
}

/// Check one value of a row of `table`.
pub(super) fn check_value(
    table: &Table,
    owner: Owner<'_>,
    column: &Arc<str>,
    value: &Value,
) -> Result<(), InventoryError> {
    let Owner { entity, id } = owner;
    let (id, column_name) = (id.clone(), column.clone());
    let Some(known) = table.column(column) else {
        return Err(InventoryError::UnknownColumn {
            entity,
            id,
            table: table.name.clone(),
            column: column_name,
        });
    };
    if known.source == Source::Kept {
        return Err(InventoryError::NotGiven {
            entity,
            id,
            column: column_name,
        });
    }
    if known.kind != value.kind() {
        return Err(InventoryError::WrongKind {
            entity,
            id,
            column: column_name,
            wanted: known.kind,
            given: value.kind(),
        });
    }
    match value {
        Value::Integer(value) if value.abs() > GREATEST_INTEGER => {
            Err(InventoryError::OutOfRange {
                entity,
                id,
                column: column_name,
            })
        }
        Value::Number(value) if !value.is_finite() => Err(InventoryError::OutOfRange {
            entity,
            id,
            column: column_name,
        }),
        value => match known.bounds.broken_by(value, known.measure) {
            Some(wanted) => Err(InventoryError::OutOfBounds {
                entity,
                id,
                column: column_name,
                wanted,
            }),
            None => Ok(()),
        },
    }
}
