//! How much of a host's CPU the policy lets be promised, where the host does not say so itself.

use super::{Chain, Step};
use placewright_model::Value;

/// The column of hosts that says how much of their CPU may be promised.
const COLUMN: &str = "cpu.overcommit";
/// The setting of filters that says so for hosts without the column.
const SETTING: &str = "overcommit";

impl Chain {
    /// How much of the CPU of a host without `cpu.overcommit` may be promised, 1 = all of it once: the
    /// least that a filter which reads that column has as its setting `overcommit`. None if no filter
    /// has one.
    pub fn cpu_overcommit(&self) -> Option<f64> {
        let steps = self.stages.iter().flat_map(|stage| &stage.steps);
        steps.filter_map(Step::cpu_overcommit).reduce(f64::min)
    }
}

impl Step {
    fn cpu_overcommit(&self) -> Option<f64> {
        if self.filter.is_none() || !self.plan.reads("hosts", COLUMN) {
            return None;
        }
        match self.settings.value(SETTING)? {
            Value::Number(share) => Some(*share),
            Value::Integer(share) => Some(*share as f64),
            Value::Boolean(_) | Value::Text(_) => None,
        }
    }
}
