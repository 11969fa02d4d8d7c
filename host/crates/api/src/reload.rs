//! Tokens, certificate and trusted keys are read anew.

use std::fmt;
use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use placewright_deployment::Deployment;
use placewright_http::Caller;
use placewright_http::audit::Note;
use placewright_http::document::written;
use placewright_http::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(reload))
}

/// Reads the configuration of a running server anew.
pub trait Reload: fmt::Debug + Send + Sync {
    /// Take over what can be taken over without a restart: all of it, or nothing.
    ///
    /// # Errors
    /// What is wrong with the configuration; all stays as it was.
    fn reload(&self) -> Result<Reloaded, String>;
}

/// What is in force now of the configuration that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Reloaded {
    /// How many tokens of the configuration are known from now on.
    #[schema(example = 5)]
    pub tokens: usize,
    /// How many keys are trusted from now on.
    #[schema(example = 1)]
    pub trusted_keys: usize,
    /// How many digests of units are revoked from now on.
    #[schema(example = 0)]
    pub revoked: usize,
    /// Whether the certificate and its key were read anew; false: requests do not come by TLS.
    pub certificate: bool,
    /// Options that are otherwise than when the server was started, by name: they count after
    /// a restart.
    #[schema(example = json!(["listen"]))]
    pub needs_restart: Vec<String>,
}

/// What reads the configuration of this server; None: it has none that could be read anew.
pub(super) type Reloader = Option<Arc<dyn Reload>>;

/// Read tokens, certificate and trusted keys anew, as SIGHUP has it done. If anything is wrong
/// with them, all stays as it was, and the answer says what is wrong.
#[utoipa::path(post, path = "/v1/reload", operation_id = "reload_configuration", tag = "server",
    responses((status = OK, body = Reloaded)))]
async fn reload(
    Extension(reloader): Extension<Reloader>,
    Extension(caller): Extension<Caller>,
    Extension(note): Extension<Note>,
) -> Result<Response, Problem> {
    let Some(reloader) = reloader else {
        let sentence = "this server was started without a configuration that could be reloaded";
        return Err(Problem::new(Code::Unprocessable, sentence));
    };
    tracing::info!(by = %caller.name, "the configuration is being reloaded");
    written(move || {
        let reloaded = reloader.reload().map_err(|wrong| {
            let sentence =
                format!("the configuration was not reloaded, and nothing has changed: {wrong}");
            Problem::new(Code::Unprocessable, sentence)
        })?;
        note.with(|record| record.after = serde_json::to_string(&reloaded).ok());
        Ok::<_, Problem>(reloaded)
    })
    .await
}
