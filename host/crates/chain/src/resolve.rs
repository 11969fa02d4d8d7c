//! Policy, generation and inventory to chain.

use std::sync::Arc;

use super::encode::{Context, Dictionary, HostRows, encode};
use super::needs;
use super::plan::ReadPlan;
use super::{Chain, Cost, Filter, PartStep, Selection, Stage, Step};
use placewright_engine::contract::{
    Answers, Call, ColumnRead, Evaluation, JudgePart, Part, Setting, TableRead,
};
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Cause, Unit};
use placewright_inventory::Inventory;
use placewright_policy::{self as policy, Policy, RefusedSettings, Scaling, Settings, UnitName};

/// Why a checked policy cannot run with this generation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum ChainError {
    #[error("policy \"{policy}\": there is no unit \"{unit}\"")]
    UnknownUnit { policy: Arc<str>, unit: String },
    #[error(
        "policy \"{policy}\": unit \"{unit}\" has no {part}; it was another unit when the policy was checked"
    )]
    NoPart {
        policy: Arc<str>,
        unit: String,
        part: &'static str,
    },
    #[error("policy \"{policy}\": {fault}")]
    Settings {
        policy: Arc<str>,
        fault: String,
        refused: Box<RefusedSettings>,
    },
}

impl Chain {
    /// Make the chain of a policy that was checked against this generation. Host
    /// columns that units read and no host has yet are made.
    ///
    /// # Errors
    /// If the generation lacks a unit of the policy, or a unit's settings do not go
    /// together.
    pub fn resolve(
        policy: Arc<Policy>,
        generation: &Generation,
        inventory: &mut Inventory,
    ) -> Result<Self, ChainError> {
        let mut places = 0;
        let mut stages = Vec::with_capacity(policy.stages.len());
        for stage in &policy.stages {
            let mut resolver = Resolver {
                policy: &policy,
                generation,
                inventory,
                places: &mut places,
            };
            stages.push(resolver.stage(stage)?);
        }
        let mut resolver = Resolver {
            policy: &policy,
            generation,
            inventory,
            places: &mut places,
        };
        let mut effects = Vec::new();
        for entry in policy.effects.iter().filter(|entry| entry.enabled) {
            let (name, unit) = (&entry.name, &entry.unit);
            effects.push(resolver.part(name, Part::Effects, unit, &entry.settings)?);
        }
        let mut alone = |entry: &Option<policy::UnitEntry>, part: Part| {
            let Some(entry) = entry else {
                return Ok(None);
            };
            let name: Arc<str> = part.name().into();
            resolver
                .part(&name, part, &entry.unit, &entry.settings)
                .map(Some)
        };
        let order = alone(&policy.order, Part::Order)?;
        let balance = alone(&policy.balance, Part::Balance)?;
        // What selections read of costs must be there for every host.
        let no_later_selection = |number: usize| {
            let mut later = stages[number..].iter();
            later.all(|stage: &Stage| stage.selections.is_empty())
        };
        let late: Vec<usize> = (0..stages.len())
            .map(|number| match no_later_selection(number) {
                true => late_tier(&stages[number]),
                false => stages[number].tiers.len(),
            })
            .collect();
        for (stage, late) in stages.iter_mut().zip(late) {
            stage.late_tier = late;
        }
        let unchecked = needs::unchecked(&policy, &stages, generation, inventory.schema());
        Ok(Self {
            policy,
            stages,
            effects,
            order,
            balance,
            unchecked,
        })
    }
}

struct Resolver<'a> {
    policy: &'a Policy,
    generation: &'a Generation,
    inventory: &'a mut Inventory,
    /// How many steps have a place in a runner so far.
    places: &'a mut usize,
}

