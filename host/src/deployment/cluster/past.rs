//! What decided, as it is kept beside the rows: with both, a recorded decision can be made
//! again when nothing of it is left in memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClusterState, durable};
use crate::chain::Chain;
use crate::deployment::DeploymentError;
use crate::inventory::SavedMeasured;
use crate::library::Generation;
use crate::store::MeasuredRow;

/// A chain as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedChain {
    /// The document of its policy, with what is different in the cluster.
    pub policy: serde_json::Value,
    /// The digests of the units that it names, by their names.
    pub units: BTreeMap<String, String>,
}

impl SavedChain {
    pub(super) fn of(chain: &Chain, generation: &Generation) -> Self {
        let policy = chain.policy();
        let named = generation.units().filter(|unit| policy.names(unit.name()));
        Self {
            policy: serde_json::to_value(&**policy).unwrap_or_default(),
            units: named
                .map(|unit| (unit.name().to_owned(), unit.digest().to_string()))
                .collect(),
        }
    }
}

/// What was measured of hosts, by their ids.
///
/// # Errors
/// If a row cannot be read.
pub fn measured(rows: Vec<MeasuredRow>) -> Result<Vec<(String, SavedMeasured)>, DeploymentError> {
    let rows = rows.into_iter().map(|row| {
        let saved = durable::read(&row.body).map_err(|error| {
            let id = &row.id;
            DeploymentError::Refused(format!(
                "cannot read what was kept of what is measured of host \"{id}\": {error}"
            ))
        })?;
        Ok((row.id, saved))
    });
    rows.collect()
}

impl ClusterState {
    /// What is measured is what was kept of it.
    ///
    /// # Errors
    /// If there is no such host, or a value does not fit the schema.
    pub(in crate::deployment) fn restore_measured(
        &mut self,
        rows: Vec<MeasuredRow>,
    ) -> Result<(), DeploymentError> {
        for (id, saved) in measured(rows)? {
            self.scheduler
                .inventory_mut()
                .restore_measured(&id, saved)?;
        }
        Ok(())
    }
}
