//! Traces of a server, as a collector gets them by OTLP.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use placewright_tests::server::{Server, placewright};
use placewright_tests::waiting::wait_until;
use prost::Message;

use super::deployment::{Api, cluster, vm};
use super::{folder, get};

/// A collector in this process: what it was sent, in the protocol's own types.
struct Collector {
    address: String,
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    /// Ends with it.
    _runtime: tokio::runtime::Runtime,
}

impl Collector {
    /// One that takes only what comes with this header.
    fn start(token: &'static str) -> Self {
        let requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>> = Arc::default();
        let taken = requests.clone();
        let take = move |headers: HeaderMap, body: Bytes| async move {
            let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
            if header("x-collector-token") != Some(token) {
                return StatusCode::UNAUTHORIZED;
            }
            assert_eq!(header("content-type"), Some("application/x-protobuf"));
            let request = ExportTraceServiceRequest::decode(body).expect("it is OTLP");
            taken.lock().unwrap().push(request);
            StatusCode::OK
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let routes = Router::new().route("/v1/traces", post(take));
            axum::serve(listener, routes).await
        });
        Self {
            address,
            requests,
            _runtime: runtime,
        }
    }

    /// The spans of a trace so far.
    fn spans(&self, trace: &[u8]) -> Vec<Span> {
        let requests = self.requests.lock().unwrap();
        let resources = requests.iter().flat_map(|it| &it.resource_spans);
        let spans = resources
            .flat_map(|it| &it.scope_spans)
            .flat_map(|it| &it.spans);
        spans.filter(|it| it.trace_id == trace).cloned().collect()
    }

    /// Names of the services whose spans came.
    fn services(&self) -> BTreeSet<String> {
        let requests = self.requests.lock().unwrap();
        let resources = requests.iter().flat_map(|it| &it.resource_spans);
        let resources = resources.filter_map(|it| it.resource.as_ref());
        resources
            .filter_map(|it| text(&it.attributes, "service.name"))
            .collect()
    }
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|it| it.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text.clone()),
        any_value::Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A server that sends its traces there, with these words besides.
fn traced(collector: &Collector, data: &Path, words: &[&str]) -> Server {
    let headers = data.join("headers");
    fs::write(&headers, "# of the collector\nx-collector-token: secret\n").unwrap();
    let to = ["--trace-endpoint", &collector.address, "--trace-headers"];
    let all = [&to[..], &[headers.to_str().unwrap()], words].concat();
    Server::start(data, &all)
}

/// The value of a metric without labels.
fn metric(server: &Server, name: &str) -> f64 {
    let (status, text) = get(&format!("{}/metrics", server.url), None);
    assert_eq!(status, 200);
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    text.lines().find_map(value).unwrap_or_default()
}

