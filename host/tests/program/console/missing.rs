//! What is not there any more: lists of what happened do not lead to it, and its own page says so.

use std::collections::BTreeSet;

use super::{Desk, POLICY};

/// The links of a page to policies and units.
fn links(body: &str) -> BTreeSet<String> {
    let parts = body.split(" href=\"").skip(1);
    let links = parts.filter_map(|part| part.split('"').next());
    let links = links.filter(|it| it.starts_with("/policies/") || it.starts_with("/units/"));
    links.map(str::to_owned).collect()
}

#[test]
fn what_happened_leads_to_no_policy_and_no_unit_that_is_gone() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let headers = [("content-type", "application/toml"), ("if-none-match", "*")];
    let named = POLICY.replace("\"house\"", "\"bygone\"");
    let put = api.ask("PUT", "/v1/policies/bygone", &headers, named.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    let page = |path: &str| desk.browse("GET", path, &cookie, &[]);
    assert!(page("/events").body.contains("href=\"/policies/bygone\""));
    let whatever = [("if-match", "*")];
    let removed = api.ask("DELETE", "/v1/policies/bygone", &whatever, b"");
    let removed = removed.unwrap();
    assert_eq!(removed.status, 204, "{removed:?}");
    for path in ["/", "/events", "/audit"] {
        let shown = page(path).body;
        assert!(shown.contains("bygone"), "{path}: {shown}");
        for link in links(&shown) {
            assert_eq!(page(&link).status, 200, "{path} leads to {link}");
        }
    }
    let gone = page("/policies/bygone");
    assert_eq!(gone.status, 404);
    for part in [
        "There is no policy bygone",
        "It was removed ",
        "href=\"/policies\"",
        "href=\"/events?text=bygone\"",
        "href=\"/audit?text=bygone\"",
        "aria-label=\"Main\"",
    ] {
        assert!(gone.body.contains(part), "{part}: {}", gone.body);
    }
    assert_eq!(page("/events?text=bygone").status, 200);
}

#[test]
fn what_was_never_there_is_told_with_where_to_look() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    for (path, what, list) in [
        ("/units/nothing", "unit nothing", "/units"),
        ("/policies/nothing", "policy nothing", "/policies"),
        (
            "/policies/nothing?view=history",
            "policy nothing",
            "/policies",
        ),
        ("/clusters/nowhere", "cluster nowhere", "/"),
        ("/clusters/nowhere/vms/a", "cluster nowhere", "/"),
        (
            "/clusters/north/vms/%3Cb%3E",
            "VM &lt;b&gt;",
            "/clusters/north/vms",
        ),
        (
            "/clusters/north/hosts/nothing",
            "host nothing",
            "/clusters/north",
        ),
    ] {
        let shown = desk.browse("GET", path, &cookie, &[]);
        assert_eq!(shown.status, 404, "{path}: {}", shown.body);
        let title = format!("<h1 tabindex=\"-1\" autofocus>There is no {what}</h1>");
        assert!(shown.body.contains(&title), "{path}: {}", shown.body);
        let link = format!("class=\"btn main\" href=\"{list}\"");
        assert!(shown.body.contains(&link), "{path}: {}", shown.body);
        assert!(shown.body.contains("No event about it is remembered"));
        assert!(!shown.body.contains("/audit?text"), "{path}");
    }
}
