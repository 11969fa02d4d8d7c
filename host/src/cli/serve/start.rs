//! Starts the server, and ends it cleanly.

use std::fs::DirBuilder;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use placewright_api::Reload;
use placewright_deployment::{DeploymentOptions, OpenError, Opening, Running};
use placewright_http::{Access, Face, Foundation, Handle, Permission, Stop, Stopper, Tls};
use placewright_library::live::LibraryOptions;
use placewright_ownership as ownership;
use placewright_records::audit::{Audit, Record};
use placewright_records::telemetry::{Telemetry, start_log};
use placewright_records::traces::{TraceOptions, Traces, read_headers};
use placewright_scheduler::SchedulerOptions;
use placewright_store::{self as store, StoreOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::openid::OpenId;
use super::options::Durability;
use super::reload::{self, Configured, Replaceable};
use super::settings::Settings;
use super::{compile, memory, notify};
use crate::cli::compile_unit;
use crate::cli::failure::{Answer, Failure};
use crate::cli::units;

/// What is checked before anything begins.
pub(super) struct Prepared {
    pub access: Arc<Access>,
    pub tls: Option<Tls>,
    pub traces: Option<TraceOptions>,
    pub openid: Option<Arc<OpenId>>,
}

/// Check what only shows when files are read and settings are seen together.
pub(super) fn prepare(settings: &Settings) -> Result<Prepared, Failure> {
    let access = access(settings);
    let listens = access.may_listen(settings.listen, settings.transport());
    listens.map_err(Failure::input)?;
    let tls = match &settings.tls {
        Some((certificate, key)) => {
            units::wait_for_writers(certificate)?;
            units::wait_for_writers(key)?;
            Some(Tls::read(certificate, key).map_err(Failure::input)?)
        }
        None => None,
    };
    Ok(Prepared {
        access: Arc::new(access),
        tls,
        traces: traces(settings)?,
        openid: openid(settings)?,
    })
}

/// Who may call.
pub(super) fn access(settings: &Settings) -> Access {
    let access = Access::new(settings.tokens.clone());
    if settings.openid.is_some() {
        access.admit_people();
    }
    access
}

/// How people sign in by a provider, with what is in the files that the settings name.
#[cfg(feature = "console")]
fn openid(settings: &Settings) -> Result<Option<Arc<OpenId>>, Failure> {
    let provider = settings.openid.as_ref();
    let opened = provider.map(|it| super::openid::open(it, &settings.openid_roles));
    Ok(opened.transpose()?.map(Arc::new))
}

/// Settings without a console have no provider.
#[cfg(not(feature = "console"))]
fn openid(_: &Settings) -> Result<Option<Arc<OpenId>>, Failure> {
    Ok(None)
}

/// Where traces go, with the headers that are in a file.
fn traces(settings: &Settings) -> Result<Option<TraceOptions>, Failure> {
    let Some(traces) = &settings.traces else {
        return Ok(None);
    };
    let mut options = traces.options.clone();
    if let Some(file) = &traces.headers {
        let failed = |error: anyhow::Error| {
            Failure::input(error.context(format!(
                "cannot read headers for traces from {}",
                file.display()
            )))
        };
        let text = std::fs::read_to_string(file).map_err(|error| failed(error.into()))?;
        options.headers = read_headers(&text).map_err(|error| failed(error.into()))?;
    }
    Ok(Some(options))
}

/// What the server speaks to its clients: each face is a crate of its own.
fn faces(
    foundation: &Foundation,
    reload: &Arc<dyn Reload>,
    settings: &Settings,
    openid: Option<Arc<OpenId>>,
) -> Vec<Face> {
    let (deployment, access) = (&foundation.deployment, &foundation.access);
    let api = || placewright_api::face(deployment.clone(), Some(reload.clone()));
    let mut faces = vec![
        api(),
        placewright_ovirt::face(deployment.clone(), access.clone()),
    ];
    #[cfg(feature = "console")]
    if settings.console {
        let transport = settings.transport();
        let pages = placewright_console::faces(api(), access.clone(), transport, openid);
        faces.extend(pages);
        faces.push(placewright_reference::face());
    }
    #[cfg(not(feature = "console"))]
    let _ = (settings, openid);
    faces
}

/// Serve until a signal ends it.
pub(super) fn serve(
    settings: Settings,
    prepared: Prepared,
    configured: Configured,
    at_start: reload::Values,
) -> Result<Answer, Failure> {
    let telemetry = Arc::new(Telemetry::new());
    let traces = prepared.traces.as_ref();
    let traces = traces.map(|options| Traces::start(options, telemetry.traces.clone()));
    let traces = traces.transpose().map_err(Failure::input)?;
    let (format, level) = (settings.log_format, &settings.log_level);
    start_log(format, level, traces.as_ref()).map_err(Failure::input)?;
    let runtime = runtime(settings.threads).map_err(|error| {
        Failure::internal(anyhow::Error::new(error).context("cannot start threads"))
    })?;
    memory::give_back();
    // Heard from here on, so that it does not end a server that starts.
    let hangups = {
        let _entered = runtime.enter();
        Hangups::listen().map_err(Failure::internal)?
    };
    // The address first: a second server on the same data ends here.
    let listener = bind(settings.listen)?;
    make_folders(&settings)?;
    let audit = Audit::open(&settings.audit, telemetry.audit.clone());
    let audit = audit.map_err(|error| Failure::input(anyhow::Error::new(error)))?;
    audit.record(Record::server("server-started", begins(&settings)));
    let opened = Running::open(
        opening(&settings, &audit, &prepared.access),
        telemetry.clone(),
    );
    let running = opened.map_err(|error| match error {
        OpenError::Store(_) | OpenError::Library(_) => Failure::input(error),
        error => Failure::internal(error),
    })?;
    if prepared.tls.is_none() && !settings.listen.ip().to_canonical().is_loopback() {
        tracing::warn!(
            "tokens come in clear text, as insecure-plain-http allows: whatever is in front of the server must do TLS"
        );
    }
    if let Some(ends) = prepared.tls.as_ref().and_then(Tls::not_after) {
        telemetry.configuration.certificate_ends(ends);
    }
    let (stopper, stop) = Stop::new();
    let replaceable = Arc::new(Replaceable {
        configured,
        at_start,
        listen: settings.listen,
        access: prepared.access.clone(),
        tls: prepared.tls.clone(),
        openid: prepared.openid.clone(),
        deployment: running.deployment().clone(),
        telemetry: telemetry.clone(),
        turn: Mutex::new(()),
    });
    let records = audit.clone();
    let foundation = Foundation {
        deployment: running.deployment().clone(),
        access: prepared.access,
        telemetry,
        audit: audit.clone(),
        limits: settings.api_limits,
        stop,
    };
    let reload: Arc<dyn Reload> = replaceable.clone();
    let faces = faces(&foundation, &reload, &settings, prepared.openid);
    let router = placewright_http::router(&foundation, faces);
    let handle = Handle::new();
    let (ends, ended) = watch::channel(None);
    let served = runtime.block_on(async {
        let signals = Signals::listen()?;
        let ending = (handle.clone(), ends, records.clone());
        let stopping = signals.obey(stopper, ending, settings.shutdown_time);
        tokio::spawn(stopping);
        let reloads = tokio::spawn(hangups.obey(replaceable, records));
        announce(&listener, prepared.tls.is_some());
        let tls = prepared.tls.as_ref();
        let served =
            placewright_http::serve(listener, tls, router, settings.api_limits, handle).await;
        reloads.abort();
        served
    });
    // Decisions end and everything is written, also if serving failed. A second signal
    // is still heard, by the runtime's threads.
    let until = ended
        .borrow()
        .or_else(|| Instant::now().checked_add(settings.shutdown_time));
    let all_ended = running.stop_by(until);
    runtime.shutdown_background();
    audit.record(Record::server(
        "server-stopped",
        "the server ended by itself",
    ));
    if !audit.end(LAST) {
        tracing::error!("the last records of the audit log were not written");
    }
    // The collector may be slow, or away.
    if traces.is_some_and(|traces| !traces.end(GRACE)) {
        tracing::warn!("the last traces were not sent");
    }
    served.map_err(|error| {
        Failure::internal(anyhow::Error::new(error).context("cannot serve requests"))
    })?;
    match all_ended {
        true => tracing::info!("stopped"),
        // What was acknowledged is kept all the same.
        false => tracing::warn!("stopped, although not everything had ended in time"),
    }
    Ok(Answer::Yes)
}

/// Make sure that no other user can put files into the folders, or others in their place:
/// they could have their units decide, and their code run.
pub(super) fn check_folders(settings: &Settings) -> Result<(), Failure> {
    let folders = [
        &settings.data,
        &settings.cache,
        &settings.units,
        &settings.policies,
    ];
    for folder in folders {
        match ownership::check(folder) {
            Ok(()) => {}
            Err(error) if settings.shared_folders => {
                tracing::warn!("{error} (accepted, since shared-folders is set)");
            }
            Err(error) => return Err(Failure::input(error)),
        }
    }
    Ok(())
}

/// Folders that are watched are there from the start, so that an admin finds where files
/// go.
fn make_folders(settings: &Settings) -> Result<(), Failure> {
    // Before anything is made there, and then what was made.
    check_folders(settings)?;
    for folder in [&settings.data, &settings.units, &settings.policies] {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| {
            let what = format!("cannot make the folder {}", folder.display());
            Failure::input(anyhow::Error::new(error).context(what))
        })?;
    }
    check_folders(settings)
}

