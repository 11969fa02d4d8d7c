//! What a VM asks for, and what a host has.

use serde_json::{Value, json};

use crate::nodes::Room;

/// Bytes of a GiB.
pub(crate) const GIB: i64 = 1 << 30;

/// Bytes of a huge page, of the one size that there is here.
pub(crate) const PAGE: i64 = GIB;

/// A virtual NUMA node, which lies on one node of the host (mode `strict`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualNode {
    /// The host's nodes that it may lie on.
    pub allowed: Vec<i64>,
    /// Its memory in GiB.
    pub memory: i64,
}

/// What a VM takes wherever it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Memory in GiB, that in huge pages included.
    pub memory: i64,
    /// CPU in thousandths of a core.
    pub cpu: i64,
    /// How many GPUs.
    pub gpus: i64,
    /// Thousandths of each of its GPUs.
    pub gpu_share: i64,
    /// How many licences, an amount with a name.
    pub licences: i64,
    /// Names of the devices.
    pub devices: Vec<u8>,
    /// How many huge pages of 1 GiB.
    pub pages: i64,
    /// Its virtual NUMA nodes.
    pub nodes: Vec<VirtualNode>,
    /// Whether its CPUs are its own.
    pub exclusive: bool,
    /// Whether it may not be moved while it runs.
    pub stays: bool,
}

impl Needs {
    /// As keys of a VM's document, the id apart.
    pub fn keys(&self) -> Value {
        let mut keys = json!({
            "memory": self.memory * GIB,
            "cpu": format!("{}m", self.cpu),
        });
        if self.gpus > 0 {
            keys["gpu.count"] = self.gpus.into();
            keys["gpu.share"] = self.gpu_share.into();
        }
        if self.licences > 0 {
            keys["amounts"] = json!([{"name": "licences", "need": self.licences}]);
        }
        if !self.devices.is_empty() {
            let names = self.devices.iter().map(|it| json!({"name": device(*it)}));
            keys["devices"] = names.collect();
        }
        if self.pages > 0 {
            keys["huge-pages"] = json!([{"size": PAGE, "count": self.pages}]);
        }
        if self.exclusive {
            keys["exclusive"] = true.into();
        }
        if self.stays {
            keys["migratable"] = false.into();
        }
        if !self.nodes.is_empty() {
            let nodes = self.nodes.iter().enumerate().map(|(index, node)| {
                let allowed = node.allowed.iter().map(|it| json!({"index": it}));
                json!({
                    "index": index, "memory": node.memory * GIB, "mode": "strict",
                    "host-nodes": allowed.collect::<Vec<_>>(),
                })
            });
            keys["numa-nodes"] = nodes.collect();
        }
        keys
    }

    /// What a VM with these needs asks for when it is placed again with `other`: what is not
    /// given stays.
    pub fn changed_by(&self, other: &Self) -> Self {
        let given = |is_given: bool, new: i64, old: i64| if is_given { new } else { old };
        Self {
            memory: other.memory,
            cpu: other.cpu,
            gpus: given(other.gpus > 0, other.gpus, self.gpus),
            gpu_share: given(other.gpus > 0, other.gpu_share, self.gpu_share),
            licences: given(other.licences > 0, other.licences, self.licences),
            devices: match other.devices.is_empty() {
                true => self.devices.clone(),
                false => other.devices.clone(),
            },
            pages: given(other.pages > 0, other.pages, self.pages),
            nodes: match other.nodes.is_empty() {
                true => self.nodes.clone(),
                false => other.nodes.clone(),
            },
            exclusive: self.exclusive || other.exclusive,
            stays: self.stays || other.stays,
        }
    }

    /// Whole cores of the widest virtual socket that its CPU needs.
    pub fn cores(&self) -> i64 {
        (self.cpu + 999) / 1000
    }

    /// Bytes that it takes of a NUMA node of its host for sure.
    pub fn on_node(&self, number: i64) -> i64 {
        let pinned = |node: &&VirtualNode| node.allowed == [number];
        let nodes = self.nodes.iter().filter(pinned);
        nodes.map(|node| node.memory * GIB).sum()
    }

    /// Bytes that it may take of a NUMA node of its host.
    pub fn at_most_on_node(&self, number: i64) -> i64 {
        let nodes = self.nodes.iter();
        let nodes = nodes.filter(|node| node.allowed.contains(&number));
        nodes.map(|node| node.memory * GIB).sum()
    }

    /// CPUs that it has for itself.
    pub fn own_cpus(&self) -> i64 {
        if self.exclusive { self.cores() } else { 0 }
    }

