//! The inventory of a cluster followed as it changes.

use std::collections::BTreeMap;

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::folder;
use super::listener::Listener;

const FOLLOW: &str = "/v1/clusters/c/inventory/follow";

fn served() -> (tempfile::TempDir, Server, Api) {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 3));
    assert_eq!(made.status, 201, "{made:?}");
    (data, server, api)
}

/// A copy of an inventory that is brought up to date by events alone.
#[derive(Default)]
struct Copy {
    version: u64,
    rows: BTreeMap<(String, String), Value>,
    resets: usize,
}

impl Copy {
    fn read(&mut self, kind: &str, event: &Value) {
        let version = event["version"].as_u64().unwrap();
        assert!(version >= self.version, "{version} after {}", self.version);
        self.version = version;
        self.resets += usize::from(kind == "reset");
        let key = |id: &Value| (kind.to_owned(), id.as_str().unwrap().to_owned());
        for item in event["items"].as_array().into_iter().flatten() {
            self.rows.insert(key(&item["id"]), item.clone());
        }
        for id in event["gone"].as_array().into_iter().flatten() {
            self.rows.remove(&key(id));
        }
    }

    /// Read on until it is so.
    fn until(&mut self, stream: &mut Listener, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            let (kind, event) = stream.named().expect("the stream goes on");
            self.read(&kind, &event);
        }
    }

    fn row(&self, kind: &str, id: &str) -> &Value {
        let row = self.rows.get(&(kind.to_owned(), id.to_owned()));
        row.unwrap_or(&Value::Null)
    }
}

#[test]
fn a_copy_that_is_kept_by_events_is_as_the_routes_show_it() {
    let (_data, server, api) = served();
    let mut stream = Listener::open_at(&server, FOLLOW, None);
    let (kind, begin) = stream.named().unwrap();
    assert_eq!(kind, "begin");
    let mut copy = Copy::default();
    copy.read(&kind, &begin);

    let change = |body: Value| {
        let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &body);
        assert_eq!(changed.status, 200, "{changed:?}");
    };
    for id in ["a", "b"] {
        assert_eq!(
            api.send("POST", "/v1/clusters/c/place", &vm(id)).status,
            200
        );
    }
    copy.until(&mut stream, |it| it.row("vms", "b")["reserved"].is_object());
    let confirmed = api.send("POST", "/v1/clusters/c/confirm", &json!({"vms": ["a"]}));
    assert_eq!(confirmed.status, 204, "{confirmed:?}");
    change(json!({
        "hosts": [{"id": "new", "cpu.cores": 4, "memory.total": "8 GiB"}],
        "groups": [{"id": "g", "rule": "negative", "vms": ["a", "b"]}],
        "tenants": [{"id": "t"}],
        "statistics": [{"id": "h0", "cpu.usage": 0.25}],
        "gone": {"hosts": ["h2"]}
    }));
    copy.until(&mut stream, |it| {
        it.row("vms", "a")["host"].is_string()
            && it.row("groups", "g").is_object()
            && it.row("tenants", "t").is_object()
            && it.row("hosts", "h0")["cpu.usage"] == 0.25
            && it.row("hosts", "new").is_object()
    });
    change(json!({"gone": {"vms": ["a"], "groups": ["g"]}}));
    copy.until(&mut stream, |it| {
        it.row("vms", "a").is_null() && it.row("groups", "g").is_null()
    });
    for ((kind, id), row) in &copy.rows {
        let shown = api.get(&format!("/v1/clusters/c/{kind}/{id}")).body;
        match kind.as_str() {
            // What VMs take of a host follows from them, and is not sent with every one.
            "hosts" => {
                for column in [
                    "id",
                    "state",
                    "cpu.cores",
                    "memory.total",
                    "cpu.usage",
                    "listed",
                ] {
                    assert_eq!(shown[column], row[column], "{id}: {column}");
                }
            }
            _ => assert_eq!(&shown, row, "{kind}/{id}"),
        }
    }
    assert!(copy.row("hosts", "new").is_object() && copy.row("vms", "b").is_object());
    assert_eq!(copy.resets, 0);

    // Whoever was away goes on after what was read last.
    let last = copy.version;
    assert_eq!(
        api.send("POST", "/v1/clusters/c/place", &vm("c")).status,
        200
    );
    let mut again = Listener::open_at(&server, FOLLOW, Some(last));
    copy.until(&mut again, |it| it.row("vms", "c").is_object());
    assert_eq!(copy.resets, 0);

    // Nobody follows what is gone.
    let deleted = api.send("DELETE", "/v1/clusters/c", &Value::Null);
    assert_eq!(deleted.status, 204, "{deleted:?}");
    while again.named().is_some() {}
}

