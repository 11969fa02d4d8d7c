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

use super::contract;
use placewright_deployment::{Deployment, DeploymentError, Edit, Origin, PolicyRecord, PolicyUse};
use placewright_http::audit::Note;
use placewright_http::document::{Document, aside, long, written};
use placewright_http::extract::{Json, Path, Query};
use placewright_http::pool::Pool;
use placewright_http::problem::Problem;
use placewright_http::{Caller, NumberedPageQuery, Page, PageQuery, revision};

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
#[schema(as = PolicySummary)]
struct PolicyListed {
    /// What it is attached by.
    #[schema(value_type = String, example = "general")]
    name: Arc<str>,
    /// Counts up with every change; 0 for one that comes with the program.
    #[schema(example = 3)]
    revision: u64,
    /// Where it came from.
    origin: Origin,
    /// The clusters in which it decides, of those that the token is for.
    #[schema(value_type = Vec<String>, example = json!(["north"]))]
    clusters: Vec<Arc<str>>,
}

/// All policies, by name; of a token that is for some clusters those that decide there, that it
/// made, or that come with the program.
#[utoipa::path(get, path = "/v1/policies", operation_id = "list_policies", tag = "policies", params(PageQuery),
    responses((status = OK, body = Page<PolicyListed>)))]
async fn list(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    written(move || {
        let policies = deployment.all_policies().into_iter();
        let policies = policies.filter(|policy| caller.sees_policy(&deployment, policy));
        let listed = policies.map(|policy| {
            let clusters = deployment.clusters_of(&policy.name).into_iter();
            let names = clusters.map(|cluster| cluster.name().clone());
            PolicyListed {
                clusters: names.filter(|cluster| caller.sees(cluster)).collect(),
                name: policy.name.clone(),
                revision: policy.revision,
                origin: policy.origin.clone(),
            }
        });
        page.page("policies", listed, |policy| policy.name.to_string())
    })
    .await
}

async fn with_tag(status: StatusCode, record: Arc<PolicyRecord>) -> Result<Response, Problem> {
    let tag = [revision::etag(record.revision)];
    let shown = written(move || Ok::<_, Problem>(PolicyRecord::clone(&record)));
    Ok((status, tag, shown.await?).into_response())
}

/// A policy with its document.
#[utoipa::path(get, path = "/v1/policies/{policy}", operation_id = "get_policy", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy")),
    responses((status = OK, body = PolicyRecord,
        headers(("ETag" = String, description = "Of its revision, to be sent as If-Match")))))]
async fn show(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
) -> Result<Response, Problem> {
    with_tag(StatusCode::OK, caller.policy(&deployment, &policy)?).await
}

/// The stored revisions of a policy, the newest first. Where they are large, a page has
/// fewer.
#[utoipa::path(get, path = "/v1/policies/{policy}/history", operation_id = "list_policy_revisions", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy"), NumberedPageQuery),
    responses((status = OK, body = Page<PolicyRecord>)))]
async fn history(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Problem> {
    caller.policy(&deployment, &policy)?;
    let limit = page.limit()?;
    let before = page.after_number("a revision")?;
    let history = written(move || {
        let items = deployment.policy_history(&policy, before, limit)?;
        let last = items.last().map(|record| record.revision);
        // The page after it, if there is any.
        let more = match last {
            Some(last) => !deployment
                .policy_history(&policy, Some(last), 1)?
                .is_empty(),
            None => false,
        };
        let next = last.filter(|_| more).map(|revision| revision.to_string());
        Ok::<_, DeploymentError>(Page { items, next })
    });
    history.await
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
/// turn on. A document that is there already, letter by letter, makes no revision.
#[utoipa::path(put, path = "/v1/policies/{policy}", operation_id = "put_policy", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy"),
           ("If-Match" = Option<String>, Header, description = "Revision that is changed, as its ETag; * for any"),
           ("If-None-Match" = Option<String>, Header, description = "* to make a new policy")),
    request_body(content = contract::PolicyDocument, description = "The policy's document, in JSON or TOML"),
    responses((status = OK, body = PolicyRecord,
                  headers(("ETag" = String, description = "Of its revision, to be sent as If-Match"))),
              (status = PRECONDITION_REQUIRED, description = "Neither If-Match nor If-None-Match: * is sent")))]
