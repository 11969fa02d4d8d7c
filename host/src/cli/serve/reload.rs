//! What a running server takes over of a changed configuration, when SIGHUP or a request asks
//! for it: tokens, certificate, and which units are trusted.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use placewright_api::{Reload, Reloaded};
use placewright_deployment::Deployment;
use placewright_http::{Access, Tls};
use placewright_library::signature::Signatures;
use placewright_library::trust::Trust;
use placewright_library::watch::{WatchError, WatchedFile};
use placewright_model::Value;
use placewright_records::audit::{Origin, Record};
use placewright_records::telemetry::Telemetry;

use super::arguments::Given;
use super::openid::OpenId;
use super::settings::Settings;
use super::sources::Sources;
use super::{sources, start};
use crate::cli::failure::Failure;

/// Where the configuration came from.
#[derive(Debug)]
pub(super) struct Configured {
    /// The configuration file, if there is one.
    file: Option<(PathBuf, WatchedFile)>,
    /// What flags and environment give.
    given: Given,
}

/// The most bytes of a configuration file.
const MOST_BYTES: usize = 16 << 20;

impl Configured {
    /// With this file, which is watched from now on, and what flags and environment give.
    pub(super) fn new(file: Option<PathBuf>, given: Given) -> Result<Self, Failure> {
        let watched = file.map(|path| {
            let watched = WatchedFile::start(&path, MOST_BYTES)?;
            Ok((path, watched))
        });
        let file = watched.transpose();
        let file =
            file.map_err(|error: WatchError| Failure::internal(anyhow::Error::new(error)))?;
        Ok(Self { file, given })
    }

    /// Read it, once nobody is writing it.
    fn read(&self) -> Result<(Settings, Values), Failure> {
        let file = self.file.as_ref().map(|(path, file)| {
            let bytes = file.read().map_err(Failure::input)?;
            let text = String::from_utf8(bytes.to_vec()).map_err(|_| {
                Failure::input_because(format!("{} is no text in UTF-8", path.display()))
            })?;
            Ok::<_, Failure>((path.as_path(), text))
        });
        let file = file.transpose()?;
        let file = file.as_ref().map(|(path, text)| (*path, text.as_str()));
        let sources = sources::of_text(file, &self.given)?;
        let settings = Settings::of(&sources).map_err(Failure::input_because)?;
        Ok((settings, values(&sources)))
    }
}

/// The values of the options, by name.
pub(super) type Values = Vec<(&'static str, Option<Value>)>;

/// The values of the options that are given.
pub(super) fn values(sources: &Sources) -> Values {
    let settings = sources.settings.iter();
    settings
        .map(|it| (it.option.name, it.value.clone()))
        .collect()
}

/// Options that are heeded without a restart.
const HEEDED: [&str; 3] = ["tls-certificate", "tls-key", "require-signatures"];

/// What can be replaced while the server runs.
#[derive(Debug)]
pub(super) struct Replaceable {
    /// Where the configuration comes from.
    pub configured: Configured,
    /// What it said when the server was started.
    pub at_start: Values,
    /// Where requests come in.
    pub listen: SocketAddr,
    pub access: Arc<Access>,
    pub tls: Option<Tls>,
    /// How people sign in by a provider.
    pub openid: Option<Arc<OpenId>>,
    pub deployment: Arc<Deployment>,
    pub telemetry: Arc<Telemetry>,
    /// Held while it is read: one after the other.
    pub turn: Mutex<()>,
}

impl Reload for Replaceable {
    /// Read the configuration and the files that it names anew, and take over what is in them.
    fn reload(&self) -> Result<Reloaded, String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let metrics = &self.telemetry.configuration;
        match self.take_over() {
            Ok(reloaded) => {
                metrics.reloads.inc();
                tracing::info!(
                    tokens = reloaded.tokens,
                    trusted_keys = reloaded.trusted_keys,
                    revoked = reloaded.revoked,
                    certificate = reloaded.certificate,
                    needs_restart = reloaded.needs_restart.join(", "),
                    "tokens, certificate and trusted keys were reloaded; other options need a restart"
                );
                Ok(reloaded)
            }
            Err(failure) => {
                metrics.failures.inc();
                tracing::error!(
                    "the configuration was not reloaded, and nothing has changed: {failure}"
                );
                Err(failure.to_string())
            }
        }
    }
}

