//! The server's certificate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Certificate and key, ready for use. Clones show one and the same certificate.
#[derive(Debug, Clone)]
pub struct Tls {
    config: RustlsConfig,
    not_after: Option<i64>,
}

/// Why a certificate or key is not used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read, or holds something else.
    #[error("cannot read {what} from {}: it must be a file in PEM", file.display())]
    Unreadable {
        /// "certificates" or "a private key".
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// Why.
        source: pem::Error,
    },
    /// The file holds no certificate.
    #[error("{} holds no certificate", .0.display())]
    NoCertificate(PathBuf),
    /// The two do not belong together, or cannot be used.
    #[error("the certificate and the key cannot be used together")]
    Refused(#[from] rustls::Error),
}

impl Tls {
    /// Read the chain of certificates, the server's own first, and its key, from files
    /// in PEM.
    ///
    /// # Errors
    /// If they cannot be read or used.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let unreadable = |what, file: &Path| {
            let file = file.to_owned();
            move |source| TlsError::Unreadable { what, file, source }
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(unreadable("certificates", certificate))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(certificate.to_owned()));
        }
        let not_after = chain.first().and_then(|own| not_after(own));
        let key = PrivateKeyDer::from_pem_file(key).map_err(unreadable("a private key", key))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            config: RustlsConfig::from_config(Arc::new(config)),
            not_after,
        })
    }

    /// When the server's own certificate ends, in seconds since 1970-01-01 UTC, as it was read;
    /// None: it does not tell.
    pub fn not_after(&self) -> Option<i64> {
        self.not_after
    }

    /// Show the other's certificate from now on: to connections that begin later.
    pub fn replace(&self, other: &Self) {
        self.config.reload_from_config(other.config.get_inner());
    }

    pub(super) fn config(&self) -> RustlsConfig {
        self.config.clone()
    }
}

fn not_after(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    Some(certificate.validity().not_after.timestamp())
}
