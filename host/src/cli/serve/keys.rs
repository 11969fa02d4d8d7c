//! Keys whose signatures are trusted, as the configuration writes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ed25519_dalek::VerifyingKey;
use placewright::document::form::{Fields, Key, TEXT, required};
use placewright::document::{Problems, Table};

/// Key of the list.
pub const KEY: &str = "trusted-keys";

/// The keys of a trusted key.
pub const FORM: &[Key] = &[
    required("name", TEXT, "Names the signer in reports"),
    required(
        "ed25519",
        TEXT,
        "The signer's public key, 64 hexadecimal digits",
    ),
];

/// A key whose signatures are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// Names the signer.
    pub name: Arc<str>,
    /// The public key.
    pub key: VerifyingKey,
}

/// Read the list.
pub fn read(tables: &[&Table], problems: &mut Problems) -> Vec<TrustedKey> {
    let mut names = BTreeMap::new();
    let mut keys = Vec::new();
    for table in tables {
        let fields = Fields::read(table, FORM, "a trusted key", problems);
        let place = |key| fields.place_of(key).unwrap_or(fields.place);
        let name = fields.text("name");
        if let Some(name) = &name
            && let Some(first) = names.insert(name.clone(), place("name").clone())
        {
            let sentence = format!("there is a second key \"{name}\"; the first is at {first}");
            problems.add(place("name"), sentence);
        }
        let key = fields.text("ed25519").and_then(|digits| {
            let key = public_key(&digits);
            if key.is_none() {
                problems.add(
                    place("ed25519"),
                    "\"ed25519\" must be a public key of ed25519: 64 hexadecimal digits",
                );
            }
            key
        });
        if let (Some(name), Some(key)) = (name, key) {
            keys.push(TrustedKey { name, key });
        }
    }
    keys
}

fn public_key(digits: &str) -> Option<VerifyingKey> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(digits.as_bytes(), &mut bytes).ok()?;
    let key = VerifyingKey::from_bytes(&bytes).ok()?;
    // With such a key everybody could sign.
    (!key.is_weak()).then_some(key)
}
