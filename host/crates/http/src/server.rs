//! Serves the API on a socket.

use std::io;
use std::net::{SocketAddr, TcpListener};

use axum::Router;
use axum_server::tls_rustls::RustlsAcceptor;
use hyper_util::rt::TokioTimer;

use super::connections::Bounded;
use super::limits::ApiLimits;
use super::tls::Tls;

/// Ends a server: `graceful_shutdown` accepts nothing more and lets requests finish
/// within a bound.
pub type Handle = axum_server::Handle<SocketAddr>;

/// Serve until `handle` ends it. HTTP/1.1 alone: nobody needs more here, and what is not
/// there has no weaknesses.
///
/// # Errors
/// If the socket cannot be used.
pub async fn serve(
    listener: TcpListener,
    tls: Option<&Tls>,
    router: Router,
    limits: ApiLimits,
    handle: Handle,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut server = axum_server::from_tcp(listener)?
        .handle(handle)
        .acceptor(Bounded::new(&limits));
    server
        .http_builder()
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header);
    let service = router.into_make_service();
    match tls {
        None => server.http1_only().serve(service).await,
        Some(tls) => {
            let config = tls.config();
            let tls = |plain| {
                RustlsAcceptor::new(config)
                    .handshake_timeout(limits.header)
                    .acceptor(plain)
            };
            server.map(tls).http1_only().serve(service).await
        }
    }
}
