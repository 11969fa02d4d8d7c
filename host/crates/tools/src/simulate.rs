//! Replays a trace of VMs on a fleet of hosts through a policy.
//!
//! A [`Replay`] takes arrivals and departures in order of time, lets the scheduler
//! place every VM as it comes, and counts. What it decides depends on trace, fleet,
//! policy, units and seed alone; only the times in the report do not.

mod balance;
mod candidate;
pub mod cluster;
mod error;
mod events;
pub mod excerpt;
mod fleet;
mod hash;
pub mod openb;
pub mod plot;
mod report;
mod spread;
mod statistics;
mod tally;
#[cfg(test)]
mod tests;
mod timeline;
pub mod trace;

pub use balance::{Balanced, Balancing};
pub use candidate::Candidate;
pub use error::ReplayError;
pub use fleet::Fleet;
pub use report::{CallTime, Report, Reused, TraceShown, UnitUsed};
pub use spread::Spread;
pub use tally::{Load, Usage};
pub use timeline::{Point, Timeline};

use std::sync::Arc;
use std::time::{Duration, Instant};

use balance::Passes;
use events::{Change, Event, events};
use hash::DecisionHash;
use placewright_chain::{Chain, Reuse};
use placewright_engine::generation::Generation;
use placewright_model::{Request, Vm};
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{Cancel, Decision, Quotas, Scheduler, SchedulerOptions};
use report::{Counts, Setting};
use statistics::Statistics;
use tally::Tally;
use trace::{Trace, TraceVm};

/// Wall time that one decision may take. Long, because a replay has nobody waiting
/// for it, and another program may take the processor away.
const CHAIN_LIMIT: Duration = Duration::from_secs(60);

/// What is to be replayed.
#[derive(Debug, Clone, Copy)]
pub struct Replay<'a> {
    /// The VMs.
    pub trace: &'a Trace,
    /// The hosts.
    pub fleet: Fleet,
    /// Stop after so many arrivals.
    pub limit: Option<usize>,
    /// Whether hosts report measured load and free memory, as if every VM used what
    /// it was promised. None: if a unit of the policy reads them.
    pub statistics: Option<bool>,
    /// What draws are derived from.
    pub seed: u64,
    /// How units' answers are kept from decision to decision; None: they are not.
    pub reuse: Option<Reuse>,
    /// How the fleet is balanced while it runs, if at all.
    pub balance: Option<Balancing>,
}

/// Follows a replay as it goes.
pub trait Observer {
    /// A VM has come, and is about to be placed.
    fn deciding(&mut self, _scheduler: &mut Scheduler, _request: &Request) {}

    /// A VM has come, and the scheduler has decided. What the decision was is not
    /// forgotten before this returns: it can be explained.
    fn decided(&mut self, _scheduler: &Scheduler, _decision: &Decision) {}

    /// So many of all events are done.
    fn progressed(&mut self, _done: usize, _of: usize) {}
}

/// Nobody follows.
impl Observer for () {}

/// What came out of a replay.
#[derive(Debug)]
pub struct Outcome {
    /// The figures.
    pub report: Report,
    /// The load over time.
    pub timeline: Timeline,
}

