//! `placewright events`: what happens.

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use placewright_client::{Call, Client, ClientError, Event, Events};
use placewright_deployment::EventKind;
use placewright_document::Word;

use super::{Session, fault, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};

/// Print what happens on a server, a line for each event, until you stop it.
///
/// When the server restarts, it is asked again, and the events go on after the last one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright events
  placewright events --after 0 --limit 100 --format json
  placewright events --kind vm-placed --kind vm-cancelled --cluster east")]
pub(super) struct Follow {
    /// Begin after the event of this number, as far as the server remembers; with now if not given
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// Only events of this kind. May be given again
    #[arg(long = "kind", value_name = "KIND", value_parser = PossibleValuesParser::new(kinds()), hide_possible_values = true)]
    kinds: Vec<String>,
    /// Only events of this cluster
    #[arg(long, short = 'c', value_name = "NAME")]
    cluster: Option<String>,
    /// End after N events
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// The words for what events tell.
fn kinds() -> impl Iterator<Item = &'static str> {
    EventKind::WORDS.iter().map(|(word, _)| *word)
}

impl Follow {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let mut events = Following::begin(session.client.clone(), self.after)?;
        let mut printed = 0;
        loop {
            let event = events.next()?;
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
    }

    fn is_wanted(&self, event: &Event) -> bool {
        let is_of = |cluster: &String| event.data["cluster"].as_str() == Some(cluster);
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && self.cluster.as_ref().is_none_or(is_of)
    }
}

/// The first wait before a server is asked for its events again; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// After so long without an answer the server is asked no more.
const PATIENCE: Duration = Duration::from_secs(600);

/// What happens on a server, event by event. Where the stream ends, as when the server restarts,
/// it is asked for again from the last event on.
pub(super) struct Following {
    client: Client,
    stream: Events,
    last: Option<u64>,
}

impl Following {
    /// Begin after the event of that number; with now if it is none.
    pub(super) fn begin(client: Client, after: Option<u64>) -> Result<Self, Failure> {
        let stream = client.events(Call::get(["events"]), after).map_err(fault)?;
        Ok(Self {
            client,
            stream,
            last: after,
        })
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<Event, Failure> {
        loop {
            match self.stream.next() {
                Some(Ok(event)) => {
                    self.last = event.number.or(self.last);
                    return Ok(event);
                }
                Some(Err(error)) if !is_passing(&error) => return Err(fault(error)),
                Some(Err(_)) | None => self.stream = self.begun_again()?,
            }
        }
    }

    fn begun_again(&self) -> Result<Events, Failure> {
        let meanwhile = match self.last {
            Some(number) => format!("it goes on after event {number}"),
            None => "what happens meanwhile is not told".to_owned(),
        };
        output::warn(&[format!(
            "the stream of events has ended; the server is asked for it again, and {meanwhile}"
        )]);
        let (end, mut wait) = (Instant::now() + PATIENCE, FIRST_WAIT);
        loop {
            thread::sleep(wait);
            match self.client.events(Call::get(["events"]), self.last) {
                Ok(stream) => return Ok(stream),
                Err(error) if is_passing(&error) && Instant::now() < end => {
                    wait = LONGEST_WAIT.min(wait * 2);
                }
                Err(error) => return Err(fault(error)),
            }
        }
    }
}

/// Whether a server that is there again, or has room again, would answer otherwise.
fn is_passing(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. } => true,
        ClientError::Refused(refusal) => matches!(refusal.status, 429 | 502..=504),
        _ => false,
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
