//! Checks that records are as they were written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::chain::{self, Head, Link};
use super::file::{END_MISSING, full_files, head_path, read_head};

/// A longer line is no record.
pub(super) const LONGEST_LINE: u64 = 1 << 20;

/// The file of the log in the folder of data.
const USUAL_NAME: &str = "audit.jsonl";

/// What was found out of records.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Verified {
    /// Whether all is as it was written, as far as can be seen.
    pub intact: bool,
    /// The first place where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Break>,
    /// The files, in the order of their records.
    pub files: Vec<PathBuf>,
    /// How many records were found to be good.
    pub records: u64,
    /// Number of the first record; those before it are elsewhere, or were removed with their
    /// files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// The last good record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
    /// Records that were lost since the queue was full.
    pub lost: u64,
    /// Whether the end was compared with the note of the last record.
    pub end_compared: bool,
    /// Bytes of a record at the end of which only the beginning is there: the server was killed
    /// while it wrote, or is writing.
    pub torn: u64,
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Last {
    pub sequence: u64,
    pub at: String,
    #[serde(serialize_with = "hexadecimal")]
    pub hash: [u8; 32],
}

fn hexadecimal<S: Serializer>(hash: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(hash))
}

/// A place where records are not as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Break {
    /// The file.
    pub file: PathBuf,
    /// From 1.
    pub line: u64,
    /// What is wrong there.
    pub why: String,
}

/// Why the log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file cannot be read.
    #[error("cannot read {}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// Check the records of these files: a folder stands for its `audit.jsonl`, and a file that is
/// written to for the full ones beside it, too. `contains` is the hash of a record that must be
/// among them.
///
/// # Errors
/// If one of the files cannot be read.
pub fn verify(paths: &[PathBuf], contains: Option<[u8; 32]>) -> Result<Verified, ReadError> {
    let mut parts = Vec::new();
    for path in paths {
        gather(path, &mut parts)?;
    }
    // A file may be given twice. By the number of the first record; one that is no record comes
    // where its name has it among those of its folder.
    parts.sort_by(|one, other| (one.order, &one.path).cmp(&(other.order, &other.path)));
    parts.dedup_by(|one, other| {
        let is_same = one.order == other.order && !one.is_aside && !other.is_aside;
        one.path == other.path || is_same
    });
    let mut check = Check {
        seen: Verified::default(),
        head: None,
        contains,
    };
    for part in &mut parts {
        check.seen.files.push(part.path.clone());
        if !check.file(part)? {
            return Ok(check.seen);
        }
    }
    let end = parts.iter().rev().find(|part| part.head.is_some());
    if let Some(part) = end
        && let Some(noted) = part.head
    {
        check.compare(part, noted);
    }
    if check.seen.broken.is_none()
        && check.contains.is_some()
        && let Some(part) = parts.last()
    {
        check.seen.broken = Some(Break {
            file: part.path.clone(),
            line: 0,
            why: "no record has the hash that must be among them".to_owned(),
        });
    }
    check.seen.intact = check.seen.broken.is_none();
    Ok(check.seen)
}

/// A file to be checked.
struct Part {
    path: PathBuf,
    file: File,
    order: u64,
    /// Whether its last line was no record any more when a server began.
    is_aside: bool,
    /// The note of the last record, read before the file: it is never ahead of it.
    head: Option<Head>,
}

impl Part {
    fn of(path: PathBuf, file: File, head: Option<Head>) -> Self {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Self {
            order: of_name(&path).unwrap_or(0),
            is_aside: name.ends_with("-broken"),
            path,
            file,
            head,
        }
    }
}

pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> ReadError {
    let path = path.to_owned();
    move |source| ReadError::Io { path, source }
}

