//! Calls of the provider: each with an end, and of an answer only so much is read.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{HeaderValue, Response, header};
use ureq::tls::{RootCerts, TlsConfig};

use crate::address::Address;
use crate::error::OpenIdError;
use crate::options::OpenIdOptions;

/// How long one call takes at most.
const LIMIT: Duration = Duration::from_secs(10);

/// Bytes of an answer that are read at most.
const LONGEST: u64 = 1 << 20;

/// The most characters of the provider's own words that are shown.
const SHOWN: usize = 200;

/// How the provider is called.
#[derive(Debug)]
pub(crate) struct Calls(Agent);

impl Calls {
    pub(crate) fn new(options: &OpenIdOptions) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(LIMIT))
            .http_status_as_error(false)
            // Secrets are for the address that they were meant for.
            .max_redirects(0);
        let config = match &options.certificates {
            None => config.build(),
            Some(authorities) => {
                let roots = RootCerts::new_with_certs(authorities);
                let tls = TlsConfig::builder().root_certs(roots).build();
                config.tls_config(tls).build()
            }
        };
        Self(config.into())
    }

    /// Read something.
    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        url: &Address,
        bearer: Option<&str>,
    ) -> Result<T, OpenIdError> {
        let mut request = self
            .0
            .get(url.as_str())
            .header(header::ACCEPT, "application/json");
        if let Some(token) = bearer {
            request = request.header(header::AUTHORIZATION, secret(&format!("Bearer {token}"))?);
        }
        read(url, request.call())
    }

    /// Send a form.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        url: &Address,
        form: &[(&str, &str)],
        authorization: Option<&str>,
    ) -> Result<T, OpenIdError> {
        let mut request = self
            .0
            .post(url.as_str())
            .header(header::ACCEPT, "application/json");
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, secret(value)?);
        }
        read(url, request.send_form(form.iter().copied()))
    }
}

/// A header that no log shows.
fn secret(value: &str) -> Result<HeaderValue, OpenIdError> {
    let value = HeaderValue::from_str(value);
    let mut value =
        value.map_err(|_| OpenIdError::Token("it has signs that no token has".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

fn read<T: DeserializeOwned>(
    url: &Address,
    answer: Result<Response<ureq::Body>, ureq::Error>,
) -> Result<T, OpenIdError> {
    let unreachable = |error: ureq::Error| OpenIdError::Unreachable {
        url: url.to_string(),
        why: error.to_string(),
    };
    let wrong = |why: String| OpenIdError::Answer {
        url: url.to_string(),
        why,
    };
    let mut answer = answer.map_err(unreachable)?;
    let status = answer.status();
    let body = answer.body_mut().with_config().limit(LONGEST);
    let body = body.read_to_vec().map_err(unreachable)?;
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()));
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    match body["error"].as_str() {
        Some(error) => Err(refused(error, body["error_description"].as_str())),
        None => Err(wrong(format!("it answers with the status {status}"))),
    }
}

/// What the provider says of why it refuses, by its words of OAuth 2.0 (RFC 6749, 5.2).
pub(crate) fn refused(error: &str, description: Option<&str>) -> OpenIdError {
    let text = match description {
        Some(description) => format!("{description} ({error})"),
        None => error.to_owned(),
    };
    let shown = text.chars().filter(|sign| !sign.is_control());
    OpenIdError::Refused(shown.take(SHOWN).collect())
}
