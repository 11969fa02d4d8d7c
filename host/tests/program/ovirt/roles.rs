//! Who may do what, and how callers show who they are.

use serde_json::Value;

use super::Engine;
use crate::server::roles::token;

/// Where users and passwords are sent to.
const SIGN_IN: &str = "/ovirt-engine/sso/oauth/token";

/// Where what was signed in with is sent to.
const SIGN_OUT: &str = "/ovirt-engine/services/sso-logout";

fn sign_in(engine: &Engine, user: &str, password: &str) -> (u16, String) {
    let form = format!(
        "grant_type=password&scope=ovirt-app-api&username={}&password={password}",
        user.replace('@', "%40")
    );
    let kind = "application/x-www-form-urlencoded";
    engine.ask_as("", "POST", SIGN_IN, (kind, form.as_bytes()))
}

#[test]
fn users_are_tokens_by_name_and_secret() {
    let engine = Engine::start();
    let secret = engine.secret.clone();
    for user in ["admin", "admin@internal", "admin@internal@internalsso"] {
        let (status, answer) = sign_in(&engine, user, &secret);
        assert_eq!(status, 200, "{user}: {answer}");
        // Each sign-in gives a secret of its own, which is not that of the token.
        assert!(!answer.contains(&secret), "{user}: {answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let given = answer["access_token"].as_str().unwrap();
        assert!(given.starts_with("pw_"), "{user}: {given}");
    }
    for (user, password) in [
        ("admin", "wrong"),
        ("admin", ""),
        ("other", &*secret),
        ("adm", &*secret),
        ("administrator", &*secret),
        ("", ""),
    ] {
        let (status, answer) = sign_in(&engine, user, password);
        // As an engine has it.
        assert_eq!(status, 400, "{user}: {answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error_code"], "access_denied", "{answer}");
        assert!(answer["error"].is_string(), "{answer}");
    }
}

#[test]
fn a_sign_in_ends_with_its_sign_out_and_the_token_stays() {
    let engine = Engine::start();
    let begin = || {
        let (status, answer) = sign_in(&engine, "admin@internal", &engine.secret);
        assert_eq!(status, 200, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["access_token"].as_str().unwrap().to_owned()
    };
    let ask = |secret: &str| {
        let path = "/ovirt-engine/api/clusters";
        let shown = format!("Bearer {secret}");
        engine
            .ask_as(&shown, "GET", path, ("application/xml", b""))
            .0
    };
    let (one, other) = (begin(), begin());
    assert_ne!(one, other);
    assert_eq!((ask(&one), ask(&other)), (200, 200));
    // It also stands for the token in our own API.
    let shown = format!("Bearer {one}");
    let own = engine.ask_as(&shown, "GET", "/v1/clusters", ("application/json", b""));
    assert_eq!(own.0, 200, "{}", own.1);
    let end = |secret: &str| {
        let form = format!("scope=ovirt-app-api&token={secret}");
        let kind = "application/x-www-form-urlencoded";
        engine.ask_as("", "POST", SIGN_OUT, (kind, form.as_bytes()))
    };
    for secret in [&*one, "pw_never-given", &engine.secret] {
        let (status, answer) = end(secret);
        assert_eq!((status, answer.as_str()), (200, "{}"), "{secret}");
    }
    assert_eq!((ask(&one), ask(&other)), (401, 200));
    assert_eq!(ask(&engine.secret), 200);
}

#[test]
fn a_secret_comes_as_bearer_or_as_password() {
    let engine = Engine::start();
    let ask = |shown: &str| {
        let path = "/ovirt-engine/api/clusters";
        engine
            .ask_as(shown, "GET", path, ("application/xml", b""))
            .0
    };
    // admin:SECRET in Base64, as curl --user sends it.
    let pair = format!("admin@internal:{}", engine.secret);
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut basic = String::from("Basic ");
    for part in pair.as_bytes().chunks(3) {
        let bits = part
            .iter()
            .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - part.len()));
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place) & 63) as usize;
            basic.push(if place > part.len() {
                '='
            } else {
                char::from(alphabet[index])
            });
        }
    }
    assert_eq!(ask(&basic), 200);
    assert_eq!(ask(&format!("Bearer {}", engine.secret)), 200);
    for wrong in ["", "Basic", "Basic !", "Basic YWRtaW46", "Bearer wrong"] {
        assert_eq!(ask(wrong), 401, "{wrong}");
    }
}

#[test]
fn each_role_may_what_it_may_in_our_own_api() {
    let (viewer, of_viewer) = token("viewer", None);
    let (author, of_author) = token("policy-author", Some("Other"));
    let engine = Engine::start_with(&format!("{of_viewer}\n{of_author}"));
    let kind = "application/xml";
    let ask = |secret: &str, method: &str, path: &str, body: &str| {
        let path = format!("/ovirt-engine/api/{path}");
        engine.ask_as(
            &format!("Bearer {secret}"),
            method,
            &path,
            (kind, body.as_bytes()),
        )
    };
    let policy = "<scheduling_policy><name>p</name></scheduling_policy>";
    assert_eq!(ask(&viewer, "GET", "schedulingpolicies", "").0, 200);
    let refused = ask(&viewer, "POST", "schedulingpolicies", policy);
    assert_eq!(refused.0, 403, "{}", refused.1);
    assert!(refused.1.contains("<fault>"), "{}", refused.1);
    // A cluster that a token is not for is not there for it.
    let (_, clusters) = ask(&author, "GET", "clusters", "");
    assert!(!clusters.contains("Default"), "{clusters}");
    let (_, all) = engine.xml("GET", "clusters", "");
    let (_, after) = all
        .split_once("<cluster href=\"/ovirt-engine/api/")
        .unwrap();
    let (cluster, _) = after.split_once('"').unwrap();
    let change = "<cluster><scheduling_policy><name>none</name></scheduling_policy></cluster>";
    assert_eq!(ask(&author, "PUT", cluster, change).0, 404);
    assert_eq!(ask(&viewer, "PUT", cluster, change).0, 403);
    assert_eq!(ask(&author, "POST", "schedulingpolicies", policy).0, 201);
}
