//! VMs get places, and run there, or give them back.

use std::sync::Arc;
use std::time::Instant;

use sha2::{Digest as _, Sha256};

use super::ClusterState;
use super::state::Repeated;
use crate::deployment::DeploymentError;
use crate::inventory::{Inventory, InventoryError};
use crate::model::Request;
use crate::scheduler::{Batch, Decision, DecisionShown, Plan};
use crate::store::Change;
use crate::telemetry::Outcome;

/// Seconds by which a request's time may be ahead of ours: clocks differ a little.
const AHEAD: i64 = 5;

/// Seconds for which an answer is given again to a request with the same key.
const REPEATED: i64 = 24 * 3600;

/// The most answers that are given again in a cluster.
const MOST_ANSWERS: usize = 100_000;

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The decision as programs read it, in JSON.
    pub body: Arc<str>,
    /// The chosen host.
    pub host: Option<Arc<str>>,
    /// Nobody was left, and what pending VMs hold was among the reasons.
    pub passing: bool,
    /// The answer was given before, to the same request.
    pub repeated: bool,
}

/// What came of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchPlaced {
    /// In the order in which they were decided: the decision as programs read it, in
    /// JSON, or why there is none.
    pub turns: Vec<Result<Arc<str>, Failed>>,
    pub without_turn: Vec<Arc<str>>,
    pub reserved: bool,
}

/// A turn that came to no decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// Ids of the VMs that were to be placed.
    pub vms: Vec<Arc<str>>,
    pub because: String,
}

