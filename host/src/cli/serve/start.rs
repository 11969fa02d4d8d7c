//! Starts the server, and ends it cleanly.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use placewright::api::{self, Access, Foundation, Handle, Stop, Stopper, Tls};
use placewright::deployment::{DeploymentOptions, OpenError, Opening, Running};
use placewright::library::live::LibraryOptions;
use placewright::scheduler::SchedulerOptions;
use placewright::store::{self, StoreOptions};
use placewright::telemetry::{Telemetry, start_log};
use tokio::runtime::{Builder, Runtime};

use super::options::Durability;
use super::reload::{self, Configured, Replaceable};
use super::settings::Settings;
use super::{compile, notify};
use crate::cli::failure::{Answer, Failure};

/// What is checked before anything begins.
pub struct Prepared {
    pub access: Arc<Access>,
    pub tls: Option<Tls>,
}

/// Check what only shows when files are read and settings are seen together.
pub fn prepare(settings: &Settings) -> Result<Prepared, Failure> {
    let access = Access::new(settings.tokens.clone());
    access.may_listen(settings.listen).map_err(Failure::input)?;
    let tls = match &settings.tls {
        Some((certificate, key)) => Some(Tls::read(certificate, key).map_err(Failure::input)?),
        None => None,
    };
    Ok(Prepared {
        access: Arc::new(access),
        tls,
    })
}

/// Serve until a signal ends it.
pub fn serve(
    settings: Settings,
    prepared: Prepared,
    configured: Configured,
) -> Result<Answer, Failure> {
    start_log(settings.log_format, &settings.log_level).map_err(Failure::input)?;
    let runtime = runtime(settings.threads).map_err(|error| {
        Failure::internal(anyhow::Error::new(error).context("cannot start threads"))
    })?;
    // Heard from here on, so that it does not end a server that starts.
    let hangups = {
        let _entered = runtime.enter();
        Hangups::listen().map_err(Failure::internal)?
    };
    // The address first: a second server on the same data ends here.
    let listener = bind(settings.listen)?;
    let telemetry = Arc::new(Telemetry::new());
    make_folders(&settings)?;
    let opened = Running::open(opening(&settings), telemetry.clone());
    let running = opened.map_err(|error| match error {
        OpenError::Store(_) | OpenError::Library(_) => Failure::input(error),
        error => Failure::internal(error),
    })?;
    if prepared.tls.is_none() && !settings.listen.ip().to_canonical().is_loopback() {
        tracing::warn!(
            "tokens cross the network in clear text: configure tls-certificate and tls-key"
        );
    }
    let (stopper, stop) = Stop::new();
    let replaceable = Replaceable {
        listen: settings.listen,
        access: prepared.access.clone(),
        tls: prepared.tls.clone(),
        deployment: running.deployment().clone(),
        telemetry: telemetry.clone(),
    };
    let router = api::router(&Foundation {
        deployment: running.deployment().clone(),
        access: prepared.access,
        telemetry,
        limits: settings.api_limits,
        stop,
    });
    let handle = Handle::new();
    let served = runtime.block_on(async {
        let signals = Signals::listen()?;
        tokio::spawn(signals.obey(stopper, handle.clone(), settings.shutdown_time));
        let reloads = tokio::spawn(hangups.obey(replaceable, configured));
        announce(&listener, prepared.tls.is_some());
        let tls = prepared.tls.as_ref();
        let served = api::serve(listener, tls, router, settings.api_limits, handle).await;
        reloads.abort();
        served
    });
    // Decisions end and everything is written, also if serving failed. A second signal
    // is still heard, by the runtime's threads.
    running.stop();
    runtime.shutdown_background();
    served.map_err(|error| {
        Failure::internal(anyhow::Error::new(error).context("cannot serve requests"))
    })?;
    tracing::info!("stopped");
    Ok(Answer::Yes)
}

