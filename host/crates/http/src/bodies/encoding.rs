//! Bodies that were compressed on their way.

use std::io::{self, Cursor, Read};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use flate2::bufread::GzDecoder;

use crate::budget::Held;
use crate::document::aside;
use crate::problem::{Code, Problem};

/// So much is unpacked before the budget is asked for more.
const STEP: usize = 1 << 20;

/// A body may be made of so many that were compressed each by itself (RFC 1952, 2.2). To begin one
/// takes time even if it is empty. Programs that work in blocks make one of each 64 KiB at least.
const MOST_MEMBERS: usize = 4096;

/// How the bytes of a body are encoded (RFC 9110, 8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As they are.
    Identity,
    /// Compressed by gzip.
    Gzip,
}

impl Encoding {
    /// That of a request.
    ///
    /// # Errors
    /// If it is another one, or several.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut found = Self::Identity;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            let value = String::from_utf8_lossy(value.as_bytes());
            for word in value.split(',').map(str::trim) {
                let is_gzip = ["gzip", "x-gzip"]
                    .iter()
                    .any(|it| word.eq_ignore_ascii_case(it));
                match (is_gzip, found) {
                    _ if word.is_empty() || word.eq_ignore_ascii_case("identity") => {}
                    (true, Self::Identity) => found = Self::Gzip,
                    _ => return Err(unsupported(&value)),
                }
            }
        }
        Ok(found)
    }
}

/// The answer says which encodings are taken (RFC 9110, 15.5.16).
fn unsupported(given: &str) -> Problem {
    let sentence = format!(
        "the body has the content encoding \"{}\"; send it as it is, or compressed once with \
         Content-Encoding: gzip",
        placewright_document::shown(given)
    );
    let taken = HeaderValue::from_static("gzip, identity");
    Problem::new(Code::UnsupportedType, sentence).with_header(header::ACCEPT_ENCODING, taken)
}

/// Unpack a body, off the threads that serve. What comes of it takes part of the budget as it
/// grows, so that a small body cannot fill the memory.
///
/// # Errors
/// If it is damaged, larger than `most` bytes, or the budget has no room.
pub(super) async fn unpack(
    packed: Bytes,
    most: usize,
    held: &mut Held,
    too_large: impl Fn() -> Problem,
) -> Result<Bytes, Problem> {
    let packed_size = packed.len();
    let mut decoder = Members::of(packed);
    let mut whole = Vec::new();
    loop {
        let before = whole.len();
        // One more byte than may be shows that there are more.
        let step = STEP.min(most + 1 - before);
        held.grow_to(packed_size + before + step).await?;
        let read = aside(move || {
            let mut part = decoder.by_ref().take(step as u64);
            part.read_to_end(&mut whole)
                .map(|_| (decoder, whole))
                .map_err(|error| damaged(&error))
        });
        (decoder, whole) = read.await?;
        if whole.len() > most {
            return Err(too_large());
        }
        if whole.len() - before < step {
            return Ok(whole.into());
        }
    }
}

/// What was compressed, one member after the other.
struct Members {
    /// Of the member that is read, and all that comes behind it.
    decoder: GzDecoder<Cursor<Bytes>>,
    /// How many have begun.
    begun: usize,
}

impl Members {
    fn of(packed: Bytes) -> Self {
        Self {
            decoder: GzDecoder::new(Cursor::new(packed)),
            begun: 1,
        }
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let rest = std::mem::take(self.decoder.get_mut());
            if rest.position() >= rest.get_ref().len() as u64 {
                return Ok(0);
            }
            self.begun += 1;
            if self.begun > MOST_MEMBERS {
                return Err(io::Error::other(TooManyMembers));
            }
            self.decoder = GzDecoder::new(rest);
        }
    }
}

/// A body has more members than it may.
#[derive(Debug, thiserror::Error)]
#[error("too many members")]
struct TooManyMembers;

fn damaged(error: &io::Error) -> Problem {
    tracing::debug!(%error, "a compressed body was not unpacked");
    if error.get_ref().is_some_and(|it| it.is::<TooManyMembers>()) {
        let sentence = format!(
            "the body has Content-Encoding: gzip and more than {MOST_MEMBERS} members: compress it as one"
        );
        return Problem::new(Code::BadRequest, sentence);
    }
    let sentence = "the body has Content-Encoding: gzip and is damaged or no gzip";
    Problem::new(Code::BadRequest, sentence)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(packed: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        let read = Members::of(packed.into()).read_to_end(&mut whole);
        read.map(|_| whole)
    }

    #[test]
    fn members_are_read_one_after_the_other() {
        let body = [packed(b"a"), packed(b""), packed(&[b'b'; 100_000])].concat();
        let whole = unpacked(body).unwrap();
        assert_eq!((whole.len(), &whole[..2]), (100_001, &b"ab"[..]));
        assert!(unpacked([packed(b"a"), b"more".to_vec()].concat()).is_err());
        let mut short = packed(b"abc");
        short.pop();
        assert!(unpacked(short).is_err());
    }

    #[test]
    fn a_body_of_very_many_members_is_refused() {
        let most = packed(b"").repeat(MOST_MEMBERS);
        assert_eq!(unpacked(most.clone()).unwrap(), b"");
        let error = unpacked([most, packed(b"")].concat()).unwrap_err();
        let problem = damaged(&error);
        assert_eq!(problem.code(), Code::BadRequest);
        assert!(
            problem
                .detail()
                .ends_with("more than 4096 members: compress it as one")
        );
    }
}
