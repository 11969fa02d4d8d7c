//! The file of the audit log, those that are full, and the note of the last record.
//!
//! Beside the file `audit.jsonl` there are full ones, `audit.N.jsonl` with the number N of their
//! first record in 20 digits, and `audit.head` with the number and the hash of the last record
//! that was written: it is written after the record, so a file that ends before has lost its
//! end. It also has the lock that keeps a second server off.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::chain::{self, Head};
use super::record::{Record, quoted};
use super::removal::to_be_removed;
use super::tail::Tail;

/// Where the log is, and how much of it there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFileOptions {
    /// The file that is written to.
    pub path: PathBuf,
    /// Bytes of a file; then another one is begun.
    pub size: u64,
    /// Files at most, that one included; the oldest are removed, once they are as old as
    /// `age`, or there is less room than `spare`.
    pub files: usize,
    /// No file is removed before it is so old, as long as the disk has room.
    pub age: Duration,
    /// Bytes that the disk has free if it has room.
    pub spare: u64,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuditFileError {
    /// It cannot be opened, read or made.
    #[error("cannot use {} for the audit log", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Another server writes there.
    #[error(
        "another server writes the audit log {}; stop that one, or name another data folder",
        .0.display()
    )]
    Taken(PathBuf),
    /// It is a folder, or a device.
    #[error("the audit log {} is no ordinary file", .0.display())]
    NoFile(PathBuf),
}

/// A name with something between its stem and its extension.
fn beside(path: &Path, middle: &str, extension: Option<&OsStr>) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    if !middle.is_empty() {
        name.push(format!(".{middle}"));
    }
    if let Some(extension) = extension {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The file with the number and the hash of the last record.
pub(super) fn head_path(path: &Path) -> PathBuf {
    beside(path, "", Some(OsStr::new("head")))
}

/// The full files that belong to a file, the oldest first.
pub(super) fn full_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or(String::new(), |extension| {
        format!(".{}", extension.to_string_lossy())
    });
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let is_full = name.to_str().is_some_and(|name| {
            let middle = name.strip_prefix(&*stem);
            let middle = middle.and_then(|rest| rest.strip_prefix('.'));
            let middle = middle.and_then(|rest| rest.strip_suffix(&*extension));
            let digits = middle.map(|middle| middle.strip_suffix("-broken").unwrap_or(middle));
            digits.is_some_and(|it| it.len() == 20 && it.bytes().all(|b| b.is_ascii_digit()))
        });
        if is_full {
            names.push(name);
        }
    }
    names.sort();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// What the head file says.