/// Folders that are watched are there from the start, so that an admin finds where files
/// go.
fn make_folders(settings: &Settings) -> Result<(), Failure> {
    for folder in [&settings.units, &settings.policies] {
        fs::create_dir_all(folder).map_err(|error| {
            let what = format!("cannot make the folder {}", folder.display());
            Failure::input(anyhow::Error::new(error).context(what))
        })?;
    }
    Ok(())
}

/// With a bound on what new units may change, it must be known what they change.
const THOROUGH_TRIAL: Duration = Duration::from_millis(500);

fn opening(settings: &Settings) -> Opening {
    let usual = DeploymentOptions::default();
    Opening {
        data: Some(settings.data.clone()),
        cache: Some(settings.cache.clone()),
        compile_apart: Some(compile::apart),
        units: Some(settings.units.clone()),
        policies: Some(settings.policies.clone()),
        limits: settings.unit_limits.clone(),
        store: StoreOptions {
            durability: match settings.durability {
                Durability::Full => store::Durability::Power,
                Durability::Normal => store::Durability::Process,
            },
            decisions: settings.recorded_decisions,
            history_bytes: settings.history_bytes,
            ..StoreOptions::default()
        },
        library: LibraryOptions {
            trust: reload::trust(settings),
            require_replay: settings.require_replay,
            ..LibraryOptions::default()
        },
        deployment: DeploymentOptions {
            wait: settings.decision_wait,
            scheduler: SchedulerOptions {
                chain_limit: settings.decision_hold,
                reservation: settings.reservation,
                recorded: settings.recorded_decisions,
                ..SchedulerOptions::default()
            },
            longest_reservation: settings.longest_reservation,
            trial: match settings.require_replay {
                Some(_) => THOROUGH_TRIAL,
                None => usual.trial,
            },
            ..usual
        },
    }
}

fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::input(error.context(format!("cannot listen on {address}")))
    })
}

fn runtime(threads: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("requests")
        .enable_all()
        .build()
}

fn announce(listener: &TcpListener, tls: bool) {
    let scheme = if tls { "https" } else { "http" };
    match listener.local_addr() {
        Ok(address) => tracing::info!(
            url = format!("{scheme}://{address}"),
            version = env!("CARGO_PKG_VERSION"),
            "serving"
        ),
        Err(error) => tracing::warn!(%error, "serving"),
    }
    notify::tell(notify::READY);
}

/// The signal that has the configuration read anew.
#[cfg(unix)]
struct Hangups(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangups {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Waits for one.
    async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// The signal that has the configuration read anew.
#[cfg(not(unix))]
struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// There is none here.
    async fn next(&mut self) {
        std::future::pending().await
    }
}

impl Hangups {
    /// Read the configuration anew at each one.
    async fn obey(mut self, replaceable: Replaceable, configured: Configured) {
        let replaceable = Arc::new(replaceable);
        let configured = Arc::new(configured);
        loop {
            self.next().await;
            let (replaceable, configured) = (replaceable.clone(), configured.clone());
            let taken_over = move || replaceable.take_over(&configured);
            if let Err(error) = tokio::task::spawn_blocking(taken_over).await {
                tracing::error!(%error, "the configuration was not read anew");
            }
        }
    }
}

/// The signals that end the server.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one; gives its number.
    async fn next(&mut self) -> i32 {
        use tokio::signal::unix::SignalKind;
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        }
    }
}

/// The signals that end the server.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for one; gives its number.
    async fn next(&mut self) -> i32 {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        2
    }
}

impl Signals {
    /// End the server: at the first one cleanly, at the second one at once.
    async fn obey(mut self, stopper: Stopper, handle: Handle, bound: Duration) {
        let signal = self.next().await;
        tracing::info!(
            signal,
            "stopping: requests are finished, no more are accepted"
        );
        notify::tell(notify::STOPPING);
        stopper.stop();
        handle.graceful_shutdown(Some(bound));
        let signal = self.next().await;
        tracing::warn!(signal, "stopping at once");
        // As a shell would put it if the signal had ended the program.
        std::process::exit(128 + signal);
    }
}
