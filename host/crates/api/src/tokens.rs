//! Tokens: listed, issued, revoked.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::moment;
use placewright_deployment::Deployment;
use placewright_http::audit::Note;
use placewright_http::document::{aside, long, written};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::problem::Problem;
use placewright_http::{Access, Caller, Listed, NewToken, Page, PageQuery, Role};
use placewright_model::Rfc3339;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, remove))
}

/// Where a token comes from.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum TokenOrigin {
    /// It stands in the server's configuration, and is changed there alone.
    Configuration,
    /// An admin has issued it through the API.
    Api,
}

/// A token without its secret, which the server does not know.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Token)]
struct TokenShown {
    /// Names its owner in logs and events.
    #[schema(value_type = String, example = "ci")]
    name: Arc<str>,
    /// What its owner may do.
    role: Role,
    /// The clusters that it is for; not there: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, example = json!(["north"]))]
    clusters: Option<BTreeSet<Arc<str>>>,
    /// Where it comes from.
    origin: TokenOrigin,
    /// When it expires, in seconds since 1970-01-01 UTC; not there: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1795536000)]
    expires: Option<i64>,
    /// The same time; not there: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    expires_time: Option<Rfc3339>,
    /// Whether it has expired, so that it counts no more.
    expired: bool,
    /// When it was issued, in seconds since 1970-01-01 UTC; not there: it is of the
    /// configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1764000000)]
    at: Option<i64>,
    /// The same time; not there: it is of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    time: Option<Rfc3339>,
    /// The name of the token of whoever issued it; not there: it is of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "ci")]
    by: Option<Arc<str>>,
}

impl TokenShown {
    fn of(listed: Listed, now: i64) -> Self {
        let (token, origin, issued) = match listed {
            Listed::Configured(token) => (token, TokenOrigin::Configuration, None),
            Listed::Issued(it) => (it.token, TokenOrigin::Api, Some((it.expires, it.at, it.by))),
        };
        let expires = issued.as_ref().and_then(|(expires, ..)| *expires);
        Self {
            name: token.name,
            role: token.role,
            clusters: token.clusters,
            origin,
            expires,
            expires_time: expires.map(Rfc3339),
            expired: expires.is_some_and(|expires| now >= expires),
            at: issued.as_ref().map(|(_, at, _)| *at),
            time: issued.as_ref().map(|(_, at, _)| Rfc3339(*at)),
            by: issued.map(|(.., by)| by),
        }
    }
}

/// A token that is to be issued.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewToken)]
struct TokenWanted {
    /// Names its owner in logs and events: 1 to 64 letters, digits, "-", "_" and ".". Only a
    /// token that has expired may have had it.
    #[schema(min_length = 1, max_length = 64, example = "ci")]
    name: String,
    /// What its owner may do; no more than whoever issues it.
    role: Role,
    /// The clusters that it is for, which may come later; all if not given.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 256, example = json!(["north"]))]
    clusters: Option<BTreeSet<String>>,
    /// When it expires, as `2030-03-17T17:46:40Z` or in seconds since 1970-01-01 UTC; never if not
    /// given. A token that expires issues none that expire later.
    #[serde(default, deserialize_with = "moment::read")]
    #[schema(schema_with = moment::schema)]
    expires: Option<i64>,
}

impl From<TokenWanted> for NewToken {
    fn from(wanted: TokenWanted) -> Self {
        let clusters = wanted.clusters;
        Self {
            name: wanted.name.into(),
            role: wanted.role,
            clusters: clusters.map(|names| names.into_iter().map(Arc::from).collect()),
            expires: wanted.expires,
        }
    }
}

/// A token that was issued just now.
#[derive(Serialize, ToSchema)]
struct IssuedToken {
    /// The token.
    token: TokenShown,
    /// Its secret, shown this once: it is sent as `Authorization: Bearer SECRET`.
    #[schema(example = "pw_4Zq7Xc1v")]
    secret: String,
}

/// All tokens, by name: those of the configuration, and those that were issued.
#[utoipa::path(get, path = "/v1/tokens", operation_id = "list_tokens", tag = "server", params(PageQuery),
    responses((status = OK, body = Page<TokenShown>)))]
async fn list(
    Extension(access): Extension<Arc<Access>>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    written(move || {
        let now = access.now();
        let tokens = access.all().into_iter();
        let shown = tokens.map(|token| TokenShown::of(token, now));
        page.page("tokens", shown, |token| token.name.to_string())
    })
    .await
}

/// Issue a token. Its secret stands in this answer alone: the server stores a digest of it. The
/// answer is not given again to a repeated request; one that has lost it deletes the token and
/// issues another. A server without tokens in its configuration issues none, since the first one
/// would shut everybody else out.
#[utoipa::path(post, path = "/v1/tokens", operation_id = "create_token", tag = "server",
    request_body = TokenWanted, responses((status = CREATED, body = IssuedToken)))]
async fn create(
    State(deployment): State<Arc<Deployment>>,
    Extension(access): Extension<Arc<Access>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Json(wanted): Json<TokenWanted>,
) -> Result<Response, Problem> {
    let issued = aside(move || {
        let (issued, secret) = access.issue(deployment.store(), wanted.into(), &caller)?;
        let token = TokenShown::of(Listed::Issued(issued), access.now());
        note.changed(None, serde_json::to_value(&token).ok().as_ref());
        let secret = secret.reveal().to_owned();
        Ok::<_, Problem>(IssuedToken { token, secret })
    });
    let answer = long(issued.await?).await?;
    Ok((StatusCode::CREATED, [(CACHE_CONTROL, "no-store")], answer).into_response())
}

/// A token.
#[utoipa::path(get, path = "/v1/tokens/{token}", operation_id = "get_token", tag = "server",
    params(("token" = String, Path, description = "Name of the token")),
    responses((status = OK, body = TokenShown)))]
async fn show(
    Extension(access): Extension<Arc<Access>>,
    Path(token): Path<String>,
) -> Result<Response, Problem> {
    let shown = TokenShown::of(access.token(&token)?, access.now());
    long(shown).await
}

/// Revoke a token that was issued. It counts no more from then on: streams of events that it has
/// open end, requests that wait are refused, and plans that go on in its name halt. One of the
/// configuration is removed there; the last token of an admin for all clusters that does not
/// expire stays.
#[utoipa::path(delete, path = "/v1/tokens/{token}", operation_id = "delete_token", tag = "server",
    params(("token" = String, Path, description = "Name of the token")),
    responses((status = NO_CONTENT)))]
async fn remove(
    State(deployment): State<Arc<Deployment>>,
    Extension(access): Extension<Arc<Access>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(token): Path<String>,
) -> Result<StatusCode, Problem> {
    aside(move || {
        let revoked = access.revoke(deployment.store(), &token, &caller)?;
        let shown = TokenShown::of(Listed::Issued(revoked), access.now());
        note.changed(serde_json::to_value(&shown).ok().as_ref(), None);
        Ok::<_, Problem>(())
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
