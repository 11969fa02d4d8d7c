//! A replay of a cluster that is under way.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::report::{ClusterReport, Failures, Moved, Refused, Series};
use super::tally::Tally;
use super::{ClusterOutcome, ClusterReplay};
use crate::simulate::balance::Passes;
use crate::simulate::hash::DecisionHash;
use crate::simulate::report::{outside_passes, percent, rate, rounded};
use crate::simulate::statistics::are_read_by;
use crate::simulate::{CHAIN_LIMIT, CallTime, ReplayError, Reused, UnitUsed};
use placewright_chain::DecisionError;
use placewright_document::{FleetChange, FleetEvent, InventoryChanges};
use placewright_engine::generation::Generation;
use placewright_inventory::Shape;
use placewright_model::Request;
use placewright_policy::Policy;
use placewright_scheduler::{Decision, PlaceError, Scheduler, SchedulerOptions};

/// What was decided of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Decided {
    /// When, in seconds.
    pub time: i64,
    /// The line of the event.
    pub line: u32,
    /// Ids of the VMs.
    pub vms: Vec<Arc<str>>,
    /// Id of the host; none if they got none.
    pub host: Option<Arc<str>>,
    /// Why they got none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_by: Option<String>,
}

/// Who refused a request, and why.
type Reason = (String, String);

