use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use futures_executor::block_on;
use opentelemetry::trace::{SpanId, SpanKind, TraceId};
use opentelemetry_http::{Bytes, HttpClient, Request};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use tracing_subscriber::layer::SubscriberExt;

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// Whether traces are on is so for the whole process: one test after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes spans when it is let, and shows them.
#[derive(Debug)]
struct Collector {
    let_through: Mutex<Option<Receiver<()>>>,
    taken: Arc<Mutex<Vec<SpanData>>>,
}

impl Collector {
    fn open() -> (Self, Arc<Mutex<Vec<SpanData>>>) {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let collector = Self {
            let_through: Mutex::new(None),
            taken: taken.clone(),
        };
        (collector, taken)
    }

    /// One that takes nothing until there is a message, or the sender is gone.
    fn stuck() -> (Self, SyncSender<()>) {
        let (sender, receiver) = sync_channel(1);
        let (open, _) = Self::open();
        let let_through = Mutex::new(Some(receiver));
        (
            Self {
                let_through,
                ..open
            },
            sender,
        )
    }
}

impl SpanExporter for Collector {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        if let Some(receiver) = &*self.let_through.lock().unwrap() {
            // An error says that whoever lets through is gone.
            let _ = receiver.recv();
        }
        self.taken.lock().unwrap().extend(batch);
        Ok(())
    }
}

/// Do something while spans go there.
fn traced(traces: &Traces, work: impl FnOnce()) {
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    spans::turn_on();
    tracing::subscriber::with_default(subscriber, work);
}

#[test]
fn a_request_is_in_its_caller_s_trace_and_named_by_method_and_route() {
    let _alone = alone();
    let (collector, taken) = Collector::open();
    let traces = Traces::to(collector, 0.0, TraceMetrics::default(), 100).unwrap();
    traced(&traces, || {
        let begin = |parent: Option<&'static str>| {
            let span = tracing::info_span!("request", id = "r", method = "POST", route = "/x");
            continues(&span, |name| parent.filter(|_| name == "traceparent"));
            answered(&span, 503);
        };
        begin(Some(
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ));
        // Not sampled by its caller, malformed, and one that begins here, of which none are sent.
        begin(Some(
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
        ));
        begin(Some("00-nonsense"));
        begin(None);
    });
    assert!(traces.end(LONG));
    let taken = taken.lock().unwrap();
    assert_eq!(taken.len(), 1, "{taken:?}");
    let span = &taken[0];
    assert_eq!(span.name, "POST /x");
    assert_eq!(span.span_kind, SpanKind::Server);
    let trace = TraceId::from_hex("0af7651916cd43dd8448eb211c80319c").unwrap();
    assert_eq!(span.span_context.trace_id(), trace);
    assert_eq!(
        span.parent_span_id,
        SpanId::from_hex("b7ad6b7169203331").unwrap()
    );
    let attribute = |name: &str| {
        let found = span.attributes.iter().find(|it| it.key.as_str() == name);
        found.map(|it| it.value.to_string()).unwrap_or_default()
    };
    assert_eq!(attribute("http.request.method"), "POST");
    assert_eq!(attribute("http.response.status_code"), "503");
    assert_eq!(attribute("placewright.request.id"), "r");
    assert!(matches!(
        span.status,
        opentelemetry::trace::Status::Error { .. }
    ));
}

#[test]
fn what_is_done_on_another_thread_is_a_part_of_the_request() {
    let _alone = alone();
    let (collector, taken) = Collector::open();
    let traces = Traces::to(collector, 1.0, TraceMetrics::default(), 100).unwrap();
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    let dispatch = tracing::Dispatch::new(subscriber);
    spans::turn_on();
    tracing::dispatcher::with_default(&dispatch, || {
        let request = tracing::info_span!("request", method = "POST", route = "/x").entered();
        let carried = Carried::waits();
        let elsewhere = dispatch.clone();
        let turn = thread::spawn(move || {
            tracing::dispatcher::with_default(&elsewhere, || {
                let turn = carried.begins();
                tracing::debug_span!("decision").in_scope(|| {});
                let writing = writing();
                drop(turn);
                // The next turn is somebody else's.
                assert!(super::writing().is_none());
                drop(writing);
            });
        });
        turn.join().unwrap();
        drop(request);
    });
    assert!(traces.end(LONG));
    let taken = taken.lock().unwrap();
    let of = |name: &str| taken.iter().find(|span| span.name == *name).unwrap();
    let id = |name: &str| of(name).span_context.span_id();
    for (span, parent) in [
        ("queue", "POST /x"),
        ("turn", "POST /x"),
        ("decision", "turn"),
        ("store", "POST /x"),
    ] {
        assert_eq!(of(span).parent_span_id, id(parent), "{span}");
    }
    assert_eq!(taken.len(), 5, "{taken:?}");
}

#[test]
fn nobody_waits_for_a_collector_and_spans_that_find_no_place_are_counted() {
    let _alone = alone();
    let (collector, lets_through) = Collector::stuck();
    let metrics = TraceMetrics::default();
    let traces = Traces::to(collector, 1.0, metrics.clone(), 4).unwrap();
    const SPANS: u64 = 5000;
    traced(&traces, || {
        for _ in 0..SPANS {
            tracing::info_span!("request", method = "GET", route = "/x").in_scope(|| {});
        }
    });
    assert!(metrics.dropped.get() > 0);
    // As if it was there again.
    drop(lets_through);
    assert!(traces.end(LONG));
    let (sent, dropped) = (metrics.sent.get(), metrics.dropped.get());
    assert_eq!((sent + dropped, metrics.failed.get()), (SPANS, 0));
}

#[test]
fn while_traces_are_off_nothing_is_carried() {
    let _alone = alone();
    spans::turn_off();
    assert!(Carried::waits().is_empty());
    assert!(writing().is_none());
}

#[test]
fn addresses_and_headers_are_read_and_nonsense_is_refused() {
    for (text, expected) in [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://o.example/", "https://o.example/v1/traces"),
        ("http://o:1/otlp/v1/traces", "http://o:1/otlp/v1/traces"),
    ] {
        assert_eq!(endpoint(text).unwrap(), expected);
    }
    for text in ["", "collector:4317", "grpc://collector:4317", "http://"] {
        endpoint(text).unwrap_err();
    }
    let headers = read_headers("# for the collector\n\nAuthorization: Bearer a:b\nx-tenant:  t \n");
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected = [pair("authorization", "Bearer a:b"), pair("x-tenant", "t")];
    assert_eq!(headers.unwrap(), expected);
    for (text, line) in [("secret", 1), ("a: b\nc d: e", 2), ("a:", 1)] {
        assert_eq!(read_headers(text), Err(HeadersError { line }), "{text}");
    }
}

#[test]
fn an_answer_of_the_collector_that_is_too_long_is_not_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let collector = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
        // The caller hangs up in the midst of it.
        let _ = stream.write_all(head);
        let _ = stream.write_all(&[b'x'; 100_000]);
    });
    let request = Request::post(format!("http://{address}/v1/traces"));
    let request = request.body(Bytes::from_static(b"spans")).unwrap();
    let error = block_on(Client::new(LONG).send_bytes(request)).unwrap_err();
    assert!(error.to_string().contains("larger"), "{error}");
    collector.join().unwrap();
}
