//! Aeolus Conductor: stacks of selections as they were described (kind `stack`), and
//! the strategies that the program shipped (kind `conductor`).
//!
//! A stack becomes a policy document and its matches hosts of a cluster; then the
//! scheduler decides with the draws of the vector, as dry runs.

mod cluster;
mod conductor;
mod differences;
mod drawing;
mod nullable;
mod policy;
mod stack;

use serde_json::Value;

use super::report::Report;
use super::units::Units;
use super::vectors::{VectorFile, id};
use differences::Differences;

/// Run the cases of a file.
pub(crate) fn run(file: &VectorFile, units: &Units, report: &mut Report) {
    for (line, case) in &file.cases {
        let id = id(*line, case);
        let kind = case.get("kind").and_then(Value::as_str).unwrap_or("none");
        let outcome = match kind {
            "stack" => stack::run(case, units),
            "conductor" => conductor::run(case, units),
            _ => Err("field kind: must be \"stack\" or \"conductor\"".to_owned()),
        };
        note(file, kind, &id, outcome, report);
    }
    for (line, case) in drawing::chosen(&file.cases) {
        let outcome = drawing::run(case, units);
        note(file, drawing::KIND, &id(line, case), outcome, report);
    }
}

fn note(
    file: &VectorFile,
    kind: &str,
    id: &str,
    outcome: Result<Differences, String>,
    report: &mut Report,
) {
    match outcome {
        Ok(differences) => report.case(file, kind, id, differences.into_list()),
        Err(why) => report.broken(file, kind, id, why),
    }
}
