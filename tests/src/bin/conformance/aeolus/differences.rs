//! What differs between the answer of a vector and that of the scheduler.

use serde::Serialize;

/// How far probabilities and weights may be from those of a vector.
const TOLERANCE: f64 = 1e-9;

/// The differences of one case: what, expected, got.
#[derive(Debug, Default)]
pub(super) struct Differences(Vec<(String, String, String)>);

impl Differences {
    /// Note a difference, unless both are equal.
    pub(super) fn compare<T: PartialEq + Serialize>(&mut self, what: &str, expected: &T, got: &T) {
        if expected != got {
            self.add(what, json(expected), json(got));
        }
    }

    /// Note a difference, unless the numbers are equal but for rounding. 0 must be 0.
    pub(super) fn compare_number(&mut self, what: &str, expected: f64, got: f64) {
        let is_near = (expected - got).abs() <= TOLERANCE;
        if !is_near || (expected == 0.0) != (got == 0.0) {
            self.add(what, expected.to_string(), got.to_string());
        }
    }

    /// Note a difference.
    pub(super) fn add(&mut self, what: &str, expected: impl Into<String>, got: impl Into<String>) {
        self.0.push((what.to_owned(), expected.into(), got.into()));
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<(String, String, String)> {
        self.0
    }
}

/// As it would stand in a vector.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}
