//! Every route of the OpenAPI document, called with tokens of every role.

use std::fs;

use placewright_tests::server::{Server, placewright};
use serde_json::json;

use super::deployment::{Api, cluster};
use super::folder;

const ROLES: [&str; 4] = ["viewer", "operator", "policy-author", "admin"];

/// A token, and the lines of the configuration that make it known.
fn token(role: &str, cluster: Option<&str>) -> (String, String) {
    let name = format!("{role}-{}", cluster.unwrap_or("all"));
    let mut command = placewright(["token", "new", "--name", &name, "--role", role]);
    if let Some(cluster) = cluster {
        command.args(["--cluster", cluster]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let secret = said
        .split_whitespace()
        .find(|word| word.starts_with("pw_"))
        .unwrap();
    let begin = said.find("[[tokens]]").unwrap();
    (secret.to_owned(), said[begin..].to_owned())
}

#[test]
fn tokens_of_too_low_a_role_or_for_another_cluster_are_refused_on_every_route() {
    let data = folder();
    let tokens: Vec<_> = ROLES.map(|role| token(role, None)).into();
    let (elsewhere, of_elsewhere) = token("admin", Some("elsewhere"));
    let lines: Vec<&str> = tokens.iter().map(|(_, lines)| lines.as_str()).collect();
    let configuration = data.path().join("placewright.toml");
    fs::write(&configuration, lines.join("\n") + "\n" + &of_elsewhere).unwrap();
    let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
    let admin = Api::with(&server, &tokens[3].0);
    assert_eq!(
        admin
            .send("POST", "/v1/clusters?policy=none", &cluster("c", 1))
            .status,
        201
    );
    let document = Api::of(&server).get("/v1/openapi.json").body;
    let mut routes = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(least) = operation["x-least-role"].as_str() else {
                continue;
            };
            routes += 1;
            let method = method.to_uppercase();
            let named = path
                .replace("{cluster}", "c")
                .replace("{number}", "1")
                .replace("{policy}", "nothing")
                .replace("{unit}", "nothing")
                .replace("{host}", "h0")
                .replace("{vm}", "v");
            let least = ROLES.iter().position(|role| *role == least).unwrap();
            let nobody = Api::of(&server).send(&method, &named, &json!({}));
            assert_eq!(nobody.status, 401, "{method} {named}");
            for (secret, _) in &tokens[..least] {
                let refused = Api::with(&server, secret).send(&method, &named, &json!({}));
                assert_eq!(refused.status, 403, "{method} {named}: {refused:?}");
            }
            if path.contains("{cluster}") {
                let refused = Api::with(&server, &elsewhere).send(&method, &named, &json!({}));
                assert_eq!(refused.status, 403, "{method} {named}: {refused:?}");
            }
        }
    }
    assert!(routes > 40, "{routes}");
    assert_eq!(admin.get("/v1/clusters/c").body["counted"]["vms"], json!(0));
    // Who may not see a cluster does not find it in lists.
    let seen = Api::with(&server, &elsewhere).get("/v1/clusters");
    assert_eq!(seen.body["items"], json!([]));
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
