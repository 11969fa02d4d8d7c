//! What was expected beside what came out, numbers with a tolerance.

use std::collections::BTreeMap;

use serde::Serialize;

/// How far numbers may be apart: the vectors' own tolerance.
const TOLERANCE: f64 = 1e-9;

/// The differences of a case: what, expected, got.
#[derive(Debug, Default)]
pub(super) struct Compared(Vec<(String, String, String)>);

impl Compared {
    /// All differences that were found.
    pub(super) fn differences(self) -> Vec<(String, String, String)> {
        self.0
    }

    /// Compare two values of one part of the answer.
    pub(super) fn same<T: Near + Serialize>(&mut self, what: &str, expected: &T, got: &T) {
        if !expected.is_near(got) {
            self.differs(what, &shown(expected), &shown(got));
        }
    }

    /// Note a difference that was found.
    pub(super) fn differs(&mut self, what: &str, expected: &str, got: &str) {
        self.0
            .push((what.to_owned(), expected.to_owned(), got.to_owned()));
    }

    /// Compare two maps, entry by entry.
    pub(super) fn same_entries<T: Near + Serialize>(
        &mut self,
        what: &str,
        expected: &BTreeMap<String, T>,
        got: &BTreeMap<String, T>,
    ) {
        let unexpected = got.keys().filter(|name| !expected.contains_key(*name));
        for name in expected.keys().chain(unexpected) {
            let what = format!("{what} {name}");
            match (expected.get(name), got.get(name)) {
                (Some(expected), Some(got)) => self.same(&what, expected, got),
                (Some(expected), None) => self.differs(&what, &shown(expected), "none"),
                (None, Some(got)) => self.differs(&what, "none", &shown(got)),
                (None, None) => {}
            }
        }
    }
}

fn shown(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}

/// What can be compared.
pub(super) trait Near {
    /// Whether the other is the same, as far as the tolerance goes.
    fn is_near(&self, other: &Self) -> bool;
}

impl Near for f64 {
    fn is_near(&self, other: &Self) -> bool {
        (self - other).abs() <= TOLERANCE
    }
}

impl Near for i64 {
    fn is_near(&self, other: &Self) -> bool {
        self == other
    }
}

impl Near for bool {
    fn is_near(&self, other: &Self) -> bool {
        self == other
    }
}

impl Near for String {
    fn is_near(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T: Near> Near for Option<T> {
    fn is_near(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(one), Some(other)) => one.is_near(other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Near for [f64; 2] {
    fn is_near(&self, other: &Self) -> bool {
        self.iter()
            .zip(other)
            .all(|(one, other)| one.is_near(other))
    }
}

impl Near for Vec<String> {
    fn is_near(&self, other: &Self) -> bool {
        self == other
    }
}
