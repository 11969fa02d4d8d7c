//! Bytes that arrive on a connection: heads, bodies, pipelined requests.
//!
//! The whole API answers them, over a deployment with a cluster and the built-in policies. A
//! deployment changes by what it is asked; after some thousand inputs a new one takes its place.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use placewright_deployment::{Attach, Deployment, DeploymentOptions, KeptArtifacts};
use placewright_document::ClusterDocument;
use placewright_http::{Access, ApiLimits, Foundation, Stop, Stopper, router};
use placewright_library::live::{Library, LibraryOptions, Surroundings};
use placewright_records::audit::Audit;
use placewright_records::telemetry::Telemetry;
use placewright_store::{Store, StoreOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use crate::world::{CLUSTER, engine, units};

/// After so many inputs the deployment is made anew.
const INPUTS: u32 = 2000;

/// How long an input may take: longer than any limit of the server below.
const PATIENT: Duration = Duration::from_secs(8);

/// How long a read waits for more of an answer.
const MORE: Duration = Duration::from_millis(200);

/// The same for a stream of events, which has no end.
const STREAM: Duration = Duration::from_millis(1);

/// Bytes of an answer among which its `Content-Type` is.
const HEAD: usize = 1024;

/// Whether an answer, as far as it was read, has the head of a stream of events.
fn is_stream(answer: &[u8]) -> bool {
    const KIND: &[u8] = b"content-type: text/event-stream";
    let head = &answer[..answer.len().min(HEAD)];
    head.windows(KIND.len()).any(|window| window == KIND)
}

/// A server without a socket.
struct Served {
    inputs: u32,
    deployment: Arc<Deployment>,
    router: Router,
    runtime: Runtime,
    _running: Stopper,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.deployment.stop();
    }
}

/// A deployment in memory with the units of [`units`] and no cluster.
pub(super) fn deployment(store: Store) -> Result<Arc<Deployment>, String> {
    let around = Surroundings {
        artifacts: Arc::new(KeptArtifacts::new(store.clone())),
        events: Arc::new(|_, _| {}),
        clock: Arc::new(|| SystemTime::UNIX_EPOCH + Duration::from_secs(1000)),
    };
    let library = Library::open(engine().clone(), units(), LibraryOptions::default(), around);
    let library = library.map_err(|error| error.to_string())?;
    let options = DeploymentOptions {
        clock: Arc::new(|| 1000),
        wait: Duration::from_secs(2),
        ..DeploymentOptions::default()
    };
    Deployment::start(store, library, Arc::default(), Arc::default(), options)
        .map(|started| started.deployment)
        .map_err(|error| error.to_string())
}

impl Served {
    fn new() -> Self {
        let store = Store::in_memory(StoreOptions::default()).expect("memory for a store");
        let deployment = deployment(store).unwrap_or_else(|error| panic!("{error}"));
        let document = ClusterDocument::read(CLUSTER, "c.toml").expect("the document is sound");
        let attach = Attach {
            policy: "none".to_owned(),
            ..Attach::default()
        };
        if let Err(error) = deployment.create_cluster(document, attach) {
            panic!("{error}");
        }
        let (stopper, stop) = Stop::new();
        let limits = ApiLimits {
            request: Duration::from_secs(4),
            header: Duration::from_secs(4),
            ..ApiLimits::default()
        };
        let foundation = Foundation {
            deployment: deployment.clone(),
            access: Arc::new(Access::new(Vec::new())),
            telemetry: Arc::new(Telemetry::new()),
            audit: Audit::default(),
            limits,
            stop,
        };
        let api = placewright_api::face(deployment.clone(), None);
        let engine = placewright_ovirt::face(deployment.clone(), foundation.access.clone());
        let router = router(&foundation, vec![api, engine]);
        let runtime = Builder::new_current_thread().enable_all().build();
        Self {
            inputs: 0,
            deployment,
            router,
            runtime: runtime.expect("a runtime"),
            _running: stopper,
        }
    }

    /// What the server answers to these bytes, after which the client sends no more.
    fn answer(&self, input: &[u8]) -> io::Result<Vec<u8>> {
        let service = TowerToHyperService::new(self.router.clone());
        self.runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(1 << 20);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(Duration::from_secs(4))
                // Answers to all that came before the end.
                .half_close(true)
                .serve_connection(TokioIo::new(server), service);
            let ask = async {
                client.write_all(input).await?;
                client.shutdown().await?;
                let mut answer = Vec::new();
                loop {
                    let wait = if is_stream(&answer) { STREAM } else { MORE };
                    let more = client.read_buf(&mut answer);
                    match tokio::time::timeout(wait, more).await {
                        Ok(Ok(bytes)) if bytes > 0 => {}
                        _ => break,
                    }
                }
                Ok(answer)
            };
            let both = async {
                tokio::select! {
                    answer = ask => answer,
                    _ = async { let _ = connection.await; std::future::pending::<()>().await } => Ok(Vec::new()),
                }
            };
            let answered = tokio::time::timeout(PATIENT, both).await;
            answered.expect("a request ends within its limits")
        })
    }
}

thread_local! {
    static SERVED: RefCell<Option<Served>> = const { RefCell::new(None) };
}

/// No request is answered with an internal error, and whatever is answered is HTTP.
pub(crate) fn http(input: &[u8]) {
    answered(input);
}

/// The same; gives what is answered.
pub(super) fn answered(input: &[u8]) -> Vec<u8> {
    SERVED.with_borrow_mut(|served| {
        if served.as_ref().is_some_and(|it| it.inputs >= INPUTS) {
            *served = None;
        }
        let served = served.get_or_insert_with(Served::new);
        served.inputs += 1;
        let Ok(answer) = served.answer(input) else {
            return Vec::new();
        };
        if !answer.is_empty() {
            let head = String::from_utf8_lossy(&answer[..answer.len().min(64)]);
            // Whoever asks by HTTP/1.0 is answered by it.
            let is_http = ["HTTP/1.1 ", "HTTP/1.0 "]
                .iter()
                .any(|it| head.starts_with(it));
            assert!(is_http, "{head}");
            let status = head.get(9..12).unwrap_or_default();
            assert_ne!(status, "500", "{}", String::from_utf8_lossy(&answer));
        }
        answer
    })
}
