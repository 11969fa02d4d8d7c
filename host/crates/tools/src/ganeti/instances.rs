//! Instances become VMs.

use std::collections::BTreeMap;

use super::lines::Line;
use super::nodes::Nodes;
use super::tags::ClusterTags;
use placewright_document::{PlacedVm, Problems, shown};
use placewright_model::{Facts, Vm};

const STATUSES: [&str; 9] = [
    "running",
    "ADMIN_down",
    "ADMIN_offline",
    "ERROR_up",
    "ERROR_down",
    "ERROR_nodedown",
    "ERROR_nodeoffline",
    "ERROR_wrongnode",
    "USER_down",
];

const TEMPLATES: [&str; 9] = [
    "diskless",
    "file",
    "sharedfile",
    "plain",
    "blockdev",
    "drbd",
    "rbd",
    "ext",
    "gluster",
];

/// All instances.
pub(super) struct Instances {
    list: Vec<Instance>,
}

/// An instance; amounts of memory and disk in bytes.
struct Instance {
    id: String,
    memory: i64,
    disk: i64,
    vcpus: i64,
    status: String,
    auto_balance: bool,
    primary: String,
    secondary: Option<String>,
    template: String,
    spindles: i64,
    disk_spindles: Option<i64>,
    forthcoming: bool,
    exclusion: Vec<String>,
    desired: Vec<String>,
}

/// What instances have taken of a node already.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) memory: i64,
    pub(super) disk: i64,
    pub(super) spindles: i64,
}

impl Instances {
    pub(super) fn read(
        lines: &[Line<'_>],
        nodes: &Nodes,
        tags: &ClusterTags,
        problems: &mut Problems,
    ) -> Self {
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        let mut list = Vec::new();
        for line in lines {
            let form = "an instance has the fields name, memory, disk, vCPUs, status, auto-balance, primary and secondary node, disk template and tags";
            if !line.has(10, form, problems) {
                continue;
            }
            let Some(mut instance) = Instance::read(line, nodes, tags, problems) else {
                continue;
            };
            // htools tell instances apart by number, and take one name twice.
            let count = names.entry(instance.id.clone()).or_default();
            *count += 1;
            if *count > 1 {
                instance.id = format!("{}#{count}", instance.id);
            }
            list.push(instance);
        }
        Self { list }
    }

    /// Keep those whose primary node is one of these.
    pub(super) fn keep_on(&mut self, nodes: &Nodes) {
        self.list
            .retain(|instance| nodes.find(&instance.primary).is_some());
    }

    /// What they have taken of a node.
    pub(super) fn taken(&self, node: &str) -> Taken {
        let mut taken = Taken::default();
        for instance in self.list.iter().filter(|it| !it.forthcoming) {
            let primary = instance.primary == node;
            if primary && instance.uses_memory() {
                taken.memory += instance.memory;
            }
            if primary || instance.secondary.as_deref() == Some(node) {
                if matches!(&*instance.template, "drbd" | "plain") {
                    taken.disk += instance.disk;
                }
                taken.spindles += instance.disk_spindles.unwrap_or(0);
            }
        }
        taken
    }

    pub(super) fn vms(self, nodes: &Nodes) -> Vec<PlacedVm> {
        let instances = self.list.into_iter();
        instances.map(|instance| instance.placed(nodes)).collect()
    }
}

impl Instance {
    fn read(
        line: &Line<'_>,
        nodes: &Nodes,
        tags: &ClusterTags,
        problems: &mut Problems,
    ) -> Option<Self> {
        let id = line.get(0)?.to_owned();
        if id.is_empty() {
            problems.add(&line.place(0), "field 1 is the name, and must not be empty");
        }
        let own_tags = line.list(9);
        let primary = node(line, 6, "primary node", nodes, problems);
        let secondary = match line.get(7) {
            None | Some("") => None,
            Some(_) => Some(node(line, 7, "secondary node", nodes, problems)?),
        };
        let template = word(line, 8, "disk template", &TEMPLATES, problems);
        let instance = Self {
            memory: line.mebibytes(1, "memory", problems)?,
            disk: line.mebibytes(2, "disk", problems)?,
            vcpus: line.integer(3, "number of vCPUs", problems)?,
            status: word(line, 4, "status", &STATUSES, problems)?,
            auto_balance: line.flag(5, "flag of auto-balance", problems)?,
            primary: primary?,
            template: template?,
            spindles: match line.get(10) {
                None | Some("") => 1,
                Some(_) => line.integer(10, "use of spindles", problems)?,
            },
            disk_spindles: match line.get(11) {
                None | Some("" | "-") => None,
                Some(_) => Some(line.integer(11, "number of spindles", problems)?),
            },
            forthcoming: match line.get(12) {
                None | Some("") => false,
                Some(_) => line.flag(12, "flag of forthcoming", problems)?,
            },
            exclusion: tags.exclusion(&own_tags),
            desired: tags.desired_location(&own_tags),
            secondary,
            id,
        };
        if instance.template == "drbd" && instance.secondary.as_ref() == Some(&instance.primary) {
            let message = "field 8: the secondary node must not be the primary node";
            problems.add(&line.place(7), message);
        }
        Some(instance)
    }

