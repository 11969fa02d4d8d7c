//! Policies: written, checked, cloned, taken out.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::{Document, aside};
use super::extract::{Json, Path, Query};
use super::permission::Permission;
use super::problem::Problem;
use super::{Caller, Page, PageQuery, revision};
use crate::deployment::{Deployment, DeploymentError, Edit, Origin, PolicyRecord};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, put, remove))
        .routes(routes!(history))
        .routes(routes!(check))
        .routes(routes!(clone))
}

/// A policy in a list.
#[derive(Debug, Serialize, ToSchema)]
struct PolicyListed {
    #[schema(value_type = String)]
    name: Arc<str>,
    revision: u64,
    origin: Origin,
    /// The clusters in which it decides, of those that the token is for.
    #[schema(value_type = Vec<String>)]
    clusters: Vec<Arc<str>>,
}

/// All policies, by name.
#[utoipa::path(get, path = "/v1/policies", tag = "policies", params(PageQuery),
    responses((status = OK, body = Page<PolicyListed>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<PolicyListed>>, Problem> {
    let listed = deployment.all_policies().into_iter().map(|policy| {
        let clusters = deployment.clusters_of(&policy.name).into_iter();
        let names = clusters.map(|cluster| cluster.name().clone());
        PolicyListed {
            clusters: names.filter(|cluster| caller.sees(cluster)).collect(),
            name: policy.name.clone(),
            revision: policy.revision,
            origin: policy.origin.clone(),
        }
    });
    let page = page.page(listed, |policy| policy.name.to_string())?;
    Ok(Json(page))
}

fn with_tag(status: StatusCode, record: &PolicyRecord) -> Response {
    let tag = [revision::etag(record.revision)];
    (status, tag, Json(record)).into_response()
}

/// A policy with its document.
#[utoipa::path(get, path = "/v1/policies/{policy}", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy")),
    responses((status = OK, body = PolicyRecord)))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Path(policy): Path<String>,
) -> Result<Response, Problem> {
    Ok(with_tag(StatusCode::OK, &*deployment.policy(&policy)?))
}

/// The revisions of a policy that are kept, the newest first.
#[utoipa::path(get, path = "/v1/policies/{policy}/history", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy"), PageQuery),
    responses((status = OK, body = Page<PolicyRecord>)))]
async fn history(
    State(deployment): State<Arc<Deployment>>,
    Path(policy): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<PolicyRecord>>, Problem> {
    let history = aside(move || deployment.policy_history(&policy)).await?;
    let is_after = |record: &PolicyRecord, after: &str| {
        after.parse().is_ok_and(|it: u64| record.revision < it)
    };
    let page = page.page_after(history, is_after, |record| record.revision.to_string())?;
    Ok(Json(page))
}

/// Check that the caller may write a policy: on every cluster in which it decides.
fn may_write(deployment: &Deployment, caller: &Caller, policy: &str) -> Result<(), Problem> {
    let clusters = deployment.clusters_of(policy);
    let names = clusters.iter().map(|cluster| &**cluster.name());
    caller.must_on_each(Permission::AuthorPolicies, names)
}

fn edit(policy: String, text: String, revision: Option<u64>) -> Edit {
    Edit {
        name: policy,
        text,
        origin: Origin::Api,
        revision,
    }
}

/// Make a policy, or put a new document in its place. It is checked against the units
/// in force and all clusters in which it decides; they decide by it from their next
/// turn on.
#[utoipa::path(put, path = "/v1/policies/{policy}", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy"),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any"),
           ("If-None-Match" = Option<String>, Header, description = "* to make a new policy")),
    request_body(content = Object, description = "The policy's document"),
    responses((status = OK, body = PolicyRecord)))]
async fn put(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    headers: HeaderMap,
    Document { text, .. }: Document,
) -> Result<Response, Problem> {
    may_write(&deployment, &caller, &policy)?;
    let edit = edit(policy, text, revision::wanted(&headers)?);
    let record = aside(move || deployment.put_policy(&edit, &caller.name)).await?;
    Ok(with_tag(StatusCode::OK, &record))
}

/// Take a policy out that decides nowhere.
#[utoipa::path(delete, path = "/v1/policies/{policy}", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy"),
           ("If-Match" = Option<String>, Header, description = "Revision that is removed, as its ETag; * for any")),
    responses((status = NO_CONTENT)))]
async fn remove(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    may_write(&deployment, &caller, &policy)?;
    let revision = revision::wanted(&headers)?;
    aside(move || deployment.remove_policy(&policy, &Origin::Api, revision, &caller.name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A document that can be put there.
#[derive(Debug, Serialize, ToSchema)]
struct Valid {
    /// Always true.
    valid: bool,
}

/// Check a document as if it were put there, without changing anything.
#[utoipa::path(post, path = "/v1/policies/{policy}/check", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy")),
    request_body(content = Object, description = "The policy's document"),
    responses((status = OK, body = Valid)))]
async fn check(
    State(deployment): State<Arc<Deployment>>,
    Path(policy): Path<String>,
    Document { text, .. }: Document,
) -> Result<Json<Valid>, Problem> {
    let edit = edit(policy, text, None);
    aside(move || deployment.check_policy(&edit)).await?;
    Ok(Json(Valid { valid: true }))
}

/// The document with that name in the place of its own, if it has one.
fn renamed(text: &str, name: &str) -> String {
    if let Ok(mut document) = serde_json::from_str::<serde_json::Value>(text) {
        if document.get("name").is_some() {
            document["name"] = name.into();
        }
        return format!("{document:#}");
    }
    match text.parse::<toml_edit::DocumentMut>() {
        Ok(mut document) if document.contains_key("name") => {
            document["name"] = toml_edit::value(name);
            document.to_string()
        }
        _ => text.to_owned(),
    }
}

/// Which name the copy gets.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CloneAs {
    /// Name of the new policy.
    name: String,
}

/// Make a policy of the same document under another name.
#[utoipa::path(post, path = "/v1/policies/{policy}/clone", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy")),
    request_body = CloneAs, responses((status = CREATED, body = PolicyRecord)))]
async fn clone(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    Json(CloneAs { name }): Json<CloneAs>,
) -> Result<Response, Problem> {
    let cloned = aside(move || {
        let text = renamed(&deployment.policy(&policy)?.text, &name);
        if deployment.policy(&name).is_ok() {
            let what = "policy";
            return Err(DeploymentError::Exists { what, name });
        }
        deployment.put_policy(&edit(name, text, Some(0)), &caller.name)
    });
    Ok(with_tag(StatusCode::CREATED, &*cloned.await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_its_own_name_and_all_else_as_it_was() {
        let text = "# mine\nname = \"a\" # old\ntie-rule = [\"id\"]\n\n[[costs]]\nname = \"a\"\n";
        let copy = "# mine\nname = \"b\"\ntie-rule = [\"id\"]\n\n[[costs]]\nname = \"a\"\n";
        assert_eq!(renamed(text, "b"), copy);
        let json = renamed(r#"{"name": "a", "costs": [{"name": "a"}]}"#, "b");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"name": "b", "costs": [{"name": "a"}]})
        );
        let unnamed = "[[costs]]\nunit = \"a\"\n";
        assert_eq!(renamed(unnamed, "b"), unnamed);
    }
}
