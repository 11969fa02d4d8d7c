//! Tokens that admins issue through the API, and how they are stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::token::Token;
use crate::permission::Role;
use placewright_store::{Change, Saved};

/// What the keys of the store begin with under which tokens are.
const PREFIX: &str = "token:";

/// The most clusters that an issued token may be for, if it is not for all.
pub const MOST_CLUSTERS: usize = 256;

/// A token that is to be issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Names its owner in logs and events.
    pub name: Arc<str>,
    /// What its owner may do.
    pub role: Role,
    /// The clusters that it is for; None: all.
    pub clusters: Option<BTreeSet<Arc<str>>>,
    /// When it expires, in seconds since 1970-01-01 UTC; None: never.
    pub expires: Option<i64>,
}

/// A token that an admin has issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token.
    pub token: Token,
    /// The first second in which it counts no more, since 1970-01-01 UTC; None: it does not
    /// expire.
    pub expires: Option<i64>,
    /// When it was issued, in seconds since 1970-01-01 UTC.
    pub at: i64,
    /// The name of the token of whoever issued it.
    pub by: Arc<str>,
}

/// What is stored of a token under its name.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    role: Role,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clusters: Option<BTreeSet<Arc<str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
    at: i64,
    by: Arc<str>,
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// What is stored of issued tokens.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) tokens: Vec<IssuedToken>,
    /// A sentence for each that cannot be read.
    pub(super) unreadable: Vec<String>,
}

impl Stored {
    pub(super) fn of(saved: &Saved) -> Self {
        let mut stored = Self::default();
        for (key, body) in &saved.settings {
            let Some(name) = key.strip_prefix(PREFIX) else {
                continue;
            };
            match IssuedToken::restored(name, body) {
                Ok(token) => stored.tokens.push(token),
                Err(why) => stored.unreadable.push(format!(
                    "cannot read from the store token \"{name}\": {why}"
                )),
            }
        }
        stored
    }
}

impl IssuedToken {
    fn restored(name: &str, body: &str) -> Result<Self, String> {
        let body: Body = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let mut sha256 = [0; 32];
        hex::decode_to_slice(&body.sha256, &mut sha256).map_err(|error| error.to_string())?;
        Ok(Self {
            token: Token {
                name: name.into(),
                role: body.role,
                sha256,
                clusters: body.clusters,
            },
            expires: body.expires,
            at: body.at,
            by: body.by,
        })
    }

    /// The change that stores it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn stored(&self) -> Result<Change, serde_json::Error> {
        let body = Body {
            role: self.token.role,
            sha256: hex::encode(self.token.sha256),
            clusters: self.token.clusters.clone(),
            expires: self.expires,
            at: self.at,
            by: self.by.clone(),
        };
        Ok(Change::Setting {
            key: key(&self.token.name),
            body: serde_json::to_string(&body)?,
        })
    }
}

/// The change that removes a token from the store.
pub(super) fn removed(name: &str) -> Change {
    Change::RemoveSetting { key: key(name) }
}
