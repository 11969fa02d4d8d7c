//! Where secrets may be sent.

use std::fmt;

use ureq::http::Uri;

/// An address by HTTPS, or by HTTP on this machine: what is sent there are secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Read one.
    ///
    /// # Errors
    /// If it is none: a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error: ureq::http::uri::InvalidUri| {
            format!("\"{text}\" is no URL: {error}")
        })?;
        let host = uri.host().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_here = host == "localhost"
            || bare
                .parse()
                .is_ok_and(|it: std::net::IpAddr| it.is_loopback());
        match uri.scheme_str() {
            Some("https") if !host.is_empty() => {}
            Some("http") if is_here => {}
            _ => {
                return Err(format!(
                    "\"{text}\" must begin with https://: secrets are sent there (http:// is for this machine alone)"
                ));
            }
        }
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        match has_user || text.contains('#') {
            true => Err(format!("\"{text}\" must have no user and no fragment")),
            false => Ok(Self(text.to_owned())),
        }
    }

    /// The address with a path below it.
    #[must_use]
    pub fn below(&self, path: &str) -> Self {
        Self(format!("{}{path}", self.0.trim_end_matches('/')))
    }

    /// Whether it is of a server as a whole: there is neither a path nor a query.
    pub fn is_root(&self) -> bool {
        let (_, rest) = self.0.split_once("://").unwrap_or_default();
        !rest.trim_end_matches('/').contains(['/', '?'])
    }

    /// The address with these parameters added to its query.
    #[must_use]
    pub(crate) fn with(&self, parameters: &[(&str, &str)]) -> Self {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters);
        let joint = if self.0.contains('?') { '&' } else { '?' };
        Self(format!("{}{joint}{}", self.0, query.finish()))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
