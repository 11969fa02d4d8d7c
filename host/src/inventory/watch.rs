//! Conditions whose start the runtime remembers.

use std::sync::Arc;

/// A condition over a numeric column of `hosts`. It holds while the value is at
/// least `at_least`, or at most `at_most`, whichever is given (either, if both
/// are). Since when it has held without a break is the column `watch.NAME.since`.
#[derive(Debug, Clone, PartialEq)]
pub struct HostWatch {
    pub name: Arc<str>,
    /// A column of `hosts`.
    pub column: Arc<str>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

impl HostWatch {
    pub(super) fn holds(&self, value: Option<f64>) -> bool {
        let Some(value) = value else {
            return false;
        };
        self.at_least.is_some_and(|bound| value >= bound)
            || self.at_most.is_some_and(|bound| value <= bound)
    }

    /// The name of its column.
    pub fn since_column(&self) -> String {
        format!("watch.{}.since", self.name)
    }
}
