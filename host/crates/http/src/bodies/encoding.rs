//! Bodies that were compressed on their way.

use std::io::{Cursor, Read};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use flate2::read::MultiGzDecoder;

use crate::budget::Held;
use crate::document::aside;
use crate::problem::{Code, Problem};

/// So much is unpacked before the budget is asked for more.
const STEP: usize = 1 << 20;

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
    let mut decoder = MultiGzDecoder::new(Cursor::new(packed));
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

fn damaged(error: &std::io::Error) -> Problem {
    tracing::debug!(%error, "a compressed body was not unpacked");
    let sentence = "the body has Content-Encoding: gzip and is damaged or no gzip";
    Problem::new(Code::BadRequest, sentence)
}
