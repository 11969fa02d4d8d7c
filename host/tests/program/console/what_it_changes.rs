//! What forms change is what the API changes, for those who may, and from own pages alone.

use placewright_tests::repository;
use serde_json::json;

use super::{Desk, document};

#[test]
fn moves_are_approved_with_ticks_and_their_approval_is_told() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let made = desk.browse(
        "POST",
        "/clusters/north/plans",
        &cookie,
        &[("deed", "plan")],
    );
    assert_eq!(
        (made.status, made.header("location")),
        (303, "/clusters/north/plans/1")
    );
    let page = "/clusters/north/plans/1";
    let shown = desk.browse("GET", page, &cookie, &[]);
    assert!(shown.body.contains("Approve and begin"), "{}", shown.body);
    let none = desk.browse("POST", page, &cookie, &[("deed", "begin")]);
    assert_eq!(none.status, 422);
    assert!(none.body.contains("No move is ticked"), "{}", none.body);
    let begun = desk.browse("POST", page, &cookie, &[("deed", "begin"), ("move", "1")]);
    assert_eq!(begun.status, 303, "{}", begun.body);
    let plan = api.get("/v1/clusters/north/plans/1").body;
    assert_eq!(plan["moves"][0]["state"], "begun");
    assert_eq!(plan["counted"]["begun"], 1);
    let shown = desk.browse("GET", page, &cookie, &[]);
    assert!(shown.body.contains("<b>admin-all</b>"), "{}", shown.body);
    let stopped = desk.browse("POST", page, &cookie, &[("deed", "cancel")]);
    assert_eq!(stopped.status, 303);
    assert_eq!(
        api.get("/v1/clusters/north/plans/1").body["cancelled"],
        true
    );
    let wrong = desk.browse("POST", page, &cookie, &[("deed", "other")]);
    assert_eq!(wrong.status, 400);
}

#[test]
fn a_viewer_reads_everything_and_changes_nothing() {
    let desk = Desk::start().with_cluster();
    let api = desk.api();
    api.send("POST", "/v1/clusters/north/plans", &json!({}));
    let before = document(&api);
    let cookie = desk.sign_in(&desk.viewer);
    for (path, needed) in [
        ("/clusters/north/plans/1", "needs the role operator"),
        ("/clusters/north/groups", "needs the role operator"),
        ("/clusters/north/hosts/h1", "needs the role operator"),
        ("/clusters/north/settings", "needs the role policy-author"),
        ("/policies/house", "needs the role policy-author"),
        ("/units", "needs the role admin"),
        ("/units/memory", "needs the role admin"),
    ] {
        let shown = desk.browse("GET", path, &cookie, &[]);
        assert_eq!(shown.status, 200, "{path}");
        assert!(shown.body.contains(needed), "{path}: {}", shown.body);
    }
    for (path, form) in [
        ("/clusters/north/plans", vec![("deed", "plan")]),
        (
            "/clusters/north/plans/1",
            vec![("deed", "begin"), ("move", "1")],
        ),
        ("/clusters/north/plans/1", vec![("deed", "cancel")]),
        (
            "/policies/house",
            vec![
                ("deed", "save"),
                ("revision", "1"),
                ("text", "filters = []"),
                ("view", "document"),
            ],
        ),
        ("/policies/house", vec![("deed", "clone"), ("name", "mine")]),
        (
            "/policies/house/draft",
            vec![("revision", "1"), ("text", "filters = []")],
        ),
        (
            "/clusters/north/settings",
            vec![("revision", "1"), ("policy", "general")],
        ),
        ("/units", vec![("deed", "put")]),
        ("/units/memory", vec![("deed", "disable")]),
    ] {
        let shown = desk.browse("POST", path, &cookie, &form);
        assert_eq!(shown.status, 403, "{path}: {}", shown.body);
        assert!(
            shown.body.contains("has the role viewer"),
            "{path}: {}",
            shown.body
        );
    }
    assert_eq!(document(&api), before);
    assert_eq!(api.get("/v1/policies/mine").status, 404);
    let plan = api.get("/v1/clusters/north/plans/1").body;
    assert_eq!(
        (&plan["counted"]["begun"], &plan["cancelled"]),
        (&0.into(), &false.into())
    );
}

