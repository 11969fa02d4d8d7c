//! VMs get places, and run there, or give them back.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::ClusterState;
use super::answers::Key;
use super::batch_rows::TurnRows;
use super::durable::Rows;
use super::past::MadeOn;
use super::snapshot::LONG_BATCH;
use crate::DeploymentError;
use placewright_inventory::Inventory;
use placewright_model::{Departure, Request, Vm};
use placewright_records::telemetry::{Outcome, decision_span};
use placewright_scheduler::{
    Batch, Cancel, Decision, DecisionShown, PlaceError, Plan, check_named_hosts, check_named_vms,
};
use placewright_store::Change;

/// Seconds by which a request's time may be ahead of ours: clocks differ a little.
const AHEAD: i64 = 5;

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
    /// How often the cluster has changed when this is kept ([`Cluster::changes`]).
    ///
    /// [`Cluster::changes`]: super::Cluster::changes
    pub changes: u64,
}

/// What came of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BatchPlaced {
    /// In the order in which they were decided: the decision as programs read it, in
    /// JSON, or why there is none.
    pub turns: Vec<Result<Arc<str>, Failed>>,
    /// Ids of the VMs that the policy's order unit gave no turn.
    pub without_turn: Vec<Arc<str>>,
    /// Whether the places are reserved, all that were found.
    pub reserved: bool,
    /// How many decisions have reserved places.
    #[serde(default)]
    pub with_places: usize,
    /// The VMs on which nothing was decided because the turn ended early.
    #[serde(default)]
    pub undecided: Vec<Arc<str>>,
    /// Why it ended early, or the search for a better plan did.
    #[serde(default)]
    pub ended_early: Option<String>,
    /// The answer was given before, to the same request.
    #[serde(skip)]
    pub repeated: bool,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Place,
    Migrate,
}

/// A turn that came to no decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Ids of the VMs that were to be placed.
    pub vms: Vec<Arc<str>>,
    /// Why not: a sentence.
    pub because: String,
}

impl ClusterState {
    /// Decide where the request's VMs run, and reserve their places. With a `key` the
    /// same request gets the same answer again; not so a first try that is made once
    /// more, which `key` says.
    ///
    /// # Errors
    /// If the request is at fault, one of the VMs has a place already, or a unit fails that
    /// the policy cannot do without.
    pub fn place(&mut self, request: Request, key: Option<Key>) -> Result<Placed, DeploymentError> {
        self.decide(request, key, Verb::Place)
    }

