//! Whether bytes are signed by someone whose key is trusted: Ed25519, over the bytes
//! of the component as they are, in a file of its own.
//!
//! `placewright unit sign a.wasm --key key.pem` makes one with a [`SecretKey`]; so does
//! `openssl pkeyutl -sign -rawin -inkey key.pem -in a.wasm -out a.wasm.sig`.

mod secret;

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ed25519_dalek::{Signature, VerifyingKey};

pub use secret::{SecretKey, SecretKeyError};

/// A public key.
const KEY: usize = 32;

/// What a public key begins with in the form that OpenSSL writes (SubjectPublicKeyInfo
/// of RFC 8410, in DER).
const SPKI: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// A key that signatures are checked with.
#[derive(Clone)]
pub struct Key {
    name: String,
    key: VerifyingKey,
}

/// Why a text is no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the key {0} is not an Ed25519 public key: write its 32 bytes in hexadecimal or base64, or the PEM that `openssl pkey -pubout` gives"
)]
pub struct KeyError(String);

/// Why bytes do not count as signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature and there must be one.
    #[error(
        "it is not signed and units must be: put its Ed25519 signature beside it, in a file with .sig after its whole name"
    )]
    Missing,
    /// What should be a signature is none.
    #[error(
        "its signature has {0} bytes and is no Ed25519 signature: 64 bytes as they are, in hexadecimal or in base64"
    )]
    Unreadable(usize),
    /// No trusted key fits.
    #[error(
        "its signature is by none of the trusted keys ({}), or the file was changed after it was signed", .0.join(", ")
    )]
    Untrusted(Vec<String>),
}

/// Which signatures are asked for.
#[derive(Debug, Clone, Default)]
pub struct Signatures {
    /// Whose signatures count.
    pub keys: Vec<Key>,
    /// Whether what is not signed is refused.
    pub require: bool,
}

/// Whether bytes are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// By the key of that name.
    By(String),
    /// They are not, and need not be.
    No,
    /// There is a signature and no key to check it with.
    Unchecked,
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(name) => write!(f, "signed by {name}"),
            Self::No => f.write_str("not signed"),
            Self::Unchecked => f.write_str("its signature was not checked: no key is trusted"),
        }
    }
}

impl Key {
    /// The key that `text` writes: 32 bytes in hexadecimal or base64, or PEM.
    ///
    /// # Errors
    /// If it is none, or a weak one that would accept forged signatures.
    pub fn new(name: &str, text: &str) -> Result<Self, KeyError> {
        let bytes = key_bytes(text);
        let key = bytes
            .and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
            .filter(|key| !key.is_weak());
        match key {
            Some(key) => Ok(Self {
                name: name.to_owned(),
                key,
            }),
            None => Err(KeyError(name.to_owned())),
        }
    }

    /// The 32 bytes of the public key.
    pub fn bytes(&self) -> [u8; 32] {
        self.key.to_bytes()
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.name).finish()
    }
}

impl Signatures {
    /// Check what lies beside the bytes, if anything does. A signature that is wrong
    /// is refused though none is required.
    ///
    /// # Errors
    /// If they do not count as signed and must, or the signature is wrong.
    pub fn check(&self, bytes: &[u8], beside: Option<&[u8]>) -> Result<Signed, SignatureError> {
        let Some(beside) = beside else {
            return match self.require {
                true => Err(SignatureError::Missing),
                false => Ok(Signed::No),
            };
        };
        let signature = signature(beside).ok_or(SignatureError::Unreadable(beside.len()))?;
        if self.keys.is_empty() && !self.require {
            return Ok(Signed::Unchecked);
        }
        let verifies = |key: &&Key| key.key.verify_strict(bytes, &signature).is_ok();
        match self.keys.iter().find(verifies) {
            Some(key) => Ok(Signed::By(key.name.clone())),
            None => {
                let names = self.keys.iter().map(|key| key.name.clone());
                Err(SignatureError::Untrusted(names.collect()))
            }
        }
    }
}

fn signature(bytes: &[u8]) -> Option<Signature> {
    if let Ok(raw) = <[u8; 64]>::try_from(bytes) {
        return Some(Signature::from_bytes(&raw));
    }
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let raw = hex::decode(text).ok().or_else(|| base64(text))?;
    Some(Signature::from_bytes(&raw.try_into().ok()?))
}