#[test]
fn a_cluster_is_set_by_a_form_which_leaves_alone_what_it_does_not_show() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let path = "/v1/clusters/north/settings";
    let overridden = json!({"policy": "house", "overrides": {"memory": {"factor": 3.0}}});
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let set = api.ask("PUT", path, &headers, overridden.to_string().as_bytes());
    let set = set.unwrap();
    assert_eq!(set.status, 200, "{set:?}");
    let before = api.get(path).body;
    let revision = before["revision"].to_string();
    let page = "/clusters/north/settings";
    let save = |revision: &str, settle: &str| {
        let form = [
            ("revision", revision),
            ("policy", "house"),
            ("balance-every", "600"),
            ("restart", "ha"),
            ("restart-settle", settle),
            ("restart-max-in-flight", ""),
            ("statistics-max-age", "300"),
            ("unmeasured-max-age", ""),
        ];
        desk.browse("POST", page, &cookie, &form)
    };
    // What is wrong stands above what was entered, and nothing is saved.
    for wrong in ["soon", "-1", "3601", "1.5"] {
        let refused = save(&revision, wrong);
        assert_eq!(refused.status, 422, "{wrong}: {}", refused.body);
        let told = "is not a whole number from 0 to 3600";
        assert!(refused.body.contains(told), "{}", refused.body);
        assert!(refused.body.contains(&format!("value=\"{wrong}\"")));
        assert_eq!(api.get(path).body, before);
    }
    let saved = save(&revision, "30");
    assert_eq!((saved.status, saved.header("location")), (303, page));
    let after = api.get(path).body;
    assert_eq!(
        after["restart"],
        json!({"settle": 30, "max-in-flight": 8, "vms": "ha"})
    );
    assert_eq!(after["balance"], json!({"every": 600}));
    assert_eq!(after["statistics-max-age"], 300);
    assert_eq!(after["overrides"], before["overrides"]);
    let shown = desk.browse("GET", page, &cookie, &[]);
    assert!(shown.body.contains("value=\"30\""), "{}", shown.body);
    assert!(
        shown.body.contains("value=\"ha\" selected"),
        "{}",
        shown.body
    );
    // Somebody who looked at the page before that loses nothing, and overwrites nothing.
    let late = save(&revision, "5");
    assert_eq!(late.status, 412, "{}", late.body);
    assert!(
        late.body.contains("Somebody else has changed"),
        "{}",
        late.body
    );
    assert_eq!(api.get(path).body, after);
}

#[test]
fn pages_of_others_change_nothing() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let form = [("deed", "plan")];
    let origin = [("origin", "http://evil.example")];
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site")],
        &origin,
        &[],
    ] {
        let shown = desk.browse_with("POST", "/clusters/north/plans", &cookie, (headers, &form));
        assert_eq!(shown.status, 403, "{headers:?}");
        assert!(
            shown.body.contains("not sent by a page of this server"),
            "{}",
            shown.body
        );
    }
    let token = [("token", desk.admin.as_str())];
    let shown = desk.browse_with("POST", "/sign-in", "", (&origin, &token));
    assert_eq!((shown.status, shown.header("set-cookie")), (403, ""));
    let plans = desk.api().get("/v1/clusters/north/plans").body;
    assert_eq!(plans["items"], json!([]));
}

#[test]
fn a_draft_is_tried_and_saved_and_keeps_what_nobody_touched() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let text = document(&api)["text"].as_str().unwrap().to_owned();
    let factor = [
        ("revision", "1"),
        ("view", "chain"),
        ("cluster", "north"),
        ("text", text.as_str()),
        ("entry/-/costs/0/factor", "-3"),
        ("entry/-/costs/1/enabled", "off"),
        ("entry/-/costs/1/enabled", "on"),
    ];
    let tried = desk.browse("POST", "/policies/house/draft", &cookie, &factor);
    assert_eq!(tried.status, 200, "{}", tried.body);
    // As many as the API counts.
    let changed = text.replace("factor = 2 # twice", "factor = -3 # twice");
    let kind = [("content-type", "application/toml")];
    let counted = api.ask(
        "POST",
        "/v1/clusters/north/draft",
        &kind,
        changed.as_bytes(),
    );
    let differing = counted.unwrap().body["differing"].as_u64().unwrap();
    assert!(differing > 0, "the draft changes something");
    let told = format!("data-differing=\"{differing}\"");
    assert!(tried.body.contains(&told), "{told}: {}", tried.body);
    // One after the other: as many as the API counts then, and the page says so.
    let in_sequence = [&factor[..], &[("sequence", "in-sequence")]].concat();
    let tried = desk.browse("POST", "/policies/house/draft", &cookie, &in_sequence);
    let path = "/v1/clusters/north/draft?in-sequence=true";
    let counted = api.ask("POST", path, &kind, changed.as_bytes());
    let counted = counted.unwrap().body;
    assert_eq!(counted["in-sequence"], true, "{counted}");
    let told = format!("data-differing=\"{}\"", counted["differing"]);
    for part in [told.as_str(), "The oldest decision is made first"] {
        assert!(tried.body.contains(part), "{part}: {}", tried.body);
    }
    let page = desk.browse("GET", "/policies/house?sequence=in-sequence", &cookie, &[]);
    for part in ["--in-sequence", "The oldest decision is made first"] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let wrong = desk.browse("GET", "/policies/house?sequence=sometimes", &cookie, &[]);
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert_eq!(document(&api)["revision"], 1, "nothing is saved by trying");
    let save = [&factor[..], &[("deed", "save")]].concat();
    let saved = desk.browse("POST", "/policies/house", &cookie, &save);
    assert_eq!(saved.status, 303, "{}", saved.body);
    let now = document(&api);
    assert_eq!(
        (&now["revision"], now["text"].as_str().unwrap()),
        (&2.into(), changed.as_str())
    );
    // Somebody else who began with the first revision loses nothing.
    let mine = [
        ("revision", "1"),
        ("view", "document"),
        ("text", "# my own words\nfilters = []\n"),
        ("deed", "save"),
    ];
    let conflict = desk.browse("POST", "/policies/house", &cookie, &mine);
    assert_eq!(conflict.status, 412, "{}", conflict.body);
    assert!(
        conflict.body.contains("saved revision 2 meanwhile"),
        "{}",
        conflict.body
    );
    assert!(
        conflict.body.contains("# my own words"),
        "{}",
        conflict.body
    );
    assert_eq!(document(&api)["revision"], 2);
    let wrong = [
        ("revision", "2"),
        ("view", "document"),
        ("text", "x = 1"),
        ("deed", "save"),
    ];
    let refused = desk.browse("POST", "/policies/house", &cookie, &wrong);
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body.contains("This draft cannot be used yet"),
        "{}",
        refused.body
    );
}

