//! Vectors of Flexiant Cloud Orchestrator's Affinity algorithm.
//!
//! Every case goes through the policy `flexiant` that comes with the program, with
//! the case's settings in the place of its own, or through `flexiant-local-storage`.
//! What is compared is what decisions, their explanations and the inventory say.

mod compared;
mod explained;
mod form;
mod life;
mod place;
mod policy;
mod shown;
mod world;

use serde_json::Value;

use super::report::Report;
use super::units::Units;
use super::vectors::{self, VectorFile};
use compared::Compared;

/// Run the cases of a file.
pub(crate) fn run(file: &VectorFile, units: &Units, report: &mut Report) {
    for (line, case) in &file.cases {
        let id = vectors::id(*line, case);
        let kind = case.get("kind").and_then(Value::as_str).unwrap_or("?");
        match compare(kind, case, units) {
            Ok(compared) => report.case(file, kind, &id, compared.differences()),
            Err(why) => report.broken(file, kind, &id, why),
        }
    }
}

/// How what comes out differs from what the case says.
///
/// # Errors
/// Why the case cannot be run.
fn compare(kind: &str, case: &Value, units: &Units) -> Result<Compared, String> {
    match kind {
        "compile" => explained::compile(case, units),
        "special" => explained::special(case, units),
        "thresholds" => explained::thresholds(case, units),
        "constraint" => explained::constraint(case, units),
        "place" => place::compare(case, units),
        "life" => life::compare(case, units),
        _ => Err(format!(
            "field kind: \"{kind}\" is no kind of case; there are compile, special, thresholds, constraint, place and life"
        )),
    }
}
