//! Bounds the connections that are open at the same time, and closes those whose peers take
//! no answers: each holds a descriptor, of which files and the store need some, too.

mod address;
mod known;
mod rarely;
mod register;
mod signal;
mod streams;

pub use address::Address;
pub(crate) use rarely::Rarely;
pub(crate) use register::{InWork, Place, Register};
pub use streams::{Stream as OpenStream, Streams};

use std::future::{Future, Ready};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tower_http::add_extension::AddExtension;

use super::limits::ApiLimits;
use super::pace::Pace;

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub SocketAddr);

/// Accepts connections as the register says, and tells their requests which place they have
/// and where they come from.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    register: Arc<Register>,
    stall: Duration,
}

impl Bounded {
    pub(crate) fn new(limits: &ApiLimits) -> Self {
        Self {
            register: Arc::new(Register::new(limits)),
            stall: limits.stall,
        }
    }

    fn admit(&self, stream: TcpStream) -> io::Result<(Counted, Peer)> {
        let peer = stream.peer_addr()?;
        let address = Address::of(peer.ip());
        let Some(place) = self.register.admit(address) else {
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        // Answers are small and written whole: waiting for more only delays them.
        stream.set_nodelay(true)?;
        let counted = Counted {
            stream,
            place: Arc::new(place),
            pace: Pace::new(self.stall),
            waiting: None,
        };
        Ok((counted, Peer(peer)))
    }
}

impl<S> Accept<TcpStream, S> for Bounded {
    type Stream = Counted;
    type Service = AddExtension<AddExtension<S, Arc<Place>>, Peer>;
    type Future = Ready<io::Result<(Counted, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        std::future::ready(self.admit(stream).map(|(counted, peer)| {
            let service = AddExtension::new(service, counted.place.clone());
            (counted, AddExtension::new(service, peer))
        }))
    }
}

/// A connection that has a place until it is dropped, or until another one needs it.
#[derive(Debug)]
pub(crate) struct Counted {
    stream: TcpStream,
    place: Arc<Place>,
    pace: Pace,
    /// Runs while the peer takes nothing of what waits to be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Counted {
    /// An error once the place is needed for another connection.
    fn check(&self, context: &Context<'_>) -> io::Result<()> {
        match self.place.is_needed(context.waker()) {
            true => Err(io::ErrorKind::ConnectionAborted.into()),
            false => Ok(()),
        }
    }

    /// What became of a write. One that must wait is an error once the peer has taken too
    /// little for too long.
    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.place.moves();
                if self.waiting.is_some() && self.pace.moved(bytes) {
                    self.waiting = None;
                }
                return written;
            }
            Poll::Ready(Err(_)) => return written,
            Poll::Pending => {}
        }
        if self.waiting.is_none() {
            self.pace.begin();
            let Some(ends) = self.pace.ends() else {
                return Poll::Pending;
            };
            self.waiting = Some(Box::pin(tokio::time::sleep_until(ends)));
        }
        let Some(waiting) = &mut self.waiting else {
            return Poll::Pending;
        };
        ready!(waiting.as_mut().poll(context));
        tracing::debug!("a connection is closed: its peer takes answers too slowly");
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // All has been written that there was to write.
        self.waiting = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
