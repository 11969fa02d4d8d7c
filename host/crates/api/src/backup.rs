//! A copy of what is stored, of a server that goes on.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use placewright_deployment::Deployment;
use placewright_http::Caller;
use placewright_http::document::aside;
use placewright_http::problem::Problem;

/// The media type of a copy: generators of clients make nothing of that of SQLite's databases.
const DATABASE: &str = "application/octet-stream";

/// Bytes that are read and sent at a time.
const PIECE: usize = 256 << 10;

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new().routes(routes!(backup))
}

/// A copy of what is stored, as it is at one moment; decisions go on meanwhile. It is a database
/// that `placewright restore` puts into a folder of data. It holds clusters with their VMs,
/// reservations, plans and recorded decisions, policies with their revisions, and the components
/// of units; not the configuration, certificates and keys, the audit log, and the files in the
/// watched folders.
#[utoipa::path(post, path = "/v1/backup", operation_id = "create_backup", tag = "server",
    responses((status = OK, body = contract::Database, content_type = "application/octet-stream")))]
async fn backup(
    State(deployment): State<Arc<Deployment>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    tracing::info!(by = %caller.name, "a copy of the store is being made");
    let made = aside(move || {
        let file = deployment.backup().map_err(Problem::from)?;
        let length = file.metadata().map_err(|error| Problem::internal(&error))?;
        Ok::<_, Problem>((file, length.len()))
    });
    let (file, length) = made.await?;
    let pieces = stream::unfold(Some(file), |file| async {
        let file = file?;
        // The disk may be slow: other requests do not wait for it.
        let read = tokio::task::spawn_blocking(move || piece(file)).await;
        match read.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok((bytes, _)) if bytes.is_empty() => None,
            Ok((bytes, file)) => Some((Ok(bytes), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    });
    let headers = [
        (CONTENT_TYPE, DATABASE.to_owned()),
        (CONTENT_LENGTH, length.to_string()),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

fn piece(mut file: File) -> io::Result<(Bytes, File)> {
    let mut piece = Vec::with_capacity(PIECE);
    file.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
    Ok((piece.into(), file))
}