impl Resolver<'_> {
    fn stage(&mut self, stage: &policy::Stage) -> Result<Stage, ChainError> {
        let mut steps: Vec<Step> = Vec::new();
        for entry in stage.filters.iter().filter(|entry| entry.enabled) {
            let mut step = self.step(&entry.unit, &entry.settings, Answers::VERDICTS)?;
            step.filter = Some(Filter {
                name: entry.name.clone(),
                on_failure: entry.on_failure,
            });
            steps.push(step);
        }
        let entries: Vec<_> = stage.costs.iter().filter(|entry| entry.enabled).collect();
        let mut tiers: Vec<u32> = entries.iter().map(|entry| entry.tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        let mut costs = Vec::with_capacity(entries.len());
        for (number, entry) in entries.into_iter().enumerate() {
            let range = self.cost(number, entry, &mut steps)?;
            costs.push(Cost {
                name: entry.name.clone(),
                factor: entry.factor,
                scaling: entry.scaling,
                range,
                tier: tiers.binary_search(&entry.tier).unwrap_or(0),
                on_failure: entry.on_failure,
            });
        }
        let mut selections = Vec::new();
        for entry in stage.selections.iter().filter(|entry| entry.enabled) {
            let (name, unit) = (&entry.name, &entry.unit);
            selections.push(Selection {
                step: self.part(name, Part::Selection, unit, &entry.settings)?,
                on_failure: entry.on_failure,
            });
        }
        let explains = self.explains(&steps, &costs, &selections);
        Ok(Stage {
            name: stage.name.clone(),
            late_tier: tiers.len(),
            steps,
            costs,
            tiers,
            selections,
            keep: stage.keep,
            explains,
        })
    }

    /// A part that is asked once.
    fn part(
        &mut self,
        name: &Arc<str>,
        part: Part,
        unit_name: &UnitName,
        settings: &Settings,
    ) -> Result<PartStep, ChainError> {
        let unit = find(self.policy, self.generation, unit_name)?;
        let Some(reads) = unit.description().reads(part) else {
            return Err(no_part(self.policy, unit_name, part.name()));
        };
        let list = match part {
            Part::Selection => "selections",
            Part::Effects => "effects",
            Part::Order => "order",
            _ => "balance",
        };
        let entry = (list, unit_name);
        check_settings(self.policy, entry, &unit, settings, self.inventory)?;
        Ok(PartStep {
            name: name.clone(),
            part,
            plan: ReadPlan::set(reads, settings, self.inventory),
            settings: settings.clone(),
            unit,
        })
    }

    /// The parts that explain, of the units of a stage, each with each of its
    /// settings once.
    fn explains(
        &mut self,
        steps: &[Step],
        costs: &[Cost],
        selections: &[Selection],
    ) -> Vec<PartStep> {
        let of_steps = steps
            .iter()
            .map(|step| (entry_name(step, costs), &step.unit, &step.settings));
        let of_selections = selections
            .iter()
            .map(|Selection { step, .. }| (step.name.clone(), &step.unit, &step.settings));
        let mut explains: Vec<PartStep> = Vec::new();
        for (name, unit, settings) in of_steps.chain(of_selections) {
            let Some(reads) = unit.description().reads(Part::Explain) else {
                continue;
            };
            let known =
                |step: &PartStep| step.unit.digest() == unit.digest() && step.settings == *settings;
            if !explains.iter().any(known) {
                explains.push(PartStep {
                    name,
                    part: Part::Explain,
                    unit: unit.clone(),
                    plan: ReadPlan::set(reads, settings, self.inventory),
                    settings: settings.clone(),
                });
            }
        }
        explains
    }

    /// Let a step give this cost: the call of a filter with the same unit and
    /// settings where one call can give both answers, else a call of its own.
    fn cost(
        &mut self,
        number: usize,
        entry: &policy::CostEntry,
        steps: &mut Vec<Step>,
    ) -> Result<Option<(f64, f64)>, ChainError> {
        let mut own = self.step(&entry.unit, &entry.settings, Answers::COSTS)?;
        let range = own
            .unit
            .description()
            .judge
            .as_ref()
            .and_then(|part| part.cost_range);
        let shared = steps.iter_mut().find(|step| {
            step.unit.digest() == own.unit.digest()
                && step.settings == own.settings
                && (step.evaluation == Evaluation::RowWise || step.filter.is_none())
        });
        match shared {
            Some(step) => {
                step.want.costs = true;
                step.costs.push(number);
                step.is_ranked |= entry.scaling == Scaling::Rank;
            }
            None => {
                own.costs.push(number);
                own.is_ranked = entry.scaling == Scaling::Rank;
                own.place = *self.places;
                *self.places += 1;
                steps.push(own);
            }
        }
        Ok(range)
    }

    fn step(
        &mut self,
        name: &UnitName,
        settings: &Settings,
        want: Answers,
    ) -> Result<Step, ChainError> {
        let unit = find(self.policy, self.generation, name)?;
        let part = judge(&unit, want).ok_or_else(|| {
            let part = if want.costs {
                "cost function"
            } else {
                "filter"
            };
            no_part(self.policy, name, part)
        })?;
        let entry = (if want.costs { "costs" } else { "filters" }, name);
        check_settings(self.policy, entry, &unit, settings, self.inventory)?;
        let plan = ReadPlan::set(&part.reads, settings, self.inventory);
        let evaluation = part.evaluation;
        let place = *self.places;
        if want.verdicts {
            *self.places += 1;
        }
        Ok(Step {
            unit,
            plan,
            settings: settings.clone(),
            evaluation,
            want,
            filter: None,
            costs: Vec::new(),
            is_ranked: false,
            place,
        })
    }
}

