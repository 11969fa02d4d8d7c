//! Whether two answers say the same.

use placewright_engine::contract::Judgement;

/// What a judge answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Given(Judgement),
    /// The request was refused, with a sentence.
    Refused(String),
}

/// How exactly costs must agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Exactness {
    /// In all bits.
    Bits,
    /// Up to rounding: sums over hosts depend on their order.
    Rounding,
}

/// The difference between costs that rounding may make, as a share of them.
const ROUNDING: f64 = 1e-9;

/// Compare row i of `got` with row `rows[i]` of `expected`.
///
/// # Errors
/// The first difference, in a sentence.
pub(super) fn compare(
    expected: &Answer,
    got: &Answer,
    rows: &[usize],
    exactness: Exactness,
) -> Result<(), String> {
    let (expected, got) = match (expected, got) {
        (Answer::Given(expected), Answer::Given(got)) => (expected, got),
        (Answer::Refused(one), Answer::Refused(other)) if one == other => return Ok(()),
        (expected, got) => return Err(format!("{} and then {}", short(expected), short(got))),
    };
    for (row, was) in rows.iter().enumerate() {
        let pair = (expected.verdicts.get(*was), got.verdicts.get(row));
        if let (Some(expected), Some(got)) = pair
            && expected != got
        {
            return Err(format!(
                "host {was} got the verdict {expected} and then {got}"
            ));
        }
        // Of a host that is removed, the cost is not used.
        if pair.0.is_some_and(|verdict| *verdict != 0) {
            continue;
        }
        if let (Some(expected), Some(got)) = (expected.costs.get(*was), got.costs.get(row))
            && !same_cost(*expected, *got, exactness)
        {
            return Err(format!("host {was} got the cost {expected} and then {got}"));
        }
        if let (Some(expected), Some(got)) = (expected.until.get(*was), got.until.get(row))
            && expected != got
        {
            return Err(format!(
                "the answer for host {was} was to hold until {expected} and then until {got}"
            ));
        }
    }
    Ok(())
}

fn short(answer: &Answer) -> String {
    match answer {
        Answer::Given(_) => "it answered".to_owned(),
        Answer::Refused(why) => format!("it refused (\"{why}\")"),
    }
}

fn same_cost(one: f64, other: f64, exactness: Exactness) -> bool {
    match exactness {
        Exactness::Bits => one.to_bits() == other.to_bits(),
        Exactness::Rounding => same_up_to_rounding(one, other),
    }
}

/// Whether two numbers are equal up to the rounding of sums.
pub(super) fn same_up_to_rounding(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}
