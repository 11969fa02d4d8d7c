//! Keys whose signatures are trusted, as the configuration writes them.

use std::collections::BTreeMap;

use placewright::document::form::{Fields, Key, TEXT, required};
use placewright::document::{Problems, Table};
use placewright::library::signature::Key as Signer;

/// Key of the list.
pub const KEY: &str = "trusted-keys";

/// The keys of a trusted key.
pub const FORM: &[Key] = &[
    required("name", TEXT, "Names the signer in reports"),
    required(
        "ed25519",
        TEXT,
        "The signer's public key: 32 bytes in hexadecimal or base64, or PEM",
    ),
];

/// Read the list.
pub fn read(tables: &[&Table], problems: &mut Problems) -> Vec<Signer> {
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
        let (Some(name), Some(text)) = (name, fields.text("ed25519")) else {
            continue;
        };
        match Signer::new(&name, &text) {
            Ok(key) => keys.push(key),
            Err(_) => problems.add(
                place("ed25519"),
                "\"ed25519\" must be a public key of ed25519: its 32 bytes in hexadecimal or base64, or PEM",
            ),
        }
    }
    keys
}
