//! One call of one part, for people: what its unit sees in it, and what it says.
//!
//! Tables, limits and the checks of the answer are those of a decision. Nothing follows
//! from the answer, and the call is made in an instance of its own.

mod said;
mod seen;

pub use said::{HostSaid, Said, WriteSaid};
pub use seen::{ColumnSeen, RowSeen, TableSeen};

use std::sync::Arc;
use std::time::Duration;

use super::candidates::Candidates;
use super::encode::{self, Context};
use super::explain::not_asked;
use super::run::{DecisionError, LACKS_A_VALUE, Runner, candidates, considered_slots, equal};
use super::subject::Subject;
use super::{Chain, NotConsidered, PartStep, Step};
use placewright_engine::contract::{Answers, Call, Part};
use placewright_engine::unit::{Logged, Unit};
use placewright_inventory::Inventory;
use placewright_model::Request;

/// What one part is to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Any but `unit`, `settings` and `explain`, which are asked in other ways.
    pub part: Part,
    /// What is wanted of a judge.
    pub want: Answers,
    /// The cluster.
    pub inventory: &'a Inventory,
    /// What is to be placed. To a balance part only its time matters.
    pub request: &'a Request,
    /// The number that decides what is left to chance.
    pub draw: f64,
    /// The hosts that it is about; empty = all. Effects are asked about one.
    pub hosts: &'a [Arc<str>],
}

/// A call that is ready to be made.
pub struct Prepared<'a> {
    query: Query<'a>,
    step: PartStep,
    subject: Subject<'a>,
    call: Call,
    /// The hosts of its rows.
    slots: Vec<u32>,
    /// Whether the gates of the part are open.
    has_a_say: bool,
    not_asked: Vec<NotConsidered>,
}

/// What came out of a call.
#[derive(Debug)]
pub struct Answered {
    /// What the unit said, or why there is no answer that can be used.
    pub said: Result<Said, DecisionError>,
    /// What it logged meanwhile.
    pub logged: Vec<Logged>,
}

/// The hosts that a part is asked about.
#[derive(Default)]
struct Rows {
    slots: Vec<u32>,
    candidates: Option<Candidates>,
    /// Hosts that the unit itself has removed before, with why.
    removed: Vec<(u32, String)>,
}

impl Runner {
    /// Make the tables of a call of the first unit of the chain that has the part. The
    /// candidates of a selection are what the filters and costs of the chain leave.
    ///
    /// # Errors
    /// If no unit of the chain has the part, a host is not there, or a value is missing
    /// that the unit needs.
    pub fn prepare<'a>(&mut self, query: Query<'a>) -> Result<Prepared<'a>, DecisionError> {
        let chain = self.chain().clone();
        let step = chain.part(query.part, query.want).ok_or_else(|| {
            DecisionError::Refused(format!("no unit of the policy has a part {}", query.part))
        })?;
        let subject = Subject::new(query.request, query.inventory, query.draw);
        let rows = self.rows(&query, &step, &subject)?;
        let context = Context {
            inventory: query.inventory,
            subject: (query.part != Part::Balance).then_some(&subject),
            settings: &step.settings,
            now: query.request.now,
            candidates: rows.candidates.as_ref(),
        };
        let has_a_say = query.part != Part::Judge || encode::gates_open(&step.plan, context);
        let asked = rows.slots.clone();
        let (call, slots) = step.tables(context, rows.slots)?;
        let mut prepared = Prepared {
            query,
            subject,
            call,
            slots,
            has_a_say,
            not_asked: Vec::new(),
            step,
        };
        prepared.not_asked = prepared.left_out(&asked, rows.removed);
        Ok(prepared)
    }

    fn rows(
        &mut self,
        query: &Query<'_>,
        step: &PartStep,
        subject: &Subject<'_>,
    ) -> Result<Rows, DecisionError> {
        let inventory = query.inventory;
        let named = named(query)?;
        let is_wanted = |slot: &u32| query.hosts.is_empty() || named.contains(slot);
        let slots = match (query.part, &named[..]) {
            // One answer for all hosts.
            (Part::Judge, _) if step.plan.hosts.is_none() => Vec::new(),
            (Part::Judge | Part::Selection, _) => considered_slots(inventory, query.request)?,
            (Part::Effects, [_]) => named.clone(),
            (Part::Effects, _) => {
                return Err(DecisionError::Refused(
                    "what follows from a placement is asked about one host: name it".to_owned(),
                ));
            }
            _ => inventory.hosts().map(|(slot, _)| slot).collect(),
        };
        let slots: Vec<u32> = slots.into_iter().filter(is_wanted).collect();
        if query.part != Part::Selection {
            return Ok(Rows {
                slots,
                ..Rows::default()
            });
        }
        let chain = self.chain().clone();
        let Some(stage) = chain.stages.first() else {
            return Ok(Rows::default());
        };
        let run = self.unrefined(stage, inventory, subject, &slots)?;
        let left = (0..run.survivors()).map(|survivor| run.survivor_row(survivor));
        let candidates = candidates(&chain, 0, &run, &[], &vec![equal(left)], &step.plan);
        let removed = (0..run.considered()).filter_map(|row| {
            let removal = run.removal(row)?;
            let (_, step) = removal.by(stage);
            Some((run.slot(row), removal.reason(step).0.to_owned()))
        });
        Ok(Rows {
            slots: candidates.slots.clone(),
            removed: removed.collect(),
            candidates: Some(candidates),
        })
    }
}