pub(super) fn read_head(text: &[u8]) -> Option<Head> {
    let text = std::str::from_utf8(text).ok()?.trim_end();
    let (sequence, hash) = text.split_once(' ')?;
    Some(Head {
        sequence: sequence.parse().ok()?,
        hash: chain::digest(hash.as_bytes())?,
    })
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
        // No other file than the one of that name, and no waiting for a pipe.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o777 != 0o600 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// The file that is written to.
pub(super) struct AuditFile {
    options: AuditFileOptions,
    file: File,
    heads: File,
    /// Bytes of it that are records.
    length: u64,
    /// Number of its first record.
    first: u64,
    /// The last record that was written.
    head: Head,
    unsynced: bool,
    /// What was found when it was opened, to be recorded first.
    pub found: Vec<Record>,
}

impl AuditFile {
    /// Open it and find out where the chain goes on.
    ///
    /// # Errors
    /// If one of the files cannot be used.
    pub(super) fn open(options: &AuditFileOptions) -> Result<Self, AuditFileError> {
        let path = &options.path;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| AuditFileError::Io { path, source }
        };
        let heads_path = head_path(path);
        let mut heads = open(&heads_path).map_err(failed(&heads_path))?;
        match heads.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AuditFileError::Taken(path.clone())),
            Err(TryLockError::Error(error)) => return Err(failed(&heads_path)(error)),
        }
        let mut noted = Vec::new();
        let read = (&mut heads).take(1024).read_to_end(&mut noted);
        read.map_err(failed(&heads_path))?;
        let file = open(path).map_err(failed(path))?;
        let is_file = file.metadata().map_err(failed(path))?.is_file();
        if !is_file {
            return Err(AuditFileError::NoFile(path.clone()));
        }
        let mut opened = Self {
            options: options.clone(),
            file,
            heads,
            length: 0,
            first: 0,
            head: Head::default(),
            unsynced: false,
            found: Vec::new(),
        };
        let head = read_head(&noted);
        opened.go_on(head).map_err(failed(path))?;
        Ok(opened)
    }

    /// Find where the chain goes on: after the last record, or after the one that was noted if
    /// that is not there any more.
    fn go_on(&mut self, noted: Option<Head>) -> io::Result<()> {
        let tail = Tail::of(&mut self.file)?;
        self.length = tail.whole;
        let mut last = tail.last;
        if !tail.rest.is_empty() && !matches!(last, Some(Err(_))) {
            match chain::read(&tail.rest) {
                // Only the end of the line was not written.
                Ok(link) => {
                    self.length += tail.rest.len() as u64;
                    self.write_at_end(b"\n")?;
                    last = Some(Ok(link));
                }
                Err(_) => {
                    self.file.set_len(self.length)?;
                    let sentence = format!(
                        "the last record was not whole: its {} bytes, which begin with {}, were removed",
                        tail.rest.len(),
                        quoted(&tail.rest)
                    );
                    self.found.push(Record::log("torn", sentence));
                }
            }
        }
        let last = match last {
            Some(Ok(link)) => Some(link.head),
            Some(Err(error)) => {
                self.set_aside(noted.unwrap_or_default(), &error)?;
                None
            }
            None => self.last_of_full_files(),
        };
        self.compare(last, noted);
        self.first = match self.length {
            0 => self.head.sequence + 1,
            _ => self.first_record()?.unwrap_or(self.head.sequence),
        };
        Ok(())
    }

    fn compare(&mut self, last: Option<Head>, noted: Option<Head>) {
        if noted.is_none() && last.is_some() {
            let sentence =
                "the note of the last record is missing: whether records are, cannot be said";
            self.found.push(Record::log("note-missing", sentence));
        }
        let (found, noted) = (last.unwrap_or_default(), noted.unwrap_or_default());
        // The note is written after the record, so it may be behind.
        if found.sequence > noted.sequence || found == noted {
            self.head = found;
            return;
        }
        let sentence = match found.sequence == noted.sequence {
            true => format!(
                "record {} is not the one that was written under that number",
                noted.sequence
            ),
            false => format!(
                "records up to {} were written, and those after {} are missing",
                noted.sequence, found.sequence
            ),
        };
        tracing::error!("the audit log was changed, or lost its end with the power: {sentence}");
        self.found.push(Record::log(END_MISSING, sentence));
        self.head = noted;
    }

    fn last_of_full_files(&self) -> Option<Head> {
        let newest = full_files(&self.options.path).ok()?.pop()?;
        let tail = Tail::of(&mut File::open(newest).ok()?).ok()?;
        tail.last?.ok().map(|link| link.head)
    }

    fn first_record(&mut self) -> io::Result<Option<u64>> {
        use std::io::BufRead;
        self.file.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        let mut reader = io::BufReader::new((&mut self.file).take(1 << 20));
        reader.read_until(b'\n', &mut line)?;
        line.pop();
        Ok(chain::read(&line).ok().map(|link| link.head.sequence))
    }

    /// A file whose last line is no record is left as it is, under another name.
    fn set_aside(&mut self, noted: Head, error: &chain::LineError) -> io::Result<()> {
        let extension = self.options.path.extension();
        let middle = format!("{:020}-broken", noted.sequence + 1);
        let aside = beside(&self.options.path, &middle, extension);
        fs::rename(&self.options.path, &aside)?;
        self.file = open(&self.options.path)?;
        self.length = 0;
        let name = aside.file_name().unwrap_or_default().to_string_lossy();
        let sentence =
            format!("the last line was not as it was written ({error}): it is in {name}");
        tracing::error!("the audit log was changed: {sentence}");
        self.found.push(Record::log(END_MISSING, sentence));
        Ok(())
    }

    /// The last record that was written.
    pub(super) fn head(&self) -> Head {
        self.head
    }

    fn write_at_end(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Write lines after each other, of which `head` is the last. On an error none of them is
    /// written.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn append(&mut self, lines: &[u8], head: Head) -> io::Result<()> {
        let before = self.length;
        // A part of what could not be written is no record.
        if self.file.metadata()?.len() > before {
            self.file.set_len(before)?;
        }
        let written = self.write_at_end(lines).and_then(|()| self.note(head));
        match written {
            Ok(()) => {
                self.head = head;
                self.unsynced = true;
            }
            Err(_) => {
                self.length = before;
                // If this fails, too, it is done before the next try.
                let _ = self.file.set_len(before);
            }
        }
        written
    }

    /// Note the last record.
    fn note(&mut self, head: Head) -> io::Result<()> {
        let noted = format!("{:020} {}\n", head.sequence, hex::encode(head.hash));
        self.heads.seek(SeekFrom::Start(0))?;
        self.heads.write_all(noted.as_bytes())
    }

    /// Begin another file if this one is full, or not the one of its name any more. What is to
    /// be recorded of that, if it was done.
    ///
    /// # Errors
    /// If it cannot be done; then this one goes on.
    pub(super) fn rotate(&mut self) -> io::Result<Option<Record>> {
        if !self.is_in_place() {
            let file = open(&self.options.path)?;
            let length = file.metadata()?.len();
            (self.file, self.length) = (file, length);
            self.first = self.head.sequence + 1;
            let sentence = "the file was removed or replaced while the server ran";
            tracing::error!("the audit log was changed: {sentence}");
            return Ok(Some(Record::log(END_MISSING, sentence)));
        }
        if self.length < self.options.size {
            return Ok(None);
        }
        self.sync()?;
        let path = &self.options.path;
        let full = beside(path, &format!("{:020}", self.first), path.extension());
        fs::rename(path, &full)?;
        self.file = open(path)?;
        self.length = 0;
        self.first = self.head.sequence + 1;
        let mut files = full_files(path)?;
        let more = (files.len() + 1).saturating_sub(self.options.files.max(1));
        let mut sentence = format!(
            "the records before are in {}",
            full.file_name().unwrap_or_default().to_string_lossy()
        );
        let more = to_be_removed(&files[..more], &self.options);
        for file in files.drain(..more) {
            fs::remove_file(&file)?;
            sentence.push_str("; removed: ");
            sentence.push_str(&file.file_name().unwrap_or_default().to_string_lossy());
        }
        Ok(Some(Record::log("file-full", sentence)))
    }

    /// Whether the file that is written is the one of that name.
    #[cfg(unix)]
    fn is_in_place(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let same = |one: fs::Metadata, other: fs::Metadata| {
            (one.dev(), one.ino()) == (other.dev(), other.ino())
        };
        match (
            self.file.metadata(),
            fs::symlink_metadata(&self.options.path),
        ) {
            (Ok(one), Ok(other)) => same(one, other),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), _) => true,
        }
    }

    #[cfg(not(unix))]
    fn is_in_place(&self) -> bool {
        self.options.path.exists()
    }

    /// Have what was written survive a loss of power.
    ///
    /// # Errors
    /// If the disk fails.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.unsynced {
            self.file.sync_data()?;
            self.heads.sync_data()?;
            self.unsynced = false;
        }
        Ok(())
    }
}

/// What a record says where records before it are missing.
pub(super) const END_MISSING: &str = "end-missing";
