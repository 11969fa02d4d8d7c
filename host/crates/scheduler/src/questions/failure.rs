//! What happens if hosts fail: the VMs that are restarted are placed anew on the hosts that
//! are left.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::why::known_host;
use super::{QuestionError, Situation, reasons};
use crate::balance::RESTART;
use crate::{Batch, Decision, PlaceError, Plan, RemovedHosts, Scheduler, SchedulerOptions};
use placewright_chain::DecisionError;
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::Word;
use placewright_model::{Facts, Vm};

/// Which VMs are restarted elsewhere when their host fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Those that are highly available: `ha` is true.
    Ha,
    /// All, as a plan moves all VMs of hosts that are down or faulty.
    #[default]
    All,
}

impl Word for Restart {
    const WORDS: &'static [(&'static str, Self)] = &[("ha", Self::Ha), ("all", Self::All)];
}

impl Restart {
    /// Whether this VM is restarted.
    pub fn restarts(self, vm: &Vm) -> bool {
        match self {
            Self::Ha => vm.facts.is("ha"),
            Self::All => true,
        }
    }
}

/// How it is told what follows if hosts fail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureOptions {
    /// As in [`Batch::search`].
    pub search: Option<usize>,
    /// Which VMs are restarted.
    pub restart: Restart,
}

/// What follows if some hosts fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FailedHosts))]
#[serde(rename_all = "kebab-case")]
pub struct Failure {
    /// The hosts that fail.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["h1", "h2"])))]
    pub hosts: Vec<Arc<str>>,
    /// Which VMs are restarted.
    pub restart: Restart,
    /// The VMs that ran there or had a place reserved and are restarted: first those that have a
    /// place on another host, by id, then the others in the order in which they are placed anew.
    pub vms: Vec<Resettled>,
    /// The VMs that ran there or had a place reserved and are not restarted, by id.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["batch-1"])))]
    pub not_restarted: Vec<Arc<str>>,
}

/// A VM whose host failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = RestartedVm))]
#[serde(rename_all = "kebab-case")]
pub struct Resettled {
    /// Id of the VM.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// The host that failed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
    pub from: Arc<str>,
    /// The greater, the sooner it was placed anew.
    #[cfg_attr(feature = "openapi", schema(example = 10))]
    pub priority: i64,
    /// Where it goes; none if it finds no host.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "h1"))]
    pub host: Option<Arc<str>>,
    /// How many hosts were asked about; 0 where it has a place on another host already.
    #[cfg_attr(feature = "openapi", schema(example = 12))]
    pub considered: usize,
    /// What removed them, in policy order; told of VMs that find no host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped_by: Vec<RemovedHosts>,
    /// Why there is no decision on it, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "no host is left"))]
    pub refused: Option<String>,
}

impl Resettled {
    /// Of a VM that starts where it has a place.
    fn started(vm: &Vm, from: Arc<str>, host: Arc<str>) -> Self {
        Self {
            vm: vm.id.clone(),
            from,
            priority: vm.facts.integer("priority").unwrap_or(0),
            host: Some(host),
            considered: 0,
            stopped_by: Vec::new(),
            refused: None,
        }
    }
}

impl Failure {
    /// Whether every VM that is restarted finds another host.
    pub fn survived(&self) -> bool {
        self.stranded().next().is_none()
    }

    /// The VMs that are restarted and find no host.
    pub fn stranded(&self) -> impl Iterator<Item = &Resettled> {
        self.vms.iter().filter(|vm| vm.host.is_none())
    }
}

impl Situation<'_> {
    /// What happens if these hosts fail at `now` (seconds), all at once: they are down,
    /// and the VMs that ran there and are restarted are placed anew, by the policy's order
    /// unit or else by priority, current score and size. What the others took is free.
    ///
    /// # Errors
    /// If there is no such host, a unit fails, or the policy forbids the search.
    pub fn without_hosts(
        &self,
        hosts: &[String],
        now: i64,
        options: FailureOptions,
    ) -> Result<Failure, QuestionError> {
        let known = hosts.iter().map(|id| known_host(self.inventory, id));
        let mut hosts: Vec<Arc<str>> = known.collect::<Result<_, _>>()?;
        hosts.sort_unstable();
        hosts.dedup();
        fail(&mut self.unrecorded()?, hosts, now, options)
    }

    /// What happens if any one host fails: of each host that is up, in the order of
    /// their ids. `progressed` is told how many of how many have been looked at.
    ///
    /// # Errors
    /// As for [`Situation::without_hosts`].
    pub fn n_plus_one(
        &self,
        now: i64,
        options: FailureOptions,
        mut progressed: impl FnMut(usize, usize),
    ) -> Result<Vec<Failure>, QuestionError> {
        let up = self.inventory.hosts();
        let up = up.filter(|(slot, _)| self.inventory.is_up(*slot));
        let mut hosts: Vec<Arc<str>> = up.map(|(_, host)| host.id.clone()).collect();
        hosts.sort_unstable();
        let mut scheduler = self.unrecorded()?;
        let whole = scheduler.inventory().version();
        let mut failures = Vec::with_capacity(hosts.len());
        for (done, host) in hosts.iter().enumerate() {
            progressed(done, hosts.len());
            failures.push(fail(&mut scheduler, vec![host.clone()], now, options)?);
            if !scheduler.rewind(whole) {
                // More has changed than the inventory remembers.
                scheduler = self.unrecorded()?;
            }
        }
        progressed(hosts.len(), hosts.len());
        Ok(failures)
    }

    fn unrecorded(&self) -> Result<Scheduler, QuestionError> {
        let options = SchedulerOptions {
            recorded: 0,
            ..self.options.clone()
        };
        let situation = Situation {
            options: &options,
            ..*self
        };
        situation.scheduler(self.policy.clone())
    }
}

