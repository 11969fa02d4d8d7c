//! A client for a Placewright server: one call after the other, errors in the server's own
//! words, retries that do nothing twice.
//!
//! Read [`Client`] first; [`Call`] is what it sends, [`Answer`] what comes back, and
//! [`ClientError`] why nothing does. [`Client::list`] reads all pages of a list, and
//! [`Client::events`] follows what happens. None of the other crates is needed for it.
//!
//! ```no_run
//! use placewright_client::{Call, Client, ClientOptions};
//! use serde_json::json;
//!
//! let options = ClientOptions::new("http://127.0.0.1:7425");
//! let client = Client::new(options)?;
//! let vm = json!({"id": "web-1", "cpu": 2, "memory": "4 GiB"});
//! let placed = client.call(Call::post(["clusters", "prod", "place"]).json(&vm).once()?)?;
//! println!("{}", placed.body["host"]);
//! # Ok::<(), placewright_client::ClientError>(())
//! ```

#![forbid(unsafe_code)]

mod call;
mod error;
mod events;
mod patience;
mod scheme;

use std::io;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{Request, Response, StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, AsSendBody, Body};

pub use call::{Call, Content, Method};
pub use error::{ClientError, Refusal};
pub use events::{Event, Events};
use patience::Patience;

/// Bytes of the greatest answer that is read.
const LARGEST: u64 = 256 << 20;

/// Elements of a page that [`Client::list`] asks for.
const PAGE: usize = 500;

/// Which server, and who calls.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Where the server is: `https://placewright.example:7425`.
    pub server: String,
    /// The secret of the token to call with; None: anonymous.
    pub token: Option<String>,
    /// Certificates of authorities, in PEM, in place of those that the program knows.
    pub authorities: Option<Vec<u8>>,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long a call that may be repeated is repeated while the server cannot be reached or
    /// asks to wait.
    pub patience: Duration,
}

impl ClientOptions {
    /// A server, called by nobody in particular.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            token: None,
            authorities: None,
            timeout: Duration::from_secs(600),
            patience: Duration::from_secs(10),
        }
    }
}

/// A client of one server.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    server: String,
    token: Option<String>,
    patience: Duration,
}

/// What the server answers to a call that it carries out.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status, from 200 to 299.
    pub status: u16,
    /// The ETag of what is answered, if it has one.
    pub etag: Option<String>,
    /// The body: JSON as it is, another text as a string, null if there is none.
    pub body: Value,
}

impl Client {
    /// A client of that server. Nothing is sent yet.
    ///
    /// # Errors
    /// If the address or the certificates cannot be used.
    pub fn new(options: ClientOptions) -> Result<Self, ClientError> {
        let server = options.server.trim_end_matches('/').to_owned();
        if !is_address(&server) {
            return Err(ClientError::Address(options.server));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(options.timeout))
            .max_redirects(0);
        if let Some(pem) = &options.authorities {
            config = config.tls_config(trusting(pem)?);
        }
        Ok(Self {
            agent: config.build().into(),
            server,
            token: options.token,
            patience: options.patience,
        })
    }

    /// Where the server is.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Make a call. One that may be repeated is, while the server cannot be reached or asks to
    /// wait.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the call.
    pub fn call(&self, call: Call) -> Result<Answer, ClientError> {
        let mut patience = Patience::new(self.patience);
        loop {
            let tried = self.sent(&call).and_then(|response| self.read(response));
            let wait = match &tried {
                Err(error) if call.may_be_repeated() => patience.after(error),
                _ => None,
            };
            match wait {
                Some(wait) => thread::sleep(wait),
                None => return tried,
            }
        }
    }

