//! Lists of hosts, VMs and groups: filtered, sorted, a page at a time.

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::Api;
use super::folder;

fn inventory() -> Value {
    json!({
        "name": "c",
        "attributes": { "hosts": { "rack": "text" }, "vms": { "team": "text", "size": "integer" } },
        "hosts": [
            { "id": "h1", "zone": "z1", "cpu.cores": 8, "memory.total": "64 GiB", "attribute.rack": "r1" },
            { "id": "h2", "zone": "z2", "cpu.cores": 8, "memory.total": "16 GiB", "attribute.rack": "r1" },
            { "id": "h3", "zone": "z2", "cpu.cores": 8, "memory.total": "32 GiB", "state": "maintenance", "name": "Spare" }
        ],
        "vms": [
            { "id": "a", "host": "h1", "cpu": 1, "memory": "3 GiB", "tenant": "t", "attribute.team": "shop", "attribute.size": 2 },
            { "id": "b", "host": "h1", "cpu": 1, "memory": "1 GiB", "state": "up", "name": "Web" },
            { "id": "c", "host": "h2", "cpu": 1, "memory": "2 GiB", "attribute.team": "shop" },
            { "id": "d", "host": "h2", "cpu": 1, "memory": "2 GiB", "pending": true }
        ],
        "groups": [
            { "id": "g", "vms": ["a", "d", "not-there"], "hosts": ["h2"], "rule": "negative" },
            { "id": "other", "name": "Group", "vms": ["b"], "rule": "positive" }
        ],
        "tenants": [{ "id": "t" }, { "id": "u" }]
    })
}

/// The ids of a list, over all of its pages of so many.
fn listed(api: &Api, list: &str, limit: usize) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let sign = if list.contains('?') { '&' } else { '?' };
        let path = format!("/v1/clusters/c/{list}{sign}limit={limit}{after}");
        let page = api.get(&path);
        assert_eq!(page.status, 200, "{path}: {page:?}");
        let items = page.body["items"].as_array().unwrap().iter();
        ids.extend(items.map(|it| it["id"].as_str().unwrap().to_owned()));
        let Some(next) = page.body["next"].as_str() else {
            return ids;
        };
        let escaped = next.bytes().map(|byte| format!("%{byte:02X}"));
        after = format!("&after={}", escaped.collect::<String>());
    }
}

#[test]
fn lists_have_what_fits_every_filter_in_the_order_that_is_asked_for() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &inventory());
    assert_eq!(made.status, 201, "{made:?}");
    for (list, ids) in [
        ("hosts", &["h1", "h2", "h3"][..]),
        ("hosts?zone=z2", &["h2", "h3"]),
        ("hosts?zone=z2&state=up", &["h2"]),
        ("hosts?group=g", &["h2"]),
        ("hosts?attribute=rack:r1", &["h1", "h2"]),
        ("hosts?text=spare", &["h3"]),
        ("hosts?sort=memory.total", &["h2", "h3", "h1"]),
        ("hosts?sort=-memory.total", &["h1", "h3", "h2"]),
        ("hosts?sort=name", &["h3", "h1", "h2"]),
        ("vms", &["a", "b", "c", "d"]),
        ("vms?group=g", &["a", "d"]),
        ("vms?host=h1&group=g", &["a"]),
        ("vms?tenant=t", &["a"]),
        // What runs is up if nothing else was told of it.
        ("vms?state=up", &["a", "b", "c"]),
        ("vms?state=paused", &[]),
        ("vms?text=WEB", &["b"]),
        ("vms?pending=true", &["d"]),
        ("vms?attribute=team:shop", &["a", "c"]),
        ("vms?attribute=team:shop&attribute=size:2", &["a"]),
        ("vms?sort=-memory", &["a", "c", "d", "b"]),
        ("vms?sort=attribute.size", &["a", "b", "c", "d"]),
        ("vms?sort=-id", &["d", "c", "b", "a"]),
        ("groups?vm=a", &["g"]),
        ("groups?vm=not-there", &["g"]),
        ("groups?host=h2", &["g"]),
        ("groups?text=group", &["other"]),
        ("tenants?text=U", &["u"]),
    ] {
        for limit in [1, 2, 1000] {
            assert_eq!(listed(&api, list, limit), ids, "{list}, {limit} at a time");
        }
    }
}

#[test]
fn decisions_are_listed_by_vm_host_and_outcome_a_page_at_a_time() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &inventory());
    for (id, cpu, host) in [
        ("x", 1, "h1"),
        ("y", 1, "h2"),
        ("big", 100, "h1"),
        ("X2", 1, "h1"),
    ] {
        let vm = json!({"id": id, "cpu": cpu, "memory": "1 GiB", "allowed": [host]});
        api.send("POST", "/v1/clusters/c/place", &vm);
    }
    let listed = |filter: &str, limit: usize| {
        let mut numbers = Vec::new();
        let mut after = String::new();
        loop {
            let path = format!("/v1/clusters/c/decisions?limit={limit}{filter}{after}");
            let page = api.get(&path);
            assert_eq!(page.status, 200, "{page:?}");
            let items = page.body["items"].as_array().unwrap();
            numbers.extend(items.iter().map(|it| it["number"].as_u64().unwrap()));
            match page.body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return numbers,
            }
        }
    };
    for (filter, numbers) in [
        ("", &[4, 3, 2, 1][..]),
        ("&vm=x", &[1]),
        ("&vm=nobody", &[]),
        ("&host=h1", &[4, 1]),
        ("&placed=false", &[3]),
        ("&placed=true&text=x", &[4, 1]),
        ("&text=H2", &[2]),
    ] {
        for limit in [1, 2, 1000] {
            assert_eq!(
                listed(filter, limit),
                numbers,
                "{filter}, {limit} at a time"
            );
        }
    }
    let refused = api.get("/v1/clusters/c/decisions?placed=perhaps");
    assert_eq!(refused.status, 400, "{refused:?}");
}

