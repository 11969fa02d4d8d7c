//! Answers are compressed for clients that say that they take it (`Accept-Encoding: gzip`).
//!
//! Compression can give secrets away where an answer holds one beside text that an attacker
//! chose, as its length then tells how alike they are (BREACH). Ours hold none: tokens come
//! in a header that browsers do not send by themselves, the server knows digests of them
//! alone, and no answer repeats either.

use std::io::{self, Write};

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate, SizeAbove};

/// Bytes from which on an answer is compressed: smaller ones fit into one packet anyway.
const LEAST: u16 = 1024;

/// What a copy of the store has as its media type.
const DATABASE: &str = "application/octet-stream";

/// Which answers are compressed.
type Worthwhile = And<And<SizeAbove, NotForContentType>, NotForContentType>;

/// Compresses the answers that are worth it. Streams of events are not: each event is to
/// reach its listener when it happens. Those that many read are compressed once for all of them,
/// event by event ([`shared_stream`](crate::shared_stream)). Neither are copies of the store: their client is told how
/// long they are, and finds that one ended early.
pub(super) fn layer() -> CompressionLayer<Worthwhile> {
    // JSON shrinks to a tenth at any level; the fastest takes the least of the processors
    // on which decisions are made.
    CompressionLayer::new()
        .gzip(true)
        .quality(CompressionLevel::Fastest)
        .compress_when(
            SizeAbove::new(LEAST)
                .and(NotForContentType::SSE)
                .and(NotForContentType::const_new(DATABASE)),
        )
}

/// A long text that is the same for everybody, compressed once: whoever asks for it again and
/// again, maybe without a token, is not to take the processors on which decisions are made.
#[derive(Debug, Clone)]
pub struct Compressed {
    kind: &'static str,
    plain: Bytes,
    gzip: Bytes,
}

impl Compressed {
    /// A text of that media type.
    ///
    /// # Errors
    /// If it cannot be compressed.
    pub fn new(kind: &'static str, text: String) -> io::Result<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes())?;
        Ok(Self {
            kind,
            gzip: encoder.finish()?.into(),
            plain: text.into(),
        })
    }

    /// The text as whoever sends these headers reads it.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let kind = [
            (header::CONTENT_TYPE, self.kind),
            (header::VARY, "accept-encoding"),
        ];
        match takes_gzip(headers) {
            true => {
                let coding = [(header::CONTENT_ENCODING, "gzip")];
                (kind, coding, self.gzip.clone()).into_response()
            }
            false => (kind, self.plain.clone()).into_response(),
        }
    }
}

/// Whether a client reads gzip: it names it, and not with a weight of 0.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).into_iter();
    let codings = values.filter_map(|value| value.to_str().ok());
    codings.flat_map(|text| text.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        is_gzip && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|it| it > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn accepting(text: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(text))])
    }

    #[test]
    fn gzip_is_sent_to_whoever_names_it_with_a_weight() {
        for (text, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, br", false),
            ("gzip;q=x", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(takes_gzip(&accepting(text)), takes, "{text}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn a_text_is_compressed_for_those_alone_who_read_it_so() {
        let text = Compressed::new("text/plain", "word ".repeat(1000)).unwrap();
        let coding = |headers: &HeaderMap| {
            let answer = text.answer(headers);
            answer.headers().get(header::CONTENT_ENCODING).cloned()
        };
        assert_eq!(coding(&accepting("gzip")).unwrap(), "gzip");
        assert_eq!(coding(&accepting("br")), None);
        assert!(text.gzip.len() * 10 < text.plain.len());
    }
}
