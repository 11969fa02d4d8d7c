//! The score of a Ganeti cluster, worked out in one go from what hosts and VMs are:
//! nothing is taken from the unit that balances.

use std::collections::BTreeMap;

use placewright_inventory::{HostEntry, Inventory};
use placewright_model::{Facts, Vm};

const DOWN: [&str; 4] = ["ADMIN_down", "ADMIN_offline", "ERROR_down", "USER_down"];

/// An instance on a node.
struct Instance<'a> {
    vm: &'a Vm,
    primary: &'a str,
}

impl Instance<'_> {
    fn integer(&self, column: &str) -> f64 {
        self.vm.facts.integer(column).unwrap_or(0) as f64
    }

    fn text(&self, column: &str) -> &str {
        self.vm.facts.text(column).unwrap_or_default()
    }

    fn is(&self, column: &str) -> bool {
        self.vm.facts.is(column)
    }

    fn real(&self) -> bool {
        !self.is("attribute.forthcoming")
    }

    fn online(&self) -> bool {
        self.text("attribute.status") != "ADMIN_offline"
    }

    fn local(&self) -> bool {
        ["drbd", "plain"].contains(&self.text("attribute.disk-template"))
    }

    fn uses_memory(&self) -> bool {
        self.real() && !DOWN.contains(&self.text("attribute.status"))
    }

    fn secondary(&self) -> Option<&str> {
        self.vm
            .facts
            .rows("attribute.secondary")
            .first()?
            .text("host")
    }
}

fn tags<'a>(facts: &'a Facts, table: &str) -> Vec<&'a str> {
    let rows = facts.rows(table).iter();
    rows.filter_map(|row| row.text("tag")).collect()
}

/// The score of the cluster as it is.
pub(crate) fn of(inventory: &Inventory) -> f64 {
    let nodes: Vec<&HostEntry> = inventory.hosts().map(|(_, host)| host).collect();
    let instances: Vec<Instance<'_>> = nodes
        .iter()
        .flat_map(|node| {
            let vms = inventory.vms_of(node);
            vms.map(|entry| Instance {
                vm: &entry.vm,
                primary: &node.id,
            })
        })
        .collect();
    let online = |node: &&&HostEntry| node.facts.text("state") == Some("up");
    let up: Vec<Node<'_>> = (nodes.iter().filter(online))
        .map(|node| Node::new(node, &nodes, &instances))
        .collect();
    let figure = |figure: fn(&Node<'_>) -> f64| deviation(up.iter().map(figure).collect());
    let mut score = 0.5 * figure(|node| node.free / node.memory)
        + 0.5 * figure(|node| node.free_planned / node.memory)
        + 0.5 * figure(|node| node.disk(node.disk_taken, node.spindles_taken))
        + 0.5 * figure(|node| node.disk(node.disk_planned, node.spindles_planned))
        + figure(|node| node.reserved / node.memory)
        + 0.5 * figure(|node| node.vcpus / node.cpus)
        + 0.5 * figure(|node| node.vcpus_planned / node.cpus)
        + 3.0 * figure(|node| node.primaries)
        + figure(|node| node.primaries + node.secondaries)
        + 0.5 * figure(|node| node.uses / node.use_limit)
        + 0.5 * figure(|node| node.uses_planned / node.use_limit);
    for node in &up {
        if node.free < node.reserved {
            score += node.primaries + node.secondaries;
        }
        score += 0.25 * node.reserved / node.memory;
        score += 2.0 * node.shared_exclusion + node.misplaced;
    }
    for node in nodes.iter().filter(|node| !online(node)) {
        let node = Node::new(node, &nodes, &instances);
        score += 20.0 * node.primaries + 4.0 * node.secondaries;
    }
    score + meetings(&up)
}

fn deviation(values: Vec<f64>) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / count).sqrt()
}

