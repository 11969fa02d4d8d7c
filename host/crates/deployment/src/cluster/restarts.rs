//! VMs of hosts that are down or in error, which the server restarts by itself where an admin
//! wants that.
//!
//! The plan of restarts is a plan as others: its moves are begun as many as may be under way,
//! and the next ones as moves are confirmed. Whoever manages the VMs carries them out. A VM with
//! a place reserved, or with a move in such a plan that is still to be begun, is in no second
//! one, so a restart of the server does nothing twice.

mod gate;
mod lost;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(in crate::cluster) use gate::{Closed, Gate};
pub(crate) use lost::LostHost;
pub(in crate::cluster) use lost::{DueAt, Restarts};
pub use settings::AutomaticRestart;

use super::plans::Planner;
use super::{ClusterState, durable};
use crate::DeploymentError;
use crate::events::{EventKind, News};
use placewright_scheduler::questions::Restart;
use placewright_scheduler::{BalancePlan, Cancel};

/// Who does what the server does because a cluster restarts VMs by itself.
pub(crate) const RESTART: &str = "restart";

/// Seconds after which VMs that found no host are planned anew although others are on their way.
const STUCK_AGAIN: i64 = 600;

/// How many VMs an event names.
const NAMED: usize = 5;

/// Restarts that are to be planned.
pub(crate) struct RestartsWanted {
    planner: Planner,
    hosts: Vec<Arc<str>>,
    which: Restart,
}

impl RestartsWanted {
    /// Plan them, on a copy of the cluster.
    ///
    /// # Errors
    /// If a unit fails that the policy cannot do without, or `cancel` says so.
    pub(crate) fn plan(self, cancel: Cancel) -> Result<BalancePlan, DeploymentError> {
        self.planner.unless(cancel).restart(&self.hosts, self.which)
    }
}

impl ClusterState {
    /// Take note of which of these hosts are down or in error now, if that matters here.
    pub(super) fn follow_lost(&mut self, hosts: &BTreeSet<Arc<str>>) {
        if self.settings.restart.is_none() {
            return;
        }
        let mut changed = false;
        for host in hosts {
            let inventory = self.inventory();
            let slot = inventory.slot(host);
            let is_lost = slot.is_some_and(|slot| inventory.is_lost(slot));
            let now = inventory.clock();
            changed |= self.restarts.follow(host, is_lost, now);
        }
        if changed {
            if self.restarts.lost().is_empty() {
                self.note_stuck(BTreeSet::new());
            }
            self.keep_lost();
        }
    }

    /// Have it kept which hosts are down or in error, and since when.
    fn keep_lost(&mut self) {
        self.changes.push(durable::Rows::now(self).itself());
    }

    /// Take up what was kept of hosts that are down or in error.
    pub(crate) fn restore_lost(&mut self, kept: BTreeMap<Arc<str>, LostHost>) {
        if self.settings.restart.is_none() {
            return;
        }
        let now = self.now();
        let lost = self.lost_hosts();
        let lost = lost.into_iter().map(|host| {
            let kept = kept.get(&host).cloned();
            (host, kept.unwrap_or_else(|| LostHost::since(now)))
        });
        self.restarts.set_lost(lost.collect());
    }

    fn lost_hosts(&self) -> Vec<Arc<str>> {
        let inventory = self.inventory();
        let slots = inventory.not_up_slots();
        let lost = slots.filter(|slot| inventory.is_lost(*slot));
        lost.filter_map(|slot| Some(inventory.host(slot)?.id.clone()))
            .collect()
    }

    /// It was set anew whether VMs are restarted; before, it was set so.
    pub(crate) fn restarts_are_set(&mut self, before: Option<AutomaticRestart>) {
        let now = self.settings.restart;
        if now == before {
            return;
        }
        if now.is_none() {
            self.restarts.set_lost(BTreeMap::new());
            self.note_stuck(BTreeSet::new());
            return self.halt_restarts();
        }
        if before.is_none() {
            let (hosts, clock) = (self.lost_hosts(), self.advance());
            let lost = hosts.into_iter().map(|it| (it, LostHost::since(clock)));
            self.restarts.set_lost(lost.collect());
        }
        self.restarts.begin_anew();
    }

