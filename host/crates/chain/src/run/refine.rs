//! The selections of a stage: candidates into groups with shares.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use super::stage::{Removal, StageRun};
use super::{DecisionError, LeftOut};
use crate::candidates::Candidates;
use crate::encode::Context;
use crate::plan::ReadPlan;
use crate::{Chain, Selection, Stage};
use placewright_engine::contract::Shares;
use placewright_inventory::Inventory;
use placewright_policy::{Keep, OnFailure};

use super::ask::Asker;

/// One candidate of a group, with its share of chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    /// The row in the stage.
    pub(crate) row: u32,
    pub(crate) share: f64,
}

/// Candidates in groups, best group first.
pub(crate) type Groups = Vec<Vec<Share>>;

/// Ask the selections of the stage of that number, one after the other. `earlier`
/// are the stages before.
pub(super) fn refine(
    chain: &Chain,
    number: usize,
    run: &mut StageRun,
    earlier: &[StageRun],
    asker: &mut Asker<'_>,
    left_out: &mut Vec<LeftOut>,
) -> Result<(), DecisionError> {
    let stage = &chain.stages[number];
    if stage.selections.is_empty() {
        return Ok(());
    }
    let rows = (0..run.survivors()).map(|survivor| run.survivor_row(survivor));
    let first = vec![equal(rows)];
    let mut refined: Vec<Groups> = Vec::new();
    for (place, selection) in stage.selections.iter().enumerate() {
        let groups = refined.last().unwrap_or(&first);
        let read = &selection.step.plan;
        let candidates = candidates(chain, number, run, earlier, groups, read);
        let groups = match ask(selection, &candidates, asker)? {
            Ok((shares, slots)) => regrouped(&shares, &slots, run),
            Err(fault) => {
                if selection.on_failure == OnFailure::Fail {
                    return Err(selection.step.refusal(fault));
                }
                left_out.push(LeftOut {
                    entry: selection.step.name.clone(),
                    fault: Arc::new(fault),
                });
                vec![equal(best(run, groups).into_iter())]
            }
        };
        run.cut(&groups, Removal::by_selection(stage, place));
        // How they came about is only for those who want it explained.
        if !asker.whole {
            refined.clear();
        }
        refined.push(groups);
    }
    run.refined = refined;
    Ok(())
}

/// The rows, each with the same share.
pub(crate) fn equal(rows: impl ExactSizeIterator<Item = u32>) -> Vec<Share> {
    let share = 1.0 / rows.len().max(1) as f64;
    rows.map(|row| Share { row, share }).collect()
}

/// The table `candidates` of a part that reads so, of the survivors of the stage.
pub(crate) fn candidates(
    chain: &Chain,
    number: usize,
    run: &StageRun,
    earlier: &[StageRun],
    groups: &Groups,
    read: &ReadPlan,
) -> Candidates {
    let mut rows: Vec<(u32, i64, f64)> = (0i64..)
        .zip(groups)
        .flat_map(|(group, members)| {
            members
                .iter()
                .map(move |member| (member.row, group, member.share))
        })
        .collect();
    rows.sort_unstable_by_key(|(row, ..)| *row);
    let slots: Vec<u32> = rows
        .iter()
        .map(|(row, ..)| run.slot(*row as usize))
        .collect();
    let mut named = Vec::new();
    for (stage, of_stage) in chain.stages.iter().zip(earlier) {
        add_costs(stage, of_stage, &slots, read, &mut named);
    }
    add_costs(&chain.stages[number], run, &slots, read, &mut named);
    Candidates {
        groups: rows.iter().map(|(_, group, _)| *group).collect(),
        shares: rows.iter().map(|(.., share)| *share).collect(),
        costs: rows.iter().map(|(row, ..)| run.sum(*row)).collect(),
        slots,
        named,
    }
}

fn add_costs(
    stage: &Stage,
    run: &StageRun,
    slots: &[u32],
    read: &ReadPlan,
    named: &mut Vec<(Arc<str>, Vec<f64>)>,
) {
    for (entry, cost) in stage.costs.iter().enumerate() {
        if run.counts(entry) && read.reads_cost(&cost.name) {
            let raw = slots.iter().filter_map(|slot| run.row(*slot));
            named.push((
                cost.name.clone(),
                raw.map(|row| run.raw(entry, row)).collect(),
            ));
        }
    }
}

