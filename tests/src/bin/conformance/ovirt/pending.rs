//! Resources of VMs that are to start: what oVirt keeps in a table is what the
//! scheduler has reserved.
//!
//! A VM has its place on one host here, with all that it needs. So each addition of
//! oVirt's gives the place back and takes it again with what is known by then.

use std::collections::{BTreeMap, BTreeSet};

use placewright_inventory::{Inventory, InventoryError};
use placewright_model::{Host, Request, Value, Vm};
use placewright_scheduler::Scheduler;
use serde::Deserialize;

use super::document::Document;
use super::input::Input;
use super::outcome::{Ids, Outcome};
use super::vector::Vector;
use crate::units::Units;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableInput {
    operations: Vec<Operation>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Operation {
    Add {
        kind: Kind,
        host: String,
        vm: String,
        mb: Option<i64>,
        cpus: Option<i64>,
        cores: Option<i64>,
    },
    ClearVm {
        vm: String,
    },
    ClearHost {
        host: String,
    },
}

/// What of a VM is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Vm,
    Memory,
    Cpu,
}

/// What the table holds after all operations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Expect {
    host_vms: BTreeMap<String, Ids>,
    host_cpus: BTreeMap<String, i64>,
    host_memory_mb: BTreeMap<String, i64>,
    scheduled_host: BTreeMap<String, Option<String>>,
    vm_memory_mb: BTreeMap<String, i64>,
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let (input, expect): (TableInput, Expect) = (vector.input()?, vector.expect()?);
    let mut inventory = Input::default().inventory()?;
    for host in hosts(&input, &expect) {
        let added = inventory.add_host(Host::new(host));
        added.map_err(|error| error.to_string())?;
    }
    let mut table = Table {
        scheduler: units.scheduler(inventory, &Document::default().text()?)?,
        needs: BTreeMap::new(),
    };
    for (number, operation) in input.operations.iter().enumerate() {
        let done = table.run(operation);
        done.map_err(|why| format!("field input.operations[{number}]: {why}"))?;
    }
    table.check_places()?;
    compare(&expect, table.scheduler.inventory())
}

fn hosts<'a>(input: &'a TableInput, expect: &'a Expect) -> BTreeSet<&'a str> {
    let of_operations = input
        .operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Add { host, .. } | Operation::ClearHost { host } => Some(host),
            Operation::ClearVm { .. } => None,
        });
    let expected = expect.host_vms.keys().chain(expect.host_cpus.keys());
    let expected = expected.chain(expect.host_memory_mb.keys());
    of_operations.chain(expected).map(String::as_str).collect()
}

/// The scheduler, and what was said of the VMs that have a place reserved.
struct Table {
    scheduler: Scheduler,
    needs: BTreeMap<String, Needs>,
}

/// What was added of a VM.
#[derive(Default)]
struct Needs {
    /// Where each kind was added last.
    hosts: BTreeMap<Kind, String>,
    mebibytes: i64,
    cpus: i64,
    cores: i64,
}

