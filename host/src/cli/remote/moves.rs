//! Places are confirmed and given back; plans of moves are made, begun and stopped.

use clap::Args;
use placewright_client::Call;
use serde_json::{Value, json};

use super::{ClusterArg, Session, shown};
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
    /// For so many seconds from now
    #[arg(long, value_name = "N")]
    seconds: u64,
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
        let answer = session.call(call.json(&json!({"hosts": self.hosts})))?;
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
  placewright begin 7 --step 1 --step 2 --cluster east")]
pub(super) struct Begin {
    /// The number of the plan
    plan: u64,
    /// A move, by its step; all that can begin if none is given. May be given again
    #[arg(long = "step", value_name = "N")]
    steps: Vec<u64>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Begin {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let body = match self.steps.is_empty() {
            true => json!({}),
            false => json!({"moves": self.steps}),
        };
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

/// A plan: its moves, and the VMs that cannot leave.
fn plan(body: &Value) -> String {
    let moves = body["moves"].as_array().map_or(&[][..], Vec::as_slice);
    let stuck = body["stuck"].as_array().map_or(&[][..], Vec::as_slice);
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
    parts.join("\n\n")
}
