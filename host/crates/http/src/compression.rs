//! Answers are compressed for clients that say that they take it (`Accept-Encoding: gzip`).
//!
//! Compression can give secrets away where an answer holds one beside text that an attacker
//! chose, as its length then tells how alike they are (BREACH). Ours hold none: tokens come
//! in a header that browsers do not send by themselves, the server knows digests of them
//! alone, and no answer repeats either.

use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate, SizeAbove};

/// Bytes from which on an answer is compressed: smaller ones fit into one packet anyway.
const LEAST: u16 = 1024;

/// Compresses the answers that are worth it. Streams of events are not: each event is to
/// reach its listener when it happens.
pub(super) fn layer() -> CompressionLayer<And<SizeAbove, NotForContentType>> {
    // JSON shrinks to a tenth at any level; the fastest takes the least of the processors
    // on which decisions are made.
    CompressionLayer::new()
        .gzip(true)
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(LEAST).and(NotForContentType::SSE))
}