/// How much of the time to stop is left at most for what comes after the requests: turns that
/// are under way, watched folders, the last writes.
const LAST: Duration = Duration::from_secs(5);

/// How long after its time a stop is still waited for, before the program ends at once.
const GRACE: Duration = Duration::from_secs(1);

/// With a bound on what new units may change, it must be known what they change.
const THOROUGH_TRIAL: Duration = Duration::from_millis(500);

/// What the audit log tells of the start.
fn begins(settings: &Settings) -> String {
    format!(
        "version {}, process {}, to listen on {}, {} tokens, {} trusted keys, {} revoked units",
        env!("CARGO_PKG_VERSION"),
        std::process::id(),
        settings.listen,
        settings.tokens.len(),
        settings.trusted_keys.len(),
        settings.revoked.len()
    )
}

fn opening(settings: &Settings, audit: &Audit, access: &Arc<Access>) -> Opening {
    let (access, restored) = (access.clone(), access.clone());
    let usual = DeploymentOptions::default();
    Opening {
        data: Some(settings.data.clone()),
        cache: Some(settings.cache.clone()),
        compile_apart: Some(compile::apart),
        compiler: compile_unit::program(),
        units: Some(settings.units.clone()),
        policies: Some(settings.policies.clone()),
        audit: audit.clone(),
        // Plans go on in the names of tokens: these are known before.
        opened: Some(Arc::new(move |store| {
            for sentence in restored.restore(store)? {
                tracing::warn!("{sentence}");
            }
            Ok(())
        })),
        limits: settings.unit_limits.clone(),
        store: StoreOptions {
            durability: match settings.durability {
                Durability::Full => store::Durability::Power,
                Durability::Normal => store::Durability::Process,
            },
            decisions: settings.recorded_decisions,
            // A quarter is for what was decided and asked, the rest for what led to it.
            decision_bytes: settings.history_bytes / 4,
            history_bytes: settings.history_bytes - settings.history_bytes / 4,
            ..StoreOptions::default()
        },
        library: LibraryOptions {
            trust: reload::trust(settings),
            require_replay: settings.require_replay,
            ..LibraryOptions::default()
        },
        deployment: DeploymentOptions {
            wait: settings.decision_wait,
            turn: settings.turn_time,
            question: settings.question_time,
            scheduler: SchedulerOptions {
                chain_limit: settings.decision_hold,
                reservation: settings.reservation,
                recorded: settings.recorded_decisions,
                recorded_bytes: settings.history_bytes / 4,
                ..SchedulerOptions::default()
            },
            longest_reservation: settings.longest_reservation,
            authority: Arc::new(move |name, cluster| {
                access.may(name, Permission::Operate, cluster)
            }),
            return_after: settings.return_after,
            vanishing: settings.vanishing_share,
            bounds: settings.bounds,
            answers: settings.answer_bytes,
            policy_bytes: settings.policy_bytes,
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

/// Record that the server ends without having ended everything.
fn ends_early(audit: &Audit, why: &str) {
    audit.record(Record::server("server-stopped", why));
    // Written in less, unless the disk is full or hangs.
    audit.flush(GRACE);
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
    async fn obey(mut self, replaceable: Arc<Replaceable>, audit: Audit) {
        loop {
            self.next().await;
            let (replaceable, audit) = (replaceable.clone(), audit.clone());
            // What came of it stands in the log.
            let taken_over = move || audit.record(reload::record(&replaceable.reload()));
            if let Err(error) = tokio::task::spawn_blocking(taken_over).await {
                tracing::error!(%error, "the configuration was not reloaded");
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
    /// End the server: at the first one cleanly, by one time for all of it, which `ends` is
    /// told; at the second one at once.
    async fn obey(
        mut self,
        stopper: Stopper,
        (handle, ends, audit): (Handle, watch::Sender<Option<Instant>>, Audit),
        bound: Duration,
    ) {
        let signal = self.next().await;
        let until = Instant::now().checked_add(bound);
        ends.send_replace(until);
        tracing::info!(
            signal,
            "stopping: requests are finished, no more are accepted"
        );
        notify::tell(notify::STOPPING);
        stopper.stop();
        // Some of it is for what comes after the requests.
        handle.graceful_shutdown(Some(bound - (bound / 4).min(LAST)));
        let too_late = async {
            match until {
                // What has not ended then does not look at the time.
                Some(until) => tokio::time::sleep_until((until + GRACE).into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = self.next() => {
                tracing::warn!(signal, "stopping at once");
                ends_early(&audit, "a second signal ended the server at once");
                // As a shell would put it if the signal had ended the program.
                std::process::exit(128 + signal);
            }
            () = too_late => {
                tracing::error!("the time to stop is over: what is still running is abandoned");
                ends_early(&audit, "the time to stop was over");
                std::process::exit(1);
            }
        }
    }
}