#[test]
fn what_a_placement_goes_through_is_one_trace_that_its_caller_has_begun() {
    let collector = Collector::start("secret");
    let data = folder();
    let server = traced(&collector, data.path(), &["--trace-share", "0"]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=general", &cluster("c", 3));
    assert_eq!(made.status, 201);
    let headers = [
        ("content-type", "application/json"),
        (
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ),
    ];
    let body = vm("v").to_string();
    let placed = api.ask("POST", "/v1/clusters/c/place", &headers, body.as_bytes());
    assert_eq!(placed.unwrap().status, 200);

    let trace = hex::decode("0af7651916cd43dd8448eb211c80319c").unwrap();
    let of = |name: &str| {
        let spans = collector.spans(&trace);
        spans.into_iter().find(|it| it.name == name)
    };
    let request = "POST /v1/clusters/{cluster}/place";
    for name in [request, "queue", "turn", "decision", "unit", "store"] {
        wait_until(name, || of(name).is_some());
    }
    let root = of(request).unwrap();
    assert_eq!(hex::encode(&root.parent_span_id), "b7ad6b7169203331");
    let attribute = |name: &str| text(&root.attributes, name);
    assert_eq!(attribute("http.request.method").as_deref(), Some("POST"));
    assert_eq!(
        attribute("http.response.status_code").as_deref(),
        Some("200")
    );
    // SPAN_KIND_SERVER.
    assert_eq!(root.kind, 2);
    // Every other span has another one of the trace above it.
    let spans = collector.spans(&trace);
    let ids: BTreeSet<&[u8]> = spans.iter().map(|it| &*it.span_id).collect();
    for span in spans.iter().filter(|it| it.span_id != root.span_id) {
        assert!(ids.contains(&*span.parent_span_id), "{span:?}");
        assert!(span.start_time_unix_nano >= root.start_time_unix_nano);
    }
    let units: BTreeSet<String> = spans
        .iter()
        .filter_map(|it| text(&it.attributes, "unit"))
        .collect();
    assert!(units.contains("memory"), "{units:?}");
    assert_eq!(
        collector.services(),
        BTreeSet::from(["placewright".to_owned()])
    );
    // Of those that begin here a share of 0 is sent: nothing but this trace has come.
    let all = collector.requests.lock().unwrap().clone();
    let all = all
        .iter()
        .flat_map(|it| &it.resource_spans)
        .flat_map(|it| &it.scope_spans)
        .flat_map(|it| &it.spans);
    assert!(all.clone().all(|it| it.trace_id == trace), "{all:?}");
    wait_until("they are counted", || {
        metric(&server, "placewright_trace_spans_total ") >= 6.0
    });
}

#[test]
fn the_last_traces_are_sent_before_the_server_ends() {
    let collector = Collector::start("secret");
    let data = folder();
    let server = traced(&collector, data.path(), &[]);
    let made = Api::of(&server).send("POST", "/v1/clusters?policy=none", &cluster("c", 1));
    assert_eq!(made.status, 201);
    server.signal("TERM");
    let (status, log) = server.ended();
    assert!(status.success(), "{log}");
    let requests = collector.requests.lock().unwrap();
    let mut spans = requests
        .iter()
        .flat_map(|it| &it.resource_spans)
        .flat_map(|it| &it.scope_spans)
        .flat_map(|it| &it.spans);
    assert!(spans.any(|it| it.name == "POST /v1/clusters"), "{log}");
}

#[test]
fn a_collector_that_takes_nothing_costs_the_traces_and_nothing_else() {
    // It asks for a header that the server does not send.
    let collector = Collector::start("secret");
    let data = folder();
    let words = ["--trace-endpoint", &collector.address];
    let server = Server::start(data.path(), &words);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=general", &cluster("c", 3));
    assert_eq!(made.status, 201);
    wait_until("spans are lost", || {
        let placed = api.send("POST", "/v1/clusters/c/place?dry-run=true", &vm("v"));
        assert_eq!(placed.status, 200);
        metric(&server, "placewright_trace_spans_failed_total ") > 0.0
    });
    server.signal("TERM");
    let (status, log) = server.ended();
    assert!(status.success(), "{log}");
    let told = log.matches("the collector does not take traces").count();
    assert_eq!(told, 1, "{log}");
    assert!(collector.requests.lock().unwrap().is_empty());
}

#[test]
fn settings_of_traces_that_are_none_are_refused_without_a_word_of_the_secret() {
    let data = folder();
    let headers = data.path().join("headers");
    fs::write(&headers, "authorization Bearer hidden\n").unwrap();
    let headers = headers.to_str().unwrap();
    let there = ["--trace-endpoint", "http://127.0.0.1:4318"];
    for (words, sentence) in [
        (
            &["--trace-endpoint", "collector:4317"][..],
            "\"collector:4317\" is no address of a collector",
        ),
        (
            &["--trace-headers", headers],
            "no \"trace-endpoint\" to send them to",
        ),
        (
            &[there[0], there[1], "--trace-headers", headers],
            "line 1 is no header: write NAME: VALUE",
        ),
        (
            &[there[0], there[1], "--trace-share", "2"],
            "\"trace-share\" must be",
        ),
    ] {
        let mut command = placewright(["serve", "--listen", "127.0.0.1:0", "--data"]);
        let output = command.arg(data.path()).args(words).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(sentence), "{told}");
        assert!(!told.contains("hidden"), "{told}");
    }
    let shown = placewright(["serve", "--print-config", "--data"])
        .arg(data.path())
        .args(there)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("trace-endpoint"), "{shown}");
}
