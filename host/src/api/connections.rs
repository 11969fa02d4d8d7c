//! Bounds the connections that are open at the same time: each holds a descriptor, of
//! which files and the store need some, too.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Accepts so many connections and closes the others.
#[derive(Debug, Clone)]
pub(super) struct Bounded {
    free: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(connections: usize) -> Self {
        let connections = connections.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(connections)),
        }
    }
}

impl<S> Accept<TcpStream, S> for Bounded {
    type Stream = Counted;
    type Service = S;
    type Future = Ready<io::Result<(Counted, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(place) = self.free.clone().try_acquire_owned() else {
            tracing::warn!("a connection is closed: as many are open as are allowed");
            return ready(Err(io::ErrorKind::ConnectionRefused.into()));
        };
        // Answers are small and written whole: waiting for more only delays them.
        let stream = stream.set_nodelay(true).map(|()| Counted {
            stream,
            _place: place,
        });
        ready(stream.map(|stream| (stream, service)))
    }
}

/// A connection that counts until it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
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
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