    /// What is to be planned so that VMs of hosts that have been down for long enough are
    /// restarted; None: nothing. Moves of earlier plans that nobody carried out in time are
    /// begun again.
    ///
    /// # Errors
    /// If no policy can run.
    pub(crate) fn due_restarts(&mut self) -> Result<Option<RestartsWanted>, DeploymentError> {
        let Some(set) = self.settings.restart else {
            return Ok(None);
        };
        let now = self.advance();
        self.follow_plans();
        let hosts = self.restarts.take_due(now, &set);
        if hosts.is_empty() {
            return Ok(None);
        }
        self.look_at_restarts_again();
        let waiting = self.vms_of_restarts();
        let left_over = self.left_over(&hosts, set.vms, &waiting);
        let is_new = !left_over.is_subset(&self.restarts.stuck);
        let planned = self.restarts.planned;
        let is_long_ago = planned.is_none_or(|at| now.saturating_sub(at) >= STUCK_AGAIN);
        if left_over.is_empty() {
            self.note_stuck(BTreeSet::new());
            return Ok(None);
        }
        if !is_new && !waiting.is_empty() && !is_long_ago {
            return Ok(None);
        }
        Ok(Some(RestartsWanted {
            planner: self.planner()?,
            hosts,
            which: set.vms,
        }))
    }

    /// The VMs of these hosts that are to be restarted, and have neither a place reserved nor a
    /// move that waits.
    fn left_over(
        &self,
        hosts: &[Arc<str>],
        which: Restart,
        waiting: &BTreeSet<Arc<str>>,
    ) -> BTreeSet<Arc<str>> {
        let inventory = self.inventory();
        let hosts = hosts.iter().filter_map(|id| inventory.slot(id));
        let hosts = hosts.filter_map(|slot| inventory.host(slot));
        let vms = hosts.flat_map(|host| inventory.vms_of(host));
        vms.filter(|entry| {
            let vm = &entry.vm;
            !entry.pending
                && !vm.is_stopped()
                && which.restarts(vm)
                && inventory.pending(&vm.id).is_none()
                && !waiting.contains(&vm.id)
        })
        .map(|entry| entry.vm.id.clone())
        .collect()
    }

    /// Begin the restarts of a plan. Those of earlier plans that were not begun yet give way to
    /// it, so that all of them go by priority.
    pub(crate) fn begin_restarts(&mut self, plan: BalancePlan) {
        let Some(set) = self.settings.restart else {
            // It was set otherwise while the plan was made.
            return;
        };
        let now = self.advance();
        self.follow_plans();
        self.restarts.planned = Some(now);
        let stuck: BTreeSet<Arc<str>> = plan.stuck.iter().map(|it| it.vm.clone()).collect();
        let why = plan.stuck.first().map(|stuck| {
            let (vm, because) = (&stuck.vm, &stuck.because);
            format!("{vm}: {because}")
        });
        let is_new = self.note_stuck(stuck);
        let failed = why.filter(|_| is_new);
        if plan.moves.is_empty() && failed.is_none() {
            return;
        }
        let has_moves = !plan.moves.is_empty();
        let number = self.remember_restarts(plan, Some(set.max_in_flight)).number;
        if let Some(why) = failed {
            self.tell_stuck(number, &why);
        }
        if let Some(number) = number.filter(|_| has_moves) {
            self.have_plan_restart(number, now);
        }
    }

    /// These VMs are to be restarted and find no host. Gives whether others do than before.
    fn note_stuck(&mut self, stuck: BTreeSet<Arc<str>>) -> bool {
        self.meter.restarts_stuck(stuck.len());
        let is_new = !stuck.is_empty() && stuck != self.restarts.stuck;
        self.restarts.stuck = stuck;
        is_new
    }

    fn tell_stuck(&mut self, plan: Option<u64>, why: &str) {
        let stuck = &self.restarts.stuck;
        let named: Vec<&str> = stuck.iter().take(NAMED).map(|vm| &**vm).collect();
        let more = match stuck.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "no host takes {}{more}, whose hosts are down or in error; it is tried again. The first of them, {why}",
            named.join(", "),
        );
        self.tell_when_kept(News {
            kind: EventKind::RestartFailed,
            plan,
            policy: Some(self.attached.policy.clone()),
            message,
            ..News::default()
        });
    }

    /// Somebody has stopped the restarts of these hosts.
    pub(super) fn leave_hosts_alone(&mut self, hosts: &[Arc<str>]) {
        self.restarts.leave_alone(hosts);
        self.keep_lost();
    }
}