impl Replaceable {
    fn take_over(&self) -> Result<Reloaded, Failure> {
        let (settings, values) = self.configured.read()?;
        let prepared = start::prepare(&settings)?;
        if prepared.tls.is_some() != self.tls.is_some() {
            return Err(Failure::input_because(
                "whether requests come by TLS cannot be changed without a restart",
            ));
        }
        // A configuration that is empty, or half written, must not open what was closed.
        let is_closed = self.access.admits_people();
        if settings.tokens.is_empty() && self.access.is_configured() && !is_closed {
            return Err(Failure::input_because(
                "there are no tokens any more, and without tokens everybody may do everything: the server would have to be started anew for that",
            ));
        }
        // What the configuration says of the address is not heeded before the next start.
        let access = start::access(&settings);
        let listens = access.may_listen(self.listen, settings.transport());
        listens.map_err(Failure::input)?;
        let trusted = self.deployment.trust(trust(&settings));
        trusted.map_err(Failure::input)?;
        if let (Some(before), Some(after)) = (&self.tls, &prepared.tls) {
            before.replace(after);
            if let Some(ends) = after.not_after() {
                self.telemetry.configuration.certificate_ends(ends);
            }
        }
        let store = self.deployment.store();
        for sentence in self.access.replace(settings.tokens.clone(), store) {
            tracing::warn!("{sentence}");
        }
        self.replace_roles(&settings);
        let differ = |(name, value): &(&'static str, Option<Value>)| {
            let before = self.at_start.iter().find(|(known, _)| known == name);
            before.is_some_and(|(_, before)| before != value) && !HEEDED.contains(name)
        };
        let differing = values.iter().filter(|it| differ(it));
        Ok(Reloaded {
            tokens: settings.tokens.len(),
            trusted_keys: settings.trusted_keys.len(),
            revoked: settings.revoked.len(),
            certificate: self.tls.is_some(),
            needs_restart: differing.map(|(name, _)| (*name).to_owned()).collect(),
        })
    }
}

impl Replaceable {
    /// Give other roles to groups. What people may do is decided when they sign in, so they do it
    /// again.
    #[cfg(feature = "console")]
    fn replace_roles(&self, settings: &Settings) {
        let Some(openid) = &self.openid else { return };
        if openid.replace_roles(settings.openid_roles.clone()) {
            let people = self.access.sign_out_people();
            tracing::info!(people, "groups have other roles: people sign in again");
        }
    }

    /// Nobody signs in where there is no console.
    #[cfg(not(feature = "console"))]
    #[expect(clippy::unused_self, reason = "as with the console")]
    fn replace_roles(&self, _: &Settings) {}
}

/// What the audit log tells of a signal that had the configuration read anew.
pub(super) fn record(taken_over: &Result<Reloaded, String>) -> Record {
    let record = match taken_over {
        Ok(reloaded) => Record {
            after: serde_json::to_string(reloaded).ok(),
            ..Record::server(
                "configuration-read",
                "tokens, certificate and trusted keys were reloaded",
            )
        },
        Err(wrong) => Record::server(
            "configuration-refused",
            format!("the configuration was not reloaded, and nothing has changed: {wrong}"),
        ),
    };
    Record {
        origin: Origin::Signal,
        ..record
    }
}

/// Which units the settings trust.
pub(super) fn trust(settings: &Settings) -> Trust {
    Trust {
        signatures: Signatures {
            keys: settings.trusted_keys.clone(),
            require: settings.require_signatures,
        },
        revoked: settings.revoked.iter().copied().collect(),
        ..Trust::default()
    }
}
