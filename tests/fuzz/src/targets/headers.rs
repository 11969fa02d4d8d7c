//! Headers that say who calls, and short texts with a meaning of their own.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use placewright_engine::unit::Digest;
use placewright_http::access::bearer;
use placewright_http::{Access, Role, Secret, Token};
use placewright_model::{Kind, Measure, Value};
use placewright_policy::UnitName;

use super::text;

/// Tokens whose secrets nobody knows.
fn access() -> &'static [Access; 2] {
    static ACCESS: OnceLock<[Access; 2]> = OnceLock::new();
    ACCESS.get_or_init(|| {
        let secret = Secret::random().expect("the system has randomness");
        let token = Token {
            name: "somebody".into(),
            role: Role::Viewer,
            sha256: secret.sha256(),
            clusters: Some(BTreeSet::from(["c".into()])),
        };
        [Access::new(vec![token]), Access::new(Vec::new())]
    })
}

/// The lines of a head, as far as they are some.
fn headers(input: &[u8]) -> HeaderMap {
    let lines = input.split(|byte| *byte == b'\n');
    let headers = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name.trim_ascii()).ok()?;
        let value = HeaderValue::from_bytes(value.get(1..)?.trim_ascii()).ok()?;
        Some((name, value))
    });
    headers.take(32).collect()
}

/// Nobody is let in without a secret that is known; from pages of other sites nobody is at all.
pub(crate) fn who(input: &[u8]) {
    let headers = headers(input);
    let [closed, open] = access();
    assert!(closed.caller(&headers, bearer).is_err(), "{headers:?}");
    if open.caller(&headers, bearer).is_ok() {
        let origin = headers
            .get("origin")
            .map(|it| it.as_bytes().to_ascii_lowercase());
        // Of loopback addresses there are many, and they are spelt in many ways.
        let here = |origin: Vec<u8>| {
            let names: [&[u8]; 4] = [b"localhost", b"127.", b":1", b":0001"];
            let holds = |name: &[u8]| origin.windows(name.len()).any(|it| it == name);
            names.into_iter().any(holds)
        };
        assert!(origin.is_none_or(here), "{headers:?}");
    }
}

/// Amounts, names and digests are read as what they are, or not at all.
pub(crate) fn amounts(input: &[u8]) {
    const MEASURES: [&str; 6] = [
        "bytes",
        "millicores",
        "seconds",
        "time",
        "fraction",
        "percent",
    ];
    let Some(text) = text(input) else { return };
    for measure in MEASURES.iter().filter_map(|name| Measure::from_name(name)) {
        for kind in [Kind::Integer, Kind::Number] {
            let Ok(value) = measure.parse(text, kind) else {
                continue;
            };
            if let Value::Number(number) = value {
                assert!(number.is_finite(), "{text} is {number}");
            }
            assert!(!measure.display(&value).is_empty());
            // What a document has of it is read again as the same.
            let written = measure.written(&value);
            let again = match &written {
                Value::Text(text) => measure.parse(text, kind),
                Value::Integer(number) => measure.of_number(*number as f64, kind),
                Value::Number(number) => measure.of_number(*number, kind),
                Value::Boolean(_) => Ok(written.clone()),
            };
            assert_eq!(again.ok(), Some(value), "{text} is written as {written}");
        }
    }
    if let Ok(number) = text.trim().parse::<f64>() {
        for kind in [Kind::Integer, Kind::Number] {
            drop(Measure::Bytes.of_number(number, kind));
        }
    }
    if let Ok(name) = text.parse::<UnitName>() {
        assert!(name.to_string().parse::<UnitName>().is_ok(), "{text}");
    }
    if let Some(digest) = Digest::from_hex(text) {
        assert_eq!(digest.to_string(), text.to_lowercase());
    }
}
