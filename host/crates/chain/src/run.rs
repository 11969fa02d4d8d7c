//! Runs a chain for one request.

mod ask;
mod durations;
mod infinite;
mod kept;
mod not_asked;
mod refine;
mod related;
mod stage;
mod sums;
mod take_over;

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use super::choose::choose;
use super::encode::{Context, Dictionary, HostRows};
use super::reuse::{Kept, Quarantined, Reuse, ReuseCounts, UnitReuse};
use super::subject::Subject;
use super::warm::Warm;
use super::{Chain, PartStep, Stage, Step};
use ask::Asker;
pub(super) use ask::CALLS_PER_INSTANCE;
pub use durations::Durations;
pub(super) use infinite::{COSTS_INFINITELY_MUCH, cuts_infinite};
pub(super) use not_asked::{EXCLUDED, not_up};
use placewright_engine::contract::Call;
use placewright_engine::unit::{Fault, Unit};
use placewright_engine::{Clock, IdleInstances, IdlePlace, Moment};
use placewright_inventory::Inventory;
use placewright_model::{Request, nearest};
pub(super) use refine::{candidates, equal};
pub(super) use stage::{LACKS_A_VALUE, StageRun};

/// What a chain came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decided {
    /// None: every host was removed.
    pub chosen: Option<Chosen>,
    /// How many hosts were considered.
    pub considered: usize,
    /// How many hosts each reason removed: first those that are not up and were not
    /// considered, then those that entries removed, in policy order.
    pub removed: Vec<Removed>,
    /// Entries whose units failed and that were left out, as the policy says.
    pub left_out: Vec<LeftOut>,
    /// Where selections decide: the groups of candidates, best first, each candidate
    /// by its slot and with its share of chance in its group. The first group with
    /// a share above 0 was drawn from.
    pub shares: Vec<Vec<(u32, f64)>>,
}

/// The host that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The host's index in the inventory's columns.
    pub slot: u32,
    /// The sum of weighted costs, tier by tier.
    pub costs: Vec<f64>,
    /// How many hosts had the same sums, this one included.
    pub tied: usize,
}

/// Hosts that are out for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The entry's name in the policy; of hosts that were not considered, `state` if they are
    /// not up and `request` if the request excludes them.
    pub filter: Arc<str>,
    /// Completes "host ...".
    pub reason: Arc<str>,
    /// Waiting for pending placements may help.
    pub passing: bool,
    /// How many hosts.
    pub hosts: usize,
    /// Of hosts that were not considered: their ids, the first ten of them; else none.
    pub names: Vec<Arc<str>>,
}

impl Decided {
    /// How many of the hosts that were considered no entry removed.
    pub fn left(&self) -> usize {
        let by_entries = self.removed.iter().filter(|it| it.names.is_empty());
        let removed: usize = by_entries.map(|it| it.hosts).sum();
        self.considered.saturating_sub(removed)
    }
}

/// An entry of the policy that gave no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The policy's entry.
    pub entry: Arc<str>,
    /// What went wrong.
    pub fault: Arc<Fault>,
}

/// Why a chain comes to no decision at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum DecisionError {
    /// The request or a setting is at fault.
    #[error("{0}")]
    Refused(String),
    /// A unit failed that the policy does not do without.
    #[error("entry \"{entry}\" of the policy gave no answer: {fault}")]
    Failed { entry: Arc<str>, fault: Arc<Fault> },
    /// The time for a chain ran out.
    #[error(
        "the chain took longer than its limit of {} ms, and unit \"{slowest}\" took most of it",
        .limit.as_millis()
    )]
    OutOfTime {
        limit: Duration,
        slowest: Arc<str>,
        /// The call that was stopped when the time was up, if one was: what came after it
        /// had none left.
        stopped: Option<Arc<Fault>>,
    },
    /// The request, or a VM of it, names a host that is not there.
    #[error("there is no host \"{host}\" in the cluster{}", did_you_mean(.nearest))]
    UnknownHost {
        host: Arc<str>,
        /// The host that was probably meant.
        nearest: Option<Arc<str>>,
    },
}

fn did_you_mean(nearest: &Option<Arc<str>>) -> String {
    match nearest {
        Some(name) => format!(" (did you mean \"{name}\"?)"),
        None => String::new(),
    }
}

impl DecisionError {
    /// That a cluster has no host of that id.
    pub fn unknown_host(inventory: &Inventory, host: &Arc<str>) -> Self {
        let ids = inventory.hosts().map(|(_, host)| &*host.id);
        Self::UnknownHost {
            host: host.clone(),
            nearest: nearest(host, ids).map(Into::into),
        }
    }
}

