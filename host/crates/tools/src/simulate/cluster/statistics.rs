//! What hosts report of themselves as if every VM used all that it was promised, where nothing
//! else is known.

use super::run::Run;
use crate::simulate::ReplayError;
use placewright_model::Value;

const CPU_USAGE: &str = "cpu.usage";
const MEMORY_FREE: &str = "memory.free";

/// The columns that hosts report.
pub(super) const COLUMNS: [&str; 2] = [CPU_USAGE, MEMORY_FREE];

impl Run<'_> {
    /// These hosts report, if hosts do.
    pub(super) fn report(&mut self, slots: &[u32]) -> Result<(), ReplayError> {
        if !self.statistics {
            return Ok(());
        }
        for slot in slots {
            let load = self.tally.load(*slot);
            let inventory = self.scheduler.inventory_mut();
            let Some(host) = inventory.host(*slot).map(|host| host.id.clone()) else {
                continue;
            };
            let usage = (load.cpu as f64 / load.cpu_total.max(1) as f64).min(1.0);
            let free = (load.memory_total - load.memory).max(0);
            inventory.report_host(&host, CPU_USAGE, Value::Number(usage))?;
            inventory.report_host(&host, MEMORY_FREE, Value::Integer(free))?;
        }
        Ok(())
    }

    /// A VM that came to run reports that it uses all that it was promised: balance units move
    /// those of which they know the load.
    pub(super) fn measure(&mut self, vm: &str) -> Result<(), ReplayError> {
        if !self.statistics || self.passes.is_none() {
            return Ok(());
        }
        let inventory = self.scheduler.inventory_mut();
        let Some(entry) = inventory.running(vm) else {
            return Ok(());
        };
        let of_vcpus = entry.shape.cpu.saturating_add(999) / 1000 * 1000;
        let host = inventory.host(entry.slot).map(|host| host.id.clone());
        if let Some(host) = host.filter(|_| of_vcpus > 0) {
            let usage = entry.shape.cpu as f64 / of_vcpus as f64;
            let mut measured = (*entry.vm).clone();
            measured.facts.set(CPU_USAGE, Value::Number(usage));
            inventory.run_vm(measured, &host)?;
        }
        Ok(())
    }
}