    fn uses_memory(&self) -> bool {
        let down = ["ADMIN_down", "ADMIN_offline", "ERROR_down", "USER_down"];
        !down.contains(&self.status.as_str())
    }

    fn placed(self, nodes: &Nodes) -> PlacedVm {
        let moves = !matches!(&*self.template, "plain" | "file" | "diskless");
        let of_group = |name: &str| nodes.find(name).and_then(|node| nodes.get(node));
        let split = self.secondary.as_deref().is_some_and(|secondary| {
            match (of_group(&self.primary), of_group(secondary)) {
                (Some(primary), Some(secondary)) => !primary.is_in_group_of(secondary),
                _ => true,
            }
        });
        let state = if self.uses_memory() { "up" } else { "down" };
        let mut vm = Vm::new(self.id.as_str())
            .with("name", self.id.as_str())
            .with("state", state)
            .with("memory", self.memory)
            .with("cpu", self.vcpus.saturating_mul(1000))
            .with("cores", self.vcpus)
            .with("migratable", moves && !split && self.auto_balance)
            .with("attribute.disk", self.disk)
            .with("attribute.disk-template", self.template.as_str())
            .with("attribute.spindles", self.spindles)
            .with("attribute.status", self.status.as_str())
            .with("attribute.auto-balance", self.auto_balance)
            .with("attribute.forthcoming", self.forthcoming);
        if let Some(spindles) = self.disk_spindles {
            vm.facts.set("attribute.disk-spindles", spindles);
        }
        for (table, column, texts) in [
            ("attribute.exclusion", "tag", &self.exclusion),
            ("attribute.desired-location", "tag", &self.desired),
            (
                "attribute.secondary",
                "host",
                &self.secondary.into_iter().collect(),
            ),
        ] {
            for text in texts {
                vm.facts
                    .push_row(table, Facts::new().with(column, text.as_str()));
            }
        }
        PlacedVm {
            vm,
            placed: Facts::new(),
            host: self.primary.as_str().into(),
            pending: false,
        }
    }
}

/// A node by its name.
fn node(
    line: &Line<'_>,
    field: usize,
    name: &str,
    nodes: &Nodes,
    problems: &mut Problems,
) -> Option<String> {
    let text = line.get(field)?;
    if nodes.find(text).is_none() {
        let number = field + 1;
        let message = format!(
            "field {number} is the {name}, and there is no node \"{}\"",
            shown(text)
        );
        problems.add_misnamed(&line.place(field), message, text, nodes.names());
        return None;
    }
    Some(text.to_owned())
}

/// One of a few words.
fn word(
    line: &Line<'_>,
    field: usize,
    name: &str,
    words: &[&str],
    problems: &mut Problems,
) -> Option<String> {
    let text = line.get(field)?;
    if !words.contains(&text) {
        let number = field + 1;
        let message = format!(
            "field {number} is the {name}, and must be {}, not \"{}\"",
            placewright_document::alternatives(words),
            shown(text)
        );
        problems.add_misnamed(&line.place(field), message, text, words.iter().copied());
        return None;
    }
    Some(text.to_owned())
}