#[test]
fn what_two_have_changed_is_told_in_words_and_carried_over_where_it_does_not_collide() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let text = document(&api)["text"].as_str().unwrap().to_owned();
    let send = |deed: &str, more: &[(&str, &str)]| {
        let fields = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text.as_str()),
            ("deed", deed),
        ];
        desk.browse(
            "POST",
            "/policies/house",
            &cookie,
            &[&fields, more].concat(),
        )
    };
    let theirs = [("entry/-/costs/0/factor", "3")];
    assert_eq!(send("save", &theirs).status, 303);
    let mine = [
        ("entry/-/costs/0/factor", "5"),
        ("entry/-/costs/1/factor", "7"),
        ("policy/tie-rule", "draw"),
    ];
    let conflict = send("save", &mine);
    assert_eq!(conflict.status, 412, "{}", conflict.body);
    for part in [
        "saved revision 2 meanwhile",
        "cost memory, factor: 2 → 3",
        "cost memory, factor: 2 → 5",
        "cost cpu, factor: 1 → 7",
        "ties: id → draw",
        "Collides with that",
        "Carry 2 changes over to revision 2",
        "name=\"base\" value=\"1\"",
        "What this draft would change",
    ] {
        assert!(conflict.body.contains(part), "{part}: {}", conflict.body);
    }
    let told = "by whoever may write policies";
    assert!(!conflict.body.contains(told), "{}", conflict.body);
    let mine = [&mine[..], &[("base", "1")]].concat();
    let merged = send("merge", &mine);
    assert_eq!(merged.status, 200, "{}", merged.body);
    for part in [
        "These of yours were not carried over",
        "factor = 3 # twice",
        "factor = 7",
        "tie-rule = [&quot;draw&quot;]",
        "name=\"revision\" value=\"2\"",
        "data-differing=",
    ] {
        assert!(merged.body.contains(part), "{part}: {}", merged.body);
    }
    assert_eq!(document(&api)["revision"], 2, "nothing is saved by it");
}

