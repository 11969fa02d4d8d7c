//! What a provider says of itself: OpenID Connect Discovery 1.0, section 3.

use serde::Deserialize;

use crate::address::Address;
use crate::calls::Calls;
use crate::error::OpenIdError;
use crate::options::OpenIdOptions;

/// What is needed of a provider's metadata.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Metadata {
    issuer: String,
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    pub(crate) jwks_uri: String,
    pub(crate) userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    /// Whether its answers name it (RFC 9207).
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

impl Metadata {
    /// Ask the provider.
    pub(crate) fn fetch(calls: &Calls, options: &OpenIdOptions) -> Result<Self, OpenIdError> {
        let issuer = options.issuer.as_str().trim_end_matches('/');
        let place = options.issuer.below("/.well-known/openid-configuration");
        let wrong = |why: String| OpenIdError::Answer {
            url: place.to_string(),
            why,
        };
        let metadata: Self = calls.get(&place, None)?;
        if metadata.issuer.trim_end_matches('/') != issuer {
            return Err(wrong(format!(
                "it names another issuer, \"{}\"",
                metadata.issuer
            )));
        }
        let endpoints = [
            Some(&metadata.authorization_endpoint),
            Some(&metadata.token_endpoint),
            Some(&metadata.jwks_uri),
            metadata.userinfo_endpoint.as_ref(),
        ];
        for endpoint in endpoints.into_iter().flatten() {
            Address::parse(endpoint).map_err(wrong)?;
        }
        Ok(metadata)
    }

    /// The issuer as its tokens name it.
    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whether the client's secret goes into the form: only where it may not go into a header,
    /// which is what every provider takes that says nothing of it.
    pub(crate) fn wants_secret_in_form(&self) -> bool {
        let methods = &self.token_endpoint_auth_methods_supported;
        let has = |name: &str| methods.iter().any(|method| method == name);
        has("client_secret_post") && !has("client_secret_basic")
    }

    /// An address among the metadata.
    pub(crate) fn url(endpoint: &str) -> Result<Address, OpenIdError> {
        Address::parse(endpoint).map_err(|why| OpenIdError::Answer {
            url: endpoint.to_owned(),
            why,
        })
    }
}
