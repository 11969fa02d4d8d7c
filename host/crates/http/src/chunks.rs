//! A text that is written and sent a piece at a time: what was sent takes no memory any more,
//! and none of it is moved while it grows.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http_body::{Frame, SizeHint};

use super::budget::Held;
use super::packed::Packing;
use super::problem::Problem;

/// Bytes of a piece.
pub(super) const PIECE: usize = 64 << 10;

/// Bytes of a text from which on it is packed.
const LONG: usize = 1 << 20;

/// Bytes by which a packed text takes more of its budget.
const STEP: usize = 1 << 20;

/// A text that is being written. It is packed once it is long.
#[derive(Debug, Default)]
pub(super) struct Written {
    whole: VecDeque<Bytes>,
    last: Vec<u8>,
    packing: Option<Packing>,
    /// What it takes of a budget while it is written; None: it waits for no room.
    held: Option<Held>,
    /// Why there was no room.
    refused: Option<Problem>,
}

impl Written {
    /// One that takes room as it grows, and waits where there is none. It is to be written on a
    /// thread that may wait.
    pub(super) fn with_room(held: Option<Held>) -> Self {
        Self {
            held,
            ..Self::default()
        }
    }

    /// Why it could not be written, if that is for lack of room.
    pub(super) fn refused(&mut self) -> Option<Problem> {
        self.refused.take()
    }

    /// The response of which it is the body.
    ///
    /// # Errors
    /// If it cannot be packed.
    pub(super) fn into_response(mut self) -> io::Result<Response> {
        let last = std::mem::take(&mut self.last);
        let Some(mut packing) = self.packing.take() else {
            if self.whole.is_empty() {
                return Ok(Response::new(last.into()));
            }
            self.whole.push_back(last.into());
            return Ok(Response::new(Body::new(Chunks::of(self.whole))));
        };
        packing.add(last.into())?;
        let held = self.held.map(|mut held| {
            held.shrink_to(packing.bytes());
            held
        });
        let packed = packing.finish(held);
        let mut response = Response::new(packed.plain());
        response.extensions_mut().insert(packed);
        Ok(response)
    }

    /// Put a full piece to the others.
    fn add(&mut self, piece: Bytes) -> io::Result<()> {
        let Some(packing) = &mut self.packing else {
            self.whole.push_back(piece);
            if self.whole.len() * PIECE >= LONG {
                let packing = self.packing.insert(Packing::default());
                for piece in self.whole.drain(..) {
                    packing.add(piece)?;
                }
            }
            return Ok(());
        };
        packing.add(piece)?;
        let bytes = packing.bytes();
        if let Some(held) = &mut self.held
            && let Err(problem) = held.wait_to_grow(bytes, STEP)
        {
            self.refused = Some(problem);
            return Err(io::Error::other("there is no room for the answer"));
        }
        Ok(())
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.len() >= PIECE {
            let piece = std::mem::replace(&mut self.last, Vec::with_capacity(PIECE));
            self.add(piece.into())?;
        }
        let most = bytes.len().min(PIECE - self.last.len());
        self.last.extend_from_slice(&bytes[..most]);
        Ok(most)
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
    async fn a_text_is_sent_in_pieces_and_is_whole() {
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
        let body = written.into_response().unwrap().into_body();
        assert_eq!(body.size_hint().exact(), Some(expected.len() as u64));
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn a_short_text_is_one_piece() {
        let mut written = Written::default();
        written.write_all(b"{}").unwrap();
        assert!(written.whole.is_empty());
        let body = written.into_response().unwrap().into_body();
        assert_eq!(to_bytes(body, 10).await.unwrap(), "{}");
    }
}
