//! Whether a folder is this user's own: nobody else can put files into it, or put another
//! folder in its place.
//!
//! Read [`check`] first; [`Way`] is what it finds.

#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

/// Why a folder, or one on the way to it, is not safe to use.
#[derive(Debug, thiserror::Error)]
pub enum OwnershipError {
    /// The system does not tell.
    #[error("cannot find out who may write to {}", .0.display())]
    Unknown(PathBuf, #[source] io::Error),
    /// It is another user's.
    #[error(
        "{} belongs to another user (uid {owner}), who could put there what this program would trust{way}: \
         name a folder of the user who runs the program (uid {user}), or change the owner with chown", path.display()
    )]
    Foreign {
        /// What belongs to another user.
        path: PathBuf,
        /// Number of that user.
        owner: u32,
        /// Number of this user.
        user: u32,
        /// Which folder it is on the way to, if it is not that one itself.
        way: Way,
    },
    /// Others may write to it.
    #[error(
        "other users may write to {} (mode {mode:o}), and so put there what this program would trust{way}: \
         take that right from them with `chmod go-w`, or name a folder that only the user who runs the program may write to", path.display()
    )]
    Open {
        /// What others may write to.
        path: PathBuf,
        /// Its rights.
        mode: u32,
        /// Which folder it is on the way to, if it is not that one itself.
        way: Way,
    },
}

/// The folder that was asked about, where the trouble is with one on the way to it.
#[derive(Debug)]
pub struct Way(Option<PathBuf>);

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(folder) => write!(f, " in the place of {}", folder.display()),
            None => Ok(()),
        }
    }
}

/// Make sure that no other user but root can write to the folder or put another one in its
/// place, by any of the folders and links that lead to it. What does not exist yet is not
/// looked at.
///
/// In folders in which only the owner of an entry may replace it, such as /tmp, others may
/// make entries; a folder that lies there is this user's own or root's.
///
/// # Errors
/// What is unsafe about it, and what to do. Systems without users and rights as Unix has
/// them have nothing that could be asked.
#[cfg(unix)]
pub fn check(folder: &Path) -> Result<(), OwnershipError> {
    let user = user().map_err(|error| OwnershipError::Unknown(folder.to_owned(), error))?;
    Walk { folder, user }.walk()
}

/// Make sure that no other user can write there: nothing can be asked on this system.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn check(_: &Path) -> Result<(), OwnershipError> {
    Ok(())
}

/// The number of the user by whose rights this process makes files.
#[cfg(unix)]
fn user() -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;

    // Real, effective, saved, of files.
    let of_files = |status: String| {
        let numbers = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        numbers.split_whitespace().nth(3)?.parse().ok()
    };
    let status = std::fs::read_to_string("/proc/self/status").ok();
    match status.and_then(of_files) {
        Some(user) => Ok(user),
        // A file that we make is ours.
        None => Ok(tempfile::tempfile()?.metadata()?.uid()),
    }
}

/// The right of group and others to write.
#[cfg(unix)]
const OTHERS_WRITE: u32 = 0o022;
/// The right to write of a group that is the owner's alone: by custom it has the owner's
/// number, and such users often have files made that their group may write to.
#[cfg(unix)]
fn private_group(found: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt;

    match found.gid() == found.uid() {
        true => 0o020,
        false => 0,
    }
}

/// Only its owner may replace an entry of such a folder.
#[cfg(unix)]
const STICKY: u32 = 0o1000;
/// Links that are followed on one way, as by Linux.
#[cfg(unix)]
const MOST_LINKS: usize = 40;

#[cfg(unix)]
struct Walk<'f> {
    folder: &'f Path,
    user: u32,
}

