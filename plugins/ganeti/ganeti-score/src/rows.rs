//! What is read of hosts and VMs. All that only Ganeti tells has a default, so that
//! other clusters have a score, too.

use placewright_sdk::prelude::*;

/// A node.
#[derive(Row)]
pub struct Host {
    pub id: Text,
    /// Its place in the order of hosts, by which ties are broken.
    pub listed: i64,
    /// `up`, or another state: then the node is offline.
    pub state: Text,
    #[column("memory.total")]
    pub memory: Bytes,
    /// What the node itself takes.
    #[column("memory.reserved")]
    pub memory_reserved: Bytes,
    /// What is gone beside that and the instances; negative if they use less than
    /// they were promised.
    #[column("attribute.memory.missing")]
    pub memory_missing: Option<i64>,
    #[column("cpu.total")]
    pub cpu: Millicores,
    /// The most vCPUs for each CPU, where Ganeti does not tell it.
    #[column("cpu.overcommit")]
    pub cpu_overcommit: Option<f64>,
    /// vCPUs that the node itself uses.
    #[column("attribute.cpu.node")]
    pub cpu_node: Option<i64>,
    /// Speed relative to others.
    #[column("attribute.cpu.speed")]
    pub cpu_speed: Option<f64>,
    /// The most vCPUs for each CPU.
    #[column("attribute.cpu.ratio")]
    pub cpu_ratio: Option<f64>,
    #[column("attribute.disk.total")]
    pub disk: Option<i64>,
    /// What instances may take of the disk, all together.
    #[column("attribute.disk.available")]
    pub disk_available: Option<i64>,
    #[column("attribute.spindles.total")]
    pub spindles: Option<i64>,
    #[column("attribute.spindles.available")]
    pub spindles_available: Option<i64>,
    /// The most uses of spindles for each of them.
    #[column("attribute.spindles.ratio")]
    pub spindle_ratio: Option<f64>,
    /// Whether instances have spindles for themselves.
    #[column("attribute.spindles.exclusive")]
    pub exclusive: Option<bool>,
    /// The group of nodes that it is in.
    #[column("attribute.group")]
    pub group: Option<Text>,
    /// Common causes of failure.
    #[table("attribute.location")]
    pub location: Rows<Tag>,
    /// What an instance that leaves it must find where it goes.
    #[table("attribute.migration")]
    pub migration: Rows<Tag>,
    /// What instances find that come.
    #[table("attribute.receives")]
    pub receives: Rows<Tag>,
    #[table("vms")]
    pub vms: Rows<Vm>,
}

/// Where a VM to be placed runs now.
#[derive(Row)]
pub struct Source {
    /// The host.
    pub id: Text,
}

/// An instance.
#[derive(Row, Clone, PartialEq)]
pub struct Vm {
    pub id: Text,
    pub memory: Bytes,
    pub vcpus: i64,
    #[column("attribute.disk")]
    pub disk: Option<i64>,
    /// For example `drbd`, `plain`, `rbd`.
    #[column("attribute.disk-template")]
    pub disk_template: Option<Text>,
    /// How much it uses spindles.
    #[column("attribute.spindles")]
    pub spindles: Option<i64>,
    /// Spindles that it has for itself, where they are exclusive.
    #[column("attribute.disk-spindles")]
    pub disk_spindles: Option<i64>,
    /// For example `running`, `ADMIN_down`.
    #[column("attribute.status")]
    pub status: Option<Text>,
    /// Whether it is to be moved, and started on its secondary if a node fails.
    #[column("attribute.auto-balance")]
    pub auto_balance: Option<bool>,
    /// Whether it is only planned yet.
    #[column("attribute.forthcoming")]
    pub forthcoming: Option<bool>,
    /// Instances that share one of these are kept apart.
    #[table("attribute.exclusion")]
    pub exclusion: Rows<Tag>,
    /// Where it would rather be.
    #[table("attribute.desired-location")]
    pub desired_location: Rows<Tag>,
    #[table("attribute.secondary")]
    pub secondary: Rows<Secondary>,
}

/// A tag.
#[derive(Row, Clone, PartialEq)]
pub struct Tag {
    pub tag: Option<Text>,
}

/// The node that mirrors the instance's disks; a move may change it, and it is
/// another one when the instance runs where it goes.
#[derive(Row, Written, Clone, PartialEq)]
#[written(table = "attribute.secondary", scope = "vm", moment = "running")]
pub struct Secondary {
    pub host: Option<Text>,
}
