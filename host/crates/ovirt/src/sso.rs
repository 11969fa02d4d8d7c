//! Signing in and out: a user is the name of a token, its password is the secret.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use placewright_http::audit::Note;
use placewright_http::{Access, Code, Problem, access};

/// The secret of a request: `Authorization: Bearer SECRET`, or of HTTP's basic scheme the
/// password.
///
/// # Errors
/// If there is neither.
pub(crate) fn secret(
    headers: &HeaderMap,
) -> Result<std::borrow::Cow<'_, [u8]>, placewright_http::Problem> {
    use base64::Engine;
    let given = headers
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes);
    let basic = given.and_then(|given| {
        let (scheme, pair) = given.split_at_checked("Basic ".len())?;
        scheme.eq_ignore_ascii_case(b"Basic ").then_some(pair)
    });
    let Some(pair) = basic else {
        return access::bearer(headers);
    };
    let standard = base64::engine::general_purpose::STANDARD;
    let pair = standard.decode(pair.trim_ascii()).unwrap_or_default();
    let password = pair.iter().position(|byte| *byte == b':');
    match password.and_then(|colon| pair.get(colon + 1..)) {
        Some(password) if !password.is_empty() => Ok(password.to_vec().into()),
        _ => Err(access::unauthorized(
            "the header Authorization is not of the form \"Basic\" and user:password in Base64",
        )),
    }
}

fn answered(status: StatusCode, body: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, body.to_string()).into_response()
}

fn refused(code: &str, why: &str) -> Response {
    // As engines have it, and as the standard has it.
    let body = json!({"error_code": code, "error": why, "error_description": why});
    answered(StatusCode::BAD_REQUEST, &body)
}

/// Nobody knows who calls. An engine says so with the status 400; the record of the call is that
/// of a refusal.
fn unknown(note: Option<&Note>) -> Response {
    let why = "Cannot authenticate user: the user is the name of a token, also with @internal behind it, and the password its secret";
    if let Some(note) = note {
        note.is_unknown();
    }
    refused("access_denied", why)
}

/// The value of a form's field.
fn field(form: &[u8], name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form);
    let found = fields.find(|(known, _)| known == name);
    found.map(|(_, value)| value.into_owned())
}

/// Give a user who shows its password a secret of its own, which stands for the token until it
/// is signed out, or nothing was asked with it for some hours.
pub(crate) async fn token(
    State(access): State<Arc<Access>>,
    note: Option<Extension<Note>>,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    let note = note.as_deref();
    match field(&form, "grant_type").as_deref() {
        Some("password") => {}
        _ => {
            let why = "sign in with grant_type=password";
            return refused("unsupported_grant_type", why);
        }
    }
    let user = field(&form, "username").unwrap_or_default();
    let password = field(&form, "password").unwrap_or_default();
    let mut shown = headers.clone();
    shown.remove(header::AUTHORIZATION);
    let bearer = match HeaderValue::from_str(&format!("Bearer {password}")) {
        Ok(bearer) if !password.is_empty() => bearer,
        _ => return unknown(note),
    };
    shown.insert(header::AUTHORIZATION, bearer);
    let Ok(caller) = access.caller(&shown, access::bearer) else {
        return unknown(note);
    };
    // What stands behind the name says which directory of users has it.
    let rest = user.strip_prefix(&*caller.name);
    let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('@'));
    if !access.is_open() && !is_named {
        return unknown(note);
    }
    let Ok(secret) = access.begin_session(password.as_bytes()) else {
        let why = "the system has no randomness to give";
        return Problem::new(Code::Internal, why).into_response();
    };
    let body = json!({
        "access_token": secret.reveal(),
        "scope": "ovirt-app-api",
        // It ends when nothing was asked with it for some time.
        "exp": "9223372036854775807",
        "token_type": "bearer",
    });
    let mut response = answered(StatusCode::OK, &body);
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

/// End what was begun by signing in. A token that somebody signed in with stays, and so does one
/// that was never given.
pub(crate) async fn logout(State(access): State<Arc<Access>>, form: Bytes) -> Response {
    if let Some(secret) = field(&form, "token") {
        access.end_session(secret.as_bytes());
    }
    answered(StatusCode::OK, &json!({}))
}
