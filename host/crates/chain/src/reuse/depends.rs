//! What of the inventory kept answers and sums depend on.

use super::{KeptStep, RemovalCode, Shape};
use crate::plan::{Field, ReadPlan, Source, TablePlan};
use crate::{Chain, Stage, Step};
use placewright_engine::contract::Evaluation;
use placewright_inventory::{Aspects, Inventory};
use placewright_policy::{Scaling, Tie};

/// What the answers of a step depend on besides the request; None: too much to keep
/// them, or on chance.
pub(super) fn shape(step: &Step) -> Option<Shape> {
    let plan = &step.plan;
    if plan.reads("request", "draw") {
        return None;
    }
    let Some(hosts) = plan.hosts else {
        return Some(Shape::Request);
    };
    if step.evaluation != Evaluation::RowWise {
        return None;
    }
    let mut below = plan.tables.iter().enumerate().filter(|(number, table)| {
        (*number == hosts && !table.columns.is_empty()) || table.is_below(hosts, plan)
    });
    let is_relation = |table: &TablePlan| table.source.is_relation() || table.is_of_held(plan);
    Some(match below.all(|(_, table)| is_relation(table)) {
        true => Shape::Alike,
        false => Shape::Each,
    })
}

/// Whether the answers of a step that reads nothing of hosts but relations can be kept by
/// these: they hold for good, and the rows are numbers.
pub(super) fn is_by_relation(plan: &ReadPlan) -> bool {
    let mut tables = plan.tables.iter();
    !plan.reads("request", "now")
        && !tables.any(|table| table.source == Source::Bindings || table.is_of_held(plan))
}

/// Whether the answers of a step can be no part of classes, so that requests that differ
/// only in what this step reads of them share sums: it is a filter without costs, and
/// what it reads of hosts does not change with their VMs, so that the hosts that it
/// removes are mostly the same from decision to decision.
pub(super) fn may_skip(step: &Step, shape: Option<Shape>, inventory: &Inventory) -> bool {
    let plan = &step.plan;
    let changes_with_vms = |(number, table): (usize, &TablePlan)| {
        let is_of_hosts = plan
            .hosts
            .is_some_and(|hosts| number == hosts || table.is_below(hosts, plan));
        is_of_hosts
            && match table.source {
                Source::HostVms => true,
                Source::Below => table.is_of_vms(plan),
                Source::Nested(index) => inventory.nested_follows_vms(index),
                _ => table.columns.iter().any(|column| match column.field {
                    Field::HostColumn(index) => inventory.column_follows_vms(index),
                    _ => false,
                }),
            }
    };
    let is_filter_alone = step.filter.is_some() && step.costs.is_empty();
    is_filter_alone && shape.is_some() && !plan.tables.iter().enumerate().any(changes_with_vms)
}

/// What of a host a plan reads.
pub(super) fn aspects(plan: &ReadPlan) -> Aspects {
    let mut aspects = Aspects::NOTHING;
    let Some(hosts) = plan.hosts else {
        return aspects;
    };
    for (number, table) in plan.tables.iter().enumerate() {
        if number != hosts && !table.is_below(hosts, plan) {
            continue;
        }
        aspects |= match table.source {
            Source::Nested(index) => Aspects::nested(index),
            Source::HostVms => Aspects::VMS,
            Source::Below if table.is_of_vms(plan) => Aspects::VMS,
            // Hosts where members run are asked about in every decision.
            Source::Below if table.is_of_held(plan) => Aspects::NOTHING,
            Source::Below => Aspects::ROWS,
            _ => Aspects::NOTHING,
        };
        for column in &table.columns {
            if let Field::HostColumn(index) = column.field {
                aspects |= Aspects::column(index);
            }
        }
    }
    aspects
}

/// What of hosts the choice by kept sums depends on besides the sums; None if these
/// depend on more than one host after the other.
pub(super) fn of_choice(
    chain: &Chain,
    steps: &[KeptStep],
    inventory: &Inventory,
) -> Option<Aspects> {
    let [stage] = &chain.stages[..] else {
        return None;
    };
    let is_one_by_one = |stage: &Stage| {
        stage.selections.is_empty()
            && stage.steps.len() < usize::from(RemovalCode::MAX >> 8)
            && stage
                .costs
                .iter()
                .all(|cost| matches!(cost.scaling, Scaling::None | Scaling::Range))
    };
    if !is_one_by_one(stage) || steps.iter().any(|step| step.shape.is_none()) {
        return None;
    }
    let ties = chain.policy.tie_rule.iter().flat_map(|tie| match tie {
        Tie::FewestVms => &["vms.count", "vms.pending"][..],
        Tie::Listed => &["listed"],
        Tie::Id | Tie::Draw => &[],
    });
    let columns = ties.copied().chain(["state"]);
    let columns = columns.filter_map(|name| inventory.column_index(name));
    let columns = columns.map(Aspects::column);
    Some(columns.fold(Aspects::NOTHING, |a, b| a | b))
}