impl Replay<'_> {
    /// Replay the trace under a policy that was checked against `generation`.
    ///
    /// # Errors
    /// If the trace has no VM that fits a host, the policy cannot be run, or a unit
    /// fails that it does not do without.
    pub fn run(
        &self,
        policy: Arc<Policy>,
        generation: &Generation,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, ReplayError> {
        let vms = self.vms()?;
        let events = self.events(&vms);
        let inventory = self.fleet.inventory("fleet")?;
        let options = SchedulerOptions {
            chain_limit: CHAIN_LIMIT,
            reservation: None,
            seed: self.seed,
            recorded: 1,
            recorded_bytes: u64::MAX,
            reuse: self.reuse,
            // VMs of traces have no needs.
            unheeded: Unheeded::Ignore,
            cancel: Cancel::default(),
            quotas: Quotas::default(),
        };
        let scheduler = Scheduler::new(inventory, policy, generation, options)?;
        let setting = self.setting(scheduler.chain(), &vms, &events);
        let mut run = Run::new(self.fleet, vms, &events, scheduler, setting.statistics)?;
        let first = events.first().map_or(0, |event| event.time);
        run.passes = self.balance.map(|balancing| Passes::new(balancing, first));
        let begin = Instant::now();
        for (done, event) in events.iter().enumerate() {
            run.balance_until(event.time)?;
            run.take(*event, observer)?;
            observer.progressed(done + 1, events.len());
        }
        Ok(run.finish(setting, begin.elapsed()))
    }

    /// The VMs that are replayed.
    fn vms(&self) -> Result<Vec<&TraceVm>, ReplayError> {
        let all_sizes = !self.trace.form.leaves_out_larger();
        let fits = |vm: &&TraceVm| all_sizes || self.fleet.fits(vm);
        let vms: Vec<&TraceVm> = self.trace.vms.iter().filter(fits).collect();
        match vms.is_empty() {
            true => Err(ReplayError::NothingFits(self.trace.name.clone())),
            false => Ok(vms),
        }
    }

    /// What happens to them, up to the last arrival that is wanted.
    fn events(&self, vms: &[&TraceVm]) -> Vec<Event> {
        let mut events = events(vms);
        if let Some(limit) = self.limit.filter(|limit| *limit < vms.len()) {
            let mut arrivals = 0;
            let end = events.iter().position(|event| {
                arrivals += usize::from(event.change == Change::Arrival);
                arrivals > limit
            });
            events.truncate(end.unwrap_or(events.len()));
        }
        events
    }

    fn setting(&self, chain: &Chain, vms: &[&TraceVm], events: &[Event]) -> Setting {
        let arrivals = events
            .iter()
            .filter(|event| event.change == Change::Arrival);
        let units = chain.units();
        Setting {
            trace: TraceShown {
                name: self.trace.name.clone(),
                form: self.trace.form,
                arrivals: arrivals.count() as u64,
                left_out_other_scale: self.trace.other_scale,
                left_out_too_large: self.trace.vms.len() - vms.len(),
            },
            fleet: self.fleet,
            policy: chain.policy().name.to_string(),
            statistics: self.statistics.unwrap_or_else(|| {
                units
                    .iter()
                    .any(|unit| statistics::are_read_by(unit.description()))
            }),
            units: units
                .into_iter()
                .map(|unit| UnitUsed {
                    name: unit.description().name.clone(),
                    version: unit.description().version.clone(),
                    digest: unit.digest().to_string(),
                })
                .collect(),
        }
    }
}

/// A replay that is under way.
struct Run<'a> {
    vms: Vec<&'a TraceVm>,
    /// By number of the VM: the host that it was placed on.
    places: Vec<Option<u32>>,
    scheduler: Scheduler,
    statistics: Option<Statistics>,
    tally: Tally,
    hash: DecisionHash,
    placed: u64,
    rejected: Load,
    names: Names,
    passes: Option<Passes>,
}

/// Names of columns, made once.
struct Names {
    cpu: Arc<str>,
    memory: Arc<str>,
    tenant: Arc<str>,
    digits: usize,
}

impl Names {
    fn id(&self, vm: u32) -> String {
        format!("vm-{vm:0digits$}", digits = self.digits)
    }

    fn number(&self, id: &str) -> Option<u32> {
        id.strip_prefix("vm-")?.parse().ok()
    }
}

