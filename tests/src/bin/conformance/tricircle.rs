//! Tricircle's dynamic pod binding: pods are hosts, a case's settings are a policy,
//! and its events are replayed one after the other.

mod case;
mod compare;
mod event;
mod pods;
mod policy;
mod replay;
mod step;

use serde_json::Value;

use super::report::Report;
use super::units::Units;
use super::vectors::{self, VectorFile};
use case::{Case, Out};
use compare::Difference;
use replay::Replay;

/// Run the cases of a file.
pub(crate) fn run(file: &VectorFile, units: &Units, report: &mut Report) {
    for (line, value) in &file.cases {
        let id = vectors::id(*line, value);
        let kind = value.get("kind").and_then(Value::as_str);
        let kind = kind.unwrap_or("of no kind");
        match differences(value, units) {
            Ok(differences) => report.case(file, kind, &id, differences),
            Err(why) => report.broken(file, kind, &id, why),
        }
    }
}

/// What differs, under each policy that says what the case's settings say.
fn differences(value: &Value, units: &Units) -> Result<Vec<Difference>, String> {
    let case: Case = vectors::read(value)?;
    case.check()?;
    let mut differences = Vec::new();
    for policy in policy::policies(&case.given.cfg)? {
        let answer = answer(&case, &policy.text, units)
            .map_err(|why| format!("with {}: {why}", policy.name))?;
        let found = compare::differences(&case.out, &answer).into_iter();
        differences.extend(
            found.map(|(what, expected, got)| {
                (format!("{what}, with {}", policy.name), expected, got)
            }),
        );
    }
    Ok(differences)
}

/// All that the policy makes of the case.
fn answer(case: &Case, policy: &str, units: &Units) -> Result<Out, String> {
    let inventory = pods::inventory(&case.given)?;
    let scheduler = units.scheduler(inventory, policy)?;
    let mut replay = Replay::new(scheduler, &case.given);
    let mut steps = Vec::with_capacity(case.given.events.len());
    for (number, event) in case.given.events.iter().enumerate() {
        let step = replay.event(number, event);
        steps.push(step.map_err(|why| format!("in.events[{number}]: {why}"))?);
    }
    Ok(Out {
        steps,
        bindings: replay.bindings(),
    })
}
