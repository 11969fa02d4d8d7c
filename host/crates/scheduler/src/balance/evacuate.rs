//! Hosts are emptied: what runs there goes elsewhere, one VM after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::pass::Pass;
use super::relocate::{Leaving, running_on};
use super::{BalanceOptions, BalancePlan, Cause, Origin, StandingReservation};
use crate::{PlaceError, Scheduler, order};
use placewright_chain::Proposed;
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::Vm;

impl Scheduler {
    /// Plan at `now` (seconds) how these hosts are emptied: none of them takes a VM, and
    /// every VM that runs on one of them is placed by the policy, on top of those before.
    /// VMs of greater priority come first, then those with a greater score where they run,
    /// then the largest. VMs that hard groups keep together go together. Nothing is changed.
    ///
    /// # Errors
    /// If there is no such host, or a unit fails that the policy cannot do without.
    pub fn plan_evacuation(
        &mut self,
        now: i64,
        hosts: &[Arc<str>],
    ) -> Result<BalancePlan, PlaceError> {
        for host in hosts {
            if self.inventory.slot(host).is_none() {
                return Err(InventoryError::UnknownHost(host.clone()).into());
            }
        }
        self.inventory.advance(now);
        let options = BalanceOptions {
            // Whoever empties a host wants all of it.
            moves: usize::MAX,
            ..BalanceOptions::default()
        };
        let mut hosts = hosts.to_vec();
        hosts.sort_unstable();
        hosts.dedup();
        Pass::of(self, now, &options, |pass| pass.evacuate(hosts))
    }
}

impl Pass<'_> {
    fn evacuate(mut self, hosts: Vec<Arc<str>>) -> Result<BalancePlan, PlaceError> {
        self.plan.reserved = reservations(self.world, &hosts);
        for host in &hosts {
            let slot = self.world.slot(host);
            if slot.is_some_and(|slot| self.world.is_up(slot)) {
                self.plan.notes.push(Proposed::HostState {
                    host: host.clone(),
                    state: "maintenance".to_owned(),
                    reason: "is up, so that new VMs may be placed on it while it is emptied"
                        .to_owned(),
                });
            }
        }
        let leaving = |host: &Arc<str>| Leaving {
            cause: Cause::Evacuation,
            group: None,
            reason: format!("host {host} is to be emptied"),
            allowed: Vec::new(),
            excluded: hosts.clone(),
        };
        self.empty(&hosts, leaving)?;
        if self.plan.moves.is_empty() && self.plan.stuck.is_empty() {
            let which = match hosts.as_slice() {
                [host] => format!("host {host}"),
                _ => "these hosts".to_owned(),
            };
            self.plan.reasons.push(match self.plan.reserved.is_empty() {
                true => format!("no VM runs on {which}"),
                false => format!(
                    "every VM that runs on {which} has a place reserved elsewhere, or there is none"
                ),
            });
        }
        self.plan.origin = Origin::Evacuation(hosts);
        Ok(self.plan)
    }

    /// Move every VM off these hosts that can go, as many as the plan may hold. Who has a
    /// place reserved elsewhere leaves by itself.
    pub(super) fn empty(
        &mut self,
        hosts: &[Arc<str>],
        leaving: impl Fn(&Arc<str>) -> Leaving,
    ) -> Result<(), PlaceError> {
        let running = running_on(self.world, hosts);
        self.empty_of(&running, hosts, leaving)
    }

    /// The same of those VMs only; what hard groups keep together with them goes with them.
    pub(super) fn empty_of(
        &mut self,
        running: &BTreeMap<Arc<str>, Arc<str>>,
        hosts: &[Arc<str>],
        leaving: impl Fn(&Arc<str>) -> Leaving,
    ) -> Result<(), PlaceError> {
        let slots = hosts.iter().filter_map(|host| self.world.slot(host));
        let slots: Vec<u32> = slots.collect();
        self.emptied.clone_from(&slots);
        let emptied = self.empty_each(hosts, running, &slots, leaving);
        self.emptied.clear();
        emptied
    }

    fn empty_each(
        &mut self,
        hosts: &[Arc<str>],
        running: &BTreeMap<Arc<str>, Arc<str>>,
        slots: &[u32],
        leaving: impl Fn(&Arc<str>) -> Leaving,
    ) -> Result<(), PlaceError> {
        let vms: Vec<Vm> = running
            .keys()
            .filter_map(|id| Some((*self.world.running(id)?.vm).clone()))
            .collect();
        for vm in order::by_importance(self.world, &vms).into_iter().flatten() {
            let vm = &vms[vm].id;
            let still = self.world.running(vm).map(|entry| self.host_id(entry.slot));
            let Some(host) = still.filter(|host| hosts.contains(host)) else {
                // It went together with another one.
                continue;
            };
            let pending = self.world.pending(vm);
            let pending = pending.map(|entry| self.host_id(entry.slot));
            if pending.is_some_and(|to| !hosts.contains(&to)) {
                continue;
            }
            if self.plan.moves.len() >= self.options.moves {
                self.plan.cut_short = true;
                return Ok(());
            }
            let runs_there = |world: &Inventory| {
                let running = world.running(vm);
                i128::from(running.is_some_and(|entry| slots.contains(&entry.slot)))
            };
            self.relocate(vm, &leaving(&host), runs_there)?;
        }
        Ok(())
    }
}

/// Places that are reserved on these hosts, or elsewhere for VMs that run on them, by id of
/// the VM.
fn reservations(world: &Inventory, hosts: &[Arc<str>]) -> Vec<StandingReservation> {
    let host_id = |slot: u32| world.host(slot).map(|host| host.id.clone());
    let here = hosts.iter().filter_map(|id| world.host(world.slot(id)?));
    let vms = here.flat_map(|host| world.vms_of(host).map(|entry| &entry.vm.id));
    let mut vms: Vec<&Arc<str>> = vms.collect();
    vms.sort_unstable();
    vms.dedup();
    let reserved = vms.into_iter().filter_map(|vm| {
        let entry = world.pending(vm)?;
        Some(StandingReservation {
            vm: vm.clone(),
            host: host_id(entry.slot)?,
            from: world.running(vm).and_then(|entry| host_id(entry.slot)),
            expires: entry.expires,
        })
    });
    reserved.collect()
}
