//! A long text that is held compressed until it is sent: text of documents shrinks to a tenth and
//! less. Whoever reads gzip is sent it as it is; for others it is unpacked a piece at a time.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body::{Frame, SizeHint};

use super::budget::Held;
use super::shared_stream::{Coding, Part, SharedStream};

/// A text that is being packed.
#[derive(Debug, Default)]
pub(super) struct Packing {
    parts: Vec<Part>,
    plain: u64,
    packed: usize,
}

impl Packing {
    /// Pack the next piece of the text.
    ///
    /// # Errors
    /// If it cannot be compressed.
    pub(super) fn add(&mut self, piece: Bytes) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        self.plain += piece.len() as u64;
        let part = Part::new(Coding::Gzip, piece)?;
        self.packed += part.bytes().len();
        self.parts.push(part);
        Ok(())
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.packed
    }

    /// The text, with what it takes of a budget.
    pub(super) fn finish(self, held: Option<Held>) -> Packed {
        Packed(Arc::new(All {
            parts: self.parts,
            plain: self.plain,
            packed: self.packed,
            held: Mutex::new(held),
        }))
    }
}

/// A packed text. It goes with a response as an extension until it is known how the client reads
/// it.
#[derive(Debug, Clone)]
pub(super) struct Packed(Arc<All>);

#[derive(Debug)]
struct All {
    parts: Vec<Part>,
    /// Bytes of the text, unpacked.
    plain: u64,
    /// Bytes that it takes.
    packed: usize,
    /// What it takes of the budget, if that was asked while it was written.
    held: Mutex<Option<Held>>,
}

impl Packed {
    /// The packed text that the response has as its body, if it has one.
    pub(super) fn take(response: &mut Response) -> Option<Self> {
        let packed = response.extensions_mut().remove::<Self>()?;
        // That of a HEAD is empty.
        let is_body = response.body().size_hint().exact() == Some(packed.0.plain);
        is_body.then_some(packed)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.0.packed
    }

    /// What it takes of the budget, once.
    pub(super) fn take_held(&self) -> Option<Held> {
        let held = self.0.held.lock();
        held.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The text as a body.
    pub(super) fn plain(&self) -> Body {
        Body::new(Unpacked {
            packed: self.clone(),
            next: 0,
            rest: self.0.plain,
        })
    }

    /// The response, with this as its body as it is.
    pub(super) fn into_gzip(self, response: Response) -> Response {
        let mut response = response.map(|_| Body::new(Gzip::new(self)));
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
        response
    }
}

/// The body that unpacks a text as it is taken.
struct Unpacked {
    packed: Packed,
    next: usize,
    rest: u64,
}

impl HttpBody for Unpacked {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let Some(part) = self.packed.0.parts.get(self.next) else {
            return Poll::Ready(None);
        };
        let text = match part.text() {
            Ok(text) => text,
            Err(error) => return Poll::Ready(Some(Err(error))),
        };
        self.next += 1;
        self.rest = self.rest.saturating_sub(text.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest)
    }
}

/// The body that sends a text packed.
struct Gzip {
    packed: Packed,
    sent: SharedStream,
    next: usize,
    has_ended: bool,
}

impl Gzip {
    fn new(packed: Packed) -> Self {
        Self {
            packed,
            sent: SharedStream::new(Coding::Gzip),
            next: 0,
            has_ended: false,
        }
    }
}

impl HttpBody for Gzip {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        if let Some(head) = this.sent.begin() {
            return Poll::Ready(Some(Ok(Frame::data(head))));
        }
        let bytes = match this.packed.0.parts.get(this.next) {
            Some(part) => {
                this.next += 1;
                Some(this.sent.next(part))
            }
            None => {
                this.has_ended = true;
                this.sent.end()
            }
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::body::to_bytes;
    use axum::response::IntoResponse as _;
    use flate2::read::GzDecoder;

    use super::super::chunks::Written;
    use super::*;

    fn text() -> Vec<u8> {
        let rows = (0..200_000).map(|it| format!("{{\"id\":\"vm-{it}\",\"memory\":{it}}},"));
        rows.collect::<String>().into_bytes()
    }

    fn response() -> Response {
        let mut written = Written::default();
        written.write_all(&text()).unwrap();
        written.into_response().unwrap()
    }

    #[tokio::test]
    async fn a_long_text_is_read_as_it_was_written_packed_and_unpacked() {
        let mut answer = response();
        let packed = Packed::take(&mut answer).unwrap();
        assert!(packed.bytes() * 5 < text().len(), "{}", packed.bytes());
        let length = answer.body().size_hint().exact();
        assert_eq!(length, Some(text().len() as u64));
        let answer = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        assert!(answer == text());

        let answer = packed.into_gzip(().into_response());
        assert_eq!(answer.headers()[header::CONTENT_ENCODING], "gzip");
        let answer = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let mut read = Vec::new();
        GzDecoder::new(&*answer).read_to_end(&mut read).unwrap();
        assert!(read == text());
    }

    #[test]
    fn a_body_that_is_another_one_by_now_is_not_taken_for_the_packed_text() {
        let mut answer = response().map(|_| Body::empty());
        assert!(Packed::take(&mut answer).is_none());
    }
}
