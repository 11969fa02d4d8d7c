//! `placewright token`.

use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use placewright::api::{Role, Secret, Token};
use placewright::document::{Word, words};

use super::failure::{Answer, Failure};
use super::{output, serve};

/// Make tokens for callers of a server.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    New(New),
}

impl TokenCommand {
    /// Run the command.
    pub fn run(self) -> Result<Answer, Failure> {
        match self {
            Self::New(new) => new.run(),
        }
    }
}

/// Make a token: prints its secret once, and the lines for the server's configuration.
///
/// The secret goes to the caller, who sends it as "Authorization: Bearer SECRET". The lines go
/// into the server's configuration file; the secret cannot be found from them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright token new --name alice --role admin
  placewright token new --name engine-east --role operator --cluster east --cluster west

See placewright --help for exit codes.")]
pub struct New {
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
        let secret = Secret::random().map_err(Failure::internal)?;
        let clusters = self.clusters.iter().map(|name| Arc::from(name.as_str()));
        let token = Token {
            name: self.name.as_str().into(),
            role: self.role,
            sha256: secret.sha256(),
            clusters: (!self.clusters.is_empty()).then(|| clusters.collect()),
        };
        output::print(&format!(
            "# The secret, for {}; it is shown this once:\n# {}\n\n{}",
            self.name,
            secret.reveal(),
            serve::token_lines(&token)
        ))?;
        Ok(Answer::Yes)
    }
}
