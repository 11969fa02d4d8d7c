//! Draws that are left to the scheduler: it decides again and again with draws of its
//! own, which follow from a fixed seed, and counts must fit the chances.

use std::collections::BTreeMap;

use serde_json::Value;

use super::differences::Differences;
use super::stack::{Answer, Case};
use crate::units::Units;

/// What the report calls it.
pub(super) const KIND: &str = "stack, drawn 20,000 times";

/// One case of each of these families is drawn: some candidates without a chance, and
/// unequal chances in a group of several.
const FAMILIES: [&str; 2] = ["drained", "many-matches"];

/// How often it draws.
const DRAWS: u32 = 20_000;

/// How many standard deviations a frequency may be off.
const DEVIATIONS: f64 = 5.0;

/// The first case of each family of which some are drawn.
pub(super) fn chosen(cases: &[(usize, Value)]) -> impl Iterator<Item = (usize, &Value)> {
    FAMILIES.into_iter().filter_map(move |family| {
        let first = cases.iter().find(|(_, case)| {
            case.get("family").and_then(Value::as_str) == Some(family)
                && case.pointer("/out/draw_group").is_some_and(Value::is_u64)
        });
        first.map(|(line, case)| (*line, case))
    })
}

/// Run a case.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(value: &Value, units: &Units) -> Result<Differences, String> {
    let case = Case::read(value)?;
    let answer = Answer::read(value)?;
    let mut scheduler = case.scheduler(units)?;
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..DRAWS {
        let decision = case.place(&mut scheduler, None)?;
        let host = decision.host.as_ref().ok_or("a draw found no host")?;
        *counts.entry(host.to_string()).or_default() += 1;
    }
    let mut differences = Differences::default();
    for (id, p) in answer.chances() {
        let count = counts.remove(id).unwrap_or(0);
        let frequency = f64::from(count) / f64::from(DRAWS);
        let most = DEVIATIONS * (p * (1.0 - p) / f64::from(DRAWS)).sqrt();
        if (frequency - p).abs() > most {
            let expected = format!("{p} ± {most}");
            differences.add(
                &format!("frequency of {id}"),
                expected,
                frequency.to_string(),
            );
        }
    }
    for (id, count) in counts {
        differences.add(&format!("draws of {id}"), "0", count.to_string());
    }
    Ok(differences)
}