/// What a unit has cost a runner so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTime {
    /// The unit's name.
    pub unit: Arc<str>,
    /// How often it was called.
    pub calls: u64,
    /// Rows of hosts that it was asked about.
    pub rows: u64,
    /// Time in calls, making and reading their tables included.
    pub time: Duration,
    /// How many of the calls took how long.
    pub durations: Durations,
    /// Linear memory in bytes of the instance that had most of it after a call.
    pub memory: usize,
}

impl UnitTime {
    /// The entry of that unit, made if there is none.
    fn of<'t>(times: &'t mut Vec<Self>, unit: &Unit) -> &'t mut Self {
        let name = unit.description().name.as_str();
        let place = times.iter().position(|time| *time.unit == *name);
        let place = place.unwrap_or_else(|| {
            times.push(Self::new(unit));
            times.len() - 1
        });
        &mut times[place]
    }

    fn new(unit: &Unit) -> Self {
        Self {
            unit: unit.description().name.as_str().into(),
            calls: 0,
            rows: 0,
            time: Duration::ZERO,
            durations: Durations::default(),
            memory: 0,
        }
    }

    /// Count a call that was asked about `rows` hosts and took `took`.
    fn add(&mut self, rows: usize, took: Duration) {
        self.calls += 1;
        self.rows += rows as u64;
        self.time += took;
        self.durations.add(took);
    }

    /// Add what the same unit has cost elsewhere: for another entry, or another runner.
    pub fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.rows += other.rows;
        self.time += other.time;
        self.durations.merge(&other.durations);
        self.memory = self.memory.max(other.memory);
    }
}

/// How much a run of a chain finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Which host is chosen.
    Choice,
    /// All costs of all hosts as well, whether they are needed or not.
    AllCosts,
    /// The same, and units are asked about all hosts, whatever is cached.
    AllAsked,
}

/// Instances and buffers for running one chain again and again. It changes no
/// answer: a new runner decides the same.
pub struct Runner {
    chain: Arc<Chain>,
    steps: Vec<StepState>,
    /// Where instances are between calls; None: there are none yet.
    pub(super) idle: Option<IdleInstances>,
    /// By effects entry.
    pub(super) effects: Vec<Warm>,
    part_times: Vec<UnitTime>,
    dictionary: Dictionary,
    /// How the stages of the last run went.
    stages: Vec<StageRun>,
    slots: Vec<u32>,
    limit: Duration,
    reuse: Option<Reuse>,
    kept: Option<Kept>,
    clock: Clock,
    /// When the time of the last run, what follows from it included, is up.
    deadline: Moment,
    /// The unit whose call took longest in the last run, and how long.
    slowest: Option<(Duration, Arc<str>)>,
    /// The call of the last run that was stopped when the time was up.
    stopped: Option<Stopped>,
}

/// A call that was stopped when the time of its chain was up.
struct Stopped {
    /// The place of its step.
    place: usize,
    fault: Arc<Fault>,
}

/// What a runner holds for one step.
struct StepState {
    instance: IdlePlace,
    /// Its unit did not say the same again: every call has an instance of its own.
    is_doubted: bool,
    call: Call,
    time: UnitTime,
}

impl Runner {
    /// A runner that gives a whole chain, with what follows from its decision, at most
    /// `limit` of wall time, as [`Limits::time`](placewright_engine::Limits::time) says.
    pub fn new(chain: Arc<Chain>, limit: Duration) -> Self {
        let clock = chain.clock();
        let mut steps: Vec<StepState> = Vec::with_capacity(chain.step_count());
        let mut idle = None;
        for step in chain.stages.iter().flat_map(|stage| &stage.steps) {
            let idle: &mut IdleInstances =
                idle.get_or_insert_with(|| step.unit.engine().idle_instances());
            steps.push(StepState {
                instance: idle.place(),
                is_doubted: false,
                call: Call::default(),
                time: UnitTime::new(&step.unit),
            });
        }
        Self {
            chain,
            steps,
            idle,
            effects: Vec::new(),
            part_times: Vec::new(),
            dictionary: Dictionary::default(),
            stages: Vec::new(),
            slots: Vec::new(),
            limit,
            reuse: None,
            kept: None,
            deadline: clock.after(limit),
            clock,
            slowest: None,
            stopped: None,
        }
    }