#[test]
fn ties_balance_and_the_rest_of_a_policy_are_changed_by_the_form() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let text = document(&api)["text"].as_str().unwrap().to_owned();
    let send = |deed: &str, more: &[(&str, &str)]| {
        let fields = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text.as_str()),
            ("deed", deed),
        ];
        desk.browse(
            "POST",
            "/policies/house",
            &cookie,
            &[&fields, more].concat(),
        )
    };
    let more = [
        ("policy/tie-rule", "fewest-vms"),
        ("policy/tie-rule", "draw"),
        ("policy/balance/of", ""),
        ("policy/balance/unit", "even-distribution"),
        ("policy/unheeded", "warn"),
        ("policy/new-setting", "high-utilization"),
        ("policy/new-setting-value", "70"),
        ("watch/new/name", "busy"),
        ("watch/new/column", "cpu.usage"),
        ("watch/new/at-least", "80 %"),
        ("entry/-/filters/0/on-failure", "leave-out"),
    ];
    let tried = send("try", &more);
    assert_eq!(tried.status, 200, "{}", tried.body);
    for part in [
        "What you have changed",
        "ties: id → fewest-vms, draw",
        "balance: added",
        "unheeded: refuse → warn",
        "setting high-utilization of all units: not set → 70",
        "watch busy: added",
        "filter memory, if it fails: not set → leave-out",
        "About the unit",
        "value=\"unwatch/0\"",
        "id=\"policy/settings/high-utilization\"",
    ] {
        assert!(tried.body.contains(part), "{part}: {}", tried.body);
    }
    // The script is told the same.
    let fields = [
        &[
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text.as_str()),
        ][..],
        &more,
    ]
    .concat();
    let told = desk.browse("POST", "/policies/house/draft", &cookie, &fields);
    assert!(
        told.body.contains("ties: id → fewest-vms, draw"),
        "{}",
        told.body
    );
    // What is wrong stands at its field.
    let wrong = send("save", &[("policy/tie-rule", "best")]);
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(
        wrong.body.contains("id=\"wrong-policy/tie-rule\""),
        "{}",
        wrong.body
    );
    let wrong = send("save", &[("policy/balance/unit", "no-such-unit")]);
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(
        wrong.body.contains("id=\"wrong-policy/balance/unit\""),
        "{}",
        wrong.body
    );
    for wrong in ["unwatch/0", "unwatch/x"] {
        assert_eq!(send(wrong, &[]).status, 400, "{wrong}");
    }
    assert_eq!(send("try", &[("policy/name", "x")]).status, 400);
    assert_eq!(document(&api)["revision"], 1);
    let saved = send("save", &[("policy/tie-rule", "draw")]);
    assert_eq!(saved.status, 303, "{}", saved.body);
    let history = desk.browse("GET", "/policies/house?view=history", &cookie, &[]);
    assert!(history.body.contains("ties: id → draw"), "{}", history.body);
}

#[test]
fn a_policy_in_json_is_changed_by_the_form_which_says_that_it_writes_toml() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let json = json!({"name": "plain", "filters": [{"unit": "memory"}],
        "costs": [{"unit": "cpu", "factor": 2, "scaling": "min-max"}]});
    let json = json.to_string();
    let headers = [("content-type", "application/json"), ("if-none-match", "*")];
    let put = api.ask("PUT", "/v1/policies/plain", &headers, json.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    let path = "/policies/plain";
    let page = desk.browse("GET", path, &cookie, &[]).body;
    for part in [
        "The form writes TOML",
        "name=\"entry/-/costs/0/factor\"",
        "[[costs]]",
        "data-differing=",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("What you have changed"), "{page}");
    let document = desk.browse("GET", "/policies/plain?view=document", &cookie, &[]);
    assert!(document.body.contains("{&quot;"), "{}", document.body);
    assert!(
        !document.body.contains("The form writes TOML"),
        "{}",
        document.body
    );
    let send = |deed: &str| {
        let form = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", json.as_str()),
            ("entry/-/costs/0/factor", "-3"),
            ("deed", deed),
        ];
        desk.browse("POST", path, &cookie, &form)
    };
    let tried = send("try").body;
    assert!(tried.contains("cost cpu, factor: 2 → -3"), "{tried}");
    assert_eq!(api.get("/v1/policies/plain").body["text"], json.as_str());
    assert_eq!(send("save").status, 303);
    let saved = api.get("/v1/policies/plain").body;
    let text = saved["text"].as_str().unwrap();
    assert!(text.contains("factor = -3"), "{text}");
    assert!(text.contains("[[filters]]"), "{text}");
    // Both have begun with JSON: what collides is told as ever.
    let late = send("save");
    assert_eq!(late.status, 412, "{}", late.body);
    assert!(late.body.contains("factor: 2 → -3"), "{}", late.body);
}

#[test]
fn settings_of_memory_are_shown_and_taken_in_units_of_measure() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let text = document(&api)["text"].as_str().unwrap().to_owned();
    let text = text.replacen(
        "unit = \"memory\"\n",
        "unit = \"memory\"\nsettings = { headroom = 8589934592 }\n",
        1,
    );
    let setting = "entry/-/filters/0/settings/headroom";
    let send = |value: &str| {
        let fields = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text.as_str()),
            (setting, value),
            ("deed", "try"),
        ];
        desk.browse("POST", "/policies/house", &cookie, &fields)
            .body
    };
    let same = send("8 GiB");
    let field = format!("name=\"{setting}\" value=\"8 GiB\"");
    assert!(same.contains(&field), "{same}");
    assert!(same.contains("headroom = 8589934592"), "{same}");
    assert!(same.contains("such as 8 GiB"), "{same}");
    let other = send("4 GiB");
    assert!(other.contains("headroom = &quot;4 GiB&quot;"), "{other}");
    assert!(other.contains("data-differing="), "{other}");
}