impl<'a> Run<'a> {
    fn new(
        fleet: Fleet,
        vms: Vec<&'a TraceVm>,
        events: &[Event],
        mut scheduler: Scheduler,
        statistics: bool,
    ) -> Result<Self, ReplayError> {
        let arrivals = || {
            events
                .iter()
                .filter(|event| event.change == Change::Arrival)
        };
        let from = arrivals().next().map_or(0, |event| event.time);
        let to = arrivals().next_back().map_or(0, |event| event.time);
        let statistics = match statistics {
            true => Some(Statistics::begin(fleet, scheduler.inventory_mut())?),
            false => None,
        };
        Ok(Self {
            places: vec![None; vms.len()],
            names: Names {
                cpu: "cpu".into(),
                memory: "memory".into(),
                tenant: "tenant".into(),
                digits: vms.len().saturating_sub(1).to_string().len(),
            },
            vms,
            scheduler,
            statistics,
            tally: Tally::new(fleet, from, to),
            hash: DecisionHash::default(),
            placed: 0,
            rejected: Load::default(),
            passes: None,
        })
    }

    fn take(&mut self, event: Event, observer: &mut dyn Observer) -> Result<(), ReplayError> {
        self.tally.advance(event.time);
        match event.change {
            Change::Arrival => self.arrive(event, observer),
            Change::Departure => self.leave(event.vm),
        }
    }

    fn arrive(&mut self, event: Event, observer: &mut dyn Observer) -> Result<(), ReplayError> {
        let vm = self.vms[event.vm as usize];
        let request = Request {
            members: vec![self.member(event.vm)],
            // What was there before the trace began comes at its beginning.
            now: event.time.max(0),
            ..Request::default()
        };
        observer.deciding(&mut self.scheduler, &request);
        let decision = self
            .scheduler
            .place(request)
            .map_err(|source| ReplayError::Place {
                line: vm.line,
                source: Box::new(source),
            })?;
        let host = decision.decided.chosen.as_ref().map(|chosen| chosen.slot);
        self.hash.decided(host);
        self.places[event.vm as usize] = host;
        match host {
            Some(host) => {
                self.scheduler
                    .inventory_mut()
                    .confirm_vm(&self.names.id(event.vm))?;
                if self.passes.is_some() && self.statistics.is_some() {
                    self.measure(event.vm, host)?;
                }
                self.placed += 1;
                let load = self.tally.placed(host, vm.cpu, vm.memory);
                self.report(host, load)?;
            }
            None => self.rejected.add(vm.cpu, vm.memory),
        }
        observer.decided(&self.scheduler, &decision);
        // A turn of a server ends so, too.
        self.scheduler.forget_the_past();
        Ok(())
    }

    fn member(&self, number: u32) -> Vm {
        let vm = self.vms[number as usize];
        let mut member = Vm::new(self.names.id(number))
            .with(self.names.cpu.clone(), vm.cpu)
            .with(self.names.memory.clone(), vm.memory);
        if let Some(tenant) = &vm.tenant {
            let tenant = placewright_model::Value::Text(tenant.clone());
            member.facts.set(self.names.tenant.clone(), tenant);
        }
        member
    }

    /// A VM that was rejected has nothing to leave.
    fn leave(&mut self, number: u32) -> Result<(), ReplayError> {
        let Some(host) = self.places[number as usize].take() else {
            return Ok(());
        };
        let vm = self.vms[number as usize];
        self.scheduler
            .inventory_mut()
            .remove_vm(&self.names.id(number))?;
        let load = self.tally.left(host, vm.cpu, vm.memory);
        self.report(host, load)
    }

    fn report(&mut self, host: u32, load: Option<Load>) -> Result<(), ReplayError> {
        if let (Some(statistics), Some(load)) = (&self.statistics, load) {
            statistics.report(self.scheduler.inventory_mut(), host, load)?;
        }
        Ok(())
    }

    fn finish(self, setting: Setting, time: Duration) -> Outcome {
        let calls = CallTime::of(&self.scheduler, time);
        let (now, peak) = (self.tally.now(), self.tally.peak());
        let (spread, timeline) = self.tally.into_history();
        let counts = Counts {
            placed: self.placed,
            rejected: self.rejected,
            now,
            peak,
            spread: &spread,
            hash: self.hash.digits(),
            balance: self.passes.as_ref().map(Passes::counts),
            reuse: Reused::of(&self.scheduler),
        };
        Outcome {
            report: Report::new(setting, counts, time, calls),
            timeline,
        }
    }
}
