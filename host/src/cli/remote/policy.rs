//! Policies of a server.

use std::path::PathBuf;

use clap::Subcommand;
use placewright_client::{Call, Method};
use serde_json::json;

use super::{ClusterArg, Session, document, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};

/// Show, check, copy and attach policies (put, get and delete: placewright get --help)
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  placewright --context prod policy show mine > mine.toml
  placewright --context prod policy check mine mine.toml
  placewright --context prod policy attach mine --cluster east")]
pub(super) enum Policy {
    /// Print a policy's document
    Show {
        /// Its name
        name: String,
    },
    /// Check a document, without putting it in force
    Check {
        /// The name that the policy has or is to have
        name: String,
        /// The document (TOML or JSON)
        file: PathBuf,
    },
    /// Tell which recorded decisions a document would change, without putting it in force
    Draft {
        /// The name that the policy has or is to have
        name: String,
        /// The document (TOML or JSON)
        file: PathBuf,
        #[command(flatten)]
        cluster: ClusterArg,
        /// How many of the newest decisions are made again
        #[arg(long, value_name = "N", default_value_t = 200)]
        decisions: u64,
        /// Of how many that differ it is told which entry tips them
        #[arg(long, value_name = "N", default_value_t = 20)]
        examples: u64,
        /// Tell the shares of chance of the decision of that number
        #[arg(long, value_name = "NUMBER")]
        shares_of: Option<u64>,
        /// Make them one after the other, each on what those before it have come to, in place
        /// of each by itself on the inventory of then
        #[arg(long)]
        in_sequence: bool,
    },
    /// Make a copy of a policy under another name
    Clone {
        /// The one that is copied
        name: String,
        /// The name of the copy
        copy: String,
    },
    /// List a policy's revisions
    History {
        /// Its name
        name: String,
    },
    /// Let a policy decide in a cluster; what is set for the cluster otherwise stays
    Attach {
        /// Its name
        name: String,
        #[command(flatten)]
        cluster: ClusterArg,
    },
}

impl Policy {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        match self {
            Self::Show { name } => {
                let answer = session.call(Call::get(["policies", &name]))?;
                let text = answer.body["text"].as_str();
                match (session.format, text) {
                    (Format::Table, Some(text)) => output::print_document(text)?,
                    _ => output::print_json(&answer.body)?,
                }
            }
            Self::Check { name, file } => {
                let call = Call::post(["policies", &name, "check"]).repeatable();
                let answer = session.call(call.content(document::of_file(&file)?))?;
                session.print(&answer.body, shown::outline)?;
            }
            Self::Draft {
                name,
                file,
                cluster,
                decisions,
                examples,
                shares_of,
                in_sequence,
            } => {
                let cluster = cluster.name(session)?;
                let mut call = Call::post(["clusters", &cluster, "draft"])
                    .repeatable()
                    .content(document::of_file(&file)?)
                    .query("policy", name)
                    .query("decisions", decisions)
                    .query("examples", examples);
                if let Some(number) = shares_of {
                    call = call.query("shares-of", number);
                }
                if in_sequence {
                    call = call.query("in-sequence", true);
                }
                let answer = session.call(call)?;
                session.print(&answer.body, shown::outline)?;
            }
            Self::Clone { name, copy } => {
                let call = Call::post(["policies", &name, "clone"]);
                let answer = session.call(call.json(&json!({"name": copy})))?;
                session.print(&answer.body, shown::outline)?;
            }
            Self::History { name } => {
                let call = Call::get(["policies", &name, "history"]);
                let items = session
                    .client
                    .list(&call, usize::MAX)
                    .map_err(super::fault)?;
                session.print(&items.into(), |items| {
                    let items = items.as_array().map_or(&[][..], Vec::as_slice);
                    shown::table(&[">revision", "at", "by", "origin"], items)
                })?;
            }
            Self::Attach { name, cluster } => {
                let cluster = cluster.name(session)?;
                let way = ["clusters", &cluster, "settings"];
                let now = session.call(Call::get(way))?;
                let mut settings = now.body;
                settings["policy"] = name.into();
                if let Some(object) = settings.as_object_mut() {
                    // They follow from the others.
                    object.remove("revision");
                    object.remove("seed");
                }
                let mut call = Call::new(Method::Put, way).json(&settings);
                if let Some(etag) = now.etag {
                    call = call.header("if-match", etag);
                }
                let answer = session.call(call)?;
                session.print(&answer.body, shown::outline)?;
            }
        }
        Ok(Answer::Yes)
    }
}
