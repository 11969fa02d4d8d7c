//! `placewright events`: what happens.

use clap::Args;
use placewright_client::{Call, Event};

use super::{Session, fault, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};

/// Print what happens on a server, a line for each event, until you stop it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright events
  placewright events --after 0 --limit 100 --format json
  placewright events --kind vm-placed --kind vm-rejected --cluster east")]
pub(super) struct Follow {
    /// Begin after the event of this number, as far as the server remembers; with now if not given
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// Only events of this kind. May be given again
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// Only events of this cluster
    #[arg(long, short = 'c', value_name = "NAME")]
    cluster: Option<String>,
    /// End after N events
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Follow {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let events = session.client.events(Call::get(["events"]), self.after);
        let mut printed = 0;
        for event in events.map_err(fault)? {
            let event = event.map_err(fault)?;
            if !self.is_wanted(&event) {
                continue;
            }
            match session.format {
                Format::Json => output::print(&event.data.to_string())?,
                Format::Table => output::print(&line(&event))?,
            }
            printed += 1;
            if self.limit.is_some_and(|limit| printed >= limit) {
                return Ok(Answer::Yes);
            }
        }
        Err(Failure::internal(anyhow::anyhow!(
            "the server has ended the stream of events"
        )))
    }

    fn is_wanted(&self, event: &Event) -> bool {
        let is_of = |cluster: &String| event.data["cluster"].as_str() == Some(cluster);
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && self.cluster.as_ref().is_none_or(is_of)
    }
}

/// `12  vm-placed  east  a place for web-1 is reserved on h2`
fn line(event: &Event) -> String {
    let number = event.number.map(|number| number.to_string());
    let message = match event.data["message"].is_null() {
        true => shown::cell(&event.data),
        false => shown::cell(&event.data["message"]),
    };
    let parts = [
        number.unwrap_or_default(),
        shown::plain(&event.kind),
        shown::cell(&event.data["cluster"]),
        message,
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("  ")
}