/// Exclusion tags that meet in a failure domain.
fn meetings(nodes: &[Node<'_>]) -> f64 {
    let mut counts: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for pair in nodes.iter().flat_map(|node| &node.pairs) {
        *counts.entry(*pair).or_default() += 1.0;
    }
    counts.values().map(|count| count - 1.0).sum()
}

/// What is counted of a node.
struct Node<'a> {
    facts: &'a Facts,
    memory: f64,
    cpus: f64,
    free: f64,
    free_planned: f64,
    disk_taken: f64,
    disk_planned: f64,
    spindles_taken: f64,
    spindles_planned: f64,
    reserved: f64,
    vcpus: f64,
    vcpus_planned: f64,
    primaries: f64,
    secondaries: f64,
    uses: f64,
    uses_planned: f64,
    use_limit: f64,
    shared_exclusion: f64,
    misplaced: f64,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Node<'a> {
    fn new(node: &'a HostEntry, nodes: &[&HostEntry], instances: &'a [Instance<'a>]) -> Self {
        let facts = &node.facts;
        let integer = |column: &str| facts.integer(column).unwrap_or(0) as f64;
        let number = |column: &str| facts.number(column).unwrap_or(0.0);
        let primary = || instances.iter().filter(|it| it.primary == &*node.id);
        let secondary = || {
            instances
                .iter()
                .filter(|it| it.secondary() == Some(&*node.id))
        };
        let both = || primary().chain(secondary());
        let free = integer("memory.total") - integer("memory.reserved");
        let missing = integer("attribute.memory.missing");
        let taken = primary()
            .filter(|it| it.uses_memory())
            .map(|it| it.integer("memory"));
        let speed = number("attribute.cpu.speed");
        let vcpus = |real: bool| {
            let counted = primary().filter(move |it| it.online() && (it.real() || !real));
            integer("attribute.cpu.node") + counted.map(|it| it.integer("cores")).sum::<f64>()
        };
        let sum = |column: &str, real: bool, local: bool| -> f64 {
            let counted = both().filter(|it| (it.real() || !real) && (it.local() || !local));
            counted.map(|it| it.integer(column)).sum()
        };
        let exclusive = facts.is("attribute.spindles.exclusive");
        let uses = |real| match exclusive {
            true => 0.0,
            false => sum("attribute.spindles", real, true),
        };
        let mut reserved: BTreeMap<&str, f64> = BTreeMap::new();
        for it in secondary() {
            if it.real() && it.online() && it.is("attribute.auto-balance") {
                *reserved.entry(it.primary).or_default() += it.integer("memory");
            }
        }
        let location = tags(facts, "attribute.location");
        let mut shared: BTreeMap<&str, f64> = BTreeMap::new();
        let (mut misplaced, mut pairs) = (0.0, Vec::new());
        for it in primary() {
            let exclusion = tags(&it.vm.facts, "attribute.exclusion");
            for tag in &exclusion {
                *shared.entry(tag).or_default() += 1.0;
            }
            if it.real() {
                let pairs_of = |tag| location.iter().map(move |place| (*place, tag));
                pairs.extend(exclusion.into_iter().flat_map(pairs_of));
                let desired = tags(&it.vm.facts, "attribute.desired-location");
                let missed = desired.iter().filter(|tag| !location.contains(tag));
                misplaced += missed.count() as f64;
                let mirror = nodes.iter().find(|node| it.secondary() == Some(&*node.id));
                let mirror = mirror.map(|node| tags(&node.facts, "attribute.location"));
                let common = mirror.unwrap_or_default();
                misplaced += common.iter().filter(|tag| location.contains(tag)).count() as f64;
            }
        }
        Self {
            facts,
            memory: integer("memory.total"),
            cpus: integer("cpu.total") / 1000.0 * speed,
            free: free - missing.max(0.0) - taken.sum::<f64>(),
            free_planned: free - missing - primary().map(|it| it.integer("memory")).sum::<f64>(),
            disk_taken: sum("attribute.disk", true, true),
            disk_planned: sum("attribute.disk", false, true),
            spindles_taken: sum("attribute.disk-spindles", true, false),
            spindles_planned: sum("attribute.disk-spindles", false, false),
            reserved: reserved.into_values().fold(0.0, f64::max),
            vcpus: vcpus(true),
            vcpus_planned: vcpus(false),
            primaries: primary().filter(|it| it.real()).count() as f64,
            secondaries: secondary().filter(|it| it.real()).count() as f64,
            uses: uses(true),
            uses_planned: uses(false),
            use_limit: integer("attribute.spindles.total") * number("attribute.spindles.ratio"),
            shared_exclusion: shared.into_values().map(|count| count - 1.0).sum(),
            misplaced,
            pairs,
        }
    }

    /// The share of its disk that is left.
    fn disk(&self, taken: f64, spindles_taken: f64) -> f64 {
        let (total, available, taken) = match self.facts.is("attribute.spindles.exclusive") {
            true => ("spindles.total", "spindles.available", spindles_taken),
            false => ("disk.total", "disk.available", taken),
        };
        let integer = |name| {
            self.facts
                .integer(&format!("attribute.{name}"))
                .unwrap_or(0) as f64
        };
        match integer(total) {
            0.0 => 1.0,
            total => (integer(available) - taken) / total,
        }
    }
}