/// Let hosts fail, and place their VMs anew.
fn fail(
    scheduler: &mut Scheduler,
    hosts: Vec<Arc<str>>,
    now: i64,
    options: FailureOptions,
) -> Result<Failure, QuestionError> {
    let world = scheduler.inventory_mut();
    let restart = options.restart;
    let Down { mut lost, to_start } = take_down(world, &hosts).map_err(PlaceError::Inventory)?;
    let mut not_restarted = Vec::new();
    lost.retain(|id, (vm, _)| {
        let restarts = restart.restarts(vm);
        not_restarted.extend((!restarts).then(|| id.clone()));
        restarts
    });
    let mut vms = Vec::with_capacity(lost.len());
    for (id, host) in to_start {
        let known = lost.remove(&id);
        vms.extend(known.map(|(vm, from)| Resettled::started(&vm, from, host)));
    }
    if !lost.is_empty() {
        let plan = scheduler.place_batch(Batch {
            members: lost.values().map(|(vm, _)| (**vm).clone()).collect(),
            // The room that a policy reserves for failures is for these.
            facts: Facts::new().with("kind", RESTART),
            now,
            search: options.search,
            ..Batch::default()
        })?;
        vms.extend(resettled(&plan, &lost)?);
    }
    Ok(Failure {
        hosts,
        restart,
        vms,
        not_restarted,
    })
}

/// VMs that lost their host, by id, each with the host.
type Lost = BTreeMap<Arc<str>, (Arc<Vm>, Arc<str>)>;

/// What follows at once from hosts that are down.
struct Down {
    /// The VMs that are to be placed anew.
    lost: Lost,
    /// Those that ran there and have a place on another host, where they start: by id, each with
    /// that host.
    to_start: BTreeMap<Arc<str>, Arc<str>>,
}

/// Hosts are down: what ran there runs no more, and places there are given back. A VM
/// that was to move there goes on where it runs, and one that was to leave starts where it has a
/// place.
fn take_down(world: &mut Inventory, hosts: &[Arc<str>]) -> Result<Down, InventoryError> {
    let mut lost = Lost::new();
    let (mut no_move, mut to_start) = (Vec::new(), BTreeMap::new());
    let slots: Vec<Option<u32>> = hosts.iter().map(|id| world.slot(id)).collect();
    let fails = |slot: u32| slots.contains(&Some(slot));
    for (id, slot) in hosts.iter().zip(&slots) {
        let Some(host) = slot.and_then(|slot| world.host(slot)) else {
            continue;
        };
        for entry in world.vms_of(host) {
            let vm = &entry.vm.id;
            let (running, pending) = (world.running(vm), world.pending(vm));
            if running.is_some_and(|running| !fails(running.slot)) {
                no_move.push(vm.clone());
                continue;
            }
            let elsewhere = pending.filter(|pending| !fails(pending.slot));
            if let Some(to) = elsewhere.and_then(|pending| world.host(pending.slot)) {
                to_start.insert(vm.clone(), to.id.clone());
            }
            // The amounts in force: those that it was to have are given back with their place.
            let in_force = running.unwrap_or(entry);
            let from = world.host(in_force.slot).map_or(id, |host| &host.id);
            lost.entry(vm.clone())
                .or_insert((in_force.vm.clone(), from.clone()));
        }
    }
    for id in lost.keys().filter(|id| !to_start.contains_key(*id)) {
        world.remove_vm(id)?;
    }
    for id in no_move {
        world.cancel_vm(&id)?;
    }
    for id in hosts {
        world.set_host_value(id, "state", Some("down".into()))?;
    }
    Ok(Down { lost, to_start })
}

/// What became of each VM, in the order of the plan.
fn resettled(plan: &Plan, lost: &Lost) -> Result<Vec<Resettled>, QuestionError> {
    let mut vms = Vec::with_capacity(lost.len());
    for turn in &plan.turns {
        let outcome = match &turn.outcome {
            Ok(decision) => Ok(&**decision),
            Err(error) if is_answer(error) => Err(error.to_string()),
            Err(error) => return Err(error.clone().into()),
        };
        for id in &turn.members {
            vms.extend(one(lost, id, &outcome));
        }
    }
    let no_turn = Err("the policy's order gives it no turn".to_owned());
    for id in &plan.without_turn {
        vms.extend(one(lost, id, &no_turn));
    }
    Ok(vms)
}

/// Whether that there is no decision is an answer: the chain, in its right mind, does
/// not take such a request.
fn is_answer(error: &PlaceError) -> bool {
    !matches!(
        error,
        PlaceError::Interrupted(_)
            | PlaceError::Refusal(DecisionError::Failed { .. } | DecisionError::OutOfTime { .. })
    )
}

fn one(lost: &Lost, id: &Arc<str>, outcome: &Result<&Decision, String>) -> Option<Resettled> {
    let (vm, from) = lost.get(id)?;
    let decision = outcome.as_ref().ok();
    let host = decision.and_then(|decision| decision.host.clone());
    Some(Resettled {
        vm: id.clone(),
        from: from.clone(),
        priority: vm.facts.integer("priority").unwrap_or(0),
        considered: decision.map_or(0, |decision| decision.decided.considered),
        stopped_by: match (decision, &host) {
            (Some(decision), None) => reasons(decision),
            _ => Vec::new(),
        },
        host,
        refused: outcome.as_ref().err().cloned(),
    })
}
