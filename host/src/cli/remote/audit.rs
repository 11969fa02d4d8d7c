//! The audit log of a server.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use placewright_client::Call;
use serde_json::{Value, json};

use super::moment::moment;
use super::{Session, shown};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};

/// Read the audit log of a server (files are checked by placewright audit verify)
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  placewright --context prod audit list --since 1h
  placewright --context prod audit list --by ci --result refused")]
pub(super) enum Audit {
    List(List),
}

/// List records, the newest first: who changed what, what came of it, and who was refused.
///
/// Where records were lost, or are not as they were written, that is said on standard error; in
/// JSON it stands under "gaps".
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod audit list --since 1h
  placewright --context prod audit list --by ci --action policies --limit 10
  placewright --context prod audit list --text web-1 --format json")]
pub(super) struct List {
    /// Only records of this kind
    #[arg(long, value_name = "KIND",
        value_parser = PossibleValuesParser::new(["call", "refusal", "event", "server", "log"]))]
    kind: Option<String>,
    /// Only what the token of this name did, or was refused
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Only records whose word, or whose method and route, have this text
    #[arg(long, value_name = "TEXT")]
    action: Option<String>,
    /// Only records of this cluster
    #[arg(long, short = 'c', value_name = "NAME")]
    cluster: Option<String>,
    /// Only calls with this result
    #[arg(long, value_name = "RESULT",
        value_parser = PossibleValuesParser::new(["done", "refused", "failed", "unanswered"]))]
    result: Option<String>,
    /// Only calls that were answered with this status
    #[arg(long, value_name = "STATUS")]
    status: Option<u16>,
    /// Only records of which an id, a name or a sentence has this text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only what was recorded then or later: a time as 2026-11-26T08:00:00Z, or so long ago, as 1h
    #[arg(long, value_name = "TIME|DURATION", value_parser = moment)]
    since: Option<String>,
    /// Only what was recorded then or before
    #[arg(long, value_name = "TIME|DURATION", value_parser = moment)]
    until: Option<String>,
    /// Only records before the one of this number
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// List at most N
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

impl Audit {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        match self {
            Self::List(list) => list.run(session),
        }
    }
}

impl List {
    fn run(self, session: &Session) -> Result<Answer, Failure> {
        let (mut items, mut gaps) = (Vec::new(), Vec::new());
        let mut after = self.after.map(|after| after.to_string());
        // Pages may be empty although there are more: each looks at a part of the log.
        loop {
            let room = self.limit - items.len();
            let mut call = self.call().query("limit", room.clamp(1, 1000));
            if let Some(after) = &after {
                call = call.query("after", after);
            }
            let mut page = session.call(call)?.body;
            for (name, all) in [("items", &mut items), ("gaps", &mut gaps)] {
                if let Value::Array(found) = page[name].take() {
                    all.extend(found);
                }
            }
            items.truncate(self.limit);
            after = page["next"].as_str().map(str::to_owned);
            if after.is_none() || items.len() >= self.limit {
                break;
            }
        }
        match session.format {
            Format::Json => {
                let mut listed = json!({"items": items, "gaps": gaps});
                if let Some(next) = after {
                    listed["next"] = next.into();
                }
                output::print_json(&listed)?;
            }
            Format::Table => {
                for gap in &gaps {
                    output::remark(&format!("warning: {}", shown::cell(&gap["message"])));
                }
                output::print(&match items.is_empty() {
                    true => "There is none.".to_owned(),
                    false => table(&items),
                })?;
                if let Some(next) = after {
                    output::remark(&format!("There are earlier ones: --after {next}"));
                }
            }
        }
        Ok(Answer::Yes)
    }

    fn call(&self) -> Call {
        let status = self.status.map(|status| status.to_string());
        let filters = [
            ("kind", &self.kind),
            ("by", &self.by),
            ("action", &self.action),
            ("cluster", &self.cluster),
            ("result", &self.result),
            ("status", &status),
            ("text", &self.text),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let mut call = Call::get(["audit"]);
        for (name, value) in filters {
            if let Some(value) = value {
                call = call.query(name, value);
            }
        }
        call
    }
}

/// One row for each record.
fn table(records: &[Value]) -> String {
    let mut table = output::table(&[">record", "at", "by", "what", "about", "result"]);
    for record in records {
        let seconds = |at: String| at.get(..19).map_or(at.clone(), |it| format!("{it}Z"));
        table.add_row([
            shown::cell(&record["sequence"]),
            seconds(shown::cell(&record["at"])),
            shown::cell(&record["by"]),
            what(record),
            about(record),
            result(record),
        ]);
    }
    output::shown(&table)
}

/// The word and the sentence of what happened, or method and route of a call.
fn what(record: &Value) -> String {
    let route = match record["route"].is_null() {
        true => &record["path"],
        false => &record["route"],
    };
    let parts = [
        &record["method"],
        route,
        &record["what"],
        &record["message"],
    ];
    joined(parts.map(shown::cell))
}

fn about(record: &Value) -> String {
    let of = |name: &str| match &record[name] {
        Value::Null => String::new(),
        value => format!("{name} {}", shown::cell(value)),
    };
    let names = [
        "cluster", "policy", "unit", "vm", "vms", "host", "decision", "plan",
    ];
    joined(names.map(of))
}

fn result(record: &Value) -> String {
    let parts = [&record["result"], &record["status"], &record["code"]];
    joined(parts.map(shown::cell))
}

fn joined<const N: usize>(parts: [String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_who_did_what_and_does_nothing_to_the_terminal() {
        let record = json!({
            "sequence": 7, "at": "2026-11-26T08:00:00.123456Z", "by": "ci", "method": "POST",
            "route": "/v1/clusters/{cluster}/place", "cluster": "east", "vms": "a\u{1b}[2J",
            "decision": 9, "status": 409, "code": "conflict", "result": "failed",
        });
        assert_eq!(what(&record), "POST /v1/clusters/{cluster}/place");
        assert_eq!(about(&record), "cluster east vms a\\u{1b}[2J decision 9");
        assert_eq!(result(&record), "failed 409 conflict");
    }
}
