//! A text that is written and sent a piece at a time: what was sent takes no memory any more,
//! and none of it is moved while it grows.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};

/// Bytes of a piece.
pub(super) const PIECE: usize = 64 << 10;

/// A text that is being written.
#[derive(Debug, Default)]
pub(super) struct Written {
    whole: VecDeque<Bytes>,
    last: Vec<u8>,
}

impl Written {
    /// The body that it makes.
    pub(super) fn into_body(mut self) -> Body {
        if self.whole.is_empty() {
            return self.last.into();
        }
        self.whole.push_back(self.last.into());
        Body::new(Chunks::of(self.whole))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() + bytes.len() > PIECE && !self.last.is_empty() {
            let next = Vec::with_capacity(PIECE.max(bytes.len()));
            self.whole
                .push_back(std::mem::replace(&mut self.last, next).into());
        }
        self.last.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body of pieces.
#[derive(Debug)]
pub(super) struct Chunks {
    pieces: VecDeque<Bytes>,
    rest: u64,
}

impl Chunks {
    /// These, one after the other.
    pub(super) fn of(pieces: VecDeque<Bytes>) -> Self {
        let rest = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, rest }
    }
}

impl HttpBody for Chunks {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = self.pieces.pop_front();
        self.rest -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    #[tokio::test]
    async fn a_long_text_is_sent_in_pieces_and_is_whole() {
        let mut written = Written::default();
        let mut expected = Vec::new();
        for number in 0..100_000_u32 {
            let word = number.to_string();
            written.write_all(word.as_bytes()).unwrap();
            expected.extend_from_slice(word.as_bytes());
        }
        let large = vec![b'x'; 3 * PIECE];
        written.write_all(&large).unwrap();
        expected.extend_from_slice(&large);
        assert!(written.whole.iter().all(|piece| piece.len() <= PIECE));
        assert!(written.whole.len() > 5);
        let body = written.into_body();
        assert_eq!(body.size_hint().exact(), Some(expected.len() as u64));
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn a_short_text_is_one_piece() {
        let mut written = Written::default();
        written.write_all(b"{}").unwrap();
        assert!(written.whole.is_empty());
        assert_eq!(to_bytes(written.into_body(), 10).await.unwrap(), "{}");
    }
}
