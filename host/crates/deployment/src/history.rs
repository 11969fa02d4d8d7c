//! What happened to a cluster, from what is recorded: the cluster at the start, and events from then
//! on, in the words in which a replay reads them.
//!
//! Decisions are recorded with the cluster as it was when each was made. What else happened between
//! two of them is what differs: it is told as of the later one, for of most of it is not known when
//! it happened.

mod between;
mod written;

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::cluster::{self, Body, MadeOn};
use super::{Deployment, DeploymentError};
use between::{Between, Reserved};
use placewright_document::{ClusterDocument, WrittenRequest};
use placewright_inventory::Inventory;
use placewright_model::budget::Bytes;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Rfc3339};
use placewright_store::{Gone, Recorded, RecordedChange, RowKind, SavedDecision};

/// What happened to a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = ClusterHistory)]
pub struct History {
    /// The number of the first decision that is told.
    #[schema(example = 1)]
    pub first_decision: u64,
    /// The number of the last one.
    #[schema(example = 240)]
    pub last_decision: u64,
    /// When the first one was made: the time of the start.
    #[schema(value_type = String, format = DateTime)]
    pub from: Rfc3339,
    /// When the last event happened.
    #[schema(value_type = String, format = DateTime)]
    pub to: Rfc3339,
    /// The cluster's document at the start: as it was when the first decision was made.
    #[schema(schema_with = document)]
    pub start: Value,
    /// What happened from then on, in order of time.
    pub events: Vec<HistoryEvent>,
    /// What is not told, and why: a sentence each.
    #[schema(example = json!(["changes before 2026-11-20 are not kept"]))]
    pub notes: Vec<String>,
}

/// The schema of a cluster's document: it stands in the contract under this name.
fn document() -> utoipa::openapi::Ref {
    utoipa::openapi::Ref::from_schema_name("ClusterDocument")
}

fn request() -> utoipa::openapi::Ref {
    utoipa::openapi::Ref::from_schema_name("PlacementRequest")
}

fn changes() -> utoipa::openapi::Ref {
    utoipa::openapi::Ref::from_schema_name("InventoryChanges")
}

/// Something that happened: its time, and one of the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HistoryEvent {
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub time: Rfc3339,
    /// What was to be placed; its places are reserved until they are confirmed or cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = request)]
    pub reserve: Option<Value>,
    /// Ids of VMs that run where their places were reserved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["web-1"]))]
    pub confirm: Vec<Arc<str>>,
    /// Ids of VMs whose reserved places were given back, or ended by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["web-2"]))]
    pub cancel: Vec<Arc<str>>,
    /// Ids of VMs that were there no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["web-4"]))]
    pub remove: Vec<Arc<str>>,
    /// What else was different, or was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = changes)]
    pub changes: Option<Value>,
}

impl HistoryEvent {
    fn at(time: i64) -> Self {
        Self {
            time: Rfc3339(time),
            ..Self::default()
        }
    }
}

impl Deployment {
    /// What happened to a cluster from the second `since` on, as far as it is recorded. It takes as
    /// long as much is recorded; no decision waits for it.
    ///
    /// # Errors
    /// If there is no such cluster, nothing is recorded of that time, or the store cannot be read.
    pub fn history(&self, cluster: &str, since: i64) -> Result<History, DeploymentError> {
        let cluster = self.cluster(cluster)?;
        let Some(recorded) = self.store.recorded(cluster.name(), since)? else {
            let name = cluster.name();
            return Err(DeploymentError::Refused(format!(
                "nothing is recorded of cluster \"{name}\" from that time on: it made no decision since, or none of which it is known how the cluster was"
            )));
        };
        let bound = self.history_bytes();
        let mut notes = reach(&recorded, since, self.store.options().decisions, bound);
        let schema = cluster.schema();
        let now = self.now();
        let mut history = Teller::new(&schema, cluster.name(), recorded)?.tell(now)?;
        notes.append(&mut history.notes);
        history.notes = notes;
        Ok(history)
    }
}

