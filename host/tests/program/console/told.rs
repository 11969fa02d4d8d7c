//! What a deed has come to is told on the page after it, once, with the focus on it; why something
//! was refused as well.

use serde_json::json;

use super::{Desk, Shown};

/// The page that a deed leads to, as a browser goes there that was told something with it.
fn page_after(desk: &Desk, cookie: &str, done: &Shown) -> Shown {
    assert_eq!(done.status, 303, "{}", done.body);
    let told = done.header("set-cookie").split(';').next().unwrap();
    assert!(told.starts_with("placewright-told="), "{told}");
    let both = format!("{cookie}; {told}");
    let page = done.header("location");
    // What scripts read of the page in another tab meanwhile takes nothing away.
    let by_script = [("sec-fetch-mode", "cors")];
    let read = desk.browse_with("GET", page, &both, (&by_script, &[]));
    assert!(read.body.contains(NOTHING), "{}", read.body);
    assert_eq!(read.header("set-cookie"), "");
    let elsewhere = desk.browse("GET", "/events", &both, &[]);
    assert!(elsewhere.body.contains(NOTHING), "{}", elsewhere.body);
    let navigates = [("sec-fetch-mode", "navigate")];
    let shown = desk.browse_with("GET", page, &both, (&navigates, &[]));
    assert!(
        shown
            .header("set-cookie")
            .starts_with("placewright-told=; ")
    );
    assert!(shown.header("set-cookie").contains("Max-Age=0"));
    shown
}

/// The place where a page tells what was done, where it tells nothing.
const NOTHING: &str = "<div id=\"told\" role=\"status\" data-own></div>";
/// The same where it does, with the focus.
const TOLD: &str = "<div id=\"told\" role=\"status\" data-own tabindex=\"-1\" autofocus>";

/// What a page tells.
fn told(shown: &Shown) -> &str {
    assert_eq!(
        shown.body.matches(" autofocus").count(),
        1,
        "{}",
        shown.body
    );
    let (_, told) = shown.body.split_once(TOLD).expect("it tells something");
    let (_, told) = told.split_once("<div>").unwrap();
    told.split("</div>").next().unwrap()
}

#[test]
fn each_deed_on_a_unit_is_told_and_where_its_version_is_from() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let version = api.get("/v1/units/memory").body["version"].clone();
    let version = version.as_str().unwrap();
    let first = api.get("/v1/units/memory").body["in-force"].clone();
    let first = first.as_str().unwrap();
    let act = |unit: &str, form: &[(&str, &str)]| {
        let done = desk.browse("POST", &format!("/units/{unit}"), &cookie, form);
        page_after(&desk, &cookie, &done)
    };
    let pinned = act("memory", &[("deed", "pin")]);
    let sentence = format!("Unit memory is pinned to version {version}.");
    assert_eq!(told(&pinned), sentence);
    assert!(
        pinned.body.contains("<dd>the program</dd>"),
        "{}",
        pinned.body
    );
    let unpinned = act("memory", &[("deed", "unpin")]);
    let sentence = format!("Unit memory is no longer pinned: version {version} is in force.");
    assert_eq!(told(&unpinned), sentence);
    for (deed, sentence) in [
        ("disable", "Unit first-fit is disabled: it is not in force."),
        ("enable", "Unit first-fit is enabled: version "),
    ] {
        let shown = act("first-fit", &[("deed", deed)]);
        assert!(told(&shown).starts_with(sentence), "{}", told(&shown));
    }
    // Another version, and back.
    let mut other = placewright_tests::units::component("memory").to_vec();
    other.extend(b"\0\x05\x04more");
    let kind = [("content-type", "application/wasm")];
    let put = api.ask("PUT", "/v1/units", &kind, &other).unwrap();
    assert_eq!(put.status, 200, "{put:?}");
    let back = act("memory", &[("deed", "rollback"), ("digest", first)]);
    let sentence = format!(
        "Unit memory is rolled back to version {version}, with the digest {}.",
        &first[..12]
    );
    assert_eq!(told(&back), sentence);
    let from = "<dd>a rollback to an earlier version</dd>";
    assert!(back.body.contains(from), "{}", back.body);
    assert!(!back.body.contains("what was kept"), "{}", back.body);
    let source = api.get("/v1/units/memory").body["source"].clone();
    assert_eq!(source, json!({"kind": "rollback"}));
}

