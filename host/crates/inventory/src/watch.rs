//! Conditions whose start the runtime remembers.

use std::sync::Arc;

/// A condition over a numeric column of `hosts`. It holds while the value is at
/// least `at_least`, or at most `at_most`, whichever is given. Of two bounds it
/// holds between them; if `at_least` is the greater one, outside of them, both
/// included. Since when it has held without a break is the column
/// `watch.NAME.since`.
#[derive(Debug, Clone, PartialEq)]
pub struct HostWatch {
    /// Its name.
    pub name: Arc<str>,
    /// A column of `hosts`.
    pub column: Arc<str>,
    /// The bound from below, in the unit of measure of the column.
    pub at_least: Option<f64>,
    /// The bound from above, in the unit of measure of the column.
    pub at_most: Option<f64>,
}

impl HostWatch {
    pub(super) fn holds(&self, value: Option<f64>) -> bool {
        let Some(value) = value else {
            return false;
        };
        let least = self.at_least.map(|least| value >= least);
        let most = self.at_most.map(|most| value <= most);
        match (self.at_least, self.at_most) {
            (Some(at_least), Some(at_most)) if at_least <= at_most => {
                least == Some(true) && most == Some(true)
            }
            _ => least == Some(true) || most == Some(true),
        }
    }

    /// The name of its column.
    pub fn since_column(&self) -> String {
        format!("watch.{}.since", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_of_two_bounds_holds_between_or_outside_them() {
        let watch = |at_least, at_most| HostWatch {
            name: "w".into(),
            column: "cpu.usage".into(),
            at_least,
            at_most,
        };
        let held = |watch: HostWatch| [0.1, 0.5, 0.9].map(|value| watch.holds(Some(value)));
        assert_eq!(held(watch(Some(0.5), None)), [false, true, true]);
        assert_eq!(held(watch(None, Some(0.5))), [true, true, false]);
        assert_eq!(held(watch(Some(0.2), Some(0.8))), [false, true, false]);
        assert_eq!(held(watch(Some(0.8), Some(0.2))), [true, false, true]);
        assert!(!watch(None, Some(0.5)).holds(None));
    }
}
