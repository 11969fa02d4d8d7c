//! Asks a server what a unit would change.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::StatusCode;

use crate::cli::failure::Failure;

/// A server makes decisions again for ten seconds a cluster at most.
const PATIENCE: Duration = Duration::from_secs(600);

/// The greatest answer.
const LARGEST: u64 = 64 << 20;

/// A server, and the token that it is asked with.
pub(super) struct Server<'a> {
    pub(super) url: &'a str,
    pub(super) token: Option<&'a str>,
}

impl Server<'_> {
    /// What the server says of the unit: what was found out about it, and what it would
    /// change. A unit that is refused is no failure.
    pub(super) fn replay(
        &self,
        component: &[u8],
        signature: Option<&Path>,
        decisions: Option<usize>,
        examples: usize,
    ) -> Result<Value, Failure> {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let url = format!("{}/v1/units/replay", self.url.trim_end_matches('/'));
        let mut request = agent
            .post(&url)
            .content_type("application/wasm")
            .query("examples", examples.to_string());
        if let Some(decisions) = decisions {
            request = request.query("decisions", decisions.to_string());
        }
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(file) = signature {
            let text = fs::read_to_string(file).map_err(|error| {
                let error = anyhow::Error::new(error);
                Failure::input(error.context(format!("cannot read {}", file.display())))
            })?;
            request = request.header("x-unit-signature", text.trim());
        }
        let asked = format!("cannot ask {}", self.url);
        let failed = |error| Failure::input(anyhow::Error::new(error).context(asked.clone()));
        let mut answer = request.send(component).map_err(failed)?;
        let status = answer.status();
        let body = answer.body_mut().with_config().limit(LARGEST);
        let told: Value = body.read_json().map_err(failed)?;
        match status {
            StatusCode::OK => Ok(told),
            // What was found out about it is told as it is.
            StatusCode::UNPROCESSABLE_ENTITY if told.get("steps").is_some() => {
                Ok(serde_json::json!({ "staging": told, "clusters": {} }))
            }
            status => {
                let detail = told.get("detail").and_then(Value::as_str);
                Err(Failure::input_because(format!(
                    "{} answers {}: {}",
                    self.url,
                    status.as_u16(),
                    detail.unwrap_or("it says no more")
                )))
            }
        }
    }
}
