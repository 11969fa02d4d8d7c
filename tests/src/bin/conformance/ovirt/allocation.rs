//! Which CPUs and NUMA nodes of a host VMs would get: told by the explain parts of
//! the units that look for them.

use std::collections::BTreeMap;

use placewright_chain::{Explanation, FactShown};
use placewright_model::{Facts, Value};
use serde::Deserialize;

use super::asking;
use super::document::{Document, Entry};
use super::input::{HostInput, HostNode, Input, VmInput, VmNode};
use super::outcome::Outcome;
use super::vector::Vector;
use crate::units::Units;

/// The one host.
const HOST: &str = "host";
/// The one VM of a vector that names none.
const VM: &str = "vm";

/// A host's CPUs, and a VM that wants some for itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CpuInput {
    /// The host's threads: NUMA node, socket, core, number. Some of oVirt's tests
    /// number threads core by core, so a thread is told by its place in this list.
    topology: Vec<(i64, i64, i64, i64)>,
    vm: VmInput,
    #[serde(default)]
    taken: Vec<Taken>,
}

/// A CPU that another VM is pinned to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Taken {
    position: i64,
    policy: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CpuExpect {
    possible: Option<bool>,
    /// The places of the CPUs in the topology, in the order of vCPUs.
    positions: Option<Vec<i64>>,
    count: Option<usize>,
    /// How many CPUs of each socket.
    per_socket: Option<BTreeMap<i64, usize>>,
    /// How many CPUs are some VM's own then.
    exclusive_in_topology: Option<i64>,
}

/// CPUs for a VM alone.
///
/// # Errors
/// Why the vector cannot be run.
pub(super) fn exclusive_cpus(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let (input, expect): (CpuInput, CpuExpect) = (vector.input()?, vector.expect()?);
    let vm = input.vm.id.clone();
    let cpus = topology(&input.topology);
    let mut question = question(input.vm, HostInput::default());
    question.vms.extend(others(&input.taken, cpus.len())?);
    let mut inventory = question.inventory()?;
    let described = inventory.set_host_rows(HOST, "cpus", cpus);
    described.map_err(|error| error.to_string())?;
    let policy = policy("cpu-pinning");
    let explanation = asking::explain_in(inventory, question.request()?, &policy, units)?;
    let found = Found::of(&explanation, "vcpu", &vm)?;

    let mut outcome = Outcome::default();
    if let Some(possible) = expect.possible {
        found.compare_possible(&mut outcome, possible);
    }
    if let Some(positions) = &expect.positions {
        let same = *positions == found.values;
        let (expected, got) = (format!("{positions:?}"), format!("{:?}", found.values));
        outcome.check("positions of the VM's CPUs", same, expected, got);
    }
    if let Some(count) = expect.count {
        outcome.compare("number of the VM's CPUs", &count, &found.values.len());
    }
    if let Some(expected) = &expect.per_socket {
        let mut got = BTreeMap::new();
        for position in &found.values {
            let thread = usize::try_from(*position).ok();
            let thread = thread.and_then(|position| input.topology.get(position));
            let (_, socket, ..) = thread.ok_or("a CPU that the host does not have")?;
            *got.entry(*socket).or_insert(0) += 1;
        }
        let shown = (format!("{expected:?}"), format!("{got:?}"));
        outcome.check("CPUs of each socket", *expected == got, shown.0, shown.1);
    }
    if let Some(expected) = expect.exclusive_in_topology {
        let got = found
            .exclusive
            .map_or("unknown".to_owned(), |it| it.to_string());
        outcome.compare("CPUs that are some VM's own", &expected.to_string(), &got);
    }
    Ok(outcome)
}

/// CPUs under the numbers of their places.
fn topology(threads: &[(i64, i64, i64, i64)]) -> Vec<Facts> {
    let row = |(place, (numa, socket, core, _)): (i64, &(i64, i64, i64, i64))| {
        Facts::new()
            .with("cpu", place)
            .with("numa", *numa)
            .with("socket", *socket)
            .with("core", *core)
            .with("online", true)
    };
    (0..).zip(threads).map(row).collect()
}

/// A VM for each policy by which CPUs are taken.
fn others(taken: &[Taken], cpus: usize) -> Result<Vec<VmInput>, String> {
    let mut pins: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for taken in taken {
        if !usize::try_from(taken.position).is_ok_and(|position| position < cpus) {
            return Err(format!(
                "field input.taken: there is no CPU at {}",
                taken.position
            ));
        }
        let pins = pins.entry(&taken.policy).or_default();
        pins.push(format!("{}#{}", pins.len(), taken.position));
    }
    let vms = pins.into_iter().map(|(policy, pins)| VmInput {
        id: format!("taken-{policy}"),
        run_on: Some(HOST.to_owned()),
        cpu_pinning_policy: Some(policy.to_owned()),
        cpu_pinning: Some(pins.join("_")),
        ..VmInput::default()
    });
    Ok(vms.collect())
}