#[test]
fn whoever_takes_gzip_reads_the_same_compressed_as_it_happens_and_to_its_end() {
    let (_data, server, api) = served();
    let mut early = Listener::open_compressed(&server, FOLLOW, None);
    let mut plain = Listener::open_at(&server, FOLLOW, None);
    let (mut packed, mut copy) = (Copy::default(), Copy::default());
    let place = |id: &str| {
        let placed = api.send("POST", "/v1/clusters/c/place", &vm(id));
        assert_eq!(placed.status, 200, "{placed:?}");
    };
    place("a");
    let is_reserved = |id: &'static str| move |it: &Copy| it.row("vms", id)["reserved"].is_object();
    packed.until(&mut early, is_reserved("a"));
    copy.until(&mut plain, is_reserved("a"));
    // One that comes later shares the parts that follow.
    let mut late = Listener::open_compressed(&server, FOLLOW, Some(copy.version));
    place("b");
    let mut of_late = Copy::default();
    for (copy, stream) in [
        (&mut packed, &mut early),
        (&mut copy, &mut plain),
        (&mut of_late, &mut late),
    ] {
        copy.until(stream, is_reserved("b"));
    }
    assert_eq!(packed.rows, copy.rows);
    assert_eq!(of_late.row("vms", "b"), copy.row("vms", "b"));
    let deleted = api.send("DELETE", "/v1/clusters/c", &Value::Null);
    assert_eq!(deleted.status, 204, "{deleted:?}");
    // The check sum at the end is right for both: else this would be no end, but an error.
    for mut stream in [early, late] {
        while stream.named().is_some() {}
        assert!(stream.has_ended_well());
    }
}

#[test]
fn a_stream_has_only_the_kinds_that_are_asked_for_from_the_version_on_that_is_given() {
    let (_data, server, api) = served();
    let mut first = Listener::open_at(&server, FOLLOW, None);
    let begin = first.named().unwrap().1["version"].as_u64().unwrap();
    let body = json!({
        "tenants": [{"id": "t"}],
        "hosts": [{"id": "h0", "state": "maintenance"}]
    });
    let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &body);
    assert_eq!(changed.status, 200, "{changed:?}");
    let path = format!("{FOLLOW}?after={begin}&kind=tenants&kind=groups");
    let (kind, event) = Listener::open_at(&server, &path, None).named().unwrap();
    assert_eq!(
        (kind.as_str(), &event["items"][0]["id"]),
        ("tenants", &json!("t"))
    );
}

#[test]
fn a_version_that_is_not_known_and_other_columns_lead_to_a_reset() {
    let (_data, server, api) = served();
    let mut stream = Listener::open_at(&server, FOLLOW, Some(u64::MAX - 1));
    assert_eq!(stream.named().unwrap().0, "reset");
    let body = json!({"attributes": {"hosts": {"rack": "text"}}});
    let changed = api.send("POST", "/v1/clusters/c/inventory/changes", &body);
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(stream.named().unwrap().0, "reset");
}

#[test]
fn a_version_of_before_a_restart_leads_to_a_reset() {
    let (data, server, api) = served();
    let version = Listener::open_at(&server, FOLLOW, None).named().unwrap().1["version"].as_u64();
    assert_eq!(
        api.send("POST", "/v1/clusters/c/place", &vm("v")).status,
        200
    );
    drop(server);
    let server = Server::start(data.path(), &[]);
    let mut stream = Listener::open_at(&server, FOLLOW, version);
    assert_eq!(stream.named().unwrap().0, "reset");
}

#[test]
fn a_kind_that_is_none_is_refused() {
    let (_data, _server, api) = served();
    let refused = api.get(&format!("{FOLLOW}?kind=host"));
    assert_eq!(
        (refused.status, refused.body["detail"].as_str().unwrap()),
        (
            400,
            "\"kind\" is hosts, vms, groups or tenants, and not \"host\""
        )
    );
    assert_eq!(api.get(&format!("{FOLLOW}?after=x")).status, 400);
    assert_eq!(api.get(&format!("{FOLLOW}?since=1")).status, 400);
}
