//! Nodes become hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::Groups;
use super::instances::Instances;
use super::lines::Line;
use super::tags::ClusterTags;
use placewright_document::{Problems, shown};
use placewright_model::{Facts, Host, Value};

/// What a group's policy allows.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    pub(super) cpu_ratio: f64,
    pub(super) spindle_ratio: f64,
}

/// Ganeti's own.
const DEFAULT_POLICY: Policy = Policy {
    cpu_ratio: 4.0,
    spindle_ratio: 32.0,
};

/// All nodes.
pub(super) struct Nodes {
    list: Vec<Node>,
}

/// A node; amounts of memory and disk in bytes.
pub(super) struct Node {
    pub(super) name: String,
    group: String,
    memory: i64,
    memory_node: i64,
    memory_free: i64,
    disk: i64,
    disk_free: i64,
    cpus: f64,
    offline: bool,
    spindles: i64,
    exclusive: bool,
    spindles_free: i64,
    cpu_node: i64,
    cpu_speed: f64,
    policy: Policy,
    location: Vec<String>,
    migration: Vec<String>,
    receives: Vec<String>,
}

impl Nodes {
    pub(super) fn read(
        lines: &[Line<'_>],
        groups: &Groups,
        policies: &BTreeMap<String, Policy>,
        tags: &ClusterTags,
        problems: &mut Problems,
    ) -> Self {
        let mut list: Vec<Node> = Vec::new();
        for line in lines {
            let form = "a node has the fields name, total, own and free memory, total and free disk, CPUs, state and group";
            if !line.has(9, form, problems) {
                continue;
            }
            let Some(mut node) = Node::read(line, tags, problems) else {
                continue;
            };
            match groups.get(&node.group) {
                Some(group) => {
                    node.policy = policies.get(group).copied().unwrap_or(DEFAULT_POLICY);
                }
                None => {
                    let message = format!("field 9: there is no group \"{}\"", shown(&node.group));
                    let known = groups.keys().map(String::as_str);
                    problems.add_misnamed(&line.place(8), message, &node.group, known);
                }
            }
            if node.name.is_empty() || list.iter().any(|known| known.name == node.name) {
                let message = format!(
                    "field 1: \"{}\" is no name of its own for a node",
                    shown(&node.name)
                );
                problems.add(&line.place(0), message);
                continue;
            }
            list.push(node);
        }
        Self { list }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|node| node.name.as_str())
    }

    /// The place of the node of that name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|node| node.name == name)
    }

    pub(super) fn get(&self, node: usize) -> Option<&Node> {
        self.list.get(node)
    }

    /// Keep the nodes of one group: the one that is asked for, or the only one.
    pub(super) fn choose(&mut self, wanted: Option<&str>, groups: &Groups) -> Result<(), String> {
        let used: BTreeSet<&str> = self.list.iter().map(|node| node.group.as_str()).collect();
        let name_of = |id: &str| groups.get(id).cloned().unwrap_or_else(|| id.to_owned());
        let names = || {
            used.iter()
                .map(|id| name_of(id))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let Some(wanted) = wanted else {
            return match used.len() {
                0 | 1 => Ok(()),
                _ => Err(format!(
                    "the nodes are of several groups: choose one of {}",
                    names()
                )),
            };
        };
        let chosen = used
            .iter()
            .find(|id| **id == wanted || name_of(id) == wanted);
        let Some(chosen) = chosen.map(|id| (*id).to_owned()) else {
            return Err(format!(
                "no node is of group \"{}\"; there are nodes of {}",
                shown(wanted),
                names()
            ));
        };
        self.list.retain(|node| node.group == chosen);
        Ok(())
    }

    pub(super) fn hosts(&self, instances: &Instances) -> Vec<Host> {
        let nodes = self.list.iter();
        nodes.map(|node| node.host(instances)).collect()
    }
}

