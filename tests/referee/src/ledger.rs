//! What the referee knows: which VM was promised what, and where.

use std::collections::BTreeMap;

use crate::history::{GroupSpec, History, Rule};
use crate::needs::{GIB, HostSpec, Needs};
use crate::nodes::{assignment, demands as demands_of};
use crate::policies::POLICIES;

/// A VM's place on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Number of the host.
    pub host: usize,
    /// What it takes there.
    pub needs: Needs,
}

/// A VM that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) place: Place,
    /// What of it the last measurement of its host contains.
    pub(crate) measured: Option<Needs>,
    /// The numbers of its GPUs, where they are known.
    pub(crate) gpus: Vec<usize>,
}

/// A place that is reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reserved {
    pub(crate) place: Place,
    /// The second after which it ends.
    pub(crate) expires: i64,
}

/// A VM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vm {
    pub(crate) running: Option<Running>,
    pub(crate) reserved: Option<Reserved>,
}

impl Vm {
    pub(crate) fn runs_on(&self, host: usize) -> Option<&Needs> {
        let running = self.running.as_ref()?;
        (running.place.host == host).then_some(&running.place.needs)
    }

    pub(crate) fn reserved_on(&self, host: usize) -> Option<&Needs> {
        let reserved = self.reserved.as_ref()?;
        (reserved.place.host == host).then_some(&reserved.place.needs)
    }

    /// Where it is going to run when all that is under way is done.
    pub(crate) fn ends_on(&self) -> Option<usize> {
        let reserved = self.reserved.as_ref().map(|it| it.place.host);
        reserved.or_else(|| self.running.as_ref().map(|it| it.place.host))
    }
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) spec: HostSpec,
    pub(crate) state: &'static str,
    /// Memory that something else than VMs uses, in bytes; None: nothing is measured.
    other: Option<i64>,
    /// What the last measurement says is free: bytes of memory, huge pages, bytes of each node.
    pub(crate) free: Option<i64>,
    pub(crate) free_pages: i64,
    pub(crate) free_of_nodes: Vec<i64>,
}

/// What each VM was promised, on which host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    pub(crate) hosts: Vec<Host>,
    pub(crate) groups: Vec<GroupSpec>,
    pub(crate) vms: BTreeMap<usize, Vm>,
    /// Whether the policy looks at measured memory.
    pub(crate) heeds_measured: bool,
    /// Whether the policy looks at how wide VMs are, and at CPUs of their own.
    pub(crate) heeds_exclusive: bool,
    /// Whether the load of hosts is the policy's one cost.
    pub(crate) is_by_load: bool,
}

impl Ledger {
    /// Of a history's cluster, before its first request.
    pub fn new(history: &History) -> Self {
        let hosts = history.hosts.iter().map(|spec| {
            let free = spec.free.map(|free| free * GIB);
            Host {
                state: "up",
                other: free.map(|free| spec.memory * GIB - free),
                free,
                free_pages: spec.pages,
                free_of_nodes: spec.nodes.iter().map(|it| it * GIB).collect(),
                spec: spec.clone(),
            }
        });
        Self {
            hosts: hosts.collect(),
            groups: history.groups.clone(),
            vms: BTreeMap::new(),
            heeds_measured: POLICIES[history.policy].heeds_measured,
            heeds_exclusive: POLICIES[history.policy].heeds_exclusive,
            is_by_load: POLICIES[history.policy].by_load.is_some(),
        }
    }

    /// Where a VM runs, and what it takes there.
    pub fn running(&self, vm: usize) -> Option<&Place> {
        Some(&self.vms.get(&vm)?.running.as_ref()?.place)
    }

    /// The place that is reserved for a VM.
    pub fn reserved(&self, vm: usize) -> Option<&Place> {
        Some(&self.vms.get(&vm)?.reserved.as_ref()?.place)
    }

    pub(crate) fn reserve(&mut self, vm: usize, place: Place, expires: i64) {
        self.vms.entry(vm).or_default().reserved = Some(Reserved { place, expires });
    }