    /// The same, with answers kept from decision to decision. It decides the same.
    pub fn reusing(chain: Arc<Chain>, limit: Duration, reuse: Reuse) -> Self {
        Self {
            reuse: Some(reuse),
            ..Self::new(chain, limit)
        }
    }

    /// What keeping answers has brought so far.
    pub fn reuse_counts(&self) -> ReuseCounts {
        self.kept.as_ref().map(Kept::counts).unwrap_or_default()
    }

    /// What keeping answers has brought unit by unit.
    pub fn unit_reuse(&self) -> Vec<UnitReuse> {
        self.kept.as_ref().map_or_else(Vec::new, Kept::units)
    }

    /// The units that did not say the same again, whose answers are not kept any more.
    pub fn quarantined(&self) -> &[Quarantined] {
        self.kept.as_ref().map_or(&[], Kept::quarantined)
    }

    /// Whether answers are kept from decision to decision.
    pub(super) fn keeps_answers(&self) -> bool {
        self.reuse.is_some()
    }

    /// Put the unit of a part into quarantine, which said something else of a placement
    /// on the host in `slot` than an instance of its own does.
    pub(super) fn quarantine(&mut self, step: &PartStep, inventory: &Inventory, slot: u32) {
        let Some(reuse) = self.reuse else { return };
        let host = inventory.host(slot).map(|host| host.id.clone());
        let kept = self
            .kept
            .get_or_insert_with(|| Kept::new(&self.chain, reuse, inventory));
        kept.quarantine(&step.unit, host.unwrap_or_else(|| "".into()));
    }

    /// The chain that this runner runs.
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// What each call of the chain has cost so far, in the order of calls; then what
    /// selections and effects have cost, unit by unit.
    pub fn times(&self) -> impl Iterator<Item = &UnitTime> {
        let judges = self.steps.iter().map(|state| &state.time);
        judges.chain(&self.part_times)
    }

