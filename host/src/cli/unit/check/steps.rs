//! What came out for one file, step by step.

use std::path::Path;

use placewright_engine::unit::Digest;
use placewright_library::probe::Report;
use placewright_library::stage::{Examination, Outcome, StepOutcome};
use serde::Serialize;

use crate::cli::output;

/// What came out for one file.
#[derive(Serialize)]
pub(in crate::cli::unit) struct Checked {
    pub(super) file: String,
    pub(in crate::cli::unit) passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    pub(super) digest: Digest,
    /// Why it would be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    pub(super) steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<Report>,
}

/// One line of what was done.
#[derive(Serialize)]
pub(super) struct Step {
    pub(super) step: String,
    pub(super) result: Verdict,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) sentence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Passed,
    Skipped,
    Failed,
    /// Nothing is wrong, and something could be better.
    Advice,
}

impl Checked {
    /// What came out for a file of so many bytes.
    pub(super) fn new(file: &Path, size: usize, examined: Examination) -> Self {
        let Examination { staging, report } = examined;
        let size = output::bytes(i64::try_from(size).unwrap_or(i64::MAX));
        let read = Step::new("read", Verdict::Passed, size);
        let taken = staging.steps.iter().map(|report| {
            let (result, sentence) = match &report.outcome {
                StepOutcome::Passed { note } => (Verdict::Passed, note.clone().unwrap_or_default()),
                StepOutcome::Skipped { why } => (Verdict::Skipped, why.clone()),
                StepOutcome::Failed { why } => (Verdict::Failed, why.clone()),
            };
            Step::new(&report.step.to_string(), result, sentence)
        });
        let advice = report.iter().flat_map(|report| &report.advice);
        let advice = advice.map(|advice| {
            let sentence = format!("{}: {}", advice.part, advice.sentence);
            Step::new("advice", Verdict::Advice, sentence)
        });
        let error = match &staging.outcome {
            Outcome::Refused { why, .. } => Some(why.clone()),
            _ => None,
        };
        Self {
            file: file.display().to_string(),
            passed: error.is_none(),
            digest: staging.digest,
            steps: [read].into_iter().chain(taken).chain(advice).collect(),
            name: staging.name,
            version: staging.version,
            error,
            report,
        }
    }
}

impl Step {
    fn new(step: &str, result: Verdict, sentence: String) -> Self {
        Self {
            step: step.to_owned(),
            result,
            sentence,
        }
    }
}

/// Of several units of one name, only one can be in force: fail all but the first.
pub(super) fn refuse_second_of_a_name(checked: &mut [Checked]) {
    for at in 1..checked.len() {
        let (before, rest) = checked.split_at_mut(at);
        let Some(second) = rest.first_mut() else {
            continue;
        };
        let first = before.iter().find(|first| {
            first.name.is_some() && first.name == second.name && first.digest != second.digest
        });
        let (Some(first), Some(name)) = (first, &second.name) else {
            continue;
        };
        let why = format!(
            "{} and {} are different units and both call themselves \"{name}\": rename or remove one of them",
            first.file, second.file
        );
        second
            .steps
            .push(Step::new("name", Verdict::Failed, why.clone()));
        second.passed = false;
        second.error.get_or_insert(why);
    }
}
