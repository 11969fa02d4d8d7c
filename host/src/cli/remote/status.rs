//! The server itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use placewright_client::{Call, ClientError, Method};
use serde_json::{Value, json};

use super::{Session, document, fault, shown};
use crate::cli::failure::{Answer, Failure};

/// Tell whether the server is there and decides.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright status

Exit code 1: it is there, and does not decide yet or any more.")]
pub(super) struct Status {}

impl Status {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let health = session.call(Call::get(["health"]))?.body;
        let ready = match session.client.call(Call::get(["ready"]).unrepeated()) {
            Ok(answer) => answer.body,
            Err(ClientError::Refused(refusal)) if refusal.status == 503 => refusal.body,
            Err(error) => return Err(fault(error)),
        };
        let is_ready = ready["ready"] == true;
        let about = json!({
            "server": session.client.server(), "health": health, "ready": ready,
        });
        session.print(&about, shown::outline)?;
        Ok(Answer::yes_if(is_ready))
    }
}

/// Let the server read its configuration, tokens and certificates again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright reload")]
pub(super) struct Reload {}

impl Reload {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let answer = session.call(Call::post(["reload"]))?;
        session.print(&answer.body, shown::outline)?;
        Ok(Answer::Yes)
    }
}

/// What a call does.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What a server counts stands beside the versions of its API.
const METRICS: &str = "metrics";

/// Make any call of the API, and print the answer as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright call get clusters/east/hosts
  placewright call post clusters/east/what-if --query without=h1")]
pub(super) struct RawCall {
    /// What it does
    #[arg(value_enum, ignore_case = true, value_name = "METHOD")]
    verb: Verb,
    /// The path below /v1, with slashes between its parts; or /metrics
    path: String,
    /// A query parameter. May be given again
    #[arg(long = "query", value_name = "KEY=VALUE")]
    queries: Vec<String>,
    /// A file that is sent (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Only if it has this ETag
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
}

impl RawCall {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let method = match self.verb {
            Verb::Get => Method::Get,
            Verb::Post => Method::Post,
            Verb::Put => Method::Put,
            Verb::Patch => Method::Patch,
            Verb::Delete => Method::Delete,
        };
        if let Some((path, _)) = self.path.split_once('?') {
            return Err(Failure::input_because(format!(
                "a path has no \"?\": write {path} --query KEY=VALUE"
            )));
        }
        let path = self.path.trim_start_matches('/');
        let path = path.strip_prefix("v1/").unwrap_or(path);
        let mut call = match path {
            METRICS => Call::of_root(method, [METRICS]),
            path => Call::new(method, path.split('/')),
        };
        for query in &self.queries {
            let Some((key, value)) = query.split_once('=') else {
                return Err(Failure::input_because(format!(
                    "\"{query}\" is no query parameter: write KEY=VALUE"
                )));
            };
            call = call.query(key, value);
        }
        if let Some(file) = &self.body {
            call = call.content(document::of_file(file)?);
        }
        if let Some(etag) = self.if_match {
            call = call.header("if-match", etag);
        }
        let answer = session.call(call)?;
        match answer.body {
            Value::Null => {}
            Value::String(text) => crate::cli::output::print(&text)?,
            body => crate::cli::output::print_json(&body)?,
        }
        Ok(Answer::Yes)
    }
}
