//! Hosts go into maintenance, VMs are moved, and what is said of both is so.

use serde_json::{Value, json};

use super::Desk;

impl Desk {
    /// What the API says the state of a host is.
    fn host_state(&self, host: &str) -> Value {
        let path = format!("/v1/clusters/north/hosts/{host}");
        self.api().get(&path).body["state"].take()
    }

    /// Somebody reports the state of a host.
    fn report(&self, host: &str, state: &str) {
        let path = format!("/v1/clusters/north/hosts/{host}");
        let kind = [("content-type", "application/json")];
        let change = json!({"state": state}).to_string();
        let changed = self.api().ask("PATCH", &path, &kind, change.as_bytes());
        assert_eq!(changed.unwrap().status, 200);
    }
}

#[test]
fn vms_of_a_host_are_listed_by_size() {
    let desk = Desk::start();
    let cluster = json!({
        "name": "north",
        "hosts": [{"id": "h1", "cpu.total": 10, "memory.total": "64 GiB"}],
        "vms": [
            {"id": "a", "host": "h1", "cpu": 3, "memory": "1 GiB"},
            {"id": "b", "host": "h1", "cpu": 1, "memory": "8 GiB"},
            {"id": "c", "host": "h1", "cpu": 2, "memory": "4 GiB"},
        ],
    });
    let api = desk.api();
    let made = api.send("POST", "/v1/clusters?policy=general", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    let cookie = desk.sign_in(&desk.viewer);
    let vms = |query: &str| {
        let page = desk.page(&format!("/clusters/north/hosts/h1{query}"), &cookie);
        let links = page.split("href=\"/clusters/north/vms/").skip(1);
        let ids = links.filter_map(|it| it.split_once('"').map(|(id, _)| id.to_owned()));
        ids.collect::<Vec<_>>()
    };
    assert_eq!(vms(""), ["b", "c", "a"], "the largest first");
    assert_eq!(vms("?sort=-cpu"), ["a", "c", "b"]);
    assert_eq!(vms("?sort=id"), ["a", "b", "c"]);
}

#[test]
fn a_host_is_put_into_maintenance_and_back_after_what_would_go_where_was_shown() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let page = desk.page("/clusters/north/hosts/h1", &cookie);
    let question = "/clusters/north/hosts/h1/maintenance";
    assert!(page.contains(&format!("href=\"{question}\"")), "{page}");
    let list = desk.page("/clusters/north?view=table", &cookie);
    assert!(list.contains(&format!("href=\"{question}\"")), "{list}");
    assert!(list.contains("Take back into service"), "{list}");
    let asked = desk.page(question, &cookie);
    for part in [
        "Put h1 into maintenance?",
        "would move",
        "/clusters/north/vms/a",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert_eq!(desk.host_state("h1"), "up", "a question changes nothing");
    let act = |cookie: &str, from: &str, state: &str| {
        let form = [("from", from), ("state", state)];
        desk.browse("POST", "/clusters/north/hosts/h1/state", cookie, &form)
    };
    let done = act(&cookie, "up", "maintenance");
    assert_eq!(
        done.header("location"),
        "/clusters/north/hosts/h1",
        "{}",
        done.body
    );
    assert_eq!(desk.host_state("h1"), "maintenance");
    let page = desk.page("/clusters/north/hosts/h1", &cookie);
    assert!(page.contains("Take back into service"), "{page}");
    // What was seen must be so still: a host that is down by now is not said to be up.
    desk.report("h1", "down");
    let late = act(&cookie, "maintenance", "up");
    assert_eq!(late.status, 412, "{}", late.body);
    assert!(
        late.body.contains("Host h1 is down by now"),
        "{}",
        late.body
    );
    assert_eq!(desk.host_state("h1"), "down");
    desk.report("h1", "maintenance");
    assert_eq!(act(&cookie, "maintenance", "up").status, 303);
    assert_eq!(desk.host_state("h1"), "up");
    let planned = act(&cookie, "up", "maintenance-and-plan");
    assert_eq!(
        planned.header("location"),
        "/clusters/north/plans/1",
        "{}",
        planned.body
    );
    assert_eq!(desk.host_state("h1"), "maintenance");
    for wrong in ["", "down"] {
        assert_eq!(act(&cookie, "maintenance", wrong).status, 400, "{wrong}");
    }
    // Whoever may not is told who may.
    let viewer = desk.sign_in(&desk.viewer);
    for path in [
        "/clusters/north/hosts/h1",
        question,
        "/clusters/north?view=table",
    ] {
        let page = desk.page(path, &viewer);
        assert!(page.contains("needs the role operator"), "{path}: {page}");
    }
    assert_eq!(act(&viewer, "maintenance", "up").status, 403);
    assert_eq!(desk.host_state("h1"), "maintenance");
}

#[test]
fn a_plan_says_of_a_host_that_is_emptied_while_it_is_up_what_to_do_first() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let form = [("deed", "evacuate"), ("host", "h1")];
    let made = desk.browse("POST", "/clusters/north/plans", &cookie, &form);
    assert_eq!(made.status, 303, "{}", made.body);
    let page = desk.page("/clusters/north/plans/1", &cookie);
    for part in [
        "is up, so that new VMs may be placed on it while it is emptied.",
        "href=\"/clusters/north/hosts/h1/maintenance\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Host state"), "{page}");
}

