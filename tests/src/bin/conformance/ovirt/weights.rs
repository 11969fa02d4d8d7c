//! Weights: a policy with the one cost, and what each host costs.

mod known;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::asking;
use super::document::Document;
use super::input::Input;
use super::outcome::Outcome;
use super::vector::{UnitNamed, Vector};
use crate::units::Units;
use known::Weight;

/// What is expected of a weight: the lower, the better.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    scores: Option<BTreeMap<String, f64>>,
    /// The one host of the lowest.
    best: Option<String>,
    #[serde(default)]
    equal: Vec<[String; 2]>,
    /// The first strictly below the second.
    #[serde(default)]
    less: Vec<[String; 2]>,
    #[serde(default)]
    nonzero: Vec<String>,
    /// As worked out from the rule.
    scores_by_formula: Option<BTreeMap<String, f64>>,
}

impl Expect {
    /// All hosts that are named.
    fn named(&self) -> impl Iterator<Item = &String> {
        let scores = [&self.scores, &self.scores_by_formula]
            .into_iter()
            .flatten();
        let pairs = [&self.equal, &self.less].into_iter().flatten().flatten();
        let one_by_one = self.best.iter().chain(&self.nonzero);
        scores
            .flat_map(BTreeMap::keys)
            .chain(pairs)
            .chain(one_by_one)
    }
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(unit: &UnitNamed, vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Expect = vector.expect()?;
    let mut input: Input = vector.input()?;
    if let Some(stranger) = expect
        .named()
        .find(|id| input.hosts.iter().all(|it| it.id != **id))
    {
        return Err(format!(
            "field expect: host {stranger} is not among input.hosts"
        ));
    }
    let weight = Weight::of(unit)?;
    add_overhead(&mut input);
    let policy = Document {
        costs: vec![weight.entry(&input)?],
        ..Document::default()
    };
    let explanation = asking::explain(&input, &policy, units)?;
    let scores = weight.scores(&asking::stage(&explanation)?.hosts)?;
    Ok(expect.compared_with(&scores))
}

/// A VM needs what it takes beside its own memory as well.
fn add_overhead(input: &mut Input) {
    let overhead = input.vm_overhead_mb.unwrap_or(0);
    for vm in &mut input.vms {
        vm.mem_mb = vm.mem_mb.map(|memory| memory.saturating_add(overhead));
    }
}

impl Expect {
    fn compared_with(&self, scores: &BTreeMap<String, f64>) -> Outcome {
        let mut outcome = Outcome::default();
        let of = |host: &str| scores.get(host).copied().unwrap_or(f64::NAN);
        let both =
            |[one, other]: &[String; 2]| format!("{one}: {}, {other}: {}", of(one), of(other));
        if let Some(expected) = &self.scores {
            self.compare_scores(expected, scores, &mut outcome);
        }
        if let Some(best) = &self.best {
            let got = best_of(scores);
            outcome.check(
                "host of the lowest score",
                got == [best.as_str()],
                best.clone(),
                got.join(", "),
            );
        }
        for pair in &self.equal {
            let same = of(&pair[0]) == of(&pair[1]);
            outcome.check("scores", same, "equal ones".to_owned(), both(pair));
        }
        for pair in &self.less {
            let less = of(&pair[0]) < of(&pair[1]);
            outcome.check("scores", less, "the first one lower".to_owned(), both(pair));
        }
        for host in &self.nonzero {
            let what = format!("score of {host}");
            outcome.check(
                &what,
                of(host) != 0.0,
                "any but 0".to_owned(),
                "0".to_owned(),
            );
        }
        for (host, expected) in self.scores_by_formula.iter().flatten() {
            let (what, got) = (format!("score of {host}"), of(host));
            outcome.check_worked_out(
                &what,
                got == *expected,
                expected.to_string(),
                got.to_string(),
            );
        }
        outcome
    }

    /// A unit that says nothing about any host there costs nothing anywhere here.
    fn compare_scores(
        &self,
        expected: &BTreeMap<String, f64>,
        scores: &BTreeMap<String, f64>,
        outcome: &mut Outcome,
    ) {
        if expected.is_empty() {
            let none = scores.values().all(|score| *score == 0.0);
            outcome.check("scores", none, "none".to_owned(), format!("{scores:?}"));
        }
        for (host, expected) in expected {
            let got = scores.get(host).copied().unwrap_or(f64::NAN);
            outcome.compare(&format!("score of {host}"), expected, &got);
        }
    }
}

fn best_of(scores: &BTreeMap<String, f64>) -> Vec<&str> {
    let lowest = scores.values().copied().fold(f64::INFINITY, f64::min);
    let best = scores.iter().filter(|(_, score)| **score == lowest);
    best.map(|(host, _)| host.as_str()).collect()
}
