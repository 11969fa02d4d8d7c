//! Files that are tried again, since what their units were refused for may have passed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::stage::Staging;
use crate::watch::{Change, Told};

/// After how long a file is tried again, and again: a machine has too much to do for a
/// moment, for some minutes, or for as long as another program takes.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
];

/// Which files are to be tried again, and when.
#[derive(Debug, Default)]
pub(super) struct Again {
    files: BTreeMap<PathBuf, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    /// It is read again: what it holds is not kept so long.
    told: Told,
    /// How often it was tried again before.
    tried: usize,
    at: Instant,
}

impl Again {
    /// Take note of what became of a change. How long it is until that is tried again, if
    /// it is: as long as the file holds the same, and not for ever.
    pub(super) fn note(
        &mut self,
        change: &Change,
        staging: Option<&Staging>,
        now: Instant,
    ) -> Option<Duration> {
        let before = self.files.remove(change.path());
        let staging = staging.filter(|staging| staging.may_pass)?;
        let digest = staging.digest;
        let Change::Seen(seen) = change else {
            return None;
        };
        let before = before.filter(|before| before.told.digest == digest);
        let tried = before.map_or(0, |before| before.tried + 1);
        let pause = *PAUSES.get(tried)?;
        let waiting = Waiting {
            told: seen.told(),
            tried,
            at: now + pause,
        };
        self.files.insert(change.path().to_owned(), waiting);
        Some(pause)
    }

    /// A file that is to be tried now. It is not due again before that is noted.
    pub(super) fn due(&mut self, now: Instant) -> Option<Told> {
        let mut waiting = self.files.values_mut();
        let due = waiting.find(|waiting| waiting.at <= now)?;
        due.at = now + PAUSES[PAUSES.len() - 1];
        Some(due.told.clone())
    }

    /// Do not try the file again: it holds something else, which is told of.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// When there is something to be tried.
    pub(super) fn next(&self) -> Option<Instant> {
        self.files.values().map(|waiting| waiting.at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Source;
    use crate::watch::Seen;
    use placewright_engine::unit::Digest;

    fn holds(bytes: &[u8]) -> Change {
        Change::Seen(Seen {
            path: "u/a.wasm".into(),
            bytes: bytes.into(),
            digest: Digest::of(bytes),
            beside: None,
            settled: true,
        })
    }

    fn refused(bytes: &[u8]) -> Staging {
        let path = "u/a.wasm".into();
        let mut staging = Staging::new(Source::File { path }, Digest::of(bytes));
        staging.may_pass = true;
        staging
    }

    #[test]
    fn pauses_grow_and_end() {
        let (mut again, mut now, mut pauses) = (Again::default(), Instant::now(), Vec::new());
        let (change, staging) = (holds(b"a"), refused(b"a"));
        while let Some(pause) = again.note(&change, Some(&staging), now) {
            pauses.push(pause);
            now = again.next().unwrap();
            assert_eq!(again.due(now - Duration::from_secs(1)), None);
            assert!(again.due(now).is_some());
        }
        assert_eq!(pauses, PAUSES);
        assert_eq!(again.next(), None);
    }

    #[test]
    fn other_bytes_begin_anew() {
        let (mut again, now) = (Again::default(), Instant::now());
        for bytes in [b"a", b"b", b"b"] {
            again.note(&holds(bytes), Some(&refused(bytes)), now);
        }
        assert_eq!(again.next(), Some(now + PAUSES[1]));
        let told = again.due(now + PAUSES[1]).unwrap();
        assert_eq!(told.digest, Digest::of(b"b"));
    }

    #[test]
    fn what_is_sound_or_wrong_or_gone_is_not_tried_again() {
        let (mut again, now) = (Again::default(), Instant::now());
        let mut other = refused(b"a");
        other.may_pass = false;
        let path = "u/a.wasm".into();
        for (change, staging) in [(holds(b"a"), Some(other)), (Change::Gone { path }, None)] {
            again.note(&holds(b"a"), Some(&refused(b"a")), now);
            assert_eq!(again.note(&change, staging.as_ref(), now), None);
            assert_eq!(again.next(), None);
        }
    }
}
