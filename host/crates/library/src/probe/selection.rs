//! Tries a selection out.

use std::collections::BTreeMap;

use super::alike::same_up_to_rounding;
use super::once::{self, Once};
use super::random::Random;
use super::report::Findings;
use super::sample::Variety;
use super::tables::Tables;
use super::time;
use placewright_engine::contract::{Call, Description, Part, Position, Shares};
use placewright_engine::unit::{Fault, Instance, Unit};

pub(super) enum Selection {}

impl Once for Selection {
    const PART: Part = Part::Selection;
    const ANSWERS: &'static str = "answers for made-up candidates";
    const OTHER: &'static str = "other groups or shares";
    type Answer = Shares;

    /// The first selection of a stage starts from one group.
    fn variety(variety: Variety, description: &Description) -> Variety {
        let part = description.selection.as_ref();
        let is_first = part.is_some_and(|part| part.position == Position::First);
        Variety {
            grouped: !is_first,
            ..variety
        }
    }

    fn ask(
        instance: &mut Instance,
        call: &Call,
        tables: &Tables,
        unit: &Unit,
    ) -> Result<Shares, Fault> {
        instance.refine(call, tables.candidates(), time(unit))
    }

    fn same(one: &Shares, other: &Shares) -> bool {
        one == other
    }
}

pub(super) fn probe(unit: &Unit, seed: u64, random: &mut Random, findings: &mut Findings) {
    if let Some(mut trial) = once::probe::<Selection>(unit, seed, random, findings) {
        findings.tried(
            Part::Selection,
            "answers the same in whatever order the candidates are",
            order(&mut trial, random),
        );
    }
}

fn order(trial: &mut once::Trial<'_, Selection>, random: &mut Random) -> Result<(), String> {
    let asked: Vec<_> = trial
        .asked()
        .map(|(tables, answer)| (tables.clone(), answer.clone()))
        .collect();
    for (tables, expected) in asked {
        let rows = random.permutation(tables.candidates());
        match (expected, trial.ask(&tables.with_hosts(&rows))?) {
            (Ok(expected), Ok(got)) => {
                same(&standings(&expected, None), &standings(&got, Some(&rows)))?;
            }
            // The sentence may name the first candidate that is at fault.
            (Err(_), Err(_)) => {}
            (Ok(_), Err(why)) => return Err(format!("it answered and then refused (\"{why}\")")),
            (Err(why), Ok(_)) => return Err(format!("it refused (\"{why}\") and then answered")),
        }
    }
    Ok(())
}

/// By candidate: the number of its group, and its share.
type Standings = BTreeMap<usize, (usize, f64)>;

/// Where each candidate stands; `rows` says which candidate each row is, if the rows
/// were put in another order.
fn standings(shares: &Shares, rows: Option<&[usize]>) -> Standings {
    let candidate = |row: u32| match rows {
        Some(rows) => rows[row as usize],
        None => row as usize,
    };
    let mut standings = Standings::new();
    for (group, bounds) in shares.groups.windows(2).enumerate() {
        for place in bounds[0] as usize..bounds[1] as usize {
            let standing = (group, shares.shares[place]);
            standings.insert(candidate(shares.rows[place]), standing);
        }
    }
    standings
}

/// Shares may differ by rounding: sums over candidates depend on their order.
fn same(expected: &Standings, got: &Standings) -> Result<(), String> {
    for candidate in expected.keys().chain(got.keys()) {
        let (one, other) = (expected.get(candidate), got.get(candidate));
        let same = match (one, other) {
            (Some((group, share)), Some((other_group, other_share))) => {
                group == other_group && same_up_to_rounding(*share, *other_share)
            }
            (one, other) => one == other,
        };
        if !same {
            return Err(format!(
                "candidate {candidate} stood {} and then {}",
                shown(one),
                shown(other)
            ));
        }
    }
    Ok(())
}

fn shown(standing: Option<&(usize, f64)>) -> String {
    match standing {
        Some((group, share)) => format!("in group {group} with the share {share}"),
        None => "in no group".to_owned(),
    }
}
