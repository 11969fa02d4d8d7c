//! The VMs whose vCPUs are pinned.

use numa_fit::exclusive::Wish;
use numa_fit::nodes::VmNode;
use numa_fit::pinning::Pinning;
use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    #[column("has-pinning", gate)]
    pub is_pinned: bool,
    pub pinning: Option<Text>,
    pub sockets: i64,
    pub cores: i64,
    pub threads: i64,
    pub exclusive: bool,
    #[table("pins")]
    pub pins: Rows<Pin>,
    #[table("numa-nodes")]
    pub nodes: Rows<VmNode>,
}

/// A CPU that a vCPU was pinned to by name.
#[derive(Row)]
pub struct Pin {
    pub cpu: i64,
}

/// A VM that is pinned.
#[derive(Debug, PartialEq)]
pub struct Pinned {
    /// Its number among the members.
    pub member: i64,
    /// How, as it was said.
    pub pinning: Option<Text>,
    /// All its vCPUs.
    pub vcpus: i64,
    /// How they are laid out.
    pub layout: Layout,
    /// The CPUs that it was pinned to by name; none if it gets CPUs for itself.
    pub cpus: Vec<i64>,
    /// Are those that it was pinned to by name its own?
    pub exclusive: bool,
    /// What it wants for itself.
    pub wish: Option<Wish>,
    /// Is it resized to the host that it runs on?
    pub resized: bool,
}

/// What the CPUs that a VM is given for itself follow from, besides their number.
#[derive(Debug, PartialEq)]
pub struct Layout {
    sockets: i64,
    threads: i64,
    /// The host's nodes that each of its virtual nodes is pinned to.
    pub nodes: Vec<Vec<i64>>,
}

impl Layout {
    /// Of a VM with so many sockets, threads of a core, and these virtual nodes.
    pub fn of(sockets: i64, threads: i64, nodes: &Rows<VmNode>) -> Self {
        let pinned_to = |node: VmNode| node.host_nodes.iter().map(|to| to.index).collect();
        Self {
            sockets: sockets.max(1),
            threads: threads.max(1),
            nodes: nodes.iter().map(pinned_to).collect(),
        }
    }
}

/// Those of the VMs that are pinned.
pub fn pinned(vms: &Rows<Vm>) -> Vec<Pinned> {
    let vms = (0..).zip(vms);
    vms.filter_map(|(member, vm)| of_vm(member, &vm)).collect()
}

fn of_vm(member: i64, vm: &Vm) -> Option<Pinned> {
    let named = Pinning::named(vm.pinning.as_deref());
    // CPUs that are named mean that the VM is pinned to them, said or not.
    let by_name = (vm.pinning.is_none() && !vm.pins.is_empty()).then_some(Pinning::Manual);
    let pinning = named.or(by_name)?;
    let wish = Wish::of(pinning, vm.sockets, vm.cores, vm.threads).map(|wish| wish.on(&vm.nodes));
    let cpus = match wish {
        Some(_) => Vec::new(),
        None => vm.pins.iter().map(|pin| pin.cpu).collect(),
    };
    Some(Pinned {
        member,
        pinning: vm.pinning.clone(),
        vcpus: vm
            .sockets
            .saturating_mul(vm.cores)
            .saturating_mul(vm.threads),
        layout: Layout::of(vm.sockets, vm.threads, &vm.nodes),
        cpus,
        exclusive: vm.exclusive,
        wish,
        resized: pinning == Pinning::ResizeAndPin,
    })
}
