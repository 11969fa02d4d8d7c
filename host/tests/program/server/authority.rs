//! What a token may do ends when it is taken away, and none is taken from others by a back door.

use std::fs;

use placewright_tests::server::Server;
use serde_json::json;

use super::deployment::{Api, cluster};
use super::folder;
use super::listener::Listener;
use super::roles::token;

#[test]
fn streams_end_when_their_token_is_taken_away_or_may_less_and_others_go_on() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (leaked, of_leaked) = token("viewer", None);
    let (narrowed, of_narrowed) = token("operator", None);
    let configuration = data.path().join("placewright.toml");
    fs::write(
        &configuration,
        format!("{of_admin}\n{of_leaked}\n{of_narrowed}"),
    )
    .unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let api = Api::with(&server, &admin);
    let made = api.send("POST", "/v1/clusters?policy=none", &cluster("beta", 1));
    assert_eq!(made.status, 201);

    let open = |token: &str| {
        ["/v1/events", "/v1/clusters/beta/inventory/follow"]
            .map(|path| Listener::open_as(&server, path, token))
    };
    let (mut of_admin_streams, of_others) = (open(&admin), [open(&leaked), open(&narrowed)]);
    let fewer = of_narrowed.replace("[[tokens]]", "[[tokens]]\nclusters = [\"alpha\"]");
    assert_ne!(fewer, of_narrowed);
    fs::write(&configuration, format!("{of_admin}\n{fewer}")).unwrap();
    let told = api.ask("POST", "/v1/reload", &[], b"").unwrap();
    assert_eq!(told.status, 200, "{told:?}");

    for mut stream in of_others.into_iter().flatten() {
        // It ends after what was sent before.
        while stream.named().is_some() {}
    }
    let vm = json!({"id": "v", "cpu": 1, "memory": "1 GiB"});
    assert_eq!(api.send("POST", "/v1/clusters/beta/place", &vm).status, 200);
    for stream in &mut of_admin_streams {
        let tells = |it: (String, serde_json::Value)| it.1.to_string().contains("\"v\"");
        while !tells(stream.named().expect("the admin's stream goes on")) {}
    }
}

#[test]
fn a_request_that_waits_for_room_ends_when_its_token_is_taken_away() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (operator, of_operator) = token("operator", None);
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, format!("{of_admin}\n{of_operator}")).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (api, operator) = (Api::with(&server, &admin), Api::with(&server, &operator));
    let headers = [("content-type", "application/json"), ("if-none-match", "*")];
    let policy = json!({"filters": [{"unit": "cpu", "settings": {"overcommit": 1}}]});
    let made = api.ask(
        "PUT",
        "/v1/policies/tight",
        &headers,
        policy.to_string().as_bytes(),
    );
    assert_eq!(made.unwrap().status, 200);
    let host = json!({"id": "h", "cpu.cores": 4, "memory.total": "8 GiB"});
    let cluster = json!({"name": "c", "hosts": [host]});
    let made = api.send("POST", "/v1/clusters?policy=tight", &cluster);
    assert_eq!(made.status, 201, "{made:?}");
    let vm = |id: &str| json!({"id": id, "cpu": 4, "memory": "1 GiB"});
    let placed = operator.send("POST", "/v1/clusters/c/place", &vm("v"));
    assert_eq!(placed.status, 200, "{placed:?}");

    let waiting = std::thread::spawn(move || {
        operator.send("POST", "/v1/clusters/c/place?wait=300", &vm("w"))
    });
    let refused = "placewright_decisions_total{cluster=\"c\",outcome=\"rejected\"} 1";
    while !metrics(&api).contains(refused) {
        assert!(!waiting.is_finished(), "it waits for room");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    fs::write(&configuration, of_admin).unwrap();
    assert_eq!(api.ask("POST", "/v1/reload", &[], b"").unwrap().status, 200);
    let ended = waiting.join().unwrap();
    assert_eq!(ended.status, 401, "{ended:?}");
    // Room that comes later is not taken for it.
    let cancelled = api.send("POST", "/v1/clusters/c/cancel", &json!({"vms": ["v"]}));
    assert_eq!(cancelled.status, 204, "{cancelled:?}");
    let vms = api.get("/v1/clusters/c/vms").body;
    assert_eq!(vms["items"], json!([]));
}