    /// All elements of a list, page after page; at most so many.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub fn list(&self, call: &Call, most: usize) -> Result<Vec<Value>, ClientError> {
        let mut items = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut page = call
                .clone()
                .query("limit", PAGE.min(most.saturating_sub(items.len())).max(1));
            if let Some(after) = &after {
                page = page.query("after", after);
            }
            let Answer { mut body, .. } = self.call(page)?;
            if let Some(Value::Array(found)) = body.get_mut("items").map(Value::take) {
                items.extend(found);
            }
            after = match &body["next"] {
                Value::String(next) => Some(next.clone()),
                Value::Number(next) => Some(next.to_string()),
                _ => None,
            };
            if after.is_none() || items.len() >= most {
                items.truncate(most);
                return Ok(items);
            }
        }
    }

    /// What happens from now on, or from after the event of that number on.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the call.
    pub fn events(&self, call: Call, after: Option<u64>) -> Result<Events, ClientError> {
        let call = match after {
            Some(number) => call.header("last-event-id", number.to_string()),
            None => call,
        };
        let response = self.sent(&call.header("accept", "text/event-stream"))?;
        match response.status().is_success() {
            true => Ok(Events::new(response, &self.server)),
            false => Err(self
                .read(response)
                .err()
                .unwrap_or(ClientError::Unreadable {
                    server: self.server.clone(),
                })),
        }
    }

    /// Write what a call answers into `into`, however much it is. Gives how many bytes it was.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the call, the answer ends early, or `into`
    /// takes no more.
    pub fn download(&self, call: Call, into: &mut impl io::Write) -> Result<u64, ClientError> {
        let mut response = self.sent(&call)?;
        if !response.status().is_success() {
            let refused = self.read(response).err();
            return Err(refused.unwrap_or(ClientError::Unreadable {
                server: self.server.clone(),
            }));
        }
        let body = response.body_mut().with_config().limit(u64::MAX);
        let mut into = Destination { into, failed: None };
        let copied = io::copy(&mut body.reader(), &mut into);
        match (into.failed, copied) {
            (Some(error), _) => Err(ClientError::Unwritten(error)),
            (None, copied) => copied.map_err(|error| ClientError::Unreachable {
                server: self.server.clone(),
                source: Box::new(error.into()),
            }),
        }
    }

    fn sent(&self, call: &Call) -> Result<Response<Body>, ClientError> {
        let request = call.request(&self.server, self.token.as_deref());
        let request = request.map_err(|error| ClientError::Unsendable(error.to_string()))?;
        let (parts, content) = request.into_parts();
        let is_stream = call.is_stream();
        let result = match content {
            None => self.run(Request::from_parts(parts, ()), is_stream),
            Some(bytes) => self.run(Request::from_parts(parts, bytes), is_stream),
        };
        result.map_err(|error| ClientError::of_connection(&self.server, error))
    }

    fn run(
        &self,
        request: Request<impl AsSendBody>,
        is_stream: bool,
    ) -> Result<Response<Body>, ureq::Error> {
        match is_stream {
            // It ends when nobody reads it any more.
            true => {
                let request = self
                    .agent
                    .configure_request(request)
                    .timeout_global(None)
                    .build();
                self.agent.run(request)
            }
            false => self.agent.run(request),
        }
    }

    fn read(&self, mut response: Response<Body>) -> Result<Answer, ClientError> {
        let status = response.status();
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let (etag, kind) = (header("etag"), header("content-type").unwrap_or_default());
        let retry_after = header("retry-after");
        let body = response.body_mut().with_config().limit(LARGEST);
        let text = body
            .read_to_string()
            .map_err(|error| ClientError::Unreachable {
                server: self.server.clone(),
                source: Box::new(error),
            })?;
        let is_json = kind
            .split(';')
            .next()
            .is_some_and(|kind| kind == "application/json" || kind.ends_with("+json"));
        let body = match (text.is_empty(), is_json) {
            (true, _) => Value::Null,
            (false, true) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            (false, false) => Value::String(text),
        };
        match status {
            status if status.is_success() => Ok(Answer {
                status: status.as_u16(),
                etag,
                body,
            }),
            StatusCode::NOT_MODIFIED => Ok(Answer {
                status: status.as_u16(),
                etag,
                body: Value::Null,
            }),
            status => Err(ClientError::Refused(Box::new(Refusal::read(
                &self.server,
                status.as_u16(),
                body,
                retry_after.as_deref(),
            )))),
        }
    }
}

/// Whether this is the address of a server: a scheme, a host, maybe a port and the beginning of a
/// path.
fn is_address(server: &str) -> bool {
    let Ok(address) = server.parse::<Uri>() else {
        return false;
    };
    let (Some(authority), Some("http" | "https")) = (address.authority(), address.scheme_str())
    else {
        return false;
    };
    // What stands behind the host, with its colon.
    let port = authority.as_str().strip_prefix(authority.host());
    let is_port = |port: &str| {
        let digits = port.strip_prefix(':');
        port.is_empty() || digits.is_some_and(|it| it.parse::<u16>().is_ok_and(|it| it > 0))
    };
    !authority.host().is_empty() && port.is_some_and(is_port) && address.query().is_none()
}

/// TLS with these authorities.
fn trusting(pem: &[u8]) -> Result<TlsConfig, ClientError> {
    let mut certificates = Vec::new();
    for item in parse_pem(pem) {
        let item = item.map_err(|error| ClientError::Certificates(error.to_string()))?;
        if let ureq::tls::PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        let sentence = "there is none in it".to_owned();
        return Err(ClientError::Certificates(sentence));
    }
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).build())
}

/// Where an answer goes, which tells its own failures from those of the answer.
struct Destination<'w, W> {
    into: &'w mut W,
    failed: Option<io::Error>,
}

impl<W: io::Write> io::Write for Destination<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.into.write(bytes).map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.failed = Some(error);
            }
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_maybe_a_port() {
        for address in [
            "http://127.0.0.1:7425",
            "https://placewright",
            "https://[::1]:7425/",
            "http://proxy/placewright",
        ] {
            assert!(
                Client::new(ClientOptions::new(address)).is_ok(),
                "{address}"
            );
        }
        for address in [
            "",
            "placewright:7425",
            "ftp://placewright",
            "http://",
            "http:///v1",
            "http://a b",
            "http://placewright:port",
            "http://placewright:99999",
            "http://placewright:0",
            "http://me:secret@placewright",
            "http://placewright?x=1",
        ] {
            let told = Client::new(ClientOptions::new(address)).unwrap_err();
            assert!(matches!(told, ClientError::Address(_)), "{address}: {told}");
        }
    }
}
