//! Signatures of tokens are verified by ring, which TLS uses already.
//!
//! jsonwebtoken takes its cryptography from one place of the whole process.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use signature::Verifier;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Have tokens verified from here on.
pub(crate) fn install() {
    // It is there already, or another one of the process is, which is as good.
    let _ = PROVIDER.install_default();
}

/// Whether tokens may be signed like that: by a key of which the provider alone has the private
/// part.
pub(crate) fn is_allowed(algorithm: Algorithm) -> bool {
    how(algorithm).is_some()
}

#[derive(Clone, Copy)]
enum How {
    Rsa(&'static RsaParameters),
    Point(&'static dyn VerificationAlgorithm),
}

fn how(algorithm: Algorithm) -> Option<How> {
    Some(match algorithm {
        Algorithm::RS256 => How::Rsa(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => How::Rsa(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => How::Rsa(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => How::Rsa(&RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => How::Rsa(&RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => How::Rsa(&RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => How::Point(&ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => How::Point(&ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => How::Point(&ED25519),
        _ => return None,
    })
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if algorithm.family() != key.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    let how = how(*algorithm).ok_or(ErrorKind::UnsupportedAlgorithm)?;
    Ok(Box::new(RingVerifier {
        algorithm: *algorithm,
        how,
        key: key.clone(),
    }))
}

struct RingVerifier {
    algorithm: Algorithm,
    how: How,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(
        &self,
        message: &[u8],
        signed: &Vec<u8>,
    ) -> std::result::Result<(), signature::Error> {
        let verified = match (self.how, self.key.kind()) {
            (How::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signed)
            }
            (How::Point(parameters), DecodingKeyKind::SecretOrDer(bytes)) => {
                UnparsedPublicKey::new(parameters, bytes).verify(message, signed)
            }
            (How::Rsa(_), DecodingKeyKind::SecretOrDer(_))
            | (How::Point(_), DecodingKeyKind::RsaModulusExponent { .. }) => {
                return Err(signature::Error::new());
            }
        };
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
