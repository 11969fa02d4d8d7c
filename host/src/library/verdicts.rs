//! Which units have passed the probes before, so that they are not probed again.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::probe;
use crate::engine::Engine;
use crate::unit::Digest;

const KIND: &str = "probed";

/// How many digests are kept in mind; of others the note beside their code tells.
const MOST: usize = 4096;

/// Which units have passed, by their digests.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    passed: Mutex<BTreeSet<Digest>>,
}

impl Verdicts {
    /// Whether the unit has passed the probes as they are now, in full.
    pub(super) fn passed(&self, engine: &Engine, digest: Digest) -> bool {
        if self.lock().contains(&digest) {
            return true;
        }
        let note = engine.note(&digest.to_string(), KIND);
        note.is_some_and(|note| note == note_of())
    }

    /// It has.
    pub(super) fn keep(&self, engine: &Engine, digest: Digest) {
        let mut passed = self.lock();
        if passed.len() >= MOST {
            passed.pop_first();
        }
        passed.insert(digest);
        drop(passed);
        engine.keep_note(&digest.to_string(), KIND, &note_of());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<Digest>> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note_of() -> Vec<u8> {
    format!("passed {}", probe::VERSION).into_bytes()
}
