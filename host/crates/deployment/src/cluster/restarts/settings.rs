//! How a cluster is set that restarts VMs by itself.

use crate::durations;
use serde::{Deserialize, Serialize};

use placewright_scheduler::questions::Restart;

/// The longest that a host may have to be down before its VMs are restarted, in seconds.
const LONGEST_SETTLE: i64 = 3600;

/// The most restarts that may be under way at once.
const MOST_IN_FLIGHT: usize = 1000;

/// Restarts that the server plans and begins by itself, of VMs whose hosts are down or in
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AutomaticRestart {
    /// Seconds for which a host must have been down or in error without a break before its VMs
    /// are restarted; 60 if not given.
    #[serde(deserialize_with = "durations::seconds")]
    #[schema(minimum = 0, maximum = 3600, example = 60)]
    pub settle: i64,
    /// How many restarts may be under way at once; 8 if not given.
    #[schema(minimum = 1, maximum = 1000, example = 8)]
    pub max_in_flight: usize,
    /// Which VMs are restarted; all if not given.
    #[schema(value_type = Restart)]
    pub vms: Restart,
}

impl Default for AutomaticRestart {
    fn default() -> Self {
        Self {
            settle: 60,
            max_in_flight: super::super::USUAL_IN_FLIGHT,
            vms: Restart::All,
        }
    }
}

impl AutomaticRestart {
    /// Check that the numbers are within their bounds.
    ///
    /// # Errors
    /// A sentence without its full stop that says which is not, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        if !(0..=LONGEST_SETTLE).contains(&self.settle) {
            return Err(format!(
                "\"restart\": \"settle\" must be from 0 to {LONGEST_SETTLE} seconds"
            ));
        }
        if !(1..=MOST_IN_FLIGHT).contains(&self.max_in_flight) {
            return Err(format!(
                "\"restart\": \"max-in-flight\" must be from 1 to {MOST_IN_FLIGHT}"
            ));
        }
        Ok(())
    }
}
