//! Decides for one cluster, one request after the other: places, reserves,
//! remembers, explains.
//!
//! A decision and its reservation are one step, so the next decision sees it. Many
//! clusters are many schedulers.

mod decision;
mod draw;
mod error;

pub use decision::Decision;
pub use error::{ExplainError, PlaceError};

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::chain::{Chain, ChainError, Explanation, Proposed, Refusal, Runner, UnitTime};
use crate::inventory::{HostWatch, Inventory};
use crate::library::Generation;
use crate::model::{Request, Vm};
use crate::policy::Policy;

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
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            chain_limit: Duration::from_secs(1),
            reservation: Some(300),
            seed: 0,
            recorded: 1000,
        }
    }
}

/// The scheduler of one cluster.
pub struct Scheduler {
    inventory: Inventory,
    runner: Runner,
    options: SchedulerOptions,
    recorded: VecDeque<Decision>,
    next_number: u64,
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
        let watches = policy.watches.iter().map(|watch| HostWatch {
            name: watch.name.clone(),
            column: watch.column.clone(),
            at_least: watch.at_least,
            at_most: watch.at_most,
        });
        inventory.set_watches(watches.collect());
        let chain = Arc::new(Chain::resolve(policy, generation, &mut inventory)?);
        Ok(Self {
            inventory,
            runner: Runner::new(chain, options.chain_limit),
            options,
            recorded: VecDeque::new(),
            next_number: 1,
        })
    }

    /// The cluster as it is now.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// The cluster, to be changed: hosts and VMs that come, go and report.
    pub fn inventory_mut(&mut self) -> &mut Inventory {
        &mut self.inventory
    }

    /// The chain that decides.
    pub fn chain(&self) -> &Arc<Chain> {
        self.runner.chain()
    }

    /// What each call of the chain has cost so far.
    pub fn times(&self) -> impl Iterator<Item = &UnitTime> {
        self.runner.times()
    }

    /// Decide where the request's VMs run, and reserve their places there. A VM that
    /// runs already is moved; for one of which the request tells nothing but the id,
    /// what the inventory knows is taken. Without a host that may run them nothing
    /// changes, and the decision says why.
    ///
    /// # Errors
    /// If the request is at fault, a unit fails that the policy cannot do without,
    /// or the time limit is reached; then nothing changes.
    pub fn place(&mut self, mut request: Request) -> Result<Decision, PlaceError> {
        if request.members.is_empty() {
            return Err(PlaceError::NoMembers);
        }
        self.inventory.advance(request.now);
        for member in &mut request.members {
            self.inventory.check_member(member)?;
            self.known(member);
            if self.inventory.pending(&member.id).is_some() {
                return Err(PlaceError::Pending(member.id.clone()));
            }
        }
        if let Some(twice) = twice(&request.members) {
            return Err(PlaceError::MemberTwice(twice));
        }
        let number = self.next_number;
        let draw = match request.draw {
            Some(draw) if (0.0..1.0).contains(&draw) => draw,
            Some(draw) => return Err(PlaceError::BadDraw(draw)),
            None => draw::derive(self.options.seed, number),
        };
        let version = self.inventory.version();
        let decided = self.runner.decide(&self.inventory, &request, draw)?;
        let host = decided
            .chosen
            .as_ref()
            .and_then(|chosen| Some(self.inventory.host(chosen.slot)?.id.clone()));
        if let Some(host) = host.as_ref().filter(|_| !request.dry_run) {
            self.reserve(&request, host)?;
        }
        let decision = Decision {
            number,
            request: Arc::new(request),
            inventory_version: version,
            draw,
            chain: self.runner.chain().clone(),
            decided,
            host,
        };
        self.next_number += 1;
        self.record(decision.clone());
        Ok(decision)
    }

    /// Fill in what the inventory knows of a VM of which only the id is given.
    fn known(&self, member: &mut Vm) {
        let nothing_given = member.facts.values().next().is_none();
        if let Some(entry) = self.inventory.running(&member.id).filter(|_| nothing_given) {
            *member = (*entry.vm).clone();
        }
    }

    fn reserve(&mut self, request: &Request, host: &str) -> Result<(), PlaceError> {
        let expires = self
            .options
            .reservation
            .map(|seconds| request.now.saturating_add(seconds));
        for member in &request.members {
            let stays = self
                .inventory
                .running(&member.id)
                .is_some_and(|entry| self.inventory.slot(host) == Some(entry.slot));
            if !stays {
                self.inventory
                    .reserve_vm(Arc::new(member.clone()), host, expires)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, decision: Decision) {
        if self.options.recorded == 0 {
            return;
        }
        if self.recorded.len() == self.options.recorded {
            self.recorded.pop_front();
        }
        self.recorded.push_back(decision);
    }

    /// The decisions that are remembered, oldest first.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.recorded.iter()
    }

    /// Explain a decision by running its chain again on the inventory as it was.
    ///
    /// # Errors
    /// If the decision, or the inventory's version of then, is no longer remembered,
    /// or a unit fails.
    pub fn explain(&self, number: u64) -> Result<Explanation, ExplainError> {
        let decision = self
            .decisions()
            .find(|decision| decision.number == number)
            .ok_or(ExplainError::Forgotten(number))?;
        let past = self
            .inventory
            .at_version(decision.inventory_version)
            .ok_or(ExplainError::TooLongAgo(number))?;
        let mut runner = Runner::new(decision.chain.clone(), self.options.chain_limit);
        let (_, explanation) = runner.explain(&past, &decision.request, decision.draw)?;
        Ok(explanation)
    }

    /// What the policy's balance unit proposes at `now` (seconds), in order of
    /// preference. Nothing is changed.
    ///
    /// # Errors
    /// If the unit refuses or fails.
    pub fn balance(&mut self, now: i64) -> Result<Vec<Proposed>, Refusal> {
        self.inventory.advance(now);
        self.runner
            .chain()
            .balance(&self.inventory, now, self.options.chain_limit)
    }
}

fn twice(members: &[Vm]) -> Option<Arc<str>> {
    let mut ids: Vec<&Arc<str>> = members.iter().map(|member| &member.id).collect();
    ids.sort_unstable();
    ids.windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0].clone())
}
