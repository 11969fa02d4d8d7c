//! The provider's public keys, and what they have signed.

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::OpenIdError;
use crate::ring_provider::is_allowed;

/// Seconds by which the provider's clock may differ from that of this machine.
const LEEWAY: u64 = 60;

/// The most keys of a provider that are tried.
const MOST: usize = 64;

/// The keys that a provider signs with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Vec<Jwk>);

/// A document of keys (RFC 7517, section 5).
#[derive(Debug, Deserialize)]
pub(crate) struct KeySet {
    keys: Vec<Value>,
}

/// Why a token is not valid.
#[derive(Debug)]
pub(crate) enum Invalid {
    /// None of the keys is the one that it names: the provider may have new ones.
    UnknownKey,
    /// Anything else.
    Wrong(String),
}

impl From<Invalid> for OpenIdError {
    fn from(invalid: Invalid) -> Self {
        Self::Token(match invalid {
            Invalid::UnknownKey => "the provider has no key of that name".to_owned(),
            Invalid::Wrong(why) => why,
        })
    }
}

impl From<KeySet> for Keys {
    /// A key of a kind that is not known here is left out, as the RFC asks for.
    fn from(set: KeySet) -> Self {
        let keys = set.keys.into_iter();
        let keys = keys.filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        let signing =
            |key: &Jwk| !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
        Self(keys.filter(signing).take(MOST).collect())
    }
}

impl Keys {
    /// The claims of a token, if one of the keys has signed it, for that client of that issuer,
    /// and it counts now.
    pub(crate) fn claims(
        &self,
        token: &str,
        issuer: &str,
        client: &str,
    ) -> Result<Map<String, Value>, Invalid> {
        let wrong = |error: jsonwebtoken::errors::Error| Invalid::Wrong(error.to_string());
        let header = decode_header(token).map_err(wrong)?;
        if !is_allowed(header.alg) {
            let sentence = format!("it is signed by {:?}, which is not accepted", header.alg);
            return Err(Invalid::Wrong(sentence));
        }
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_audience(&[client]);
        validation.set_issuer(&[issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let is_named = |key: &&Jwk| header.kid.is_none() || key.common.key_id == header.kid;
        let mut invalid = Invalid::UnknownKey;
        for key in self.0.iter().filter(is_named) {
            let Ok(key) = DecodingKey::from_jwk(key) else {
                continue;
            };
            if key.family() != header.alg.family() {
                continue;
            }
            match decode::<Map<String, Value>>(token, &key, &validation) {
                Ok(token) => return Ok(token.claims),
                Err(error) => invalid = wrong(error),
            }
        }
        Err(invalid)
    }
}
