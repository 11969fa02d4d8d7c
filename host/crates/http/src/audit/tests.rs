use std::convert::Infallible;
use std::fs;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Extension;
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use axum::{Router, response::IntoResponse};
use tower::ServiceExt;

use super::*;
use placewright_deployment::DeploymentError;
use placewright_records::audit::{AuditFileOptions, Destination};
use placewright_records::telemetry::AuditMetrics;
use placewright_store::StoreError;

const LONG: Duration = Duration::from_secs(60);

/// More than one token has records of that changed nothing.
const CALLS: usize = 50;

/// How many calls of one token have a record of their own, if all are answered so.
fn recorded(answer: fn() -> Response) -> usize {
    recorded_of(|_| (), answer)
}

/// The same of calls of which `noted` notes something.
fn recorded_of(noted: fn(&Note), answer: fn() -> Response) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let options = AuditFileOptions {
        path: path.clone(),
        size: 1 << 30,
        files: 2,
        age: Duration::ZERO,
        spare: 0,
    };
    let audit = Audit::open(&Destination::File(options), AuditMetrics::default()).unwrap();
    let route = async move |Extension(note): Extension<Note>| {
        note.is_by(&"op".into());
        note.is_admitted(Permission::Operate);
        noted(&note);
        answer()
    };
    let recorder = Recorder::new(audit.clone());
    let routes = Router::new()
        .route("/place", post(route))
        .layer(from_fn_with_state(recorder, record));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..CALLS {
            let request = Request::post("/place").body(Body::empty()).unwrap();
            let answered: Result<_, Infallible> = routes.clone().oneshot(request).await;
            answered.unwrap();
        }
    });
    assert!(audit.end(LONG));
    let text = fs::read_to_string(path).unwrap();
    text.matches("\"kind\":\"call\"").count()
}

fn refused(error: DeploymentError) -> Response {
    Problem::from(error).into_response()
}

#[test]
fn each_call_that_was_carried_out_and_could_not_be_stored_yet_has_a_record() {
    let not_kept = || refused(DeploymentError::NotKept(StoreError::Stopped));
    assert_eq!(recorded(not_kept), CALLS);
    let removing = || refused(DeploymentError::Removing("c".into()));
    assert_eq!(recorded(removing), CALLS);
    assert_eq!(not_kept().status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[test]
fn of_calls_that_changed_nothing_since_nothing_can_be_stored_some_have_records() {
    let refusals: [fn() -> Response; 2] = [
        || refused(DeploymentError::Store(StoreError::Stopped)),
        || refused(DeploymentError::Ending("c".into())),
    ];
    for refusal in refusals {
        let recorded = recorded(refusal);
        assert!((1..CALLS).contains(&recorded), "{recorded}");
    }
}

#[test]
fn questions_have_no_records_whatever_their_route_is_and_refusals_have() {
    let done = || StatusCode::OK.into_response();
    assert_eq!(recorded(done), CALLS);
    assert_eq!(recorded_of(Note::only_asks, done), 0);
    let failed = || refused(DeploymentError::Removing("c".into()));
    assert_eq!(recorded_of(Note::only_asks, failed), 0);
}
