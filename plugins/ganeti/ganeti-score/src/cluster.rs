//! Nodes and instances, made of rows.

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

use crate::load::Load;
use crate::rows::{Host, Tag, Vm};

/// Where Ganeti's own policy says nothing.
const CPU_RATIO: f64 = 4.0;
const SPINDLE_RATIO: f64 = 32.0;

/// A tag, by number.
pub type TagNumber = usize;

/// The cluster as it runs.
#[derive(Default)]
pub struct Cluster {
    /// In the order in which hosts are listed.
    pub nodes: Vec<Node>,
    /// In the order of their ids.
    pub instances: Vec<Instance>,
    tags: BTreeMap<Text, TagNumber>,
    ids: BTreeMap<Text, usize>,
}

/// A node.
pub struct Node {
    /// Its row of `hosts`.
    pub row: u32,
    pub id: Text,
    pub offline: bool,
    /// By number, as tags.
    pub group: Option<TagNumber>,
    pub memory: f64,
    pub cpus: f64,
    pub cpu_ratio: f64,
    pub spindle_limit: f64,
    pub exclusive: bool,
    /// Shares are products, which are faster than quotients: of memory in bytes,
    pub per_memory: f64,
    /// of CPU by vCPUs, for its speed,
    pub per_cpu: f64,
    /// of disk, or of spindles where they are exclusive,
    pub per_disk: f64,
    /// which is free on a node that has none,
    pub no_disk: f64,
    /// and of the limit of uses of spindles.
    pub per_spindle_use: f64,
    pub location: Vec<TagNumber>,
    pub migration: Vec<TagNumber>,
    pub receives: Vec<TagNumber>,
    /// What its instances leave.
    pub load: Load,
    /// By primary node: the memory of the instances that would start here if that
    /// one failed.
    pub reserved_for: Vec<i64>,
    /// The most of these.
    pub reserved: i64,
    /// The exclusion tags of its primary instances, each with their number.
    pub exclusion: BTreeMap<TagNumber, i64>,
}

/// How an instance's disks are mirrored, which says how it can move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mirror {
    /// Not at all: it stays.
    None,
    /// Outside of the cluster: it can run on any node.
    External,
    /// On a secondary node.
    Internal,
}

/// An instance.
pub struct Instance {
    /// Its row of `hosts/vms`.
    pub row: u32,
    pub id: Text,
    pub primary: usize,
    /// None, too, if the node is not known.
    pub secondary: Option<usize>,
    /// Whether it has a secondary node that is not known.
    pub secondary_lost: bool,
    pub mirror: Mirror,
    /// Whether its disks take disk of its nodes.
    pub local: bool,
    pub movable: bool,
    pub forthcoming: bool,
    /// Spindles that it has for itself, if that is known.
    pub disk_spindles: Option<i64>,
    /// What its primary and its secondary node have less with it.
    pub as_primary: Load,
    pub as_secondary: Load,
    /// Memory that must be free on its secondary, should the primary fail.
    pub mirrored: i64,
    pub exclusion: Vec<TagNumber>,
    pub desired: Vec<TagNumber>,
}

impl Cluster {
    /// Of the hosts in these rows, with their VMs.
    pub fn new(hosts: &Rows<Host>) -> Self {
        let mut rows: Vec<(u32, Host)> = hosts.numbered().collect();
        rows.sort_by_key(|(_, host)| host.listed);
        let mut cluster = Self::default();
        for (row, host) in &rows {
            let node = cluster.node(*row, host, rows.len());
            cluster.ids.insert(node.id.clone(), cluster.nodes.len());
            cluster.nodes.push(node);
        }
        for (primary, (_, host)) in rows.iter().enumerate() {
            for (row, vm) in host.vms.numbered() {
                let instance = cluster.instance(row, &vm, primary);
                cluster.put(&instance);
                cluster.instances.push(instance);
            }
        }
        cluster.instances.sort_by(|a, b| a.id.cmp(&b.id));
        cluster
    }

