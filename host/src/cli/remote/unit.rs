//! Units of a server.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use placewright_client::{Call, Content, Method};
use serde_json::{Value, json};

use super::{Session, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::units;

/// A component that is sent.
#[derive(Debug, Args)]
pub(super) struct Component {
    /// The component: a file (*.wasm), or the name of a unit that comes with the program
    #[arg(value_name = "FILE|NAME")]
    file: String,
    /// Its detached signature, where the server wants one
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
}

impl Component {
    fn of(&self, call: Call) -> Result<Call, Failure> {
        let call = call.content(Content::Component(
            units::component(&self.file)?.into_owned(),
        ));
        match &self.signature {
            Some(file) => Ok(call.header("x-unit-signature", units::read(file)?.trim())),
            None => Ok(call),
        }
    }
}

/// Put units in force, try them, and go back
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  placewright --context prod unit put mine.wasm
  placewright --context prod unit check mine.wasm
  placewright --context prod unit shadow mine.wasm
  placewright --context prod unit rollback memory --to 3f9a11c2")]
pub(super) enum Unit {
    /// Show what a unit is, reads, and can be set to
    Inspect {
        /// Its name
        name: String,
    },
    /// Show what a unit costs in time and memory, cluster by cluster
    Costs {
        /// Its name
        name: String,
    },
    /// List the components that were in force under a name
    History {
        /// The name
        name: String,
    },
    /// Put a component in force, if it passes all steps
    Put {
        #[command(flatten)]
        component: Component,
        /// Put it in force even if policies cannot run with it; their clusters decide nothing
        /// until they have other policies
        #[arg(long)]
        override_policies: bool,
    },
    /// Take a component through all steps, and put nothing in force
    Check(Component),
    /// Tell which recorded decisions a component would change
    Replay(Component),
    /// Let a component judge every decision beside the one in force, and decide nothing
    Shadow {
        #[command(flatten)]
        component: Component,
        /// Every how many decisions it is asked
        #[arg(long, value_name = "N")]
        every: Option<u64>,
    },
    /// Show how a component in the shadow agrees with the one in force
    ShadowReport {
        /// The name of the unit
        name: String,
    },
    /// Put the component in the shadow in force
    Promote {
        /// The name of the unit
        name: String,
    },
    /// Put a former component in force again
    Rollback {
        /// The name of the unit
        name: String,
        /// The component, by its digest or 8 digits of it; the one before if not given
        #[arg(long, value_name = "DIGEST")]
        to: Option<String>,
    },
    /// Hold a unit at the component in force, whatever files come
    Pin {
        /// Its name
        name: String,
    },
    /// Let files change a pinned unit again
    Unpin {
        /// Its name
        name: String,
    },
    /// Ask a unit no more
    Disable {
        /// Its name
        name: String,
    },
    /// Ask a disabled unit again
    Enable {
        /// Its name
        name: String,
    },
}

impl Unit {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let deed = |name: &str, deed: &[&str]| {
            let way = ["units", name].into_iter().chain(deed.iter().copied());
            Call::post(way.collect::<Vec<_>>())
        };
        let call = match &self {
            Self::Inspect { name } => Call::get(["units", name, "inspection"]),
            Self::History { name } | Self::Costs { name } => {
                let list = match self {
                    Self::Costs { .. } => "costs",
                    _ => "history",
                };
                let call = Call::get(["units", name, list]);
                let items = session
                    .client
                    .list(&call, usize::MAX)
                    .map_err(super::fault)?;
                session.print(&items.into(), shown::outline)?;
                return Ok(Answer::Yes);
            }
            Self::Put {
                component,
                override_policies,
            } => {
                let call = Call::new(Method::Put, ["units"]);
                component.of(match override_policies {
                    true => call.query("override-policies", true),
                    false => call,
                })?
            }
            Self::Check(component) => component.of(Call::post(["units", "check"]).repeatable())?,
            Self::Replay(component) => component.of(Call::post(["units", "replay"]).repeatable())?,
            Self::Shadow { component, every } => {
                let call = Call::post(["units", "shadow"]);
                component.of(match every {
                    Some(every) => call.query("every", every),
                    None => call,
                })?
            }
            Self::ShadowReport { name } => Call::get(["units", name, "shadow"]),
            Self::Promote { name } => deed(name, &["shadow", "promote"]),
            Self::Rollback { name, to } => {
                let call = deed(name, &["rollback"]);
                match to {
                    Some(digest) => call.json(&json!({"digest": digest})),
                    None => call,
                }
            }
            Self::Pin { name } => deed(name, &["pin"]),
            Self::Unpin { name } => deed(name, &["unpin"]),
            Self::Disable { name } => deed(name, &["disable"]),
            Self::Enable { name } => deed(name, &["enable"]),
        };
        let body = match session.client.call(call) {
            Ok(answer) => answer.body,
            // A component that is refused is told with its steps.
            Err(placewright_client::ClientError::Refused(refusal))
                if refusal.body.get("steps").is_some() =>
            {
                refusal.body
            }
            Err(error) => return Err(super::fault(error)),
        };
        session.print(&body, |body| match body {
            Value::Null => "Done.".to_owned(),
            body => shown::outline(body),
        })?;
        Ok(Answer::yes_if(body["outcome"]["result"] != "refused"))
    }
}
