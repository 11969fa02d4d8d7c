//! Which NUMA nodes and CPUs of a host VMs could be put on.
//!
//! A library for units, no unit itself. [`nodes`] finds host nodes for virtual NUMA
//! nodes, [`topology`] says which CPU threads of a host are held by whom,
//! [`exclusive`] finds threads for a VM that wants them for itself, and [`pinning`]
//! names the ways in which vCPUs are pinned.
//!
//! The rules are those of oVirt's scheduler.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod exclusive;
pub mod nodes;
pub mod pinning;
pub mod topology;
