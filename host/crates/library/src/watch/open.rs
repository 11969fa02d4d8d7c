//! Whether a program has a file open to write it, as Linux tells of the user's own programs.

use std::path::Path;

/// Whether another program of this user has the file open to write it. False where the
/// system does not tell.
pub fn being_written(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return linux::being_written(path).unwrap_or(false);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// The bits of the flags of an open file that say how it may be used; 0: to read.
    const ACCESS: u32 = 0o3;

    pub(super) fn being_written(path: &Path) -> io::Result<bool> {
        let file = fs::metadata(path)?;
        // A pipe is written while it is read, and everybody writes to devices.
        if !file.is_file() {
            return Ok(false);
        }
        let wanted = (file.dev(), file.ino());
        let own = std::process::id().to_string();
        for process in fs::read_dir("/proc")?.flatten() {
            let name = process.file_name();
            let is_other = name
                .to_str()
                .is_some_and(|name| name != own && name.bytes().all(|byte| byte.is_ascii_digit()));
            if is_other && writes(&process.path(), wanted) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a process has that file open to write it. One that ends meanwhile, or is
    /// another user's, has not.
    fn writes(process: &Path, wanted: (u64, u64)) -> bool {
        let Ok(files) = fs::read_dir(process.join("fd")) else {
            return false;
        };
        files.flatten().any(|file| {
            let is_it =
                fs::metadata(file.path()).is_ok_and(|found| (found.dev(), found.ino()) == wanted);
            is_it && may_write(&process.join("fdinfo").join(file.file_name()))
        })
    }

    fn may_write(information: &Path) -> bool {
        let text = fs::read_to_string(information).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| flags & ACCESS != 0)
    }
}
