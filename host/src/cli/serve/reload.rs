//! What a running server takes over of a changed configuration, when SIGHUP asks for it:
//! tokens, certificate and trusted keys.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use placewright::api::{Access, Tls};
use placewright::deployment::Deployment;
use placewright::library::signature::Signatures;
use placewright::library::trust::Trust;
use placewright::telemetry::Telemetry;

use super::arguments::Given;
use super::settings::Settings;
use super::{sources, start};
use crate::cli::failure::Failure;

/// Where the configuration came from.
#[derive(Debug, Clone)]
pub struct Configured {
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    /// What flags and environment give.
    pub given: Given,
}

impl Configured {
    /// Read it.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let sources = sources::gather(self.file.as_deref(), &self.given)?;
        Settings::of(&sources).map_err(Failure::input_because)
    }
}

/// What can be replaced while the server runs.
pub struct Replaceable {
    /// Where requests come in.
    pub listen: SocketAddr,
    pub access: Arc<Access>,
    pub tls: Option<Tls>,
    pub deployment: Arc<Deployment>,
    pub telemetry: Arc<Telemetry>,
}

impl Replaceable {
    /// Read the configuration and the files that it names anew, and take over what is in them.
    /// If anything is wrong with them, all stays as it was.
    pub fn take_over(&self, configured: &Configured) {
        let metrics = &self.telemetry.configuration;
        match self.try_to(configured) {
            Ok(settings) => {
                metrics.reloads.inc();
                tracing::info!(
                    tokens = settings.tokens.len(),
                    trusted_keys = settings.trusted_keys.len(),
                    certificate = self.tls.is_some(),
                    "tokens, certificate and trusted keys were read anew; other options need a restart"
                );
            }
            Err(failure) => {
                metrics.failures.inc();
                tracing::error!("the configuration was not read anew, all is as before: {failure}");
            }
        }
    }

    fn try_to(&self, configured: &Configured) -> Result<Settings, Failure> {
        let settings = configured.settings()?;
        let prepared = start::prepare(&settings)?;
        if prepared.tls.is_some() != self.tls.is_some() {
            return Err(Failure::input_because(
                "whether requests come by TLS cannot be changed without a restart",
            ));
        }
        // What the configuration says of the address is not heeded before the next start.
        let access = Access::new(settings.tokens.clone());
        access.may_listen(self.listen).map_err(Failure::input)?;
        let library = self.deployment.library();
        library.trust(trust(&settings)).map_err(Failure::input)?;
        if let (Some(before), Some(after)) = (&self.tls, &prepared.tls) {
            before.replace(after);
        }
        self.access.replace(settings.tokens.clone());
        Ok(settings)
    }
}

/// Which units the settings trust.
pub fn trust(settings: &Settings) -> Trust {
    Trust {
        signatures: Signatures {
            keys: settings.trusted_keys.clone(),
            require: settings.require_signatures,
        },
        ..Trust::default()
    }
}
