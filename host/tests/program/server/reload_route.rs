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
    assert!(detail.contains("nothing has changed"), "{detail}");
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

#[test]
fn a_configuration_that_is_still_being_written_never_counts() {
    use std::io::Write;
    let data = folder();
    let (alice, of_alice) = token(&["--name", "alice", "--role", "admin"]);
    let (bob, of_bob) = token(&["--name", "bob", "--role", "viewer"]);
    let config = data.path().join("placewright.toml");
    let whole = format!("{of_alice}\n{of_bob}");
    fs::write(&config, &whole).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let (alice, bob) = (Api::with(&server, &alice), Api::with(&server, &bob));
    let reload = || alice.ask("POST", "/v1/reload", &[], b"").unwrap();

    // A writer that pauses where the text could end: bob would be locked out.
    let mut writer = fs::File::create(&config).unwrap();
    writer.write_all(of_alice.as_bytes()).unwrap();
    let refused = reload();
    assert_eq!(refused.status, 422, "{refused:?}");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("still being written"), "{detail}");
    assert!(detail.contains("nothing has changed"), "{detail}");
    assert_eq!(bob.get("/v1/clusters").status, 200);
    writer.write_all(format!("\n{of_bob}").as_bytes()).unwrap();
    drop(writer);
    assert_eq!(reload().body["tokens"], 2);

    // The same text in every way in which it is put there.
    let beside = data.path().join("beside");
    for way in ["rename", "truncate and write", "copy"] {
        match way {
            "rename" => {
                fs::write(&beside, &whole).unwrap();
                fs::rename(&beside, &config).unwrap();
            }
            "copy" => {
                fs::write(&beside, &whole).unwrap();
                fs::copy(&beside, &config).unwrap();
            }
            _ => fs::write(&config, &whole).unwrap(),
        }
        assert_eq!(reload().body["tokens"], 2, "{way}");
        assert_eq!(bob.get("/v1/clusters").status, 200, "{way}");
    }
}