fn key_bytes(text: &str) -> Option<[u8; KEY]> {
    let text = text.trim();
    let bytes = if text.starts_with("-----BEGIN PUBLIC KEY-----") {
        let lines = text.lines().filter(|line| !line.starts_with("-----"));
        base64(&lines.map(str::trim).collect::<String>())?
    } else {
        hex::decode(text).ok().or_else(|| base64(text))?
    };
    let key = bytes.strip_prefix(&SPKI).unwrap_or(&bytes);
    key.try_into().ok()
}

/// The bytes that RFC 4648 writes so, in either alphabet, with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    const READER: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let text = text.replace('-', "+").replace('_', "/");
    READER.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer, SigningKey};

    use super::*;

    const BYTES: &[u8] = b"a component";

    fn secret(byte: u8) -> SigningKey {
        SigningKey::from_bytes(&[byte; 32])
    }

    fn key(byte: u8) -> Key {
        let public = hex::encode(secret(byte).verifying_key().to_bytes());
        Key::new(&format!("key {byte}"), &public).unwrap()
    }

    fn required() -> Signatures {
        Signatures {
            keys: vec![key(1), key(2)],
            require: true,
        }
    }

    /// As RFC 4648 has it: what is read is checked against this.
    fn written(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        bytes
            .chunks(3)
            .flat_map(|chunk| {
                let bits = (0..3).fold(0, |bits, at| {
                    bits << 8 | u32::from(*chunk.get(at).unwrap_or(&0))
                });
                (0..4).map(move |at| match at <= chunk.len() {
                    true => char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]),
                    false => '=',
                })
            })
            .collect()
    }

    #[test]
    fn a_signature_counts_as_it_is_in_hexadecimal_and_in_base64() {
        let signature = secret(2).sign(BYTES).to_bytes();
        let as_hex = format!("{}\n", hex::encode(signature));
        let as_base64 = format!("{}\n", written(&signature));
        for beside in [&signature[..], as_hex.as_bytes(), as_base64.as_bytes()] {
            let signed = required().check(BYTES, Some(beside)).unwrap();
            assert_eq!(signed, Signed::By("key 2".to_owned()));
        }
    }

    #[test]
    fn what_is_not_signed_is_refused_only_where_that_is_required() {
        let refused = required().check(BYTES, None).unwrap_err();
        assert_eq!(refused, SignatureError::Missing);
        assert!(refused.to_string().contains(".sig"));
        let lax = Signatures {
            require: false,
            ..required()
        };
        assert_eq!(lax.check(BYTES, None), Ok(Signed::No));
        let signature = secret(1).sign(BYTES).to_bytes();
        let none = Signatures::default();
        assert_eq!(none.check(BYTES, Some(&signature)), Ok(Signed::Unchecked));
    }

    #[test]
    fn a_wrong_signature_is_refused_though_none_is_required() {
        let lax = Signatures {
            require: false,
            ..required()
        };
        for signatures in [required(), lax] {
            let other = secret(3).sign(BYTES).to_bytes();
            let refused = signatures.check(BYTES, Some(&other)).unwrap_err();
            assert!(matches!(refused, SignatureError::Untrusted(_)));
            assert!(refused.to_string().contains("key 1, key 2"));
            let of_other = secret(1).sign(b"another").to_bytes();
            assert!(signatures.check(BYTES, Some(&of_other)).is_err());
            let cut = signatures.check(BYTES, Some(&other[..63])).unwrap_err();
            assert_eq!(cut, SignatureError::Unreadable(63));
        }
    }

    #[test]
    fn a_key_is_read_in_each_of_its_forms() {
        let public = secret(1).verifying_key().to_bytes();
        let pem = format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            written(&[&SPKI[..], &public].concat())
        );
        for text in [hex::encode(public), written(&public), pem] {
            assert_eq!(Key::new("it", &text).unwrap().key.to_bytes(), public);
        }
        for text in ["", "00", "not a key", &hex::encode([0; 32])] {
            let error = Key::new("it", text).unwrap_err().to_string();
            assert!(error.contains("the key it"), "{text}: {error}");
        }
    }

    #[test]
    fn base64_is_read_with_any_number_of_bytes_left_over() {
        for length in 0..7 {
            let bytes = &[250, 7, 0, 255, 128, 1, 77][..length];
            let text = written(bytes);
            assert_eq!(base64(&text).as_deref(), Some(bytes), "{text}");
            assert_eq!(base64(text.trim_end_matches('=')).as_deref(), Some(bytes));
        }
        assert_eq!(base64("A"), None);
        assert_eq!(base64("AB=="), None);
        assert_eq!(base64("A!=="), None);
    }
}
