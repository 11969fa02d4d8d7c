//! How records hang together.
//!
//! A record is one line: `{"hash":"H","previous":"P","sequence":N,"at":"T",...}`. `H` is the
//! SHA-256, in hexadecimal, of all that follows `{"hash":"H",` up to and with the last brace;
//! `P` is the `H` of the record before. So the hash of a record depends on all records before
//! it, and is computed of its line with ordinary tools.

use std::time::SystemTime;

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// What the first record has in place of the hash of one before.
const NOTHING: [u8; 32] = [0; 32];

const BEGIN: &str = "{\"hash\":\"";
/// Where the hashed part of a line begins.
const HASHED: usize = BEGIN.len() + 64 + "\",".len();

/// The last record of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Its number; 0: there is none yet.
    pub sequence: u64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl Default for Head {
    fn default() -> Self {
        Self {
            sequence: 0,
            hash: NOTHING,
        }
    }
}

/// What is wrong with a line as a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LineError {
    #[error("it is no record")]
    NoRecord,
    #[error("its hash is not that of what it says: it was changed")]
    Hash,
}

/// A record that was read, whose hash is that of its bytes.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub head: Head,
    pub previous: [u8; 32],
    pub at: String,
    /// Records that were lost before it.
    pub lost: u64,
    pub what: String,
}

#[derive(Deserialize)]
struct Fields {
    previous: String,
    sequence: u64,
    at: String,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    what: String,
}

/// The line of the record after `head`, with its end; `json` is an object of at least one field.
pub(super) fn line(head: &mut Head, at: SystemTime, lost: u64, json: &str) -> String {
    use std::fmt::Write as _;
    let (previous, sequence) = (hex::encode(head.hash), head.sequence + 1);
    let at = humantime::format_rfc3339_micros(at);
    let mut line = format!("{BEGIN}{:64}\",", "");
    // Writing to a text does not fail.
    let _ = write!(
        line,
        "\"previous\":\"{previous}\",\"sequence\":{sequence},\"at\":\"{at}\","
    );
    if lost > 0 {
        let _ = write!(line, "\"lost\":{lost},");
    }
    line.push_str(json.strip_prefix('{').unwrap_or("}"));
    let hash: [u8; 32] = Sha256::digest(&line[HASHED..]).into();
    line.replace_range(BEGIN.len()..BEGIN.len() + 64, &hex::encode(hash));
    line.push('\n');
    *head = Head { sequence, hash };
    line
}

/// Read a line, without its end.
pub(super) fn read(line: &[u8]) -> Result<Link, LineError> {
    let rest = line
        .strip_prefix(BEGIN.as_bytes())
        .ok_or(LineError::NoRecord)?;
    let (hash, _) = rest.split_at_checked(64).ok_or(LineError::NoRecord)?;
    let hash = digest(hash).ok_or(LineError::NoRecord)?;
    let hashed = line.get(HASHED..).ok_or(LineError::NoRecord)?;
    if <[u8; 32]>::from(Sha256::digest(hashed)) != hash || !line[..HASHED].ends_with(b"\",") {
        return Err(LineError::Hash);
    }
    let fields: Fields = serde_json::from_slice(line).map_err(|_| LineError::NoRecord)?;
    Ok(Link {
        head: Head {
            sequence: fields.sequence,
            hash,
        },
        previous: digest(fields.previous.as_bytes()).ok_or(LineError::NoRecord)?,
        at: fields.at,
        lost: fields.lost,
        what: fields.what,
    })
}

/// A hash in lower-case hexadecimal.
pub(super) fn digest(text: &[u8]) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).ok()?;
    // Written in one way alone.
    (hex::encode(hash).as_bytes() == text).then_some(hash)
}
