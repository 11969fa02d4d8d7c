//! What stands still for a while: a cluster that cannot be read, a process that is stopped.

use std::thread;
use std::time::Duration;

use placewright_store::{Change, Store, StoreOptions};
use placewright_tests::server::Server;
use placewright_tests::waiting::wait_until;
use serde_json::{Value, json};

use super::deployment::{Api, cluster, vm};
use super::folder;

#[test]
fn a_cluster_that_cannot_be_read_is_counted_and_the_others_decide() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    for name in ["broken", "whole"] {
        let made = api.send("POST", "/v1/clusters?policy=none", &cluster(name, 1));
        assert_eq!(made.status, 201, "{made:?}");
    }
    let ready = api.get("/v1/ready").body;
    assert_eq!(ready, json!({"ready": true}));
    server.signal("TERM");
    assert!(server.ended().0.success());
    let store = Store::open(data.path(), StoreOptions::default()).unwrap();
    let spoil = Change::PutCluster {
        cluster: "broken".to_owned(),
        body: "no JSON".to_owned(),
    };
    store.commit(vec![spoil]).unwrap();
    drop(store);

    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let ready = api.get("/v1/ready");
    assert_eq!(ready.status, 200, "{ready:?}");
    assert_eq!(ready.body, json!({"ready": true, "broken-clusters": 1}));
    let metrics = api.get("/metrics").body;
    let metrics = metrics.as_str().unwrap();
    assert!(
        metrics.contains("placewright_clusters_broken 1"),
        "{metrics}"
    );
    let placed = api.send("POST", "/v1/clusters/whole/place", &vm("v"));
    assert_eq!(placed.status, 200, "{placed:?}");
    let refused = api.send("POST", "/v1/clusters/broken/place", &vm("v"));
    assert!(refused.status >= 500, "{refused:?}");
    let sentence = refused.body["detail"].as_str().unwrap();
    assert!(sentence.contains("\"broken\""), "{sentence}");
    let removed = api.send("DELETE", "/v1/clusters/broken", &Value::Null);
    assert_eq!(removed.status, 204, "{removed:?}");
    assert_eq!(api.get("/v1/ready").body, json!({"ready": true}));
}

#[test]
fn a_process_that_was_stopped_goes_on_with_what_became_due_meanwhile() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=none", &cluster("c", 1));
    for id in ["v1", "v2"] {
        let mut request = vm(id);
        request["reserve-for"] = json!(1);
        let placed = api.send("POST", "/v1/clusters/c/place", &request);
        assert_eq!(placed.body["reserved"], true, "{placed:?}");
    }
    // Longer than the reservations, and than many of the server's ticks.
    server.signal("STOP");
    thread::sleep(Duration::from_secs(3));
    server.signal("CONT");
    let expired = || {
        let metrics = api.get("/metrics").body;
        let counts = r#"placewright_reservations_ended_total{cluster="c",how="expired"} 2"#;
        metrics.as_str().unwrap().lines().any(|line| line == counts)
    };
    wait_until("the end of both reservations", expired);
    let reserved = api.get("/v1/clusters/c/reservations").body;
    assert_eq!(reserved["items"], json!([]));
    let placed = api.send("POST", "/v1/clusters/c/place", &vm("v1"));
    assert_eq!(placed.status, 200, "{placed:?}");
    server.signal("TERM");
    let (status, log) = server.ended();
    assert!(status.success(), "{log}");
}