    /// Whether there are instances that are only planned yet.
    pub fn is_planned(&self) -> bool {
        self.instances.iter().any(|instance| instance.forthcoming)
    }

    /// The node of that id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    fn node(&mut self, row: u32, host: &Host, nodes: usize) -> Node {
        let missing = host.memory_missing.unwrap_or(0);
        let free = host.memory.0 - host.memory_reserved.0;
        let disk = host.disk.unwrap_or(0);
        let disk_available = host.disk_available.unwrap_or(disk);
        let spindles = host.spindles.unwrap_or(1);
        let spindles_free = host.spindles_available.unwrap_or(spindles);
        let vcpus = host.cpu_node.unwrap_or(0);
        let exclusive = host.exclusive.unwrap_or(false);
        let (memory, cpus) = (host.memory.0 as f64, host.cpu.0 as f64 / 1000.0);
        let spindle_limit = host.spindle_ratio.unwrap_or(SPINDLE_RATIO) * spindles as f64;
        let of_disk = if exclusive { spindles } else { disk };
        Node {
            row,
            id: host.id.clone(),
            offline: host.state != "up",
            group: host.group.clone().map(|group| self.tag_number(group)),
            memory,
            cpus,
            cpu_ratio: host.cpu_ratio.or(host.cpu_overcommit).unwrap_or(CPU_RATIO),
            spindle_limit,
            exclusive,
            per_memory: memory.recip(),
            per_cpu: (cpus * host.cpu_speed.unwrap_or(1.0)).recip(),
            per_disk: if of_disk > 0 {
                (of_disk as f64).recip()
            } else {
                0.0
            },
            no_disk: if of_disk > 0 { 0.0 } else { 1.0 },
            per_spindle_use: if exclusive {
                0.0
            } else {
                spindle_limit.recip()
            },
            location: self.tag_numbers(&host.location),
            migration: self.tag_numbers(&host.migration),
            receives: self.tag_numbers(&host.receives),
            load: Load {
                // Memory that instances have not taken yet is still promised to them.
                free: free - missing.max(0),
                free_planned: free - missing,
                disk: disk_available,
                disk_planned: disk_available,
                vcpus,
                vcpus_planned: vcpus,
                spindles_free,
                spindles_free_planned: spindles_free,
                ..Load::default()
            },
            reserved_for: vec![0; nodes],
            reserved: 0,
            exclusion: BTreeMap::new(),
        }
    }

    /// The instance of a VM that runs on a node, or would.
    pub fn instance(&mut self, row: u32, vm: &Vm, primary: usize) -> Instance {
        let template = vm.disk_template.as_ref().map_or("ext", Text::as_str);
        let status = vm.status.as_ref().map_or("running", Text::as_str);
        let mirror = match template {
            "drbd" => Mirror::Internal,
            "plain" | "file" => Mirror::None,
            _ => Mirror::External,
        };
        let auto_balance = vm.auto_balance.unwrap_or(true);
        let forthcoming = vm.forthcoming.unwrap_or(false);
        let online = status != "ADMIN_offline";
        let down = ["ADMIN_down", "ADMIN_offline", "ERROR_down", "USER_down"].contains(&status);
        let local = matches!(template, "drbd" | "plain");
        let of_disks = |amount: i64| if local { amount } else { 0 };
        let now = |amount: i64| if forthcoming { 0 } else { amount };
        let disk = of_disks(vm.disk.unwrap_or(0));
        let spindles = of_disks(vm.spindles.unwrap_or(1));
        let disk_spindles = vm.disk_spindles.unwrap_or(0);
        let vcpus = if online { vm.vcpus } else { 0 };
        let as_secondary = Load {
            disk: -now(disk),
            disk_planned: -disk,
            spindles: now(spindles),
            spindles_planned: spindles,
            spindles_free: -now(disk_spindles),
            spindles_free_planned: -disk_spindles,
            secondaries: now(1),
            ..Load::default()
        };
        let as_primary = Load {
            free: if down { 0 } else { -now(vm.memory.0) },
            free_planned: -vm.memory.0,
            vcpus: now(vcpus),
            vcpus_planned: vcpus,
            primaries: now(1),
            secondaries: 0,
            ..as_secondary
        };
        let secondary = vm.secondary.iter().find_map(|it| it.host);
        let known = secondary.as_ref().and_then(|host| self.find(host));
        let split = known.is_some_and(|s| self.nodes[s].group != self.nodes[primary].group);
        Instance {
            row,
            id: vm.id.clone(),
            primary,
            secondary: known,
            secondary_lost: secondary.is_some() && known.is_none(),
            mirror,
            local,
            // Ganeti moves diskless instances by hand only, and none between groups.
            movable: auto_balance
                && !split
                && !matches!(template, "diskless" | "plain" | "file")
                && (mirror != Mirror::Internal || known.is_some()),
            forthcoming,
            disk_spindles: vm.disk_spindles,
            as_primary,
            as_secondary,
            mirrored: if online && auto_balance {
                vm.memory.0
            } else {
                0
            },
            exclusion: self.tag_numbers(&vm.exclusion),
            desired: self.tag_numbers(&vm.desired_location),
        }
    }

    /// The nodes of the instance have it now.
    pub fn put(&mut self, instance: &Instance) {
        let primary = &mut self.nodes[instance.primary];
        primary.load = primary.load + instance.as_primary;
        for tag in &instance.exclusion {
            *primary.exclusion.entry(*tag).or_default() += 1;
        }
        if let Some(secondary) = instance.secondary {
            let secondary = &mut self.nodes[secondary];
            secondary.load = secondary.load + instance.as_secondary;
            let reserved = &mut secondary.reserved_for[instance.primary];
            *reserved += instance.reserves();
            secondary.reserved = secondary.reserved.max(*reserved);
        }
    }

    /// Take the instance out of its nodes.
    pub fn take(&mut self, instance: &Instance) {
        let primary = &mut self.nodes[instance.primary];
        primary.load = primary.load - instance.as_primary;
        for tag in &instance.exclusion {
            *primary.exclusion.entry(*tag).or_default() -= 1;
        }
        if let Some(secondary) = instance.secondary {
            let secondary = &mut self.nodes[secondary];
            secondary.load = secondary.load - instance.as_secondary;
            secondary.reserved_for[instance.primary] -= instance.reserves();
            secondary.reserved = secondary.most_reserved();
        }
    }

    fn tag_numbers(&mut self, tags: &Rows<Tag>) -> Vec<TagNumber> {
        let tags = tags.iter().filter_map(|tag| tag.tag);
        tags.map(|tag| self.tag_number(tag)).collect()
    }

    fn tag_number(&mut self, tag: Text) -> TagNumber {
        let next = self.tags.len();
        *self.tags.entry(tag).or_insert(next)
    }
}

