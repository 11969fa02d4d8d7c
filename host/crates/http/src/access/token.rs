//! What the server knows of a token, and secrets.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::people::PEOPLE;
use crate::permission::Role;

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

/// Names that stand for somebody else than a token in logs, events and policies. The server acts
/// by some of them, and needs no token for that.
const RESERVED: [&str; 5] = ["anonymous", "file", "periodic", "program", "restart"];

/// Why no token may have that name, if it stands for somebody else: a sentence.
pub fn why_reserved(name: &str) -> Option<String> {
    let is_reserved = RESERVED.contains(&name) || name.starts_with(PEOPLE);
    is_reserved.then(|| {
        format!("\"{name}\" stands for somebody else in logs and events: take another name")
    })
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
