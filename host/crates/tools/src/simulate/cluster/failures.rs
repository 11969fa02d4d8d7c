//! Hosts that fail and return, and hosts that are taken out.

use std::sync::Arc;

use super::run::Run;
use crate::simulate::ReplayError;
use placewright_document::{FleetEvent, InventoryChanges};
use placewright_model::Value;
use placewright_scheduler::BalancePlan;

/// Seconds after which it is tried again to start VMs elsewhere that found no host, if something
/// has happened since.
const TRY_AGAIN: i64 = 60;

impl Run<'_> {
    pub(super) fn fail(
        &mut self,
        event: &FleetEvent,
        hosts: &[Arc<str>],
    ) -> Result<(), ReplayError> {
        for host in hosts {
            self.set_state(event, host, "down")?;
        }
        Ok(())
    }

    pub(super) fn bring_back(
        &mut self,
        event: &FleetEvent,
        hosts: &[Arc<str>],
    ) -> Result<(), ReplayError> {
        for host in hosts {
            self.set_state(event, host, "up")?;
        }
        Ok(())
    }

    fn set_state(
        &mut self,
        event: &FleetEvent,
        host: &str,
        state: &str,
    ) -> Result<(), ReplayError> {
        let inventory = self.scheduler.inventory_mut();
        let set = inventory.set_host_value(host, "state", Some(Value::from(state)));
        set.map_err(|source| ReplayError::event(event, source))
    }

    /// Hosts that are to be taken out are emptied first: under another policy, other VMs run
    /// there.
    pub(super) fn vacate(
        &mut self,
        event: &FleetEvent,
        changes: &InventoryChanges,
    ) -> Result<(), ReplayError> {
        let inventory = self.scheduler.inventory();
        let has_vms = |id: &&Arc<str>| {
            let host = inventory.slot(id).and_then(|slot| inventory.host(slot));
            host.is_some_and(|host| inventory.vms_of(host).next().is_some())
        };
        let hosts: Vec<Arc<str>> = changes.gone.hosts.iter().filter(has_vms).cloned().collect();
        if hosts.is_empty() {
            return Ok(());
        }
        let plan = self.scheduler.plan_evacuation(event.time, &hosts);
        let plan = plan.map_err(|source| ReplayError::place(event, source))?;
        self.moved.evacuations += self.carry_out(event.time, &plan)?;
        let inventory = self.scheduler.inventory();
        let left = hosts.iter().filter_map(|id| {
            let host = inventory.host(inventory.slot(id)?)?;
            let vms = inventory.vms_of(host);
            Some(vms.map(|entry| (entry.vm.id.clone(), entry.pending)))
        });
        let left: Vec<(Arc<str>, bool)> = left.flatten().collect();
        for (vm, pending) in left {
            let inventory = self.scheduler.inventory_mut();
            match pending && inventory.running(&vm).is_some() {
                true => inventory.cancel_vm(&vm)?,
                false => {
                    inventory.remove_vm(&vm)?;
                    self.failures.gone += 1;
                }
            }
        }
        Ok(())
    }

    /// Make the moves of a plan. Gives how many VMs went to another host.
    pub(super) fn carry_out(&mut self, now: i64, plan: &BalancePlan) -> Result<u64, ReplayError> {
        let carried = self.scheduler.carry_out(plan);
        carried.map_err(|source| ReplayError::Balance {
            time: now,
            source: Box::new(source),
        })?;
        let moves = plan.moves.iter();
        Ok(moves.filter(|step| step.from != step.to).count() as u64)
    }

    /// Count the hosts that have failed, and start their VMs elsewhere, if that is wanted.
    pub(super) fn heed_failures(&mut self, now: i64) -> Result<(), ReplayError> {
        let inventory = self.scheduler.inventory();
        let lost = inventory.not_up_slots();
        let lost = lost.filter(|slot| inventory.host(*slot).is_some() && inventory.is_lost(*slot));
        let mut hosts = Vec::new();
        let mut still = std::collections::BTreeSet::new();
        let mut is_new = false;
        for slot in lost {
            let Some(host) = inventory.host(slot) else {
                continue;
            };
            let running = inventory.vms_of(host).filter(|entry| !entry.pending);
            let running = running.count() as u64;
            if !self.lost.contains(&host.id) {
                is_new = true;
                self.failures.hosts += 1;
                self.failures.vms += running;
            }
            still.insert(host.id.clone());
            if running > 0 {
                hosts.push(host.id.clone());
            }
        }
        self.lost = still;
        let Some(which) = self.replay.restart.filter(|_| !hosts.is_empty()) else {
            return Ok(());
        };
        if !is_new && now < self.tried.saturating_add(TRY_AGAIN) {
            return Ok(());
        }
        self.tried = now;
        let plan = self.scheduler.plan_restarts(now, &hosts, which);
        let plan = plan.map_err(|source| ReplayError::Balance {
            time: now,
            source: Box::new(source.into()),
        })?;
        self.moved.restarts += self.carry_out(now, &plan)?;
        Ok(())
    }
}
