//! The VMs whose vCPUs are pinned.

use numa_fit::exclusive::Wish;
use numa_fit::nodes::{VmNode, vcpus_of_node};
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

/// A VM that is pinned to no CPUs, and whose virtual nodes are pinned to the host's: it has CPUs of
/// these for itself, of which the numbers are not known, or shares them.
#[derive(Debug, PartialEq)]
pub struct Divided {
    /// Its number among the members.
    pub member: i64,
    /// Whether it has CPUs for itself.
    pub exclusive: bool,
    /// Of each of its virtual nodes, the host's nodes that it is pinned to, and its vCPUs.
    pub nodes: Vec<(Vec<i64>, i64)>,
}

impl Divided {
    /// A VM with these virtual nodes, to which its vCPUs are shared out; none if it only prefers
    /// nodes, or none is pinned.
    pub fn of(member: i64, exclusive: bool, vcpus: i64, nodes: &Rows<VmNode>) -> Option<Self> {
        if nodes
            .iter()
            .any(|node| node.mode.as_deref() == Some("preferred"))
        {
            return None;
        }
        let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
        let of_node = |(number, node): (i64, VmNode)| {
            let vcpus = vcpus_of_node(number, count, vcpus);
            let to: Vec<i64> = node.host_nodes.iter().map(|to| to.index).collect();
            (to, vcpus.end.saturating_sub(vcpus.start))
        };
        let nodes = (0..).zip(nodes).map(of_node);
        let nodes: Vec<_> = nodes.filter(|(to, _)| !to.is_empty()).collect();
        (!nodes.is_empty()).then_some(Self {
            member,
            exclusive,
            nodes,
        })
    }

    /// The host's nodes that its virtual nodes are on, as far as these are pinned to one, with the
    /// vCPUs of each.
    pub fn alone(&self) -> impl Iterator<Item = (i64, i64)> {
        self.nodes.iter().filter_map(|(to, vcpus)| match to[..] {
            [node] => Some((node, *vcpus)),
            _ => None,
        })
    }
}

/// What VMs ask for, placed together.
#[derive(Debug, Default, PartialEq)]
pub struct Asked {
    /// Those that are pinned to CPUs.
    pub pinned: Vec<Pinned>,
    /// Those that are pinned to nodes alone.
    pub divided: Vec<Divided>,
}

/// What these VMs ask for.
pub fn asked(vms: &Rows<Vm>) -> Asked {
    let mut asked = Asked::default();
    for (member, vm) in (0..).zip(vms) {
        let vcpus = vm.vcpus();
        match of_vm(member, &vm) {
            Some(pinned) => asked.pinned.push(pinned),
            None => {
                let divided = Divided::of(member, vm.exclusive, vcpus, &vm.nodes);
                asked.divided.extend(divided);
            }
        }
    }
    asked
}

impl Vm {
    fn vcpus(&self) -> i64 {
        let cores = self.sockets.saturating_mul(self.cores);
        cores.saturating_mul(self.threads)
    }
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
        vcpus: vm.vcpus(),
        layout: Layout::of(vm.sockets, vm.threads, &vm.nodes),
        cpus,
        exclusive: vm.exclusive,
        wish,
        resized: pinning == Pinning::ResizeAndPin,
    })
}
