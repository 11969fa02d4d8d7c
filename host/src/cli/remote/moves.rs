//! Places are confirmed and given back; plans of moves are made, begun and stopped.

use clap::Args;
use placewright_client::Call;
use serde_json::{Value, json};

use super::{ClusterArg, Session, moment, shown};
use crate::cli::balance::margin;
use crate::cli::failure::{Answer, Failure};

/// Tell that VMs run where their places were reserved.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright confirm web-1 web-2 --cluster east")]
pub(super) struct Confirm {
    /// The ids of the VMs
    #[arg(required = true, value_name = "ID")]
    vms: Vec<String>,
    /// The host on which they run
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Confirm {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let mut body = json!({"vms": self.vms});
        if let Some(host) = self.host {
            body["host"] = host.into();
        }
        // What is so already is a success, so that it may be told again.
        let call = Call::post(["clusters", &cluster, "confirm"])
            .json(&body)
            .repeatable();
        let answer = session.call(call)?;
        session.print(&answer.body, |body| match body.is_null() {
            true => format!("Confirmed: {}", self.vms.join(", ")),
            false => shown::outline(body),
        })?;
        Ok(Answer::Yes)
    }
}

/// Give reserved places back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright cancel web-1 --cluster east")]
pub(super) struct Cancel {
    /// The ids of the VMs
    #[arg(required = true, value_name = "ID")]
    vms: Vec<String>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Cancel {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let body = json!({"vms": self.vms});
        let call = Call::post(["clusters", &cluster, "cancel"]).json(&body);
        let answer = session.call(call)?;
        session.print(&answer.body, |body| match body.is_null() {
            true => format!("Given back: {}", self.vms.join(", ")),
            false => shown::outline(body),
        })?;
        Ok(Answer::Yes)
    }
}

/// Keep a reserved place for longer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright renew web-1 --seconds 600 --cluster east")]
pub(super) struct Renew {
    /// The id of the VM
    #[arg(value_name = "ID")]
    vm: String,
    /// For so many seconds from now, or so long, such as 10min
    #[arg(long, value_name = "DURATION", value_parser = moment::seconds)]
    seconds: i64,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Renew {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let call = Call::post(["clusters", &cluster, "reservations", &self.vm, "renew"]);
        let answer = session.call(call.json(&json!({"reserve-for": self.seconds})))?;
        session.print(&answer.body, shown::outline)?;
        Ok(Answer::Yes)
    }
}

/// Plan the moves that improve a running cluster.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod balance
  placewright --context prod balance --moves 10 --dry-run")]
pub(super) struct Balance {
    /// The most moves of the plan
    #[arg(long, value_name = "N")]
    moves: Option<usize>,
    /// A move must lower the policy's cost by more than this; what is usual if not given
    #[arg(long, value_name = "COST", value_parser = margin)]
    margin: Option<f64>,
    /// Seconds for which a VM stays where it was moved to, or so long, such as 2min; as long as is
    /// usual if not given
    #[arg(long, value_name = "DURATION", value_parser = moment::seconds)]
    cool_down: Option<i64>,
    /// Whether repairs come first: VMs on hosts that are not up, broken hard groups, hosts that
    /// promise more than they may; true if not given
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    repairs: Option<bool>,
    /// So many moves may be under way at the same time
    #[arg(long, value_name = "N")]
    max_in_flight: Option<usize>,
    /// Plan, and record nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Balance {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let mut call = Call::post(["clusters", &cluster, "plans"]);
        if self.dry_run {
            call = call.query("dry-run", true);
        }
        let mut body = json!({});
        if let Some(moves) = self.moves {
            body["moves"] = moves.into();
        }
        if let Some(margin) = self.margin {
            body["margin"] = margin.into();
        }
        if let Some(seconds) = self.cool_down {
            body["cool-down"] = seconds.into();
        }
        if let Some(repairs) = self.repairs {
            body["repairs"] = repairs.into();
        }
        if let Some(most) = self.max_in_flight {
            body["max-in-flight"] = most.into();
        }
        let answer = session.call(call.json(&body))?;
        session.print(&answer.body, plan)?;
        Ok(Answer::Yes)
    }
}

/// Plan how hosts are emptied.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod evacuate h1 h2
  placewright --context prod evacuate h1 --dry-run

Exit code 1: a VM cannot leave.")]
pub(super) struct Evacuate {
    /// The hosts to empty
    #[arg(required = true, value_name = "ID")]
    hosts: Vec<String>,
    /// So many moves may be under way at the same time
    #[arg(long, value_name = "N")]
    max_in_flight: Option<usize>,
    /// Plan, and record nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Evacuate {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let mut call = Call::post(["clusters", &cluster, "evacuate"]);
        if self.dry_run {
            call = call.query("dry-run", true);
        }
        let mut body = json!({"hosts": self.hosts});
        if let Some(most) = self.max_in_flight {
            body["max-in-flight"] = most.into();
        }
        let answer = session.call(call.json(&body))?;
        session.print(&answer.body, plan)?;
        let stuck = answer.body["stuck"].as_array();
        Ok(Answer::yes_if(stuck.is_none_or(Vec::is_empty)))
    }
}

