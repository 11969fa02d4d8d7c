//! Tokens, and who calls.

mod caller;
mod issued;
mod issuing;
mod known;
mod local;
mod people;
mod token;

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::time::Instant;

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::face::FindSecret;
use super::permission::Permission;
use super::problem::{Code, Problem};
use super::sessions::Sessions;
use issuing::Tokens;
use known::{Known, KnownTokens, has_expired};
use placewright_deployment::{Clock, system_clock};
use placewright_sync::{ArcSwap, Mutex};

pub(crate) use caller::Authority;
pub use caller::Caller;
pub use issued::{IssuedToken, MOST_CLUSTERS, NewToken};
pub use issuing::Listed;
pub use people::{GroupRole, Person};
pub use token::{Secret, Token, why_reserved};

/// Why the server must not be reached like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// Everybody could do everything.
    #[error(
        "without tokens everybody who reaches {0} could do everything: listen on 127.0.0.1 \
         or ::1, or configure tokens (placewright token new --name NAME --role admin)"
    )]
    OpenToAll(SocketAddr),
    /// Whoever listens on the way could read the tokens.
    #[error(
        "tokens would cross the network in clear text to {0}: configure tls-certificate and \
         tls-key, or listen on 127.0.0.1 or ::1; where something in front of the server does \
         TLS and the network to it can be trusted, allow it with insecure-plain-http = true"
    )]
    ClearText(SocketAddr),
}

/// How requests reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// By TLS.
    Tls,
    /// In clear text, as far as this machine reaches.
    Plain,
    /// In clear text, also from other machines: the admin has allowed it.
    PlainFromAfar,
}

/// Who may call.
pub struct Access {
    /// Held while tokens are changed; nobody who calls waits for it.
    tokens: Mutex<Tokens>,
    /// Those of them that count.
    known: ArcSwap<KnownTokens>,
    sessions: Sessions,
    /// Counts how often tokens were replaced.
    replaced: watch::Sender<u64>,
    clock: Clock,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.load_full();
        f.debug_struct("Access")
            .field("tokens", &known.all().count())
            .field("is_open", &known.is_open)
            .finish_non_exhaustive()
    }
}

impl Default for Access {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Access {
    /// Callers need one of these tokens of the configuration; none at all means that everything
    /// is allowed.
    pub fn new(tokens: Vec<Token>) -> Self {
        Self::by_clock(tokens, std::sync::Arc::new(system_clock))
    }

    /// The same, with tokens that expire by that clock.
    pub fn by_clock(tokens: Vec<Token>, clock: Clock) -> Self {
        let tokens = Tokens::configured(tokens);
        Self {
            known: ArcSwap::from_pointee(tokens.known()),
            tokens: Mutex::new(tokens),
            sessions: Sessions::default(),
            replaced: watch::Sender::default(),
            clock,
        }
    }

    /// Tells when tokens were replaced.
    pub(crate) fn replaced(&self) -> watch::Receiver<u64> {
        self.replaced.subscribe()
    }

    /// Seconds since 1970-01-01 UTC.
    pub fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Whether a token that expires then has expired.
    pub(crate) fn has_expired(&self, expires: Option<i64>) -> bool {
        has_expired(expires, || self.now())
    }

    /// Whether a caller of before may still do what it might then: its token is there, with the
    /// same role and clusters, and has not expired; and so is the session, if it was in one.
    pub(crate) fn still_allows(&self, caller: &Caller) -> bool {
        let known = self.known.load_full();
        let session = caller.session.as_ref();
        if session.is_some_and(|it| !self.sessions.goes_on(it, Instant::now())) {
            return false;
        }
        match caller.sha256 {
            None => known.is_open,
            Some(digest) => known.find(&digest).is_some_and(|known| {
                let token = &known.token;
                let is_same = (&token.name, token.role, &token.clusters)
                    == (&caller.name, caller.role, &caller.clusters);
                is_same && !self.has_expired(known.expires)
            }),
        }
    }