    /// Of a VM that has a place reserved: it runs there now.
    pub(crate) fn confirm(&mut self, vm: usize) {
        let Some(known) = self.vms.get_mut(&vm) else {
            return;
        };
        if let Some(reserved) = known.reserved.take() {
            let before = known.running.take();
            let stays = before.filter(|before| before.place.host == reserved.place.host);
            known.running = Some(Running {
                place: reserved.place,
                measured: stays.and_then(|before| before.measured),
                gpus: Vec::new(),
            });
        }
    }

    pub(crate) fn cancel(&mut self, vm: usize) {
        if let Some(known) = self.vms.get_mut(&vm) {
            known.reserved = None;
        }
    }

    pub(crate) fn forget(&mut self, vm: usize) {
        self.vms.remove(&vm);
    }

    /// A VM is nowhere, on paper: what its host was measured with of it is free, too.
    pub(crate) fn vacate(&mut self, vm: usize) {
        let running = self.vms.remove(&vm).and_then(|known| known.running);
        let Some(running) = running else { return };
        let (host, measured) = (running.place.host, running.measured);
        let (Some(host), Some(needs)) = (self.hosts.get_mut(host), measured) else {
            return;
        };
        let total = host.spec.memory * GIB;
        host.free = host.free.map(|free| (free + needs.ordinary()).min(total));
        host.free_pages = (host.free_pages + needs.pages).min(host.spec.pages);
        let nodes = (0..).zip(host.spec.nodes.iter().zip(&mut host.free_of_nodes));
        for (number, (all, free)) in nodes {
            *free = (*free + needs.on_node(number)).min(all * GIB);
        }
    }

    /// Reservations end whose time is over.
    pub(crate) fn expire(&mut self, now: i64) {
        for vm in self.vms.values_mut() {
            vm.reserved.take_if(|reserved| now > reserved.expires);
        }
    }

    /// A host is measured: what runs there is contained from now on.
    pub(crate) fn measure(&mut self, host: usize) {
        let mut used = Needs::default();
        let mut ordinary = 0;
        let mut nodes = vec![0; self.hosts[host].spec.nodes.len()];
        let mut demands = Vec::new();
        for vm in self.vms.values_mut() {
            let Some(running) = vm.running.as_mut().filter(|it| it.place.host == host) else {
                continue;
            };
            let needs = &running.place.needs;
            ordinary += needs.ordinary();
            used.pages += needs.pages;
            demands.extend(demands_of(needs));
            running.measured = Some(needs.clone());
        }
        // Nodes that may lie on several lie where all find room.
        let rooms = self.hosts[host].spec.rooms();
        let found = assignment(&demands, &rooms).unwrap_or_else(|| {
            let first = demands.iter().map(|it| it.allowed.first());
            let first = first.map(|it| usize::try_from(it.copied().unwrap_or(0)).unwrap_or(0));
            first.collect()
        });
        for (demand, number) in demands.iter().zip(found) {
            if let Some(used) = nodes.get_mut(number) {
                *used += demand.memory;
            }
        }
        let host = &mut self.hosts[host];
        if let Some(other) = host.other {
            host.free = Some((host.spec.memory * GIB - other - ordinary).max(0));
        }
        host.free_pages = (host.spec.pages - used.pages).max(0);
        let totals = host.spec.nodes.iter().zip(nodes);
        host.free_of_nodes = totals
            .map(|(all, used)| (all * GIB - used).max(0))
            .collect();
    }

    /// Ids of the other VMs of a VM's groups with that rule.
    pub(crate) fn beside(&self, vm: usize, rule: Rule) -> impl Iterator<Item = usize> {
        let groups = self.groups.iter();
        let groups = groups.filter(move |it| it.rule == rule && it.vms.contains(&vm));
        let others = groups.flat_map(|it| it.vms.iter().copied());
        others.filter(move |other| *other != vm)
    }
}