#[test]
fn vms_of_a_host_that_is_down_are_nowhere_said_to_run() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    desk.report("h1", "down");
    for path in [
        "/clusters/north/vms",
        "/clusters/north/vms/a",
        "/clusters/north/hosts/h1",
    ] {
        let page = desk.page(path, &cookie);
        assert!(page.contains("host h1 is down"), "{path}: {page}");
    }
    let page = desk.page("/clusters/north/vms/a", &cookie);
    assert!(!page.contains("It runs on"), "{page}");
    let page = desk.page("/clusters/north/vms/c", &cookie);
    assert!(page.contains("runs; its host is in maintenance"), "{page}");
    let plan = desk
        .api()
        .send("POST", "/v1/clusters/north/plans", &json!({}));
    assert_eq!(plan.status, 201, "{plan:?}");
    let page = desk.page("/clusters/north/plans/1", &cookie);
    assert!(page.contains("is started on its new host"), "{page}");
    assert!(!page.contains("is stopped to be moved"), "{page}");
    let begin = [("deed", "begin"), ("move", "1")];
    let begun = desk.browse("POST", "/clusters/north/plans/1", &cookie, &begin);
    assert_eq!(begun.status, 303, "{}", begun.body);
    let vm = plan.body["moves"][0]["vm"].as_str().unwrap();
    let page = desk.page(&format!("/clusters/north/vms/{vm}"), &cookie);
    assert!(page.contains("to be started elsewhere"), "{page}");
}

