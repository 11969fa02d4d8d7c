//! The end of a file of records, from where a new process goes on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::chain::{self, LineError, Link};

/// More than the longest record has.
const LONGEST_RECORD: u64 = 1 << 20;

/// The end of a file.
pub(super) struct Tail {
    /// Bytes up to the end of the last whole line.
    pub whole: u64,
    /// Bytes after it: a record of which only the beginning was written, or whose end of line
    /// was not.
    pub rest: Vec<u8>,
    /// The last whole line; None: there is none.
    pub last: Option<Result<Link, LineError>>,
}

impl Tail {
    /// Read it.
    pub(super) fn of(file: &mut File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let begin = length.saturating_sub(LONGEST_RECORD);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(LONGEST_RECORD).read_to_end(&mut bytes)?;
        let is_end = |byte: &u8| *byte == b'\n';
        let Some(end) = bytes.iter().rposition(is_end) else {
            return Ok(Self {
                whole: begin,
                rest: bytes,
                last: (begin > 0).then_some(Err(LineError::NoRecord)),
            });
        };
        let rest = bytes.split_off(end + 1);
        bytes.pop();
        let line = bytes.iter().rposition(is_end).map_or(0, |place| place + 1);
        Ok(Self {
            whole: begin + end as u64 + 1,
            rest,
            last: Some(chain::read(&bytes[line..])),
        })
    }
}
