//! The hosts that a trace is replayed on: all alike, and empty at first.

use std::sync::Arc;

use serde::Serialize;

use super::trace::TraceVm;
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::Host;
use placewright_model::schema::Schema;

/// Identical hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fleet {
    /// How many.
    pub hosts: u32,
    /// CPU of each, in millicores.
    #[serde(rename = "host-millicores")]
    pub cpu: i64,
    /// Memory of each, in bytes.
    #[serde(rename = "host-memory-bytes")]
    pub memory: i64,
}

impl Fleet {
    /// Whether a VM would run on an empty host.
    pub fn fits(&self, vm: &TraceVm) -> bool {
        vm.cpu <= self.cpu && vm.memory <= self.memory
    }

    /// CPU of all hosts together, in millicores.
    pub fn total_cpu(&self) -> f64 {
        f64::from(self.hosts) * self.cpu as f64
    }

    /// Memory of all hosts together, in bytes.
    pub fn total_memory(&self) -> f64 {
        f64::from(self.hosts) * self.memory as f64
    }

    /// The hosts as a cluster. Ids compare as bytes and are therefore padded with
    /// zeros: the order of ids is the order of numbers, and of slots. CPU need not
    /// be whole cores; then the number of cores is rounded up.
    ///
    /// # Errors
    /// If an amount is out of the range that the schema allows.
    pub fn inventory(&self, name: &str) -> Result<Inventory, InventoryError> {
        let mut inventory = Inventory::new(name, Arc::new(Schema::built_in().clone()));
        let digits = self.hosts.saturating_sub(1).to_string().len().max(4);
        let cores = self.cpu / 1000 + i64::from(self.cpu % 1000 != 0);
        for number in 0..self.hosts {
            let host = Host::new(format!("host-{number:0digits$}"))
                .with("cpu.cores", cores)
                .with("cpu.total", self.cpu)
                .with("memory.total", self.memory);
            inventory.add_host(host)?;
        }
        Ok(inventory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_ids_is_the_order_of_numbers() {
        let fleet = Fleet {
            hosts: 12_000,
            cpu: 1500,
            memory: 1 << 30,
        };
        let inventory = fleet.inventory("fleet").unwrap();
        for (slot, host) in inventory.hosts() {
            assert_eq!(inventory.ranks()[slot as usize], slot, "{}", host.id);
        }
        let last = inventory.host(11_999).unwrap();
        assert_eq!(&*last.id, "host-11999");
        assert_eq!(last.facts.integer("cpu.cores"), Some(2));
    }
}
