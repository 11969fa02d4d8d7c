//! Tokens of a server, from the command that makes them to the routes that ask.

use std::collections::BTreeMap;
use std::fs;

use placewright_api::{RULES, Role, Scope};
use placewright_document::Word;
use placewright_tests::server::{Server, placewright};

use super::{folder, get, json};

/// Make a token: its secret, and the lines for the configuration.
pub(super) fn token(words: &[&str]) -> (String, String) {
    let output = placewright(["token", "new"]).args(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let secret = said.lines().find(|line| line.starts_with("pw_"));
    (secret.unwrap().to_owned(), text)
}

#[test]
fn the_lines_that_token_new_prints_let_its_secret_in() {
    let data = folder();
    let (alice, alice_lines) = token(&["--name", "alice \"a\"", "--role", "viewer"]);
    let (bob, bob_lines) = token(&["--name", "bob", "--role", "admin", "--cluster", "east"]);
    assert!(!alice_lines.replace(&alice, "").contains(&alice[3..]));
    let config = data.path().join("placewright.toml");
    fs::write(&config, format!("{alice_lines}\n{bob_lines}")).unwrap();
    let config = config.display().to_string();
    let server = Server::start(data.path(), &["--config", &config]);
    let metrics = format!("{}/metrics", server.url);
    assert_eq!(get(&metrics, Some(&alice)).0, 200);
    let (status, body) = get(&metrics, Some(&bob));
    assert_eq!((status, &json(&body)["code"]), (403, &"forbidden".into()));
    for wrong in [None, Some("pw_0"), Some("")] {
        let (status, body) = get(&metrics, wrong);
        assert_eq!(
            (status, &json(&body)["code"]),
            (401, &"unauthorized".into())
        );
    }
    assert_eq!(get(&format!("{}/v1/health", server.url), None).0, 200);
}

/// Every route of the document, with a token of every role: none is let through whose
/// role is too low, and none is refused whose role is enough.
#[test]
fn every_route_asks_for_the_role_that_its_rule_names() {
    let data = folder();
    let mut lines = String::new();
    let mut secrets = BTreeMap::new();
    for (word, role) in Role::WORDS {
        let (secret, text) = token(&["--name", word, "--role", word]);
        lines.push_str(&text);
        secrets.insert(*role, secret);
    }
    let (scoped, text) = token(&[
        "--name",
        "scoped",
        "--role",
        "admin",
        "--cluster",
        "no-such",
    ]);
    lines.push_str(&text);
    let config = data.path().join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let config = config.display().to_string();
    let server = Server::start(data.path(), &["--config", &config]);
    for rule in RULES {
        let path: Vec<&str> = rule
            .path
            .split('/')
            .map(|part| if part.starts_with('{') { "x" } else { part })
            .collect();
        let url = format!("{}{}", server.url, path.join("/"));
        let status = |token: Option<&str>| {
            let mut request = ureq::http::Request::builder().method(rule.method).uri(&url);
            if let Some(token) = token {
                request = request.header("Authorization", format!("Bearer {token}"));
            }
            let request = request.body(()).unwrap();
            super::client().run(request).unwrap().status().as_u16()
        };
        let shown = format!("{} {}", rule.method, rule.path);
        let Some((permission, scope)) = rule.needs else {
            assert!(![401, 403].contains(&status(None)), "{shown}");
            continue;
        };
        assert_eq!(status(None), 401, "{shown}");
        for (role, secret) in &secrets {
            let refused = [401, 403].contains(&status(Some(secret)));
            assert_eq!(refused, !role.allows(permission), "{shown} {}", role.word());
        }
        if scope != Scope::Any {
            assert_eq!(status(Some(&scoped)), 403, "{shown}");
        }
    }
}
