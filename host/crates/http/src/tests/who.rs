//! Who may call which route.

use super::*;

struct People {
    server: Served,
    viewer: String,
    operator: String,
    admin: String,
}

fn people() -> People {
    let mut tokens = Vec::new();
    let mut secret = |name: &str, role, clusters: Option<&str>| {
        let secret = Secret::random().unwrap();
        tokens.push(Token {
            name: name.into(),
            role,
            sha256: secret.sha256(),
            clusters: clusters.map(|cluster| [Arc::from(cluster)].into()),
        });
        format!("authorization: Bearer {}", secret.reveal())
    };
    let viewer = secret("viewer", Role::Viewer, None);
    let operator = secret("operator", Role::Operator, Some("a b"));
    let admin = secret("admin", Role::Admin, None);
    People {
        server: serving(tokens, ApiLimits::default()),
        viewer,
        operator,
        admin,
    }
}

#[test]
fn routes_ask_for_a_token_with_the_role_and_the_cluster() {
    let People {
        server,
        viewer,
        operator,
        admin,
    } = people();
    let ask = |request, token: &str| server.ask(request, &[token], "");
    assert_eq!(server.get("/open").status, 200);
    let none = server.get("/clusters/a");
    none.problem(401, "unauthorized");
    assert!(none.head.contains("www-authenticate: bearer"), "{none:?}");
    ask("GET /clusters/a", "authorization: Bearer pw_1").problem(401, "unauthorized");
    assert_eq!(ask("GET /clusters/a", &viewer).body, "viewer");
    let low = ask("PUT /clusters/a", &viewer).problem(403, "forbidden");
    assert!(low.contains("this needs admin"), "{low}");
    assert_eq!(ask("PUT /clusters/a", &admin).status, 200);
    // The path's parts are compared as they are meant, not as they are written.
    assert_eq!(ask("GET /clusters/a%20b", &operator).status, 200);
    let far = ask("GET /clusters/a", &operator).problem(403, "forbidden");
    assert!(far.contains("not for the cluster \"a\""), "{far}");
    ask("GET /all", &operator).problem(403, "forbidden");
    assert_eq!(ask("GET /all", &viewer).status, 200);
    ask("POST /count", &viewer).problem(403, "forbidden");
    assert_eq!(ask("POST /count", &operator).status, 200);
}

#[test]
fn asking_after_a_route_needs_what_reading_it_needs() {
    let People { server, admin, .. } = people();
    assert_eq!(server.ask("HEAD /clusters/a", &[], "").status, 401);
    assert_eq!(server.ask("HEAD /clusters/a", &[&admin], "").status, 200);
}

#[test]
fn nobody_may_call_a_route_without_a_rule() {
    let People { server, admin, .. } = people();
    server
        .ask("GET /forgotten", &[&admin], "")
        .problem(403, "forbidden");
}

#[test]
fn who_may_not_call_sends_no_body() {
    let People { server, viewer, .. } = people();
    // The answer comes before a byte of the body does.
    let mut stream = server.connect();
    let head = format!(
        "POST /count HTTP/1.1\r\nhost: localhost\r\n{viewer}\r\ncontent-length: 1000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    told(stream).problem(403, "forbidden");
}

#[test]
fn keys_of_one_caller_are_not_those_of_another() {
    let People {
        server,
        operator,
        admin,
        ..
    } = people();
    let ask = |token: &str| {
        server
            .ask("POST /count", &[token, "idempotency-key: k"], "x")
            .body
    };
    assert_eq!(
        (ask(&operator), ask(&admin), ask(&operator)),
        ("0".into(), "1".into(), "0".into())
    );
}

#[test]
fn without_tokens_web_pages_of_others_are_not_served() {
    let server = serving(Vec::new(), ApiLimits::default());
    let page = server.ask("GET /clusters/a", &["origin: https://evil.example"], "");
    page.problem(403, "forbidden");
    assert_eq!(server.get("/clusters/a").body, "anonymous");
}
