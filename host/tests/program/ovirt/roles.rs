//! Who may do what, and how callers show who they are.

use super::Engine;
use crate::server::roles::token;

/// Where users and passwords are sent to.
const SIGN_IN: &str = "/ovirt-engine/sso/oauth/token";

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
        assert!(answer.contains(&secret), "{user}: {answer}");
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
        assert_eq!(status, 401, "{user}: {answer}");
        assert!(answer.contains("\"error\""), "{answer}");
    }
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
