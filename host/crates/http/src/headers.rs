//! What the headers of a request say: each once, and of the body its media type.

use axum::http::{HeaderMap, HeaderName, header};

use super::idempotency;
use super::problem::{Code, Problem};

/// Headers that a request may have once: of two, the second would be ignored.
const SINGLE: [(HeaderName, &str); 4] = [
    (header::AUTHORIZATION, "Authorization"),
    (header::CONTENT_TYPE, "Content-Type"),
    (idempotency::HEADER, "Idempotency-Key"),
    (HeaderName::from_static("last-event-id"), "Last-Event-ID"),
];

/// Check that a request has none of these headers twice.
///
/// # Errors
/// If one is.
pub(super) fn no_header_twice(headers: &HeaderMap) -> Result<(), Problem> {
    let twice = |(name, _): &&(HeaderName, &str)| headers.get_all(name).iter().nth(1).is_some();
    match SINGLE.iter().find(twice) {
        None => Ok(()),
        Some((_, name)) => Err(Problem::new(
            Code::InvalidParameter,
            format!("{name} is sent twice: send it once"),
        )),
    }
}

/// The media type of a request's body in lower case, without its parameters; empty if none is
/// given.
///
/// # Errors
/// If the text is in another encoding than UTF-8 (RFC 8259, 8.1).
pub(super) fn media_type(headers: &HeaderMap) -> Result<String, Problem> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Ok(String::new());
    };
    let given = String::from_utf8_lossy(given.as_bytes()).to_ascii_lowercase();
    let mut parts = given.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_owned();
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        let charset = value.trim().trim_matches('"');
        if name.trim() == "charset" && !matches!(charset, "utf-8" | "utf8" | "us-ascii") {
            let sentence = format!(
                "the body is in the charset \"{}\"; send UTF-8",
                placewright_document::shown(charset)
            );
            return Err(Problem::new(Code::UnsupportedType, sentence));
        }
    }
    Ok(essence)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, values: &[&'static str]) -> HeaderMap {
        let values = values.iter().map(|value| HeaderValue::from_static(value));
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), value);
        }
        headers
    }

    #[test]
    fn a_header_that_says_one_thing_may_not_be_sent_twice() {
        for (name, shown) in SINGLE {
            assert!(no_header_twice(&headers(name.clone(), &["a"])).is_ok());
            let problem = no_header_twice(&headers(name, &["a", "b"])).unwrap_err();
            assert!(problem.to_string().contains(shown), "{problem}");
        }
        assert!(no_header_twice(&headers(header::ACCEPT, &["a", "b"])).is_ok());
    }

    #[test]
    fn a_body_in_another_charset_than_utf_8_is_refused() {
        let of = |kind| media_type(&headers(header::CONTENT_TYPE, &[kind]));
        assert_eq!(of("application/json").unwrap(), "application/json");
        assert_eq!(
            of("Application/JSON; charset=UTF-8").unwrap(),
            "application/json"
        );
        assert_eq!(of("text/toml;charset=\"utf-8\";x=y").unwrap(), "text/toml");
        assert_eq!(media_type(&HeaderMap::new()).unwrap(), "");
        let problem = of("application/json; charset=iso-8859-1").unwrap_err();
        assert!(problem.to_string().contains("iso-8859-1"), "{problem}");
    }
}
