//! What a unit said in a call, with ids in place of row numbers.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Prepared;
use crate::balance::{Names, Proposed};
use crate::effects::Writer;
use crate::{DecisionError, ShareShown};
use placewright_engine::contract::{Change, Judgement, Part, Shares, Turns};
use placewright_engine::unit::{Fault, Instance};
use placewright_model::{Effect, Moment};

/// What a unit said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// It was not asked: a column that is its gate has no value, or a false one.
    Nothing,
    /// A judge: of each host, in the order of the rows.
    Hosts(Vec<HostSaid>),
    /// A selection: groups of candidates, the best first.
    Groups(Vec<Vec<ShareShown>>),
    /// Effects: what is to be written.
    Writes(Vec<WriteSaid>),
    /// An order: the VMs of each turn, which are placed together.
    Turns(Vec<Vec<Arc<str>>>),
    /// A balance: what is to be moved, and what else it finds.
    Proposals(Vec<Proposed>),
}

/// What a judge said of a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HostSaid {
    /// None: it reads nothing of hosts, and this is said of every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Arc<str>>,
    /// Whether the host is kept, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
    /// Why it is removed; completes "host ...".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Waiting for pending placements may help.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub passing: bool,
    /// What it costs, if that was asked; null = infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The last second at which this still holds, if the unit says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// Something to be written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WriteSaid {
    /// Not with the decision, but when the VM runs.
    pub once_running: bool,
    /// What is done.
    #[serde(flatten)]
    pub effect: Effect,
}

impl Prepared<'_> {
    pub(super) fn said(
        &self,
        instance: &mut Instance,
        limit: Duration,
    ) -> Result<Said, DecisionError> {
        let call = &self.call;
        let refused = |fault: Fault| self.step.refusal(fault);
        Ok(match self.query.part {
            Part::Selection => {
                let shares = instance.refine(call, self.slots.len(), limit);
                Said::Groups(self.groups(&shares.map_err(refused)?))
            }
            Part::Effects => {
                let members = self.query.request.members.len();
                let changes = instance.placed(call, members, limit).map_err(refused)?;
                Said::Writes(self.writes(changes)?)
            }
            Part::Order => {
                let turns = instance.order(call, limit).map_err(refused)?;
                Said::Turns(self.turns(&turns))
            }
            Part::Balance => {
                let proposals = instance.balance(call, limit).map_err(refused)?;
                let names = Names::new(&self.step, self.query.inventory, &self.slots);
                let proposals = proposals.into_iter().map(|it| names.proposed(it));
                Said::Proposals(proposals.collect())
            }
            _ => {
                let rows = match self.step.plan.hosts {
                    Some(_) => self.slots.len(),
                    None => 1,
                };
                let judgement = instance.judge(self.query.want, call, rows, limit);
                Said::Hosts(self.hosts(&judgement.map_err(refused)?, rows))
            }
        })
    }

    fn host(&self, row: usize) -> Option<Arc<str>> {
        let host = self.query.inventory.host(*self.slots.get(row)?)?;
        Some(host.id.clone())
    }

    fn hosts(&self, judgement: &Judgement, rows: usize) -> Vec<HostSaid> {
        let reasons = self.step.unit.description().reasons(Part::Judge);
        let said = |row: usize| {
            let verdict = judgement.verdicts.get(row);
            let reason = verdict.and_then(|verdict| {
                let number = usize::from(*verdict).checked_sub(1)?;
                reasons.get(number)
            });
            HostSaid {
                host: self.host(row),
                keep: verdict.map(|verdict| *verdict == 0),
                reason: reason.map(|reason| reason.text.clone()),
                passing: reason.is_some_and(|reason| reason.passing),
                cost: judgement.costs.get(row).copied(),
                until: judgement.until.get(row).copied(),
            }
        };
        (0..rows).map(said).collect()
    }

    fn groups(&self, shares: &Shares) -> Vec<Vec<ShareShown>> {
        let member = |place: usize| {
            let row = *shares.rows.get(place)? as usize;
            Some(ShareShown {
                host: self.host(row)?,
                share: *shares.shares.get(place)?,
            })
        };
        spans(&shares.groups)
            .map(|places| places.filter_map(member).collect())
            .collect()
    }

    fn turns(&self, turns: &Turns) -> Vec<Vec<Arc<str>>> {
        let members = &self.query.request.members;
        let vm = |place: usize| {
            let row = *turns.rows.get(place)? as usize;
            Some(members.get(row)?.id.clone())
        };
        spans(&turns.turns)
            .map(|places| places.filter_map(vm).collect())
            .collect()
    }

    fn writes(&self, changes: Vec<Change>) -> Result<Vec<WriteSaid>, DecisionError> {
        let Some(slot) = self.slots.first() else {
            return Ok(Vec::new());
        };
        let writer = Writer {
            step: &self.step,
            inventory: self.query.inventory,
            request: self.query.request,
            slot: *slot,
        };
        let written = changes.into_iter().map(|change| {
            let write = writer.write(change)?;
            Ok(WriteSaid {
                once_running: matches!(write.moment, Moment::Running(_)),
                effect: write.effect,
            })
        });
        written.collect()
    }
}

/// What lies between each two of these bounds.
fn spans(bounds: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let bounds = bounds.windows(2);
    bounds.map(|bounds| bounds[0] as usize..bounds[1] as usize)
}