#[test]
fn health_is_degraded_by_what_is_wrong_and_leads_to_it() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.admin);
    let page = desk.page("/", &cookie);
    // Two VMs of a hard group that keeps them apart are on one host.
    for part in [
        "Degraded",
        "href=\"/clusters/north/groups?kept=no\">1 hard group broken<",
        "1 VM on hosts not up",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Healthy"), "{page}");
    desk.report("h6", "down");
    desk.report("h5", "error");
    let page = desk.page("/", &cookie);
    for part in [
        "href=\"/clusters/north?state=down\">1 host down<",
        "href=\"/clusters/north?state=error\">1 host in error<",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let quiet =
        json!({"name": "quiet", "hosts": [{"id": "h1", "cpu.cores": 8, "memory.total": "64 GiB"}]});
    let made = desk.api().send("POST", "/v1/clusters?policy=house", &quiet);
    assert_eq!(made.status, 201, "{made:?}");
    let page = desk.page("/", &cookie);
    assert!(page.contains("Healthy"), "{page}");
}

#[test]
fn a_vm_is_migrated_where_its_page_said_and_the_page_tells_why_not_elsewhere() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let page = desk.page("/clusters/north/vms/a", &cookie);
    assert!(
        page.contains("href=\"/clusters/north/vms/a/migrate\""),
        "{page}"
    );
    let why = desk.page("/clusters/north/vms/a?why-not=h3", &cookie);
    assert!(why.contains("is not up: its state is maintenance"), "{why}");
    let why = desk.page("/clusters/north/vms/a?why-not=nowhere", &cookie);
    assert!(why.contains("no host"), "{why}");
    let tried = api.send(
        "POST",
        "/v1/clusters/north/migrate?dry-run=true",
        &json!({"id": "a"}),
    );
    let to = tried.body["host"].as_str().unwrap().to_owned();
    let path = "/clusters/north/vms/a/migrate";
    let asked = desk.page(path, &cookie);
    for part in [
        format!("Migrate it to {to}"),
        "It would go to".to_owned(),
        "where it costs least".to_owned(),
    ] {
        assert!(asked.contains(&part), "{part}: {asked}");
    }
    let only = desk.page(&format!("{path}?host=h3"), &cookie);
    assert!(only.contains("No host would take it"), "{only}");
    let reserved = || api.get("/v1/clusters/north/vms/a").body["reserved"]["host"].take();
    assert_eq!(reserved(), Value::Null, "questions change nothing");
    // What was only tried is told so, and nobody waits for it.
    assert!(asked.contains("which was only tried"), "{asked}");
    let decisions = desk.page("/clusters/north/decisions", &cookie);
    assert!(decisions.contains("only tried"), "{decisions}");
    let overview = desk.page("/", &cookie);
    assert!(!overview.contains("found no host"), "{overview}");
    let act =
        |cookie: &str, to: &str| desk.browse("POST", path, cookie, &[("host", ""), ("to", to)]);
    // Another host than the one that was shown is not taken instead.
    let other = if to == "h2" { "h4" } else { "h2" };
    let late = act(&cookie, other);
    assert_eq!(late.status, 409, "{}", late.body);
    assert!(late.body.contains("Nothing was moved"), "{}", late.body);
    let viewer = desk.sign_in(&desk.viewer);
    assert!(desk.page(path, &viewer).contains("needs the role operator"));
    assert_eq!(act(&viewer, &to).status, 403);
    assert_eq!(reserved(), Value::Null);
    let done = act(&cookie, &to);
    assert_eq!(
        done.header("location"),
        "/clusters/north/vms/a",
        "{}",
        done.body
    );
    assert_eq!(reserved(), to.as_str());
    let page = desk.page("/clusters/north/vms/a", &cookie);
    assert!(page.contains("on the move"), "{page}");
    assert_eq!(act(&cookie, "").status, 400);
}