#[cfg(unix)]
impl Walk<'_> {
    fn walk(&self) -> Result<(), OwnershipError> {
        use std::path::Component;

        let unknown = |path: &Path| {
            let path = path.to_owned();
            move |error| OwnershipError::Unknown(path, error)
        };
        let absolute = std::path::absolute(self.folder).map_err(unknown(self.folder))?;
        let mut here = PathBuf::from("/");
        let mut rest = steps(&absolute);
        let mut links = 0;
        let mut parent_is_sticky = self.look(&here, rest.is_empty())?;
        while let Some(step) = rest.pop() {
            if step == Component::ParentDir.as_os_str() {
                here.pop();
                parent_is_sticky = self.look(&here, rest.is_empty())?;
                continue;
            }
            let next = here.join(&step);
            let entry = match next.symlink_metadata() {
                Ok(entry) => entry,
                // Whoever makes it will be its owner.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(unknown(&next)(error)),
            };
            if entry.is_symlink() {
                links += 1;
                if links > MOST_LINKS {
                    let error = io::Error::other("too many links lead from one to the next");
                    return Err(unknown(&next)(error));
                }
                if parent_is_sticky {
                    self.owned(&next, &entry, false)?;
                }
                let target = next.read_link().map_err(unknown(&next))?;
                rest.extend(steps(&target));
                if target.is_absolute() {
                    here = PathBuf::from("/");
                    parent_is_sticky = self.look(&here, rest.is_empty())?;
                }
                continue;
            }
            here = next;
            parent_is_sticky = self.look(&here, rest.is_empty())?;
        }
        Ok(())
    }

    /// Look at a folder; tells whether in it only the owner of an entry may replace it, as
    /// far as others may write there at all.
    fn look(&self, path: &Path, is_last: bool) -> Result<bool, OwnershipError> {
        use std::os::unix::fs::MetadataExt;

        let found = path.symlink_metadata();
        let found = found.map_err(|error| OwnershipError::Unknown(path.to_owned(), error))?;
        self.owned(path, &found, is_last)?;
        let mode = found.mode();
        match judge(mode & !private_group(&found), is_last) {
            Judgement::Closed => Ok(false),
            Judgement::Sticky => Ok(true),
            Judgement::Open => Err(OwnershipError::Open {
                path: path.to_owned(),
                mode: mode & 0o7777,
                way: self.way(is_last),
            }),
        }
    }

    /// Root can do everything anyhow.
    fn owned(
        &self,
        path: &Path,
        found: &std::fs::Metadata,
        is_last: bool,
    ) -> Result<(), OwnershipError> {
        use std::os::unix::fs::MetadataExt;

        let owner = found.uid();
        if owner == self.user || owner == 0 {
            return Ok(());
        }
        Err(OwnershipError::Foreign {
            path: path.to_owned(),
            owner,
            user: self.user,
            way: self.way(is_last),
        })
    }

    fn way(&self, is_last: bool) -> Way {
        Way((!is_last).then(|| self.folder.to_owned()))
    }
}

/// What the rights of a folder come to.
#[cfg(unix)]
#[derive(Debug, PartialEq, Eq)]
enum Judgement {
    /// Only its owner can change its entries.
    Closed,
    /// Others can make entries, and only the owner of one can replace it.
    Sticky,
    /// Others can change its entries.
    Open,
}

#[cfg(unix)]
fn judge(mode: u32, is_last: bool) -> Judgement {
    match (mode & OTHERS_WRITE != 0, mode & STICKY != 0 && !is_last) {
        (false, _) => Judgement::Closed,
        (true, true) => Judgement::Sticky,
        (true, false) => Judgement::Open,
    }
}

/// The steps of a path below the root, the last one first.
#[cfg(unix)]
fn steps(path: &Path) -> Vec<std::ffi::OsString> {
    use std::path::Component;

    let steps = path.components().rev();
    steps
        .filter(|step| matches!(step, Component::Normal(_) | Component::ParentDir))
        .map(|step| step.as_os_str().to_owned())
        .collect()
}

/// Whether an open file is a regular one of this user's that no other may write to.
///
/// # Errors
/// What it is instead; or that the system does not tell.
pub fn check_file(file: &std::fs::File) -> io::Result<()> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        if found.uid() != user()? {
            return Err(io::Error::other(format!(
                "it belongs to another user (uid {})",
                found.uid()
            )));
        }
        if found.mode() & !private_group(&found) & OTHERS_WRITE != 0 {
            return Err(io::Error::other(format!(
                "other users may write to it (mode {:o})",
                found.mode() & 0o7777
            )));
        }
    }
    Ok(())
}

