//! A stream that many read, compressed once for all of them (RFC 1952, RFC 1951).
//!
//! Each part is a run of deflate blocks that refers to no other part and ends at a byte. So the
//! same bytes stand in every stream, whatever its reader was sent before; only the check sum at the
//! end is that of each reader.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use axum::body::Bytes;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// How a reader wants a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// As it is.
    Plain,
    /// Compressed.
    Gzip,
}

/// A member of a gzip file begins so: deflate, no name, no time, of an unknown system.
const HEAD: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// The last block of deflate: it is empty.
const LAST_BLOCK: &[u8] = &[3, 0];

/// A part of a stream as it is sent.
#[derive(Debug, Clone)]
pub struct Part {
    bytes: Bytes,
    /// The check sum and number of the bytes that are compressed in it.
    crc: Option<Arc<Crc>>,
}

impl Part {
    /// A part of a stream of that coding.
    ///
    /// # Errors
    /// If it cannot be compressed.
    pub fn new(coding: Coding, text: Bytes) -> io::Result<Self> {
        match coding {
            Coding::Plain => Ok(Self {
                bytes: text,
                crc: None,
            }),
            Coding::Gzip => {
                let mut crc = Crc::new();
                crc.update(&text);
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&text)?;
                encoder.flush()?;
                // What it writes when it is finished ends a stream, and this goes on.
                let bytes = std::mem::take(encoder.get_mut());
                Ok(Self {
                    bytes: bytes.into(),
                    crc: Some(Arc::new(crc)),
                })
            }
        }
    }

    /// What is sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The part as it was before it was coded.
    ///
    /// # Errors
    /// If it cannot be unpacked.
    pub fn text(&self) -> io::Result<Bytes> {
        if self.crc.is_none() {
            return Ok(self.bytes.clone());
        }
        let mut text = Vec::with_capacity(self.bytes.len());
        let whole = io::Read::chain(&*self.bytes, LAST_BLOCK);
        DeflateDecoder::new(whole).read_to_end(&mut text)?;
        Ok(text.into())
    }
}

/// What one reader was sent.
#[derive(Debug)]
pub struct SharedStream {
    /// Of all parts together; none if they are not compressed.
    crc: Option<Crc>,
    has_begun: bool,
    has_ended: bool,
}

impl SharedStream {
    /// A stream of that coding, before its first part.
    pub fn new(coding: Coding) -> Self {
        Self {
            crc: (coding == Coding::Gzip).then(Crc::new),
            has_begun: false,
            has_ended: false,
        }
    }

    /// What goes before the first part, if anything: once.
    pub fn begin(&mut self) -> Option<Bytes> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        (is_first && self.crc.is_some()).then_some(Bytes::from_static(HEAD))
    }

    /// The bytes of the next part, which is of the coding of the stream.
    pub fn next(&mut self, part: &Part) -> Bytes {
        if let (Some(all), Some(crc)) = (&mut self.crc, &part.crc) {
            all.combine(crc);
        }
        part.bytes.clone()
    }

    /// What goes after the last part, if anything: once.
    pub fn end(&mut self) -> Option<Bytes> {
        let is_first = !std::mem::replace(&mut self.has_ended, true);
        let crc = self.crc.as_ref().filter(|_| is_first && self.has_begun)?;
        let mut bytes = LAST_BLOCK.to_vec();
        bytes.extend(crc.sum().to_le_bytes());
        bytes.extend(crc.amount().to_le_bytes());
        Some(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use flate2::read::GzDecoder;

    use super::*;

    fn part(text: &str) -> Part {
        Part::new(Coding::Gzip, Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn text(sent: &[u8]) -> String {
        let mut text = String::new();
        GzDecoder::new(sent).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn readers_that_came_at_different_times_read_the_same_parts() {
        let parts = ["one\n".repeat(100), String::new(), "two\n".repeat(3000)];
        let parts = parts.map(|text| (part(&text), text));
        for first in 0..parts.len() {
            let mut stream = SharedStream::new(Coding::Gzip);
            let mut sent = stream.begin().unwrap().to_vec();
            assert!(stream.begin().is_none());
            for (part, _) in &parts[first..] {
                sent.extend(stream.next(part));
            }
            let end = stream.end().unwrap();
            assert!(stream.end().is_none());
            // What has come so far is read before the stream ends.
            let mut so_far = Vec::new();
            let all: String = parts[first..].iter().map(|(_, text)| &**text).collect();
            let unfinished = GzDecoder::new(&*sent).read_to_end(&mut so_far);
            assert_eq!(unfinished.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert_eq!(so_far, all.as_bytes());
            sent.extend(end);
            assert_eq!(text(&sent), all);
        }
        assert!(parts[2].0.bytes().len() * 20 < parts[2].1.len());
    }

    #[test]
    fn a_stream_that_is_not_compressed_is_its_parts_alone() {
        let plain = Part::new(Coding::Plain, Bytes::from_static(b"text")).unwrap();
        let mut stream = SharedStream::new(Coding::Plain);
        assert!(stream.begin().is_none());
        assert_eq!(stream.next(&plain), "text");
        assert!(stream.end().is_none());
    }
}