    fn decide(
        &mut self,
        mut request: Request,
        key: Option<Key>,
        verb: Verb,
    ) -> Result<Placed, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        self.check_time(request.now, now)?;
        request.now = request.now.max(self.inventory().clock());
        // A dry run leaves nothing behind: it is tried again.
        let key = key.filter(|_| !request.dry_run);
        let asked = key.map(|key| match verb {
            Verb::Place => key.of_place(&request),
            Verb::Migrate => key.of_migration(&request),
        });
        if let Some(asked) = &asked
            && let Some(placed) = self.repeated(asked, now)?
        {
            return Ok(placed);
        }
        self.check_duration(request.reserve_for)?;
        self.advance_to(request.now);
        if !request.dry_run {
            self.inventory().check_room_for(&request.members)?;
        }
        check_named_vms(self.inventory(), &request.named)?;
        check_named_hosts(self.inventory(), &request.members)?;
        match verb {
            Verb::Place => self.check_places(&request.members, request.again)?,
            Verb::Migrate => self.exclude_hosts(&mut request)?,
        }
        self.heed_breakers(now)?;
        self.keep_situation();
        let span = decision_span(&self.name, self.scheduler.next_number());
        let _entered = span.enter();
        let judged = self.judge_by_shadow(&request);
        let dry_run = request.dry_run;
        let began = Instant::now();
        let mut decided = self.scheduler.place(request);
        let took = began.elapsed();
        self.meter.chain_took(took);
        self.note_faults(decided.as_mut().map_err(|error| &*error))?;
        let decision = decided.inspect_err(|_| self.count_decision(Outcome::Failed, dry_run))?;
        if let Some(judged) = judged {
            self.compare_with_shadow(judged, decision.number, decision.host.as_ref(), took);
        }
        if !decision.request.dry_run {
            self.tell_placed(&decision);
        }
        let placed = self.placed(&decision, now);
        if let Some(asked) = asked {
            self.remember(asked, &placed, now);
        }
        Ok(placed)
    }

    /// Place many VMs in turns. With a `key` the same request gets the same answer again.
    ///
    /// # Errors
    /// As for [`ClusterState::place`]. A place that is reserved already is only an error of
    /// that VM's turn.
    pub fn place_batch(
        &mut self,
        batch: Batch,
        key: Option<Key>,
    ) -> Result<BatchPlaced, DeploymentError> {
        self.place_batch_unless(Cancel::default(), batch, key)
    }

    /// The same, until the time of a turn is up or `cancel` says so: what was decided by then
    /// stands, and the answer says on which VMs nothing was.
    ///
    /// # Errors
    /// As for [`ClusterState::place_batch`].
    pub fn place_batch_unless(
        &mut self,
        cancel: Cancel,
        mut batch: Batch,
        key: Option<Key>,
    ) -> Result<BatchPlaced, DeploymentError> {
        self.must_decide()?;
        let now = self.advance();
        self.check_time(batch.now, now)?;
        batch.now = batch.now.max(self.inventory().clock());
        let key = key.filter(|_| !batch.dry_run);
        let asked = key.map(|key| key.of_batch(&batch));
        if let Some(asked) = &asked
            && let Some(placed) = self.repeated_batch(asked, now)?
        {
            return Ok(placed);
        }
        self.check_duration(batch.reserve_for)?;
        self.advance_to(batch.now);
        if !batch.dry_run {
            self.inventory().check_room_for(&batch.members)?;
        }
        check_named_vms(self.inventory(), &batch.named)?;
        check_named_hosts(self.inventory(), &batch.members)?;
        if !batch.from_nothing {
            let others = batch.members.iter();
            self.check_running(others.filter(|member| !batch.again.contains(&member.id)))?;
        }
        self.heed_breakers(now)?;
        self.keep_situation();
        if batch.members.len() > LONG_BATCH || batch.search.is_some() {
            self.publish_before_long_turn();
        }
        let dry_run = batch.dry_run;
        let mut rows = TurnRows::since(self.noted);
        let (name, settings) = (&self.name, &self.settings);
        let mut turn_begins =
            |inventory: &Inventory| rows.turn_begins(Rows::of(name, settings, inventory));
        let cancel = cancel.within(self.turn).when(&self.cut_off);
        self.scheduler.set_cancel(cancel);
        let planned = self.scheduler.place_batch_seen(batch, &mut turn_begins);
        self.scheduler.set_cancel(Cancel::default());
        let Plan {
            turns,
            without_turn,
            reserved,
            copy,
            searched,
            interrupted,
        } = planned?;
        let (changed, copied) = match &copy {
            None => (self.rows_of_decisions(rows, &turns), None),
            Some(copy) => {
                let searched = searched.is_some();
                (
                    Vec::new(),
                    self.copy_of_decisions(copy, rows, &turns, searched),
                )
            }
        };
        let made_on = match (&copy, &copied) {
            (None, _) => MadeOn::Rows,
            (Some(_), Some(_)) => MadeOn::KeptCopy,
            (Some(_), None) => MadeOn::LostCopy,
        };
        let mut changed = changed.into_iter();
        let mut shown = Vec::with_capacity(turns.len());
        let mut undecided = Vec::new();
        let mut with_places = 0;
        for mut turn in turns {
            self.note_faults(turn.outcome.as_mut().map_err(|error| &*error))?;
            shown.push(match turn.outcome {
                Ok(decision) => {
                    if decision.reserved.is_some() {
                        with_places += 1;
                        self.tell_placed(&decision);
                    }
                    self.changes.extend(changed.next().unwrap_or_default());
                    Ok(self.record(&decision, now, made_on))
                }
                Err(PlaceError::Interrupted(_)) => {
                    undecided.extend(turn.members);
                    continue;
                }
                Err(error) => {
                    self.count_decision(Outcome::Failed, dry_run);
                    Err(Failed {
                        vms: turn.members,
                        because: error.to_string(),
                    })
                }
            });
        }
        if let Some(turns) = copied
            && let Some(last) = turns.last()
        {
            self.changes.push(Change::RecordCopy {
                cluster: self.name.to_string(),
                last: last.decision,
                turns,
            });
        }
        let placed = BatchPlaced {
            turns: shown,
            without_turn,
            reserved,
            with_places,
            undecided,
            ended_early: interrupted.map(|why| why.to_string()),
            repeated: false,
        };
        if let Some(asked) = asked {
            self.remember_batch(asked, &placed, now);
        }
        Ok(placed)
    }

    /// Where a VM that runs is to be moved, its own host apart.
    ///
    /// # Errors
    /// If it does not run, or may not leave its host, and as for [`ClusterState::place`].
    pub fn migrate(
        &mut self,
        request: Request,
        key: Option<Key>,
    ) -> Result<Placed, DeploymentError> {
        self.decide(request, key, Verb::Migrate)
    }

    /// Let VMs that run not stay where they are.
    fn exclude_hosts(&self, request: &mut Request) -> Result<(), DeploymentError> {
        for member in &request.members {
            let running = self.inventory().running(&member.id);
            let host = running.and_then(|entry| self.inventory().host(entry.slot));
            let Some(host) = host else {
                return Err(DeploymentError::unknown("running VM", &member.id, []));
            };
            let host = host.id.clone();
            request.excluded.push(host);
        }
        Ok(())
    }

    /// That the VMs have no place yet; with `again` those may run that are to be placed
    /// anew.
    fn check_places(&self, members: &[Vm], again: bool) -> Result<(), DeploymentError> {
        for member in members {
            let pending = self.inventory().pending(&member.id);
            let host = pending.and_then(|entry| self.inventory().host(entry.slot));
            if let (Some(pending), Some(host)) = (pending, host) {
                return Err(DeploymentError::Reserved {
                    vm: member.id.clone(),
                    host: host.id.clone(),
                    expires: pending.expires,
                });
            }
        }
        self.check_running(members.iter().filter(|_| !again))
    }

    /// That the VMs do not run, unless their hosts fail.
    fn check_running<'v>(
        &self,
        members: impl Iterator<Item = &'v Vm>,
    ) -> Result<(), DeploymentError> {
        let running = members.filter_map(|member| {
            let host = self.running_on(&member.id)?;
            // Who is lost with its host starts elsewhere without being asked for anew.
            let departure = self.inventory().departure(&member.id);
            (departure != Some(Departure::Cold)).then(|| (member.id.clone(), host.clone()))
        });
        let running: Vec<_> = running.collect();
        match running.is_empty() {
            true => Ok(()),
            false => Err(DeploymentError::VmsRun(running)),
        }
    }

    fn check_time(&self, asked: i64, now: i64) -> Result<(), DeploymentError> {
        match asked.saturating_sub(now) {
            ahead if ahead > AHEAD => Err(DeploymentError::Future { ahead }),
            _ => Ok(()),
        }
    }

    /// Have the decision kept, and give it as programs read it.
    fn record(&mut self, decision: &Decision, now: i64, made_on: MadeOn) -> Arc<str> {
        let body: Arc<str> = super::durable::json(&DecisionShown::new(decision, None)).into();
        let request = super::durable::json(&*decision.request);
        let by = super::durable::json(&self.by);
        let clock = self.inventory().clock();
        let copy = made_on.record();
        self.changes.push(Change::RecordDecision {
            cluster: self.name.to_string(),
            number: decision.number,
            at: now,
            body: format!(
                r#"{{"decision":{body},"request":{request},"clock":{clock}{copy},"by":{by}}}"#
            ),
        });
        for need in &decision.unheeded {
            tracing::warn!(cluster = %self.name, decision = decision.number, "{need}");
            self.meter.unheeded(&need.need);
        }
        match decision.host {
            Some(_) => self.count_decision(Outcome::Placed, decision.request.dry_run),
            None => {
                self.count_decision(Outcome::Rejected, decision.request.dry_run);
                self.meter.rejected_for(&main_reason(decision));
                if let Some(refused) = &decision.refused {
                    self.quota_refusals.count(&refused.quota);
                }
                for removed in &decision.decided.removed {
                    let reason = format!("{}: {}", removed.filter, removed.reason);
                    self.meter.rejected(&reason, removed.hosts as u64);
                }
                let removed = decision.decided.removed.iter();
                let by_unit = removed.filter_map(|removed| {
                    let unit = self.policy.unit_that_removes(&removed.filter)?;
                    Some((unit, &*removed.reason, removed.hosts as u64))
                });
                self.units.refused(by_unit);
            }
        }
        body
    }

    fn placed(&mut self, decision: &Decision, now: i64) -> Placed {
        let mut removed = decision.decided.removed.iter();
        Placed {
            body: self.record(decision, now, MadeOn::Rows),
            passing: decision.host.is_none() && removed.any(|removed| removed.passing),
            host: decision.host.clone(),
            repeated: false,
            changes: self.turns_with_changes + 1,
        }
    }
}

/// The reason that removed most of the hosts in a decision that found none.
fn main_reason(decision: &Decision) -> String {
    if let Some(refused) = &decision.refused {
        let resource = refused.exceeded.first().map_or("", |it| it.word());
        return format!("quota: {resource}");
    }
    let removed = decision.decided.removed.iter().rev();
    removed.max_by_key(|removed| removed.hosts).map_or_else(
        || "the cluster has no host".to_owned(),
        |removed| format!("{}: {}", removed.filter, removed.reason),
    )
}
