//! `placewright export`.

use std::fmt::Write;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use placewright_client::Call;
use serde_json::{Value, json};

use super::moment::moment;
use super::{ClusterArg, Session};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output;

/// Write what happened to a cluster into two files that placewright simulate reads.
///
/// The first is the cluster's document as it was at the start, the second all that has happened
/// since: requests, VMs that came to run and that went, hosts that failed and returned,
/// measurements. It reaches back as far as the server records decisions (--recorded-decisions,
/// --history-bytes); if that is less than was asked for, the command says so. Of what happened
/// between two decisions, it is told as of the later one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod export --cluster east --since 7d \\
      --start start.json --events week.jsonl
  placewright simulate --cluster start.json --events week.jsonl \\
      --policy general --policy power-saving")]
pub(super) struct Export {
    #[command(flatten)]
    cluster: ClusterArg,
    /// From when on: a time (RFC 3339, or seconds since 1970), or so long ago, for example 7d or 12h;
    /// as far back as possible if not given
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<String>,
    /// Where the document of the cluster goes (JSON); there must be no such file
    #[arg(long, value_name = "FILE")]
    start: PathBuf,
    /// Where the events go (JSON lines); there must be no such file
    #[arg(long, value_name = "FILE")]
    events: PathBuf,
}

impl Export {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        for file in [&self.start, &self.events] {
            if file.exists() {
                return Err(Failure::input_because(format!(
                    "{} is there already: name another file",
                    file.display()
                )));
            }
        }
        let cluster = self.cluster.name(session)?;
        let mut call = Call::get(["clusters", &cluster, "history"]);
        if let Some(since) = &self.since {
            call = call.query("since", since);
        }
        let history = session.call(call)?.body;
        let start = serde_json::to_string_pretty(&history["start"]).map_err(Failure::internal)?;
        let events = history["events"].as_array().map_or(&[][..], Vec::as_slice);
        let mut lines = String::new();
        for event in events {
            let _ = writeln!(lines, "{event}");
        }
        write(&self.start, &(start + "\n"))?;
        write(&self.events, &lines)?;
        for note in history["notes"].as_array().into_iter().flatten() {
            output::remark(&format!("note: {}", note.as_str().unwrap_or_default()));
        }
        let about = json!({
            "start": self.start.display().to_string(),
            "events": self.events.display().to_string(),
            "count": events.len(),
            "first-decision": history["first-decision"],
            "last-decision": history["last-decision"],
            "from": history["from"],
            "to": history["to"],
            "notes": history["notes"],
        });
        session.print(&about, |about| self.text(about))?;
        Ok(Answer::Yes)
    }

    fn text(&self, about: &Value) -> String {
        let time = |key: &str| about[key].as_str().unwrap_or_default();
        format!(
            "Decisions {} to {}, {} to {}\nSaved: {}, {} ({} events)",
            about["first-decision"],
            about["last-decision"],
            time("from"),
            time("to"),
            self.start.display(),
            self.events.display(),
            about["count"]
        )
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(Failure::input)
}
