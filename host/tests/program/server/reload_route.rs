//! `POST /v1/reload` does what SIGHUP does, and says what came of it.

use std::fs;

use placewright_tests::server::Server;
use serde_json::json;

use super::access::token;
use super::deployment::Api;
use super::folder;

#[test]
fn what_was_read_anew_is_told_and_what_was_refused() {
    let data = folder();
    let (alice, of_alice) = token(&["--name", "alice", "--role", "admin"]);
    let (bob, of_bob) = token(&["--name", "bob", "--role", "policy-author"]);
    let config = data.path().join("placewright.toml");
    fs::write(&config, &of_alice).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let (alice, bob) = (Api::with(&server, &alice), Api::with(&server, &bob));
    assert_eq!(bob.get("/v1/clusters").status, 401);

    fs::write(
        &config,
        format!("decision-wait = \"3 s\"\n{of_alice}\n{of_bob}"),
    )
    .unwrap();
    let told = alice.ask("POST", "/v1/reload", &[], b"").unwrap();
    assert_eq!(told.status, 200, "{told:?}");
    let expected = json!({"tokens": 2, "trusted-keys": 0, "revoked": 0, "certificate": false, "needs-restart": ["decision-wait"]});
    assert_eq!(told.body, expected);
    assert_eq!(bob.get("/v1/clusters").status, 200);
    // Only admins may.
    let refused = bob.ask("POST", "/v1/reload", &[], b"").unwrap();
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (403, &json!("forbidden"))
    );

    fs::write(&config, format!("require-signatures = true\n{of_bob}")).unwrap();
    let refused = alice.ask("POST", "/v1/reload", &[], b"").unwrap();
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (422, &json!("unprocessable"))
    );
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("all is as before"), "{detail}");
    assert!(detail.contains("[[trusted-keys]]"), "{detail}");
    assert_eq!(alice.get("/v1/clusters").status, 200);
    let metrics = alice.get("/metrics").body;
    let metrics = metrics.as_str().unwrap();
    for line in [
        "placewright_configuration_reloads_total 1",
        "placewright_configuration_reload_failures_total 1",
    ] {
        assert!(metrics.lines().any(|told| told == line), "{line}");
    }
}
