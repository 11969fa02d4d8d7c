//! What was found when a unit was tried out.

use std::time::{Duration, Instant};

use serde::Serialize;

use placewright_engine::contract::Part;
use placewright_engine::unit::{Digest, Unit};

/// What was found when a unit was tried out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the unit.
    pub unit: String,
    /// Its version.
    pub version: String,
    /// The digest of its component.
    pub digest: Digest,
    /// What the tables were made from.
    pub seed: u64,
    /// What was tried, in order.
    pub steps: Vec<Step>,
    /// What calls cost, where the engine counts fuel.
    pub fuel: Vec<Fuel>,
    /// What is not wrong and could be better.
    pub advice: Vec<Advice>,
}

impl Report {
    /// Whether nothing failed.
    pub fn passed(&self) -> bool {
        self.failed().next().is_none()
    }

    /// Whether the time sufficed to try everything.
    pub fn is_complete(&self) -> bool {
        self.steps
            .iter()
            .all(|step| step.outcome != Outcome::OutOfTime)
    }

    /// The steps that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Step> {
        self.steps
            .iter()
            .filter(|step| matches!(step.outcome, Outcome::Failed { .. }))
    }
}

/// One claim that was tried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Whose claim it is.
    pub part: Part,
    /// Completes the sentence "the part ...".
    pub claim: &'static str,
    /// What came out.
    pub outcome: Outcome,
}

/// What came out of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Outcome {
    /// The claim holds for everything that was tried.
    Ok,
    /// It does not hold.
    Failed {
        /// What was seen.
        why: String,
    },
    /// It could not be tried, or makes no sense for this unit.
    NotApplicable {
        /// Why not.
        why: String,
    },
    /// It was not tried, since the time for it was up.
    OutOfTime,
}

/// What could be better in a part that does what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Which part.
    pub part: Part,
    /// What was seen, what it costs, and what to do, in a sentence.
    pub sentence: String,
}

/// What a call of a part costs, in fuel: about one for each instruction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fuel {
    /// Which part.
    pub part: Part,
    /// A call without hosts, or with the only one that there can be.
    pub call: u64,
    /// Each host on top of it.
    pub host: f64,
}

/// A report that is being made.
pub(super) struct Findings {
    report: Report,
    /// When no further claim is begun.
    ends: Option<Instant>,
}

impl Findings {
    pub(super) fn of(unit: &Unit, seed: u64) -> Self {
        let report = Report {
            unit: unit.name().to_owned(),
            version: unit.description().version.clone(),
            digest: unit.digest(),
            seed,
            steps: Vec::new(),
            fuel: Vec::new(),
            advice: Vec::new(),
        };
        Self { report, ends: None }
    }

    pub(super) fn within(self, budget: Duration) -> Self {
        let ends = Instant::now().checked_add(budget);
        Self { ends, ..self }
    }

    pub(super) fn seed(&self) -> u64 {
        self.report.seed
    }

    /// Whether there is time to try the claim; if not, that is noted.
    pub(super) fn has_time(&mut self, part: Part, claim: &'static str) -> bool {
        let has_time = self.ends.is_none_or(|ends| Instant::now() < ends);
        if !has_time {
            self.report.steps.push(Step {
                part,
                claim,
                outcome: Outcome::OutOfTime,
            });
        }
        has_time
    }

    /// Note a step that was tried, and whether it went well.
    pub(super) fn tried(&mut self, part: Part, claim: &'static str, result: Result<(), String>) {
        let outcome = match result {
            Ok(()) => Outcome::Ok,
            Err(why) => Outcome::Failed { why },
        };
        self.report.steps.push(Step {
            part,
            claim,
            outcome,
        });
    }

    pub(super) fn not_applicable(&mut self, part: Part, claim: &'static str, why: &str) {
        let why = why.to_owned();
        self.report.steps.push(Step {
            part,
            claim,
            outcome: Outcome::NotApplicable { why },
        });
    }

    /// Whether there is time for what decides nothing.
    pub(super) fn is_unhurried(&self) -> bool {
        self.ends.is_none()
    }

    pub(super) fn advise(&mut self, part: Part, sentence: String) {
        self.report.advice.push(Advice { part, sentence });
    }

    pub(super) fn fuel(&mut self, fuel: Fuel) {
        self.report.fuel.push(fuel);
    }

    pub(super) fn report(self) -> Report {
        self.report
    }
}
