//! Which provider, and what it knows the server as.

use std::fmt;

use ureq::tls::{Certificate, PemItem, parse_pem};

use crate::address::Address;

/// Which provider people sign in with, and how.
#[derive(Clone)]
pub struct OpenIdOptions {
    /// The provider's issuer identifier: where its metadata are.
    pub issuer: Address,
    /// The name that the provider knows this server by.
    pub client: String,
    /// The secret that the provider gave with it; None for a public client.
    pub secret: Option<String>,
    /// Authorities whose certificates the provider may have; None: those that browsers trust.
    pub certificates: Option<Vec<Certificate<'static>>>,
    /// Where the provider sends browsers back to.
    pub redirect: Address,
    /// The scopes that are asked for, with spaces between them; `openid` is among them.
    pub scopes: String,
    /// The claim that names a person.
    pub name_claim: String,
    /// The claim that lists the groups of a person.
    pub groups_claim: String,
}

impl fmt::Debug for OpenIdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenIdOptions")
            .field("issuer", &self.issuer.as_str())
            .field("client", &self.client)
            .field("redirect", &self.redirect.as_str())
            .finish_non_exhaustive()
    }
}

/// The certificates in a PEM file.
///
/// # Errors
/// If there is none, or it cannot be read: a sentence.
pub fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let mut certificates = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| error.to_string())? {
            certificates.push(certificate);
        }
    }
    match certificates.is_empty() {
        true => Err("there is no certificate in it".to_owned()),
        false => Ok(certificates),
    }
}
