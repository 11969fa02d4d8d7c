//! Decides for one cluster, one request after the other: places, reserves,
//! remembers, explains.
//!
//! A decision and its reservation are one step, so the next decision sees it. Many
//! clusters are many schedulers.
//!
//! **This is the crate to embed.** It needs no server, no store and no command line, and exports
//! the crates below it, so that a program names one dependency. `examples/embed.rs` loads units,
//! makes a chain, places a hundred VMs and explains one. The types to read first:
//!
//! | type | what it is |
//! |---|---|
//! | [`engine::Engine`] | compiles units and runs them within [`engine::Limits`] |
//! | [`engine::unit::Unit`] | a loaded component |
//! | [`engine::generation::Generation`] | an immutable set of units |
//! | [`policy::Policy`] | the document that chains units |
//! | [`model::schema::Schema`] | all tables and columns that there are |
//! | [`model::Host`], [`model::Vm`], [`model::Request`] | what is placed where |
//! | [`inventory::Inventory`] | the state of one cluster |
//! | [`Scheduler`], [`SchedulerOptions`] | decides, reserves, remembers |
//! | [`Decision`], [`chain::Explanation`] | what was decided, and why |
//! | [`questions::Situation`] | why not, what if, how many more: asked of copies |

#![forbid(unsafe_code)]

pub mod questions;

pub use placewright_chain as chain;
pub use placewright_document as document;
pub use placewright_engine as engine;
pub use placewright_inventory as inventory;
pub use placewright_model as model;
pub use placewright_policy as policy;

mod balance;
mod batch;
mod cancel;
mod decision;
mod departure;
mod draw;
mod error;
mod needs;
mod order;
mod past;
mod place;
mod quota;
mod record;
mod search;
mod shown;
mod tenant;
mod trial;
mod unknown;
mod zone;

pub use balance::{
    BalanceError, BalanceOptions, BalancePlan, Begun, Cause, ChangeShown, MoveError, MoveShown,
    Nearest, Origin, PlanTold, PlannedMove, RefusedMove, RefusedShown, RemovedHosts,
    StandingReservation, StandingReservationShown, Stuck, StuckShown,
};
pub use batch::{Batch, BatchError, BatchOrder, Copied, Plan, SEARCH_DECISIONS, Searched, Turn};
pub use cancel::{Cancel, InterruptedError};
pub use decision::{Decision, MovedVm};
pub use draw::derive as derived_draw;
pub use draw::split_mix;
pub use error::{ExplainError, PlaceError};
pub use past::{HostOrError, KeptDecision, PastDecision, Remembered, RunnerUp};
pub use quota::{
    HoldingShown, QuotaLimits, QuotaRefusal, QuotaResource, Quotas, TenantLimits,
    amount as quota_amount,
};
pub use shown::DecisionShown;
pub use trial::{Baseline, Homes, MadeAgain, Sequence, Trial};
pub use unknown::{UnknownVm, UnknownVms, check_named_hosts, check_named_vms};

use std::sync::Arc;
use std::time::Duration;

use placewright_chain::{
    Chain, ChainError, Explanation, Quarantined, Reuse, ReuseCounts, Runner, UnitReuse, UnitTime,
};
use placewright_engine::generation::Generation;
use placewright_inventory::{HostWatch, Inventory};
use placewright_model::Request;
use placewright_model::budget::Collection;
use placewright_policy::{Policy, Unheeded};
use record::{MadeOn, Record, Recorded};

/// How a scheduler goes about its work.
#[derive(Debug, Clone, PartialEq)]
pub struct SchedulerOptions {
    /// Wall time that one decision's chain may take.
    pub chain_limit: Duration,
    /// Seconds after which a reservation ends if nobody confirms it; None: never.
    pub reservation: Option<i64>,
    /// What draws are derived from where a request brings none of its own.
    pub seed: u64,
    /// How many decisions are remembered, so that they can be explained.
    pub recorded: usize,
    /// How many bytes these have at most with their requests, but for the last of them.
    pub recorded_bytes: u64,
    /// How units' answers are kept from decision to decision; None: they are not. No
    /// decision depends on it, only its cost.
    pub reuse: Option<Reuse>,
    /// The most that becomes of a request with a need that no filter checks: a policy
    /// that wants more is not obeyed.
    pub unheeded: Unheeded,
    /// When work of many decisions ends early. What is decided then does not change, only
    /// how much is.
    pub cancel: Cancel,
    /// Who is asked how much tenants may hold, before a host is looked for. Copies and questions
    /// ask nobody: they are about hosts.
    pub quotas: Quotas,
}

