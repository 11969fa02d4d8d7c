//! The authorization code flow.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use placewright_sync::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::address::Address;
use crate::calls::{Calls, refused};
use crate::error::OpenIdError;
use crate::identity::Identity;
use crate::keys::{Invalid, KeySet, Keys};
use crate::metadata::Metadata;
use crate::options::OpenIdOptions;
use crate::ring_provider;

/// How long what the provider says of itself counts.
const METADATA_AGE: Duration = Duration::from_secs(3600);

/// How long after its keys were fetched they are not fetched again for a token that names
/// another one.
const KEYS_AGE: Duration = Duration::from_secs(30);

/// A provider that people sign in with.
#[derive(Debug)]
pub struct Provider {
    options: OpenIdOptions,
    calls: Calls,
    known: Mutex<Option<Known>>,
}

/// What is known of the provider.
#[derive(Debug, Clone)]
struct Known {
    metadata: Arc<Metadata>,
    keys: Arc<Keys>,
    at: Instant,
    keys_at: Instant,
}

/// What a browser has to keep until it comes back, and nobody else may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Comes back with the browser.
    pub state: String,
    /// Stands in the ID token.
    pub nonce: String,
    /// Proves to the provider that who shows the code is who asked for it.
    pub verifier: String,
}

/// What a browser comes back with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Returned {
    /// The code that stands for the person.
    pub code: Option<String>,
    /// As it was sent.
    pub state: Option<String>,
    /// Who sends the browser back.
    pub iss: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
    /// The same, for people.
    pub error_description: Option<String>,
}

/// What the provider gives for a code.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

impl Begun {
    fn new() -> Result<Self, OpenIdError> {
        let random = || {
            let mut bits = [0; 32];
            getrandom::fill(&mut bits).map_err(|_| OpenIdError::Randomness)?;
            Ok::<_, OpenIdError>(hex::encode(bits))
        };
        Ok(Self {
            state: random()?,
            nonce: random()?,
            verifier: random()?,
        })
    }
}

impl Provider {
    /// Nothing is asked before somebody signs in.
    pub fn new(options: OpenIdOptions) -> Self {
        ring_provider::install();
        Self {
            calls: Calls::new(&options),
            options,
            known: Mutex::default(),
        }
    }

    /// Begin to sign in somebody: gives where the browser goes, and what it has to keep.
    ///
    /// # Errors
    /// If the provider does not say where that is.
    pub fn begin(&self) -> Result<(Address, Begun), OpenIdError> {
        self.begin_at(&self.known()?)
    }

    /// The same, if the provider need not be asked for it: what it says of itself is known.
    ///
    /// # Errors
    /// If it does not say where the browser goes.
    pub fn begin_unasked(&self) -> Option<Result<(Address, Begun), OpenIdError>> {
        let known = self.remembered()?;
        Some(self.begin_at(&known))
    }

