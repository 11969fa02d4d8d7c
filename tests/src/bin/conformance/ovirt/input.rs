//! What is put in: hosts, VMs, affinity groups and settings as oVirt names them.
//!
//! Memory is in MiB, loads in percent. What is absent does not matter; null is not
//! known, or none. How it becomes a cluster and a request is told in `cluster`.

mod cluster;
mod form;
mod host;
mod pins;
mod vm;

use std::collections::BTreeMap;

use placewright_model::{Kind, Measure, Value as Fact};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use toml::Table;

use super::parameters;
pub(super) use form::*;

/// The input of a vector.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Input {
    /// Settings of oVirt's engine.
    pub config: BTreeMap<String, Value>,
    /// Parameters of the policy.
    pub params: BTreeMap<String, String>,
    pub now: Option<String>,
    pub cluster: ClusterInput,
    /// The candidates, as listed.
    pub hosts: Vec<HostInput>,
    /// Hosts that are known and no candidates.
    pub other_hosts: Vec<HostInput>,
    pub vms: Vec<VmInput>,
    /// Ids of the VMs that are to be placed together.
    pub schedule: Vec<String>,
    pub affinity_groups: Vec<GroupInput>,
    pub labels: Vec<Label>,
    pub pending: Vec<Pending>,
    pub networks: Vec<NetworkInput>,
    /// For weights, what every VM takes beside its memory.
    pub vm_overhead_mb: Option<i64>,
    /// For the Memory filter, which of its two rules is asked about.
    pub rule: Option<MemoryRule>,
    pub vm_static_overhead_mb: Option<i64>,
    pub pending_physical_mb: Option<i64>,
    /// Follows from the VMs' huge pages.
    pub dynamic_huge_pages_mb: Option<IgnoredAny>,
    /// For the enforcer, where each VM could go.
    pub possible_hosts: BTreeMap<String, Vec<String>>,
}

impl Input {
    /// The settings that a unit gets: of each of these parameters the policy's value,
    /// or else the value of the engine's setting named beside it.
    pub(super) fn settings(&self, parameters: &[(&str, &str)]) -> Table {
        let setting = |(parameter, config): &(&str, &str)| {
            let own = self.params.get(*parameter);
            let own = own.and_then(|text| parameters::setting(parameter, text));
            own.or_else(|| parameters::setting(parameter, &self.config.get(*config)?.to_string()))
        };
        let settings = parameters.iter().filter_map(setting);
        settings
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// A setting of the engine that is a number.
    ///
    /// # Errors
    /// If it is something else.
    pub(super) fn config_number(&self, name: &str) -> Result<Option<f64>, String> {
        self.config_as(name, Value::as_f64, "a number")
    }

    /// Check a setting of the engine that has only one value here.
    ///
    /// # Errors
    /// If it has another one, or is no number.
    pub(super) fn check_config(&self, name: &str, only: f64) -> Result<(), String> {
        match self.config_number(name)? {
            Some(other) if other != only => Err(format!(
                "field input.config.{name}: is {other}, and always {only} here"
            )),
            _ => Ok(()),
        }
    }

    /// A setting of the engine that is true or false.
    ///
    /// # Errors
    /// If it is something else.
    pub(super) fn config_boolean(&self, name: &str) -> Result<Option<bool>, String> {
        self.config_as(name, Value::as_bool, "true or false")
    }

    fn config_as<T>(
        &self,
        name: &str,
        read: impl Fn(&Value) -> Option<T>,
        wanted: &str,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.config.get(name) else {
            return Ok(None);
        };
        let read = read(value).map(Some);
        read.ok_or_else(|| format!("field input.config.{name}: must be {wanted}, not {value}"))
    }

    /// The load in percent that the work of a storage pool's manager counts as.
    ///
    /// # Errors
    /// If a setting of the engine is no number.
    pub(super) fn assumed_load(&self) -> Result<Option<f64>, String> {
        let of_a_vcpu = self.config_number("VcpuConsumptionPercentage")?;
        let vcpus = self.config_number("SpmVCpuConsumption")?.unwrap_or(1.0);
        Ok(of_a_vcpu.map(|load| load * vcpus))
    }

    /// The time that the vector speaks of, in seconds since 1970-01-01 UTC; 0 if it
    /// does not matter.
    ///
    /// # Errors
    /// If it is no time.
    pub(super) fn now(&self) -> Result<i64, String> {
        let now = self.now.as_deref();
        Ok(now
            .map(|text| seconds("now", text))
            .transpose()?
            .unwrap_or(0))
    }
}

/// A time in seconds since 1970-01-01 UTC.
fn seconds(field: &str, text: &str) -> Result<i64, String> {
    match Measure::Time.parse(text, Kind::Integer) {
        Ok(Fact::Integer(seconds)) => Ok(seconds),
        _ => Err(format!("field input.{field}: \"{text}\" is no time")),
    }
}

/// MiB in bytes.
fn bytes(field: &str, mebibytes: i64) -> Result<i64, String> {
    let bytes = mebibytes.checked_mul(1 << 20);
    bytes.ok_or_else(|| format!("field input.{field}: {mebibytes} MiB are too many"))
}
