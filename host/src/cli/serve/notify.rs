//! Tells systemd how far the server is, if systemd asks for it (`Type=notify`).

/// Requests are answered from now on.
pub(super) const READY: &str = "READY=1";
/// The server stops.
pub(super) const STOPPING: &str = "STOPPING=1";

/// Tell it. Where nobody listens nothing happens.
#[cfg(target_os = "linux")]
pub(super) fn tell(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(&name),
    };
    let told = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.send_to_addr(state.as_bytes(), &address)
    });
    if let Err(error) = told {
        tracing::warn!(%error, "cannot tell systemd: {state}");
    }
}

/// Tell it. Where nobody listens nothing happens.
#[cfg(not(target_os = "linux"))]
pub fn tell(_: &str) {}