#[test]
fn rows_of_a_setting_that_is_a_table_are_fields() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let cell = |number: usize, column: &str, kind: &str| {
        format!("entry/-/selections/0/rows/{number}/{kind}/{column}/weights")
    };
    let made = desk.api().ask(
        "PUT",
        "/v1/policies/by-weight",
        &[("content-type", "application/toml"), ("if-none-match", "*")],
        b"filters = []\n[[selections]]\nunit = \"least-used\"\nsettings = { weights = [{ account = \"h1\", weight = 2 }] }\n",
    );
    assert_eq!(made.unwrap().status, 200);
    let path = "/policies/by-weight";
    let page = desk.page(&format!("{path}?cluster=north"), &cookie);
    let known = format!("name=\"{}\" value=\"h1\"", cell(0, "account", "text"));
    assert!(page.contains(&known), "{page}");
    assert!(!page.contains("change it in the document"), "{page}");
    let text = "filters = []\n[[selections]]\nunit = \"least-used\"\n";
    let new = [cell(0, "account", "text"), cell(0, "weight", "number")];
    let send = |weight: &str| {
        let fields = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text),
            (new[0].as_str(), "h2"),
            (new[1].as_str(), weight),
            ("deed", "try"),
        ];
        desk.browse("POST", path, &cookie, &fields).body
    };
    let told = send("0");
    let row = "weights = [{ account = &quot;h2&quot;, weight = 0 }]";
    assert!(told.contains(row), "{told}");
    // There is another row to be filled in, and h2 has no chance.
    assert!(told.contains(&cell(1, "account", "text")), "{told}");
    let words = "setting weights: account h1, weight 2 → account h2, weight 0";
    assert!(told.contains(words), "{told}");
    let told = send("-1");
    assert!(told.contains("must be a number from 0 up"), "{told}");
}

#[test]
fn a_candidate_judges_beside_a_unit_and_is_promoted_or_ended() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let mut candidate = placewright_tests::units::component("memory").to_vec();
    // The same unit, with a section more that says nothing.
    candidate.extend(b"\0\x05\x04more");
    let begin = |every: &str| {
        let parts = [
            ("unit", &candidate[..]),
            ("every", every.as_bytes()),
            ("deed", b"shadow"),
        ];
        in_parts(&desk, &cookie, &parts)
    };
    let (status, body) = begin("0");
    assert_eq!(status, 400, "{body}");
    let (status, body) = begin("1");
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains("It judges from now on, and decides nothing"),
        "{body}"
    );
    let page = || desk.browse("GET", "/units/memory", &cookie, &[]).body;
    assert!(
        page().contains("It has judged no decision yet"),
        "{}",
        page()
    );
    let before = api.get("/v1/units/memory").body["in-force"].clone();
    let vm = json!({"id": "judged", "cpu": 1, "memory": "1 GiB"});
    assert_eq!(
        api.send("POST", "/v1/clusters/north/place", &vm).status,
        200
    );
    let judged = "1 decision judged, all with the same outcome";
    assert!(page().contains(judged), "{}", page());
    // Whoever may not is told who may.
    let viewer = desk.sign_in(&desk.viewer);
    let seen = desk.browse("GET", "/units/memory", &viewer, &[]).body;
    assert!(seen.contains("needs the role admin"), "{seen}");
    let act = |cookie: &str, deed: &str| {
        desk.browse("POST", "/units/memory", cookie, &[("deed", deed)])
            .status
    };
    assert_eq!(act(&viewer, "promote"), 403);
    assert_eq!(act(&cookie, "discard"), 303);
    assert!(!page().contains("A candidate judges beside it"));
    assert_eq!(api.get("/v1/units/memory").body["in-force"], before);
    assert_eq!(begin("2").0, 200);
    // Where the unit is held, the page says so, and the candidate goes on judging.
    assert_eq!(act(&cookie, "pin"), 303);
    let held = desk.browse("POST", "/units/memory", &cookie, &[("deed", "promote")]);
    assert_eq!(held.status, 200, "{}", held.body);
    assert!(held.body.contains("pinned"), "{}", held.body);
    assert_eq!(api.get("/v1/units/memory").body["in-force"], before);
    // What was never in force is nothing to go back to.
    assert!(!page().contains("Go back to it"), "{}", page());
    assert_eq!(act(&cookie, "unpin"), 303);
    assert_eq!(act(&cookie, "promote"), 303);
    assert_ne!(api.get("/v1/units/memory").body["in-force"], before);
    assert!(!page().contains("A candidate judges beside it"));
}