async fn put(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(policy): Path<String>,
    headers: HeaderMap,
    document: Document,
) -> Result<Response, Problem> {
    let revision = revision::wanted(&headers)?;
    let about = (&caller.name.clone(), &no_cluster());
    let put = move |text, _| {
        let edit = edit(policy, text, revision);
        // It may have waited for its turn.
        let may = |policy: &PolicyUse| caller.must_still().and(caller.may_write_policy(policy));
        deployment.put_policy_if(&edit, &caller.name, may)
    };
    let (record, has_changed) = document.read_in_turn(&questions, about, put).await?;
    if !has_changed {
        note.has_changed_nothing();
    }
    with_tag(StatusCode::OK, record).await
}

/// Take a policy out that decides nowhere.
#[utoipa::path(delete, path = "/v1/policies/{policy}", operation_id = "delete_policy", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy"),
           ("If-Match" = Option<String>, Header, description = "Revision that is removed, as its ETag; * for any")),
    responses((status = NO_CONTENT),
              (status = PRECONDITION_REQUIRED, description = "No If-Match is sent")))]
async fn remove(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let revision = revision::wanted_of_known(&headers)?;
    let remove = move || {
        let may = |policy: &PolicyUse| caller.may_write_policy(policy);
        deployment.remove_policy_if(&policy, &Origin::Api, revision, (&caller.name, may))
    };
    aside(remove).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A document that can be put there.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckedPolicy)]
struct Valid {
    /// Always true.
    valid: bool,
    /// What is allowed and seldom meant, a sentence each.
    #[schema(example = json!(["VM \"web-3\" has no \"memory\": it counts as 0"]))]
    warnings: Vec<String>,
}

/// Check a document as if it were put there, without changing anything.
#[utoipa::path(post, path = "/v1/policies/{policy}/check", operation_id = "check_policy", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy")),
    request_body(content = contract::PolicyDocument, description = "The policy's document, in JSON or TOML"),
    responses((status = OK, body = Valid)))]
async fn check(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    document: Document,
) -> Result<Response, Problem> {
    let users = deployment.clusters_of(&policy);
    if !users.iter().all(|cluster| caller.sees(cluster.name())) {
        // What is wrong with it there would name them.
        return Err(caller.refused_elsewhere("this policy"));
    }
    let about = (&caller.name, &no_cluster());
    let check = move |text, _| deployment.check_policy(&edit(policy, text, None));
    let warnings = document.read_in_turn(&questions, about, check).await?;
    long(Valid {
        valid: true,
        warnings,
    })
    .await
}

/// What checks of policies are about, for the order in which questions are asked: all clusters
/// in which the policy decides.
fn no_cluster() -> Arc<str> {
    Arc::from("")
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
#[schema(as = PolicyClone)]
struct CloneAs {
    /// Name of the new policy.
    #[schema(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$", example = "mine")]
    name: String,
}

/// Make a policy of the same document under another name.
#[utoipa::path(post, path = "/v1/policies/{policy}/clone", operation_id = "clone_policy", tag = "policies",
    params(("policy" = String, Path, description = "Name of the policy")),
    request_body = CloneAs,
    responses((status = CREATED, body = PolicyRecord,
        headers(("ETag" = String, description = "Of its revision, to be sent as If-Match")))))]
async fn clone(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Path(policy): Path<String>,
    Json(CloneAs { name }): Json<CloneAs>,
) -> Result<Response, Problem> {
    let about = (&caller.name.clone(), &no_cluster());
    let cloned = questions.run(about, move |_| {
        caller.must_still()?;
        let text = renamed(&caller.policy(&deployment, &policy)?.text, &name);
        if deployment.policy(&name).is_ok() {
            let what = "policy";
            return Err(Problem::from(DeploymentError::Exists { what, name }));
        }
        let cloned = deployment.put_policy(&edit(name, text, Some(0)), &caller.name);
        cloned.map_err(Problem::from)
    });
    with_tag(StatusCode::CREATED, cloned.await?).await
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