impl SchedulerOptions {
    /// What runs a chain for decisions that follow each other on one inventory.
    fn runner(&self, chain: Arc<Chain>) -> Runner {
        match self.reuse {
            Some(reuse) => Runner::reusing(chain, self.chain_limit, reuse),
            None => Runner::new(chain, self.chain_limit),
        }
    }
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            chain_limit: Duration::from_secs(1),
            reservation: Some(300),
            seed: 0,
            recorded: 1000,
            recorded_bytes: Collection::Decisions.bound(),
            reuse: Some(Reuse::default()),
            unheeded: Unheeded::Refuse,
            cancel: Cancel::default(),
            quotas: Quotas::default(),
        }
    }
}

/// How many chains are remembered with their decisions, besides the one that decides.
const EARLIER_CHAINS: usize = 4;

/// The scheduler of one cluster.
pub struct Scheduler {
    inventory: Inventory,
    runner: Runner,
    options: SchedulerOptions,
    recorded: Record,
    next_number: u64,
    cool_down: balance::CoolDown,
}

impl Scheduler {
    /// A scheduler for the cluster in `inventory`, under a policy that was checked
    /// against `generation`.
    ///
    /// # Errors
    /// If the generation lacks a unit of the policy.
    pub fn new(
        mut inventory: Inventory,
        policy: Arc<Policy>,
        generation: &Generation,
        options: SchedulerOptions,
    ) -> Result<Self, ChainError> {
        let chain = chain(policy, generation, &mut inventory)?;
        Ok(Self {
            inventory,
            runner: options.runner(chain),
            options,
            recorded: Record::default(),
            next_number: 1,
            cool_down: balance::CoolDown::default(),
        })
    }

    /// Decide by another policy, or the same with other units, from now on. What is
    /// remembered of decisions stays, but for those that were made five changes ago or
    /// earlier; and so do the cool-down of VMs and what is kept of
    /// the answers of units that go on as they did.
    ///
    /// # Errors
    /// If the generation lacks a unit of the policy, or its settings do not go
    /// together. Then everything stays as it was.
    pub fn set_policy(
        &mut self,
        policy: Arc<Policy>,
        generation: &Generation,
    ) -> Result<(), ChainError> {
        let chain = chain(policy, generation, &mut self.inventory)?;
        let runner = self.options.runner(chain);
        let before = std::mem::replace(&mut self.runner, runner);
        self.runner.take_over(before, &self.inventory);
        self.forget_old_chains();
        Ok(())
    }

    /// The next decision has this number.
    pub fn resume(&mut self, number: u64) {
        self.next_number = number.max(1);
    }

    /// The number that the next decision has.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// How it goes about its work.
    pub fn options(&self) -> &SchedulerOptions {
        &self.options
    }

    /// From now on work of many decisions ends when that says so.
    pub fn set_cancel(&mut self, cancel: Cancel) {
        self.options.cancel = cancel;
    }

    /// A scheduler of a copy of the cluster, which remembers no decision.
    pub fn copy(&self) -> Self {
        Self {
            inventory: self.inventory.clone(),
            runner: self.options.runner(self.chain().clone()),
            options: SchedulerOptions {
                quotas: Quotas::default(),
                ..self.options.clone()
            },
            recorded: Record::default(),
            next_number: self.next_number,
            cool_down: self.cool_down.clone(),
        }
    }

    /// The cluster as it is now.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// The cluster, to be changed: hosts and VMs that come, go and report.
    pub fn inventory_mut(&mut self) -> &mut Inventory {
        &mut self.inventory
    }

    /// The cluster as it is now, without who decides there.
    pub(crate) fn into_inventory(self) -> Inventory {
        self.inventory
    }

    /// Set the inventory's clock back, as [`Inventory::set_clock_back`]; VMs that were moved
    /// meanwhile cool down from `now` on.
    pub fn set_clock_back(&mut self, now: i64) {
        self.inventory.set_clock_back(now);
        self.cool_down.set_clock_back(now);
    }

    /// The chain that decides.
    pub fn chain(&self) -> &Arc<Chain> {
        self.runner.chain()
    }

    /// What each call of the chain has cost so far.
    pub fn times(&self) -> impl Iterator<Item = &UnitTime> {
        self.runner.times()
    }

    /// What keeping units' answers has brought so far.
    pub fn reuse_counts(&self) -> ReuseCounts {
        self.runner.reuse_counts()
    }

    /// What keeping answers has brought unit by unit.
    pub fn unit_reuse(&self) -> Vec<UnitReuse> {
        self.runner.unit_reuse()
    }

    /// Units that did not say the same again, whose answers are not kept any more.
    pub fn quarantined(&self) -> &[Quarantined] {
        self.runner.quarantined()
    }

