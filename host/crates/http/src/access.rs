//! Tokens, and who calls.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use tokio::sync::watch;

use super::face::FindSecret;
use super::permission::{Permission, Role};
use super::problem::{Code, Problem};
use super::sessions::Sessions;
use placewright_document::{Word, shown};
use placewright_sync::ArcSwap;

/// A token that the server knows. The secret itself it does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Names its owner in logs and events.
    pub name: Arc<str>,
    /// What its owner may do.
    pub role: Role,
    /// SHA-256 of the secret.
    pub sha256: [u8; 32],
    /// The clusters that it is for; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
}

/// A secret that was made just now.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// What secrets begin with, so that programs that look for lost ones find them.
    const PREFIX: &'static str = "pw_";

    /// A secret of 256 random bits.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits)?;
        Ok(Self(format!("{}{}", Self::PREFIX, hex::encode(bits))))
    }

    /// The secret, to be shown to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the server is to know of it.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

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
#[derive(Debug)]
pub struct Access {
    tokens: ArcSwap<Vec<Token>>,
    sessions: Sessions,
    /// Counts how often tokens were replaced.
    replaced: watch::Sender<u64>,
}

impl Default for Access {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Access {
    /// Callers need one of these tokens; none at all means that everything is allowed.
    pub fn new(tokens: Vec<Token>) -> Self {
        Self {
            tokens: ArcSwap::from_pointee(tokens),
            sessions: Sessions::default(),
            replaced: watch::Sender::default(),
        }
    }

    /// Callers need one of these tokens from now on.
    pub fn replace(&self, tokens: Vec<Token>) {
        self.tokens.store(Arc::new(tokens));
        self.replaced.send_modify(|times| *times += 1);
    }

    /// Tells when tokens were replaced.
    pub(crate) fn replaced(&self) -> watch::Receiver<u64> {
        self.replaced.subscribe()
    }

    /// Whether a caller of before may still do what it might then: its token is there, with the
    /// same role and clusters.
    pub(crate) fn still_allows(&self, caller: &Caller) -> bool {
        let tokens = self.tokens.load_full();
        match caller.sha256 {
            None => tokens.is_empty(),
            Some(digest) => of_digest(&tokens, &digest).is_some_and(|token| {
                (&token.name, token.role, &token.clusters)
                    == (&caller.name, caller.role, &caller.clusters)
            }),
        }
    }

    /// Whether a token of that name may do that on the cluster: of what goes on in the name of a
    /// caller that is not there any more.
    pub fn may(&self, name: &str, permission: Permission, cluster: &str) -> bool {
        let tokens = self.tokens.load_full();
        let may = |token: &Token| {
            let clusters = token.clusters.as_ref();
            &*token.name == name
                && token.role.allows(permission)
                && clusters.is_none_or(|clusters| clusters.contains(cluster))
        };
        tokens.is_empty() || tokens.iter().any(may)
    }

    /// Whether everything is allowed.
    pub fn is_open(&self) -> bool {
        self.tokens.load_full().is_empty()
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
    /// secret, which stands for the token until the session ends.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn begin_session(&self, shown: &[u8]) -> Result<Secret, getrandom::Error> {
        let secret = Secret::random()?;
        let now = Instant::now();
        let shown: [u8; 32] = Sha256::digest(shown).into();
        let token = self.sessions.token(&shown, now).unwrap_or(shown);
        self.sessions.begin(secret.sha256(), token, now);
        Ok(secret)
    }

    /// End a session. Gives whether there was one of that secret; a token itself stays.
    pub fn end_session(&self, secret: &[u8]) -> bool {
        self.sessions.end(&Sha256::digest(secret).into())
    }

    /// Who sends a request with these headers; `secret` finds the secret in them.
    ///
    /// # Errors
    /// If nobody knows.
    pub fn caller(&self, headers: &HeaderMap, secret: FindSecret) -> Result<Caller, Problem> {
        let tokens = self.tokens.load_full();
        if tokens.is_empty() {
            from_here(headers)?;
            return Ok(Caller::anonymous());
        }
        let secret = secret(headers)?;
        let digest: [u8; 32] = Sha256::digest(secret).into();
        let found = of_digest(&tokens, &digest).or_else(|| {
            let token = self.sessions.token(&digest, Instant::now())?;
            of_digest(&tokens, &token)
        });
        let token = found.ok_or_else(|| unauthorized("the token is not one that is known here"))?;
        Ok(Caller {
            name: token.name.clone(),
            role: token.role,
            clusters: token.clusters.clone(),
            sha256: Some(token.sha256),
        })
    }
}

/// The token of that digest. All tokens are compared, and each in the same time, so that the
/// time tells nothing of them.
fn of_digest<'t>(tokens: &'t [Token], digest: &[u8; 32]) -> Option<&'t Token> {
    let mut found = None;
    for token in tokens {
        let same: Choice = token.sha256.ct_eq(digest);
        if bool::from(same) {
            found = Some(token);
        }
    }
    found
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