#[test]
fn reservations_are_listed_confirmed_kept_longer_and_given_back() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let path = "/clusters/north/reservations";
    let page = desk.page(path, &cookie);
    for part in [
        "8 places are reserved",
        "/clusters/north/vms/v7",
        "to be started",
        "2 cores",
        "9 GiB",
        "decision 8",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let place = |vm: &str| {
        api.get(&format!("/v1/clusters/north/reservations/{vm}"))
            .body
    };
    let host = place("v1")["host"].as_str().unwrap().to_owned();
    let act = |cookie: &str, vm: &str, host: &str, deed: &str, back: &str| {
        let form = [("vm", vm), ("host", host), ("deed", deed), ("back", back)];
        desk.browse("POST", path, cookie, &form)
    };
    // A place that is on another host by now is not confirmed.
    let other = if host == "h1" { "h2" } else { "h1" };
    assert_eq!(act(&cookie, "v1", other, "confirm", "").status, 409);
    let viewer = desk.sign_in(&desk.viewer);
    let seen = desk.page(path, &viewer);
    for deed in ["Confirm", "Keep longer", "Give back"] {
        let barred =
            format!("aria-disabled=\"true\" title=\"needs the role operator\">{deed}</button>");
        assert_eq!(seen.matches(&barred).count(), 8, "{barred}: {seen}");
    }
    assert_eq!(act(&viewer, "v1", &host, "confirm", "").status, 403);
    assert_eq!(place("v1")["host"], host.as_str());
    let done = act(&cookie, "v1", &host, "confirm", "vm");
    assert_eq!(
        done.header("location"),
        "/clusters/north/vms/v1",
        "{}",
        done.body
    );
    assert_eq!(
        api.get("/v1/clusters/north/vms/v1").body["host"],
        host.as_str()
    );
    assert_eq!(act(&cookie, "v2", "", "renew", "").status, 303);
    // Of a VM that was only to be started nothing is left.
    let done = act(&cookie, "v2", "", "cancel", "vm");
    assert_eq!(done.header("location"), path, "{}", done.body);
    assert_eq!(api.get("/v1/clusters/north/vms/v2").status, 404);
    assert_eq!(act(&cookie, "v3", "", "keep", "").status, 400);
    let page = desk.page(path, &cookie);
    assert!(page.contains("6 places are reserved"), "{page}");
    // What is reserved to grow is shown as it is to be.
    let grown = json!({"id": "v1", "again": true, "memory": "12 GiB", "allowed": [host]});
    let decided = api.send("POST", "/v1/clusters/north/place", &grown);
    assert_eq!(decided.body["reserved"], true, "{:?}", decided.body);
    let page = desk.page(path, &cookie);
    for part in ["a change of its size", "12 GiB"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn lists_tell_what_of_a_filter_is_not_understood_and_find_ids_and_names() {
    let desk = Desk::start().with_cluster();
    let (api, cookie) = (desk.api(), desk.sign_in(&desk.admin));
    let host = json!({"id": "rack:7", "cpu.cores": 4, "memory.total": "8 GiB"});
    let made = api.send("PUT", "/v1/clusters/north/hosts/rack:7", &host);
    assert!(made.status < 300, "{:?}", made.body);
    let hosts = |filter: &str| desk.page(&format!("/clusters/north?filter={filter}"), &cookie);
    let own = "/clusters/north/hosts/rack%3A7\"";
    let (found, none) = (hosts("vms%3C%3D0"), hosts("vms%3E%3D1"));
    assert!(found.contains(own) && !none.contains(own), "{found}");
    let by_id = hosts("rack:7");
    assert!(
        by_id.contains(own) && !by_id.contains("No host has"),
        "{by_id}"
    );
    let wrong = hosts("cpu.usage%3E0.5");
    assert!(wrong.contains("is not understood"), "{wrong}");
    let vms = |query: &str| desk.page(&format!("/clusters/north/vms?{query}"), &cookie);
    let found = vms("text=V7&sort=-memory");
    assert!(found.contains("/clusters/north/vms/v7\""), "{found}");
    assert!(!found.contains("/clusters/north/vms/v1\""), "{found}");
}

#[test]
fn what_is_measured_is_refreshed_alone_and_only_where_it_is_another() {
    let desk = Desk::start().with_cluster();
    let cookie = desk.sign_in(&desk.viewer);
    let page = desk.page("/clusters/north?host=h1", &cookie);
    for part in [
        "data-measured=\"/clusters/north/map\"",
        "measured values as of",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let told = |query: &str| -> Value {
        let shown = desk.page(&format!("/clusters/north/map?host=h1{query}"), &cookie);
        serde_json::from_str(&shown).unwrap()
    };
    let first = told("");
    assert_eq!(first["now"]["rows"][0][0], "h1", "{first}");
    let known = format!("&known={}", first["digest"].as_str().unwrap());
    assert_eq!(told(&known), json!({"digest": first["digest"]}));
    let statistics = json!({"statistics": [{"id": "h1", "cpu.usage": 0.75}]});
    let path = "/v1/clusters/north/inventory/changes";
    let kind = [("content-type", "application/json")];
    let told_of = statistics.to_string();
    let changed = desk.api().ask("POST", path, &kind, told_of.as_bytes());
    assert_eq!(changed.unwrap().status, 200);
    let now = told(&known);
    assert_ne!(now["digest"], first["digest"]);
    assert_eq!(now["now"]["rows"][0][1], json!(["75.0", "75 %"]), "{now}");
    assert_eq!(now["now"]["layout"], first["now"]["layout"]);
    let panel = now["now"]["panel"].as_str().unwrap_or_default();
    assert!(panel.contains("6.75 cores used"), "{panel}");
    // Coloured by it, the cell is in another band.
    let cell = |answer: &Value| answer["now"]["bands"].as_str().map(|it| it.contains('5'));
    assert_eq!(cell(&now), Some(false));
    assert_eq!(cell(&told("&colour=cpu-used")), Some(true));
}