    /// Decide where the request's VMs run, and reserve their places there. A VM that
    /// runs already is moved; for one of which the request tells nothing but the id,
    /// what the inventory knows is taken. Without a host that may run them nothing
    /// changes, and the decision says why.
    ///
    /// # Errors
    /// If the request is at fault, a unit fails that the policy cannot do without,
    /// or the time limit is reached; then nothing changes.
    pub fn place(&mut self, mut request: Request) -> Result<Arc<Decision>, PlaceError> {
        place::take_in(&mut self.inventory, &mut request)?;
        let decision = place::place(
            &mut self.inventory,
            &mut self.runner,
            &self.options,
            self.next_number,
            request,
        )?;
        let decision = Arc::new(decision);
        self.next_number += 1;
        self.record(Recorded {
            decision: decision.clone(),
            made_on: MadeOn::Inventory,
        });
        Ok(decision)
    }

    /// The slots of the hosts that no filter leaves out for the request's VMs.
    ///
    /// # Errors
    /// If the request is at fault, a filter fails that the policy cannot do without, or the time
    /// limit is reached.
    pub(crate) fn remaining(&mut self, mut request: Request) -> Result<Vec<u32>, PlaceError> {
        place::take_in(&mut self.inventory, &mut request)?;
        tenant::agree(&mut request);
        zone::agree(&mut request)?;
        departure::confine(&self.inventory, &mut request)?;
        let left = self.runner.remaining(&self.inventory, &request);
        left.map_err(PlaceError::from)
    }

    /// Take back everything since the inventory's `version`, the decisions made since
    /// included: the next one has number 1, as a scheduler's first. False, and nothing
    /// is changed, if the inventory does not remember that version.
    #[must_use = "if it is false, nothing was taken back"]
    pub(crate) fn rewind(&mut self, version: u64) -> bool {
        let remembered = self.inventory.take_back(version);
        if remembered {
            self.recorded.clear();
            self.next_number = 1;
        }
        remembered
    }

    fn record(&mut self, recorded: Recorded) {
        let SchedulerOptions {
            recorded: most,
            recorded_bytes: bytes,
            ..
        } = self.options;
        self.recorded.push(recorded, most, bytes);
    }

    /// Bytes of the decisions that are remembered, with their requests.
    pub fn recorded_bytes(&self) -> u64 {
        self.recorded.bytes()
    }

    /// Let go of decisions by chains from long ago: each chain holds the compiled code of its
    /// units, and units may be replaced as often as decisions are made.
    fn forget_old_chains(&mut self) {
        let mut chains = vec![Arc::as_ptr(self.runner.chain())];
        let newest = self.recorded.iter().rev().take_while(|recorded| {
            let chain = Arc::as_ptr(&recorded.decision.chain);
            let is_new = !chains.contains(&chain);
            if is_new && chains.len() <= EARLIER_CHAINS {
                chains.push(chain);
            }
            chains.contains(&chain)
        });
        let old = self.recorded.len() - newest.count();
        self.recorded.forget_oldest(old);
    }

    /// Let go of the versions of the inventory before the oldest remembered decision:
    /// nothing leads back to them between turns.
    pub fn forget_the_past(&mut self) {
        let mut recorded = self.recorded.iter();
        let oldest = recorded.find(|recorded| matches!(recorded.made_on, MadeOn::Inventory));
        let version = match oldest {
            Some(recorded) => recorded.decision.inventory_version,
            None => self.inventory.version(),
        };
        self.inventory.forget_before(version);
    }

    /// Let go of the copies that batches were tried on: each is as large as the
    /// inventory itself.
    fn forget_copies(&mut self) {
        for recorded in self.recorded.iter_mut() {
            if matches!(recorded.made_on, MadeOn::Copy(_)) {
                recorded.made_on = MadeOn::Gone;
            }
        }
    }

    /// The decisions that are remembered, oldest first.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.recorded.iter().map(|recorded| &*recorded.decision)
    }

    /// Explain a decision by running its chain again on the inventory as it was. Of
    /// batches that were dry runs or planned from nothing, that is remembered for the
    /// last alone.
    ///
    /// # Errors
    /// If the decision, or the inventory's version of then, is no longer remembered,
    /// or a unit fails.
    pub fn explain(&self, number: u64) -> Result<Explanation, ExplainError> {
        Ok(self.past(number)?.explain()?)
    }
}

/// The chain of a policy, and its watches set.
fn chain(
    policy: Arc<Policy>,
    generation: &Generation,
    inventory: &mut Inventory,
) -> Result<Arc<Chain>, ChainError> {
    let watches = policy.watches.iter().map(|watch| HostWatch {
        name: watch.name.clone(),
        column: watch.column.clone(),
        at_least: watch.at_least,
        at_most: watch.at_most,
    });
    let watches = watches.collect();
    let chain = Arc::new(Chain::resolve(policy, generation, inventory)?);
    inventory.set_watches(watches);
    Ok(chain)
}
