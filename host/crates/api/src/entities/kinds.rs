//! The kinds of entities that have paths of their own, and what is particular to each.

use placewright_document::EntityKind;

/// A kind of entity: what its routes are called, and what they say of themselves.
pub(super) trait Entity: Send + Sync + 'static {
    /// Which kind it is.
    const KIND: EntityKind;
    /// One of them, in paths and in the ids of operations.
    const NAME: &'static str;
    /// What it is called in the contract.
    const SCHEMA: &'static str;
    /// One of them, in sentences.
    const NOUN: &'static str;
    /// What GET answers.
    const SHOW: &'static str;
    /// What PUT does.
    const PUT: &'static str;
    /// What PATCH does.
    const CHANGE: &'static str;
    /// What DELETE does.
    const REMOVE: &'static str;
}

/// Hosts.
pub(super) enum Host {}

impl Entity for Host {
    const KIND: EntityKind = EntityKind::Host;
    const NAME: &'static str = "host";
    const SCHEMA: &'static str = "Host";
    const NOUN: &'static str = "host";
    const SHOW: &'static str = "A host: its document, sums over its VMs, and a list of them. Its ETag changes with the\n\
         document, not with statistics.";
    const PUT: &'static str = "Add a host, or replace its document. Statistics stay. Columns that the server computes,\n\
         `statistics` and `vms` may stand in the document as they were read: they change nothing.";
    const CHANGE: &'static str =
        "Change some values of a host; null removes a value, everything else stays.";
    const REMOVE: &'static str =
        "Remove a host from the cluster. A host that still has VMs is a conflict.";
}

/// VMs.
pub(super) enum Vm {}

impl Entity for Vm {
    const KIND: EntityKind = EntityKind::Vm;
    const NAME: &'static str = "vm";
    const SCHEMA: &'static str = "Vm";
    const NOUN: &'static str = "VM";
    const SHOW: &'static str = "A VM: where it runs, and where it has a place reserved. Its ETag changes with its document\n\
         and its places, not when a reservation is renewed.";
    const PUT: &'static str = "Add a VM that runs on a host, or replace its document. A place that is reserved for it\n\
         elsewhere stays, unless it runs on another host now.";
    const CHANGE: &'static str = "Change some values of a VM that runs or has a place reserved; null removes a value,\n\
         everything else stays. With another `host` the VM runs there from then on, and a place that\n\
         was reserved for it ends.";
    const REMOVE: &'static str = "Remove a VM: it no longer runs, and has no place reserved.";
}

/// Affinity groups.
pub(super) enum Group {}

impl Entity for Group {
    const KIND: EntityKind = EntityKind::Group;
    const NAME: &'static str = "group";
    const SCHEMA: &'static str = "Group";
    const NOUN: &'static str = "group";
    const SHOW: &'static str = "An affinity group: its members and its rules.";
    const PUT: &'static str = "Add an affinity group, or replace its document.";
    const CHANGE: &'static str = "Change an affinity group: `add-vms`, `remove-vms`, `add-hosts` and `remove-hosts` change some\n\
         members, `vms` and `hosts` replace all; null removes a rule or all members, everything else\n\
         stays.";
    const REMOVE: &'static str = "Remove an affinity group from the cluster.";
}

/// Tenants.
pub(super) enum Tenant {}

impl Entity for Tenant {
    const KIND: EntityKind = EntityKind::Tenant;
    const NAME: &'static str = "tenant";
    const SCHEMA: &'static str = "Tenant";
    const NOUN: &'static str = "tenant";
    const SHOW: &'static str = "A tenant: its document.";
    const PUT: &'static str = "Add a tenant, or replace its document.";
    const CHANGE: &'static str =
        "Change some values of a tenant; null removes a value, everything else stays.";
    const REMOVE: &'static str = "Remove a tenant from the cluster. VMs may go on naming it.";
}
