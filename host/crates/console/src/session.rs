//! Signing in: a token is entered once, and stands behind a session whose secret is in a cookie
//! that no script can read.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::ask::Console;
use crate::form;
use crate::page::{self, SignIn};
use placewright_http::access::unauthorized;
use placewright_http::audit::Note;
use placewright_http::problem::{Code, Problem};

/// How a browser keeps a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cookie {
    /// Whether pages come by TLS, or by something that does TLS in front of the server: the
    /// cookie goes no other way then.
    pub(crate) is_secure: bool,
}

/// The name of the cookie under TLS: browsers take it from the host itself alone.
const SECURE: &str = "__Host-placewright-session";
/// Its name on this machine.
const PLAIN: &str = "placewright-session";
/// The name of the cookie that has the colour scheme.
const SCHEME: &str = "placewright-scheme";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The secret of a session under TLS.
///
/// # Errors
/// If there is none.
pub(crate) fn secure_secret(headers: &HeaderMap) -> Result<Cow<'_, [u8]>, Problem> {
    secret(headers, SECURE)
}

/// The secret of a session on this machine.
///
/// # Errors
/// If there is none.
pub(crate) fn plain_secret(headers: &HeaderMap) -> Result<Cow<'_, [u8]>, Problem> {
    secret(headers, PLAIN)
}

fn secret<'h>(headers: &'h HeaderMap, name: &str) -> Result<Cow<'h, [u8]>, Problem> {
    match cookie(headers, name) {
        Some(secret) => Ok(secret.as_bytes().into()),
        None => Err(unauthorized("sign in to see this page")),
    }
}

/// The value of a cookie.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let sent = headers.get_all(header::COOKIE).iter();
    let sent = sent.filter_map(|value| value.to_str().ok());
    let mut pairs = sent.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (known, value) = pair.trim().split_once('=')?;
        (known == name && !value.is_empty()).then_some(value)
    })
}

impl Cookie {
    fn name(self) -> &'static str {
        if self.is_secure { SECURE } else { PLAIN }
    }

    /// The header that has a browser keep a secret, or none.
    pub(crate) fn set(self, secret: &str) -> Result<HeaderValue, Problem> {
        let age = if secret.is_empty() { "; Max-Age=0" } else { "" };
        self.header(self.name(), secret, &format!("SameSite=Strict{age}"))
    }

    /// The header that has a browser keep something that no script reads.
    pub(crate) fn header(self, name: &str, value: &str, how: &str) -> Result<HeaderValue, Problem> {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; HttpOnly; {how}{secure}");
        HeaderValue::from_str(&text).map_err(|error| Problem::internal(&error))
    }
}

/// A colour scheme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// As the browser says.
    #[default]
    Automatic,
    Light,
    Dark,
}

impl Scheme {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self::named(cookie(headers, SCHEME).unwrap_or_default())
    }

    fn named(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::Automatic,
        }
    }

    /// As pages and the cookie write it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// Let a request through that changes something only if a page of this server sends it: a
/// browser says where a request comes from, and pages of others cannot make it say otherwise.
pub(crate) async fn from_own_pages(request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    match reads || is_own(request.headers()) {
        true => next.run(request).await,
        false => {
            let sentence = "this was not sent by a page of this server: open the page here and \
                            send it again, or use the API with a token";
            Problem::new(Code::Forbidden, sentence).into_response()
        }
    }
}

fn is_own(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get(FETCH_SITE) {
        return site == "same-origin";
    }
    // Browsers that do not say so name the page's origin.
    let text = |name| headers.get(name).and_then(|it| it.to_str().ok());
    let origin = text(header::ORIGIN).and_then(|origin| origin.split_once("://"));
    match (origin, text(header::HOST)) {
        (Some((_, origin)), Some(host)) => origin.eq_ignore_ascii_case(host),
        _ => false,
    }
}

