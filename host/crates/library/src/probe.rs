//! Tries a unit out on made-up tables: does it answer, and does it keep to what
//! it says of itself?
//!
//! What a probe finds is certain; what it does not find may still be wrong, so
//! that kept answers are compared with fresh ones in service too. The same unit
//! and seed give the same report, in an engine with
//! [`Limits::reproducible`](placewright_engine::Limits::reproducible).

mod advice;
mod alike;
mod balance;
mod candidates;
mod effects;
mod explain;
mod judge;
mod made_up;
mod once;
mod order;
mod random;
mod report;
mod sample;
mod selection;
mod tables;
mod values;

/// What the probes are: to be counted up when they find other things than before,
/// so that verdicts of before are not relied on.
pub const VERSION: u32 = 1;

pub use made_up::MadeUp;
pub use report::{Advice, Fuel, Outcome, Report, Step};

use std::time::Duration;

use balance::Balance;
use effects::Effects;
use explain::Explain;
use order::Order;
use placewright_engine::contract::Part;
use placewright_engine::unit::{Instance, Unit};
use random::Random;
use report::Findings;
use sample::Variety;

/// Try all parts of `unit` out. `seed` decides what the tables hold.
///
/// Takes some hundred calls of each part. A unit that fails is a finding and not
/// an error.
pub fn probe(unit: &Unit, seed: u64) -> Report {
    run(unit, Findings::of(unit, seed))
}

/// The same, but begin no further claim after so long. What was not tried says so.
pub fn probe_within(unit: &Unit, seed: u64, budget: Duration) -> Report {
    run(unit, Findings::of(unit, seed).within(budget))
}

fn run(unit: &Unit, mut findings: Findings) -> Report {
    let seed = findings.seed();
    describe(unit, &mut findings);
    for part in Part::ALL.into_iter().filter(|part| unit.has(*part)) {
        if findings.has_time(part, "answers what is made up") {
            try_part(unit, part, seed, &mut findings);
        }
    }
    findings.report()
}

fn try_part(unit: &Unit, part: Part, seed: u64, findings: &mut Findings) {
    let mut random = Random::new(seed);
    match part {
        Part::Unit => {}
        Part::Judge => judge::probe(unit, seed, findings),
        Part::Selection => selection::probe(unit, seed, &mut random, findings),
        Part::Effects => drop(once::probe::<Effects>(unit, seed, &mut random, findings)),
        Part::Balance => drop(once::probe::<Balance>(unit, seed, &mut random, findings)),
        Part::Order => drop(once::probe::<Order>(unit, seed, &mut random, findings)),
        Part::Explain => drop(once::probe::<Explain>(unit, seed, &mut random, findings)),
        Part::Settings => settings(unit, seed, findings),
    }
}

fn describe(unit: &Unit, findings: &mut Findings) {
    let again = || {
        let mut instance = unit
            .instantiate_beside_decisions(Part::Unit)
            .map_err(sentence)?;
        for _ in 0..2 {
            if instance.describe(time(unit)).map_err(sentence)? != *unit.description() {
                return Err("it described itself differently".to_owned());
            }
        }
        Ok(())
    };
    findings.tried(Part::Unit, "describes itself the same every time", again());
}

fn settings(unit: &Unit, seed: u64, findings: &mut Findings) {
    const CLAIM: &str = "accepts its own defaults";
    let reads = sample::all_settings(unit.description());
    // Settings that are tables have no rows where nothing is said.
    let defaults = Variety {
        nested: 0,
        ..Variety::default()
    };
    let description = unit.description();
    let made = sample::make(description, &reads, defaults, &mut Random::new(seed));
    let tables = match made {
        Ok(tables) => tables,
        Err(why) => return findings.not_applicable(Part::Settings, CLAIM, &why),
    };
    let check = || -> Result<(), String> {
        let mut instance = unit
            .instantiate_beside_decisions(Part::Settings)
            .map_err(sentence)?;
        let call = tables.encode(seed);
        instance.check_settings(&call, time(unit)).map_err(sentence)
    };
    findings.tried(Part::Settings, CLAIM, check());
}

/// An instance to ask again and again, replaced after a trap.
struct Warm<'a> {
    unit: &'a Unit,
    part: Part,
    instance: Option<Instance>,
}

impl<'a> Warm<'a> {
    fn new(unit: &'a Unit, part: Part) -> Self {
        Self {
            unit,
            part,
            instance: None,
        }
    }

    fn instance(&mut self) -> Result<&mut Instance, String> {
        if self.instance.as_ref().is_some_and(Instance::is_poisoned) {
            self.instance = None;
        }
        match self.instance {
            Some(ref mut instance) => Ok(instance),
            None => {
                let instance = self
                    .unit
                    .instantiate_beside_decisions(self.part)
                    .map_err(sentence)?;
                Ok(self.instance.insert(instance))
            }
        }
    }
}

/// The time that each call may take.
fn time(unit: &Unit) -> Duration {
    unit.engine().limits().time
}

fn sentence(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
