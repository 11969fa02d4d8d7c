//! What hosts of a replay report of themselves, as if every VM used all that it was
//! promised: a trace of sizes says nothing of use.

use std::sync::Arc;

use super::fleet::Fleet;
use super::tally::Load;
use placewright_engine::contract::{Description, Part};
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::Value;

const CPU_USAGE: &str = "cpu.usage";
const MEMORY_FREE: &str = "memory.free";

/// Whether a unit's filter or cost function reads what is measured on hosts.
pub(super) fn are_read_by(description: &Description) -> bool {
    let reads = description.reads(Part::Judge).unwrap_or_default();
    reads
        .iter()
        .filter(|read| read.table == "hosts")
        .flat_map(|read| &read.columns)
        .any(|column| column.column == CPU_USAGE || column.column == MEMORY_FREE)
}

/// Reports measured load and free memory.
#[derive(Debug)]
pub(super) struct Statistics {
    fleet: Fleet,
    /// By slot.
    hosts: Vec<Arc<str>>,
}

impl Statistics {
    /// Begin with a report of every host.
    pub(super) fn begin(fleet: Fleet, inventory: &mut Inventory) -> Result<Self, InventoryError> {
        let statistics = Self {
            fleet,
            hosts: inventory.hosts().map(|(_, host)| host.id.clone()).collect(),
        };
        for host in 0..fleet.hosts {
            statistics.report(inventory, host, Load::default())?;
        }
        Ok(statistics)
    }

    /// Report of the host in a slot, whose VMs were promised `load`.
    pub(super) fn report(
        &self,
        inventory: &mut Inventory,
        slot: u32,
        load: Load,
    ) -> Result<(), InventoryError> {
        let Some(id) = self.hosts.get(slot as usize) else {
            return Ok(());
        };
        let usage = (load.cpu as f64 / self.fleet.cpu.max(1) as f64).min(1.0);
        let free = (self.fleet.memory - load.memory).max(0);
        inventory.report_host(id, CPU_USAGE, Value::Number(usage))?;
        inventory.report_host(id, MEMORY_FREE, Value::Integer(free))
    }
}
