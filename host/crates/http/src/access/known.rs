//! The tokens that count, found by the digest of what a caller shows.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use subtle::ConstantTimeEq;

use super::issued::IssuedToken;
use super::people::Visit;
use super::token::Token;

/// The digest of a secret. It is found by a hash that has a random key, and compared in constant
/// time, so that the time tells nothing of the tokens that there are.
#[derive(Debug, Clone, Copy)]
struct Digest([u8; 32]);

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Digest {}

impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A token that counts until it expires.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) token: Token,
    /// The first second in which it counts no more.
    pub(super) expires: Option<i64>,
}

/// All tokens that count, as they are at one moment.
#[derive(Debug, Default)]
pub(super) struct KnownTokens {
    by_digest: HashMap<Digest, Known>,
    /// Whether there are no tokens and there were none, and nobody signs in by a provider, so that
    /// everything is allowed.
    pub(super) is_open: bool,
}

impl KnownTokens {
    /// Of those of the configuration, those that were issued, and people who signed in.
    pub(super) fn of<'t>(
        configured: &[Token],
        issued: impl Iterator<Item = &'t IssuedToken>,
        people: &[Visit],
        is_open: bool,
    ) -> Self {
        let configured = configured.iter().cloned().map(|token| Known {
            token,
            expires: None,
        });
        let issued = issued.map(|issued| Known {
            token: issued.token.clone(),
            expires: issued.expires,
        });
        let people = people.iter().map(|visit| Known {
            token: visit.token.clone(),
            expires: Some(visit.until),
        });
        let all = configured.chain(issued).chain(people);
        Self {
            by_digest: all
                .map(|known| (Digest(known.token.sha256), known))
                .collect(),
            is_open,
        }
    }

    /// The token of that digest, whether or not it has expired.
    pub(super) fn find(&self, digest: &[u8; 32]) -> Option<&Known> {
        self.by_digest.get(&Digest(*digest))
    }

    /// All of them, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = &Known> {
        self.by_digest.values()
    }
}

/// Whether something that expires then is over by now; `now` is asked only if it expires at all.
pub(super) fn has_expired(expires: Option<i64>, now: impl FnOnce() -> i64) -> bool {
    expires.is_some_and(|expires| now() >= expires)
}