    /// The wall time that a whole chain may take.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// Asks units on behalf of the last run, in what is left of its time.
    pub(super) fn asker<'a>(
        &'a mut self,
        inventory: &'a Inventory,
        subject: &'a Subject<'a>,
    ) -> Asker<'a> {
        Asker {
            inventory,
            subject,
            states: &mut self.steps,
            part_times: &mut self.part_times,
            dictionary: &mut self.dictionary,
            kept: None,
            whole: false,
            clock: &self.clock,
            deadline: self.deadline,
            limit: self.limit,
            slowest: &mut self.slowest,
            stopped: &mut self.stopped,
        }
    }

    /// The tables that each call of the last decision carried, in the order of calls.
    pub fn calls(&self) -> impl Iterator<Item = (&Arc<Unit>, &Call)> {
        let steps = self.chain.stages.iter().flat_map(|stage| &stage.steps);
        steps.map(|step| (&step.unit, &self.steps[step.place].call))
    }

    /// Decide where the request's VMs would run, together on one host. `draw`
    /// (0 or more, less than 1) decides what is left to chance.
    ///
    /// # Errors
    /// If the request is at fault, a unit fails that the policy cannot do without,
    /// or the time limit is reached.
    pub fn decide(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
    ) -> Result<Decided, DecisionError> {
        self.run(inventory, request, draw, Extent::Choice)
    }

    /// Decide, and find out so much besides.
    pub(super) fn run(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        extent: Extent,
    ) -> Result<Decided, DecisionError> {
        let mut decided = self.run_chain(inventory, request, draw, extent)?;
        if infinite::is_no_place(&self.chain, &decided) {
            decided = self.without_infinite(inventory, request, draw, decided)?;
        }
        let not_asked = not_asked::removed(inventory, request, decided.considered);
        decided.removed.splice(0..0, not_asked);
        Ok(decided)
    }

    /// The time of the chain begins now.
    pub(crate) fn begin(&mut self) {
        self.deadline = self.clock.after(self.limit);
        (self.slowest, self.stopped) = (None, None);
    }

    fn run_chain(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        extent: Extent,
    ) -> Result<Decided, DecisionError> {
        let subject = Subject::new(request, inventory, draw);
        self.begin();
        self.stages.clear();
        if let Some(forced) = &request.forced {
            return self.forced(inventory, request, forced);
        }
        let whole = extent != Extent::Choice;
        let Some(reuse) = self.reuse.filter(|_| extent != Extent::AllAsked) else {
            return self.run_stages(inventory, &subject, whole, None);
        };
        let kept = self.kept.take();
        let mut kept = kept.unwrap_or_else(|| Kept::new(&self.chain, reuse, inventory));
        let keeps = kept.begin(inventory);
        let mut outcome = self.run_stages(inventory, &subject, whole, keeps.then_some(&mut kept));
        if mem::take(&mut kept.differed) {
            for (state, kept) in self.steps.iter_mut().zip(&kept.steps) {
                if kept.is_quarantined {
                    state.is_doubted = true;
                    drop(state.instance.take());
                }
            }
            outcome = self.run_stages(inventory, &subject, whole, None);
        }
        kept.end();
        self.kept = Some(kept);
        outcome
    }

    fn run_stages(
        &mut self,
        inventory: &Inventory,
        subject: &Subject<'_>,
        whole: bool,
        kept: Option<&mut Kept>,
    ) -> Result<Decided, DecisionError> {
        let chain = self.chain.clone();
        let (request, draw) = (subject.request, subject.draw);
        // Out of the runner while the asker holds it.
        let mut slots = mem::take(&mut self.slots);
        let mut stages = mem::take(&mut self.stages);
        stages.clear();
        let mut asker = Asker {
            whole,
            ..self.asker(inventory, subject)
        };
        if let Some(kept) = kept {
            if !whole
                && !names_hosts(request)
                && let Some(decided) = tracing::debug_span!("sums")
                    .in_scope(|| sums::decide(&chain, kept, &mut asker, draw))
            {
                (self.slots, self.stages) = (slots, stages);
                return Ok(decided);
            }
            asker.kept = Some(kept);
        }
        let everyone = considered_hosts(inventory, request, &mut slots)?;
        let considered = match everyone {
            true => HostRows::All(u32::try_from(inventory.slots()).unwrap_or(u32::MAX)),
            false => HostRows::List(&slots),
        };
        let mut left_out = Vec::new();
        let mut left: Vec<u32> = Vec::new();
        for (number, stage) in chain.stages.iter().enumerate() {
            let rows = match number {
                0 => considered,
                _ => HostRows::List(&left),
            };
            let last = number + 1 == chain.stages.len();
            let _span =
                tracing::debug_span!("stage", stage = &*stage.name, hosts = rows.len()).entered();
            let mut run = StageRun::run(stage, rows, &mut asker, &mut left_out)?;
            if last {
                run.prefer(request, inventory);
            }
            run.add_up(stage, rows, &mut asker, &mut left_out)?;
            refine::refine(&chain, number, &mut run, &stages, &mut asker, &mut left_out)?;
            if !last {
                refine::pass_on(stage, &mut run);
                left = run.passed_slots();
            }
            stages.push(run);
        }
        (self.slots, self.stages) = (slots, stages);
        Ok(self.decided(inventory, draw, considered_len(&self.stages), left_out))
    }

    /// How a stage goes for the hosts in these slots, up to its selections.
    /// The slots of the hosts that no filter of any stage removes. Nobody is asked about costs,
    /// and nothing is selected: these are the hosts where the request's VMs could run, and not
    /// those where they would.
    ///
    /// # Errors
    /// If the request is at fault, a filter fails that the policy cannot do without, or the time
    /// limit is reached.
    pub fn remaining(
        &mut self,
        inventory: &Inventory,
        request: &Request,
    ) -> Result<Vec<u32>, DecisionError> {
        let subject = Subject::new(request, inventory, 0.0);
        self.begin();
        let chain = self.chain.clone();
        let mut left = considered_slots(inventory, request)?;
        let mut asker = self.asker(inventory, &subject);
        for stage in &chain.stages {
            left = StageRun::filtered(stage, &left, &mut asker)?;
        }
        Ok(left)
    }

    pub(super) fn unrefined(
        &mut self,
        stage: &Stage,
        inventory: &Inventory,
        subject: &Subject<'_>,
        slots: &[u32],
    ) -> Result<StageRun, DecisionError> {
        self.deadline = self.clock.after(self.limit);
        let mut asker = Asker {
            whole: true,
            ..self.asker(inventory, subject)
        };
        let rows = HostRows::List(slots);
        let mut left_out = Vec::new();
        let mut run = StageRun::run(stage, rows, &mut asker, &mut left_out)?;
        run.prefer(subject.request, inventory);
        run.add_up(stage, rows, &mut asker, &mut left_out)?;
        Ok(run)
    }

    fn decided(
        &self,
        inventory: &Inventory,
        draw: f64,
        considered: usize,
        left_out: Vec<LeftOut>,
    ) -> Decided {
        let chosen = self.stages.last().and_then(|run| {
            let rule = &self.chain.policy.tie_rule;
            if let Some(groups) = run.refined.last() {
                let (row, tied) = refine::draw(groups, draw, run, inventory)?;
                return Some(Chosen {
                    slot: run.slot(row as usize),
                    costs: run.sums_of(row),
                    tied,
                });
            }
            let slot_of = |survivor| run.survivor_slot(survivor);
            let choice = choose(run.best.clone(), slot_of, rule, draw, inventory)?;
            Some(Chosen {
                slot: run.survivor_slot(choice.survivor),
                costs: run.sums.iter().map(|tier| tier[choice.survivor]).collect(),
                tied: choice.tied,
            })
        });
        let removed = self
            .chain
            .stages
            .iter()
            .zip(&self.stages)
            .flat_map(|(stage, run)| run.removed(stage))
            .collect();
        Decided {
            chosen,
            considered,
            removed,
            left_out,
            shares: self.stages.last().map_or(Vec::new(), StageRun::shares),
        }
    }

    /// The host that an administrator chose, if it is up: no unit is asked.
    fn forced(
        &self,
        inventory: &Inventory,
        request: &Request,
        forced: &Arc<str>,
    ) -> Result<Decided, DecisionError> {
        let slot = known(inventory, forced)?;
        for named in [&request.allowed, &request.excluded, &request.preferred] {
            for id in named {
                known(inventory, id)?;
            }
        }
        let chosen = Chosen {
            slot,
            costs: Vec::new(),
            tied: 1,
        };
        Ok(Decided {
            chosen: inventory.is_up(slot).then_some(chosen),
            considered: usize::from(inventory.is_up(slot)),
            removed: Vec::new(),
            left_out: Vec::new(),
            shares: Vec::new(),
        })
    }

    /// How the stages of the last run went.
    pub(super) fn stage_runs(&self) -> &[StageRun] {
        &self.stages
    }
}