/// How far back it reaches, if not as far as was wanted.
fn reach(recorded: &Recorded, since: i64, most: usize, bound: u64) -> Vec<String> {
    let Some(first) = recorded.decisions.first() else {
        return Vec::new();
    };
    let is_oldest = match recorded.dropped {
        Some((dropped, _)) => first.number <= dropped,
        None => false,
    };
    let mut notes = Vec::new();
    if let (Some((dropped, why)), true) = (recorded.dropped, is_oldest) {
        notes.push(match why {
            Gone::Bytes => format!(
                "it does not reach back further than decision {dropped}: what was before is bounded to {} (--history-bytes)",
                Bytes(bound)
            ),
            Gone::Version => format!(
                "it does not reach back further than decision {dropped}: an earlier version of the program kept no history"
            ),
        });
    } else if recorded.oldest == Some(first.number) && first.number > 1 && first.at > since {
        notes.push(format!(
            "it does not reach back further than decision {}: a cluster records its last {most} decisions (--recorded-decisions)",
            first.number
        ));
    }
    notes
}

/// A recorded decision, as it is read.
struct Told {
    number: u64,
    clock: i64,
    made_on: MadeOn,
    /// With its draw.
    request: Request,
    host: Option<Arc<str>>,
}

impl Told {
    /// None if it cannot be read, or was kept later than it was made.
    fn of(saved: &SavedDecision) -> Option<Self> {
        let mut recorded: Value = serde_json::from_str(&saved.body).ok()?;
        if recorded["late"] == Value::Bool(true) {
            return None;
        }
        let shown = &recorded["decision"];
        let (draw, host) = (
            shown["draw"].as_f64(),
            shown["host"].as_str().map(Arc::from),
        );
        let clock = recorded["clock"].as_i64()?;
        let made_on = MadeOn::recorded(&recorded["copy"]);
        let mut request: Request = serde_json::from_value(recorded["request"].take()).ok()?;
        request.draw = draw;
        // How long the place was reserved, what follows tells.
        request.reserve_for = None;
        Some(Self {
            number: saved.number,
            clock,
            made_on,
            request,
            host,
        })
    }
}

/// Tells what happened.
struct Teller<'a> {
    schema: &'a Schema,
    start: Value,
    decisions: Vec<SavedDecision>,
    changes: Vec<RecordedChange>,
    events: Vec<HistoryEvent>,
    notes: Vec<String>,
    /// Of decisions that are not told.
    passed_over: u64,
    policy_changed: Vec<u64>,
    cluster_changed: Vec<u64>,
}

impl<'a> Teller<'a> {
    fn new(schema: &'a Schema, name: &str, recorded: Recorded) -> Result<Self, DeploymentError> {
        let Recorded {
            decisions,
            changes,
            body,
            inventory,
            ..
        } = recorded;
        let unread = |error: &dyn std::fmt::Display| {
            DeploymentError::Refused(format!(
                "cannot read from the store how cluster \"{name}\" was: {error}"
            ))
        };
        let first = decisions.first().and_then(Told::of);
        let first = first.ok_or_else(|| {
            unread(&"the first decision was not recorded when it was made: name a later time")
        })?;
        let body: Body = serde_json::from_str(&body).map_err(|error| unread(&error))?;
        let document = ClusterDocument::read(&body.document.to_string(), "cluster.json")?;
        let seed = document.seed;
        let mut rows = inventory;
        let measured = cluster::measured(std::mem::take(&mut rows.measured))?;
        let inventory = cluster::rows(document, rows, first.clock)?;
        let start = ClusterDocument {
            now: Some(first.clock),
            // Attributes that were added since are those of events.
            schema: schema.clone(),
            ..whole(&inventory, seed)
        };
        let mut teller = Self {
            schema,
            start: serde_json::to_value(&start).map_err(|error| unread(&error))?,
            decisions,
            changes,
            events: Vec::new(),
            notes: Vec::new(),
            passed_over: 0,
            policy_changed: Vec::new(),
            cluster_changed: Vec::new(),
        };
        let known: Vec<Value> = measured
            .iter()
            .flat_map(|(id, saved)| written::statistics(schema, id, None, Some(saved)))
            .collect();
        if !known.is_empty() {
            teller.events.push(HistoryEvent {
                changes: Some(json!({ "statistics": known })),
                ..HistoryEvent::at(first.clock)
            });
        }
        Ok(teller)
    }

