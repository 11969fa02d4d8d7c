//! The lines of a file from its end to its beginning, with a bounded part of it in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::chain::{self, Link};
use super::verify::LONGEST_LINE;

/// Bytes that are read at once.
const BLOCK: u64 = 64 << 10;

/// A line without its end.
pub(super) struct Line {
    pub bytes: Vec<u8>,
    /// Whether its end was there.
    pub is_whole: bool,
}

/// Reads lines, the last one first.
pub(super) struct Backwards<'f> {
    file: &'f mut File,
    /// Bytes before this are not read yet.
    unread: u64,
    /// What was read and is not given yet: the bytes from there on.
    rest: Vec<u8>,
}

impl<'f> Backwards<'f> {
    /// The lines before that place of the file: the beginning of a line, or its end.
    pub(super) fn before(file: &'f mut File, end: u64) -> Self {
        Self {
            file,
            unread: end,
            rest: Vec::new(),
        }
    }

    /// The next line towards the beginning. One that is longer than any record comes in pieces,
    /// none of which is one.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn line(&mut self) -> io::Result<Option<Line>> {
        loop {
            // The end of the line itself is no beginning of another one.
            let body = self.rest.len().saturating_sub(1);
            let begin = self.rest[..body].iter().rposition(|byte| *byte == b'\n');
            if let Some(begin) = begin {
                return Ok(Some(Self::taken(self.rest.split_off(begin + 1))));
            }
            if self.unread == 0 || self.rest.len() as u64 >= LONGEST_LINE {
                let rest = std::mem::take(&mut self.rest);
                if rest.is_empty() {
                    return Ok(None);
                }
                return Ok(Some(Self::taken(rest)));
            }
            let length = self.unread.min(BLOCK);
            self.file.seek(SeekFrom::Start(self.unread - length))?;
            let mut block = Vec::with_capacity(self.rest.len() + BLOCK as usize);
            (&mut *self.file).take(length).read_to_end(&mut block)?;
            if block.len() as u64 != length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            block.append(&mut self.rest);
            self.rest = block;
            self.unread -= length;
        }
    }

    fn taken(mut bytes: Vec<u8>) -> Line {
        let is_whole = bytes.pop_if(|byte| *byte == b'\n').is_some();
        Line { bytes, is_whole }
    }
}

/// Where the first record begins that is not one of the earlier ones, found by halves since
/// records are in their order; or a place after it where lines are none. `is_earlier` says of a
/// record whether it is one of them.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn end_of(file: &mut File, is_earlier: impl Fn(&Link) -> bool) -> io::Result<u64> {
    let (mut low, mut high) = (0, file.metadata()?.len());
    while high - low > BLOCK {
        let middle = low + (high - low) / 2;
        file.seek(SeekFrom::Start(middle))?;
        let mut reader = BufReader::new(&mut *file);
        let mut read = || {
            let mut line = Vec::new();
            let read = (&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line);
            read.map(|_| line)
        };
        let begin = middle + read()?.len() as u64;
        let mut line = read()?;
        let end = begin + line.len() as u64;
        if line.pop_if(|byte| *byte == b'\n').is_none() || end > high {
            break;
        }
        match chain::read(&line) {
            Ok(link) if is_earlier(&link) => low = end,
            Ok(_) => high = begin,
            // Nothing is known of what is here: all up to there is looked at.
            Err(_) => break,
        }
    }
    Ok(high)
}