#[test]
fn filters_orders_and_cursors_that_make_no_sense_are_refused_with_what_was_meant() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &inventory());
    for (list, sentence) in [
        ("hosts?stat=up", "\"stat\""),
        ("hosts?state=asleep", "\"state\" must be"),
        ("hosts?group=gg", "there is no group \"gg\""),
        (
            "vms?host=h11",
            "there is no host \"h11\"; did you mean \"h1\"?",
        ),
        ("vms?tenant=nope", "there is no tenant \"nope\""),
        ("vms?state=asleep", "\"state\" must be"),
        ("groups?vm=nope", "there is no VM \"nope\""),
        ("groups?host=nope", "there is no host \"nope\""),
        ("hosts?attribute=rak:r1", "did you mean \"rack\"?"),
        ("hosts?attribute=rack", "NAME:VALUE"),
        ("vms?attribute=size:big", "an integer"),
        (
            "vms?attribute=rack:r1",
            "VMs of this cluster have no attribute \"rack\"",
        ),
        ("vms?sort=memry", "did you mean \"memory\"?"),
        ("vms?sort=-memory&after=a", "\"after\""),
        ("vms?after=[\"-memory\",1,\"a\"]", "\"after\""),
        ("vms?pending=perhaps", "\"pending\""),
        ("vms?limit=1001", "\"limit\""),
        ("plans?after=x", "\"after\" must be the number of a plan"),
        (
            "decisions?after=x",
            "\"after\" must be the number of a decision",
        ),
    ] {
        let list = list
            .replace('[', "%5B")
            .replace(']', "%5D")
            .replace('"', "%22");
        let refused = api.get(&format!("/v1/clusters/c/{list}"));
        let detail = refused.body["detail"].as_str().unwrap_or_default();
        assert!(
            refused.status == 400 && detail.contains(sentence),
            "{list}: {refused:?}"
        );
    }
}

#[test]
fn members_come_into_a_group_and_go_one_by_one() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &inventory());
    let group = "/v1/clusters/c/groups/g";
    let tag = api.get(group).etag.unwrap();
    let ask = |method: &str, member: &str, headers: &[(&str, &str)]| {
        api.ask(method, &format!("{group}/{member}"), headers, b"")
            .unwrap()
    };
    let added = ask("PUT", "vms/b", &[("if-match", &tag)]);
    assert_eq!(added.status, 200, "{added:?}");
    assert_eq!(added.body["vms"], json!(["a", "d", "not-there", "b"]));
    // Repeated it changes nothing; by an old tag it is refused.
    assert_eq!(ask("PUT", "vms/b", &[]).etag, added.etag);
    assert_eq!(ask("DELETE", "vms/b", &[("if-match", &tag)]).status, 412);
    let removed = ask("DELETE", "vms/a", &[]);
    assert_eq!(removed.body["vms"], json!(["d", "not-there", "b"]));
    assert_eq!(
        ask("PUT", "hosts/h1", &[]).body["hosts"],
        json!(["h2", "h1"])
    );
    let unknown = ask("PUT", "hosts/h9", &[]);
    assert!((400..500).contains(&unknown.status), "{unknown:?}");
    assert_eq!(ask("DELETE", "hosts/h2", &[]).body["hosts"], json!(["h1"]));
    let nobody = api
        .ask("PUT", "/v1/clusters/c/groups/x/vms/a", &[], b"")
        .unwrap();
    assert_eq!(nobody.status, 404, "{nobody:?}");
}

#[test]
fn a_page_of_large_rows_ends_early_and_pages_together_are_the_list() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let names = (0..100).map(|number| format!("a{number}"));
    let kinds: Value = names.clone().map(|name| (name, json!("text"))).collect();
    let rows = (0..30).map(|number| {
        let mut host =
            json!({"id": format!("h{number:02}"), "cpu.cores": 8, "memory.total": "8 GiB"});
        for name in names.clone() {
            host[format!("attribute.{name}")] = json!("x".repeat(4000));
        }
        host
    });
    let cluster = json!({
        "name": "c", "attributes": {"hosts": kinds}, "hosts": rows.collect::<Vec<_>>(),
    });
    let made = api.send("POST", "/v1/clusters?policy=none", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let page = api
            .get(&format!("/v1/clusters/c/hosts?limit=1000{after}"))
            .body;
        let items = page["items"].as_array().unwrap();
        // Some 400 kB each, and 4 MiB of a page.
        assert!((1..=11).contains(&items.len()), "{}", items.len());
        ids.extend(items.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    let expected: Vec<String> = (0..30).map(|number| format!("h{number:02}")).collect();
    assert_eq!(ids, expected);
}