impl Table {
    fn run(&mut self, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Add {
                kind,
                host,
                vm,
                mb,
                cpus,
                cores,
            } => {
                let needs = self.needs.entry(vm.clone()).or_default();
                needs.hosts.insert(*kind, host.clone());
                let wanted = |field: &str| format!("{kind:?} needs {field}");
                match kind {
                    Kind::Vm => {}
                    Kind::Memory => needs.mebibytes = mb.ok_or_else(|| wanted("mb"))?,
                    Kind::Cpu => {
                        needs.cpus = cpus.ok_or_else(|| wanted("cpus"))?;
                        needs.cores = cores.ok_or_else(|| wanted("cores"))?;
                    }
                }
                let vm = needs.vm(vm)?;
                self.place(vm, host)
            }
            Operation::ClearVm { vm } => self.clear(vm),
            Operation::ClearHost { host } => {
                let ids = pending_on(self.scheduler.inventory(), host);
                ids.iter().try_for_each(|vm| self.clear(vm))
            }
        }
    }

    fn place(&mut self, vm: Vm, host: &str) -> Result<(), String> {
        let id = vm.id.clone();
        if self.scheduler.inventory().pending(&id).is_some() {
            let cancelled = self.scheduler.inventory_mut().cancel_vm(&id);
            cancelled.map_err(|error| error.to_string())?;
        }
        let decision = self.scheduler.place(Request {
            members: vec![vm],
            allowed: vec![host.into()],
            ..Request::default()
        });
        let decision = decision.map_err(|error| error.to_string())?;
        match decision.host {
            Some(_) => Ok(()),
            None => Err(format!("VM \"{id}\" found no place on host \"{host}\"")),
        }
    }

    /// What is not there is cleared already.
    fn clear(&mut self, vm: &str) -> Result<(), String> {
        self.needs.remove(vm);
        match self.scheduler.inventory_mut().cancel_vm(vm) {
            Ok(()) | Err(InventoryError::UnknownVm(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn check_places(&self) -> Result<(), String> {
        for (vm, needs) in &self.needs {
            let hosts: BTreeSet<&String> = needs.hosts.values().collect();
            if hosts.len() > 1 {
                return Err(format!(
                    "field input.operations: VM \"{vm}\" is pending on {} hosts at once",
                    hosts.len()
                ));
            }
        }
        Ok(())
    }
}

impl Needs {
    /// The VM with what is known of it.
    fn vm(&self, id: &str) -> Result<Vm, String> {
        let cores = self.cores.max(1);
        let threads = self.cpus / cores;
        if self.cpus % cores != 0 {
            return Err(format!(
                "{} CPUs are no whole number of threads for {cores} cores",
                self.cpus
            ));
        }
        let vm = Vm::new(id)
            .with("cores", cores)
            .with("threads", threads.max(1));
        let vm = vm.with("cpu", self.cpus.saturating_mul(1000));
        Ok(vm.with("memory", self.mebibytes.saturating_mul(1 << 20)))
    }
}

fn pending_on(inventory: &Inventory, host: &str) -> Ids {
    let entry = inventory.slot(host).and_then(|slot| inventory.host(slot));
    let vms = entry.into_iter().flat_map(|host| inventory.vms_of(host));
    let pending = vms.filter(|vm| vm.pending);
    pending.map(|vm| vm.vm.id.to_string()).collect()
}

/// A sum over the VMs that are pending on a host, in so many parts.
fn sum_of(inventory: &Inventory, host: &str, column: &str, parts: i64) -> i64 {
    let value = inventory
        .slot(host)
        .and_then(|slot| inventory.host_value(slot, column));
    match value {
        Some(Value::Integer(sum)) => sum / parts,
        _ => 0,
    }
}

fn compare(expect: &Expect, inventory: &Inventory) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for (host, expected) in &expect.host_vms {
        let got = pending_on(inventory, host);
        outcome.compare_set(&format!("VMs pending on {host}"), expected, &got, "");
    }
    for (host, expected) in &expect.host_cpus {
        let got = sum_of(inventory, host, "cpu.pending", 1000);
        outcome.compare(&format!("CPUs pending on {host}"), expected, &got);
    }
    for (host, expected) in &expect.host_memory_mb {
        let got = sum_of(inventory, host, "memory.pending", 1 << 20);
        outcome.compare(&format!("MiB pending on {host}"), expected, &got);
    }
    for (vm, expected) in &expect.scheduled_host {
        let place = inventory.pending(vm).and_then(|vm| inventory.host(vm.slot));
        let got = place.map_or("none", |host| &host.id).to_owned();
        let expected = expected.clone().unwrap_or("none".to_owned());
        outcome.compare(&format!("host of {vm}"), &expected, &got);
    }
    for (vm, expected) in &expect.vm_memory_mb {
        let got = inventory.pending(vm).map_or(0, |vm| vm.shape.memory >> 20);
        outcome.compare(&format!("MiB of {vm}"), expected, &got);
    }
    Ok(outcome)
}
