//! Tries parts out that are asked once about all of their tables.

use super::random::Random;
use super::report::{Findings, Fuel};
use super::sample::{self, Variety};
use super::tables::Tables;
use super::{Warm, sentence};
use placewright_engine::contract::{Call, Description, Part};
use placewright_engine::unit::{Fault, Instance, Unit};

/// A part that is asked once.
pub(super) trait Once {
    const PART: Part;
    /// What it is asked for, completing "answers ...".
    const ANSWERS: &'static str;
    /// Completes "the same tables got ...".
    const OTHER: &'static str;
    type Answer;

    /// Tables that the runtime could show this part of a unit so described.
    fn variety(variety: Variety, description: &Description) -> Variety;

    /// Ask it. The answer has been checked.
    fn ask(
        instance: &mut Instance,
        call: &Call,
        tables: &Tables,
        unit: &Unit,
    ) -> Result<Self::Answer, Fault>;

    fn same(one: &Self::Answer, other: &Self::Answer) -> bool;
}

/// What was answered, or why the request was refused.
pub(super) type Answered<P> = Result<<P as Once>::Answer, String>;

/// A part that has answered.
pub(super) struct Trial<'a, P: Once> {
    unit: &'a Unit,
    warm: Warm<'a>,
    /// What decides the codes of texts.
    seed: u64,
    /// What was asked and answered first.
    asked: Vec<(Tables, Answered<P>)>,
}

/// Try what holds of every such part. None if it gives no answers to go on with.
pub(super) fn probe<'a, P: Once>(
    unit: &'a Unit,
    seed: u64,
    random: &mut Random,
    findings: &mut Findings,
) -> Option<Trial<'a, P>> {
    let description = unit.description();
    let reads = description.reads(P::PART)?;
    let varieties = Variety::all().map(|variety| P::variety(variety, description));
    let samples: Result<Vec<Tables>, String> = varieties
        .into_iter()
        .map(|variety| sample::make(description, reads, variety, random))
        .collect();
    let samples = match samples {
        Ok(samples) => samples,
        Err(why) => {
            findings.not_applicable(P::PART, P::ANSWERS, &why);
            return None;
        }
    };
    let mut trial = Trial::<P> {
        unit,
        warm: Warm::new(unit, P::PART),
        seed,
        asked: Vec::new(),
    };
    let answers = trial.ask_all(samples);
    let answered = answers.is_ok();
    findings.tried(P::PART, P::ANSWERS, answers);
    if !answered {
        return None;
    }
    if trial.asked.iter().all(|(_, answer)| answer.is_err()) {
        let why = "it refuses all that was made up, so that little could be tried";
        findings.not_applicable(P::PART, "accepts what is made up", why);
    }
    findings.tried(
        P::PART,
        "answers the same when it is asked again",
        trial.again(seed),
    );
    findings.tried(
        P::PART,
        "answers the same in a fresh instance",
        trial.fresh(),
    );
    findings.tried(
        P::PART,
        "answers the same whatever the codes of texts are",
        trial.again(seed.wrapping_add(1)),
    );
    if unit.engine().limits().fuel.is_some() {
        let fuel = trial.fuel(random);
        fuel.into_iter().for_each(|fuel| findings.fuel(fuel));
    }
    Some(trial)
}

impl<'a, P: Once> Trial<'a, P> {
    /// What was asked and answered first.
    pub(super) fn asked(&self) -> impl Iterator<Item = (&Tables, &Answered<P>)> {
        self.asked.iter().map(|(tables, answer)| (tables, answer))
    }

    /// Ask about other tables.
    pub(super) fn ask(&mut self, tables: &Tables) -> Result<Answered<P>, String> {
        ask::<P>(self.warm.instance()?, self.unit, tables, self.seed)
    }

    fn ask_all(&mut self, samples: Vec<Tables>) -> Result<(), String> {
        for tables in samples {
            let answer = self.ask(&tables)?;
            self.asked.push((tables, answer));
        }
        Ok(())
    }

    /// Twice each, with texts in the codes that follow from `codes`.
    fn again(&mut self, codes: u64) -> Result<(), String> {
        for (tables, expected) in self.asked.iter().chain(&self.asked) {
            let got = ask::<P>(self.warm.instance()?, self.unit, tables, codes)?;
            same::<P>(expected, &got)?;
        }
        Ok(())
    }

    fn fresh(&self) -> Result<(), String> {
        for (tables, expected) in &self.asked {
            let mut instance = self
                .unit
                .instantiate_beside_decisions(P::PART)
                .map_err(sentence)?;
            same::<P>(
                expected,
                &ask::<P>(&mut instance, self.unit, tables, self.seed)?,
            )?;
        }
        Ok(())
    }

    /// What a call costs without hosts, and with many if there can be many.
    fn fuel(&mut self, random: &mut Random) -> Option<Fuel> {
        const HOSTS: usize = 64;
        let description = self.unit.description();
        let reads = description.reads(P::PART)?;
        let [few, many] = [0, HOSTS].map(|hosts| {
            let variety = Variety {
                hosts,
                ..Variety::default()
            };
            P::variety(variety, description)
        });
        let mut of = |variety| {
            let tables = sample::make(description, reads, variety, random).ok()?;
            self.ask(&tables).ok()?.ok()?;
            Some(self.warm.instance().ok()?.fuel_used())
        };
        let call = of(few)?;
        let host = match many.hosts > few.hosts {
            true => of(many)?.saturating_sub(call) as f64 / HOSTS as f64,
            false => 0.0,
        };
        Some(Fuel {
            part: P::PART,
            call,
            host,
        })
    }
}

fn ask<P: Once>(
    instance: &mut Instance,
    unit: &Unit,
    tables: &Tables,
    codes: u64,
) -> Result<Answered<P>, String> {
    match P::ask(instance, &tables.encode(codes), tables, unit) {
        Ok(answer) => Ok(Ok(answer)),
        Err(fault) if fault.is_refusal() => Ok(Err(fault.cause.to_string())),
        Err(fault) => Err(fault.to_string()),
    }
}

fn same<P: Once>(expected: &Answered<P>, got: &Answered<P>) -> Result<(), String> {
    let same = match (expected, got) {
        (Ok(expected), Ok(got)) => P::same(expected, got),
        (Err(expected), Err(got)) => expected == got,
        _ => false,
    };
    match same {
        true => Ok(()),
        false => Err(format!("the same tables got {}", P::OTHER)),
    }
}