/// Begin moves of a plan: their places are reserved, and whoever moves VMs is told.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright begin 7 --cluster east
  placewright begin 7 --step 1 --step 2 --cluster east
  placewright begin 7 --auto --cluster east")]
pub(super) struct Begin {
    /// The number of the plan
    plan: u64,
    /// A move, by its step; all that can begin if none is given. May be given again
    #[arg(long = "step", value_name = "N")]
    steps: Vec<u64>,
    /// Whether the plan goes on by itself as moves are confirmed; as before if not given
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    auto: Option<bool>,
    /// Seconds for which the places are reserved, or so long, such as 10min
    #[arg(long, value_name = "DURATION", value_parser = moment::seconds)]
    reserve_for: Option<i64>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Begin {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let mut body = match self.steps.is_empty() {
            true => json!({}),
            false => json!({"moves": self.steps}),
        };
        if let Some(auto) = self.auto {
            body["auto"] = auto.into();
        }
        if let Some(seconds) = self.reserve_for {
            body["reserve-for"] = seconds.into();
        }
        of_plan(session, &self.cluster, self.plan, "begin", Some(body))
    }
}

/// Stop a plan: places of its moves that are under way are given back, and no other move begins.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright stop 7 --cluster east")]
pub(super) struct Stop {
    /// The number of the plan
    plan: u64,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Stop {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        of_plan(session, &self.cluster, self.plan, "cancel", None)
    }
}

fn of_plan(
    session: &Session,
    cluster: &ClusterArg,
    number: u64,
    deed: &str,
    body: Option<Value>,
) -> Result<Answer, Failure> {
    let cluster = cluster.name(session)?;
    let number = number.to_string();
    let mut call = Call::post(["clusters", &cluster, "plans", &number, deed]);
    if let Some(body) = body {
        call = call.json(&body);
    }
    let answer = session.call(call)?;
    session.print(&answer.body, plan)?;
    Ok(Answer::Yes)
}

/// A plan: its moves or why there are none, the VMs that cannot leave, what is left to an
/// operator, and what was not done.
fn plan(body: &Value) -> String {
    let list = |key: &str| body[key].as_array().map_or(&[][..], Vec::as_slice);
    let (moves, stuck) = (list("moves"), list("stuck"));
    let count = match moves.len() {
        1 => "1 move".to_owned(),
        count => format!("{count} moves"),
    };
    let mut parts = vec![match body["number"].as_u64() {
        Some(number) => format!("Plan {number}: {count}"),
        None => count,
    }];
    if !moves.is_empty() {
        let columns = [">step", "VM:vm", "from", "to", "state", "reason", "why"];
        parts.push(shown::table(&columns, moves));
    }
    if !stuck.is_empty() {
        parts.push(format!(
            "These cannot leave:\n{}",
            shown::table(&["VM:vm", "host:from", "why it cannot:why"], stuck)
        ));
    }
    for (title, columns, key) in [
        (
            "These have places reserved already:",
            &["VM:vm", "place:host", "runs on:from", "until:expires-time"][..],
            "reserved",
        ),
        (
            "These moves were proposed and are not made:",
            &["VM:vm", "host:from", "because"],
            "refused",
        ),
    ] {
        if !list(key).is_empty() {
            parts.push(format!("{title}\n{}", shown::table(columns, list(key))));
        }
    }
    let sentences = list("reasons").iter().filter_map(Value::as_str);
    parts.extend(sentences.map(str::to_owned));
    parts.extend(list("notes").iter().map(note));
    parts.join("\n\n")
}

/// What a plan leaves to an operator.
fn note(note: &Value) -> String {
    let text = |key: &str| note[key].as_str().unwrap_or_default();
    match (note["host"].as_str(), note["state"].as_str()) {
        (Some(host), Some(state)) => {
            format!("Bring host {host} into {state}: {}", text("reason"))
        }
        _ => format!("Note: {}", text("reason")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_without_moves_says_why_and_what_is_left_to_an_operator() {
        let body = json!({
            "number": 1, "moves": [], "stuck": [], "reserved": [],
            "refused": [{"after": 0, "vm": "a", "from": "h1", "because": "no host takes it"}],
            "reasons": ["every host is as full as the others"],
            "notes": [{"kind": "host-state", "host": "h1", "state": "maintenance", "reason": "it is up"}],
        });
        let shown = plan(&body);
        assert!(shown.starts_with("Plan 1: 0 moves\n\nThese moves were proposed"));
        assert!(shown.contains("no host takes it"), "{shown}");
        assert!(
            shown.ends_with(
                "every host is as full as the others\n\nBring host h1 into maintenance: it is up"
            ),
            "{shown}"
        );
    }
}