impl Chain {
    /// The first unit that has the part, as it is set; of judges, one that is asked for
    /// what is wanted.
    fn part(&self, part: Part, want: Answers) -> Option<PartStep> {
        let stage = self.stages.first();
        match part {
            Part::Judge => {
                let gives = |step: &&Step| {
                    step.want.verdicts && want.verdicts || step.want.costs && want.costs
                };
                let step = stage?.steps.iter().find(gives)?;
                Some(PartStep {
                    name: step.unit.description().name.as_str().into(),
                    part,
                    unit: step.unit.clone(),
                    plan: step.plan.clone(),
                    settings: step.settings.clone(),
                })
            }
            Part::Selection => Some(stage?.selections.first()?.step.clone()),
            Part::Effects => self.effects.first().cloned(),
            Part::Order => self.order.clone(),
            Part::Balance => self.balance.clone(),
            Part::Unit | Part::Explain | Part::Settings => None,
        }
    }
}

impl Prepared<'_> {
    /// The unit that is asked.
    pub fn unit(&self) -> &Arc<Unit> {
        &self.step.unit
    }

    /// The tables that it sees, in the order in which it declares them. It sees no ids of
    /// hosts or VMs, unless it declares a column of them.
    pub fn tables(&self) -> Vec<TableSeen> {
        seen::tables(self)
    }

    /// The hosts that it is not asked about, by their ids, with why.
    pub fn not_asked(&self) -> &[NotConsidered] {
        &self.not_asked
    }

    /// Make the call, in at most this time.
    pub fn ask(&self, limit: Duration) -> Answered {
        if !self.has_a_say {
            return Answered {
                said: Ok(Said::Nothing),
                logged: Vec::new(),
            };
        }
        let mut instance = match self.step.unit.instantiate(self.query.part) {
            Ok(instance) => instance,
            Err(fault) => {
                return Answered {
                    said: Err(self.step.refusal(fault)),
                    logged: Vec::new(),
                };
            }
        };
        let said = self.said(&mut instance, limit);
        Answered {
            said,
            logged: instance.logged().to_vec(),
        }
    }

    /// Which of the wanted hosts the call is not about; `asked` are those that it would be
    /// about, had they all that the unit needs.
    fn left_out(&self, asked: &[u32], removed: Vec<(u32, String)>) -> Vec<NotConsidered> {
        let Query {
            part,
            inventory,
            request,
            hosts,
            ..
        } = self.query;
        let mut told = Vec::new();
        let goes_by_request = match part {
            Part::Judge => self.step.plan.hosts.is_some(),
            part => part == Part::Selection,
        };
        if goes_by_request {
            let mut is_told = vec![false; inventory.slots()];
            for slot in asked.iter().chain(removed.iter().map(|(slot, _)| slot)) {
                is_told[*slot as usize] = true;
            }
            told = not_asked(&is_told, inventory, request);
            told.retain(|it| hosts.is_empty() || hosts.contains(&it.host));
        }
        let lacking = asked.iter().filter(|slot| !self.slots.contains(slot));
        let lacking = lacking.map(|slot| (*slot, LACKS_A_VALUE.to_owned()));
        told.extend(lacking.chain(removed).filter_map(|(slot, reason)| {
            let host = inventory.host(slot)?.id.clone();
            Some(NotConsidered { host, reason })
        }));
        told.sort_by(|one, other| one.host.cmp(&other.host));
        told
    }
}

/// The slots of the hosts that are named.
fn named(query: &Query<'_>) -> Result<Vec<u32>, DecisionError> {
    let slot = |id: &Arc<str>| {
        let slot = query.inventory.slot(id);
        slot.ok_or_else(|| DecisionError::unknown_host(query.inventory, id))
    };
    query.hosts.iter().map(slot).collect()
}

#[cfg(test)]
mod tests;
