//! What a policy that is not saved would have decided.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::{Deployment, DraftReplayed, DraftWanted, Edit, Origin};
use placewright_http::Caller;
use placewright_http::audit::Note;
use placewright_http::document::{Document, long};
use placewright_http::extract::{Path, Query};
use placewright_http::pool::Pool;
use placewright_http::problem::{Code, Problem};
use placewright_scheduler::Cancel;

use super::contract;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(draft))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[into_params(parameter_in = Query)]
struct DraftQuery {
    /// Name of the policy that the document is a draft of; that of the cluster if not given. It
    /// may be one that is not there yet.
    policy: Option<String>,
    /// How many of the newest decisions are made again; 200 if not given.
    #[param(minimum = 1, maximum = 10000)]
    decisions: Option<usize>,
    /// Of how many decisions that differ it is told which entry tips them; 20 if not given.
    #[param(minimum = 0, maximum = 1000)]
    examples: Option<usize>,
    /// Number of a decision of which the shares of chance are told, before and under the draft.
    shares_of: Option<u64>,
    /// Make the decisions one after the other, the oldest first, each on what those before it have
    /// come to: a VM that would have gone elsewhere is there as long as it was where it went, and
    /// one that would have found a host only now stays. What was measured, forced placements and
    /// batches are as they were. No decision is explained. False if not given.
    #[serde(default)]
    in_sequence: bool,
}

impl DraftQuery {
    fn wanted(&self) -> Result<DraftWanted, Problem> {
        let wanted = DraftWanted {
            decisions: self.decisions.unwrap_or(200),
            examples: self.examples.unwrap_or(20),
            shares_of: self.shares_of,
            in_sequence: self.in_sequence,
        };
        let wrong = match wanted {
            it if !(1..=10_000).contains(&it.decisions) => "\"decisions\" must be from 1 to 10000",
            it if it.examples > 1000 => "\"examples\" must be from 0 to 1000",
            _ => return Ok(wanted),
        };
        Err(Problem::new(Code::InvalidParameter, wrong))
    }
}

/// Make recorded decisions of a cluster again under a policy that is not saved: how many would
/// have another outcome, which, through which entry of the policy, and how many fall on each
/// host. Each decision is made again by itself, on the inventory of then, or on what those before
/// it have come to (`in-sequence`). Nothing is changed.
#[utoipa::path(post, path = "/v1/clusters/{cluster}/draft", tag = "questions", operation_id = "ask_draft",
    params(("cluster" = String, Path, description = "Name of the cluster"), DraftQuery),
    request_body(content = contract::PolicyDocument, description = "The policy's document, in JSON or TOML"),
    responses((status = OK, body = DraftReplayed)))]
async fn draft(
    State(deployment): State<Arc<Deployment>>,
    Extension(questions): Extension<Arc<Pool>>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
    Path(cluster): Path<String>,
    Query(query): Query<DraftQuery>,
    document: Document,
) -> Result<Response, Problem> {
    note.only_asks();
    let wanted = query.wanted()?;
    let cluster = deployment.cluster(&cluster)?;
    let name = query.policy.clone();
    let name = name.unwrap_or_else(|| cluster.settings().policy.to_string());
    let users = deployment.clusters_of(&name);
    if !users.iter().all(|user| caller.sees(user.name())) {
        // What is wrong with it there would name them.
        return Err(caller.refused_elsewhere("this policy"));
    }
    let about = (&caller.name, &cluster.name().clone());
    let work = move |text, cancel: Cancel| {
        let edit = Edit {
            name,
            text,
            origin: Origin::Api,
            revision: None,
        };
        deployment.try_draft(&cluster, &edit, wanted, &cancel)
    };
    long(document.read_in_turn(&questions, about, work).await?).await
}
