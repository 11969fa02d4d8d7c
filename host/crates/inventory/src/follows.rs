//! What of a host follows from its VMs, and so changes with most decisions.

use super::Inventory;
use super::nested::{AMOUNTS, GPUS, HUGE_PAGES, NUMA_NODES, PROMISED_NODE_PAGES};

impl Inventory {
    /// Whether the column of `hosts` of that number follows from VMs.
    pub fn column_follows_vms(&self, index: usize) -> bool {
        let sums = &self.sums;
        [
            sums.cpu_committed,
            sums.cpu_pending,
            sums.cpu_exclusive,
            sums.vcpus,
            sums.vcpus_pending,
            sums.load_pending,
            sums.vcpus_unmeasured,
            sums.memory_unmeasured,
            sums.vms_unmeasured,
            sums.memory_committed,
            sums.memory_pending,
            sums.vms_count,
            sums.vms_pending,
            sums.vms_migrating,
            sums.vms_ha,
            sums.vms_widest,
            sums.batch_placed,
        ]
        .contains(&index)
    }

    /// Whether rows of the table below hosts of that number, which is stored in columns,
    /// follow from VMs.
    pub fn nested_follows_vms(&self, index: usize) -> bool {
        let table = self.nested.get(index).map(|nested| &*nested.table);
        // Few VMs have cards that pass through: virtual functions that are promised change seldom.
        let follow = [AMOUNTS, GPUS, HUGE_PAGES, NUMA_NODES, PROMISED_NODE_PAGES];
        table.is_some_and(|table| follow.contains(&table))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use placewright_model::schema::Schema;

    #[test]
    fn what_vms_take_follows_them_and_what_a_host_is_does_not() {
        let mut inventory = Inventory::new("test", Arc::new(Schema::built_in().clone()));
        let columns = [("memory.committed", true), ("memory.total", false)];
        for (column, follows) in columns {
            let index = inventory.column_index(column).unwrap();
            assert_eq!(inventory.column_follows_vms(index), follows, "{column}");
        }
        let tables = [
            ("amounts", true),
            ("numa-huge-pages", true),
            ("virtual-functions", false),
            ("networks", false),
        ];
        for (table, follows) in tables {
            let index = inventory.ensure_nested(table).unwrap();
            assert_eq!(inventory.nested_follows_vms(index), follows, "{table}");
        }
    }
}
