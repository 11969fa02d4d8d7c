//! Signing in: a user is the name of a token, its password is the secret.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use placewright_http::{Access, access};

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

fn refused(status: StatusCode, code: &str, why: &str) -> Response {
    // As engines have it, and as the standard has it.
    let body = json!({"error_code": code, "error": why, "error_description": why});
    answered(status, &body)
}

/// The value of a form's field.
fn field(form: &[u8], name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form);
    let found = fields.find(|(known, _)| known == name);
    found.map(|(_, value)| value.into_owned())
}

/// Give a token for a user and its password. It is the password: nothing is stored, and what
/// may be done with it ends when the server is told to know the token no more.
pub(crate) async fn token(
    State(access): State<Arc<Access>>,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    match field(&form, "grant_type").as_deref() {
        Some("password") => {}
        _ => {
            let why = "sign in with grant_type=password";
            return refused(StatusCode::BAD_REQUEST, "unsupported_grant_type", why);
        }
    }
    let user = field(&form, "username").unwrap_or_default();
    let password = field(&form, "password").unwrap_or_default();
    let failed = || {
        let why = "Cannot authenticate user: the user is the name of a token, also with @internal behind it, and the password its secret";
        // An engine says 400. By this status it is recorded as a refusal; clients look at the
        // error alone.
        refused(StatusCode::UNAUTHORIZED, "access_denied", why)
    };
    let mut shown = headers.clone();
    shown.remove(header::AUTHORIZATION);
    let bearer = match HeaderValue::from_str(&format!("Bearer {password}")) {
        Ok(bearer) if !password.is_empty() => bearer,
        _ => return failed(),
    };
    shown.insert(header::AUTHORIZATION, bearer);
    let Ok(caller) = access.caller(&shown, access::bearer) else {
        return failed();
    };
    // What stands behind the name says which directory of users has it.
    let rest = user.strip_prefix(&*caller.name);
    let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('@'));
    if !access.is_open() && !is_named {
        return failed();
    }
    let body = json!({
        "access_token": password,
        "scope": "ovirt-app-api",
        // It does not end by itself.
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

/// End what was begun by signing in: nothing was stored for it.
pub(crate) async fn logout(_: Bytes) -> Response {
    answered(StatusCode::OK, &json!({}))
}