    fn tell(mut self, now: i64) -> Result<History, DeploymentError> {
        let decisions = std::mem::take(&mut self.decisions);
        let mut changes = std::mem::take(&mut self.changes).into_iter().peekable();
        let told: Vec<Option<Told>> = decisions.iter().map(Told::of).collect();
        let mut time = i64::MIN;
        for (place, decision) in decisions.iter().enumerate() {
            let told_here = told[place].as_ref();
            time = time.max(told_here.map_or(time, |it| it.clock));
            let reserved = match told_here {
                Some(told) => self.decided(told, time)?,
                None => {
                    self.passed_over += 1;
                    None
                }
            };
            let next = told[place + 1..].iter().flatten().next();
            let until = next.map_or(now, |next| next.clock).max(time);
            let mut these = Vec::new();
            while let Some(change) = changes.next_if(|it| it.decision <= decision.number) {
                match change.what {
                    RowKind::Chain => self.policy_changed.push(decision.number),
                    RowKind::Cluster => {
                        if written::says_otherwise(&change) {
                            self.cluster_changed.push(decision.number);
                        }
                    }
                    _ => these.push(change),
                }
            }
            let between = Between {
                schema: self.schema,
                reserved: reserved.as_ref(),
                from: time,
                until,
            };
            self.events.extend(between.events(these)?);
        }
        let numbers = decisions.first().zip(decisions.last());
        let (first, last) = numbers.map_or((0, 0), |(first, last)| (first.number, last.number));
        self.note_what_is_not_told();
        let times = self.events.iter().map(|event| event.time);
        Ok(History {
            first_decision: first,
            last_decision: last,
            from: Rfc3339(self.start["now"].as_i64().unwrap_or(0)),
            to: times.max().unwrap_or(Rfc3339(time)),
            start: self.start,
            events: self.events,
            notes: self.notes,
        })
    }

    /// Tell of a decision, unless nothing came of it by itself. Gives what it reserved.
    fn decided(&mut self, told: &Told, time: i64) -> Result<Option<Reserved>, DeploymentError> {
        if told.request.dry_run {
            return Ok(None);
        }
        if told.made_on != MadeOn::Rows {
            self.passed_over += 1;
            return Ok(None);
        }
        let request = Request {
            now: time,
            ..told.request.clone()
        };
        let written = WrittenRequest {
            schema: self.schema,
            request: &request,
        };
        let written = serde_json::to_value(written);
        let written = written.map_err(|error| DeploymentError::Refused(error.to_string()))?;
        self.events.push(HistoryEvent {
            reserve: Some(written::asked(self.schema, written)),
            ..HistoryEvent::at(time)
        });
        Ok(told.host.clone().map(|host| Reserved {
            decision: told.number,
            members: told.request.members.clone(),
            host,
        }))
    }

    fn note_what_is_not_told(&mut self) {
        if self.passed_over > 0 {
            self.notes.push(format!(
                "{} decisions are not told: they were made on copies of the cluster, or were not recorded when they were made; what came of them is told as places that somebody chose",
                self.passed_over
            ));
        }
        let listed = |numbers: &[u64]| {
            let numbers: Vec<String> = numbers.iter().take(10).map(u64::to_string).collect();
            numbers.join(", ")
        };
        if !self.policy_changed.is_empty() {
            self.notes.push(format!(
                "the policy or its units changed after decision {}: a replay decides by one policy from start to end",
                listed(&self.policy_changed)
            ));
        }
        if !self.cluster_changed.is_empty() {
            self.notes.push(format!(
                "settings or columns of the cluster itself changed after decision {}: they are told as at the start",
                listed(&self.cluster_changed)
            ));
        }
    }
}

/// The document of a cluster, without what was measured.
fn whole(inventory: &Inventory, seed: u64) -> ClusterDocument {
    let mut document = ClusterDocument::of_rows(&cluster::Whole { inventory, seed });
    document.hosts = (document.hosts.into_iter())
        .map(|host| {
            let known = inventory
                .slot(&host.id)
                .and_then(|slot| inventory.host(slot));
            let mut facts = host.facts;
            for measurement in known.into_iter().flat_map(|it| inventory.measured(it)) {
                facts.unset(measurement.name);
                facts.take_rows(measurement.name);
            }
            Host { facts, ..host }
        })
        .collect();
    document
}
