//! Pacemaker's placement strategies: nodes are hosts, resources are VMs, and all VMs
//! are planned as one batch from nothing, under the policy of the case's strategy.
//!
//! Cases with groups and colocations are read and checked, but not run: those of the
//! vectors are an option, and no policy says what Pacemaker does with them.

mod case;
mod check;
mod cluster;
mod plan;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::report::Report;
use super::units::Units;
use super::vectors::{self, VectorFile};
use case::{Case, Kind};
use plan::{Difference, Planned};

/// Run the cases of a file.
pub(crate) fn run(file: &VectorFile, units: &Units, report: &mut Report) {
    let mut ids = BTreeSet::new();
    let mut left: BTreeMap<Kind, Vec<String>> = BTreeMap::new();
    for (line, value) in &file.cases {
        let id = vectors::id(*line, value);
        let word = value.get("kind").and_then(Value::as_str);
        let word = word.unwrap_or(Kind::default().word());
        if !ids.insert(id.clone()) {
            let why = format!("field id: a second case \"{id}\"");
            report.broken(file, word, &id, why);
            continue;
        }
        match read(value) {
            Err(why) => report.broken(file, word, &id, why),
            Ok(case) if case.kind == Kind::Primitive => {
                note(file, &id, outcome(&case, units), report);
            }
            Ok(case) => left.entry(case.kind).or_default().push(id),
        }
    }
    for (kind, ids) in left {
        let (count, all) = (ids.len(), file.cases.len());
        let why = format!(
            "{count} of its {all} cases, those of kind {}: {}",
            kind.word(),
            ids.join(", ")
        );
        report.not_covered(file, &why);
    }
}

fn read(value: &Value) -> Result<Case, String> {
    let case: Case = vectors::read(value)?;
    case.check()?;
    Ok(case)
}

/// What differs in places, and in the reasons where something stays stopped.
type Outcome = (Vec<Difference>, Option<Vec<Difference>>);

fn outcome(case: &Case, units: &Units) -> Result<Outcome, String> {
    let planned = Planned::of(case, units)?;
    let places = planned.compare(case)?;
    Ok((places, reasons::compare(case, &planned)?))
}

fn note(file: &VectorFile, id: &str, outcome: Result<Outcome, String>, report: &mut Report) {
    let kind = Kind::Primitive.word();
    match outcome {
        Ok((places, reasons)) => {
            report.case(file, kind, id, places);
            if let Some(reasons) = reasons {
                report.case(file, reasons::KIND, id, reasons);
            }
        }
        Err(why) => report.broken(file, kind, id, why),
    }
}
