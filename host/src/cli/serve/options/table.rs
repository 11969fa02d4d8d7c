//! Every option with its default and its meaning.

use placewright_document::form::{BOOLEAN, Shape, TEXT};
use placewright_document::words;
use placewright_model::{Bounds, Kind, Measure};
use placewright_records::telemetry::LogFormat;

use super::{Durability, ServeOption};

const AT_LEAST_ONE: Bounds = Bounds {
    least: Some(1.0),
    greatest: None,
};

const DURATION: Shape = Shape::Value(Kind::Number, Some(Measure::Seconds), POSITIVE_DAY);
/// Longer than a day nothing here should take.
const POSITIVE_DAY: Bounds = Bounds {
    least: Some(0.001),
    greatest: Some(86_400.0),
};
const SIZE: Shape = Shape::Value(Kind::Integer, Some(Measure::Bytes), AT_LEAST_ONE);
const COUNT: Shape = Shape::Value(Kind::Integer, None, AT_LEAST_ONE);

const fn option(
    heading: &'static str,
    name: &'static str,
    value_name: &'static str,
    shape: Shape,
    default: &'static str,
    meaning: &'static str,
) -> ServeOption {
    ServeOption {
        name,
        value_name,
        shape,
        default: Some(default),
        otherwise: None,
        meaning,
        heading,
    }
}

const fn without_default(
    heading: &'static str,
    name: &'static str,
    value_name: &'static str,
    shape: Shape,
    otherwise: Option<&'static str>,
    meaning: &'static str,
) -> ServeOption {
    ServeOption {
        default: None,
        otherwise,
        ..option(heading, name, value_name, shape, "", meaning)
    }
}

const PLACES: &str = "Places";
const TRUST: &str = "Trust";
const DECISIONS: &str = "Decisions";
const UNITS: &str = "Limits of units";
const REQUESTS: &str = "Limits of requests";
const LOG: &str = "Log and program";

