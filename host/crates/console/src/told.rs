//! What a deed has come to, told on the page that is shown after it.
//!
//! A form is answered with the way to a page. What that page is to tell goes there in a cookie that
//! no script reads, for one page and a minute: an address that told it would tell it again with each
//! reload, and to whoever follows a link to it.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};

use crate::ask::Ask;
use crate::format::cut;
use crate::page::sentence;
use crate::parts::note;
use crate::session::{Cookie, cookie, see};
use crate::url;
use placewright_http::Problem;

const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The name of the cookie under TLS: browsers take it from the host itself alone.
const SECURE: &str = "__Host-placewright-told";
/// Its name on this machine.
const PLAIN: &str = "placewright-told";

/// The longest sentence, in characters.
const LONGEST: usize = 240;
/// What a browser keeps of a cookie at least, in bytes.
const COOKIE: usize = 3500;

fn name(of: Cookie) -> &'static str {
    if of.is_secure { SECURE } else { PLAIN }
}

/// Lead a browser to a page that tells, with the focus on it, what was done.
///
/// # Errors
/// If the sentence cannot be sent.
pub(crate) fn done(ask: &Ask, path: &str, what: &str) -> Result<Response, Problem> {
    let mut response = see(path);
    let value = written(path, what);
    // Without it, the page itself tells.
    if value.len() <= COOKIE {
        let of = ask.console.cookie;
        let cookie = of.header(name(of), &value, "SameSite=Strict; Max-Age=60")?;
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// What is told, and on which page.
fn written(path: &str, what: &str) -> String {
    let page = path.split(['?', '#']).next().unwrap_or_default();
    let what = cut(what, LONGEST);
    url::query([("page", Some(page)), ("told", Some(&*what))])
}

/// What this page has to tell, if a browser goes to it: not what a script reads of it.
pub(crate) fn of(parts: &Parts, of: Cookie) -> Option<String> {
    let mode = parts.headers.get(FETCH_MODE);
    if mode.is_some_and(|mode| mode != "navigate") {
        return None;
    }
    read(&parts.headers, of, parts.uri.path())
}

fn read(headers: &HeaderMap, of: Cookie, path: &str) -> Option<String> {
    let pairs = url::pairs(cookie(headers, name(of))?);
    let value = |name: &str| {
        let found = pairs.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    let told = value("told").filter(|_| value("page") == Some(path))?;
    Some(cut(told, LONGEST))
}

/// The header that has a browser forget it.
///
/// # Errors
/// None that can happen: the name of the cookie fits into a header.
pub(crate) fn forgotten(of: Cookie) -> Result<HeaderValue, Problem> {
    of.header(name(of), "", "SameSite=Strict; Max-Age=0")
}

/// Where a page tells it: there also while there is nothing, so that what is read again meanwhile
/// leaves it alone.
pub(crate) fn shown(told: Option<&str>) -> Markup {
    html! {
        div id="told" role="status" data-own tabindex=[told.map(|_| "-1")] autofocus[told.is_some()] {
            @if let Some(told) = told { (note("ok", html! { (sentence(told)) })) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAINLY: Cookie = Cookie { is_secure: false };

    fn sent(path: &str, what: &str) -> HeaderMap {
        let cookie = format!("a=b; {PLAIN}={}", written(path, what));
        let cookie = HeaderValue::from_str(&cookie).unwrap();
        HeaderMap::from_iter([(header::COOKIE, cookie)])
    }

    #[test]
    fn a_page_tells_what_was_done_and_no_other_page_does() {
        let what = "=;\u{202e}a is pinned, by \"b\" & <c>\n";
        let headers = sent("/units/a%20b?view=x#y", what);
        let told = |path| read(&headers, PLAINLY, path);
        assert_eq!(told("/units/a%20b").as_deref(), Some(what));
        assert_eq!(told("/units/a"), None);
        assert_eq!(
            read(&headers, Cookie { is_secure: true }, "/units/a%20b"),
            None
        );
        assert_eq!(read(&HeaderMap::new(), PLAINLY, "/"), None);
    }

    #[test]
    fn what_is_told_is_text_has_the_focus_and_stays_where_there_is_nothing() {
        let told = shown(Some("<b>a</b> is pinned")).into_string();
        for part in ["role=\"status\"", "tabindex=\"-1\" autofocus", "&lt;b&gt;a"] {
            assert!(told.contains(part), "{told}");
        }
        let nothing = shown(None).into_string();
        assert_eq!(nothing, "<div id=\"told\" role=\"status\" data-own></div>");
    }

    #[test]
    fn what_is_long_is_cut_and_fits_into_a_cookie() {
        let written = written("/", &"\u{1f980}".repeat(10_000));
        assert!(written.len() < COOKIE, "{}", written.len());
        assert!(written.is_ascii() && !written.contains([';', ',', ' ', '"']));
    }
}