type Refined = Result<(Shares, Vec<u32>), placewright_engine::unit::Fault>;

fn ask(
    selection: &Selection,
    candidates: &Candidates,
    asker: &mut Asker<'_>,
) -> Result<Refined, DecisionError> {
    let step = &selection.step;
    let began = Instant::now();
    let limit = asker.left(&step.name)?;
    let context = Context {
        candidates: Some(candidates),
        ..asker.context(&step.settings)
    };
    let (call, slots) = step.tables(context, candidates.slots.clone())?;
    let memory = Cell::new(0);
    let answer = step.ask(limit, |instance, limit| {
        let shares = instance.refine(&call, slots.len(), limit);
        memory.set(memory.get().max(instance.memory()));
        shares
    });
    asker.took(step, slots.len(), began.elapsed(), memory.get());
    match answer {
        Ok(shares) => Ok(Ok((shares, slots))),
        Err(fault) if fault.is_refusal() => Err(step.refusal(fault)),
        Err(fault) => Ok(Err(fault)),
    }
}

/// The groups of an answer, in rows of the stage.
fn regrouped(shares: &Shares, slots: &[u32], run: &StageRun) -> Groups {
    let member = |place: usize| {
        let slot = slots[shares.rows[place] as usize];
        Some(Share {
            row: u32::try_from(run.row(slot)?).ok()?,
            share: shares.shares[place] + 0.0,
        })
    };
    let bounds = shares.groups.windows(2);
    bounds
        .map(|bounds| (bounds[0] as usize..bounds[1] as usize).filter_map(member))
        .map(Iterator::collect)
        .collect()
}

/// The candidates of least cost.
fn best(run: &StageRun, groups: &Groups) -> Vec<u32> {
    cheapest(
        run,
        groups.iter().flatten().map(|member| member.row).collect(),
    )
}

/// Those of the rows that cost least.
fn cheapest(run: &StageRun, rows: Vec<u32>) -> Vec<u32> {
    let compare = |a: &u32, b: &u32| run.compare(*a, *b);
    let Some(least) = rows.iter().copied().min_by(compare) else {
        return rows;
    };
    rows.into_iter()
        .filter(|row| run.compare(*row, least).is_eq())
        .collect()
}

/// Leave those that go on to the next stage: of selections the first group that is
/// live, of `keep = "best"` the cheapest.
pub(super) fn pass_on(stage: &Stage, run: &mut StageRun) {
    if let Some(groups) = run.refined.last() {
        let live = groups.iter().find(|group| is_live(group));
        let mut rows: Vec<u32> = live
            .into_iter()
            .flatten()
            .filter(|member| member.share > 0.0)
            .map(|member| member.row)
            .collect();
        rows.sort_unstable();
        run.pass(rows);
    }
    match (stage.keep, run.refined.is_empty()) {
        (Keep::All, _) => {}
        (Keep::Best, true) => {
            let best = run.best.iter();
            run.pass(best.map(|survivor| run.survivor_row(*survivor)).collect());
        }
        (Keep::Best, false) => {
            let rows: Vec<u32> = run.passed_rows();
            run.pass(cheapest(run, rows));
        }
    }
}

fn is_live(group: &[Share]) -> bool {
    group.iter().any(|member| member.share > 0.0)
}

/// Draw from the first live group: in listed order the first candidate whose share
/// takes the running sum above `draw`. The row, and how many could be drawn.
pub(super) fn draw(
    groups: &Groups,
    draw: f64,
    run: &StageRun,
    inventory: &Inventory,
) -> Option<(u32, usize)> {
    let mut live: Vec<Share> = groups
        .iter()
        .find(|group| is_live(group))?
        .iter()
        .copied()
        .filter(|member| member.share > 0.0)
        .collect();
    let listed = inventory
        .column_index("listed")
        .map_or(&[][..], |index| inventory.column(index).integers());
    live.sort_by_key(|member| {
        let slot = run.slot(member.row as usize) as usize;
        listed.get(slot).copied().unwrap_or(0)
    });
    let mut sum = 0.0;
    let drawn = live.iter().find(|member| {
        sum += member.share;
        draw < sum
    });
    // Rounding may leave the sum a little below 1.
    let drawn = drawn.or(live.last())?;
    Some((drawn.row, live.len()))
}