impl ClusterState {
    /// Decide where the request's VMs run, and reserve their places. With a `key` the
    /// same request gets the same answer again.
    ///
    /// # Errors
    /// If the request is at fault, or a unit fails that the policy cannot do without.
    pub fn place(
        &mut self,
        mut request: Request,
        key: Option<String>,
    ) -> Result<Placed, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        self.check_time(request.now, now)?;
        request.now = request.now.max(self.inventory().clock());
        let print = key.as_ref().map(|_| fingerprint(&request));
        if let (Some(key), Some(print)) = (&key, &print)
            && let Some(placed) = self.repeated(key, print, now)?
        {
            return Ok(placed);
        }
        self.heed_breakers(now)?;
        let judged = self.judge_by_shadow(&request);
        let began = Instant::now();
        let mut decided = self.scheduler.place(request);
        let took = began.elapsed();
        self.meter.chain_took(took);
        self.note_faults(decided.as_mut().map_err(|error| &*error), now)?;
        let decision = decided.inspect_err(|_| self.meter.decided(Outcome::Failed))?;
        if let Some(judged) = judged {
            self.compare_with_shadow(judged, decision.number, decision.host.as_ref(), took);
        }
        let body = self.record(&decision, now);
        if let (Some(key), Some(print)) = (key, print) {
            self.remember(key, print, body.clone(), now);
        }
        Ok(placed(&decision, body))
    }

    /// Place many VMs in turns.
    ///
    /// # Errors
    /// As for [`ClusterState::place`].
    pub fn place_batch(&mut self, mut batch: Batch) -> Result<BatchPlaced, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        self.check_time(batch.now, now)?;
        batch.now = batch.now.max(self.inventory().clock());
        self.heed_breakers(now)?;
        let Plan {
            turns,
            without_turn,
            reserved,
            ..
        } = self.scheduler.place_batch(batch)?;
        let mut shown = Vec::with_capacity(turns.len());
        for mut turn in turns {
            self.note_faults(turn.outcome.as_mut().map_err(|error| &*error), now)?;
            shown.push(match turn.outcome {
                Ok(decision) => Ok(self.record(&decision, now)),
                Err(error) => {
                    self.meter.decided(Outcome::Failed);
                    Err(Failed {
                        vms: turn.members,
                        because: error.to_string(),
                    })
                }
            });
        }
        Ok(BatchPlaced {
            turns: shown,
            without_turn,
            reserved,
        })
    }

    /// The VMs run where their places were reserved.
    ///
    /// # Errors
    /// If one of them has no place reserved; then nothing is changed.
    pub fn confirm<I: AsRef<str>>(&mut self, vms: &[I]) -> Result<(), DeploymentError> {
        self.all_or_none(vms, Inventory::confirm_vm)
    }

    /// The places that were reserved for the VMs are given back.
    ///
    /// # Errors
    /// If one of them has no place reserved; then nothing is changed.
    pub fn cancel<I: AsRef<str>>(&mut self, vms: &[I]) -> Result<(), DeploymentError> {
        self.all_or_none(vms, Inventory::cancel_vm)
    }

    fn all_or_none<I: AsRef<str>>(
        &mut self,
        vms: &[I],
        change: impl Fn(&mut Inventory, &str) -> Result<(), InventoryError>,
    ) -> Result<(), DeploymentError> {
        self.advance();
        let inventory = self.scheduler.inventory_mut();
        let before = inventory.version();
        for vm in vms {
            if let Err(error) = change(inventory, vm.as_ref()) {
                inventory.take_back(before);
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Where a VM that runs is to be moved, its own host apart.
    ///
    /// # Errors
    /// If it does not run, and as for [`ClusterState::place`].
    pub fn migrate(
        &mut self,
        mut request: Request,
        key: Option<String>,
    ) -> Result<Placed, DeploymentError> {
        for member in &request.members {
            let running = self.inventory().running(&member.id);
            let host = running.and_then(|entry| self.inventory().host(entry.slot));
            let Some(host) = host else {
                return Err(DeploymentError::unknown("running VM", &member.id, []));
            };
            let host = host.id.clone();
            request.excluded.push(host);
        }
        self.place(request, key)
    }

    fn check_time(&self, asked: i64, now: i64) -> Result<(), DeploymentError> {
        match asked.saturating_sub(now) {
            ahead if ahead > AHEAD => Err(DeploymentError::Future { ahead }),
            _ => Ok(()),
        }
    }

    /// Have the decision kept, and give it as programs read it.
    fn record(&mut self, decision: &Decision, now: i64) -> Arc<str> {
        let body: Arc<str> = super::durable::json(&DecisionShown::new(decision, None, None)).into();
        let request = super::durable::json(&*decision.request);
        self.changes.push(Change::RecordDecision {
            cluster: self.name.to_string(),
            number: decision.number,
            at: now,
            body: format!(r#"{{"decision":{body},"request":{request}}}"#),
        });
        self.count_decision(decision);
        match decision.host {
            Some(_) => self.meter.decided(Outcome::Placed),
            None => {
                self.meter.decided(Outcome::Rejected);
                for removed in &decision.decided.removed {
                    let reason = format!("{}: {}", removed.filter, removed.reason);
                    self.meter.rejected(&reason, removed.hosts as u64);
                }
            }
        }
        body
    }

    fn count_decision(&mut self, decision: &Decision) {
        self.changes.push(Change::Counter {
            cluster: self.name.to_string(),
            next_decision: decision.number + 1,
            clock: self.inventory().clock(),
        });
    }

    /// The answer that the same request got before.
    fn repeated(
        &mut self,
        key: &str,
        print: &str,
        now: i64,
    ) -> Result<Option<Placed>, DeploymentError> {
        self.forget_answers(now);
        let Some(before) = self.answers.get(key) else {
            return Ok(None);
        };
        if before.request != print {
            return Err(DeploymentError::OtherRequest(key.to_owned()));
        }
        Ok(Some(Placed {
            body: before.body.clone(),
            host: None,
            passing: false,
            repeated: true,
        }))
    }

    fn remember(&mut self, key: String, request: String, body: Arc<str>, now: i64) {
        self.changes.push(Change::Idempotency {
            cluster: self.name.to_string(),
            key: key.clone(),
            at: now,
            body: super::durable::json(&(&request, &*body)),
        });
        self.restore_answer(key, now, request, body);
    }

    /// An answer was given at `at` and may be asked for again.
    pub(in crate::deployment) fn restore_answer(
        &mut self,
        key: String,
        at: i64,
        request: String,
        body: Arc<str>,
    ) {
        self.answered.push_back((at, key.clone()));
        self.answers.insert(key, Repeated { request, body });
    }

    fn forget_answers(&mut self, now: i64) {
        let oldest = now - REPEATED;
        let mut forgotten = None;
        while let Some((at, key)) = self.answered.front() {
            if *at >= oldest && self.answered.len() <= MOST_ANSWERS {
                break;
            }
            forgotten = Some(*at);
            self.answers.remove(key);
            self.answered.pop_front();
        }
        if let Some(before) = forgotten {
            self.changes.push(Change::ForgetAnswers {
                cluster: self.name.to_string(),
                before,
            });
        }
    }
}

fn placed(decision: &Decision, body: Arc<str>) -> Placed {
    let mut removed = decision.decided.removed.iter();
    Placed {
        body,
        passing: decision.host.is_none() && removed.any(|removed| removed.passing),
        host: decision.host.clone(),
        repeated: false,
    }
}

/// Tells requests apart, their time aside.
fn fingerprint(request: &Request) -> String {
    let timeless = Request {
        now: 0,
        ..request.clone()
    };
    hex::encode(Sha256::digest(super::durable::json(&timeless)))
}
