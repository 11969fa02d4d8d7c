//! Which files programs are writing, as the system tells.
//!
//! A document that is cut off can be one that is right, and a program that pauses in the
//! middle of it looks as if it had finished. The system tells when a file is written and when
//! who wrote it has closed it: between the two it is not whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind};

use placewright_sync::Mutex;

/// A file that was not written for so long is taken for closed: what closes it may not have
/// been told, as where its folder was renamed meanwhile.
const LONGEST: Duration = Duration::from_secs(600);

/// So long after the system has lost events every file counts as being written: who has opened
/// one may be among them.
const AFTER_LOSS: Duration = Duration::from_secs(5);

/// The files that are being written. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Writers(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    files: BTreeMap<PathBuf, Written>,
    /// When events were lost.
    lost: Option<Instant>,
}

/// What was heard of a file.
#[derive(Debug, Clone, Copy)]
struct Written {
    /// When it was written first since it was last closed; None: it was closed since.
    first: Option<Instant>,
    /// When something was heard of it last.
    last: Instant,
}

impl Writers {
    /// Take note of what the system tells.
    pub(super) fn hear(&self, event: &Event, now: Instant) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if event.need_rescan() {
            // Which files were opened and closed meanwhile is not known.
            heard.files.clear();
            heard.lost = Some(now);
        }
        let is_written = match event.kind {
            EventKind::Modify(ModifyKind::Data(_)) => true,
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Name(_))
            | EventKind::Remove(_) => false,
            _ => return,
        };
        for path in event.paths.iter().filter_map(|path| real(path)) {
            let known = heard.files.get(&path).and_then(|it| it.first);
            let written = Written {
                first: is_written.then(|| known.unwrap_or(now)),
                last: now,
            };
            heard.files.insert(path, written);
        }
    }

    /// Since when a file is being written, if it is. What is told comes late where much is
    /// written: a file of which something was heard less than `settle` ago may have been opened
    /// again since.
    pub(super) fn since(&self, path: &Path, now: Instant, settle: Duration) -> Option<Instant> {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Heard { files, lost } = &mut *heard;
        *lost = lost.filter(|lost| now.saturating_duration_since(*lost) < AFTER_LOSS);
        if files.is_empty() {
            return *lost;
        }
        files.retain(|_, written| {
            let longest = match written.first {
                Some(_) => LONGEST,
                None => settle,
            };
            now.saturating_duration_since(written.last) < longest
        });
        let written = fs::canonicalize(path).ok();
        let written = written.and_then(|path| files.get(&path));
        let since = written.map(|written| written.first.unwrap_or(written.last));
        since.or(*lost)
    }
}

/// The path of a file that there may be no more, in its folder's real path.
fn real(path: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(path.parent()?).ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, RemoveKind, RenameMode};

    use super::*;

    const SETTLE: Duration = Duration::from_millis(100);

    #[test]
    fn a_file_is_being_written_until_it_is_closed_renamed_or_removed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.toml");
        fs::write(&path, "a").unwrap();
        let now = Instant::now();
        let writers = Writers::default();
        let tell = |kind, at| writers.hear(&Event::new(kind).add_path(path.clone()), at);
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        tell(EventKind::Create(CreateKind::File), now);
        assert_eq!(
            writers.since(&path, now, SETTLE),
            None,
            "a link is created, too"
        );
        for end in [
            EventKind::Access(AccessKind::Close(AccessMode::Write)),
            EventKind::Modify(ModifyKind::Name(RenameMode::To)),
            EventKind::Remove(RemoveKind::File),
        ] {
            tell(written, now);
            let later = now + Duration::from_secs(60);
            tell(written, later);
            assert_eq!(writers.since(&path, later, SETTLE), Some(now));
            tell(end, later);
            assert_eq!(writers.since(&path, later, SETTLE), Some(later), "{end:?}");
            let settled = later + SETTLE;
            assert_eq!(writers.since(&path, settled, SETTLE), None, "{end:?}");
        }
        tell(written, now);
        assert_eq!(writers.since(&path, now + LONGEST, SETTLE), None);
    }

    #[test]
    fn after_events_were_lost_every_file_counts_as_being_written_for_a_while() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.toml");
        fs::write(&path, "a").unwrap();
        let (now, writers) = (Instant::now(), Writers::default());
        assert_eq!(writers.since(&path, now, SETTLE), None);
        let lost = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        writers.hear(&lost, now);
        assert_eq!(
            writers.since(&path, now + AFTER_LOSS / 2, SETTLE),
            Some(now)
        );
        assert_eq!(writers.since(&path, now + AFTER_LOSS, SETTLE), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_being_written_when_what_it_leads_to_is() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("data")).unwrap();
        let (path, link) = (home.path().join("data/a.toml"), home.path().join("a.toml"));
        fs::write(&path, "a").unwrap();
        std::os::unix::fs::symlink("data/a.toml", &link).unwrap();
        let (now, writers) = (Instant::now(), Writers::default());
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        writers.hear(&Event::new(written).add_path(path), now);
        assert_eq!(writers.since(&link, now, SETTLE), Some(now));
    }
}
