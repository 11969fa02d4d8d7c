//! A deployment is put together: store, engine, units and folders.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::alarm::Expiring;
use super::every_second::EverySecond;
use super::folder::PolicyFolder;
use super::policies::LARGEST_POLICY;
use super::returns::Returning;
use super::{
    Deployment, DeploymentError, DeploymentOptions, EventKind, Events, KeptArtifacts, News,
};
use placewright_engine::generation::{Generation, load_all};
use placewright_engine::unit::Digest;
use placewright_engine::{CompilerProgram, Engine, EngineError, Limits};
use placewright_library::live::{
    Library, LibraryEvent, LibraryOperationError, LibraryOptions, Surroundings, Watching,
};
use placewright_library::watch::{self, WatchError};
use placewright_plugins as plugins;
use placewright_records::audit::Audit;
use placewright_records::telemetry::Telemetry;
use placewright_store::{Store, StoreError, StoreOptions};

/// Takes from the store what others than the deployment have there.
pub type StoreOpened = Arc<dyn Fn(&Store) -> Result<(), StoreError> + Send + Sync>;

/// Where a deployment keeps things, and how it goes about its work.
#[derive(Clone)]
pub struct Opening {
    /// Folder of what must last; None: it ends with the process.
    pub data: Option<PathBuf>,
    /// Folder of compiled code; None: nothing is kept.
    pub cache: Option<PathBuf>,
    /// Has another process call [`compile_units`] with the same limits and folder, and waits
    /// for it: a compiler leaves more memory behind than all else that an idle server has.
    /// Called where the folder lacks code of a unit of the program; None: it is compiled here.
    pub compile_apart: Option<fn() -> io::Result<()>>,
    /// The program that compiles units that do not come with this one; None: this process does.
    pub compiler: Option<CompilerProgram>,
    /// Folder that is watched for units.
    pub units: Option<PathBuf>,
    /// Folder that is watched for policies.
    pub policies: Option<PathBuf>,
    /// Where changes are recorded that no call makes.
    pub audit: Audit,
    /// Called with the store once it is open, before anything decides or is carried on.
    pub opened: Option<StoreOpened>,
    /// What units may use.
    pub limits: Limits,
    /// Options of the store.
    pub store: StoreOptions,
    /// Options of the library of units.
    pub library: LibraryOptions,
    /// Options of the deployment.
    pub deployment: DeploymentOptions,
}

