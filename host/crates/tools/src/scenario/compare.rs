//! What came out, held against what is expected.

use std::sync::Arc;

use serde::Serialize;

use super::expect::{Expected, ExpectedHost, NONE};
use super::moves::{ExpectedMove, MoveOutcome};
use super::outcome::{HostOutcome, Outcome};

/// Costs that differ by less than this share of the greater one are equal: sums round.
const TOLERANCE: f64 = 1e-9;

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The host that it is about; none if it is about the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Arc<str>>,
    /// The key of the scenario file that says what is expected.
    pub what: String,
    /// What the scenario expects.
    pub expected: String,
    /// What came out.
    pub got: String,
}

/// All differences: those of the decision first, then those of hosts by their ids. Where
/// there is no decision, nothing else is compared.
pub(super) fn compare(expected: &Expected, outcome: &Outcome) -> Vec<Difference> {
    let mut differences = Differences {
        host: None,
        list: Vec::new(),
    };
    error(expected, outcome, &mut differences);
    if let (Some(expected), Some(got)) = (&expected.moves, &outcome.moves) {
        moves(expected, got, &mut differences);
    }
    if outcome.explanation.is_none() && (expected.error.is_none() || !differences.list.is_empty()) {
        return differences.list;
    }
    if let Some(chosen) = &expected.chosen {
        let shown = |host: &Option<Arc<str>>| host.as_deref().unwrap_or(NONE).to_owned();
        differences.of("chosen", shown(chosen), shown(&outcome.chosen));
    }
    for (id, expected) in &expected.hosts {
        differences.host = Some(id.clone());
        match outcome.hosts.get(id) {
            Some(got) => host(expected, got, &mut differences),
            None => differences.add("keep", "something".to_owned(), "no decision".to_owned()),
        }
    }
    differences.list
}

fn error(expected: &Expected, outcome: &Outcome, differences: &mut Differences) {
    let got = match outcome.errors.is_empty() {
        true => NONE.to_owned(),
        false => outcome.errors.join("\n"),
    };
    match &expected.error {
        Some(text) if outcome.errors.iter().any(|error| error.contains(&**text)) => {}
        Some(text) => differences.add("error", format!("one that contains \"{text}\""), got),
        None if outcome.errors.is_empty() => {}
        None => differences.add("error", NONE.to_owned(), got),
    }
}

fn moves(expected: &[ExpectedMove], got: &[MoveOutcome], differences: &mut Differences) {
    let mut pairs = expected.iter().zip(got);
    if expected.len() != got.len() || !pairs.all(|(expected, got)| expected.is(got)) {
        differences.add("moves", lines(expected), lines(got));
    }
}

fn lines(moves: &[impl ToString]) -> String {
    let moves: Vec<String> = moves.iter().map(ToString::to_string).collect();
    match moves.is_empty() {
        true => NONE.to_owned(),
        false => moves.join("\n"),
    }
}

fn host(expected: &ExpectedHost, got: &HostOutcome, differences: &mut Differences) {
    let text = |text: Option<&str>| text.unwrap_or(NONE).to_owned();
    if let Some(keep) = expected.keep {
        differences.of("keep", keep.to_string(), got.keep.to_string());
    }
    if let Some(reason) = &expected.reason {
        differences.of("reason", text(Some(reason)), text(got.reason.as_deref()));
    }
    if let Some(passing) = expected.passing {
        differences.of("passing", passing.to_string(), got.passing.to_string());
    }
    if let Some(by) = &expected.by {
        differences.of("by", text(Some(by)), text(got.by.as_deref()));
    }
    if let Some(cost) = expected.cost {
        differences.number("cost", cost, got.cost);
    }
    for (entry, cost) in &expected.costs {
        let what = format!("costs.{entry}");
        differences.number(&what, *cost, got.costs.get(entry).copied());
    }
    if let Some(sum) = &expected.sum {
        let is_equal = sum.len() == got.sum.len()
            && sum.iter().zip(&got.sum).all(|(sum, got)| equal(*sum, *got));
        if !is_equal {
            differences.add("sum", numbers(sum), numbers(&got.sum));
        }
    }
    if let Some(group) = expected.group {
        let got = got.group.map_or(NONE.to_owned(), |group| group.to_string());
        differences.of("group", group.to_string(), got);
    }
    if let Some(share) = expected.share {
        differences.number("share", share, got.share);
    }
}

fn numbers(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    match numbers.is_empty() {
        true => NONE.to_owned(),
        false => numbers.join(" / "),
    }
}

fn equal(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= TOLERANCE * one.abs().max(other.abs())
}

struct Differences {
    /// The host that is looked at.
    host: Option<Arc<str>>,
    list: Vec<Difference>,
}

impl Differences {
    fn add(&mut self, what: &str, expected: String, got: String) {
        self.list.push(Difference {
            host: self.host.clone(),
            what: what.to_owned(),
            expected,
            got,
        });
    }

    /// A difference, if the two are not the same.
    fn of(&mut self, what: &str, expected: String, got: String) {
        if expected != got {
            self.add(what, expected, got);
        }
    }

    /// A difference, if the two are not equal.
    fn number(&mut self, what: &str, expected: f64, got: Option<f64>) {
        if !got.is_some_and(|got| equal(expected, got)) {
            let got = got.map_or(NONE.to_owned(), |got| got.to_string());
            self.add(what, expected.to_string(), got);
        }
    }
}
