//! Keys whose signatures are trusted and units that never are, as the configuration writes
//! them.

use std::collections::BTreeMap;

use placewright_document::form::{Fields, Key, TEXT, required};
use placewright_document::{Problems, Table};
use placewright_engine::unit::Digest;
use placewright_library::signature::Key as Signer;

/// Key of the list.
pub(super) const KEY: &str = "trusted-keys";

/// Key of the list of units that are never let in.
pub(super) const REVOKED: &str = "revoked";

/// The keys of a trusted key.
pub(super) const FORM: &[Key] = &[
    required("name", TEXT, "Names the signer in reports"),
    required(
        "ed25519",
        TEXT,
        "The signer's public key: 32 bytes in hexadecimal or base64, or PEM",
    ),
];

/// Public keys of which RFC 8032 prints the private ones, in its section 7.1.
const PUBLISHED: [&str; 5] = [
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
    "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
];

/// Read the list.
pub(super) fn read(tables: &[&Table], problems: &mut Problems) -> Vec<Signer> {
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
            Ok(key) if PUBLISHED.contains(&hex::encode(key.bytes()).as_str()) => problems.add(
                place("ed25519"),
                "everybody can sign with this key: RFC 8032 prints its private key as an example; make one with openssl genpkey -algorithm ed25519",
            ),
            Ok(key) => keys.push(key),
            Err(_) => problems.add(
                place("ed25519"),
                "\"ed25519\" must be a public key of ed25519: its 32 bytes in hexadecimal or base64, or PEM",
            ),
        }
    }
    keys
}

/// Read the digests of the units that are never let in.
pub(super) fn read_revoked(fields: &Fields<'_>, problems: &mut Problems) -> Vec<Digest> {
    let mut digests = Vec::new();
    for (text, place) in fields.texts(REVOKED) {
        match Digest::from_hex(text) {
            Some(digest) => digests.push(digest),
            None => problems.add(
                place,
                "\"revoked\" lists digests of units: 64 hexadecimal digits each, as `placewright unit inspect` and /v1/units show them",
            ),
        }
    }
    digests
}