fn metrics(api: &Api) -> String {
    let body = api.get("/metrics").body;
    body.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_server_that_has_tokens_never_takes_over_a_configuration_without_any() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, &of_admin).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let api = Api::with(&server, &admin);
    // As by a tool that empties a file before it writes it anew.
    fs::write(&configuration, "").unwrap();
    let refused = api.ask("POST", "/v1/reload", &[], b"").unwrap();
    assert_eq!(refused.status, 422, "{refused:?}");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("there are no tokens any more"), "{detail}");
    assert_eq!(Api::of(&server).get("/v1/clusters").status, 401);
    assert_eq!(api.get("/v1/clusters").status, 200);
}

#[test]
fn a_policy_that_is_not_shown_cannot_be_attached_and_stays_its_authors() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (mine, of_mine) = token("policy-author", Some("mine"));
    let (theirs, of_theirs) = token("policy-author", Some("theirs"));
    let configuration = data.path().join("placewright.toml");
    fs::write(
        &configuration,
        format!("{of_admin}\n{of_mine}\n{of_theirs}"),
    )
    .unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let [admin, mine, theirs] = [&admin, &mine, &theirs].map(|it| Api::with(&server, it));
    for name in ["mine", "theirs"] {
        let made = admin.send("POST", "/v1/clusters?policy=none", &cluster(name, 1));
        assert_eq!(made.status, 201);
    }
    let put = |api: &Api, path: &str, condition: (&str, &str), body: &serde_json::Value| {
        let headers = [("content-type", "application/json"), condition];
        let body = body.to_string();
        api.ask("PUT", path, &headers, body.as_bytes()).unwrap()
    };
    let (new, any) = (("if-none-match", "*"), ("if-match", "*"));
    let text = json!({"filters": [{"unit": "worst-fit"}]});
    let made = put(&theirs, "/v1/policies/secretive", new, &text);
    assert_eq!(made.status, 200, "{made:?}");

    let settings = json!({"policy": "secretive"});
    let refused = put(&mine, "/v1/clusters/mine/settings", any, &settings);
    assert_eq!(refused.status, 404, "{refused:?}");
    assert_eq!(mine.get("/v1/policies/secretive").status, 404);
    assert_eq!(
        put(&theirs, "/v1/policies/secretive", any, &text).status,
        200
    );

    // As for a name that nobody has given: it tells nothing of what there is.
    let unknown = put(
        &mine,
        "/v1/clusters/mine/settings",
        any,
        &json!({"policy": "secretivf"}),
    );
    let sentence = |it: &super::deployment::Answer| it.body["detail"].as_str().unwrap().to_owned();
    assert_eq!(
        sentence(&refused).replace("secretive", "X"),
        sentence(&unknown).replace("secretivf", "X")
    );
}

#[test]
fn overrides_of_a_cluster_are_bounded() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 1));
    assert_eq!(made.status, 201);
    let overrides: serde_json::Map<_, _> = (0..257)
        .map(|it| (format!("entry-{it}"), json!({"factor": 2})))
        .collect();
    let body = json!({"policy": "worst-fit", "overrides": overrides}).to_string();
    let headers = [("content-type", "application/json"), ("if-match", "*")];
    let path = "/v1/clusters/c/settings";
    let refused = api.ask("PUT", path, &headers, body.as_bytes()).unwrap();
    assert_eq!(
        (refused.status, refused.body["detail"].as_str().unwrap()),
        (
            422,
            "the overrides of cluster \"c\" would be 257, and may be 256: write a policy of the cluster's own"
        )
    );
}
