//! How what comes out differs from what a vector expects.

use std::collections::BTreeSet;

/// What, expected, got.
type Difference = (String, String, String);

/// All differences of one vector.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    asserted: Compared,
    worked_out: Compared,
}

/// Differences, and whether anything was compared at all.
#[derive(Debug, Default)]
struct Compared {
    any: bool,
    differences: Vec<Difference>,
}

impl Compared {
    fn note(&mut self, what: &str, same: bool, expected: String, got: String) {
        self.any = true;
        if !same {
            self.differences.push((what.to_owned(), expected, got));
        }
    }

    fn into_differences(self) -> Option<Vec<Difference>> {
        self.any.then_some(self.differences)
    }
}

impl Outcome {
    /// Compare a value that oVirt's test asserts, or that its rule gives.
    pub(super) fn compare<T: PartialEq + ToString>(&mut self, what: &str, expected: &T, got: &T) {
        self.check(what, expected == got, expected.to_string(), got.to_string());
    }

    /// Compare a set of ids; `aside` is added to what is shown of those that came out.
    pub(super) fn compare_set(&mut self, what: &str, expected: &Ids, got: &Ids, aside: &str) {
        self.check(what, expected == got, listed(expected), listed(got) + aside);
    }

    /// Note whether what came out is as expected.
    pub(super) fn check(&mut self, what: &str, same: bool, expected: String, got: String) {
        self.asserted.note(what, same, expected, got);
    }

    /// The same as [`Self::compare_set`] for what oVirt's test does not assert: it was
    /// worked out from the rule.
    pub(super) fn compare_worked_out(
        &mut self,
        what: &str,
        expected: &Ids,
        got: &Ids,
        aside: &str,
    ) {
        self.check_worked_out(what, expected == got, listed(expected), listed(got) + aside);
    }

    /// The same as [`Self::check`] for what oVirt's test does not assert.
    pub(super) fn check_worked_out(
        &mut self,
        what: &str,
        same: bool,
        expected: String,
        got: String,
    ) {
        self.worked_out.note(what, same, expected, got);
    }

    /// The differences to what is asserted, and to what was worked out; None where
    /// there was nothing to compare.
    ///
    /// # Errors
    /// If nothing was compared.
    pub(super) fn into_differences(self) -> Result<[Option<Vec<Difference>>; 2], String> {
        if !self.asserted.any && !self.worked_out.any {
            return Err("field expect: expects nothing".to_owned());
        }
        Ok([self.asserted, self.worked_out].map(Compared::into_differences))
    }
}

/// Ids of hosts or VMs.
pub(super) type Ids = BTreeSet<String>;

/// Ids for a sentence.
pub(super) fn listed(ids: &Ids) -> String {
    match ids.is_empty() {
        true => "none".to_owned(),
        false => Vec::from_iter(ids.iter().map(String::as_str)).join(", "),
    }
}
