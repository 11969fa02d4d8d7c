//! Faces beside each other on one listener.

use std::borrow::Cow;

use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::*;
use crate::access::unauthorized;

const PLAIN: &[Rule] = &[
    rule("GET", "/plain/{cluster}", Permission::View, Scope::Cluster),
    rule(
        "POST",
        "/plain/{cluster}",
        Permission::Administer,
        Scope::Cluster,
    )
    .takes(BodySize::Usual),
];

/// Clients that show their token in a header of their own, and read errors as a line of text.
fn plain() -> Face {
    let routes = Router::new().route(
        "/plain/{cluster}",
        get(async |caller: Caller| format!("{}\n", caller.name)).post(async |body: String| body),
    );
    Face {
        secret,
        problem: line,
        ..Face::new("/plain", routes, PLAIN, "ask for /plain/CLUSTER")
    }
}

fn secret(headers: &HeaderMap) -> Result<Cow<'_, [u8]>, Problem> {
    let given = headers.get("x-plain-token");
    let given = given.ok_or_else(|| unauthorized("send the header X-Plain-Token"))?;
    Ok(given.as_bytes().into())
}

fn line(problem: Problem, request: &str) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    let status = problem.code().status();
    let text = format!("{} {}: {}\n", status.as_u16(), request, problem.detail());
    (status, kind, problem.headers(), text).into_response()
}

#[test]
fn each_face_has_its_own_tokens_rules_and_errors_under_the_same_layers() {
    let secret = Secret::random().unwrap();
    let token = Token {
        name: "viewer".into(),
        role: Role::Viewer,
        sha256: secret.sha256(),
        clusters: Some([Arc::from("mine")].into()),
    };
    let server = serving_routes(vec![token], ApiLimits::default(), |foundation, shared| {
        let own = Face::new("", routes(shared), RULES, "");
        router(foundation, vec![own, plain()])
    });
    let shown = format!("x-plain-token: {}", secret.reveal());
    let bearer = format!("authorization: Bearer {}", secret.reveal());
    let answer = server.ask("GET /plain/mine", &[&shown], "");
    assert_eq!((answer.status, answer.body.as_str()), (200, "viewer\n"));
    for (request, head, body, status, sentence) in [
        ("GET /plain/mine", &bearer, "", 401, "X-Plain-Token"),
        ("GET /plain/theirs", &shown, "", 403, "not for the cluster"),
        ("POST /plain/mine", &shown, "", 403, "has the role viewer"),
        (
            "GET /plain/mine?x=1",
            &shown,
            "",
            400,
            "unknown query parameter",
        ),
        ("PUT /plain/mine", &shown, "", 405, "it has GET, POST"),
        ("GET /plain/a/b", &shown, "", 404, "ask for /plain/CLUSTER"),
        ("GET /plain/mine", &shown, "body", 400, "takes no body"),
    ] {
        let answer = server.ask(request, &[head], body);
        assert_eq!(answer.status, status, "{request}: {answer:?}");
        let is_line = answer.head.contains("content-type: text/plain");
        assert!(is_line, "{request}: {answer:?}");
        let (head, rest) = answer.body.split_once(' ').unwrap();
        let (id, rest) = rest.split_once(": ").unwrap();
        assert_eq!(head, status.to_string(), "{request}");
        assert!(answer.head.contains(&format!("x-request-id: {id}")));
        assert!(rest.contains(sentence), "{request}: {rest}");
    }
    // The other face is as it was.
    server.get("/all").problem(401, "unauthorized");
    server
        .ask("GET /all", &[&bearer], "")
        .problem(403, "forbidden");
    server.get("/plains").problem(404, "unknown-route");
}

#[test]
fn a_face_that_asks_another_one_may_do_what_its_caller_may_and_no_more() {
    const ASKS: &[Rule] = &[
        rule("GET", "/asks/{cluster}", Permission::View, Scope::Any),
        rule("POST", "/asks/{cluster}", Permission::View, Scope::Any),
    ];
    let within = Within::new(plain());
    let ask = async move |asker: Asker, method: &str, path: String| {
        let body = if method == "GET" { "" } else { "told" };
        let request = axum::http::Request::builder().method(method).uri(path);
        let request = request.body(axum::body::Body::from(body)).unwrap();
        within.ask(&asker, request).await
    };
    let write = ask.clone();
    let routes = Router::new().route(
        "/asks/{cluster}",
        get(async move |Path(cluster): Path<String>, asker: Asker| {
            ask(asker, "GET", format!("/plain/{cluster}")).await
        })
        .post(async move |Path(cluster): Path<String>, asker: Asker| {
            write(asker, "POST", format!("/plain/{cluster}")).await
        }),
    );
    let secret = Secret::random().unwrap();
    let token = Token {
        name: "viewer".into(),
        role: Role::Viewer,
        sha256: secret.sha256(),
        clusters: Some([Arc::from("mine")].into()),
    };
    let server = serving_routes(vec![token], ApiLimits::default(), |foundation, shared| {
        let own = Face::new("", super::routes(shared), RULES, "");
        let asks = Face::new("/asks", routes, ASKS, "");
        router(foundation, vec![own, asks])
    });
    let bearer = format!("authorization: Bearer {}", secret.reveal());
    let answer = server.ask("GET /asks/mine", &[&bearer], "");
    assert_eq!((answer.status, answer.body.as_str()), (200, "viewer\n"));
    // The other face's rules hold, whatever this one's say.
    for (request, sentence) in [
        ("GET /asks/theirs", "not for the cluster"),
        ("POST /asks/mine", "has the role viewer"),
    ] {
        let answer = server.ask(request, &[&bearer], "");
        assert_eq!(answer.status, 403, "{request}: {answer:?}");
        assert!(answer.body.contains(sentence), "{request}: {answer:?}");
    }
}
