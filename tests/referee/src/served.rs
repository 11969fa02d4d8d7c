//! The API of a deployment in memory, asked without a socket, under a clock that is set by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use placewright_deployment::{Deployment, DeploymentOptions, KeptArtifacts};
use placewright_http::{Access, ApiLimits, Foundation, Stop, Stopper, router};
use placewright_library::live::{Library, LibraryOptions, Surroundings};
use placewright_records::audit::Audit;
use placewright_records::telemetry::Telemetry;
use placewright_scheduler::SchedulerOptions;
use placewright_store::{Store, StoreOptions};
use placewright_tests::units::{built_in, engine};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt as _;

#[cfg(target_os = "linux")]
use crate::one_core::OneCore;
use crate::policies::POLICIES;

/// The second at which the clock begins.
const BEGIN: i64 = 1_000_000;

/// Bytes of an answer, at most.
const LONGEST: usize = 1 << 24;

/// What a turn, a question and a decision may take: on a machine that is busy with other things
/// they may wait for long, which is no fault of the server.
const PATIENT: Duration = Duration::from_secs(600);

/// What a request was answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its body; null if it has none.
    pub body: Value,
}

/// A server without a socket.
pub struct Served {
    store: Store,
    running: Option<Running>,
    runtime: Runtime,
    clock: Arc<AtomicI64>,
    #[cfg(target_os = "linux")]
    _core: Option<OneCore>,
}

/// What ends with a restart.
struct Running {
    deployment: Arc<Deployment>,
    router: Router,
    _stopper: Stopper,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.deployment.stop();
    }
}

impl Served {
    /// Start one with all units and policies that come with the program.
    ///
    /// # Errors
    /// If it cannot be started: a sentence.
    pub fn start() -> Result<Self, String> {
        // Units are compiled on all cores.
        let _ = (engine(), built_in());
        // Threads that are started from now on stay there, too.
        #[cfg(target_os = "linux")]
        let core = OneCore::take();
        let store = Store::in_memory(StoreOptions::default()).map_err(|error| error.to_string())?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let mut served = Self {
            store,
            running: None,
            runtime: runtime.map_err(|error| error.to_string())?,
            clock: Arc::new(AtomicI64::new(BEGIN)),
            #[cfg(target_os = "linux")]
            _core: core,
        };
        served.restart()?;
        for policy in POLICIES {
            if let Some(text) = policy.document() {
                served.put_policy(policy.name, text)?;
            }
        }
        Ok(served)
    }

    /// Stop the server, and start one on what it has stored.
    ///
    /// # Errors
    /// If it cannot be started: a sentence.
    pub fn restart(&mut self) -> Result<(), String> {
        self.running = None;
        let clock = self.clock.clone();
        let time = clock.clone();
        let around = Surroundings {
            artifacts: Arc::new(KeptArtifacts::new(self.store.clone())),
            events: Arc::new(|_, _| {}),
            clock: Arc::new(move || {
                let seconds = u64::try_from(time.load(Ordering::Relaxed)).unwrap_or_default();
                SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
            }),
        };
        let library = Library::open(
            engine().clone(),
            built_in(),
            LibraryOptions::default(),
            around,
        );
        let library = library.map_err(|error| error.to_string())?;
        let options = DeploymentOptions {
            clock: Arc::new(move || clock.load(Ordering::Relaxed)),
            wait: PATIENT,
            turn: PATIENT,
            question: PATIENT,
            scheduler: SchedulerOptions {
                chain_limit: PATIENT,
                ..SchedulerOptions::default()
            },
            ..DeploymentOptions::default()
        };
        let (store, events) = (self.store.clone(), Arc::default());
        let started = Deployment::start(store, library, events, Arc::default(), options);
        let started = started.map_err(|error| error.to_string())?;
        let deployment = started.deployment;
        let (stopper, stop) = Stop::new();
        let foundation = Foundation {
            deployment: deployment.clone(),
            access: Arc::new(Access::new(Vec::new())),
            telemetry: Arc::new(Telemetry::new()),
            audit: Audit::default(),
            limits: ApiLimits {
                request: PATIENT,
                ..ApiLimits::default()
            },
            stop,
        };
        let _runtime = self.runtime.enter();
        let api = placewright_api::face(deployment.clone(), None);
        self.running = Some(Running {
            router: router(&foundation, vec![api]),
            deployment,
            _stopper: stopper,
        });
        Ok(())
    }

    fn put_policy(&self, name: &str, text: String) -> Result<(), String> {
        let request = Request::builder().method("PUT");
        let request = request.uri(format!("/v1/policies/{name}"));
        let request = request
            .header(header::CONTENT_TYPE, "application/toml")
            .header(header::IF_NONE_MATCH, "*");
        let answer = self.send(request.body(Body::from(text)))?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(format!("policy {name} is refused: {}", answer.body)),
        }
    }

    /// What time it is, in seconds.
    pub fn now(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Let seconds go by.
    pub fn wait(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Ask it something.
    ///
    /// # Errors
    /// If there is no answer: a sentence.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, String> {
        let request = Request::builder().method(method).uri(path);
        let request = match body {
            Some(body) => request
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string())),
            None => request.body(Body::empty()),
        };
        self.send(request)
    }

    fn send(&self, request: Result<Request<Body>, axum::http::Error>) -> Result<Answer, String> {
        let running = self.running.as_ref().ok_or("the server is stopped")?;
        let request = request.map_err(|error| error.to_string())?;
        self.runtime.block_on(async {
            let answer = running.router.clone().oneshot(request).await;
            let (head, body) = match answer {
                Ok(answer) => answer.into_parts(),
                Err(never) => match never {},
            };
            let body = to_bytes(body, LONGEST).await;
            let body = body.map_err(|error| error.to_string())?;
            let body = if body.is_empty() {
                Value::Null
            } else {
                serde_json::from_slice(&body).map_err(|error| error.to_string())?
            };
            Ok(Answer {
                status: head.status,
                body,
            })
        })
    }
}