/// Send a form in parts; gives the status and the page.
fn in_parts(desk: &Desk, cookie: &str, parts: &[(&str, &[u8])]) -> (u16, String) {
    let mut body = Vec::new();
    for (name, value) in parts {
        let (name, file) = match *name {
            "unit" => ("unit", "; filename=\"u.wasm\""),
            "signature" => ("unit", "; filename=\"u.wasm.sig\""),
            name => (name, ""),
        };
        body.extend(
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n").bytes(),
        );
        body.extend(*value);
        body.extend(b"\r\n");
    }
    body.extend(b"--x--\r\n");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let request = agent
        .post(format!("{}/units", desk.server.url))
        .header("cookie", cookie)
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "multipart/form-data; boundary=x");
    let mut answer = request.send(&body[..]).unwrap();
    let status = answer.status().as_u16();
    (status, answer.body_mut().read_to_string().unwrap())
}

#[test]
fn what_is_wrong_stands_at_the_field_that_it_is_wrong_with() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let text = document(&desk.api())["text"].as_str().unwrap().to_owned();
    let setting = "entry/-/filters/0/settings/headroom";
    let factor = "entry/-/costs/0/factor";
    let tier = "entry/-/costs/1/tier";
    let wrong = [
        (setting, "-5", format!("wrong-{setting} hint-{setting}")),
        (factor, "2,5", format!("wrong-{factor}")),
        (tier, "first", format!("wrong-{tier}")),
    ];
    for (field, value, described) in wrong {
        let fields = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text.as_str()),
            (field, value),
            ("deed", "save"),
        ];
        let refused = desk.browse("POST", "/policies/house", &cookie, &fields);
        assert_eq!(refused.status, 422, "{}", refused.body);
        let body = &refused.body;
        let told = format!("<p class=\"wrong\" id=\"wrong-{field}\">");
        assert!(body.contains(&told), "{told}: {body}");
        let described = format!("aria-describedby=\"{described}\"");
        assert!(body.contains(&described), "{described}: {body}");
        // What was written stays for whoever mends it, beside what is in force.
        let input = body.split("<input").find(|it| it.contains(&described));
        let input = input
            .and_then(|it| it.split('>').next())
            .unwrap_or_default();
        assert!(input.contains(&format!(" value=\"{value}\"")), "{input}");
        if field == factor {
            assert!(input.contains(" data-was=\"2\""), "{input}");
            let told = "A factor must be a number, such as 2.5, not &quot;2,5&quot;.";
            assert!(body.contains(told), "{body}");
        }
        assert_eq!(body.matches(" autofocus").count(), 1, "{body}");
        // A script is told the same of a draft.
        let tried = desk.browse("POST", "/policies/house/draft", &cookie, &fields);
        let told = format!("<li data-field=\"{field}\">");
        assert!(tried.body.contains(&told), "{}", tried.body);
    }
    assert_eq!(document(&desk.api())["revision"], 1);
}

#[test]
fn what_a_unit_refuses_by_a_rule_of_its_own_stands_at_the_setting_that_it_names() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let text = "filters = []\n[[costs]]\nunit = \"power-saving\"\n\
        settings = { high-utilization = 50, low-utilization = 90 }\n";
    let fields = [
        ("revision", "1"),
        ("view", "document"),
        ("cluster", "north"),
        ("text", text),
    ];
    let tried = desk.browse("POST", "/policies/house/draft", &cookie, &fields);
    let field = "entry/-/costs/0/settings/low-utilization";
    let told = format!("<li data-field=\"{field}\">");
    let at_field = tried.body.split(&told).nth(1);
    let at_field = at_field.unwrap_or_else(|| panic!("{}", tried.body));
    let sentence = "low-utilization must be below high-utilization";
    let at_field = at_field.split("</li>").next().unwrap_or_default();
    assert!(at_field.contains(sentence), "{at_field}");
}

