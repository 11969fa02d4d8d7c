//! What one would write who knew the five units from the first: a single native loop
//! over hosts with all verdicts and costs in it, which leaves a host at the first verdict
//! against it.
//!
//! It knows what these fleets do without: affinity groups, huge pages, swap, members that
//! run already, and columns without a value.

use placewright_inventory::Inventory;

const MIB: i64 = 1 << 20;

/// CPU kept busy is counted in millionths of one CPU.
const CPU: f64 = 1e6;

/// What a vCPU without a measured load is taken to keep busy.
const ASSUMED: u64 = 100_000;

/// How much of a host's CPU may be promised.
const CPU_OVERCOMMIT: f64 = 4.0;

/// The columns of all hosts that the five units read.
pub(crate) struct Fused {
    memory_total: Vec<i64>,
    memory_free: Vec<i64>,
    memory_reserved: Vec<i64>,
    memory_overcommit: Vec<f64>,
    memory_committed: Vec<i64>,
    memory_pending: Vec<i64>,
    vms: Vec<i64>,
    vms_pending: Vec<i64>,
    cores: Vec<i64>,
    cpu_total: Vec<i64>,
    cpu_committed: Vec<i64>,
    cpu_pending: Vec<i64>,
    cpu_exclusive: Vec<i64>,
    widest: Vec<i64>,
    usage: Vec<f64>,
    load_pending: Vec<i64>,
    vcpus_unmeasured: Vec<i64>,
    vm_vcpus: i64,
    vm_memory: i64,
}

impl Fused {
    /// The loop for a VM of so many cores and so much memory.
    pub(crate) fn new(inventory: &Inventory, cores: i64, memory: i64) -> Self {
        let column = |name: &str| {
            let index = inventory.column_index(name).expect("the units read it");
            inventory.column(index)
        };
        let integers = |name: &str| column(name).integers().to_vec();
        let numbers = |name: &str| column(name).numbers().to_vec();
        Self {
            memory_total: integers("memory.total"),
            memory_free: integers("memory.free"),
            memory_reserved: integers("memory.reserved"),
            memory_overcommit: numbers("memory.overcommit"),
            memory_committed: integers("memory.committed"),
            memory_pending: integers("memory.pending"),
            vms: integers("vms.count"),
            vms_pending: integers("vms.pending"),
            cores: integers("cpu.cores"),
            cpu_total: integers("cpu.total"),
            cpu_committed: integers("cpu.committed"),
            cpu_pending: integers("cpu.pending"),
            cpu_exclusive: integers("cpu.exclusive"),
            widest: integers("vms.widest"),
            usage: numbers("cpu.usage"),
            load_pending: integers("load.pending"),
            vcpus_unmeasured: integers("vcpus.unmeasured"),
            vm_vcpus: cores,
            vm_memory: memory,
        }
    }

    /// The best host by the sum of the costs, then by number.
    pub(crate) fn best(&self) -> Option<usize> {
        let at_start = self.vm_memory + overhead(self.vm_memory, 1);
        let at_most = at_start + self.vm_vcpus * 8 * MIB;
        let mut best: Option<(usize, f64)> = None;
        for host in 0..self.memory_total.len() {
            // Memory.
            let pending = self.memory_pending[host];
            let pending = pending + overhead(pending, self.vms_pending[host]);
            if at_start > self.memory_free[host] - pending {
                continue;
            }
            let committed = self.memory_committed[host];
            let committed = committed + overhead(committed, self.vms[host]);
            let limit = (self.memory_total[host] as f64 * self.memory_overcommit[host]) as i64;
            let left = limit - committed - self.memory_reserved[host] - pending;
            if at_most > left {
                continue;
            }
            // CPU.
            let cpus = self.cores[host] - self.cpu_exclusive[host];
            if cpus < self.vm_vcpus.max(self.widest[host]) {
                continue;
            }
            let total = self.cpu_total[host] as f64;
            let promised = self.cpu_committed[host] + self.cpu_pending[host] + self.vm_vcpus * 1000;
            if promised > (total * CPU_OVERCOMMIT) as i64 {
                continue;
            }
            // Even distribution and power saving; affinity without groups costs nothing.
            let measured = (self.usage[host] * CPU + 0.5) as u64 * self.cores[host] as u64;
            let unmeasured = (self.vcpus_unmeasured[host] + self.vm_vcpus) as u64 * ASSUMED;
            let load = measured + self.load_pending[host] as u64 * 1000 + unmeasured;
            let percent = cpus as u64 * 10_000;
            let busy = ((load + percent / 2) / percent) as f64;
            let cost = (at_most - left) as f64 + promised as f64 / total + 0.0 + busy - busy;
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((host, cost));
            }
        }
        best.map(|(host, _)| host)
    }
}

/// What so many VMs with so much memory in sum take beside it.
fn overhead(memory: i64, vms: i64) -> i64 {
    (memory as f64 / 512.0) as i64 + vms * 64 * MIB
}
