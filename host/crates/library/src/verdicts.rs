//! Which units have passed the probes before, so that they are not probed again.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::probe;
use placewright_engine::Engine;
use placewright_engine::unit::Digest;

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

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_engine::Limits;

    fn engine(code: Option<&std::path::Path>) -> Engine {
        let limits = Limits {
            instances: 4,
            ..Limits::default()
        };
        Engine::new(limits, code).unwrap()
    }

    #[test]
    fn a_verdict_outlasts_the_run_where_code_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let code = folder.path().join("code");
        let digest = Digest::of(b"a unit");
        Verdicts::default().keep(&engine(Some(&code)), digest);
        let later = Verdicts::default();
        assert!(later.passed(&engine(Some(&code)), digest));
        assert!(!later.passed(&engine(Some(&code)), Digest::of(b"another")));
        assert!(!later.passed(&engine(None), digest));
    }

    #[test]
    fn without_a_folder_for_code_a_verdict_lasts_for_the_run() {
        let (engine, digest) = (engine(None), Digest::of(b"a unit"));
        let verdicts = Verdicts::default();
        assert!(!verdicts.passed(&engine, digest));
        verdicts.keep(&engine, digest);
        assert!(verdicts.passed(&engine, digest));
    }
}
