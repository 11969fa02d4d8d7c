//! The parts of an input, as they are written.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// The cluster as a whole.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterInput {
    pub id: Option<String>,
    pub threads_as_cores: Option<bool>,
    pub compatibility_version: Option<String>,
    pub ha_reservation: Option<bool>,
}

/// A host.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented may stand there, read or not")]
pub(crate) struct HostInput {
    pub id: String,
    pub name: Option<String>,
    /// In all; so are cores and threads.
    pub cpu_sockets: Option<i64>,
    pub cpu_cores: Option<i64>,
    pub cpu_threads: Option<i64>,
    pub cpu_usage_percent: Option<f64>,
    pub cpu_overcommit_since: Option<String>,
    pub online_cpus: Option<Vec<i64>>,
    pub mem_physical_mb: Option<i64>,
    pub mem_reserved_mb: Option<i64>,
    pub mem_committed_mb: Option<i64>,
    pub mem_pending_mb: Option<i64>,
    pub mem_overcommit_percent: Option<f64>,
    pub mem_free_mb: Option<i64>,
    pub swap_total_mb: Option<i64>,
    pub swap_free_mb: Option<i64>,
    /// All VMs on it.
    pub vm_count: Option<i64>,
    pub vm_active: Option<i64>,
    pub vm_migrating: Option<i64>,
    pub ha_vms: Option<i64>,
    pub spm: Option<bool>,
    pub huge_pages: Option<Vec<HugePages>>,
    pub numa_support: Option<bool>,
    pub numa_nodes: Option<Vec<HostNode>>,
    pub lease_domains: Option<Vec<Lease>>,
    pub networks: Option<Vec<String>>,
    pub display: Option<Display>,
    pub status: Option<String>,
    /// Whether its external status is good.
    pub ok: Option<bool>,
    /// Whether power management is configured.
    pub pm: Option<bool>,
    pub keep_on: Option<bool>,
    pub by_policy: Option<bool>,
    // Of no matter to any unit here.
    pub guest_overhead_mb: Option<IgnoredAny>,
    pub ha_active: Option<IgnoredAny>,
    pub ha_score: Option<IgnoredAny>,
    pub ha_local_maintenance: Option<IgnoredAny>,
    pub os: Option<IgnoredAny>,
    pub tsc_frequency: Option<IgnoredAny>,
    pub tsc_scaling: Option<IgnoredAny>,
    pub mdevs: Option<IgnoredAny>,
}

/// Huge pages of a host, of one size.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HugePages {
    pub size_kib: i64,
    pub free: i64,
}

/// A NUMA node of a host.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostNode {
    pub index: i64,
    pub mem_total_mb: Option<i64>,
    pub mem_free_mb: Option<i64>,
    pub cpus: Option<Vec<i64>>,
}

/// A storage domain of which a host can take leases.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lease {
    pub domain: String,
    pub acquired: bool,
}

/// How a host has the network over which consoles are reached: its boot protocols.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Display {
    pub ipv4: Option<String>,
    pub ipv6: Option<String>,
}

/// A VM.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented may stand there, read or not")]
pub(crate) struct VmInput {
    pub id: String,
    pub name: Option<String>,
    pub status: Option<String>,
    /// Id of the host.
    pub run_on: Option<String>,
    pub sockets: Option<i64>,
    pub cores_per_socket: Option<i64>,
    pub threads_per_core: Option<i64>,
    /// Of one vCPU.
    pub cpu_usage_percent: Option<f64>,
    pub mem_mb: Option<i64>,
    pub migration_support: Option<String>,
    pub ha: Option<bool>,
    pub hosted_engine: Option<bool>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub cpu_pinning_policy: Option<String>,
    pub cpu_pinning: Option<String>,
    pub numa_nodes: Option<Vec<VmNode>>,
    pub preferred_hosts: Option<Vec<String>>,
    pub custom_properties: Option<BTreeMap<String, String>>,
    pub lease_domain: Option<String>,
    pub nics: Option<Vec<Nic>>,
    // Of no matter to any unit here.
    pub cluster: Option<IgnoredAny>,
    pub use_tsc_frequency: Option<IgnoredAny>,
    pub mdevs: Option<IgnoredAny>,
}

/// A NUMA node of a VM.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented may stand there, read or not")]
pub(crate) struct VmNode {
    pub index: i64,
    pub mem_total_mb: Option<i64>,
    /// Numbers of the host's nodes that it is pinned to.
    pub host_nodes: Option<Vec<i64>>,
    pub mode: Option<String>,
    /// Units here share a VM's vCPUs among its nodes themselves.
    pub cpus: Option<IgnoredAny>,
}

/// A network card of a VM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nic {
    pub network: Option<String>,
    pub plugged: Option<bool>,
}

/// An affinity group. An absent rule is disabled.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupInput {
    pub id: String,
    pub vm_rule: Option<Rule>,
    pub vm_enforcing: Option<bool>,
    pub host_rule: Option<Rule>,
    pub host_enforcing: Option<bool>,
    #[serde(default)]
    pub vms: Vec<String>,
    #[serde(default)]
    pub hosts: Vec<String>,
    pub priority: Option<f64>,
}

/// What an affinity group wants.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rule {
    Positive,
    Negative,
}

/// An affinity label.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Label {
    pub implicit_affinity: bool,
    pub vms: Vec<String>,
    pub hosts: Vec<String>,
}

/// Something that a VM has reserved on a host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pending {
    pub kind: PendingKind,
    pub host: String,
    pub vm: String,
    pub size_kib: Option<i64>,
    pub count: Option<i64>,
}

/// What of a VM is reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PendingKind {
    Vm,
    HugePages,
}

/// A logical network of the cluster.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkInput {
    pub name: String,
    pub required: Option<bool>,
    pub display: Option<bool>,
}

/// A rule of the Memory filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MemoryRule {
    /// Is there memory to start the VMs now?
    Physical,
    /// Does the host stay within its limit of promises?
    Overcommit,
}
