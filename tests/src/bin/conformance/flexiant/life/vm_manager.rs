//! The VM manager of a case, and the scheduler that it asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_chain::Explanation;
use placewright_inventory::InventoryError;
use placewright_model::{Facts, Request, Value, Vm};
use placewright_scheduler::Scheduler;

use super::document::{keys_of, with_sticky};
use super::event::NodeChange;
use super::{LifeVm, Start};
use crate::flexiant::compared::Compared;
use crate::flexiant::form::{Key, Level, Mebibytes, Node};
use crate::flexiant::place::{self, Outcome};
use crate::flexiant::shown::{self, CUSTOMER_KEYS};
use crate::flexiant::world;
use crate::units::Units;

/// A VM as its manager knows it.
struct Kept {
    /// The document, with its keys.
    vm: Vm,
    resident: Mebibytes,
    /// The customer keys that were fixed when it was started, while it runs.
    fixed: BTreeMap<String, f64>,
}

/// Keeps the documents of VMs and measures the nodes' free memory.
pub(super) struct Manager {
    scheduler: Scheduler,
    nodes: Vec<Node>,
    vms: BTreeMap<String, Kept>,
    /// Bytes by node.
    free: BTreeMap<String, i64>,
}

impl Manager {
    pub(super) fn new(
        nodes: Vec<Node>,
        vms: Vec<LifeVm>,
        units: &Units,
        policy: &str,
    ) -> Result<Self, String> {
        let scheduler = units.scheduler(world::inventory(&nodes)?, policy)?;
        let free = nodes.iter();
        let free = free.map(|node| (node.id.clone(), node.free_ram_mb.bytes()));
        let free = free.collect();
        let mut kept = BTreeMap::new();
        for (number, vm) in vms.into_iter().enumerate() {
            let machine = world::machine(&vm.id, vm.ram_mb, vm.vcpus);
            let new = Kept {
                vm: world::made_of(machine, &vm.res),
                resident: vm.resident_mb,
                fixed: BTreeMap::new(),
            };
            if kept.insert(vm.id.clone(), new).is_some() {
                return Err(format!("field in.vms[{number}]: a second VM {}", vm.id));
            }
        }
        Ok(Self {
            scheduler,
            nodes,
            vms: kept,
            free,
        })
    }

    /// Where the VMs run.
    pub(super) fn places(&self) -> BTreeMap<String, String> {
        let places = self.vms.keys();
        let places = places.filter_map(|id| Some((id.clone(), self.place(id)?.to_string())));
        places.collect()
    }

    fn place(&self, vm: &str) -> Option<Arc<str>> {
        let inventory = self.scheduler.inventory();
        let slot = inventory.running(vm)?.slot;
        Some(inventory.host(slot)?.id.clone())
    }

    /// Start a VM: ask for a place, take it, and report that it runs there.
    pub(super) fn start(&mut self, id: &str, compared: &mut Compared) -> Result<Start, String> {
        if self.place(id).is_some() {
            return Err(format!("VM {id} runs already"));
        }
        let vm = self.known(id)?.vm.clone();
        let Outcome {
            fail,
            acceptable,
            explanation,
        } = place::ask(&mut self.scheduler, &vm, &self.nodes)?;
        if acceptable.len() > 1 {
            let shown = acceptable.join(", ");
            return Err(format!(
                "VM {id} may go to {shown}: what comes after would be left to chance"
            ));
        }
        let sticky = match acceptable.first() {
            Some(node) => self.run(&vm, node, &explanation, compared)?,
            None => BTreeMap::new(),
        };
        Ok(Start {
            fail,
            acceptable,
            sticky,
        })
    }

    fn run(
        &mut self,
        vm: &Vm,
        node: &str,
        explanation: &Explanation,
        compared: &mut Compared,
    ) -> Result<BTreeMap<String, [f64; 2]>, String> {
        let request = Request {
            members: vec![vm.clone()],
            draw: Some(0.0),
            ..Request::default()
        };
        let decision = self
            .scheduler
            .place(request)
            .map_err(|error| error.to_string())?;
        let chosen = decision.host.as_ref().map(ToString::to_string);
        compared.same("node of the start", &Some(node.to_owned()), &chosen);
        let compiled = shown::compiled(explanation, CUSTOMER_KEYS, &vm.id)?;
        let fixed = compiled.into_iter().map(|(name, [value, _])| (name, value));
        let (document, sticky) = with_sticky(vm, &decision)?;

        let inventory = self.scheduler.inventory_mut();
        let reserved = inventory.pending(&vm.id).map(|entry| keys_of(&entry.vm));
        let what = format!("keys of VM {} before it runs", vm.id);
        compared.same(&what, &Some(keys_of(vm)), &reserved);
        inventory.confirm_vm(&vm.id).map_err(refused)?;
        let running = inventory.running(&vm.id).map(|entry| keys_of(&entry.vm));
        let what = format!("keys of VM {} that runs", vm.id);
        compared.same(&what, &Some(keys_of(&document)), &running);

        let kept = self.known_mut(&vm.id)?;
        kept.fixed = fixed.collect();
        kept.vm = document;
        let resident = kept.resident.bytes();
        self.change_free(node, -resident)?;
        Ok(sticky)
    }

