//! What became of each entry of a document of changes.

use std::sync::Arc;

use serde::Serialize;

use super::InventoryError;
use super::refused::{Refusals, RefusedEntry};
use placewright_document::Missing;

/// What an entry of a document of changes is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A tenant.
    Tenant,
    /// A host.
    Host,
    /// What was measured of a host.
    Statistics,
    /// A VM.
    Vm,
    /// A group of VMs.
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

impl EntryKind {
    /// The list of the document in which such entries stand.
    pub fn list(self) -> &'static str {
        match self {
            Self::Tenant => "tenants",
            Self::Host => "hosts",
            Self::Statistics => "statistics",
            Self::Vm => "vms",
            Self::Group => "groups",
            Self::GoneVm => "gone.vms",
            Self::GoneGroup => "gone.groups",
            Self::GoneHost => "gone.hosts",
            Self::GoneTenant => "gone.tenants",
        }
    }
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
    /// Of which kind it is.
    pub kind: EntryKind,
    /// Id of what it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-1"))]
    pub id: Arc<str>,
    /// What became of it.
    pub result: EntryOutcome,
}

/// What became of the entries so far.
pub(super) struct Results {
    missing: Missing,
    /// Those of the list that is being carried out which are refused.
    refused: Refusals,
    /// Empty where entries about what is not there refuse the whole.
    pub(super) list: Vec<EntryResult>,
}

impl Results {
    pub(super) fn new(missing: Missing) -> Self {
        Self {
            missing,
            refused: Refusals::default(),
            list: Vec::new(),
        }
    }

    /// An entry was carried out, or not. What it failed with is told with that of others of its
    /// list, by [`Results::end_list`], unless what is missing is ignored.
    ///
    /// # Errors
    /// If the inventory is full: then no other entry has room either.
    pub(super) fn take(
        &mut self,
        (kind, position): (EntryKind, usize),
        id: Arc<str>,
        outcome: Result<(), InventoryError>,
    ) -> Result<(), InventoryError> {
        match outcome {
            Ok(()) => self.note(kind, id, true),
            Err(error) if self.missing == Missing::Ignore && error.is_about_missing() => {
                self.note(kind, id, false);
            }
            Err(error) => self.refuse((kind, position), id, error)?,
        }
        Ok(())
    }

    /// An entry does not go together with the cluster as it is, whatever is ignored.
    ///
    /// # Errors
    /// If the inventory is full: then no other entry has room either.
    pub(super) fn refuse(
        &mut self,
        (kind, position): (EntryKind, usize),
        id: Arc<str>,
        error: InventoryError,
    ) -> Result<(), InventoryError> {
        if let (InventoryError::Full(_), true) = (&error, self.refused.is_empty()) {
            return Err(error);
        }
        self.refused.add(RefusedEntry {
            kind,
            position,
            id,
            why: Box::new(error),
        });
        Ok(())
    }

    /// A list was carried out.
    ///
    /// # Errors
    /// The entries of it that were refused.
    pub(super) fn end_list(&mut self) -> Result<(), InventoryError> {
        self.refused.check()
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
