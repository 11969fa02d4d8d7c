//! The versions of the schema, and the way from one to the next.
//!
//! To change the schema, add `schema/N.sql` and name it in [`MIGRATIONS`]; add
//! `schema/N.rows.sql` with rows as that version holds them, for the test that opens
//! files of every version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::StoreError;

/// From an empty file to version 1, from there to version 2, and so on.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// In the header of the file, to be told from databases of other programs: "PlWr".
const APPLICATION: i64 = 0x506c_5772;

/// Bring the file to the last version, each step in a transaction of its own.
///
/// # Errors
/// If it is of another program, of a later version or damaged, or cannot be written.
pub(super) fn migrate(
    base: &mut Connection,
    file: &Path,
    migrations: &[&str],
) -> Result<(), StoreError> {
    let trouble = |source| StoreError::of(file, source);
    let found = version(base, file)?;
    let known = migrations.len();
    let Some(missing) = usize::try_from(found)
        .ok()
        .and_then(|n| migrations.get(n..))
    else {
        return Err(StoreError::Newer {
            file: file.to_owned(),
            found,
            known: i64::try_from(known).unwrap_or(i64::MAX),
        });
    };
    for (version, sql) in (found + 1..).zip(missing) {
        let step = base
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(trouble)?;
        step.execute_batch(sql).map_err(trouble)?;
        step.pragma_update(None, "user_version", version)
            .map_err(trouble)?;
        step.pragma_update(None, "application_id", APPLICATION)
            .map_err(trouble)?;
        step.commit().map_err(trouble)?;
    }
    Ok(())
}

/// The version of the file; 0 if it is empty.
pub(super) fn version(base: &Connection, file: &Path) -> Result<i64, StoreError> {
    let trouble = |source| StoreError::of(file, source);
    let number = |name| base.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(trouble)?;
    let version = number("user_version").map_err(trouble)?;
    let tables = base.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
    let tables: i64 = tables.map_err(trouble)?;
    let empty = application == 0 && version == 0 && tables == 0;
    if !empty && application != APPLICATION {
        let file = file.to_owned();
        return Err(StoreError::Foreign { file });
    }
    Ok(version)
}