/// The first tier from which on no cost need be asked about hosts that an earlier
/// tier has put behind others: answers are row-wise, serve no filter, and are put on
/// no scale that is made from all hosts.
fn late_tier(stage: &Stage) -> usize {
    let can_wait = |step: &Step, from: usize| {
        let mut entries = step.costs.iter().map(|entry| &stage.costs[*entry]);
        step.filter.is_none()
            && step.evaluation == Evaluation::RowWise
            && entries.all(|cost| {
                cost.tier >= from && matches!(cost.scaling, Scaling::None | Scaling::Range)
            })
    };
    let is_late = |from: &usize| {
        let mut steps = stage.steps.iter();
        steps.all(|step| {
            let mut entries = step.costs.iter();
            let before = entries.all(|entry| stage.costs[*entry].tier < *from);
            before || can_wait(step, *from)
        })
    };
    let tiers = stage.tiers.len();
    (1..tiers).find(is_late).unwrap_or(tiers)
}

/// The policy's name for a step: that of its filter, or else of its first cost.
fn entry_name(step: &Step, costs: &[Cost]) -> Arc<str> {
    match (&step.filter, step.costs.first()) {
        (None, Some(cost)) => costs[*cost].name.clone(),
        _ => step.filter_name(),
    }
}

fn judge(unit: &Unit, want: Answers) -> Option<&JudgePart> {
    unit.description().judge.as_ref().filter(|part| {
        (part.answers.verdicts || !want.verdicts) && (part.answers.costs || !want.costs)
    })
}

fn find(
    policy: &Policy,
    generation: &Generation,
    name: &UnitName,
) -> Result<Arc<Unit>, ChainError> {
    generation
        .get(&name.name)
        .filter(|unit| {
            let pin = name.pin.as_deref().unwrap_or("");
            unit.digest().to_string().starts_with(pin)
        })
        .cloned()
        .ok_or_else(|| ChainError::UnknownUnit {
            policy: policy.name.clone(),
            unit: name.to_string(),
        })
}

/// Ask a unit that has rules between its settings whether those of an entry keep them: of the list
/// that it stands in, and as it names the unit.
fn check_settings(
    policy: &Policy,
    (list, name): (&'static str, &UnitName),
    unit: &Unit,
    settings: &Settings,
    inventory: &mut Inventory,
) -> Result<(), ChainError> {
    if !unit.has(Part::Settings) {
        return Ok(());
    }
    let plan = ReadPlan::new(&settings_tables(unit), inventory);
    let context = Context {
        inventory,
        subject: None,
        settings,
        now: 0,
        candidates: None,
    };
    let mut call = Call::default();
    let hosts = HostRows::List(&[]);
    let encoded = encode(&plan, context, hosts, &mut Dictionary::default(), &mut call);
    debug_assert!(encoded.is_ok(), "no setting is required of a row of hosts");
    let limit = unit.engine().limits().time;
    let checked = unit
        .instantiate_beside_decisions(Part::Settings)
        .and_then(|mut instance| instance.check_settings(&call, limit));
    checked.map_err(|fault| {
        let told = fault.to_string();
        let sentence = match &*fault.cause {
            Cause::Refused(words) | Cause::Failed(words) => words.as_str().into(),
            _ => told.as_str().into(),
        };
        ChainError::Settings {
            policy: policy.name.clone(),
            fault: told,
            refused: Box::new(RefusedSettings {
                list,
                unit: name.clone(),
                settings: settings.clone(),
                sentence,
            }),
        }
    })
}

/// `settings` with a column for each setting, and the settings that are tables.
fn settings_tables(unit: &Unit) -> Vec<TableRead> {
    let (tables, plain): (Vec<&Setting>, Vec<&Setting>) = unit
        .description()
        .settings
        .iter()
        .partition(|setting| !setting.columns.is_empty());
    let column = |name: &str, kind| ColumnRead {
        column: name.to_owned(),
        kind,
        required: false,
        gate: false,
    };
    let mut reads = vec![TableRead {
        table: "settings".to_owned(),
        columns: plain
            .iter()
            .map(|setting| column(&setting.name, setting.kind))
            .collect(),
    }];
    reads.extend(tables.iter().map(|setting| {
        TableRead {
            table: format!("settings/{}", setting.name),
            columns: setting
                .columns
                .iter()
                .map(|of_table| column(&of_table.name, of_table.kind))
                .collect(),
        }
    }));
    reads
}

fn no_part(policy: &Policy, unit: &UnitName, part: &'static str) -> ChainError {
    ChainError::NoPart {
        policy: policy.name.clone(),
        unit: unit.to_string(),
        part,
    }
}
