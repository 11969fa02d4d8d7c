//! Tokens of a server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand};
use placewright_client::{Call, Method};
use placewright_document::{Word, words};
use placewright_http::Role;
use serde_json::{Value, json};

use super::list::Kind;
use super::{Session, fault, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};

/// List, issue and revoke tokens of a server (lines for its configuration: placewright token new)
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  placewright --context prod token list
  placewright --context prod token create ci --role operator --cluster east \\
      --expires-in 30d > ci.secret
  placewright --context prod token delete ci")]
pub(super) enum Token {
    /// List all tokens, with where they come from
    List,
    Create(Create),
    /// Show a token, without its secret
    Show {
        /// Its name
        name: String,
    },
    /// Revoke a token that was issued: it counts no more at once
    Delete {
        /// Its name
        name: String,
    },
}

/// Issue a token: prints its secret, this once.
///
/// The secret goes to standard output, so that it can be stored in a file; what is known of the
/// token goes to standard error.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("end").multiple(false), after_help = "\
Examples:
  placewright --context prod token create alice --role admin
  placewright --context prod token create ci --role operator --cluster east \\
      --expires-at 2027-01-01T00:00:00Z > ci.secret")]
pub(super) struct Create {
    /// Names the owner in logs and events
    #[arg(value_name = "NAME")]
    new_name: String,
    /// What the owner may do; each may what the ones before it may
    #[arg(long, value_parser = PossibleValuesParser::new(words::<Role>())
        .map(|word| Role::from_word(&word).unwrap_or(Role::Viewer)))]
    role: Role,
    /// A cluster that it is for; all if none is given. May be given again
    #[arg(long = "cluster", value_name = "NAME")]
    clusters: Vec<String>,
    /// How long it counts, as 12h or 30d, a number alone in seconds; for good if no end is given
    #[arg(long, value_name = "DURATION", group = "end", value_parser = duration)]
    expires_in: Option<Duration>,
    /// When it expires, as 2027-01-01T00:00:00Z
    #[arg(long, value_name = "TIME", group = "end", value_parser = humantime::parse_rfc3339_weak)]
    expires_at: Option<SystemTime>,
}

/// A duration with its unit, or in seconds.
fn duration(text: &str) -> Result<Duration, humantime::DurationError> {
    match text.parse() {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => humantime::parse_duration(text),
    }
}

impl Token {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        match self {
            Self::List => {
                let items = session.client.list(&Call::get(["tokens"]), usize::MAX);
                session.print(&items.map_err(fault)?.into(), |items| {
                    let items = items.as_array().map_or(&[][..], Vec::as_slice);
                    shown::table(Kind::Tokens.columns(), items)
                })?;
            }
            Self::Create(create) => create.run(session)?,
            Self::Show { name } => {
                let answer = session.call(Call::get(["tokens", &name]))?;
                session.print(&answer.body, shown::outline)?;
            }
            Self::Delete { name } => {
                let answer = session.call(Call::new(Method::Delete, ["tokens", &name]))?;
                session.print(&answer.body, |_| "It is gone.".to_owned())?;
            }
        }
        Ok(Answer::Yes)
    }
}

impl Create {
    fn run(self, session: &Session) -> Result<(), Failure> {
        let mut wanted = json!({"name": self.new_name, "role": self.role.word()});
        if !self.clusters.is_empty() {
            wanted["clusters"] = self.clusters.as_slice().into();
        }
        if let Some(expires) = self.end()? {
            wanted["expires"] = expires.into();
        }
        let answer = session.call(Call::post(["tokens"]).json(&wanted))?;
        match (session.format, &answer.body["secret"]) {
            (Format::Table, Value::String(secret)) => {
                output::remark(&format!(
                    "{}\nIts secret, shown this once:",
                    shown::outline(&answer.body["token"])
                ));
                output::print(secret)
            }
            _ => output::print_json(&answer.body),
        }
    }

    /// When it expires, in seconds since 1970.
    fn end(&self) -> Result<Option<u64>, Failure> {
        let after = |duration| SystemTime::now().checked_add(duration);
        let end = match (self.expires_at, self.expires_in) {
            (Some(end), _) => Some(end),
            (None, Some(duration)) => Some(after(duration).ok_or_else(|| {
                Failure::input_because("--expires-in is longer than there is time")
            })?),
            (None, None) => None,
        };
        let since = end.map(|end| end.duration_since(UNIX_EPOCH));
        let since = since.transpose().map_err(|_| {
            Failure::input_because("--expires-at is before 1970: a token expires later than now")
        })?;
        Ok(since.map(|since| since.as_secs()))
    }
}
