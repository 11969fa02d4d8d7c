//! Which full files are removed: those that are old enough, and others where the disk has no room.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::file::AuditFileOptions;

/// How many of these files, which are more than there are to be and the oldest first, are
/// removed: those that are old enough, and all of them where the disk has no room.
pub(super) fn to_be_removed(files: &[PathBuf], options: &AuditFileOptions) -> usize {
    let now = SystemTime::now();
    let is_old = |file: &PathBuf| {
        let written = fs::metadata(file).and_then(|file| file.modified());
        // One that cannot be looked at is removed, or nothing ever would be.
        written.map_or(true, |at| {
            now.duration_since(at).unwrap_or_default() >= options.age
        })
    };
    let old = files.iter().take_while(|file| is_old(file)).count();
    match old < files.len() && !has_room(options) {
        true => {
            tracing::warn!(
                files = files.len() - old,
                "files of the audit log are removed before their time: its disk has little room"
            );
            files.len()
        }
        false => old,
    }
}

/// Whether the disk has room for more files than there are to be.
#[cfg(unix)]
fn has_room(options: &AuditFileOptions) -> bool {
    let folder = match options.path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    rustix::fs::statvfs(folder).is_ok_and(|disk| {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        free > options.spare.saturating_add(options.size)
    })
}

/// Nobody knows: the number of files holds.
#[cfg(not(unix))]
fn has_room(_: &AuditFileOptions) -> bool {
    false
}