#[test]
fn each_deed_is_told_on_the_page_that_it_leads_to() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let plan = api.send("POST", "/v1/clusters/north/plans", &json!({}));
    assert_eq!(plan.status, 201, "{plan:?}");
    let quota = [
        ("tag", ""),
        ("name", "shop"),
        ("tenant", "shop"),
        ("vms", "10"),
    ];
    let of_vm = [("deed", "renew"), ("vm", "v0")];
    let up = [("from", "maintenance"), ("state", "up")];
    for (path, form, sentence) in [
        (
            "/clusters/north/plans/1",
            &[("deed", "cancel")][..],
            "Plan 1 is cancelled.",
        ),
        (
            "/clusters/north/plans",
            &[("deed", "plan")],
            "Plan 2 is made.",
        ),
        ("/quotas", &quota, "Quota shop is saved."),
        (
            "/clusters/north/reservations",
            &of_vm,
            "The reservation of v0 is renewed.",
        ),
        (
            "/clusters/north/hosts/h3/state",
            &up,
            "Host h3 takes VMs again.",
        ),
        (
            "/policies/house",
            &[("deed", "clone"), ("name", "mine")],
            "Policy mine is a copy of house.",
        ),
    ] {
        let done = desk.browse("POST", path, &cookie, form);
        assert_eq!(told(&page_after(&desk, &cookie, &done)), sentence);
    }
}

#[test]
fn another_view_of_a_draft_and_a_draft_that_is_not_saved_have_the_focus_on_what_they_tell() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let house = desk.api().get("/v1/policies/house").body;
    let text = house["text"].as_str().unwrap();
    let act = |view: &str, deed: &str, text: &str| {
        let fields = [
            ("revision", "1"),
            ("view", view),
            ("text", text),
            ("deed", deed),
        ];
        desk.browse("POST", "/policies/house", &cookie, &fields)
    };
    let status = "<div role=\"status\" tabindex=\"-1\" autofocus>";
    let alert = "<div role=\"alert\" tabindex=\"-1\" autofocus>";
    for (view, deed, text, is_done, told) in [
        (
            "chain",
            "document",
            text,
            true,
            "This is the document of your draft.",
        ),
        (
            "document",
            "chain",
            text,
            true,
            "This is the chain of your draft.",
        ),
        // One view of a draft that is wrong, and nothing is saved of one.
        (
            "document",
            "chain",
            "[[costs]]\nunit = \"memory\"\nfactor = \"2,5\"\n",
            true,
            "This is the chain",
        ),
        (
            "document",
            "save",
            "[[costs]]\nunit = \"memory\"\nfactor = \"2,5\"\n",
            false,
            "<b>Nothing is saved. </b>",
        ),
        (
            "document",
            "save",
            "= no",
            false,
            "<b>Nothing is saved. </b>",
        ),
    ] {
        let shown = act(view, deed, text);
        let body = &shown.body;
        assert_eq!(shown.status == 200, is_done, "{deed}: {}", shown.status);
        let place = if is_done { status } else { alert };
        assert_eq!(body.matches(place).count(), 1, "{deed}: {body}");
        assert_eq!(body.matches(" autofocus").count(), 1, "{deed}: {body}");
        assert!(body.contains(told), "{told}: {body}");
    }
}

#[test]
fn what_is_refused_is_told_once_where_the_focus_is() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let house = desk.api().get("/v1/policies/house").body;
    let text = house["text"].as_str().unwrap();
    let draft = [("view", "document"), ("revision", "1"), ("text", text)];
    let clone = |name, draft: &[(&str, &str)]| {
        let fields = [&[("deed", "clone"), ("name", name)], draft].concat();
        desk.browse("POST", "/policies/house", &cookie, &fields)
    };
    let alert = "<div role=\"alert\" tabindex=\"-1\" autofocus>";
    for (name, why) in [
        ("", "The copy needs a name"),
        // Of the program, and of somebody.
        ("general", "There is a policy general already"),
        ("house", "There is a policy house already"),
        ("no name", "Nothing is saved"),
    ] {
        for draft in [&draft[..], &[]] {
            let refused = clone(name, draft);
            let body = &refused.body;
            assert!(
                (400..500).contains(&refused.status),
                "{name}: {}",
                refused.status
            );
            assert_eq!(body.matches(alert).count(), 1, "{name}: {body}");
            assert_eq!(body.matches(" autofocus").count(), 1, "{name}: {body}");
            assert_eq!(body.matches(why).count(), 1, "{name}: {body}");
            assert!(
                !body.contains("This draft cannot be used yet"),
                "{name}: {body}"
            );
            let field =
                format!("value=\"{name}\" aria-invalid=\"true\" aria-describedby=\"not-cloned\"");
            assert!(body.contains(&field), "{name}: {body}");
        }
    }
    // The others.
    for (path, form) in [
        ("/quotas", &[("name", "")][..]),
        ("/tokens", &[("name", ""), ("role", "admin")]),
        ("/clusters/north/groups", &[("id", ""), ("tag", "")]),
        (
            "/clusters/north/settings",
            &[("revision", "0"), ("policy", "house")],
        ),
    ] {
        let refused = desk.browse("POST", path, &cookie, form);
        assert!(refused.status >= 400, "{path}: {}", refused.status);
        assert!(refused.body.contains(alert), "{path}: {}", refused.body);
    }
    // Where no page but that of the problem answers, its title has the focus.
    let refused = desk.browse("POST", "/units/memory", &cookie, &[("deed", "disable")]);
    assert_eq!(refused.status, 409);
    let title = "<h1 tabindex=\"-1\" autofocus>";
    assert!(refused.body.contains(title), "{}", refused.body);
}
