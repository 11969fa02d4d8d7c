//! The key that a publisher signs with, and alone knows.

use std::fmt;
use std::ops::Deref;

use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, EncodePublicKey, KeypairBytes};
use ed25519_dalek::{Signer, SigningKey};

/// A private key of Ed25519.
pub struct SecretKey(SigningKey);

/// Why there is no private key.
#[derive(Debug, thiserror::Error)]
pub enum SecretKeyError {
    /// The text is none.
    #[error(
        "it is not an Ed25519 private key: it must be PEM that begins with \"-----BEGIN PRIVATE KEY-----\", without a passphrase, as `placewright unit new-key` and `openssl genpkey -algorithm ed25519` write it"
    )]
    Unreadable,
    /// The text is a public key.
    #[error("it is a public key, with which signatures are checked; sign with the private key")]
    Public,
    /// The platform gave no random bytes.
    #[error("there are no random bytes to make a key of: {0}")]
    NoRandom(#[from] getrandom::Error),
    /// The key cannot be written.
    #[error("the key cannot be written as PEM: {0}")]
    Unwritable(ed25519_dalek::pkcs8::Error),
}

impl SecretKey {
    /// A new one, by the random bytes of the platform.
    ///
    /// # Errors
    /// If there are no random bytes.
    pub fn generate() -> Result<Self, SecretKeyError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Read one (PKCS #8, RFC 8410).
    ///
    /// # Errors
    /// If the text is none.
    pub fn from_pem(text: &str) -> Result<Self, SecretKeyError> {
        let text = text.trim();
        if text.starts_with("-----BEGIN PUBLIC KEY-----") {
            return Err(SecretKeyError::Public);
        }
        let key = SigningKey::from_pkcs8_pem(text).map_err(|_| SecretKeyError::Unreadable)?;
        Ok(Self(key))
    }

    /// As [`from_pem`](Self::from_pem) reads it; the text is overwritten when it is dropped.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn to_pem(&self) -> Result<impl Deref<Target = String> + use<>, SecretKeyError> {
        // OpenSSL 3.0 does not read the form that has the public key besides.
        let pair = KeypairBytes {
            secret_key: self.0.to_bytes(),
            public_key: None,
        };
        let pem = pair.to_pkcs8_pem(LineEnding::LF);
        pem.map_err(SecretKeyError::Unwritable)
    }

    /// Its public key as PEM (SubjectPublicKeyInfo of RFC 8410), as
    /// [`Key::new`](super::Key::new) reads it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn public_pem(&self) -> Result<String, SecretKeyError> {
        let pem = self.0.verifying_key().to_public_key_pem(LineEnding::LF);
        pem.map_err(|error| SecretKeyError::Unwritable(error.into()))
    }

    /// The 32 bytes of the public key, with which its signatures are checked.
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// The signature of bytes.
    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::{Key, Signatures, Signed};

    #[test]
    fn what_a_new_key_signs_its_public_key_verifies() {
        let secret = SecretKey::generate().unwrap();
        let pem = secret.to_pem().unwrap();
        // As long as that of RFC 8410, which OpenSSL reads.
        assert_eq!(pem.lines().nth(1).map(str::len), Some(64), "{}", pem.len());
        let again = SecretKey::from_pem(&pem).unwrap();
        assert_eq!(again.public(), secret.public());
        let key = Key::new("mine", &secret.public_pem().unwrap()).unwrap();
        assert_eq!(key.bytes(), secret.public());
        let signatures = Signatures {
            keys: vec![key],
            require: true,
        };
        let signed = signatures.check(b"bytes", Some(&again.sign(b"bytes")));
        assert_eq!(signed, Ok(Signed::By("mine".to_owned())));
        assert!(format!("{secret:?}").len() < 20);
    }

    #[test]
    fn the_key_that_openssl_writes_is_read() {
        // The first key of RFC 8410, section 10.3.
        let pem = "-----BEGIN PRIVATE KEY-----\n\
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
            -----END PRIVATE KEY-----\n";
        let key = SecretKey::from_pem(pem).unwrap();
        assert_eq!(
            hex::encode(key.public()),
            "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"
        );
    }

    #[test]
    fn what_is_no_private_key_is_refused_with_what_it_must_be() {
        for text in [
            "",
            "00",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] {
            let error = SecretKey::from_pem(text).unwrap_err().to_string();
            assert!(error.contains("BEGIN PRIVATE KEY"), "{text}: {error}");
        }
        let public = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----";
        let error = SecretKey::from_pem(public).unwrap_err().to_string();
        assert!(error.contains("public key"), "{error}");
    }
}
