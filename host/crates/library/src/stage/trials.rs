//! What is asked of whoever runs policies before a unit comes into force.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use placewright_engine::generation::Generation;

/// Whoever runs policies: asked before a generation comes into force, and told when
/// it does.
///
/// All are called with the library locked: they must not call the library again,
/// but for [`Library::current`](crate::live::Library::current).
pub trait Trials: Send + Sync {
    /// The policies that use the unit of that name, by their names.
    fn users(&self, unit: &str) -> Vec<String>;

    /// Whether all policies are valid with the candidate, in which the units of these
    /// names are other ones or missing.
    ///
    /// # Errors
    /// Everything that is wrong, in sentences that name the policy.
    fn policies(&self, candidate: &Generation, changed: &[String]) -> Result<(), Vec<String>>;

    /// Make recorded decisions again with the candidate.
    fn replay(&self, candidate: &Generation, changed: &[String]) -> ReplayReport;

    /// Have every decision from now on made with this generation, whose number is
    /// greater than that of all before.
    ///
    /// # Errors
    /// In a sentence, if that is not possible: then the generation before stays in
    /// force everywhere.
    fn adopt(&self, generation: Arc<Generation>) -> Result<(), String>;

    /// The same, whatever policies need, since an admin wants it so. Policies that cannot run
    /// with these units decide nothing.
    fn impose(&self, generation: Arc<Generation>);

    /// The same, whatever policies need, since units of the generation before are not
    /// trusted any more: these are, by name, why. Policies that cannot do without them
    /// decide nothing.
    fn enforce(&self, generation: Arc<Generation>, distrusted: &BTreeMap<String, String>);
}

/// Of more clusters that were not tried only the number is told.
const MOST_SHOWN: usize = 5;

/// How recorded decisions would have come out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = TrialReport))]
pub struct ReplayReport {
    /// Decisions that were made again.
    #[cfg_attr(feature = "openapi", schema(example = 200))]
    pub tried: usize,
    /// The newest recorded ones, of which these were chosen evenly as the time allowed.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(example = 1000))]
    pub recorded: usize,
    /// Those of them that came out differently; those that failed are not counted.
    #[cfg_attr(feature = "openapi", schema(example = 3))]
    pub differing: usize,
    /// Those of them in which a unit that is new failed, where the one in force answered.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "openapi", schema(example = 0))]
    pub failing: usize,
    /// Some of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Some of them.
    pub examples: Vec<Difference>,
    /// Clusters of which no decision was made again, such as those that were busy, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub untried: BTreeMap<String, String>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A decision in which a unit failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FailedDecision))]
pub struct Failure {
    /// The cluster that it is of.
    #[cfg_attr(feature = "openapi", schema(example = "north"))]
    pub cluster: String,
    /// Number of the decision.
    #[cfg_attr(feature = "openapi", schema(example = 17))]
    pub decision: u64,
    /// Ids of the VMs that were placed.
    #[cfg_attr(feature = "openapi", schema(example = json!(["web-3"])))]
    pub vms: Vec<String>,
    /// How the unit failed, and where.
    #[cfg_attr(feature = "openapi", schema(example = "the unit ran out of time"))]
    pub because: String,
}

/// A decision that came out differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DifferingDecision))]
pub struct Difference {
    /// The cluster that it is of.
    #[cfg_attr(feature = "openapi", schema(example = "north"))]
    pub cluster: String,
    /// Number of the decision.
    #[cfg_attr(feature = "openapi", schema(example = 17))]
    pub decision: u64,
    /// The host that was chosen, if there was one.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "h1"))]
    pub before: Option<String>,
    /// The host that would have been, if there is one.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "h2"))]
    pub after: Option<String>,
}

impl ReplayReport {
    /// The share of decisions that came out differently; 0 if none was tried.
    pub fn share(&self) -> f64 {
        match self.tried {
            0 => 0.0,
            tried => (self.differing + self.failing) as f64 / tried as f64,
        }
    }
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tried, self.differing) {
            (0, _) if self.untried.is_empty() => {
                return f.write_str("there is no recorded decision to try");
            }
            (0, _) => f.write_str("no recorded decision was tried"),
            (tried, 0) if self.failing == 0 => {
                write!(f, "all of {tried} recorded decisions come out the same")
            }
            (tried, 0) => write!(
                f,
                "{} of {tried} recorded decisions would fail",
                self.failing
            ),
            (tried, differing) => {
                write!(
                    f,
                    "{differing} of {tried} recorded decisions come out differently"
                )?;
                match self.failing {
                    0 => Ok(()),
                    failing => write!(f, " and {failing} would fail"),
                }
            }
        }?;
        if let Some(failure) = self.failures.first() {
            let vms: Vec<String> = failure.vms.iter().map(|id| format!("\"{id}\"")).collect();
            write!(
                f,
                ": decision {} of cluster \"{}\" (VM {}): {}",
                failure.decision,
                failure.cluster,
                vms.join(", "),
                failure.because
            )?;
        }
        if self.tried < self.recorded {
            write!(
                f,
                "; tried were {} of the newest {}, spread evenly: there was no time for more",
                self.tried, self.recorded
            )?;
        }
        for (number, (cluster, why)) in self.untried.iter().enumerate() {
            if number == MOST_SHOWN {
                return write!(f, "; and {} clusters more", self.untried.len() - number);
            }
            write!(f, "; none of cluster \"{cluster}\": {why}")?;
        }
        Ok(())
    }
}
