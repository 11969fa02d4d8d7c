use axum::http::HeaderName;

use super::*;
use crate::permission::Role;

fn access() -> (Access, Secret) {
    let secret = Secret::random().unwrap();
    let token = Token {
        name: "eve".into(),
        role: Role::Operator,
        sha256: secret.sha256(),
        clusters: Some(["east".into()].into()),
    };
    (Access::new(vec![token]), secret)
}

fn headers(name: &'static str, value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(name, value.parse().unwrap());
    headers
}

#[test]
fn the_right_secret_names_its_owner() {
    let (access, secret) = access();
    for scheme in ["Bearer", "bearer"] {
        let headers = headers("authorization", &format!("{scheme} {}", secret.reveal()));
        let caller = access.caller(&headers, bearer).unwrap();
        assert_eq!((&*caller.name, caller.role), ("eve", Role::Operator));
    }
}

#[test]
fn other_secrets_are_refused() {
    let (access, secret) = access();
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer pw_0",
        "Basic eve",
        secret.reveal(),
    ] {
        let problem = access
            .caller(&headers("authorization", value), bearer)
            .unwrap_err();
        assert_eq!(problem.code(), Code::Unauthorized, "{value}");
    }
    assert!(access.caller(&HeaderMap::new(), bearer).is_err());
}

#[test]
fn scopes_bound_what_a_role_may() {
    let (access, secret) = access();
    let headers = headers("authorization", &format!("Bearer {}", secret.reveal()));
    let caller = access.caller(&headers, bearer).unwrap();
    assert!(caller.must(Permission::Operate, Some("east")).is_ok());
    assert!(caller.must(Permission::Operate, None).is_ok());
    let far = caller.must(Permission::Operate, Some("west")).unwrap_err();
    assert_eq!(
        far.detail(),
        "the token \"eve\" is not for the cluster \"west\""
    );
    let high = caller
        .must(Permission::Administer, Some("east"))
        .unwrap_err();
    assert_eq!(
        high.detail(),
        "the token \"eve\" has the role operator; this needs admin"
    );
    assert!(caller.must_everywhere(Permission::View).is_err());
}

#[test]
fn without_tokens_only_this_machine_is_served() {
    let access = Access::default();
    for good in [
        "127.0.0.1:1",
        "[::1]:1",
        "127.8.9.10:0",
        "[::ffff:127.0.0.1]:1",
    ] {
        let listens = access.may_listen(good.parse().unwrap(), Transport::Plain);
        assert!(listens.is_ok(), "{good}");
    }
    for bad in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1"] {
        let error = access.may_listen(bad.parse().unwrap(), Transport::Tls);
        let error = error.unwrap_err();
        assert!(error.to_string().contains("configure tokens"), "{bad}");
    }
}

#[test]
fn tokens_cross_the_network_in_clear_text_only_where_an_admin_allows_it() {
    let (access, _) = access();
    let listens = |address: &str, by| access.may_listen(address.parse().unwrap(), by);
    for local in ["127.0.0.1:1", "[::1]:1"] {
        assert!(listens(local, Transport::Plain).is_ok(), "{local}");
    }
    for far in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1"] {
        let error = listens(far, Transport::Plain).unwrap_err().to_string();
        assert!(error.contains("insecure-plain-http"), "{error}");
        assert!(listens(far, Transport::Tls).is_ok(), "{far}");
        assert!(listens(far, Transport::PlainFromAfar).is_ok(), "{far}");
    }
}

#[test]
fn web_pages_do_not_call_a_server_without_tokens() {
    let access = Access::default();
    assert!(access.caller(&HeaderMap::new(), bearer).is_ok());
    for good in [
        "localhost",
        "localhost:7425",
        "127.0.0.1:7425",
        "[::1]:7425",
        "[::1]",
    ] {
        assert!(
            access.caller(&headers("host", good), bearer).is_ok(),
            "{good}"
        );
    }
    for bad in [
        "evil.example",
        "evil.example:7425",
        "localhost.evil.example",
        "10.0.0.1",
        "",
    ] {
        assert!(
            access.caller(&headers("host", bad), bearer).is_err(),
            "{bad}"
        );
    }
    let from = |name, value: &str| {
        let mut headers = headers("host", "localhost:7425");
        headers.insert(HeaderName::from_static(name), value.parse().unwrap());
        access.caller(&headers, bearer)
    };
    assert!(from("origin", "http://localhost:7425").is_ok());
    for bad in [
        "https://evil.example",
        "null",
        "http://localhost:3000",
        "http://localhost",
        "http://127.0.0.1:7425",
    ] {
        assert!(from("origin", bad).is_err(), "{bad}");
    }
    for (site, good) in [
        ("none", true),
        ("same-origin", true),
        ("same-site", false),
        ("cross-site", false),
    ] {
        assert_eq!(from("sec-fetch-site", site).is_ok(), good, "{site}");
    }
}

#[test]
fn secrets_do_not_slip_into_logs() {
    assert_eq!(format!("{:?}", Secret::random().unwrap()), "Secret(..)");
}
