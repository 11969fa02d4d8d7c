//! Calls of the collector, on the thread that sends: it may wait.

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};

/// Bytes of an answer that are read at most.
const LONGEST_ANSWER: u64 = 64 << 10;

/// Calls over HTTP, one after the other.
#[derive(Debug)]
pub(super) struct Client(ureq::Agent);

impl Client {
    /// Each call takes so long at most.
    pub(super) fn new(limit: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(limit))
            .http_status_as_error(false)
            // What is sent may be for this collector alone, and so may the token.
            .max_redirects(0)
            .build();
        Self(config.into())
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = request.map(|body| body.to_vec());
        let (parts, body) = self.0.run(request)?.into_parts();
        let limited = body.into_with_config().limit(LONGEST_ANSWER);
        Ok(Response::from_parts(parts, limited.read_to_vec()?.into()))
    }
}
