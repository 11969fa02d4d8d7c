//! `placewright token`.

use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use placewright_document::{Word, words};
use placewright_http::{Role, Secret, Token, why_reserved};

use super::failure::{Answer, Failure};
use super::{output, serve};

/// Make tokens for callers of a server (those of a server that runs: token list, token create).
#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    New(New),
}

impl TokenCommand {
    /// Run the command.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self {
            Self::New(new) => new.run(),
        }
    }
}

/// Make a token: prints the lines for the server's configuration, and its secret once.
///
/// The lines go to standard output, so that they can be appended to the server's configuration
/// file; the secret cannot be found from them. The secret goes to standard error. Its owner sends
/// it as "Authorization: Bearer SECRET".
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright token new --name alice --role admin >> placewright.toml
  placewright token new --name engine-east --role operator --cluster east \\
      --cluster west

See placewright --help for exit codes.")]
pub(super) struct New {
    /// Names the owner in logs and events
    #[arg(long)]
    name: String,
    /// What the owner may do; each may what the ones before it may
    #[arg(long, value_parser = PossibleValuesParser::new(words::<Role>())
        .map(|word| Role::from_word(&word).unwrap_or(Role::Viewer)))]
    role: Role,
    /// A cluster that it is for; all if none is given. May be given again
    #[arg(long = "cluster", value_name = "NAME")]
    clusters: Vec<String>,
}

impl New {
    fn run(self) -> Result<Answer, Failure> {
        if self.name.trim().is_empty() {
            return Err(Failure::input_because(
                "the name of a token must not be empty",
            ));
        }
        if let Some(why) = why_reserved(&self.name) {
            return Err(Failure::input_because(why));
        }
        let secret = Secret::random().map_err(Failure::internal)?;
        let clusters = self.clusters.iter().map(|name| Arc::from(name.as_str()));
        let token = Token {
            name: self.name.as_str().into(),
            role: self.role,
            sha256: secret.sha256(),
            clusters: (!self.clusters.is_empty()).then(|| clusters.collect()),
        };
        // Apart from the lines, which are the ones to be stored.
        output::remark(&format!(
            "The secret of {}, shown this once:\n{}",
            self.name,
            secret.reveal()
        ));
        output::print(&serve::token_lines(&token))?;
        Ok(Answer::Yes)
    }
}
