//! Why, why not, what if: answers that come from running the pure chain again.
//!
//! Whatever is supposed is supposed of a copy of the cluster. Neither the cluster nor
//! what a scheduler keeps from decision to decision is touched, so that questions can
//! be asked beside the work.

mod capacity;
mod change;
mod changed;
mod comparison;
mod costs;
mod failure;
mod remaining;
mod smallest;
mod why;

pub use capacity::{Capacity, Filled, USUAL_CAPACITY};
pub use change::{Change, UnknownEntryError};
pub use changed::{ChangedDecision, CostChanged, HostChanged, Replayed};
pub use comparison::{Comparison, Fate, HostCompared};
pub use costs::{CostedHost, HostCosts};
pub use failure::{Failure, FailureOptions, Resettled, Restart};
pub use smallest::{Changed, Limit, Needed, Way};
pub use why::{Difference, Standing, Why};

use std::sync::Arc;

use crate::{
    Decision, ExplainError, PlaceError, Quotas, RemovedHosts, Scheduler, SchedulerOptions,
    check_named_hosts, check_named_vms,
};
use placewright_chain::{ChainError, Explanation};
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_model::Request;
use placewright_policy::{Policy, Unheeded};
pub(crate) use smallest::{Asked, ways};
pub(crate) use why::{all_removals, known_host, of as why_of};

/// What questions are about: a cluster, the policy that decides there, and its units.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The cluster as it is.
    pub inventory: &'a Inventory,
    /// The policy, checked against `generation`.
    pub policy: &'a Arc<Policy>,
    /// The units.
    pub generation: &'a Generation,
    /// How decisions are made.
    pub options: &'a SchedulerOptions,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum QuestionError {
    #[error(transparent)]
    Change(#[from] UnknownEntryError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Explain(#[from] ExplainError),
    #[error("there is no host \"{host}\" in the cluster{}", near(.nearest))]
    UnknownHost {
        host: String,
        /// The host that was probably meant.
        nearest: Option<Arc<str>>,
    },
    #[error(
        "\"force\" asks no unit, so that any number would fit on that host: leave it out, or name the host in \"allowed\""
    )]
    ForcedCapacity,
}

fn near(nearest: &Option<Arc<str>>) -> String {
    match nearest {
        Some(name) => format!(" (did you mean \"{name}\"?)"),
        None => String::new(),
    }
}

fn reasons(decision: &Decision) -> Vec<RemovedHosts> {
    (decision.decided.removed.iter().map(RemovedHosts::from)).collect()
}

impl Situation<'_> {
    /// Decide where the request's VMs would run, and explain it. A place that a
    /// member has reserved is taken as given back.
    ///
    /// # Errors
    /// As for [`Scheduler::place`] and [`Scheduler::explain`].
    pub fn decide(&self, request: &Request) -> Result<(Arc<Decision>, Explanation), QuestionError> {
        self.decide_by(self.policy.clone(), request)
    }

    /// The same under another policy.
    fn decide_by(
        &self,
        policy: Arc<Policy>,
        request: &Request,
    ) -> Result<(Arc<Decision>, Explanation), QuestionError> {
        let options = match Arc::ptr_eq(&policy, self.policy) {
            true => self.options.clone(),
            false => supposing(self.options),
        };
        let situation = Situation {
            options: &options,
            ..*self
        };
        check_named_vms(self.inventory, &request.named)?;
        check_named_hosts(self.inventory, &request.members)?;
        let mut scheduler = situation.scheduler(policy)?;
        give_back(&mut scheduler, request)?;
        let decision = scheduler.place(Request {
            dry_run: true,
            // A place that was reserved is given back by now.
            named: Vec::new(),
            ..request.clone()
        })?;
        let explanation = scheduler.explain(decision.number)?;
        Ok((decision, explanation))
    }

    /// A scheduler of a copy of the cluster.
    fn scheduler(&self, policy: Arc<Policy>) -> Result<Scheduler, QuestionError> {
        let options = SchedulerOptions {
            // Nobody confirms what is only supposed.
            reservation: None,
            recorded: 1,
            quotas: Quotas::default(),
            ..self.options.clone()
        };
        let world = self.inventory.clone();
        Ok(Scheduler::new(world, policy, self.generation, options)?)
    }
}

/// How decisions are made under a policy that is only supposed: everything is told that can
/// be, also where the policy would refuse a need that it does not check.
pub fn supposing(options: &SchedulerOptions) -> SchedulerOptions {
    SchedulerOptions {
        unheeded: options.unheeded.min(Unheeded::Warn),
        ..options.clone()
    }
}

/// Give back the places that members have reserved.
fn give_back(scheduler: &mut Scheduler, request: &Request) -> Result<(), QuestionError> {
    let world = scheduler.inventory_mut();
    for member in &request.members {
        if world.pending(&member.id).is_some() {
            world.cancel_vm(&member.id).map_err(PlaceError::Inventory)?;
        }
    }
    Ok(())
}
