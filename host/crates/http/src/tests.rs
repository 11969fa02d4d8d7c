//! What is the same for all routes, on a socket, with routes made for the purpose.

mod clients;
mod compressed;
mod faces;
mod questions;
mod who;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::SystemTime;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use tokio::sync::{Semaphore, mpsc};

use super::permission::{open, rule};
use super::*;
use placewright_deployment::{Deployment, DeploymentOptions};
use placewright_engine::generation::Generation;
use placewright_engine::{Engine, Limits};
use placewright_library::live::{InMemory, Library, LibraryOptions, Surroundings};
use placewright_records::telemetry::Telemetry;
use placewright_store::{Store, StoreOptions};

/// The rules of the routes below; one route has none.
const RULES: &[Rule] = &[
    open("GET", "/open"),
    open("GET", "/slow"),
    open("GET", "/panic"),
    open("GET", "/large"),
    open("GET", "/stream"),
    open("POST", "/echo").takes(BodySize::Whole),
    rule("POST", "/count", Permission::Operate, Scope::Any).takes(BodySize::Usual),
    rule("POST", "/question", Permission::View, Scope::Any).takes(BodySize::Usual),
    rule("POST", "/refused", Permission::Operate, Scope::Any).takes(BodySize::Usual),
    open("POST", "/nothing").query(&["host"]),
    rule(
        "GET",
        "/clusters/{cluster}",
        Permission::View,
        Scope::Cluster,
    ),
    rule(
        "PUT",
        "/clusters/{cluster}",
        Permission::Administer,
        Scope::Cluster,
    ),
    rule("GET", "/all", Permission::View, Scope::All),
    rule("GET", "/long-question", Permission::View, Scope::Any),
    rule("POST", "/long-check", Permission::View, Scope::Any).takes(BodySize::Usual),
];

/// What the routes share with a test.
struct Shared {
    /// Says that `/slow` has begun.
    begun: mpsc::UnboundedSender<()>,
    /// Lets `/slow` end.
    ends: Semaphore,
    /// How often `/count` was carried out.
    count: AtomicU64,
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/open", get(async || "open"))
        .route("/slow", get(slow))
        .route("/panic", get(panics))
        .route("/large", get(async || "large ".repeat(100_000)))
        .route("/stream", get(compressed::stream))
        .route(
            "/echo",
            post(async |Json(value): Json<serde_json::Value>| document::long(value).await),
        )
        .route("/count", post(count))
        .route("/question", post(count))
        .route("/refused", post(refused))
        .route(
            "/nothing",
            post(async |body: String| format!("got {body:?}")),
        )
        .route(
            "/clusters/{cluster}",
            get(async |caller: Caller| caller.name.to_string()).put(async || "put"),
        )
        .route("/all", get(async || "all"))
        .route("/long-question", get(questions::long))
        .route("/long-check", post(questions::check))
        .route("/forgotten", get(async || "forgotten"))
        .with_state(shared)
}

async fn slow(State(shared): State<Arc<Shared>>) -> &'static str {
    let _ = shared.begun.send(());
    let end = shared.ends.acquire().await;
    assert!(end.is_ok(), "it is never closed");
    "slow"
}

async fn panics() -> &'static str {
    panic!("as it should")
}

async fn count(State(shared): State<Arc<Shared>>, _: String) -> String {
    shared.count.fetch_add(1, Ordering::Relaxed).to_string()
}

/// Refuse with the status that the body names, at the first time only.
async fn refused(State(shared): State<Arc<Shared>>, body: String) -> Result<String, Problem> {
    let code = Code::ALL.into_iter().find(|code| code.word() == body);
    match (shared.count.fetch_add(1, Ordering::Relaxed), code) {
        (0, Some(code)) => Err(Problem::new(code, "refused at first")),
        (count, _) => Ok(count.to_string()),
    }
}

/// A server on a free port, until it is dropped.
struct Served {
    address: SocketAddr,
    handle: Handle,
    shared: Arc<Shared>,
    begun: mpsc::UnboundedReceiver<()>,
    telemetry: Arc<Telemetry>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// A deployment of nothing.
fn deployment(telemetry: &Arc<Telemetry>) -> Arc<Deployment> {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let limits = Limits {
        instances: 1,
        ..Limits::default()
    };
    let around = Surroundings {
        artifacts: Arc::new(InMemory::default()),
        events: Arc::new(|_, _| {}),
        clock: Arc::new(SystemTime::now),
    };
    let engine = Engine::new(limits, None).unwrap();
    let library = Library::open(
        engine,
        &Generation::default(),
        LibraryOptions::default(),
        around,
    );
    let started = Deployment::start(
        store,
        library.unwrap(),
        Arc::default(),
        telemetry.clone(),
        DeploymentOptions::default(),
    );
    started.unwrap().deployment
}

fn serving(tokens: Vec<Token>, limits: ApiLimits) -> Served {
    serving_routes(tokens, limits, |foundation, shared| {
        let face = Face::new("", routes(shared), RULES, "");
        router(foundation, vec![face])
    })
}

/// A server of the routes that are made.
fn serving_routes(
    tokens: Vec<Token>,
    limits: ApiLimits,
    made: impl FnOnce(&Foundation, Arc<Shared>) -> Router,
) -> Served {
    let (sender, begun) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        begun: sender,
        ends: Semaphore::new(0),
        count: AtomicU64::new(0),
    });
    let (stopper, stop) = Stop::new();
    let telemetry = Arc::new(Telemetry::new());
    let foundation = Foundation {
        deployment: deployment(&telemetry),
        access: Arc::new(Access::new(tokens)),
        telemetry,
        audit: placewright_records::audit::Audit::default(),
        limits,
        stop,
    };
    let router = made(&foundation, shared.clone());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let handle = Handle::new();
    let thread = {
        let handle = handle.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()?;
            let _running = stopper;
            runtime.block_on(serve(listener, None, router, limits, handle))
        })
    };
    Served {
        address,
        handle,
        shared,
        begun,
        telemetry: foundation.telemetry,
        thread: Some(thread),
    }
}

impl Served {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Send a request with these lines of the head besides, and read the answer.
    fn ask(&self, request: &str, head: &[&str], body: &str) -> Told {
        let mut text = format!("{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        for line in head {
            text.push_str(&format!("{line}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        let mut stream = self.connect();
        stream
            .write_all(format!("{text}\r\n{body}").as_bytes())
            .unwrap();
        told(stream)
    }

    fn get(&self, path: &str) -> Told {
        self.ask(&format!("GET {path}"), &[], "")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.handle.shutdown();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    status: u16,
    head: String,
    body: String,
}

/// Read an answer up to the end of the connection.
fn told(stream: TcpStream) -> Told {
    let bytes = bytes(stream);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Told {
        status: status.unwrap_or(0),
        head: head.to_lowercase(),
        body: body.to_owned(),
    }
}

fn bytes(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A server that refuses a body may close while we still send.
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

impl Told {
    /// The answer as a problem of that kind; its detail.
    #[track_caller]
    fn problem(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert!(
            self.head.contains("content-type: application/problem+json"),
            "{self:?}"
        );
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(body["status"], status, "{body}");
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["type"], format!("urn:placewright:problem:{code}"));
        let instance = body["instance"].as_str().unwrap();
        let id = instance.rsplit(':').next().unwrap();
        assert!(
            self.head.contains(&format!("x-request-id: {id}")),
            "{self:?}"
        );
        body["detail"].as_str().unwrap().to_owned()
    }
}