    pub(super) fn stop(&mut self, id: &str) -> Result<(), String> {
        let place = self.place(id);
        let place = place.ok_or_else(|| format!("VM {id} does not run"))?;
        let inventory = self.scheduler.inventory_mut();
        inventory.remove_vm(id).map_err(refused)?;
        let kept = self.known_mut(id)?;
        kept.fixed.clear();
        let resident = kept.resident.bytes();
        self.change_free(&place, resident)
    }

    /// A resource gets a key, in the place of the one of that class and name.
    pub(super) fn set_key(&mut self, id: &str, level: Level, key: &Key) -> Result<(), String> {
        let place = self.place(id);
        let kept = self.known_mut(id)?;
        let row = world::resource_key(level as i64, key);
        let mut rows = kept.vm.facts.take_rows("keys");
        let same = |known: &Facts| {
            ["level", "class", "name"]
                .iter()
                .all(|column| known.get(column) == row.get(column))
        };
        match rows.iter_mut().find(|known| same(known)) {
            Some(known) => *known = row,
            None => rows.push(row),
        }
        kept.vm.facts.set_rows("keys", rows);
        let vm = kept.vm.clone();
        match place {
            // The inventory is told: it must not matter before the next start.
            Some(host) => self
                .scheduler
                .inventory_mut()
                .run_vm(vm, &host)
                .map_err(refused),
            None => Ok(()),
        }
    }

    pub(super) fn set_node(&mut self, node: &str, set: NodeChange) -> Result<(), String> {
        if let Some(free) = set.free_ram_mb {
            self.free.insert(node.to_owned(), free.bytes());
        }
        let bytes = |amount: Option<Mebibytes>| amount.map(|it| Value::from(it.bytes()));
        for (column, value) in [
            ("state", set.state.map(|it| world::state(it).into())),
            ("memory.total", bytes(set.ram_mb)),
            ("memory.overcommit", set.ram_ratio.map(Value::from)),
            ("memory.free", bytes(set.free_ram_mb)),
            ("cpu.cores", set.pcpus.map(Value::from)),
            ("cpu.overcommit", set.cpu_ratio.map(Value::from)),
            ("cpu.usage", set.load.map(Value::from)),
        ] {
            if let Some(value) = value {
                self.set_value(node, column, value)?;
            }
        }
        Ok(())
    }

    /// A key of a node gets a new value.
    pub(super) fn set_node_key(
        &mut self,
        node: &str,
        name: &str,
        value: f64,
    ) -> Result<(), String> {
        let known = self.nodes.iter_mut().find(|known| known.id == node);
        let known = known.ok_or_else(|| format!("there is no node {node}"))?;
        let key = known.keys.get_mut(name);
        key.ok_or_else(|| format!("node {node} has no key {name}"))?
            .v = value;
        let rows = known.keys.iter();
        let rows = rows.map(|(name, key)| world::host_key(name, key)).collect();
        let inventory = self.scheduler.inventory_mut();
        inventory.set_host_rows(node, "keys", rows).map_err(refused)
    }

    /// Whether the inventory holds the fixed keys of those that run, and of no other.
    pub(super) fn check(&self, step: &str, compared: &mut Compared) {
        for (id, kept) in &self.vms {
            let inventory = self.scheduler.inventory();
            let entry = inventory.running(id).or(inventory.pending(id));
            let rows = entry.map_or(&[][..], |entry| entry.placed_rows("fixed-keys"));
            let got = rows.iter().filter_map(|row| {
                let name = row.text("name")?.to_owned();
                Some((name, row.number("value")?))
            });
            let what = format!("fixed key of VM {id} after {step}:");
            compared.same_entries(&what, &kept.fixed, &got.collect());
        }
    }

    fn known(&self, id: &str) -> Result<&Kept, String> {
        let kept = self.vms.get(id);
        kept.ok_or_else(|| format!("there is no VM {id}"))
    }

    fn known_mut(&mut self, id: &str) -> Result<&mut Kept, String> {
        let kept = self.vms.get_mut(id);
        kept.ok_or_else(|| format!("there is no VM {id}"))
    }

    fn change_free(&mut self, node: &str, by: i64) -> Result<(), String> {
        let free = self.free.get_mut(node);
        let free = free.ok_or_else(|| format!("there is no node {node}"))?;
        *free += by;
        let free = Value::from(*free);
        self.set_value(node, "memory.free", free)
    }

    fn set_value(&mut self, node: &str, column: &str, value: Value) -> Result<(), String> {
        let inventory = self.scheduler.inventory_mut();
        inventory
            .set_host_value(node, column, Some(value))
            .map_err(refused)
    }
}

fn refused(error: InventoryError) -> String {
    error.to_string()
}
