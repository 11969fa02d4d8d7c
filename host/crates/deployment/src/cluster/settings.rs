//! How a cluster is set: its policy, and what is different from it here.

use crate::durations;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::AutomaticRestart;
use placewright_inventory::Inventory;

/// What an admin has set for a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterSettings {
    /// Name of the policy that decides.
    #[schema(value_type = String, example = "general")]
    pub policy: Arc<str>,
    /// What is different from the policy in this cluster, by the entries' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, Override>,
    /// Whether plans of moves are made from time to time, and how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PeriodicBalance)]
    pub balance: Option<PeriodicBalance>,
    /// Whether and how the server restarts VMs of hosts that are down or in error by itself;
    /// none: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AutomaticRestart)]
    pub restart: Option<AutomaticRestart>,
    /// Seconds after which what was measured of hosts counts as absent; none: it never
    /// does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, minimum = 1, maximum = 2592000, example = 600)]
    pub statistics_max_age: Option<i64>,
    /// Seconds after which what has come to run on a host counts as measured, though no later
    /// measurement has come; none: only a measurement ends that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2592000, example = 600)]
    pub unmeasured_max_age: Option<i64>,
    /// Counts up with every change of these settings.
    #[schema(example = 3)]
    pub revision: u64,
    /// What is left to chance is derived from this.
    #[serde(default)]
    #[schema(example = 7)]
    pub seed: u64,
}

impl ClusterSettings {
    /// Until when what is measured counts, and what is not.
    pub(crate) fn time_measurements(&self, inventory: &mut Inventory) {
        inventory.set_statistics_max_age(self.statistics_max_age);
        inventory.set_unmeasured_max_age(self.unmeasured_max_age);
    }
}

/// Plans of moves that are made from time to time, to be looked at, begun or cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PeriodicBalance {
    /// Seconds from one plan to the next.
    #[serde(deserialize_with = "durations::seconds")]
    #[schema(minimum = 10, maximum = 2592000, example = 600)]
    pub every: i64,
}

/// What is different from the policy for the entries of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Override {
    /// The factor of the cost of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 2.0)]
    pub factor: Option<f64>,
    /// Whether its unit is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Settings of its unit; others stay as the policy says.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(schema_with = settings)]
    pub settings: Map<String, Value>,
}

/// The schema of a unit's settings: it stands in the contract under this name.
fn settings() -> utoipa::openapi::Ref {
    utoipa::openapi::Ref::from_schema_name("Settings")
}

/// What a cluster decides by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attached {
    /// The policy's name.
    pub policy: Arc<str>,
    /// Its revision; 0 for one that comes with the program.
    pub revision: u64,
}