/// A replay that is under way.
pub(super) struct Run<'a> {
    pub(super) replay: &'a ClusterReplay<'a>,
    pub(super) scheduler: Scheduler,
    pub(super) tally: Tally,
    pub(super) passes: Option<Passes>,
    pub(super) statistics: bool,
    pub(super) moved: Moved,
    pub(super) failures: Failures,
    /// Hosts that are down or in error.
    pub(super) lost: BTreeSet<Arc<str>>,
    /// When it was tried last to start VMs elsewhere.
    pub(super) tried: i64,
    /// Ids of all VMs that there were or that asked for a place.
    known: HashSet<Arc<str>>,
    hash: DecisionHash,
    decisions: Vec<Decided>,
    decided: u64,
    placed: u64,
    refused: u64,
    refused_cpu: i64,
    refused_memory: i64,
    refused_by: BTreeMap<Reason, u64>,
    hosts: u32,
    vms: u32,
    begin: Instant,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        replay: &'a ClusterReplay<'a>,
        policy: Arc<Policy>,
        generation: &Generation,
    ) -> Result<Self, ReplayError> {
        let options = SchedulerOptions {
            chain_limit: CHAIN_LIMIT,
            reservation: None,
            seed: replay.seed,
            recorded: 0,
            reuse: replay.reuse,
            ..SchedulerOptions::default()
        };
        let mut inventory = replay.cluster.clone();
        inventory.set_statistics_max_age(replay.statistics_max_age);
        let known = inventory
            .hosts()
            .flat_map(|(_, host)| inventory.vms_of(host));
        let known: HashSet<Arc<str>> = known.map(|entry| entry.vm.id.clone()).collect();
        let balance = replay.balance.filter(|_| policy.balance.is_some());
        let scheduler = Scheduler::new(inventory, policy, generation, options)?;
        let reads = || {
            let mut units = scheduler.chain().units().into_iter();
            units.any(|unit| are_read_by(unit.description()))
        };
        let statistics = match replay.statistics {
            Some(statistics) => statistics,
            None => reads() && !replay.tells_statistics(),
        };
        let (from, to) = replay.span();
        let mut run = Self {
            scheduler,
            tally: Tally::new(from, to),
            passes: balance.map(|balancing| Passes::new(balancing, from)),
            statistics,
            moved: Moved::default(),
            failures: Failures::default(),
            lost: BTreeSet::new(),
            tried: i64::MIN,
            known,
            hash: DecisionHash::default(),
            decisions: Vec::new(),
            decided: 0,
            placed: 0,
            refused: 0,
            refused_cpu: 0,
            refused_memory: 0,
            refused_by: BTreeMap::new(),
            hosts: 0,
            vms: 0,
            begin: Instant::now(),
            replay,
        };
        run.look()?;
        (run.hosts, run.vms) = (run.tally.now.hosts, run.tally.now.vms);
        run.lost = run.lost_hosts();
        Ok(run)
    }

    fn lost_hosts(&self) -> BTreeSet<Arc<str>> {
        let inventory = self.scheduler.inventory();
        let lost = inventory.not_up_slots();
        let lost = lost.filter(|slot| inventory.is_lost(*slot));
        lost.filter_map(|slot| Some(inventory.host(slot)?.id.clone()))
            .collect()
    }

    /// Count what has changed, and have it reported.
    pub(super) fn look(&mut self) -> Result<(), ReplayError> {
        let slots = self.tally.look(self.scheduler.inventory());
        self.report(&slots)
    }

    pub(super) fn take(&mut self, event: &FleetEvent) -> Result<(), ReplayError> {
        self.tally.advance(event.time);
        self.scheduler.inventory_mut().advance(event.time);
        match &event.change {
            FleetChange::Place(requests) => self.place(event, requests, true)?,
            FleetChange::Reserve(requests) => self.place(event, requests, false)?,
            FleetChange::Confirm(vms) => self.confirm(event, vms)?,
            FleetChange::Cancel(vms) => self.cancel(event, vms)?,
            FleetChange::Remove(vms) => self.remove(event, vms)?,
            FleetChange::Down(hosts) => self.fail(event, hosts)?,
            FleetChange::Up(hosts) => self.bring_back(event, hosts)?,
            FleetChange::Changes(changes) => self.change(event, changes)?,
        }
        let may_help = !matches!(
            event.change,
            FleetChange::Place(_) | FleetChange::Reserve(_) | FleetChange::Confirm(_)
        );
        if may_help {
            self.heed_failures(event.time)?;
        }
        self.look()
    }

    fn place(
        &mut self,
        event: &FleetEvent,
        requests: &[Request],
        runs: bool,
    ) -> Result<(), ReplayError> {
        for request in requests {
            let ids = request.members.iter().map(|vm| vm.id.clone());
            self.known.extend(ids);
            self.decided += 1;
            let refused = match self.scheduler.place(request.clone()) {
                Ok(decision) => {
                    let refused = refusal(&decision);
                    self.settle(&decision, runs)?;
                    self.note(event, request, decision.host.clone(), refused.as_ref());
                    refused
                }
                Err(error) => {
                    let reason = no_decision(&error);
                    let Some(reason) = reason else {
                        return Err(ReplayError::place(event, error));
                    };
                    self.hash.decided(None);
                    self.note(event, request, None, Some(&reason));
                    Some(reason)
                }
            };
            if request.dry_run {
                continue;
            }
            match refused {
                None => self.placed += request.members.len() as u64,
                Some(reason) => {
                    *self.refused_by.entry(reason).or_default() += 1;
                    for vm in &request.members {
                        let shape = Shape::of(&vm.facts);
                        self.refused += 1;
                        self.refused_cpu = self.refused_cpu.saturating_add(shape.cpu);
                        self.refused_memory = self.refused_memory.saturating_add(shape.memory);
                    }
                }
            }
        }
        Ok(())
    }

    /// What follows from a decision.
    fn settle(&mut self, decision: &Decision, runs: bool) -> Result<(), ReplayError> {
        let chosen = decision.decided.chosen.as_ref();
        self.hash.decided(chosen.map(|chosen| chosen.slot));
        if decision.reserved.is_none() {
            return Ok(());
        }
        self.moved.requests += decision.moves.len() as u64;
        if runs {
            for vm in &decision.request.members {
                let inventory = self.scheduler.inventory_mut();
                if inventory.pending(&vm.id).is_some() {
                    inventory.confirm_vm(&vm.id)?;
                    self.measure(&vm.id)?;
                }
            }
        }
        Ok(())
    }

    fn note(
        &mut self,
        event: &FleetEvent,
        request: &Request,
        host: Option<Arc<str>>,
        refused: Option<&Reason>,
    ) {
        if self.replay.decisions {
            self.decisions.push(Decided {
                time: event.time,
                line: event.line,
                vms: request.members.iter().map(|vm| vm.id.clone()).collect(),
                host,
                refused_by: refused.map(|(by, _)| by.clone()),
            });
        }
    }

    fn confirm(&mut self, event: &FleetEvent, vms: &[Arc<str>]) -> Result<(), ReplayError> {
        for vm in vms {
            self.must_be_known(event, vm)?;
            let inventory = self.scheduler.inventory_mut();
            if inventory.pending(vm).is_some() {
                inventory.confirm_vm(vm)?;
                self.measure(vm)?;
            }
        }
        Ok(())
    }

    fn cancel(&mut self, event: &FleetEvent, vms: &[Arc<str>]) -> Result<(), ReplayError> {
        for vm in vms {
            self.must_be_known(event, vm)?;
            let inventory = self.scheduler.inventory_mut();
            if inventory.pending(vm).is_some() {
                inventory.cancel_vm(vm)?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, event: &FleetEvent, vms: &[Arc<str>]) -> Result<(), ReplayError> {
        for vm in vms {
            self.must_be_known(event, vm)?;
            let inventory = self.scheduler.inventory_mut();
            // One that was refused has nothing to leave.
            if inventory.running(vm).is_some() || inventory.pending(vm).is_some() {
                inventory.remove_vm(vm)?;
            }
        }
        Ok(())
    }

    /// A VM that was never there nor asked for a place is a mistake; one that was refused is none.
    fn must_be_known(&self, event: &FleetEvent, vm: &Arc<str>) -> Result<(), ReplayError> {
        match self.known.contains(vm) {
            true => Ok(()),
            false => {
                let source = placewright_inventory::InventoryError::UnknownVm(vm.clone());
                Err(ReplayError::event(event, source))
            }
        }
    }

    fn change(
        &mut self,
        event: &FleetEvent,
        changes: &InventoryChanges,
    ) -> Result<(), ReplayError> {
        self.vacate(event, changes)?;
        let inventory = self.scheduler.inventory();
        let is_refused = |id: &Arc<str>| {
            let is_there = inventory.running(id).is_some() || inventory.pending(id).is_some();
            !is_there && self.known.contains(id)
        };
        let mut changes = changes.clone();
        changes
            .vms
            .retain(|vm| vm.host.is_some() || !is_refused(&vm.id));
        changes.gone.vms.retain(|vm| !is_refused(vm));
        let come = changes.vms.iter().map(|vm| vm.id.clone());
        self.known.extend(come);
        let inventory = self.scheduler.inventory_mut();
        let changed = inventory.change(changes);
        changed
            .map(drop)
            .map_err(|source| ReplayError::event(event, source))
    }

    pub(super) fn finish(mut self) -> ClusterOutcome {
        let (from, to) = self.replay.span();
        self.tally.advance(to);
        let time = self.begin.elapsed();
        let (now, peaks, sums) = (self.tally.now, self.tally.peaks, self.tally.over_time);
        let mut refused_by: Vec<Refused> = (self.refused_by.into_iter())
            .map(|((by, reason), requests)| Refused {
                by,
                reason,
                requests,
            })
            .collect();
        refused_by.sort_by_key(|refused| std::cmp::Reverse(refused.requests));
        let chain = self.scheduler.chain();
        let units = chain.units().into_iter().map(|unit| UnitUsed {
            name: unit.description().name.clone(),
            version: unit.description().version.clone(),
            digest: unit.digest().to_string(),
        });
        let mean = |sum: f64| match sums.seconds > 0.0 {
            true => sum / sums.seconds,
            false => 0.0,
        };
        let balance = self.passes.as_ref().map(Passes::counts);
        let report = ClusterReport {
            cluster: self.scheduler.inventory().name().to_string(),
            policy: chain.policy().name.to_string(),
            units: units.collect(),
            events: self.replay.events.len(),
            from,
            to,
            statistics: self.statistics,
            placed: self.placed,
            refused: self.refused,
            refused_millicores: self.refused_cpu,
            refused_memory_bytes: self.refused_memory,
            refused_by,
            moved: self.moved,
            failures: Failures {
                end_vms: now.lost,
                lost_vm_seconds: sums.lost,
                ..self.failures
            },
            hosts: self.hosts,
            end_hosts: now.hosts,
            peak_used_hosts: peaks.used,
            mean_used_hosts: match sums.seconds > 0.0 {
                true => rounded(mean(sums.used)),
                false => f64::from(now.used),
            },
            end_used_hosts: now.used,
            hosts_emptied: self.tally.emptied,
            vms: self.vms,
            peak_vms: peaks.vms,
            end_vms: now.vms,
            peak_cpu_pct: rounded(peaks.cpu_pct),
            mean_cpu_pct: percent(sums.cpu, sums.cpu_total),
            peak_memory_pct: rounded(peaks.memory_pct),
            mean_memory_pct: percent(sums.memory, sums.memory_total),
            packed_cpu_pct: percent(sums.cpu, sums.used_cpu),
            packed_memory_pct: percent(sums.memory, sums.used_memory),
            balance,
            decision_fnv1a64: self.hash.digits(),
            time,
            decisions_per_second: rate(self.decided, outside_passes(time, balance)),
            calls: CallTime::of(&self.scheduler, time),
            reuse: Reused::of(&self.scheduler),
            series: self.tally.into_points().iter().map(Series::from).collect(),
        };
        ClusterOutcome {
            report,
            decisions: self.decisions,
        }
    }
}

/// Who removed most hosts, of a decision for none.
fn refusal(decision: &Decision) -> Option<Reason> {
    if decision.host.is_some() {
        return None;
    }
    // Of several that removed as many, the first in policy order.
    let removed = decision.decided.removed.iter().rev();
    let most = removed.max_by_key(|removed| removed.hosts);
    Some(match most {
        Some(removed) => (removed.filter.to_string(), removed.reason.to_string()),
        None => ("hosts".to_owned(), "no host was considered".to_owned()),
    })
}

/// What is counted where there is no decision; None: a unit has failed, and the replay ends.
fn no_decision(error: &PlaceError) -> Option<Reason> {
    let (by, reason) = match error {
        PlaceError::Interrupted(_)
        | PlaceError::Refusal(DecisionError::Failed { .. } | DecisionError::OutOfTime { .. }) => {
            return None;
        }
        PlaceError::Unheeded(needs) => {
            let needs: Vec<&str> = needs.iter().map(|need| &*need.need).collect();
            let reason = format!("no filter of the policy checks {}", needs.join(", "));
            return Some(("unheeded-need".to_owned(), reason));
        }
        PlaceError::Pending(_) => ("reserved", "a VM has a place reserved already"),
        PlaceError::NotMigratable { .. } => ("not-migratable", "a VM may not leave its host"),
        PlaceError::Zones(..) => ("zones", "its VMs belong to several availability zones"),
        error => return Some(("request".to_owned(), error.to_string())),
    };
    Some((by.to_owned(), reason.to_owned()))
}
