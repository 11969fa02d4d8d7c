//! What happened lately, as a list.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::{Deployment, Event, EventKind};
use placewright_document::{Word, nearest, shown};
use placewright_http::document::written;
use placewright_http::extract::Query;
use placewright_http::problem::{Code, Problem};
use placewright_http::{Caller, Page, PageQuery};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(recent))
}

/// Which events are wanted: those that fit everything that is given.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RecentQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    #[param(pattern = "^[0-9]+$")]
    after: Option<String>,
    /// Only events of kinds that begin so: `unit`, `plan-made`.
    kind: Option<String>,
    /// Only events of this cluster.
    cluster: Option<String>,
    /// Only what this caller did.
    by: Option<String>,
    /// Only events of which the sentence, or an id, has this text, in small or capital letters.
    text: Option<String>,
}

impl RecentQuery {
    fn has(&self, event: &Event) -> bool {
        let is = |wanted: &Option<String>, given: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| given == Some(wanted))
        };
        let begins = |kind: &String| event.kind.word().starts_with(&**kind);
        is(&self.cluster, event.cluster.as_deref())
            && is(&self.by, event.by.as_deref())
            && self.kind.as_ref().is_none_or(begins)
            && self.text.as_ref().is_none_or(|text| says(event, text))
    }
}

/// Check that a kind of event begins so.
fn check_kind(wanted: &str) -> Result<(), Problem> {
    let kinds = || EventKind::WORDS.iter().map(|(word, _)| *word);
    if kinds().any(|kind| kind.starts_with(wanted)) {
        return Ok(());
    }
    let meant = match nearest(wanted, kinds()) {
        Some(kind) => format!("; did you mean \"{kind}\"?"),
        None => String::new(),
    };
    let sentence = format!(
        "\"kind\": no kind of event begins with \"{}\"{meant}",
        shown(wanted)
    );
    Err(Problem::new(Code::InvalidParameter, sentence))
}

/// Whether an event names a text.
fn says(event: &Event, text: &str) -> bool {
    let text = text.to_lowercase();
    let named = [&event.unit, &event.policy, &event.vm, &event.host];
    let named = named.into_iter().flatten().map(|it| &**it);
    let mut all = named.chain([event.message.as_str()]);
    all.any(|it| it.to_lowercase().contains(&text))
}

/// The events that are remembered, the newest first: some 1,000. The stream of `/v1/events` goes
/// on from there, given the number of the first one.
#[utoipa::path(get, path = "/v1/events/recent", operation_id = "list_recent_events", tag = "events", params(RecentQuery),
    responses((status = OK, body = Page<Event>)))]
async fn recent(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<RecentQuery>,
) -> Result<Response, Problem> {
    let page = PageQuery {
        limit: query.limit,
        after: query.after.clone(),
    };
    page.after_number("an event")?;
    if let Some(kind) = &query.kind {
        check_kind(kind)?;
    }
    written(move || {
        let remembered = deployment.events().remembered();
        let events = remembered.iter().rev();
        let told = events.filter_map(|event| caller.told_of(&deployment, event));
        let wanted = told.filter(|event| query.has(event));
        let is_after =
            |event: &Event, after: &str| after.parse().is_ok_and(|after: u64| event.number < after);
        page.page_after(wanted, is_after, |event| event.number.to_string())
    })
    .await
}
