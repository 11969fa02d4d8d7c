//! Which entries of a document of changes are refused, and why.

use std::fmt;
use std::sync::Arc;

use super::InventoryError;
use super::entry::EntryKind;
use placewright_document::{grouped, shown};

/// So many entries are kept with what is wrong with them, those that come first. Others are only
/// counted.
const MOST: usize = 100;

/// A sentence names so many entries.
const NAMED: usize = 5;

/// An entry of a document of changes that does not go together with the cluster as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedEntry {
    /// Of which kind it is.
    pub kind: EntryKind,
    /// Its position in its list, counted from 0.
    pub position: usize,
    /// Id of what it is about.
    pub id: Arc<str>,
    /// What is wrong with it.
    pub why: Box<InventoryError>,
}

/// Entries of one list that are refused: one at least, and those that come first are told. Lists
/// after that one were not looked at, since what is in them may depend on these.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedEntries {
    first: RefusedEntry,
    others: Vec<RefusedEntry>,
    /// How many are refused besides.
    more: usize,
}

impl RefusedEntry {
    /// The way to it: `vms[17]`.
    pub fn path(&self) -> String {
        format!("{}[{}]", self.kind.list(), self.position)
    }
}

impl fmt::Display for RefusedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = self.why.to_string();
        // Which one it is about is said already.
        let is_about = format!("\"{}\": ", self.id);
        let sentence = match sentence.split_once(&is_about) {
            Some((noun, rest)) if !noun.trim_end().contains(' ') => rest,
            _ => &sentence,
        };
        write!(f, "{} \"{}\": {sentence}", self.path(), shown(&self.id))
    }
}

impl RefusedEntries {
    /// The entries that are told, in the order of their list.
    pub fn iter(&self) -> impl Iterator<Item = &RefusedEntry> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The first one.
    pub fn first(&self) -> &RefusedEntry {
        &self.first
    }

    pub(super) fn into_first(self) -> RefusedEntry {
        self.first
    }

    /// How many are refused besides those that are told.
    pub fn more(&self) -> usize {
        self.more
    }
}

impl fmt::Display for RefusedEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.iter().take(NAMED).enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(f, "{between}{entry}")?;
        }
        match (1 + self.others.len() + self.more).saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "; and {} more", grouped(more)),
        }
    }
}

impl std::error::Error for RefusedEntries {}

/// Entries of the list that is being carried out which were refused so far.
#[derive(Debug, Default)]
pub(super) struct Refusals(Option<RefusedEntries>);

impl Refusals {
    pub(super) fn add(&mut self, entry: RefusedEntry) {
        let Some(refused) = &mut self.0 else {
            self.0 = Some(RefusedEntries {
                first: entry,
                others: Vec::new(),
                more: 0,
            });
            return;
        };
        match 1 + refused.others.len() < MOST {
            true => refused.others.push(entry),
            false => refused.more += 1,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// That none was refused.
    ///
    /// # Errors
    /// Those that were.
    pub(super) fn check(&mut self) -> Result<(), InventoryError> {
        match self.0.take() {
            Some(refused) => Err(refused.into()),
            None => Ok(()),
        }
    }
}