impl Node {
    fn read(line: &Line<'_>, tags: &ClusterTags, problems: &mut Problems) -> Option<Self> {
        let name = line.get(0)?.to_owned();
        let group = line.get(8)?.to_owned();
        // What is not known of a node that cannot be reached.
        if (1..7).any(|field| line.get(field) == Some("?")) {
            return Some(Self {
                offline: true,
                ..Self::nothing(name, group)
            });
        }
        // Fields that were added later, each with what it was before.
        fn or<T>(read: Option<T>, line: &Line<'_>, field: usize, default: T) -> Option<T> {
            match line.get(field) {
                None | Some("") => Some(default),
                Some(_) => read,
            }
        }
        let own_tags = line.list(10);
        let node = Self {
            memory: line.mebibytes(1, "total memory", problems)?,
            memory_node: line.mebibytes(2, "memory of the node itself", problems)?,
            memory_free: line.mebibytes(3, "free memory", problems)?,
            disk: line.mebibytes(4, "total disk", problems)?,
            disk_free: line.mebibytes(5, "free disk", problems)?,
            cpus: line.number(6, "number of CPUs", problems)?,
            offline: line.get(7) == Some("Y"),
            spindles: or(line.later(9, "spindles", problems), line, 9, 1)?,
            exclusive: match line.get(11) {
                None | Some("") => false,
                Some(_) => line.flag(11, "flag of exclusive storage", problems)?,
            },
            spindles_free: or(line.later(12, "free spindles", problems), line, 12, 0)?,
            cpu_node: or(
                line.later(13, "CPUs of the node itself", problems),
                line,
                13,
                1,
            )?,
            cpu_speed: match line.get(14) {
                None | Some("") => 1.0,
                Some(_) => line.number(14, "CPU speed", problems)?,
            },
            location: tags.location(&own_tags),
            migration: tags.migration(&own_tags),
            receives: tags.receives(&own_tags),
            ..Self::nothing(name, group)
        };
        Some(node)
    }

    fn nothing(name: String, group: String) -> Self {
        Self {
            name,
            group,
            memory: 0,
            memory_node: 0,
            memory_free: 0,
            disk: 0,
            disk_free: 0,
            cpus: 0.0,
            offline: false,
            spindles: 0,
            exclusive: false,
            spindles_free: 0,
            cpu_node: 0,
            cpu_speed: 1.0,
            policy: DEFAULT_POLICY,
            location: Vec::new(),
            migration: Vec::new(),
            receives: Vec::new(),
        }
    }

    pub(super) fn is_in_group_of(&self, other: &Self) -> bool {
        self.group == other.group
    }

    fn host(&self, instances: &Instances) -> Host {
        let taken = instances.taken(&self.name);
        // More than is free may be promised already, and less than was promised used.
        let missing = self.memory - self.memory_node - taken.memory - self.memory_free;
        let state = if self.offline { "down" } else { "up" };
        let mut host = Host::new(self.name.as_str())
            .with("name", self.name.as_str())
            .with("state", state)
            .with("memory.total", self.memory)
            .with("memory.reserved", self.memory_node)
            .with("memory.free", self.memory_free)
            .with("cpu.total", (self.cpus * 1000.0).round() as i64)
            .with("attribute.memory.missing", missing)
            .with("attribute.cpu.node", self.cpu_node)
            .with("attribute.cpu.speed", Value::Number(self.cpu_speed))
            .with("attribute.cpu.ratio", Value::Number(self.policy.cpu_ratio))
            .with("attribute.disk.total", self.disk)
            .with("attribute.disk.available", self.disk_free + taken.disk)
            .with("attribute.spindles.total", self.spindles)
            .with(
                "attribute.spindles.available",
                self.spindles_free + taken.spindles,
            )
            .with(
                "attribute.spindles.ratio",
                Value::Number(self.policy.spindle_ratio),
            )
            .with("attribute.spindles.exclusive", self.exclusive)
            .with("attribute.group", self.group.as_str());
        for (table, tags) in [
            ("attribute.location", &self.location),
            ("attribute.migration", &self.migration),
            ("attribute.receives", &self.receives),
        ] {
            for tag in tags {
                host.facts
                    .push_row(table, Facts::new().with("tag", tag.as_str()));
            }
        }
        host
    }
}

impl Line<'_> {
    /// A whole number in a field that older files do not have.
    fn later(&self, field: usize, name: &str, problems: &mut Problems) -> Option<i64> {
        match self.get(field) {
            None | Some("") => None,
            Some(_) => self.integer(field, name, problems),
        }
    }
}