/// Without tokens whoever runs programs on this machine may do everything, but not web
/// pages that its browsers show, also those of other servers on this machine: they call
/// under a name of their own, or say where they come from. Browsers do so with every request
/// that could change something (`Origin`), and with all others (`Sec-Fetch-Site`).
fn from_here(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| {
        headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
    };
    let host = text(header::HOST);
    let origin = text(header::ORIGIN);
    let origin = origin.as_deref().map(|origin| {
        let rest = origin.split_once("://");
        rest.map_or(origin, |(_, host)| host)
    });
    let of_page = |detail: String| Err(Problem::new(Code::Forbidden, detail));
    if let Some(origin) = origin
        && !host
            .as_deref()
            .is_some_and(|host| host.eq_ignore_ascii_case(origin))
    {
        return of_page(format!(
            "without tokens, calls from web pages of other sites are refused, and this one comes from \"{}\"",
            shown(origin)
        ));
    }
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if let Some(site) = site.filter(|site| !matches!(&**site, "none" | "same-origin")) {
        return of_page(format!(
            "without tokens, calls from web pages of other sites are refused, and this one is \"{}\"",
            shown(&site)
        ));
    }
    for named in [host.as_deref(), origin].into_iter().flatten() {
        if !is_this_machine(named) {
            return Err(Problem::new(
                Code::Forbidden,
                format!(
                    "without tokens only calls to localhost are answered, and this one names \"{}\"",
                    shown(named)
                ),
            ));
        }
    }
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let address: Result<std::net::IpAddr, _> = address.parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// What callers are called where there are no tokens.
const ANONYMOUS: &str = "anonymous";

/// Who calls, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Name of the token.
    pub name: Arc<str>,
    /// Its role.
    pub role: Role,
    /// The clusters that it is for; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
    /// SHA-256 of the token's secret; None: there are no tokens.
    pub(crate) sha256: Option<[u8; 32]>,
}

impl Caller {
    /// Whoever runs programs on this machine, where there are no tokens.
    fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.into(),
            role: Role::Admin,
            clusters: None,
            sha256: None,
        }
    }

    /// Whether there are no tokens, so that all callers are one.
    pub(super) fn is_anonymous(&self) -> bool {
        &*self.name == ANONYMOUS
    }

    /// Whether the token is for the cluster: others are not shown to it.
    pub fn sees(&self, cluster: &str) -> bool {
        let clusters = self.clusters.as_ref();
        clusters.is_none_or(|clusters| clusters.contains(cluster))
    }

    /// Check that the caller has a permission, and on the cluster if one is named.
    ///
    /// # Errors
    /// If not; the sentence says what is missing.
    pub fn must(&self, permission: Permission, cluster: Option<&str>) -> Result<(), Problem> {
        if !self.role.allows(permission) {
            return Err(self.refused(&format!(
                "has the role {}; this needs {}",
                self.role.word(),
                permission.least_role().word()
            )));
        }
        match cluster {
            Some(cluster) if !self.sees(cluster) => {
                Err(self.refused(&format!("is not for the cluster \"{}\"", shown(cluster))))
            }
            _ => Ok(()),
        }
    }

    /// Check that the caller has a permission on all clusters, those to come included.
    ///
    /// # Errors
    /// If not.
    pub fn must_everywhere(&self, permission: Permission) -> Result<(), Problem> {
        self.must(permission, None)?;
        match self.clusters {
            None => Ok(()),
            Some(_) => Err(self.refused("is for some clusters; this is about the whole server")),
        }
    }

    fn refused(&self, sentence: &str) -> Problem {
        Problem::new(
            Code::Forbidden,
            format!("the token \"{}\" {sentence}", self.name),
        )
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| unauthorized("this route is for everybody and asks for no token"))
    }
}

#[cfg(test)]
mod tests;
