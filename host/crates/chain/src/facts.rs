//! What the explain parts of a stage's units work out for people.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::encode::Context;
use super::explain::LeftOutShown;
use super::run::{DecisionError, StageRun, candidates, equal};
use super::subject::Subject;
use super::{Chain, PartStep};
use placewright_engine::contract::{self, Part};
use placewright_inventory::Inventory;
use placewright_model::Value;

/// A value that a unit worked out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ExplainedFact))]
pub struct FactShown {
    /// The policy's entry.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "spread"))]
    pub entry: Arc<str>,
    /// Name of the unit.
    #[cfg_attr(feature = "openapi", schema(example = "memory"))]
    pub unit: String,
    /// What it is, in the words of the unit's documentation.
    #[cfg_attr(feature = "openapi", schema(example = "free memory"))]
    pub name: String,
    /// What it is about: a table, and the row's id or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = crate::openapi::pair))]
    pub about: Option<(String, String)>,
    /// The value.
    #[cfg_attr(feature = "openapi", schema(schema_with = crate::openapi::value))]
    pub value: Value,
}

/// Asks the explain parts of one stage.
pub(super) struct Facts<'a> {
    pub(super) chain: &'a Chain,
    pub(super) inventory: &'a Inventory,
    pub(super) subject: &'a Subject<'a>,
    pub(super) limit: Duration,
}

impl Facts<'_> {
    /// The facts of the stage of that number; `runs` are all stages as they went.
    /// Entries that tell none, since their units failed, come into `silent` with why.
    pub(super) fn of_stage(
        &self,
        number: usize,
        runs: &[StageRun],
        silent: &mut Vec<LeftOutShown>,
    ) -> Vec<FactShown> {
        let (earlier, run) = (&runs[..number], &runs[number]);
        let mut facts = Vec::new();
        for step in &self.chain.stages[number].explains {
            match self.of_step(step, number, run, earlier) {
                Ok(told) => facts.extend(told),
                // What is known without them is told all the same.
                Err(refusal) => silent.push(LeftOutShown {
                    entry: step.name.clone(),
                    fault: refusal.to_string(),
                }),
            }
        }
        facts
    }

    fn of_step(
        &self,
        step: &PartStep,
        number: usize,
        run: &StageRun,
        earlier: &[StageRun],
    ) -> Result<Vec<FactShown>, DecisionError> {
        let reads = step.unit.description().reads(Part::Explain);
        let reads = reads.unwrap_or_default();
        let about_candidates = reads.iter().any(|read| read.table == "candidates");
        // What a selection of the stage saw first, where the part asks for it; else
        // every host that came to the stage.
        let left = about_candidates.then(|| {
            let rows: Vec<u32> = (0..run.survivors())
                .map(|survivor| run.survivor_row(survivor))
                .collect();
            let groups = vec![equal(rows.into_iter())];
            candidates(self.chain, number, run, earlier, &groups, &step.plan)
        });
        let slots = match &left {
            Some(left) => left.slots.clone(),
            None => (0..run.considered()).map(|row| run.slot(row)).collect(),
        };
        let context = Context {
            inventory: self.inventory,
            subject: Some(self.subject),
            settings: &step.settings,
            now: self.subject.request.now,
            candidates: left.as_ref(),
        };
        let (call, slots) = step.tables(context, slots)?;
        let facts = step
            .ask(self.limit, |instance, limit| instance.explain(&call, limit))
            .map_err(|fault| step.refusal(fault))?;
        Ok(facts
            .into_iter()
            .map(|fact| FactShown {
                entry: step.name.clone(),
                unit: step.unit.description().name.clone(),
                about: fact.about.and_then(|row| {
                    let table = &reads.get(row.table as usize)?.table;
                    Some((table.clone(), self.row(table, row, &slots)))
                }),
                name: fact.name,
                value: Value::from(&fact.value),
            })
            .collect())
    }

    /// A row's id, or its number where it has none.
    fn row(&self, table: &str, row: contract::Row, slots: &[u32]) -> String {
        let number = row.row as usize;
        let id = match table {
            "hosts" | "candidates" => slots
                .get(number)
                .and_then(|slot| self.inventory.host(*slot))
                .map(|host| &host.id),
            "members" => self.subject.members.get(number).map(|member| &member.vm.id),
            _ => None,
        };
        id.map_or_else(|| number.to_string(), ToString::to_string)
    }
}