/// Have the options refuse a link in the place of the file.
pub fn no_links(options: &mut std::fs::OpenOptions) {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;

        // Nor is a pipe waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    #[cfg(not(unix))]
    let _ = options;
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder(mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        set(folder.path(), mode);
        folder
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused_with_what_to_do() {
        for mode in [0o777, 0o702, 0o1777] {
            let folder = folder(mode);
            let why = check(folder.path()).unwrap_err().to_string();
            assert!(why.contains(&format!("(mode {mode:o})")), "{why}");
            assert!(why.contains("chmod go-w"), "{why}");
            assert!(!why.contains("in the place of"), "{why}");
        }
        for mode in [0o700, 0o755] {
            check(folder(mode).path()).unwrap();
        }
    }

    #[test]
    fn a_group_may_write_only_where_it_is_the_owners_own() {
        let folder = folder(0o770);
        let found = folder.path().metadata().unwrap();
        let (owner, group) = {
            use std::os::unix::fs::MetadataExt;
            (found.uid(), found.gid())
        };
        assert_eq!(check(folder.path()).is_ok(), owner == group);
        if owner == 0 {
            // Only root can give a folder to any group.
            std::os::unix::fs::chown(folder.path(), None, Some(65_534)).unwrap();
            let why = check(folder.path()).unwrap_err().to_string();
            assert!(why.contains("(mode 770)"), "{why}");
        }
    }

    #[test]
    fn a_folder_below_one_that_others_may_write_to_is_refused() {
        let outer = folder(0o777);
        let inner = outer.path().join("data");
        // Not even to be made there.
        let why = check(&inner).unwrap_err().to_string();
        fs::create_dir(&inner).unwrap();
        set(&inner, 0o700);
        assert_eq!(check(&inner).unwrap_err().to_string(), why);
        let place = format!("in the place of {}", inner.display());
        assert!(why.contains(&place), "{why}");
        // Where only the owner can replace an entry it is safe, as in /tmp.
        set(outer.path(), 0o1777);
        check(&inner).unwrap();
    }

    #[test]
    fn every_folder_that_a_link_leads_through_counts() {
        let (open, own) = (folder(0o777), folder(0o700));
        let target = open.path().join("target");
        fs::create_dir(&target).unwrap();
        set(&target, 0o700);
        symlink(&target, own.path().join("link")).unwrap();
        check(&own.path().join("link")).unwrap_err();
        symlink("..", own.path().join("up")).unwrap();
        check(&own.path().join("up/..")).unwrap_or_else(|error| panic!("{error}"));
        symlink("circle", own.path().join("circle")).unwrap();
        let why = check(&own.path().join("circle")).unwrap_err();
        assert!(matches!(why, OwnershipError::Unknown(..)), "{why}");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let folder = folder(0o700);
        // As another user would see it: the folder is neither theirs nor root's.
        let owner = std::os::unix::fs::MetadataExt::uid(&folder.path().metadata().unwrap());
        let other = Walk {
            folder: folder.path(),
            user: 4_000_000,
        };
        let seen = other.owned(folder.path(), &folder.path().metadata().unwrap(), true);
        assert_eq!(seen.is_err(), owner != 0, "root may do everything anyhow");
        if owner == 0 {
            // Only root can give a folder away.
            std::os::unix::fs::chown(folder.path(), Some(65_534), None).unwrap();
            let why = check(folder.path()).unwrap_err().to_string();
            assert!(why.contains("another user (uid 65534)"), "{why}");
        }
    }

    #[test]
    fn a_file_is_this_users_own_and_no_link() {
        let folder = folder(0o700);
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        set(&path, 0o600);
        let mut options = fs::OpenOptions::new();
        options.read(true);
        no_links(&mut options);
        check_file(&options.open(&path).unwrap()).unwrap();
        set(&path, 0o666);
        let why = check_file(&options.open(&path).unwrap()).unwrap_err();
        assert!(why.to_string().contains("(mode 666)"), "{why}");
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        options.open(&link).unwrap_err();
        check_file(&options.open(folder.path()).unwrap()).unwrap_err();
    }
}
