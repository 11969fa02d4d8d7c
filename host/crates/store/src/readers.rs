//! Connections that read beside the writer, each on a state as it was committed.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::file;

/// How many connections for reading are kept open: queries are short, and each
/// connection keeps some memory.
const KEPT: usize = 2;

/// Connections that only read.
#[derive(Debug, Default)]
pub(super) struct Readers(Mutex<Vec<Connection>>);

impl Readers {
    /// Run `query` on one state of `file`, however many statements it runs.
    pub(super) fn read<T>(
        &self,
        file: &Path,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let kept = self.kept().pop();
        let base = kept.map_or_else(|| file::reader(file), Ok)?;
        let state = base.unchecked_transaction()?;
        let found = query(&state)?;
        state.finish()?;
        let mut kept = self.kept();
        if kept.len() < KEPT {
            kept.push(base);
        }
        Ok(found)
    }

    /// Close all that are kept.
    pub(super) fn clear(&self) {
        self.kept().clear();
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
