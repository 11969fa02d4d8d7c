//! A server that is asked in HTTP and speaks TLS, or the other way round.

use std::io::ErrorKind;
use std::time::Duration;

use ureq::tls::TlsConfig;
use ureq::{Agent, Error};

/// How long the server may take to answer whether it speaks the other one.
const WAIT: Duration = Duration::from_secs(5);

/// The address under which a server answers that gave none under this one: the same with `https`
/// in the place of `http`, or the other way round. None: it does not answer there either, or the
/// error has another cause. Nothing is sent that anybody may not know.
pub(crate) fn other(server: &str, error: &Error) -> Option<String> {
    if !may_be_other(error) {
        return None;
    }
    let other = match server.strip_prefix("http://") {
        Some(rest) => format!("https://{rest}"),
        None => format!("http://{}", server.strip_prefix("https://")?),
    };
    let asks = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(WAIT))
        .max_redirects(0)
        .max_redirects_will_error(false)
        // Whoever it is: that it speaks TLS is all that is asked.
        .tls_config(TlsConfig::builder().disable_verification(true).build());
    let asks: Agent = asks.build().into();
    let answer = asks.get(format!("{other}/v1/health")).call();
    answer.is_ok().then_some(other)
}

/// Whether something answered, and not as it should.
fn may_be_other(error: &Error) -> bool {
    match error {
        Error::Io(error) => !matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
                | ErrorKind::TimedOut
        ),
        Error::Timeout(_) | Error::HostNotFound | Error::ConnectionFailed => false,
        _ => true,
    }
}
