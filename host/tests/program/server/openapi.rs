//! The OpenAPI document against the server, by a client that makes requests of it.

use std::process::Command;

use placewright_tests::server::Server;
use placewright_tests::target_folder;

use super::deployment::{Api, cluster};
use super::folder;

/// What is looked at in every answer.
const CHECKS: &str = "not_a_server_error,response_schema_conformance,content_type_conformance";

#[test]
fn requests_made_of_the_document_get_answers_that_it_describes() {
    let client = target_folder().join("schemathesis/bin/schemathesis");
    if !client.is_file() {
        eprintln!("{} is missing; tests/run installs it", client.display());
        return;
    }
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let made = Api::of(&server).send("POST", "/v1/clusters?policy=worst-fit", &cluster("0", 2));
    assert_eq!(made.status, 201);
    let output = Command::new(client)
        .current_dir(data.path())
        .args(["run", &format!("{}/v1/openapi.json", server.url)])
        .args(["--url", &server.url, "--checks", CHECKS])
        .args(["--phases", "coverage,fuzzing", "--max-examples", "3"])
        .args(["--seed", "1", "--generation-database", "none"])
        // Streams have no end, and no client knows how to make components.
        .args([
            "--exclude-path",
            "/v1/events",
            "--exclude-path",
            "/v1/clusters/{cluster}/inventory/follow",
            "--exclude-path",
            "/v1/units",
        ])
        .args([
            "--exclude-path",
            "/v1/units/check",
            "--exclude-path",
            "/v1/units/replay",
            "--exclude-path",
            "/v1/units/shadow",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert_eq!(Api::of(&server).get("/v1/ready").status, 200);
}