#[test]
fn entries_are_put_in_another_order_by_buttons() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let api = desk.api();
    let text = document(&api)["text"].as_str().unwrap().to_owned();
    let shown = desk.browse("GET", "/policies/house", &cookie, &[]).body;
    assert!(shown.contains("value=\"move/-/filters/0/1\""), "{shown}");
    assert!(shown.contains("aria-label=\"Move memory down\""), "{shown}");
    assert!(!shown.contains("value=\"move/-/filters/2/3\""), "{shown}");
    let fields = [
        ("revision", "1"),
        ("view", "chain"),
        ("cluster", "north"),
        ("text", text.as_str()),
        ("entry/-/costs/0/factor", "5"),
        ("deed", "move/-/costs/0/1"),
    ];
    let moved = desk.browse("POST", "/policies/house", &cookie, &fields);
    assert_eq!(moved.status, 200, "{}", moved.body);
    // What the fields said goes with the entry, and the draft is tried.
    assert!(moved.body.contains("factor = 5 # twice"), "{}", moved.body);
    let (cpu, memory) = (
        moved.body.find("Factor of cpu").unwrap(),
        moved.body.find("Factor of memory").unwrap(),
    );
    assert!(cpu < memory, "{}", moved.body);
    assert!(moved.body.contains("data-differing="), "{}", moved.body);
    assert_eq!(document(&api)["revision"], 1, "nothing is saved by moving");
    let fields = [&fields[..5], &[("deed", "move/-/costs/0/7")]].concat();
    let refused = desk.browse("POST", "/policies/house", &cookie, &fields);
    assert_eq!(refused.status, 400, "{}", refused.body);
}

#[test]
fn units_are_added_and_removed_and_their_scaling_and_tier_are_set() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let api = desk.api();
    let text = document(&api)["text"].as_str().unwrap().to_owned();
    let act = |more: &[(&str, &str)]| {
        let fields = [
            ("revision", "1"),
            ("view", "chain"),
            ("cluster", "north"),
            ("text", text.as_str()),
        ];
        desk.browse(
            "POST",
            "/policies/house",
            &cookie,
            &[&fields, more].concat(),
        )
    };
    let added = act(&[
        ("add-unit", "network"),
        ("add-list", "filters"),
        ("deed", "add"),
    ]);
    assert_eq!(added.status, 200, "{}", added.body);
    assert!(added.body.contains("Remove network"), "{}", added.body);
    assert!(added.body.contains("data-differing="), "{}", added.body);
    let by_alias = act(&[
        ("add-unit", "HugePages"),
        ("add-list", "filters"),
        ("deed", "add"),
    ]);
    assert_eq!(by_alias.status, 200, "{}", by_alias.body);
    assert!(
        by_alias.body.contains("Remove HugePages"),
        "{}",
        by_alias.body
    );
    // The unit behind the other name is the one that is shown, and its kind the one that counts.
    let api = desk.api();
    let own = api.get("/v1/units/HugePages/inspection").body["name"].clone();
    let link = format!(
        "<a href=\"/units/{}\"><b>HugePages</b>",
        own.as_str().unwrap()
    );
    assert!(by_alias.body.contains(&link), "{link}: {}", by_alias.body);
    // What cannot stand there is refused at the field, and does not join the draft.
    for (unit, why) in [
        ("nonsense", "There is no unit &quot;nonsense&quot;"),
        ("nonsense@9f2c41", "There is no unit &quot;nonsense&quot;"),
        ("network", "The unit network is not a cost function"),
        (
            "HugePages",
            &format!("The unit {} is not a cost function", own.as_str().unwrap()),
        ),
    ] {
        let refused = act(&[("add-unit", unit), ("add-list", "costs"), ("deed", "add")]);
        assert_eq!(refused.status, 422, "{}", refused.body);
        let body = &refused.body;
        let told = format!("<p class=\"wrong\" id=\"wrong-add-unit\">{why}");
        assert!(body.contains(&told), "{told}: {body}");
        assert!(body.contains(&format!("value=\"{unit}\"")), "{body}");
        assert!(!body.contains(&format!("Remove {unit}")), "{body}");
        assert!(body.contains("data-differing=\"0\""), "{body}");
    }
    let removed = act(&[("deed", "remove/-/costs/0")]);
    assert_eq!(removed.status, 200, "{}", removed.body);
    let draft = removed.body.split("<textarea").nth(1).unwrap();
    let draft = draft.split("</textarea>").next().unwrap();
    assert!(!draft.contains("factor = 2 # twice"), "{draft}");
    assert!(
        removed.body.contains("cost memory: removed"),
        "{}",
        removed.body
    );
    let set = act(&[
        ("entry/-/costs/0/scaling", "rank"),
        ("entry/-/costs/0/tier", "2"),
        ("entry/-/filters/0/position", "last"),
        ("deed", "document"),
    ]);
    for written in [
        "scaling = &quot;rank&quot;",
        "tier = 2",
        "position = &quot;last&quot;",
    ] {
        assert!(set.body.contains(written), "{written}: {}", set.body);
    }
    for wrong in [
        &[("deed", "remove/-/costs/9")][..],
        &[("add-unit", ""), ("add-list", "costs"), ("deed", "add")],
        &[("add-unit", "cpu"), ("add-list", "name"), ("deed", "add")],
    ] {
        assert_eq!(act(wrong).status, 400, "{wrong:?}");
    }
    assert_eq!(document(&api)["revision"], 1, "nothing is saved by it");
}

