//! What is asked of a server, one request after the other.

use crate::needs::{HostSpec, Needs};

/// A rule of a group for its VMs; all are hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Its VMs run on one host.
    Together,
    /// No two of its VMs run on one host.
    Apart,
}

/// A hard group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSpec {
    /// What it wants.
    pub rule: Rule,
    /// Numbers of its VMs.
    pub vms: Vec<usize>,
}

/// What a request has that its route does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stray {
    /// A key of the body, or a body where there is none.
    Key,
    /// A parameter of the query.
    Parameter,
}

/// A request. VMs and hosts are numbers; those that are out of range, and requests that make no
/// sense at the moment, are refused by the server, and nothing changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Place a new VM.
    Place(usize, Needs),
    /// Place a VM that runs again: with these needs, or as it is.
    Again(usize, Option<Needs>),
    /// Place a VM that runs again with other memory, of which nothing else is given.
    Resize(usize, i64),
    /// Place new VMs in turns.
    Batch(Vec<(usize, Needs)>),
    /// Plan places for VMs that run as if none of them were anywhere, and reserve nothing.
    FromNothing(Vec<usize>),
    /// Place VMs that run, and a new one before them, as if none of them were anywhere, and
    /// reserve the places: all or nothing, or as many as can be.
    Anew(Vec<usize>, Option<(usize, Needs)>, bool),
    /// Move a VM that runs to another host.
    Migrate(usize),
    /// Confirm the place of a VM.
    Confirm(usize),
    /// Give the place of a VM back.
    Cancel(usize),
    /// So many seconds go by.
    Wait(i64),
    /// Measure the free memory and the free huge pages of a host, as they are.
    Measure(usize),
    /// A host changes its state.
    State(usize, &'static str),
    /// Plan to empty a host, begin the plan, and confirm what was begun.
    Evacuate(usize, bool),
    /// Plan what mends broken rules, begin the plan, and confirm what was begun.
    Plan(bool),
    /// Plan what mends broken rules, and leave it for later.
    PlanForLater,
    /// Begin the plan that was left for later, and confirm what was begun.
    BeginNow(bool),
    /// Ask where the VMs of a host would go if it failed.
    WhatIf(usize),
    /// Report other memory of a VM that runs, in GiB.
    PatchVm(usize, i64),
    /// Report other memory of a host, in GiB.
    PatchHost(usize, i64),
    /// Report which GPUs a VM that runs has: by number, from that one on.
    Gpus(usize, usize),
    /// A VM is gone.
    Gone(usize),
    /// Send something that the route of this number, of all that there are, does not know.
    Stray(usize, Stray),
    /// The server is stopped, and started on what it has stored.
    Restart,
}

/// A cluster, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Number of the policy among [`POLICIES`](crate::POLICIES).
    pub policy: usize,
    /// Its hosts.
    pub hosts: Vec<HostSpec>,
    /// Its hard groups.
    pub groups: Vec<GroupSpec>,
    /// What is asked of it.
    pub requests: Vec<Request>,
}
