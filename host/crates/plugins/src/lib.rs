//! Units and policies that come with the program.
//!
//! The components are built from `plugins/` by `placewright unit build` and kept in
//! the repository beside their sources, so that the program can be built without a
//! toolchain for WebAssembly.
//!
//! Read [`UNITS`], [`POLICIES`] and [`DEFAULT_POLICY`] first.

#![forbid(unsafe_code)]

/// A unit that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedUnit {
    /// Its name.
    pub name: &'static str,
    /// The component.
    pub bytes: &'static [u8],
}

/// A policy that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedPolicy {
    /// Its name.
    pub name: &'static str,
    /// The policy document, in TOML.
    pub text: &'static str,
}

macro_rules! policies {
    ($($name:literal),* $(,)?) => {
        &[$(EmbeddedPolicy {
            name: $name,
            text: include_str!(concat!("../../../policies/", $name, ".toml")),
        }),*]
    };
}

/// Every unit that comes with the program, by name.
pub const UNITS: &[EmbeddedUnit] = include!(concat!(env!("OUT_DIR"), "/units.rs"));

/// Every policy that comes with the program, those for real clusters first.
pub const POLICIES: &[EmbeddedPolicy] = policies![
    "general",
    "none",
    "even-distribution",
    "power-saving",
    "first-fit",
    "best-fit",
    "worst-fit",
    "dot-product",
    "ovirt-none",
    "ovirt-evenly-distributed",
    "ovirt-power-saving",
    "ovirt-vm-evenly-distributed",
    "ovirt-cluster-maintenance",
    "pacemaker-default",
    "pacemaker-utilization",
    "pacemaker-balanced",
    "pacemaker-minimal",
    "ganeti",
    "flexiant",
    "flexiant-local-storage",
    "tricircle",
    "tricircle-idlest",
    "aeolus-round-robin",
    "aeolus-least-used",
    "aeolus-priority",
    "aeolus-cheapest",
    "aeolus-conductor",
    "gpu-random",
    "gpu-dot-product",
    "gpu-clustering",
    "gpu-packing",
    "gpu-best-fit",
    "gpu-fgd",
];

/// The policy that decides wherever none is named: it checks every need.
pub const DEFAULT_POLICY: &str = "general";

/// The policy of that name that comes with the program.
pub fn policy(name: &str) -> Option<&'static EmbeddedPolicy> {
    POLICIES.iter().find(|policy| policy.name == name)
}
