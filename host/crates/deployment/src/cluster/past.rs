//! What decided, as it is kept beside the rows: with both, a recorded decision can be made
//! again when nothing of it is left in memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClusterState, durable};
use crate::DeploymentError;
use placewright_chain::Chain;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Digest;
use placewright_inventory::SavedMeasured;
use placewright_plugins as plugins;
use placewright_store::{Change, MeasuredRow};

/// On what a decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeOn {
    /// The rows that are kept.
    Rows,
    /// A copy of them, of which is kept what it differed by.
    KeptCopy,
    /// A copy of them, of which nothing is kept.
    LostCopy,
}

impl MadeOn {
    /// What the record of a decision says of it, as more of a JSON object.
    pub(super) fn record(self) -> &'static str {
        match self {
            Self::Rows => "",
            Self::KeptCopy => r#","copy":"kept""#,
            Self::LostCopy => r#","copy":true"#,
        }
    }

    /// What a record says under `copy`.
    pub(crate) fn recorded(copy: &serde_json::Value) -> Self {
        match copy {
            serde_json::Value::Null => Self::Rows,
            copy if copy == "kept" => Self::KeptCopy,
            _ => Self::LostCopy,
        }
    }
}

/// A chain as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SavedChain {
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
pub(crate) fn measured(
    rows: Vec<MeasuredRow>,
) -> Result<Vec<(String, SavedMeasured)>, DeploymentError> {
    let rows = rows.into_iter().map(|row| {
        let saved = durable::read(&row.body).map_err(|error| {
            let id = &row.id;
            DeploymentError::Refused(format!(
                "cannot read from the store the statistics of host \"{id}\": {error}"
            ))
        })?;
        Ok((row.id, saved))
    });
    rows.collect()
}

impl ClusterState {
    /// Have the bytes kept of the units of a chain that come with this version of the
    /// program: another version may come with others.
    pub(super) fn keep_embedded(&mut self, chain: &SavedChain) {
        for (name, digest) in &chain.units {
            let Some(unit) = plugins::UNITS.iter().find(|unit| unit.name == name) else {
                continue;
            };
            // What cannot be looked up is put once more.
            let is_kept = self.store.has_artifact(digest).unwrap_or(false);
            if !is_kept && Digest::of(unit.bytes).to_string() == *digest {
                self.changes.push(Change::PutArtifact {
                    digest: digest.clone(),
                    name: name.clone(),
                    bytes: unit.bytes.to_vec(),
                    signature: None,
                });
            }
        }
    }

    /// What is measured is what was kept of it.
    ///
    /// # Errors
    /// If there is no such host, or a value does not fit the schema.
    pub(crate) fn restore_measured(
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
