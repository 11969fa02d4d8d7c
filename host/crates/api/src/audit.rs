//! The audit log, read: who changed what, and who was refused.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::moment;
use placewright_deployment::Deployment;
use placewright_http::actions::Actions;
use placewright_http::document::json;
use placewright_http::extract::Query;
use placewright_http::pool::Pool;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, PageQuery};
use placewright_records::audit::{Audit, AuditPage, Kind, Outcome, Wanted, read};

/// How long what was recorded until now may take to be written before it is read.
const WRITING: Duration = Duration::from_secs(2);

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Which records are wanted: those that fit everything that is given.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    #[param(pattern = "^[0-9]+$")]
    after: Option<String>,
    /// Only records of this kind.
    #[param(inline)]
    kind: Option<Kind>,
    /// Only what the token of this name did, or was refused.
    by: Option<String>,
    /// Only records whose `what`, or whose method and route, have this text, in small or capital
    /// letters: `place`, `DELETE /v1/policies`, `unit-in-force`. A text that no action has is
    /// refused.
    #[param(example = "DELETE /v1/policies")]
    action: Option<String>,
    /// Only records of this cluster.
    cluster: Option<String>,
    /// Only calls of which this came.
    #[param(inline)]
    result: Option<Outcome>,
    /// Only calls that were answered with this status, from 100 to 599.
    #[param(minimum = 100, maximum = 599)]
    status: Option<u16>,
    /// Only records of which an id, a name or a sentence has this text, in small or capital
    /// letters.
    text: Option<String>,
    /// Only what was recorded then or later: RFC 3339, or seconds since 1970-01-01 UTC.
    #[param(
        pattern = "^([+]?[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)$",
        example = "2026-11-26T08:00:00+01:00"
    )]
    since: Option<String>,
    /// Only what was recorded then or before.
    #[param(
        pattern = "^([+]?[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)$",
        example = "2026-11-26T09:00:00Z"
    )]
    until: Option<String>,
}

impl AuditQuery {
    fn wanted(self, actions: &Actions) -> Result<Wanted, Problem> {
        if let Some(action) = &self.action {
            actions.check(action).map_err(|sentence| {
                Problem::new(Code::InvalidParameter, format!("\"action\": {sentence}"))
            })?;
        }
        if self.status.is_some_and(|it| !(100..=599).contains(&it)) {
            let sentence = "\"status\" must be from 100 to 599";
            return Err(Problem::new(Code::InvalidParameter, sentence));
        }
        Ok(Wanted {
            since: moment::of_query("since", self.since.as_deref())?,
            until: moment::of_query("until", self.until.as_deref())?,
            kind: self.kind,
            by: self.by,
            action: self.action,
            cluster: self.cluster,
            result: self.result,
            status: self.status,
            text: self.text,
        })
    }
}

/// The records of the audit log, the newest first: who changed what, from where, what came of it,
/// and who was refused. A page looks at some megabytes of the log, so that with filters it may
/// have fewer records than were asked for, or none, although it has a `next`. Where records were
/// lost, or are not as they were written, `gaps` says so. `placewright audit verify` checks the
/// files as a whole. A server whose audit log is no file of its own has nothing to read.
#[utoipa::path(get, path = "/v1/audit", operation_id = "list_audit_records", tag = "server", params(AuditQuery),
    responses((status = OK, body = AuditPage)))]
async fn list(
    Extension(audit): Extension<Audit>,
    Extension(actions): Extension<Actions>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Query(mut query): Query<AuditQuery>,
) -> Result<Response, Problem> {
    let page = PageQuery {
        limit: query.limit,
        after: query.after.take(),
    };
    let (limit, after) = (page.limit()?, page.after_number("a record")?);
    let wanted = query.wanted(&actions)?;
    let Some(path) = audit.path().map(std::path::Path::to_owned) else {
        let sentence = match audit.is_on() {
            true => {
                "the audit log goes to standard error, among the lines of the log: with audit-log set to a file it can be read here"
            }
            false => "there is no audit log: audit-log = \"off\" stands in the configuration",
        };
        return Err(Problem::new(Code::Unprocessable, sentence));
    };
    let work = move |_| {
        // What the caller has done just now is there; if the disk is slow, later.
        audit.flush(WRITING);
        let page = read(&path, &wanted, after, limit);
        let page = page.map_err(|error| Problem::internal(&error))?;
        let text = serde_json::to_string(&page);
        text.map_err(|error| Problem::internal(&error))
    };
    let no_cluster = Arc::from("");
    let text = questions.run((&caller.name, &no_cluster), work);
    Ok(json(text.await?))
}
