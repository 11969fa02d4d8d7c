//! Bytes of a file, weighed and identified before anything else looks at them.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use wasmparser::Parser;

use super::LoadError;

/// The SHA-256 of a component: what identifies a unit, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest that is written as 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest).ok()?;
        Some(Self(digest))
    }

    /// The first eight hexadecimal digits: enough for a person to tell units apart.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..4])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        let expected = "the 64 hexadecimal digits of a SHA-256 digest";
        Self::from_hex(&text).ok_or_else(|| {
            serde::de::Error::invalid_value(serde::de::Unexpected::Str(&text), &expected)
        })
    }
}

/// Bytes that are no greater than allowed and begin as a component does.
#[derive(Debug, Clone)]
pub(super) struct Artifact {
    pub(super) bytes: Arc<[u8]>,
    pub(super) digest: Digest,
}

impl Artifact {
    /// Take the bytes in, if their size and their first bytes are right.
    pub(super) fn new(bytes: &[u8], limit: usize) -> Result<Self, LoadError> {
        if bytes.len() > limit {
            return Err(LoadError::TooLarge {
                size: bytes.len(),
                limit,
            });
        }
        if bytes.is_empty() {
            return Err(LoadError::Empty);
        }
        if Parser::is_core_wasm(bytes) {
            return Err(LoadError::CoreModule);
        }
        if !Parser::is_component(bytes) {
            return Err(LoadError::NoComponent);
        }
        Ok(Self {
            bytes: bytes.into(),
            digest: Digest::of(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_in_full_and_in_short_and_read_again() {
        let digest = Digest::of(b"unit");
        assert_eq!(digest.to_string().len(), 64);
        assert!(digest.to_string().starts_with(&digest.short()));
        assert_eq!(Digest::from_hex(&digest.to_string()), Some(digest));
        assert_eq!(Digest::from_hex("12"), None);
    }
}
