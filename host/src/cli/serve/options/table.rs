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
        "Address and port to listen on; port 0 takes any free port",
    ),
    without_default(
        PLACES,
        "data",
        "DIR",
        TEXT,
        Some("the platform's folder for data"),
        "Folder for the server's state",
    ),
    without_default(
        PLACES,
        "units",
        "DIR",
        TEXT,
        Some("DATA/units"),
        "Folder watched for units (*.wasm)",
    ),
    without_default(
        PLACES,
        "policies",
        "DIR",
        TEXT,
        Some("DATA/policies"),
        "Folder watched for policies (*.toml)",
    ),
    without_default(
        PLACES,
        "cache",
        "DIR",
        TEXT,
        Some("DATA/cache"),
        "Folder for compiled units",
    ),
    option(
        PLACES,
        "shared-folders",
        "BOOL",
        BOOLEAN,
        "false",
        "Use folders that other users may write to: each of these users can then make the server run any unit",
    ),
    without_default(
        TRUST,
        "tls-certificate",
        "FILE",
        TEXT,
        None,
        "Certificates in PEM, the server's own first; with --tls-key it turns TLS on",
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
        "Accept tokens in clear text from other machines: only behind a proxy that does TLS",
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
        "Longest time that a request waits for its cluster's turn",
    ),
    option(
        DECISIONS,
        "decision-hold",
        "DURATION",
        DURATION,
        "1 s",
        "Longest time for one decision",
    ),
    option(
        DECISIONS,
        "turn-time",
        "DURATION",
        DURATION,
        "10 s",
        "Longest time for one turn of a cluster; a batch or search then ends with the decisions made so far",
    ),
    option(
        DECISIONS,
        "question-time",
        "DURATION",
        DURATION,
        "30 s",
        "Longest time for a question (why, capacity, what-if, plans, explanation, replay)",
    ),
    option(
        DECISIONS,
        "reservation",
        "DURATION",
        Shape::Value(Kind::Integer, Some(Measure::Seconds), Bounds::FROM_ZERO),
        "5 min",
        "Time after which an unconfirmed reservation ends; 0: never",
    ),
    option(
        DECISIONS,
        "longest-reservation",
        "DURATION",
        Shape::Value(Kind::Integer, Some(Measure::Seconds), Bounds::FROM_ZERO),
        "24 h",
        "Longest time for which a request may reserve places; 0: no limit",
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
        "Decisions recorded for each cluster, to be explained and replayed",
    ),
    option(
        DECISIONS,
        "history-bytes",
        "SIZE",
        SIZE,
        "64 MiB",
        "Size of each cluster's stored history, from which recorded decisions are explained and replayed",
    ),
    option(
        DECISIONS,
        "inventory-bytes",
        "SIZE",
        SIZE,
        "256 MiB",
        "Most memory of each cluster's hosts, VMs, groups and tenants",
    ),
    option(
        DECISIONS,
        "column-bytes",
        "SIZE",
        SIZE,
        "128 MiB",
        "Most memory of the columns of each cluster's hosts: 9 bytes for each host and attribute",
    ),
    option(
        DECISIONS,
        "answer-bytes",
        "SIZE",
        SIZE,
        "64 MiB",
        "Most memory of the answers of each cluster that are given again to a request with the same key",
    ),
    option(
        DECISIONS,
        "policy-bytes",
        "SIZE",
        SIZE,
        "16 MiB",
        "Most bytes of the policies that a token has made; each counts for 64 KiB at least",
    ),
    option(
        DECISIONS,
        "durability",
        "WORD",
        Shape::Word(words::<Durability>),
        "full",
        "Whether acknowledged changes survive a power loss (full) or only the end of the program (normal)",
    ),
    option(
        UNITS,
        "unit-time",
        "DURATION",
        DURATION,
        "1 s",
        "Longest time for one run of a chain; also processor time for a unit to describe itself",
    ),
    option(
        UNITS,
        "unit-memory",
        "SIZE",
        SIZE,
        "256 MiB",
        "Most memory of one instance of a unit",
    ),
    option(
        UNITS,
        "unit-answer",
        "SIZE",
        SIZE,
        "64 MiB",
        "Largest answer",
    ),
    option(
        UNITS,
        "unit-file",
        "SIZE",
        SIZE,
        "64 MiB",
        "Largest file of a unit",
    ),
    option(
        UNITS,
        "unit-compile-time",
        "DURATION",
        DURATION,
        "2 min",
        "Longest time to compile a unit",
    ),
    option(
        UNITS,
        "unit-compile-memory",
        "SIZE",
        SIZE,
        "1 GiB",
        "Most memory of one compiling process; at most two run",
    ),
    option(
        UNITS,
        "unit-instances",
        "COUNT",
        COUNT,
        "1000",
        "Most instances of units at the same time",
    ),
    option(
        UNITS,
        "unit-total-memory",
        "SIZE",
        SIZE,
        "2 GiB",
        "Most memory of all instances together",
    ),
    option(
        REQUESTS,
        "request-body",
        "SIZE",
        SIZE,
        "64 MiB",
        "Largest body of an inventory or a unit; other routes take less, as /v1/openapi.json says",
    ),
    option(
        REQUESTS,
        "request-bodies",
        "SIZE",
        SIZE,
        "256 MiB",
        "Most memory for the bodies of all requests under way, those up to 64 KiB not counted; one caller gets at most half",
    ),
    option(
        REQUESTS,
        "answers",
        "SIZE",
        SIZE,
        "256 MiB",
        "Largest total size of answers that are on their way, those up to 64 KiB not counted",
    ),
    option(
        REQUESTS,
        "request-time",
        "DURATION",
        DURATION,
        "60 s",
        "Longest time from a request to its answer",
    ),
    option(
        REQUESTS,
        "header-time",
        "DURATION",
        DURATION,
        "30 s",
        "Longest time for the head of a request to arrive; idle connections are closed after it",
    ),
    option(
        REQUESTS,
        "stall-time",
        "DURATION",
        DURATION,
        "10 s",
        "Close connections that are slower than 8 KiB/s for this long",
    ),
    option(
        REQUESTS,
        "connections",
        "COUNT",
        COUNT,
        "1024",
        "Most connections at the same time; a quarter of them is for callers that have shown a token",
    ),
    option(
        REQUESTS,
        "connections-per-address",
        "COUNT",
        COUNT,
        "512",
        "Most connections from one address without a token; beyond it the oldest are closed",
    ),
    option(
        REQUESTS,
        "connections-per-token",
        "COUNT",
        COUNT,
        "512",
        "Most connections of one token",
    ),
    option(
        REQUESTS,
        "streams-per-token",
        "COUNT",
        COUNT,
        "64",
        "Most event streams of one token",
    ),
    option(
        LOG,
        "log-format",
        "WORD",
        Shape::Word(words::<LogFormat>),
        "text",
        "Format of the log on standard error: text for people, json for programs",
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
        "File that records who changed what and who was refused; \"log\" for standard error, or \"off\"",
    ),
    option(
        LOG,
        "audit-log-size",
        "SIZE",
        SIZE,
        "64 MiB",
        "Approximate size of one file of the audit log; then a new one begins",
    ),
    option(
        LOG,
        "audit-log-files",
        "COUNT",
        COUNT,
        "16",
        "Most files of the audit log; of more the oldest are removed, once they are as old as audit-log-age",
    ),
    option(
        LOG,
        "audit-log-age",
        "DURATION",
        Shape::Value(Kind::Number, Some(Measure::Seconds), Bounds::FROM_ZERO),
        "30 days",
        "Least age of a file of the audit log that is removed, as long as its disk has room",
    ),
    option(
        LOG,
        "audit-log-spare",
        "SIZE",
        SIZE,
        "2 GiB",
        "Free space of the disk below which files of the audit log are removed before their age",
    ),
    option(
        LOG,
        "shutdown-time",
        "DURATION",
        DURATION,
        "30 s",
        "Longest time for the server to end after a signal, requests and decisions included",
    ),
    option(
        LOG,
        "threads",
        "COUNT",
        COUNT,
        "2",
        "Threads for requests; decisions have their own",
    ),
    option(
        LOG,
        "console",
        "BOOL",
        BOOLEAN,
        // A program that was built without it has none to serve.
        if cfg!(feature = "console") {
            "true"
        } else {
            "false"
        },
        "Serve the console at /: pages for people, beside the API",
    ),
];
