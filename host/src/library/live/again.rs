//! Files that are tried again, since what their units were refused for may have passed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::library::stage::Staging;
use crate::library::watch::Change;
use crate::unit::Digest;

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
    change: Change,
    digest: Digest,
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
        let before = before.filter(|before| before.digest == digest);
        let tried = before.map_or(0, |before| before.tried + 1);
        let pause = *PAUSES.get(tried)?;
        let waiting = Waiting {
            change: change.clone(),
            digest,
            tried,
            at: now + pause,
        };
        self.files.insert(change.path().to_owned(), waiting);
        Some(pause)
    }

    /// What is to be tried now.
    pub(super) fn due(&self, now: Instant) -> Vec<Change> {
        let due = self.files.values().filter(|waiting| waiting.at <= now);
        due.map(|waiting| waiting.change.clone()).collect()
    }

    /// When there is something to be tried.
    pub(super) fn next(&self) -> Option<Instant> {
        self.files.values().map(|waiting| waiting.at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::stage::Source;
    use crate::library::watch::Seen;

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
            assert!(again.due(now - Duration::from_secs(1)).is_empty());
            assert_eq!(again.due(now).len(), 1);
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
        let [Change::Seen(seen)] = &again.due(now + PAUSES[1])[..] else {
            panic!("one file");
        };
        assert_eq!(&*seen.bytes, b"b");
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