/// Where a browser goes after a deed.
pub(crate) fn see(path: &str) -> Response {
    let place = HeaderValue::from_str(path);
    let place = place.unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// The page that a form stands on, if it is one of this server that can be read.
pub(crate) fn page_before(parts: &HeaderMap) -> String {
    let referer = parts.get(header::REFERER).and_then(|it| it.to_str().ok());
    let uri: Option<Uri> = referer.and_then(|referer| referer.parse().ok());
    let path = uri.as_ref().and_then(|uri| uri.path_and_query());
    match path.map(|path| path.as_str()) {
        Some(path) if is_page(path) => path.to_owned(),
        _ => "/".to_owned(),
    }
}

/// Whether a path is one of this server, and none that ends what was begun. Browsers read a backslash
/// as a slash, and pass over control characters: what is to be read with care is no page.
pub(crate) fn is_page(path: &str) -> bool {
    let stem = path.split(['?', '#']).next().unwrap_or_default();
    let read: Vec<u8> = percent_encoding::percent_decode_str(stem).collect();
    let names_a_host = |rest: &[u8]| matches!(rest.first(), Some(b'/' | b'\\'));
    let is_own = read
        .strip_prefix(b"/")
        .is_some_and(|rest| !names_a_host(rest));
    is_own
        && stem.starts_with('/')
        && !stem.contains('\\')
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && !read.iter().any(u8::is_ascii_control)
        && !read.starts_with(b"/sign-")
}

/// The page on which a token is entered.
pub(crate) async fn form(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    page::sign_in(&SignIn::of(&console, &headers), StatusCode::OK)
}

/// Begin a session of whoever shows a token.
pub(crate) async fn sign_in(
    State(console): State<Arc<Console>>,
    note: Option<Extension<Note>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let token = form::value(&sent, "token").unwrap_or_default().trim();
    // After a token that was wrong the form stands on the page that signs in.
    let to = form::value(&sent, "to").filter(|to| is_page(to));
    let to = to.map_or_else(|| page_before(&headers), str::to_owned);
    let refused = |sentence: &str| {
        if let Some(note) = &note {
            note.is_unknown();
        }
        let ways = SignIn {
            wrong: Some(sentence),
            is_token_wrong: true,
            to: Some(&to),
            ..SignIn::of(&console, &headers)
        };
        Ok(page::sign_in(&ways, StatusCode::UNAUTHORIZED))
    };
    let shown = HeaderValue::from_str(&format!("{}={token}", console.cookie.name()));
    let (false, Ok(shown)) = (token.is_empty(), shown) else {
        return refused("Enter a token: the text that begins with pw_.");
    };
    if token.contains([';', ',', ' ']) {
        return refused("This is no token: it has signs that no token has.");
    }
    let mut as_sent = headers.clone();
    as_sent.insert(header::COOKIE, shown);
    let find = match console.cookie.is_secure {
        true => secure_secret,
        false => plain_secret,
    };
    if console.access.caller(&as_sent, find).is_err() {
        return refused("This token is not one that is known here.");
    }
    let secret = console.access.begin_session(token.as_bytes());
    let secret =
        secret.map_err(|_| Problem::new(Code::Internal, "the system has no randomness to give"))?;
    let mut response = see(&to);
    let cookie = console.cookie.set(secret.reveal())?;
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

/// End the session.
pub(crate) async fn sign_out(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if let Some(secret) = cookie(&headers, console.cookie.name()) {
        console.access.end_session(secret.as_bytes());
    }
    let mut response = see("/sign-in");
    let cookie = console.cookie.set("")?;
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Choose a colour scheme.
pub(crate) async fn scheme(request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let headers = HeaderMap::from_request_parts(&mut parts as &mut Parts, &()).await;
    let headers = headers.unwrap_or_default();
    let body = axum::body::to_bytes(body, 1 << 10)
        .await
        .unwrap_or_default();
    let sent = form::pairs(&body);
    let scheme = Scheme::named(form::value(&sent, "scheme").unwrap_or_default());
    let text = format!(
        "{SCHEME}={}; Path=/; SameSite=Strict; Max-Age=31536000",
        scheme.word()
    );
    let mut response = see(&page_before(&headers));
    let cookie = HeaderValue::from_str(&text).map_err(|error| Problem::internal(&error))?;
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        pairs.collect()
    }

    #[test]
    fn the_secret_is_that_of_the_cookie_of_the_transport() {
        let sent = headers(&[(header::COOKIE, "a=1; placewright-session=pw_x; b=")]);
        assert_eq!(&*plain_secret(&sent).unwrap(), b"pw_x");
        assert!(secure_secret(&sent).is_err());
        assert!(plain_secret(&headers(&[(header::COOKIE, "placewright-session=")])).is_err());
        assert!(plain_secret(&HeaderMap::new()).is_err());
    }

    #[test]
    fn what_changes_something_comes_from_own_pages_alone() {
        let own = [(FETCH_SITE, "same-origin"), (header::HOST, "a:1")];
        assert!(is_own(&headers(&own)));
        for site in ["cross-site", "same-site", "none"] {
            let sent = [
                (FETCH_SITE, site),
                (header::ORIGIN, "http://a:1"),
                (header::HOST, "a:1"),
            ];
            assert!(!is_own(&headers(&sent)), "{site}");
        }
        let old = [(header::ORIGIN, "http://a:1"), (header::HOST, "a:1")];
        assert!(is_own(&headers(&old)));
        let other = [(header::ORIGIN, "http://a:2"), (header::HOST, "a:1")];
        assert!(!is_own(&headers(&other)));
        assert!(!is_own(&headers(&[(header::HOST, "a:1")])));
    }

    #[test]
    fn after_signing_in_one_is_where_one_was_on_this_server() {
        for (referer, expected) in [
            ("http://a/clusters/x?sort=cpu", "/clusters/x?sort=cpu"),
            ("http://a/sign-in", "/"),
            ("http://a//evil.example", "/"),
            ("http://a/\\evil.example", "/"),
            ("nothing", "/"),
        ] {
            let sent = headers(&[(header::REFERER, referer)]);
            assert_eq!(page_before(&sent), expected, "{referer}");
        }
        assert_eq!(page_before(&HeaderMap::new()), "/");
    }

    #[test]
    fn a_page_is_one_of_this_server_however_a_browser_reads_it() {
        for page in [
            "/",
            "/clusters/x",
            "/clusters/x?sort=cpu&text=%5C%0A",
            "/clusters/x?text=\\",
            "/clusters/%2F%5C/vms/%2E%2E",
            "/clusters/a//b",
            "/search?q=//a#//b",
        ] {
            assert!(is_page(page), "{page}");
        }
        for other in [
            "",
            "clusters",
            "?a=/b",
            "#/b",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "\\/evil.example",
            "/clusters\\x",
            "/%2Fevil.example",
            "/%2fevil.example",
            "/%5Cevil.example",
            "%2F/evil.example",
            "%2Fclusters",
            "/\tevil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/\r\nset-cookie: a=b",
            "/clusters?a=\nb",
            "/clusters/\u{7f}",
            "/clusters/\u{e9}",
            "/clusters/\u{85}",
            "/clusters/a b",
            "/%09/evil.example",
            "/clusters/%0Aa",
            "/clusters/%00",
            "/sign-out",
            "/sign-in/openid",
            "/%73ign-out",
            "https://evil.example/",
            "javascript:alert(1)",
        ] {
            assert!(!is_page(other), "{other:?}");
        }
    }

    #[test]
    fn a_cookie_says_how_it_is_kept() {
        let secure = Cookie { is_secure: true }.set("pw_x").unwrap();
        assert_eq!(
            secure,
            "__Host-placewright-session=pw_x; Path=/; HttpOnly; SameSite=Strict; Secure"
        );
        let ended = Cookie { is_secure: false }.set("").unwrap();
        assert_eq!(
            ended,
            "placewright-session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }
}
