//! The library of a running program: its generations follow one another here.
//!
//! Units that come with the program are overridden, by name, by those of the folder,
//! and these by what someone has uploaded or gone back to. Candidates are admitted
//! on the thread that brings them; then one lock puts all changes in order. Whatever
//! fails leaves the generation before in force.

mod again;
mod artifacts;
mod change;
mod event;
mod files;
mod operations;
mod queue;
mod restore;
mod state;
mod status;
mod trust;
mod unneeded;
mod watching;

#[cfg(test)]
mod tests;

pub use artifacts::{
    Artifacts, InMemory, KeptArtifact, KeptSignature, Remembered, RememberedChoice, RememberedUnit,
};
pub use event::LibraryEvent;
pub use state::Origin;
pub use status::{FileStatus, NotTrusted, UnitStatus};
pub use watching::Watching;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use super::Generation;
use super::history::{Entry, History};
use super::stage::{Admission, Candidate, Shown, Staging, Trials, UnderWay, UnitStaging};
use super::trust::{Trust, TrustError};
use super::watch::{Seen, WatchError};
use placewright_engine::Engine;
use placewright_sync::{ArcSwap, Mutex, MutexGuard};
use state::State;

/// How units come into force.
#[derive(Debug, Clone)]
pub struct LibraryOptions {
    /// Which components are let in.
    pub trust: Trust,
    /// How long a unit is probed before it is let in.
    pub probing: Duration,
    /// The share of recorded decisions, from 0 to 1, that may come out differently;
    /// with more a unit is refused. None: the differences are only told.
    pub require_replay: Option<f64>,
    /// How many candidates the history tells of.
    pub history: usize,
}

impl Default for LibraryOptions {
    fn default() -> Self {
        Self {
            trust: Trust::default(),
            // Most units take a few milliseconds for all of their claims; one that
            // takes longer than this is tried further by `unit check`.
            probing: Duration::from_millis(500),
            require_replay: None,
            history: 1000,
        }
    }
}

/// Called with an event, and who asked for what it tells of; None if nobody did, as for a file
/// that was found.
pub type EventListener = dyn Fn(&LibraryEvent, Option<&str>) + Send + Sync;

/// What the library needs of what is around it.
#[derive(Clone)]
pub struct Surroundings {
    /// Keeps what must last.
    pub artifacts: Arc<dyn Artifacts>,
    /// Hears of every change. Called with the library locked: it must be quick, and
    /// must not call the library.
    pub events: Arc<EventListener>,
    /// What time it is, for the history.
    pub clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

/// Why the library does not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum LibraryOperationError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// What is kept cannot be read or written.
    #[error("{what}: {why}")]
    Artifacts {
        /// What was to be done.
        what: String,
        /// Why it cannot be.
        why: String,
    },
    /// A folder cannot be watched.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// There is no such unit.
    #[error("there is no unit \"{0}\"")]
    NoUnit(String),
    /// The unit never had that digest in force, or its bytes are not kept.
    #[error(
        "there are no bytes of \"{name}\" with the digest {digest}: its history tells to which digests it can go back"
    )]
    NoDigest {
        /// The unit.
        name: String,
        /// What was asked for.
        digest: String,
    },
    /// Nothing was in force before.
    #[error(
        "no other component of \"{name}\" was in force before this one, so that there is none to go back to"
    )]
    NothingBefore {
        /// The unit.
        name: String,
    },
    /// What was asked for is no digest, or the beginning of several.
    #[error("a digest of \"{name}\" {why}")]
    NoPrefix {
        /// The unit.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// Policies cannot do without the unit as it is.
    #[error("the unit \"{name}\" is used by {}: {why}", used_by(.policies))]
    InUse {
        /// The unit.
        name: String,
        /// The policies that use it.
        policies: Vec<String>,
        /// What would be wrong with them.
        why: String,
    },
    /// The unit is in a state in which this cannot be.
    #[error("the unit \"{name}\" {why}")]
    State {
        /// The unit.
        name: String,
        /// What its state is, and what to do.
        why: String,
    },
    /// The change would break what is in force.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
}

/// Policies, as a sentence names them.
/// Policies that a sentence names; of more it says how many.
const NAMED: usize = 3;

fn used_by(policies: &[String]) -> String {
    let quoted = |names: &[String]| format!("\"{}\"", names.join("\", \""));
    match policies {
        [one] => format!("the policy \"{one}\""),
        several if several.len() > NAMED + 1 => {
            let more = several.len() - NAMED;
            format!("the policies {} and {more} more", quoted(&several[..NAMED]))
        }
        several => format!("the policies {}", quoted(several)),
    }
}

/// The units of a running program.
pub struct Library {
    admission: Admission,
    require_replay: Option<f64>,
    around: Surroundings,
    trials: OnceLock<Weak<dyn Trials>>,
    current: ArcSwap<Generation>,
    state: Mutex<State>,
    history: Mutex<History>,
    /// Files that were found and are not staged yet, the one that is being staged too.
    staging: Mutex<BTreeSet<PathBuf>>,
    /// What is being staged, step by step.
    under_way: UnderWay,
}

impl Library {
    /// The generation in force. Takes nanoseconds; hold it from the start of a
    /// decision to its end.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// The engine that units are compiled for.
    pub fn engine(&self) -> &Engine {
        self.admission.engine()
    }

    /// Ask `trials` from now on before a generation comes into force. Only the first
    /// call counts. Until then there are no policies for the library.
    pub fn attach(&self, trials: Weak<dyn Trials>) {
        // The first one stays.
        let _ = self.trials.set(trials);
    }

    /// Whether what was seen is a whole unit as far as that can be told at once.
    pub fn is_whole(&self, seen: &Seen) -> bool {
        self.admission.is_whole(&candidate(seen))
    }

    /// What was loaded when, the oldest first.
    pub fn history(&self) -> History {
        self.lock_history().clone()
    }

    /// The candidates that are being staged now, in the order in which they began. Waits for no
    /// step of theirs.
    pub fn under_way(&self) -> Vec<UnitStaging> {
        self.under_way.list()
    }

    /// Show a candidate among those that are being staged, until the answer is dropped.
    fn show(&self, staging: &mut Staging) -> Shown {
        self.under_way.show(staging, (self.around.clock)())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tell of what nobody asked for.
    fn tell(&self, event: &LibraryEvent) {
        self.tell_as_asked(event, None);
    }

    /// Tell of what somebody may have asked for.
    fn tell_as_asked(&self, event: &LibraryEvent, by: Option<&str>) {
        (self.around.events)(event, by);
    }

    /// Add to the history.
    fn note(&self, entry: Entry) {
        if let Err(why) = self.around.artifacts.record(&entry) {
            self.tell(&LibraryEvent::NotKept { why });
        }
        self.lock_history().push(entry);
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("generation", &self.current().number())
            .finish_non_exhaustive()
    }
}

fn candidate(seen: &Seen) -> Candidate {
    Candidate {
        bytes: seen.bytes.clone(),
        signature: seen.beside.clone(),
    }
}
