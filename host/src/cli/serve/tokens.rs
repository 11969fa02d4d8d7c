//! Tokens, as the configuration writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use placewright_document::form::{Fields, Key, Shape, TEXT, key, required};
use placewright_document::{Problems, Table, Word, words};
use placewright_http::{Role, Token, why_reserved};
use sha2::{Digest, Sha256};

/// Key of the list.
pub(super) const KEY: &str = "tokens";

/// The keys of a token.
pub(super) const FORM: &[Key] = &[
    required("name", TEXT, "Names the owner in logs and events"),
    required("role", Shape::Word(words::<Role>), "What the owner may do"),
    required(
        "sha256",
        TEXT,
        "SHA-256 of the secret, 64 hexadecimal digits",
    ),
    key(
        "clusters",
        Shape::Texts,
        "The clusters that it is for; all if not given",
    ),
];

/// Secrets that everybody tries first, and those that examples have had.
const GUESSED: [&str; 12] = [
    "",
    "test",
    "test2",
    "token",
    "secret",
    "password",
    "admin",
    "changeme",
    "placewright",
    "viewer",
    "operator",
    "policy-author",
];

/// The secret, if it is one that everybody guesses.
fn guessed(sha256: &[u8; 32]) -> Option<&'static str> {
    let known = |secret: &&str| Sha256::digest(secret).as_slice() == sha256;
    GUESSED.into_iter().find(known)
}

/// Read the list.
pub(super) fn read(tables: &[&Table], problems: &mut Problems) -> Vec<Token> {
    let mut names = BTreeMap::new();
    let mut digests = BTreeMap::new();
    let mut tokens = Vec::new();
    for table in tables {
        let fields = Fields::read(table, FORM, "a token", problems);
        let place = |key| fields.place_of(key).unwrap_or(fields.place);
        let name = fields.text("name");
        if let Some(name) = &name {
            if name.trim().is_empty() {
                problems.add(place("name"), "the name of a token must not be empty");
            }
            if let Some(why) = why_reserved(name) {
                problems.add(place("name"), why);
            }
            if let Some(first) = names.insert(name.clone(), place("name").clone()) {
                let sentence =
                    format!("there is a second token \"{name}\"; the first is at {first}");
                problems.add(place("name"), sentence);
            }
        }
        let sha256 = fields.text("sha256").and_then(|digits| {
            let mut digest = [0; 32];
            if hex::decode_to_slice(digits.as_bytes(), &mut digest).is_ok() {
                return Some(digest);
            }
            problems.add(
                place("sha256"),
                "\"sha256\" must be 64 hexadecimal digits: the SHA-256 of the secret, as \
                 placewright token new prints it",
            );
            None
        });
        if let Some(secret) = sha256.as_ref().and_then(guessed) {
            let sentence = format!(
                "everybody knows the secret of this token: it is \"{secret}\"; make one with placewright token new"
            );
            problems.add(place("sha256"), sentence);
        }
        if let Some(first) =
            sha256.and_then(|digest| digests.insert(digest, place("sha256").clone()))
        {
            let sentence = format!("another token has the same secret; it is at {first}");
            problems.add(place("sha256"), sentence);
        }
        let clusters = clusters(&fields, problems);
        if let (Some(name), Some(role), Some(sha256)) = (name, fields.word("role"), sha256) {
            tokens.push(Token {
                name,
                role,
                sha256,
                clusters,
            });
        }
    }
    tokens
}

/// The clusters that something is for; None: all.
pub(super) fn clusters(fields: &Fields<'_>, problems: &mut Problems) -> Option<BTreeSet<Arc<str>>> {
    let place = fields.place_of("clusters")?;
    let clusters: BTreeSet<Arc<str>> = fields.list("clusters").into_iter().collect();
    if clusters.is_empty() {
        problems.add(
            place,
            "\"clusters\" names none; leave it out for all clusters",
        );
    }
    Some(clusters)
}

/// A token as it stands in a configuration file.
pub(crate) fn lines(token: &Token) -> String {
    let mut text = format!(
        "[[{KEY}]]\nname = {}\nrole = \"{}\"\nsha256 = \"{}\"\n",
        quoted(&token.name),
        token.role.word(),
        hex::encode(token.sha256)
    );
    if let Some(clusters) = &token.clusters {
        let names: Vec<String> = clusters.iter().map(|name| quoted(name)).collect();
        text.push_str(&format!("clusters = [{}]\n", names.join(", ")));
    }
    text
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