/// Every option.
pub(crate) const OPTIONS: &[ServeOption] = &[
    option(
        PLACES,
        "listen",
        "ADDRESS:PORT",
        TEXT,
        "127.0.0.1:7425",
        "Where requests come in; port 0 takes any that is free",
    ),
    without_default(
        PLACES,
        "data",
        "DIR",
        TEXT,
        Some("the platform's folder for data"),
        "Folder of what must last",
    ),
    without_default(
        PLACES,
        "units",
        "DIR",
        TEXT,
        Some("DATA/units"),
        "Folder that is watched for units (*.wasm)",
    ),
    without_default(
        PLACES,
        "policies",
        "DIR",
        TEXT,
        Some("DATA/policies"),
        "Folder that is watched for policies (*.toml)",
    ),
    without_default(
        PLACES,
        "cache",
        "DIR",
        TEXT,
        Some("DATA/cache"),
        "Folder where the code of compiled units is kept",
    ),
    option(
        PLACES,
        "shared-folders",
        "BOOL",
        BOOLEAN,
        "false",
        "Use folders that other users may write to: each of them can then have the server run what they like",
    ),
    without_default(
        TRUST,
        "tls-certificate",
        "FILE",
        TEXT,
        None,
        "Certificates in PEM, the server's own first; with it and --tls-key requests come by TLS",
    ),
    without_default(
        TRUST,
        "tls-key",
        "FILE",
        TEXT,
        None,
        "The certificate's private key in PEM",
    ),
    option(
        TRUST,
        "insecure-plain-http",
        "BOOL",
        BOOLEAN,
        "false",
        "Let tokens come in clear text from other machines: only where something in front of the server does TLS",
    ),
    option(
        TRUST,
        "require-signatures",
        "BOOL",
        BOOLEAN,
        "false",
        "Refuse units that no trusted key has signed",
    ),
    without_default(
        TRUST,
        "require-replay",
        "SHARE",
        Shape::Value(Kind::Number, Some(Measure::Fraction), Bounds::SHARE),
        Some("none is refused for it"),
        "Refuse a unit that would change a greater share of the recorded decisions",
    ),
    option(
        DECISIONS,
        "decision-wait",
        "DURATION",
        DURATION,
        "10 s",
        "How long a request waits for its cluster's turn",
    ),
    option(
        DECISIONS,
        "decision-hold",
        "DURATION",
        DURATION,
        "1 s",
        "How long one decision may take of its turn",
    ),
    option(
        DECISIONS,
        "turn-time",
        "DURATION",
        DURATION,
        "10 s",
        "How long one turn may take of its cluster: a batch or search ends then with what is decided",
    ),
    option(
        DECISIONS,
        "question-time",
        "DURATION",
        DURATION,
        "30 s",
        "How long a question (why, capacity, what-if, plans, explanation, replay) may take",
    ),
    option(
        DECISIONS,
        "reservation",
        "DURATION",
        Shape::Value(Kind::Integer, Some(Measure::Seconds), Bounds::FROM_ZERO),
        "5 min",
        "How long a reservation lasts that nobody confirms; 0: it does not end by itself",
    ),
    option(
        DECISIONS,
        "longest-reservation",
        "DURATION",
        Shape::Value(Kind::Integer, Some(Measure::Seconds), Bounds::FROM_ZERO),
        "24 h",
        "How long a request may have its places reserved; 0: for good",
    ),
    option(
        DECISIONS,
        "vanishing-share",
        "SHARE",
        Shape::Value(Kind::Number, Some(Measure::Fraction), Bounds::SHARE),
        "30 %",
        "Refuse an inventory that lacks a greater share of the hosts or VMs, unless the request says how many",
    ),
    option(
        DECISIONS,
        "return-after-failures",
        "COUNT",
        Shape::Value(Kind::Integer, None, Bounds::FROM_ZERO),
        "3",
        "Roll a unit back to its predecessor when it has failed in so many decisions of a cluster; 0: never",
    ),
    option(
        DECISIONS,
        "return-within-decisions",
        "COUNT",
        Shape::Value(Kind::Integer, None, Bounds::FROM_ZERO),
        "100",
        "Among how many of a cluster's newest decisions these failures are counted",
    ),
    option(
        DECISIONS,
        "recorded-decisions",
        "COUNT",
        Shape::Value(Kind::Integer, None, Bounds::FROM_ZERO),
        "1000",
        "Decisions of a cluster that are remembered, to be explained and replayed",
    ),
    option(
        DECISIONS,
        "history-bytes",
        "SIZE",
        SIZE,
        "64 MiB",
        "How much is kept of each cluster's past, so that recorded decisions are explained and replayed also after a restart",
    ),
    option(
        DECISIONS,
        "durability",
        "WORD",
        Shape::Word(words::<Durability>),
        "full",
        "Whether what is acknowledged survives a loss of power (full) or only the end of the program (normal)",
    ),
    option(
        UNITS,
        "unit-time",
        "DURATION",
        DURATION,
        "1 s",
        "For one run of a chain; also processor time for a unit to describe itself",
    ),
    option(
        UNITS,
        "unit-memory",
        "SIZE",
        SIZE,
        "256 MiB",
        "Memory of an instance",
    ),
    option(UNITS, "unit-answer", "SIZE", SIZE, "64 MiB", "One answer"),
    option(UNITS, "unit-file", "SIZE", SIZE, "64 MiB", "A unit's file"),
    option(
        UNITS,
        "unit-compile-time",
        "DURATION",
        DURATION,
        "2 min",
        "For a unit to be compiled",
    ),
    option(
        UNITS,
        "unit-compile-memory",
        "SIZE",
        SIZE,
        "1 GiB",
        "Memory of the process that compiles a unit; there is one at a time",
    ),
    option(
        UNITS,
        "unit-instances",
        "COUNT",
        COUNT,
        "1000",
        "Instances at the same time",
    ),
    option(
        UNITS,
        "unit-total-memory",
        "SIZE",
        SIZE,
        "2 GiB",
        "Memory of all instances together",
    ),
    option(
        REQUESTS,
        "request-body",
        "SIZE",
        SIZE,
        "64 MiB",
        "The body of an inventory or a unit; other routes take less, as /v1/openapi.json says",
    ),
    option(
        REQUESTS,
        "request-bodies",
        "SIZE",
        SIZE,
        "256 MiB",
        "The bodies of all requests in work, those up to 64 KiB not counted; a caller may have half of it",
    ),
    option(
        REQUESTS,
        "request-time",
        "DURATION",
        DURATION,
        "60 s",
        "From a request to its answer",
    ),
    option(
        REQUESTS,
        "header-time",
        "DURATION",
        DURATION,
        "30 s",
        "For a request's head to arrive; idle connections are closed after it",
    ),
    option(
        REQUESTS,
        "stall-time",
        "DURATION",
        DURATION,
        "10 s",
        "Whoever sends a body or takes an answer by less than 8 KiB a second for so long is too slow",
    ),
    option(
        REQUESTS,
        "connections",
        "COUNT",
        COUNT,
        "1024",
        "Connections at the same time; a quarter of them is for callers that have shown a token",
    ),
    option(
        REQUESTS,
        "connections-per-address",
        "COUNT",
        COUNT,
        "512",
        "Connections from one address that have shown no token; for more, the oldest are closed",
    ),
    option(
        REQUESTS,
        "connections-per-token",
        "COUNT",
        COUNT,
        "512",
        "Connections of one token",
    ),
    option(
        REQUESTS,
        "streams-per-token",
        "COUNT",
        COUNT,
        "64",
        "Streams of events for one token",
    ),
    option(
        LOG,
        "log-format",
        "WORD",
        Shape::Word(words::<LogFormat>),
        "text",
        "Lines for people (text) or for programs (json), on standard error",
    ),
    option(
        LOG,
        "log-level",
        "LEVEL",
        TEXT,
        "info",
        "error, warn, info, debug or trace; or by module, as in \"info,placewright_library=debug\"",
    ),
    without_default(
        LOG,
        "audit-log",
        "FILE",
        TEXT,
        Some("DATA/audit.jsonl"),
        "Where it is recorded who changed what and who was refused: a file; \"log\" for standard error; \"off\"",
    ),
    option(
        LOG,
        "audit-log-size",
        "SIZE",
        SIZE,
        "64 MiB",
        "Size of a file of the audit log, about; then another one is begun",
    ),
    option(
        LOG,
        "audit-log-files",
        "COUNT",
        COUNT,
        "16",
        "Files of the audit log; of more the oldest are removed",
    ),
    option(
        LOG,
        "shutdown-time",
        "DURATION",
        DURATION,
        "30 s",
        "How long the server may take to end after a signal, requests and decisions included",
    ),
    option(
        LOG,
        "threads",
        "COUNT",
        COUNT,
        "2",
        "Threads for requests; decisions have their own",
    ),
];
