//! What a program and the process that compiles for it say to one another.

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Limits;

/// What an answer with code begins with, and one that tells why there is none. Change them with
/// the layout.
const CODE: &[u8; 8] = b"pwdone01";
const INVALID: &[u8; 8] = b"pwnone01";

const CHECKSUM: usize = 32;

/// The first line of what the process reads; so many bytes of a component follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    bytes: usize,
    /// What shapes code: the same as [`Limits::stack`], and whether there is [`Limits::fuel`].
    stack: usize,
    fuel: bool,
    /// Bytes of memory that the process may take.
    pub(super) memory: u64,
    /// Time for it, of which each of its threads may use all.
    pub(super) time: Duration,
}

impl Request {
    pub(super) fn new(bytes: &[u8], limits: &Limits) -> Self {
        Self {
            bytes: bytes.len(),
            stack: limits.stack,
            fuel: limits.fuel.is_some(),
            memory: limits.compile_memory as u64,
            time: limits.compile_time,
        }
    }

    /// Limits that give the same code.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            stack: self.stack,
            fuel: self.fuel.then_some(1),
            ..Limits::default()
        }
    }

    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        to.write_all(&line)
    }

    /// Read a request, without the bytes of the component.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        from.take(1024).read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }

    /// Read the bytes of the component after the request.
    pub(super) fn read_bytes(&self, from: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes];
        from.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// What comes of it.
pub(super) enum Answer<'a> {
    Code(&'a [u8]),
    Invalid(String),
}

impl<'a> Answer<'a> {
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (kind, content) = match self {
            Self::Code(code) => (CODE, *code),
            Self::Invalid(why) => (INVALID, why.as_bytes()),
        };
        to.write_all(kind)?;
        to.write_all(&Sha256::digest(content))?;
        to.write_all(content)?;
        to.flush()
    }

    /// None if it is not whole.
    pub(super) fn read(written: &'a [u8]) -> Option<Self> {
        let (kind, rest) = written.split_first_chunk()?;
        let (checksum, content) = rest.split_at_checked(CHECKSUM)?;
        if Sha256::digest(content).as_slice() != checksum {
            return None;
        }
        match kind {
            CODE => Some(Self::Code(content)),
            INVALID => Some(Self::Invalid(String::from_utf8_lossy(content).into_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let request = Request::new(b"bytes", &Limits::reproducible());
        let mut written = Vec::new();
        request.write(&mut written).unwrap();
        written.extend(b"bytes");
        let mut from = written.as_slice();
        let read = Request::read(&mut from).unwrap();
        assert_eq!(read, request);
        assert_eq!(read.read_bytes(&mut from).unwrap(), b"bytes");
        assert!(read.limits().fuel.is_some());
    }

    #[test]
    fn an_answer_that_is_cut_off_or_changed_is_none() {
        let mut whole = Vec::new();
        Answer::Code(b"code").write(&mut whole).unwrap();
        assert!(matches!(Answer::read(&whole), Some(Answer::Code(b"code"))));
        for end in 0..whole.len() {
            assert!(Answer::read(&whole[..end]).is_none(), "{end}");
        }
        *whole.last_mut().unwrap() ^= 1;
        assert!(Answer::read(&whole).is_none());
    }
}
