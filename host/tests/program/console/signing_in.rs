//! A token is entered once; a session stands for it.

use placewright_tests::server::Server;

use super::Desk;

#[test]
fn a_token_begins_a_session_that_ends_when_it_is_told_to() {
    let desk = Desk::start();
    let refused = desk.browse("GET", "/", "", &[]);
    assert_eq!(refused.status, 401);
    assert!(refused.body.contains("name=\"token\""), "{}", refused.body);
    let wrong = desk.browse("POST", "/sign-in", "", &[("token", "pw_none")]);
    assert_eq!(wrong.status, 401);
    assert!(
        wrong.body.contains("not one that is known"),
        "{}",
        wrong.body
    );
    let begun = desk.browse("POST", "/sign-in", "", &[("token", &desk.admin)]);
    assert_eq!((begun.status, begun.header("location")), (303, "/"));
    let kept = begun.header("set-cookie");
    assert!(
        kept.contains("HttpOnly") && kept.contains("SameSite=Strict"),
        "{kept}"
    );
    assert!(!kept.contains(&desk.admin), "the token itself is not in it");
    let cookie = kept.split(';').next().unwrap();
    assert_eq!(desk.browse("GET", "/", cookie, &[]).status, 200);
    // It is for pages alone, as the header is for the API.
    assert_eq!(desk.browse("GET", "/v1/clusters", cookie, &[]).status, 401);
    let bearer = format!("Bearer {}", desk.admin);
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(
        desk.browse_with("GET", "/", "", (&headers, &[])).status,
        401
    );
    let ended = desk.browse("POST", "/sign-out", cookie, &[]);
    assert_eq!(ended.status, 303);
    assert!(ended.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(desk.browse("GET", "/", cookie, &[]).status, 401);
}

#[test]
fn after_signing_in_one_is_on_the_page_that_was_asked_for() {
    let desk = Desk::start();
    let referer = format!("{}/events?kind=unit", desk.server.url);
    let headers = [
        ("sec-fetch-site", "same-origin"),
        ("referer", referer.as_str()),
    ];
    let form = [("token", desk.viewer.as_str())];
    let begun = desk.browse_with("POST", "/sign-in", "", (&headers, &form));
    assert_eq!(begun.header("location"), "/events?kind=unit");
}

#[test]
fn the_console_can_be_left_out() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--console=false"]);
    let get = |path: &str| {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let mut answer = agent.get(format!("{}{path}", server.url)).call().unwrap();
        (
            answer.status().as_u16(),
            answer.body_mut().read_to_string().unwrap(),
        )
    };
    let (status, body) = get("/");
    assert_eq!(status, 404);
    assert!(body.contains("unknown-route"), "{body}");
    assert_eq!(get("/v1/clusters").0, 200);
}

#[test]
fn a_form_that_nobody_needs_a_token_for_is_short() {
    let desk = Desk::start();
    let token = |bytes: usize| "a".repeat(bytes - "token=".len());
    let shown = |bytes: usize| desk.browse("POST", "/sign-in", "", &[("token", &token(bytes))]);
    let wrong = shown(16 << 10);
    assert_eq!(wrong.status, 401, "{}", wrong.body);
    let long = shown((16 << 10) + 1);
    assert_eq!(long.status, 413, "{}", long.body);
}