    fn begin_at(&self, known: &Known) -> Result<(Address, Begun), OpenIdError> {
        let begun = Begun::new()?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&begun.verifier));
        let url = Metadata::url(&known.metadata.authorization_endpoint)?.with(&[
            ("response_type", "code"),
            ("client_id", &self.options.client),
            ("redirect_uri", self.options.redirect.as_str()),
            ("scope", &self.options.scopes),
            ("state", &begun.state),
            ("nonce", &begun.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        Ok((url, begun))
    }

    /// What is wrong with what a browser came back with, as far as it shows without asking the
    /// provider anything.
    pub fn objection(&self, returned: &Returned, begun: &Begun) -> Option<OpenIdError> {
        let known = self.remembered()?;
        code(&known.metadata, returned, begun).err()
    }

    /// Find out who came back.
    ///
    /// # Errors
    /// If the provider refuses, or what it says is not for the browser that began this.
    pub fn finish(&self, returned: &Returned, begun: &Begun) -> Result<Identity, OpenIdError> {
        let known = self.known()?;
        let metadata = &known.metadata;
        let code = code(metadata, returned, begun)?;
        let tokens = self.redeem(metadata, code, begun)?;
        let mut claims = self.verify(known.clone(), &tokens.id_token)?;
        self.check(&claims, begun)?;
        // Providers may give claims that are asked for by scopes elsewhere.
        let elsewhere = metadata.userinfo_endpoint.as_ref();
        if let (false, Some(endpoint), Some(token)) = (
            Identity::is_in(&claims, &self.options),
            elsewhere,
            &tokens.access_token,
        ) {
            let more: Map<String, Value> =
                self.calls.get(&Metadata::url(endpoint)?, Some(token))?;
            if more.get("sub") != claims.get("sub") {
                let sentence = "the provider's further claims are of somebody else".to_owned();
                return Err(OpenIdError::Token(sentence));
            }
            for (name, claim) in more {
                claims.entry(name).or_insert(claim);
            }
        }
        Identity::of(&claims, &self.options)
    }

    /// What the ID token says beside what every token says: OpenID Connect Core 1.0, 3.1.3.7.
    fn check(&self, claims: &Map<String, Value>, begun: &Begun) -> Result<(), OpenIdError> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if text("nonce") != Some(begun.nonce.as_str()) {
            let sentence = "it is not for what this browser began".to_owned();
            return Err(OpenIdError::Token(sentence));
        }
        let is_for_many = matches!(claims.get("aud"), Some(Value::Array(all)) if all.len() > 1);
        let presented_by = text("azp");
        let is_own = presented_by == Some(self.options.client.as_str());
        if (presented_by.is_some() || is_for_many) && !is_own {
            let sentence = "it was issued to another client".to_owned();
            return Err(OpenIdError::Token(sentence));
        }
        Ok(())
    }

    /// Give the code for tokens.
    fn redeem(
        &self,
        metadata: &Metadata,
        code: &str,
        begun: &Begun,
    ) -> Result<Tokens, OpenIdError> {
        let (client, redirect) = (&self.options.client, self.options.redirect.as_str());
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", begun.verifier.as_str()),
        ];
        let mut authorization = None;
        match &self.options.secret {
            Some(secret) if !metadata.wants_secret_in_form() => {
                // RFC 6749, 2.3.1: both are encoded as in a form first.
                let encoded = |text: &str| {
                    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                let pair = format!("{}:{}", encoded(client), encoded(secret));
                authorization = Some(format!("Basic {}", STANDARD.encode(pair)));
            }
            Some(secret) => form.extend([
                ("client_id", client.as_str()),
                ("client_secret", secret.as_str()),
            ]),
            None => form.push(("client_id", client)),
        }
        let endpoint = Metadata::url(&metadata.token_endpoint)?;
        self.calls.post(&endpoint, &form, authorization.as_deref())
    }

    /// The claims of an ID token, with keys that are fetched again if it names an unknown one.
    fn verify(&self, known: Known, token: &str) -> Result<Map<String, Value>, OpenIdError> {
        let (issuer, client) = (known.metadata.issuer(), &self.options.client);
        match known.keys.claims(token, issuer, client) {
            Err(Invalid::UnknownKey) if known.keys_at.elapsed() >= KEYS_AGE => {
                let keys = self.fetch_keys(&known.metadata)?;
                let claims = keys.claims(token, issuer, client)?;
                self.keep(Known {
                    keys: Arc::new(keys),
                    keys_at: Instant::now(),
                    ..known.clone()
                });
                Ok(claims)
            }
            claims => Ok(claims?),
        }
    }

    fn fetch_keys(&self, metadata: &Metadata) -> Result<Keys, OpenIdError> {
        let set: KeySet = self.calls.get(&Metadata::url(&metadata.jwks_uri)?, None)?;
        Ok(set.into())
    }

    /// What is known of the provider; it is asked where that is too old.
    fn known(&self) -> Result<Known, OpenIdError> {
        // Others need not wait for the answer.
        if let Some(known) = self.remembered() {
            return Ok(known);
        }
        let metadata = Metadata::fetch(&self.calls, &self.options)?;
        let keys = self.fetch_keys(&metadata)?;
        let now = Instant::now();
        let known = Known {
            metadata: Arc::new(metadata),
            keys: Arc::new(keys),
            at: now,
            keys_at: now,
        };
        self.keep(known.clone());
        Ok(known)
    }

    /// What is known of the provider, unless it is too old.
    fn remembered(&self) -> Option<Known> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref().filter(|it| it.at.elapsed() < METADATA_AGE);
        known.cloned()
    }

    fn keep(&self, known: Known) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }
}

/// The code in the answer to what a browser began.
fn code<'r>(
    metadata: &Metadata,
    returned: &'r Returned,
    begun: &Begun,
) -> Result<&'r str, OpenIdError> {
    if returned.state.as_deref() != Some(begun.state.as_str()) {
        return Err(OpenIdError::Foreign(
            "this is not the answer to what this browser began: sign in again",
        ));
    }
    let is_named = returned.iss.is_some();
    let is_issuer = returned.iss.as_deref() == Some(metadata.issuer());
    if (is_named || metadata.authorization_response_iss_parameter_supported) && !is_issuer {
        return Err(OpenIdError::Foreign(
            "this answer comes from another provider: sign in again",
        ));
    }
    if let Some(error) = &returned.error {
        return Err(refused(error, returned.error_description.as_deref()));
    }
    returned.code.as_deref().ok_or(OpenIdError::Foreign(
        "the provider sent no code: sign in again",
    ))
}
