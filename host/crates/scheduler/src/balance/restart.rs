//! VMs whose hosts are down or in error are started elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::pass::Pass;
use super::relocate::{Leaving, running_on};
use super::{BalanceOptions, BalancePlan, Cause, Origin};
use crate::questions::Restart;
use crate::{PlaceError, Scheduler};
use placewright_inventory::InventoryError;
use placewright_model::Word;

impl Scheduler {
    /// Plan at `now` (seconds) how the VMs of those of these hosts that are down or in error are
    /// started elsewhere: as [`Scheduler::plan_evacuation`], for the VMs that are restarted and
    /// that were not stopped already. Their requests are of the kind `restart`. Nothing is
    /// changed.
    ///
    /// # Errors
    /// If there is no such host, or a unit fails that the policy cannot do without.
    pub fn plan_restarts(
        &mut self,
        now: i64,
        hosts: &[Arc<str>],
        which: Restart,
    ) -> Result<BalancePlan, PlaceError> {
        self.inventory.advance(now);
        let mut lost = Vec::with_capacity(hosts.len());
        for host in hosts {
            let slot = self.inventory.slot(host);
            let slot = slot.ok_or_else(|| InventoryError::UnknownHost(host.clone()))?;
            if self.inventory.is_lost(slot) {
                lost.push(host.clone());
            }
        }
        lost.sort_unstable();
        lost.dedup();
        let options = BalanceOptions {
            // No VM is left behind because others were before it.
            moves: usize::MAX,
            ..BalanceOptions::default()
        };
        Pass::of(self, now, &options, |pass| pass.restart(lost, which))
    }
}

impl Pass<'_> {
    fn restart(mut self, hosts: Vec<Arc<str>>, which: Restart) -> Result<BalancePlan, PlaceError> {
        let running: BTreeMap<Arc<str>, Arc<str>> = running_on(self.world, &hosts)
            .into_iter()
            .filter(|(vm, _)| {
                let entry = self.world.running(vm);
                entry.is_some_and(|it| !it.vm.is_stopped() && which.restarts(&it.vm))
            })
            .collect();
        let state = |host: &Arc<str>| {
            let slot = self.world.slot(host);
            slot.map_or("down", |slot| self.world.host_state(slot).word())
        };
        let states: BTreeMap<Arc<str>, &str> =
            hosts.iter().map(|it| (it.clone(), state(it))).collect();
        let leaving = |host: &Arc<str>| Leaving {
            cause: Cause::HostState,
            group: None,
            reason: match states.get(host).copied() {
                Some("error") => format!("host {host} is in error"),
                _ => format!("host {host} is down"),
            },
            allowed: Vec::new(),
            excluded: hosts.clone(),
        };
        self.empty_of(&running, &hosts, leaving)?;
        self.plan.origin = Origin::Evacuation(hosts);
        Ok(self.plan)
    }
}
