//! Scenarios: small clusters and requests, with what is expected to come out.
//!
//! They are how the author of a unit tests it. A scenario goes through the host's own
//! chain and scheduler, so that what passes here is what happens in a cluster:
//!
//! ```text
//! file ─► read (every case a cluster, a request, a policy) ─► run ─► compare
//! ```
//!
//! The same scenario gives the same outcome on every machine: time and draw come from the
//! file, or are 0 and derived from the cluster's seed.

mod compare;
mod expect;
mod form;
mod json_schema;
mod merge;
mod moves;
mod open;
mod outcome;
mod policy;
mod read;
mod run;
mod update;

pub use compare::Difference;
pub use expect::{Expected, ExpectedHost};
pub use json_schema::scenario_json_schema;
pub use moves::{ExpectedMove, MoveOutcome};
pub use open::{OpenError, files};
pub use outcome::{HostOutcome, Outcome};
pub use run::{Test, Tested};
pub use update::UpdateError;

use std::path::PathBuf;
use std::sync::Arc;

use expect::NONE;
use placewright_document::{ClusterDocument, Place, Table};
use placewright_model::Request;

/// The scenarios of one file.
#[derive(Debug, Clone)]
pub struct Scenarios {
    /// Where the file is.
    pub path: PathBuf,
    /// What its cases are about, for people; may be empty.
    pub description: Arc<str>,
    /// In the order in which they are written.
    pub cases: Vec<Case>,
}

impl Scenarios {
    /// Whether a case goes by a policy of its own: then units beside the one that is
    /// tested may be needed.
    pub fn name_policies(&self) -> bool {
        self.cases.iter().any(|case| case.policy.is_some())
    }
}

/// One cluster, one request, and what is expected.
#[derive(Debug, Clone)]
pub struct Case {
    /// Unique in its file.
    pub name: Arc<str>,
    /// Where it stands.
    pub place: Place,
    /// Its place among the cases of its file, from 0.
    number: usize,
    /// What is expected to come out.
    pub expected: Expected,
    /// The cluster, with what is different of it in this case.
    cluster: ClusterDocument,
    /// What is to be placed; None where only a balance is asked for.
    request: Option<Request>,
    policy: Option<GivenPolicy>,
    /// What the unit is set to.
    settings: Table,
}

/// The document of a policy that a scenario file names or holds.
#[derive(Debug, Clone)]
struct GivenPolicy {
    tree: Arc<Table>,
    /// What it is called if it has no name.
    name: String,
}

#[cfg(test)]
mod tests;
