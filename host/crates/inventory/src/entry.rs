//! What became of each entry of a document of changes.

use std::sync::Arc;

use serde::Serialize;

use super::InventoryError;
use placewright_document::Missing;

/// What an entry of a document of changes is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    Tenant,
    Host,
    Statistics,
    Vm,
    Group,
    /// A VM that is to be there no more.
    GoneVm,
    /// A group that is to be there no more.
    GoneGroup,
    /// A host that is to be there no more.
    GoneHost,
    /// A tenant that is to be there no more.
    GoneTenant,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryOutcome {
    /// It was carried out.
    Applied,
    /// What it is about is not there: it was passed over.
    Missing,
    /// What was measured later is known already: it was passed over.
    Outdated,
}

/// What became of one entry of a document of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EntryResult {
    pub kind: EntryKind,
    /// Id of what it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: Arc<str>,
    pub result: EntryOutcome,
}

/// What became of the entries so far.
pub(super) struct Results {
    missing: Missing,
    /// Empty where entries about what is not there refuse the whole.
    pub(super) list: Vec<EntryResult>,
}

impl Results {
    pub(super) fn new(missing: Missing) -> Self {
        Self {
            missing,
            list: Vec::new(),
        }
    }

    /// An entry was carried out, or not.
    ///
    /// # Errors
    /// Whatever it failed with, unless what is missing is ignored.
    pub(super) fn take(
        &mut self,
        kind: EntryKind,
        id: Arc<str>,
        outcome: Result<(), InventoryError>,
    ) -> Result<(), InventoryError> {
        let is_there = match outcome {
            Ok(()) => true,
            Err(error) if self.missing == Missing::Refuse || !error.is_about_missing() => {
                return Err(error);
            }
            Err(_) => false,
        };
        self.note(kind, id, is_there);
        Ok(())
    }

    /// What an entry is about was there, or not.
    pub(super) fn note(&mut self, kind: EntryKind, id: Arc<str>, is_there: bool) {
        let result = match is_there {
            true => EntryOutcome::Applied,
            false => EntryOutcome::Missing,
        };
        self.push(EntryResult { kind, id, result });
    }

    /// What was measured of a host was taken in, or is older than what is known.
    pub(super) fn measured(&mut self, id: Arc<str>, is_taken: bool) {
        let kind = EntryKind::Statistics;
        let result = match is_taken {
            true => EntryOutcome::Applied,
            false => EntryOutcome::Outdated,
        };
        self.push(EntryResult { kind, id, result });
    }

    fn push(&mut self, result: EntryResult) {
        if self.missing == Missing::Ignore {
            self.list.push(result);
        }
    }
}