impl Instance {
    /// Memory that its secondary keeps free for it now.
    pub fn reserves(&self) -> i64 {
        if self.forthcoming { 0 } else { self.mirrored }
    }
}

impl Node {
    fn most_reserved(&self) -> i64 {
        self.reserved_for.iter().copied().max().unwrap_or(0)
    }

    /// What it must keep free, without this much for instances of that primary.
    pub fn reserved_without(&self, primary: usize, memory: i64) -> i64 {
        if self.reserved_for[primary] < self.reserved || memory == 0 {
            return self.reserved;
        }
        let others = (0..).zip(&self.reserved_for);
        let others = others.filter(|(node, _)| *node != primary);
        let most = others.map(|(_, reserved)| *reserved).max().unwrap_or(0);
        most.max(self.reserved_for[primary] - memory)
    }

    /// Whether an instance can migrate from here to there.
    pub fn migrates_to(&self, other: &Self) -> bool {
        self.migration
            .iter()
            .all(|tag| other.receives.contains(tag))
    }

    /// How many of these exclusion tags an instance here has.
    pub fn shares(&self, exclusion: &[TagNumber]) -> usize {
        let here = |tag: &&TagNumber| self.exclusion.get(tag).is_some_and(|count| *count > 0);
        exclusion.iter().filter(here).count()
    }
}
