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

/// The files that are being written. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Writers(Arc<Mutex<BTreeMap<PathBuf, Written>>>);

/// When a file was written, first and last, since it was last closed.
#[derive(Debug, Clone, Copy)]
struct Written {
    first: Instant,
    last: Instant,
}

impl Writers {
    /// Take note of what the system tells.
    pub(super) fn hear(&self, event: &Event, now: Instant) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if event.need_rescan() {
            // Events were lost, and with them what was closed.
            files.clear();
        }
        let paths = event.paths.iter().filter_map(|path| real(path));
        match event.kind {
            EventKind::Modify(ModifyKind::Data(_)) => paths.for_each(|path| {
                let written = files.entry(path).or_insert(Written {
                    first: now,
                    last: now,
                });
                written.last = now;
            }),
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Name(_))
            | EventKind::Remove(_) => paths.for_each(|path| {
                files.remove(&path);
            }),
            _ => {}
        }
    }

    /// Since when a file is being written, if it is.
    pub(super) fn since(&self, path: &Path, now: Instant) -> Option<Instant> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.is_empty() {
            return None;
        }
        files.retain(|_, written| now.saturating_duration_since(written.last) < LONGEST);
        let path = fs::canonicalize(path).ok()?;
        files.get(&path).map(|written| written.first)
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
        assert_eq!(writers.since(&path, now), None, "a link is created, too");
        for end in [
            EventKind::Access(AccessKind::Close(AccessMode::Write)),
            EventKind::Modify(ModifyKind::Name(RenameMode::To)),
            EventKind::Remove(RemoveKind::File),
        ] {
            tell(written, now);
            let later = now + Duration::from_secs(60);
            tell(written, later);
            assert_eq!(writers.since(&path, later), Some(now));
            tell(end, later);
            assert_eq!(writers.since(&path, later), None, "{end:?}");
        }
        tell(written, now);
        assert_eq!(writers.since(&path, now + LONGEST), None);
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
        assert_eq!(writers.since(&link, now), Some(now));
    }
}