#[test]
fn a_locked_policy_is_cloned() {
    let desk = Desk::start();
    let cookie = desk.sign_in(&desk.admin);
    let shown = desk.browse("GET", "/policies/general", &cookie, &[]);
    assert!(
        shown.body.contains("of the program, locked"),
        "{}",
        shown.body
    );
    assert!(!shown.body.contains("Save as revision"), "{}", shown.body);
    let clone = [("deed", "clone"), ("name", "mine")];
    let cloned = desk.browse("POST", "/policies/general", &cookie, &clone);
    assert_eq!(
        (cloned.status, cloned.header("location")),
        (303, "/policies/mine")
    );
    assert_eq!(
        desk.browse("GET", "/policies/mine", &cookie, &[]).status,
        200
    );
}

#[test]
fn a_copy_of_a_policy_takes_what_was_tuned_and_a_refused_one_leaves_it_on_the_page() {
    let desk = Desk::start();
    let cookie = desk.sign_in(&desk.admin);
    let api = desk.api();
    let general = api.get("/v1/policies/general").body;
    let text = general["text"].as_str().expect("it has a text");
    let tuned = text.replacen("factor = 1", "factor = 7", 1);
    assert_ne!(tuned, text);
    let clone = |name: &str| {
        let fields = [
            ("deed", "clone"),
            ("name", name),
            ("revision", "0"),
            ("view", "document"),
            ("text", tuned.as_str()),
            ("cluster", "north"),
        ];
        desk.browse("POST", "/policies/general", &cookie, &fields)
    };
    for (name, why) in [
        ("", "The copy needs a name"),
        ("first-fit", "There is a policy first-fit already"),
    ] {
        let refused = clone(name);
        assert!(refused.status >= 400, "{}", refused.status);
        assert!(refused.body.contains("factor = 7"), "{}", refused.body);
        assert_eq!(refused.body.matches(why).count(), 1, "{}", refused.body);
    }
    let cloned = clone("mine");
    assert_eq!(
        (cloned.status, cloned.header("location")),
        (303, "/policies/mine?cluster=north")
    );
    let mine = api.get("/v1/policies/mine").body;
    // Its name is that of the copy.
    let named = tuned.replacen("name = \"general\"", "name = \"mine\"", 1);
    assert_ne!(named, tuned);
    assert_eq!(mine["text"].as_str(), Some(named.as_str()));
}

#[test]
fn a_unit_is_handed_in_as_a_file_and_each_step_is_told() {
    let desk = Desk::start();
    let cookie = desk.sign_in(&desk.admin);
    let send = |deed: &str, file: &[u8]| {
        in_parts(&desk, &cookie, &[("unit", file), ("deed", deed.as_bytes())])
    };
    let (status, body) = send("put", b"no component");
    assert_eq!(status, 422, "{body}");
    assert!(body.contains("Refused at the step"), "{body}");
    let unit = std::fs::read(repository().join("plugins/reference/memory/memory.wasm"));
    let unit = unit.unwrap_or_default();
    // What is in force already has nothing to pass.
    for deed in ["check", "put"] {
        let (status, body) = send(deed, &unit);
        assert_eq!(status, 200, "{body}");
        let told = "This file is in force already; nothing changes.";
        assert!(body.contains(told), "{body}");
        assert!(!body.contains("passed every step"), "{body}");
    }
    let (status, body) = send("other", b"x");
    assert_eq!(status, 400, "{body}");
}

#[test]
fn the_signature_of_a_unit_that_is_handed_in_is_looked_at() {
    let desk = Desk::start_with(&format!(
        "[[trusted-keys]]\nname = \"release\"\ned25519 = \"{}\"\n",
        "4e8f43387526690ec1b853e90635085d5722a4b4bec4aa3985bb0fbc7d7d066d"
    ));
    let cookie = desk.sign_in(&desk.admin);
    let unit = placewright_tests::units::component("memory");
    let mut parts: Vec<(&str, &[u8])> =
        vec![("signature", &[0; 64]), ("unit", &unit), ("deed", b"check")];
    let (status, body) = in_parts(&desk, &cookie, &parts);
    assert_eq!(status, 422, "{body}");
    let refused = "Refused at the step “signature”";
    assert!(body.contains(refused), "{body}");
    parts.push(("signature", &[1; 64]));
    let (status, body) = in_parts(&desk, &cookie, &parts);
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("Choose one unit at a time"), "{body}");
}
