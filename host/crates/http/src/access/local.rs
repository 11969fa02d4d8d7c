//! Who calls a server that has no tokens.

use axum::http::{HeaderMap, HeaderName, header};

use crate::problem::{Code, Problem};
use placewright_document::shown;

/// Without tokens whoever runs programs on this machine may do everything, but not web
/// pages that its browsers show, also those of other servers on this machine: they call
/// under a name of their own, or say where they come from. Browsers do so with every request
/// that could change something (`Origin`), and with all others (`Sec-Fetch-Site`).
pub(super) fn from_here(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| {
        headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
    };
    let host = text(header::HOST);
    let origin = text(header::ORIGIN);
    let origin = origin.as_deref().map(|origin| {
        let rest = origin.split_once("://");
        rest.map_or(origin, |(_, host)| host)
    });
    let of_page = |detail: String| Err(Problem::new(Code::Forbidden, detail));
    if let Some(origin) = origin
        && !host
            .as_deref()
            .is_some_and(|host| host.eq_ignore_ascii_case(origin))
    {
        return of_page(format!(
            "without tokens, calls from web pages of other sites are refused, and this one comes from \"{}\"",
            shown(origin)
        ));
    }
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if let Some(site) = site.filter(|site| !matches!(&**site, "none" | "same-origin")) {
        return of_page(format!(
            "without tokens, calls from web pages of other sites are refused, and this one is \"{}\"",
            shown(&site)
        ));
    }
    for named in [host.as_deref(), origin].into_iter().flatten() {
        if !is_this_machine(named) {
            return Err(Problem::new(
                Code::Forbidden,
                format!(
                    "without tokens only calls to localhost are answered, and this one names \"{}\"",
                    shown(named)
                ),
            ));
        }
    }
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let address: Result<std::net::IpAddr, _> = address.parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}