/// Why there is no deployment.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Library(#[from] LibraryOperationError),
    #[error(transparent)]
    Watch(#[from] WatchError),
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
    #[error("cannot start the thread that plans moves")]
    Balancing(#[source] io::Error),
    #[error("cannot start the thread that restarts VMs")]
    Restarting(#[source] io::Error),
    #[error("cannot start the thread that ends reservations")]
    Expiring(#[source] io::Error),
    #[error("cannot start the thread that mends clusters")]
    Mending(#[source] io::Error),
    #[error("cannot start the thread that rolls back units that fail")]
    Returning(#[source] io::Error),
    #[error("cannot start the thread that waits for the folders")]
    Folders(#[source] io::Error),
}

/// A deployment with the folders that it watches. Both end with this value.
pub struct Running {
    deployment: Arc<Deployment>,
    // Dropped before the deployment stops, so that nothing new comes in.
    units: Option<Watching>,
    policies: Option<PolicyFolder>,
    balancing: Option<EverySecond>,
    restarting: Option<EverySecond>,
    expiring: Option<Expiring>,
    mending: Option<EverySecond>,
    returning: Option<Returning>,
}

impl Running {
    /// Open everything and start: clusters decide as soon as this returns, and what the
    /// folders hold comes in after.
    ///
    /// # Errors
    /// If the data folder cannot be used, or the system has no threads or memory to give.
    pub fn open(opening: Opening, telemetry: Arc<Telemetry>) -> Result<Self, OpenError> {
        let began = Instant::now();
        let store = match &opening.data {
            Some(folder) => Store::open(folder, opening.store)?,
            None => Store::in_memory(opening.store)?,
        };
        if let Some(opened) = opening.opened {
            opened(&store)?;
        }
        let cache = opening.cache.as_deref();
        let engine = Engine::beside_decisions(opening.limits, cache, opening.compiler)?;
        if let Some(compile) = opening.compile_apart
            && lacks_code(&engine)
        {
            tracing::info!(
                units = plugins::UNITS.len(),
                "compiling the units of the program, which takes some seconds; later starts find them compiled"
            );
            if let Err(error) = compile() {
                tracing::warn!(%error, "no separate process can compile units: they are compiled in this one");
            }
        }
        let base = embedded(&engine)?;
        tracing::debug!(units = base.len(), took = ?began.elapsed(), "units of the program are loaded");
        let events = Arc::new(Events::kept(&store)?.recorded(opening.audit));
        let around = surroundings(&store, &events, &telemetry, &opening.deployment);
        let library = Library::open(engine, &base, opening.library, around)?;
        let deployment = Deployment::start(store, library, events, telemetry, opening.deployment)?;
        for problem in &deployment.problems {
            tracing::warn!("{problem}");
        }
        let deployment = deployment.deployment;
        let policies = opening.policies.map(|folder| {
            let options = watch::Options::policies(LARGEST_POLICY);
            PolicyFolder::watch(&deployment, &folder, options)
        });
        let units = opening.units.map(|folder| {
            let options = watch::Options::units(deployment.library().engine().limits().file);
            deployment.library().watch(&folder, options)
        });
        let (units, policies) = (units.transpose()?, policies.transpose()?);
        let units_seen = units.as_ref().map(Watching::first_look);
        let policies_seen = policies.as_ref().map(PolicyFolder::first_look);
        if units_seen.is_some() || policies_seen.is_some() {
            await_folders(&deployment, move || {
                // Policies may come before the units that they name.
                units_seen.into_iter().for_each(|seen| seen());
                policies_seen.into_iter().for_each(|seen| seen());
            })?;
        }
        let balancing = EverySecond::start(&deployment, "balance", Deployment::balance_due_unless)
            .map_err(OpenError::Balancing)?;
        let restarting =
            EverySecond::start(&deployment, "restarts", Deployment::restart_due_unless)
                .map_err(OpenError::Restarting)?;
        let expiring = Expiring::start(&deployment).map_err(OpenError::Expiring)?;
        deployment.mend();
        let mending = EverySecond::start(&deployment, "mending", |it, _| it.mend())
            .map_err(OpenError::Mending)?;
        let returning = Returning::start(&deployment).map_err(OpenError::Returning)?;
        tracing::debug!(took = ?began.elapsed(), "started");
        Ok(Self {
            balancing: Some(balancing),
            restarting: Some(restarting),
            expiring: Some(expiring),
            mending: Some(mending),
            returning: Some(returning),
            deployment,
            units,
            policies,
        })
    }

    /// What decides.
    pub fn deployment(&self) -> &Arc<Deployment> {
        &self.deployment
    }

    /// Look at the folders now, and wait until what was found is in force or refused.
    pub fn rescan(&self) {
        if let Some(units) = &self.units {
            units.rescan();
        }
        if let Some(policies) = &self.policies {
            policies.rescan();
        }
    }

    /// Let nothing new come in, let those who wait have their turns, keep everything.
    pub fn stop(self) {
        self.stop_by(None);
    }

    /// The same, and wait for all of it until then at most. Whether everything has ended.
    pub fn stop_by(mut self, until: Option<Instant>) -> bool {
        let (units, policies) = (self.units.take(), self.policies.take());
        let (balancing, expiring) = (self.balancing.take(), self.expiring.take());
        let restarting = self.restarting.take();
        let (mending, returning) = (self.mending.take(), self.returning.take());
        if let Some(balancing) = &balancing {
            balancing.cancel();
        }
        if let Some(restarting) = &restarting {
            restarting.cancel();
        }
        let (ended, all_ended) = mpsc::channel();
        let end = move || {
            drop((units, policies, balancing, restarting));
            drop((expiring, mending, returning));
            let _ = ended.send(());
        };
        // Each of them may be in the middle of something.
        let waited = match thread::Builder::new().name("stop".to_owned()).spawn(end) {
            Ok(_) => match until {
                None => all_ended.recv().is_ok(),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    all_ended.recv_timeout(left).is_ok()
                }
            },
            // They have ended with the closure.
            Err(_) => true,
        };
        if !waited {
            tracing::warn!("taking over the folders, or a plan of moves, is abandoned half-way");
        }
        self.deployment.stop_by(until) && waited
    }
}

/// Compile the units that come with the program into a folder of compiled code.
///
/// # Errors
/// If there is no engine under these limits, or a unit is refused under them.
pub fn compile_units(limits: Limits, cache: &Path) -> Result<(), OpenError> {
    embedded(&Engine::beside_decisions(limits, Some(cache), None)?)?;
    Ok(())
}

/// Have the deployment not be ready until `seen` returns.
fn await_folders(
    deployment: &Arc<Deployment>,
    seen: impl FnOnce() + Send + 'static,
) -> Result<(), OpenError> {
    deployment.folders_awaited.store(true, Ordering::Release);
    let deployment = Arc::downgrade(deployment);
    let wait = move || {
        seen();
        if let Some(deployment) = deployment.upgrade() {
            deployment.folders_awaited.store(false, Ordering::Release);
        }
    };
    let thread = thread::Builder::new().name("folders".to_owned());
    thread.spawn(wait).map(drop).map_err(OpenError::Folders)
}

fn lacks_code(engine: &Engine) -> bool {
    let mut digests = plugins::UNITS.iter().map(|unit| Digest::of(unit.bytes));
    digests.any(|digest| engine.lacks_code(&digest.to_string()))
}

/// The units that come with the program.
fn embedded(engine: &Engine) -> Result<Generation, DeploymentError> {
    let components: Vec<(String, &[u8])> = plugins::UNITS
        .iter()
        .map(|unit| (unit.name.to_owned(), unit.bytes))
        .collect();
    let units = load_all(&engine.compiling_here(), &components).into_iter();
    let refused = |error: &dyn std::error::Error| DeploymentError::Refused(error.to_string());
    let units = units
        .collect::<Result<Vec<_>, _>>()
        .map_err(|it| refused(&it))?;
    Generation::new(units).map_err(|it| refused(&it))
}

fn surroundings(
    store: &Store,
    events: &Arc<Events>,
    telemetry: &Arc<Telemetry>,
    options: &DeploymentOptions,
) -> Surroundings {
    let (events, telemetry) = (events.clone(), telemetry.clone());
    let (clock, time) = (options.clock.clone(), options.clock.clone());
    Surroundings {
        artifacts: Arc::new(KeptArtifacts::new(store.clone())),
        events: Arc::new(move |event, by| {
            count(&telemetry, event);
            events.tell((clock)(), news(event, by));
        }),
        clock: Arc::new(move || {
            let seconds = u64::try_from((time)()).unwrap_or(0);
            UNIX_EPOCH + Duration::from_secs(seconds)
        }),
    }
}

fn count(telemetry: &Telemetry, event: &LibraryEvent) {
    let library = &telemetry.library;
    match event {
        LibraryEvent::InForce { took_us, .. } => {
            library.accepted.inc();
            library
                .admission_seconds
                .observe(Duration::from_micros(*took_us).as_secs_f64());
        }
        LibraryEvent::Refused { .. } => {
            library.refusals.inc();
        }
        _ => {}
    }
}

fn news(event: &LibraryEvent, by: Option<&str>) -> News {
    let (kind, unit) = match event {
        LibraryEvent::Seen { .. } => (EventKind::UnitSeen, None),
        LibraryEvent::Refused { name, .. } => (EventKind::UnitRefused, name.as_ref()),
        LibraryEvent::Again { .. } => (EventKind::FileWaits, None),
        LibraryEvent::InForce { name, .. } => (EventKind::UnitInForce, Some(name)),
        LibraryEvent::Held { name, .. } => (EventKind::UnitHeld, Some(name)),
        LibraryEvent::KeptAlthoughDeleted { name, .. } => {
            (EventKind::UnitKeptAlthoughDeleted, Some(name))
        }
        LibraryEvent::Distrusted { name, .. } => (EventKind::UnitDistrusted, Some(name)),
        LibraryEvent::Removed { name, .. } => (EventKind::UnitRemoved, Some(name)),
        LibraryEvent::TakesName { name, .. } => (EventKind::UnitTakesName, Some(name)),
        LibraryEvent::RolledBack { name, .. } => (EventKind::UnitRolledBack, Some(name)),
        LibraryEvent::Disabled { name } => (EventKind::UnitDisabled, Some(name)),
        LibraryEvent::Enabled { name } => (EventKind::UnitEnabled, Some(name)),
        LibraryEvent::Pinned { name, .. } => (EventKind::UnitPinned, Some(name)),
        LibraryEvent::Unpinned { name } => (EventKind::UnitUnpinned, Some(name)),
        LibraryEvent::Trouble { .. } => (EventKind::FolderTrouble, None),
        LibraryEvent::NotKept { .. } => (EventKind::LibraryNotKept, None),
    };
    News {
        kind,
        unit: unit.map(|name| name.as_str().into()),
        by: by.map(Arc::from),
        message: event.to_string(),
        ..News::default()
    }
}