fn gather(path: &Path, parts: &mut Vec<Part>) -> Result<(), ReadError> {
    let path = match path.is_dir() {
        true => path.join(USUAL_NAME),
        false => path.to_owned(),
    };
    let head = std::fs::read(head_path(&path));
    let head = head.ok().and_then(|text| read_head(&text));
    // First, as it may become a full one meanwhile.
    let mut file = File::open(&path).map_err(failed(&path))?;
    for full in full_files(&path).map_err(failed(&path))? {
        match File::open(&full) {
            Ok(file) => parts.push(Part::of(full, file, None)),
            // The oldest are removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&full)(error)),
        }
    }
    let first = match of_name(&path) {
        Some(_) => None,
        None => Some(first(&mut file).map_err(failed(&path))?),
    };
    let mut part = Part::of(path, file, head);
    if let Some(first) = first {
        part.order = first.unwrap_or(u64::MAX);
    }
    parts.push(part);
    Ok(())
}

/// The number that the name of a full file has.
pub(super) fn of_name(path: &Path) -> Option<u64> {
    let stem = path.file_stem()?.to_str()?;
    let (_, number) = stem.rsplit_once('.')?;
    let number = number.strip_suffix("-broken").unwrap_or(number);
    (number.len() == 20).then(|| number.parse().ok()).flatten()
}

/// The number of the first record of a file.
pub(super) fn first(file: &mut File) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    BufReader::new((&mut *file).take(LONGEST_LINE)).read_until(b'\n', &mut line)?;
    file.seek(SeekFrom::Start(0))?;
    line.pop();
    Ok(chain::read(&line).ok().map(|link| link.head.sequence))
}

struct Check {
    seen: Verified,
    /// The last record.
    head: Option<Head>,
    /// The hash that must come yet.
    contains: Option<[u8; 32]>,
}

impl Check {
    /// Check a file; whether it is worth to go on.
    fn file(&mut self, part: &mut Part) -> Result<bool, ReadError> {
        let mut reader = BufReader::new(&mut part.file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let mut bounded = (&mut reader).take(LONGEST_LINE);
            let read = bounded.read_until(b'\n', &mut line);
            if read.map_err(failed(&part.path))? == 0 {
                break;
            }
            let is_whole = line.pop_if(|byte| *byte == b'\n').is_some();
            let why = match chain::read(&line) {
                Ok(link) => match self.link(&link) {
                    None => continue,
                    Some(why) => why,
                },
                Err(_) if !is_whole && (line.len() as u64) < LONGEST_LINE => {
                    self.seen.torn = line.len() as u64;
                    break;
                }
                Err(error) => error.to_string(),
            };
            self.seen.broken = Some(Break {
                file: part.path.clone(),
                line: number,
                why,
            });
            return Ok(false);
        }
        Ok(true)
    }

    /// Take in a record; what is wrong with its place, if anything is.
    fn link(&mut self, link: &Link) -> Option<String> {
        let sequence = link.head.sequence;
        if self.seen.torn > 0 {
            return Some("the record before it is not whole".to_owned());
        }
        if let Some(head) = self.head {
            if sequence != head.sequence + 1 {
                return Some(format!(
                    "it is record {sequence}, and the one before is {}: records were removed, put in or moved",
                    head.sequence
                ));
            }
            if link.previous != head.hash {
                return Some(format!(
                    "it does not follow the record before it, {}: one of them was put in or changed",
                    head.sequence
                ));
            }
        } else if sequence <= 1 && link.previous != Head::default().hash {
            return Some("it is the first record, and follows another one".to_owned());
        }
        if link.what == END_MISSING {
            return Some("the server found records missing before it; it says which".to_owned());
        }
        self.contains.take_if(|hash| *hash == link.head.hash);
        self.head = Some(link.head);
        self.seen.records += 1;
        self.seen.lost += link.lost;
        self.seen.first.get_or_insert(sequence);
        self.seen.last = Some(Last {
            sequence,
            at: link.at.clone(),
            hash: link.head.hash,
        });
        None
    }

    /// Compare the end with the note of the last record.
    fn compare(&mut self, part: &Part, noted: Head) {
        self.seen.end_compared = true;
        let last = self.head.unwrap_or_default();
        let why = if last.sequence < noted.sequence {
            format!(
                "records up to {} were written, and those after {} are missing",
                noted.sequence, last.sequence
            )
        } else if last.sequence == noted.sequence && last.hash != noted.hash {
            format!("record {} is not the one that was written", last.sequence)
        } else {
            return;
        };
        self.seen.broken = Some(Break {
            file: part.path.clone(),
            line: 0,
            why,
        });
    }
}
