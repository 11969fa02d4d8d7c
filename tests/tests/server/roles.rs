//! What a token may do depends on the clusters that a policy decides in.

use std::fs;

use placewright_tests::server::{Server, placewright};
use serde_json::json;

use super::deployment::{Api, cluster};
use super::folder;

/// A token, and the lines of the configuration that make it known.
fn token(role: &str, cluster: Option<&str>) -> (String, String) {
    let name = format!("{role}-{}", cluster.unwrap_or("all"));
    let mut command = placewright(["token", "new", "--name", &name, "--role", role]);
    if let Some(cluster) = cluster {
        command.args(["--cluster", cluster]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let secret = said.lines().find(|line| line.starts_with("pw_"));
    let lines = String::from_utf8(output.stdout).unwrap();
    (secret.unwrap().to_owned(), lines)
}

#[test]
fn a_policy_is_edited_only_with_rights_on_every_cluster_where_it_decides() {
    let data = folder();
    let (admin, of_admin) = token("admin", None);
    let (author, of_author) = token("policy-author", Some("mine"));
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, of_admin + "\n" + &of_author).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let (admin, author) = (Api::with(&server, &admin), Api::with(&server, &author));
    author.send(
        "POST",
        "/v1/policies/worst-fit/clone",
        &json!({"name": "p"}),
    );
    for name in ["mine", "theirs"] {
        let made = admin.send("POST", "/v1/clusters?policy=none", &cluster(name, 1));
        assert_eq!(made.status, 201);
    }
    let attach = |api: &Api, cluster: &str| {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let path = format!("/v1/clusters/{cluster}/settings");
        api.ask("PUT", &path, &headers, br#"{"policy": "p"}"#)
            .unwrap()
            .status
    };
    let edit = |api: &Api| {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let text = br#"{"filters": [{"unit": "worst-fit"}]}"#;
        api.ask("PUT", "/v1/policies/p", &headers, text)
            .unwrap()
            .status
    };
    assert_eq!(
        (attach(&author, "mine"), attach(&author, "theirs")),
        (200, 403)
    );
    assert_eq!(edit(&author), 200);
    assert_eq!(attach(&admin, "theirs"), 200);
    assert_eq!((edit(&author), edit(&admin)), (403, 200));
}