/// A host's NUMA nodes, and those of a VM.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeInput {
    vm_nodes: Vec<VmNode>,
    host_nodes: Vec<HostNode>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeExpect {
    possible: bool,
    /// For each virtual node the host's node: one of several right answers.
    source_assignment: Option<Vec<i64>>,
}

/// Host nodes for a VM's virtual NUMA nodes.
///
/// # Errors
/// Why the vector cannot be run.
pub(super) fn numa_nodes(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let (input, expect): (NodeInput, NodeExpect) = (vector.input()?, vector.expect()?);
    let vm = VmInput {
        id: VM.to_owned(),
        numa_nodes: Some(input.vm_nodes.clone()),
        ..VmInput::default()
    };
    let host = HostInput {
        numa_nodes: Some(input.host_nodes.clone()),
        ..HostInput::default()
    };
    let explanation = asking::explain(&question(vm, host), &policy("numa"), units)?;
    let found = Found::of(&explanation, "node", VM)?;

    let mut outcome = Outcome::default();
    // Without nodes there is nothing that a host could fail; the unit says nothing.
    let nothing_asked = input.vm_nodes.is_empty();
    match nothing_asked {
        true => outcome.compare("whether nodes are assigned", &expect.possible, &found.fits),
        false => found.compare_possible(&mut outcome, expect.possible),
    }
    if let Some(expected) = &expect.source_assignment {
        let right = *expected == found.values || input.takes(&found.values);
        let (expected, got) = (format!("{expected:?}"), format!("{:?}", found.values));
        let expected = format!("{expected}, or any other in which everything fits");
        outcome.check("the host's nodes", right, expected, got);
    }
    Ok(outcome)
}

impl NodeInput {
    /// Whether everything fits on these nodes of the host.
    fn takes(&self, assigned: &[i64]) -> bool {
        let pairs = || self.vm_nodes.iter().zip(assigned);
        let allowed = |node: &VmNode, host: i64| {
            let pinned = node.host_nodes.as_deref().unwrap_or(&[]);
            pinned.contains(&host)
        };
        let room = |host: &HostNode| {
            let here = pairs().filter(|(_, assigned)| **assigned == host.index);
            let needed: i64 = here.filter_map(|(node, _)| node.mem_total_mb).sum();
            needed <= host.mem_free_mb.unwrap_or(0)
        };
        assigned.len() == self.vm_nodes.len()
            && pairs().all(|(node, host)| allowed(node, *host))
            && self.host_nodes.iter().all(room)
    }
}

/// One VM, to be placed on one host.
fn question(vm: VmInput, host: HostInput) -> Input {
    let host = HostInput {
        id: HOST.to_owned(),
        ..host
    };
    Input {
        hosts: vec![host],
        schedule: vec![vm.id.clone()],
        vms: vec![vm],
        ..Input::default()
    }
}

fn policy(unit: &str) -> Document {
    Document::of_filter(Entry::new(unit, toml::Table::new()))
}

/// What a unit found for the VM, by its facts.
struct Found {
    fits: bool,
    /// Whether the filter keeps the host.
    kept: bool,
    /// What each vCPU or virtual node would get, in their order.
    values: Vec<i64>,
    exclusive: Option<i64>,
}

impl Found {
    /// `part`s of the VM are looked at: `vcpu`s or `node`s.
    fn of(explanation: &Explanation, part: &str, vm: &str) -> Result<Self, String> {
        let stage = asking::stage(explanation)?;
        let mut values = Vec::new();
        for fact in &stage.facts {
            if let Some(number) = number_of(&fact.name, part, vm) {
                values.push((number, integer(fact)?));
            }
        }
        values.sort_by_key(|(number, _)| *number);
        let named = |name: &str| stage.facts.iter().find(|fact| fact.name == name);
        Ok(Self {
            fits: named("fits").is_some_and(|fact| fact.value == Value::Boolean(true)),
            kept: stage.hosts.iter().all(|host| host.removed.is_none()),
            values: values.into_iter().map(|(_, value)| value).collect(),
            exclusive: named("exclusive-cpus").map(integer).transpose()?,
        })
    }

    fn compare_possible(&self, outcome: &mut Outcome, possible: bool) {
        outcome.compare("whether the VM fits", &possible, &self.fits);
        outcome.compare("whether the host stays", &possible, &self.kept);
    }
}

/// The number in `PART N of VM`.
fn number_of(fact: &str, part: &str, vm: &str) -> Option<i64> {
    let rest = fact.strip_prefix(part)?.strip_suffix(vm)?;
    rest.trim().strip_suffix(" of")?.parse().ok()
}

fn integer(fact: &FactShown) -> Result<i64, String> {
    match &fact.value {
        Value::Integer(value) => Ok(*value),
        value => Err(format!(
            "fact \"{}\" is {value}, no whole number",
            fact.name
        )),
    }
}
