//! Tries a balance part out.

use super::random::Random;
use super::report::{Findings, Fuel};
use super::sample::{self, Variety};
use super::tables::Tables;
use super::{Warm, sentence, time};
use crate::contract::{Part, Proposal, TableRead};
use crate::unit::{Instance, Unit};

const PART: Part = Part::Balance;
const ANSWERS: &str = "answers for made-up clusters";

type Proposed = Result<Vec<Proposal>, String>;

pub(super) fn probe(unit: &Unit, seed: u64, findings: &mut Findings) {
    let Some(part) = &unit.description().balance else {
        return;
    };
    let mut random = Random::new(seed);
    let samples: Result<Vec<Tables>, String> = Variety::all()
        .into_iter()
        .map(|variety| make(unit, &part.reads, variety, &mut random))
        .collect();
    let samples = match samples {
        Ok(samples) => samples,
        Err(why) => return findings.not_applicable(PART, ANSWERS, &why),
    };
    let mut warm = Warm::new(unit, PART);
    let mut answers = Vec::new();
    let mut first = || -> Result<(), String> {
        for tables in &samples {
            answers.push(ask(warm.instance()?, unit, tables, seed)?);
        }
        Ok(())
    };
    let outcome = first();
    let answered = outcome.is_ok();
    findings.tried(PART, ANSWERS, outcome);
    if !answered {
        return;
    }
    let asked: Vec<_> = samples.iter().zip(&answers).collect();
    findings.tried(
        PART,
        "answers the same when it is asked again",
        again(&mut warm, unit, &asked, seed),
    );
    findings.tried(
        PART,
        "answers the same in a fresh instance",
        fresh(unit, &asked, seed),
    );
    findings.tried(
        PART,
        "answers the same whatever the codes of texts are",
        again(&mut warm, unit, &asked, seed.wrapping_add(1)),
    );
    if unit.engine().limits().fuel.is_some() {
        let fuel = fuel(&mut warm, unit, &part.reads, seed, &mut random);
        fuel.into_iter().for_each(|fuel| findings.fuel(fuel));
    }
}

fn make(
    unit: &Unit,
    reads: &[TableRead],
    variety: Variety,
    random: &mut Random,
) -> Result<Tables, String> {
    sample::make(unit.description(), reads, variety.without_request(), random)
}

/// What is proposed, or why nothing is.
fn ask(
    instance: &mut Instance,
    unit: &Unit,
    tables: &Tables,
    codes: u64,
) -> Result<Proposed, String> {
    match instance.balance(&tables.encode(codes), time(unit)) {
        Ok(proposals) => Ok(Ok(proposals)),
        Err(fault) if fault.is_refusal() => Ok(Err(fault.cause.to_string())),
        Err(fault) => Err(fault.to_string()),
    }
}

fn again(
    warm: &mut Warm<'_>,
    unit: &Unit,
    asked: &[(&Tables, &Proposed)],
    codes: u64,
) -> Result<(), String> {
    for (tables, expected) in asked.iter().chain(asked) {
        same(expected, &ask(warm.instance()?, unit, tables, codes)?)?;
    }
    Ok(())
}

fn fresh(unit: &Unit, asked: &[(&Tables, &Proposed)], codes: u64) -> Result<(), String> {
    for (tables, expected) in asked {
        let mut instance = unit.instantiate(PART).map_err(sentence)?;
        same(expected, &ask(&mut instance, unit, tables, codes)?)?;
    }
    Ok(())
}

fn same(expected: &Proposed, got: &Proposed) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    Err("the same cluster got other proposals".to_owned())
}

fn fuel(
    warm: &mut Warm<'_>,
    unit: &Unit,
    reads: &[TableRead],
    seed: u64,
    random: &mut Random,
) -> Option<Fuel> {
    const HOSTS: usize = 64;
    let mut of = |hosts| {
        let variety = Variety {
            hosts,
            ..Variety::default()
        };
        let tables = make(unit, reads, variety, random).ok()?;
        ask(warm.instance().ok()?, unit, &tables, seed).ok()?.ok()?;
        Some(warm.instance().ok()?.fuel_used())
    };
    let (call, many) = (of(0)?, of(HOSTS)?);
    Some(Fuel {
        part: PART,
        call,
        host: many.saturating_sub(call) as f64 / HOSTS as f64,
    })
}