fn considered_len(stages: &[StageRun]) -> usize {
    stages.first().map_or(0, StageRun::considered)
}

fn known(inventory: &Inventory, id: &Arc<str>) -> Result<u32, DecisionError> {
    inventory
        .slot(id)
        .ok_or_else(|| DecisionError::unknown_host(inventory, id))
}

/// Whether a request is about some hosts rather than all that are up.
fn names_hosts(request: &Request) -> bool {
    let named = [&request.allowed, &request.excluded, &request.preferred];
    named.into_iter().any(|hosts| !hosts.is_empty())
}

/// The slots of the hosts that are up and that the request allows, ascending.
pub(super) fn considered_slots(
    inventory: &Inventory,
    request: &Request,
) -> Result<Vec<u32>, DecisionError> {
    let mut slots = Vec::new();
    Ok(match considered_hosts(inventory, request, &mut slots)? {
        true => inventory.up_slots().collect(),
        false => slots,
    })
}

/// The hosts that are up and that the request allows. True: all of them, and no
/// slot is free; else they are in `slots`, ascending.
fn considered_hosts(
    inventory: &Inventory,
    request: &Request,
    slots: &mut Vec<u32>,
) -> Result<bool, DecisionError> {
    let known = |id: &Arc<str>| known(inventory, id);
    let mut allowed: Option<Vec<u32>> = None;
    if !request.allowed.is_empty() {
        allowed = Some(
            request
                .allowed
                .iter()
                .map(known)
                .collect::<Result<_, _>>()?,
        );
    }
    let excluded: Vec<u32> = request
        .excluded
        .iter()
        .map(known)
        .collect::<Result<_, _>>()?;
    for preferred in &request.preferred {
        known(preferred)?;
    }
    if allowed.is_none() && excluded.is_empty() && inventory.is_all_up() {
        return Ok(true);
    }
    slots.clear();
    match allowed {
        Some(mut allowed) => {
            allowed.sort_unstable();
            allowed.dedup();
            slots.extend(allowed.into_iter().filter(|slot| inventory.is_up(*slot)));
        }
        None => slots.extend(inventory.up_slots()),
    }
    slots.retain(|slot| !excluded.contains(slot));
    Ok(false)
}

impl Step {
    pub(super) fn context<'a>(
        &'a self,
        inventory: &'a Inventory,
        subject: &'a Subject<'a>,
    ) -> Context<'a> {
        Context {
            inventory,
            subject: Some(subject),
            settings: &self.settings,
            now: subject.request.now,
            candidates: None,
        }
    }
}