    /// Whether a token of that name may do that on the cluster: of what goes on in the name of a
    /// caller that is not there any more.
    pub fn may(&self, name: &str, permission: Permission, cluster: &str) -> bool {
        let known = self.known.load_full();
        let may = |Known { token, expires }: &Known| {
            let clusters = token.clusters.as_ref();
            &*token.name == name
                && token.role.allows(permission)
                && clusters.is_none_or(|clusters| clusters.contains(cluster))
                && !self.has_expired(*expires)
        };
        known.is_open || known.all().any(may)
    }

    /// Whether everything is allowed.
    pub fn is_open(&self) -> bool {
        self.known.load_full().is_open
    }

    /// Check that the server may listen there.
    ///
    /// # Errors
    /// If others than this machine could reach it, and everything is allowed or tokens
    /// would come in clear text.
    pub fn may_listen(&self, address: SocketAddr, by: Transport) -> Result<(), AccessError> {
        if address.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        match by {
            _ if self.is_open() => Err(AccessError::OpenToAll(address)),
            Transport::Plain => Err(AccessError::ClearText(address)),
            Transport::Tls | Transport::PlainFromAfar => Ok(()),
        }
    }

    /// Begin a session of whoever shows the secret of a token, or of a session: gives another
    /// secret, which stands for the token until the session ends. With a session those end that
    /// were begun by its secret.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn begin_session(&self, shown: &[u8]) -> Result<Secret, getrandom::Error> {
        let secret = Secret::random()?;
        let now = Instant::now();
        let shown: [u8; 32] = Sha256::digest(shown).into();
        self.sessions.begin(secret.sha256(), &shown, now);
        Ok(secret)
    }

    /// End a session, also that of somebody who signed in by a provider. Gives whether there was one
    /// of that secret; a token itself stays.
    pub fn end_session(&self, secret: &[u8]) -> bool {
        let digest = Sha256::digest(secret).into();
        let is_over = self.sessions.end(&digest);
        if is_over {
            // Streams that were opened in it look whether it goes on.
            self.replaced.send_modify(|times| *times += 1);
        }
        is_over || self.sign_out(&digest)
    }

    /// Who sends a request with these headers; `secret` finds the secret in them.
    ///
    /// # Errors
    /// If nobody knows.
    pub fn caller(&self, headers: &HeaderMap, secret: FindSecret) -> Result<Caller, Problem> {
        let known = self.known.load_full();
        if known.is_open {
            local::from_here(headers)?;
            return Ok(Caller::anonymous());
        }
        let secret = secret(headers)?;
        let digest: [u8; 32] = Sha256::digest(secret).into();
        let mut session = None;
        let found = known.find(&digest).or_else(|| {
            let token = self.sessions.token(&digest, Instant::now())?;
            session = Some(digest);
            known.find(&token)
        });
        let Known { token, expires } =
            found.ok_or_else(|| unauthorized("the token is not one that is known here"))?;
        if self.has_expired(*expires) {
            // Only whoever has its secret is told.
            return Err(unauthorized(&format!(
                "the token \"{}\" has expired",
                token.name
            )));
        }
        Ok(Caller {
            name: token.name.clone(),
            role: token.role,
            clusters: token.clusters.clone(),
            expires: *expires,
            sha256: Some(token.sha256),
            session,
            authority: Authority::default(),
        })
    }
}

/// The secret of `Authorization: Bearer TOKEN`.
///
/// # Errors
/// If there is no such header.
pub fn bearer(headers: &HeaderMap) -> Result<Cow<'_, [u8]>, Problem> {
    let given = headers.get(header::AUTHORIZATION).ok_or_else(|| {
        unauthorized("there is no token; send the header Authorization: Bearer TOKEN")
    })?;
    let given = given.as_bytes();
    let (scheme, secret) = given
        .split_at_checked("Bearer ".len())
        .unwrap_or((given, b""));
    match scheme.eq_ignore_ascii_case(b"Bearer ") && !secret.is_empty() {
        true => Ok(secret.trim_ascii().into()),
        false => Err(unauthorized(
            "the header Authorization is not of the form \"Bearer TOKEN\"",
        )),
    }
}

/// Nobody knows who calls; the sentence says why.
pub fn unauthorized(sentence: &str) -> Problem {
    Problem::new(Code::Unauthorized, sentence)
}

#[cfg(test)]
mod tests;