    /// Of each of its virtual nodes, the CPUs that it has for itself: they are shared out in
    /// order, the first ones get one more.
    pub fn own_cpus_of_nodes(&self) -> Vec<i64> {
        let nodes = i64::try_from(self.nodes.len()).unwrap_or(i64::MAX).max(1);
        let cpus = self.own_cpus();
        let of_node = |number| cpus / nodes + i64::from(number < cpus % nodes);
        (0..).take(self.nodes.len()).map(of_node).collect()
    }

    /// CPUs that it may have for itself on a NUMA node of its host.
    pub fn own_cpus_at_most_on_node(&self, number: i64) -> i64 {
        let nodes = self.nodes.iter().zip(self.own_cpus_of_nodes());
        let nodes = nodes.filter(|(node, _)| node.allowed.contains(&number));
        nodes.map(|(_, cpus)| cpus).sum()
    }

    /// How many of its virtual nodes may share CPUs of a NUMA node of its host.
    pub fn sharers_at_most_on_node(&self, number: i64) -> i64 {
        let nodes = self
            .nodes
            .iter()
            .filter(|node| node.allowed.contains(&number));
        if self.exclusive {
            0
        } else {
            nodes.count() as i64
        }
    }

    /// Cores that it shares with others.
    pub fn shared_cores(&self) -> i64 {
        if self.exclusive { 0 } else { self.cores() }
    }

    /// Memory that is not in huge pages, in bytes.
    pub fn ordinary(&self) -> i64 {
        (self.memory - self.pages).max(0) * GIB
    }
}

/// Name of a device.
pub(crate) fn device(number: u8) -> String {
    format!("pci-{number}")
}

/// A host as its document says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSpec {
    /// Memory in GiB.
    pub memory: i64,
    /// How much of its memory may be promised, in tenths: 10 is all of it once.
    pub memory_overcommit: i64,
    /// Cores.
    pub cores: i64,
    /// How much of its CPU may be promised, in tenths.
    pub cpu_overcommit: i64,
    /// How many GPUs.
    pub gpus: i64,
    /// How many licences.
    pub licences: i64,
    /// Names of its devices.
    pub devices: Vec<u8>,
    /// Free huge pages of 1 GiB, beside its memory.
    pub pages: i64,
    /// Memory of each of its NUMA nodes in GiB; none: it has none.
    pub nodes: Vec<i64>,
    /// Measured free memory in GiB, where it is measured.
    pub free: Option<i64>,
    /// Measured CPU load in percent, where it is measured.
    pub load: Option<i64>,
}

impl HostSpec {
    /// CPUs of a NUMA node: its cores are shared out to its nodes in turns.
    pub fn cpus_of_node(&self, number: i64) -> i64 {
        let nodes = i64::try_from(self.nodes.len()).unwrap_or(i64::MAX).max(1);
        self.cores / nodes + i64::from(number < self.cores % nodes)
    }

    /// What there is of its NUMA nodes.
    pub(crate) fn rooms(&self) -> Vec<Room> {
        let nodes = (0..).zip(&self.nodes);
        let room = nodes.map(|(number, memory)| Room {
            memory: memory * GIB,
            cpus: self.cpus_of_node(number),
            names_cpus: self.cpus_of_node(number) > 0,
        });
        room.collect()
    }

    /// Its document.
    pub fn document(&self, id: &str) -> Value {
        let mut host = json!({
            "id": id,
            "memory.total": self.memory * GIB,
            "memory.overcommit": self.memory_overcommit as f64 / 10.0,
            "cpu.cores": self.cores,
            "cpu.sockets": 1,
            "cpu.threads": self.cores,
            "cpu.overcommit": self.cpu_overcommit as f64 / 10.0,
            "amounts": [{"name": "licences", "total": self.licences}],
        });
        let gpus = (0..self.gpus).map(|index| json!({"index": index}));
        host["gpus"] = gpus.collect();
        let devices = self
            .devices
            .iter()
            .map(|it| json!({"name": device(*it), "free": true}));
        host["devices"] = devices.collect();
        if self.pages > 0 {
            host["huge-pages"] = json!([{"size": PAGE, "free": self.pages}]);
        }
        let nodes = (0..).zip(&self.nodes);
        let nodes = nodes.map(|(index, memory): (i64, _)| {
            json!({"index": index, "memory.total": memory * GIB, "memory.free": memory * GIB})
        });
        host["numa-nodes"] = nodes.collect();
        if let Ok(nodes @ 1..) = i64::try_from(self.nodes.len()) {
            let cpus = (0..self.cores).map(|cpu| json!({"cpu": cpu, "numa": cpu % nodes}));
            host["cpus"] = cpus.collect();
        }
        if let Some(load) = self.load {
            host["cpu.usage"] = (load as f64 / 100.0).into();
        }
        if let Some(free) = self.free {
            host["memory.free"] = (free * GIB).into();
        }
        host
    }
}
