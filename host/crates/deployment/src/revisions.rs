//! Revisions of what is gone: what comes in its place under the same name has others, so
//! that nobody takes the new one for the one that was read.

use serde::{Deserialize, Serialize};

use super::DeploymentError;
use placewright_store::{Change, Saved};

/// Where the store has them.
const KEY: &str = "revisions";

/// The greatest revisions that anything had that was removed, by what it was; 0: nothing
/// was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct GoneRevisions {
    pub inventory: u64,
    pub settings: u64,
    pub policy: u64,
    pub quota: u64,
}

impl GoneRevisions {
    /// As they were kept.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn restored(saved: &Saved) -> Result<Self, DeploymentError> {
        let Some(body) = saved.settings.get(KEY) else {
            return Ok(Self::default());
        };
        serde_json::from_str(body).map_err(|error| {
            DeploymentError::Refused(format!("cannot read the revisions from the store: {error}"))
        })
    }

    /// Something with these revisions is removed.
    pub(crate) fn with(self, gone: Self) -> Self {
        Self {
            inventory: self.inventory.max(gone.inventory),
            settings: self.settings.max(gone.settings),
            policy: self.policy.max(gone.policy),
            quota: self.quota.max(gone.quota),
        }
    }

    /// The change that keeps them.
    pub(crate) fn kept(self) -> Change {
        Change::Setting {
            key: KEY.to_owned(),
            body: serde_json::to_string(&self).unwrap_or_default(),
        }
    }
}
