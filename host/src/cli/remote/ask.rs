//! Decisions and questions.

use clap::Args;
use placewright_client::Call;
use placewright_scheduler::questions::USUAL_CAPACITY;
use serde_json::{Value, json};

use super::decided::Decided;
use super::{ClusterArg, Session, document, explanation, shown, ways};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output;
use crate::cli::place::SearchArgs;

/// How decisions are asked for.
#[derive(Debug, Args)]
struct Terms {
    /// Decide, and reserve nothing
    #[arg(long)]
    dry_run: bool,
    /// Wait up to so many seconds for a place, if there is none now
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
}

impl Terms {
    fn of(&self, call: Call) -> Result<Call, Failure> {
        let mut call = call;
        if self.dry_run {
            call = call.query("dry-run", true);
        }
        if let Some(seconds) = self.wait {
            call = call.query("wait", seconds);
        }
        // A call that is repeated since no answer came reserves no second place.
        call.once().map_err(super::fault)
    }
}

/// Decide where a VM, or VMs that go together, run, and reserve their places.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod place --vm vm.toml
  placewright --context prod place --vm vm.toml --dry-run
  placewright --context prod place --vm vms.toml --batch --all-or-nothing

Exit code 1: a VM found no host.")]
pub(super) struct Place {
    /// The VM: the id of one that is known, or the document of one or of a request
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    #[command(flatten)]
    cluster: ClusterArg,
    #[command(flatten)]
    terms: Terms,
    /// Take all VMs of the document as one batch
    #[arg(long, conflicts_with = "wait")]
    batch: bool,
    /// With --batch: plan as if none of these VMs had a place, so that running ones may move; places
    /// are reserved as far as the policy gives them with these VMs where they run
    #[arg(long, requires = "batch")]
    from_nothing: bool,
    /// With --batch: take the VMs in the order in which they are listed
    #[arg(long, requires = "batch")]
    listed: bool,
    /// Place all VMs or none
    #[arg(long, requires = "batch")]
    all_or_nothing: bool,
    #[command(flatten)]
    search: SearchArgs,
}

impl Place {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let route = if self.batch { "place-batch" } else { "place" };
        let mut call = Call::post(["clusters", &cluster, route]);
        for (name, is_wanted) in [
            ("from-nothing", self.from_nothing),
            ("listed", self.listed),
            ("all-or-nothing", self.all_or_nothing),
        ] {
            if is_wanted {
                call = call.query(name, true);
            }
        }
        if let Some(search) = self.search.search {
            if !self.batch {
                return Err(Failure::input_because(
                    "--search is for a plan of many VMs: give --batch with it",
                ));
            }
            call = call.query("search", search);
        }
        let vm = document::of_vm(session, &cluster, &self.vm)?;
        let call = self.terms.of(call)?.content(vm);
        let answer = session.call(call)?;
        let decided = Decided::of(&answer.body);
        session.print(&answer.body, |_| decided.shown(self.terms.dry_run))?;
        Ok(Answer::yes_if(decided.finds_all_a_host()))
    }
}

/// Decide where VMs that run are moved, other than where they are, and reserve their places.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright migrate --vm web-1 --cluster east

Exit code 1: there is no other host for it.")]
pub(super) struct Migrate {
    /// The VM: its id, or the document of a request
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    #[command(flatten)]
    cluster: ClusterArg,
    #[command(flatten)]
    terms: Terms,
}

impl Migrate {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let call = self
            .terms
            .of(Call::post(["clusters", &cluster, "migrate"]))?;
        let answer = session.call(call.content(document::of_vm(session, &cluster, &self.vm)?))?;
        let decided = Decided::of(&answer.body);
        session.print(&answer.body, |_| decided.shown(self.terms.dry_run))?;
        Ok(Answer::yes_if(decided.finds_all_a_host()))
    }
}

/// Tell why a VM goes where it goes now, and with --host why it does not go there.
///
/// A VM that runs is asked about as if it were placed again. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright why --vm web-1 --host h7 --cluster east
  placewright why --vm vm.toml --cluster east")]
pub(super) struct Why {
    /// The VM: the id of one that is known, or a document
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    /// The host that is asked about; where it goes, and why no other host takes it, if not given
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Why {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let vm = document::of_vm(session, &cluster, &self.vm)?;
        let Some(host) = self.host else {
            // Where it would go now, and what keeps it off each other host; nothing is reserved.
            let call = Call::post(["clusters", &cluster, "place"]).query("dry-run", true);
            let call = call.repeatable().content(document::again(vm));
            let answer = session.call(call)?;
            let decided = Decided::of(&answer.body);
            session.print(&answer.body, |_| decided.shown(true))?;
            return Ok(Answer::Yes);
        };
        let call = Call::post(["clusters", &cluster, "why"]).repeatable();
        let answer = session.call(call.query("host", host).content(vm))?;
        session.print(&answer.body, ways::text)?;
        Ok(Answer::Yes)
    }
}

/// Explain a recorded decision: every host, who removed it and why, or what it cost.
///
/// With --host the answer is about that host, on the inventory of then: what kept the VMs off it,
/// and the smallest changes of the request or the host that would have let it through. With --policy
/// it tells how the decision comes out by that policy as it is now, on the inventory of then.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod explain 4711
  placewright --context prod explain 4711 --host h7
  placewright --context prod explain 4711 --policy general-2
  placewright --context prod explain 4711 --format json")]
pub(super) struct Explain {
    /// The number of the decision
    number: u64,
    /// The host that is asked about
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    /// A policy that decides instead of the one that decided then
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Explain {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let number = self.number.to_string();
        let what = match self.host {
            Some(_) => "why",
            None => "explanation",
        };
        let mut call = Call::get(["clusters", &cluster, "decisions", &number, what]);
        for (name, value) in [("host", &self.host), ("policy", &self.policy)] {
            if let Some(value) = value {
                call = call.query(name, value);
            }
        }
        let answer = session.call(call)?;
        let text = match self.host {
            Some(_) => ways::text,
            None => explanation::text,
        };
        session.print(&answer.body, text)?;
        Ok(Answer::Yes)
    }
}

/// Tell how many more of a VM fit, on which hosts, and what stops the next one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod capacity --vm vm.toml

Exit code 1: not one more fits.")]
pub(super) struct Capacity {
    /// The VM: the id of one that is known, or a document
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    /// Stop when N copies have found a host
    #[arg(long, value_name = "VMS", default_value_t = USUAL_CAPACITY)]
    at_most: usize,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Capacity {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let call = Call::post(["clusters", &cluster, "capacity"]).repeatable();
        let call = call.query("at-most", self.at_most);
        let answer = session.call(call.content(document::of_vm(session, &cluster, &self.vm)?))?;
        session.print(&answer.body, room)?;
        Ok(Answer::yes_if(answer.body["fit"].as_u64().unwrap_or(0) > 0))
    }
}

/// How many more fit; that the search ended at its bound, and a quota that stops the next one, are
/// told as sentences.
fn room(body: &Value) -> String {
    let mut rest = body.clone();
    let mut take = |name: &str| rest.as_object_mut().and_then(|rest| rest.remove(name));
    let (refused, bounded) = (take("refused-by-quota"), take("bounded"));
    let mut text = shown::outline(&rest);
    if bounded == Some(Value::Bool(true)) {
        text.push_str("\n\nMaybe more fit: the search ended at --at-most.");
    }
    if let Some(refused) = refused {
        let because = shown::cell(&refused["because"]);
        text.push_str(&format!("\n\nThe next one is refused by {because}"));
    }
    text
}

/// Tell what a VM would cost on every host, and what removes the others.
///
/// Under the policy of the cluster, or under another one that need not decide anywhere. Nothing is
/// changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod costs --vm vm.toml
  placewright --context prod costs --cpu 8 --memory '64 GiB' --policy best-fit")]
pub(super) struct Costs {
    /// The VM: the id of one that is known, or a document
    #[arg(long, value_name = "ID|FILE", required_unless_present = "cpu")]
    vm: Option<String>,
    /// Cores of a new VM
    #[arg(long, value_name = "CORES", conflicts_with = "vm", requires = "memory")]
    cpu: Option<String>,
    /// Memory of a new VM
    #[arg(long, value_name = "AMOUNT", conflicts_with = "vm", requires = "cpu")]
    memory: Option<String>,
    /// The policy that is supposed to decide; that of the cluster if not given
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl Costs {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let mut call = Call::post(["clusters", &cluster, "host-costs"]).repeatable();
        if let Some(policy) = self.policy {
            call = call.query("policy", policy);
        }
        let call = match self.vm {
            Some(vm) => call.content(document::of_vm(session, &cluster, &vm)?),
            None => call.json(&json!({"id": "new", "cpu": self.cpu, "memory": self.memory})),
        };
        let answer = session.call(call)?;
        session.print(&answer.body, costs)?;
        Ok(Answer::Yes)
    }
}

/// A line for each host: what it costs, or why it is not left. The least cost first.
fn costs(body: &Value) -> String {
    let mut hosts: Vec<&Value> = body["hosts"].as_array().into_iter().flatten().collect();
    let tiers = |host: &Value| -> Vec<f64> {
        let costs = host["costs"].as_array().into_iter().flatten();
        costs
            .map(|it| it.as_f64().unwrap_or(f64::INFINITY))
            .collect()
    };
    hosts.sort_by(|a, b| {
        let is_out = |host: &Value| host["reason"].is_string();
        let (of_a, of_b) = (tiers(a), tiers(b));
        let by_cost = of_a.iter().zip(&of_b).map(|(a, b)| a.total_cmp(b));
        let by_cost = by_cost.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
        is_out(a).cmp(&is_out(b)).then(by_cost)
    });
    let mut table = output::table(&["host", ">cost", "removed by", "why"]);
    for host in hosts {
        let costs: Vec<String> = tiers(host)
            .into_iter()
            .map(|cost| match cost.is_finite() {
                true => output::number(cost),
                false => "infinite".to_owned(),
            })
            .collect();
        table.add_row([
            shown::cell(&host["host"]),
            costs.join(" / "),
            shown::cell(&host["filter"]),
            shown::cell(&host["reason"]),
        ]);
    }
    let chosen = match body["chosen"].as_str() {
        Some(host) => format!("would go to {}", shown::plain(host)),
        None => "would find no host".to_owned(),
    };
    let policy = shown::plain(body["policy"].as_str().unwrap_or_default());
    format!("under {policy} it {chosen}\n\n{table}")
}

/// Show what happens if hosts fail: where their VMs go, and which find no host.
///
/// Without --without-host, each host that is up fails alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod what-if
  placewright --context prod what-if --without-host h1 --without-host h2

Exit code 1: a VM that is to be restarted finds no host.")]
pub(super) struct WhatIf {
    /// The host that fails. Repeat it for hosts that fail together
    #[arg(long, value_name = "ID")]
    without_host: Vec<String>,
    /// Let each host that is up fail alone, as if no host is given
    #[arg(long, conflicts_with = "without_host")]
    n_plus_1: bool,
    /// Which VMs are restarted: ha or all
    #[arg(long, value_name = "ha|all")]
    restart: Option<String>,
    #[command(flatten)]
    cluster: ClusterArg,
}

impl WhatIf {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        let cluster = self.cluster.name(session)?;
        let mut call = Call::post(["clusters", &cluster, "what-if"]).repeatable();
        for host in &self.without_host {
            call = call.query("without", host);
        }
        if let Some(restart) = &self.restart {
            call = call.query("restart", restart);
        }
        let answer = session.call(call)?;
        session.print(&answer.body, failures)?;
        Ok(Answer::yes_if(answer.body["survived"] == true))
    }
}

/// One row for each failure: the hosts, and the VMs that find no host. Of a single one the homes of
/// its VMs as well.
fn failures(body: &Value) -> String {
    let all = body["failures"].as_array().map_or(&[][..], Vec::as_slice);
    let rows: Vec<Value> = all
        .iter()
        .map(|failure| {
            let vms = || failure["vms"].as_array().into_iter().flatten();
            let is_placed = |vm: &&Value| vm["host"].is_string();
            let homeless: Vec<&Value> = vms()
                .filter(|vm| !is_placed(vm))
                .map(|vm| &vm["vm"])
                .collect();
            json!({
                "hosts": failure["hosts"],
                "restarted": vms().filter(is_placed).count(),
                "homeless": homeless,
            })
        })
        .collect();
    let summary = shown::table(
        &[
            "hosts that fail:hosts",
            ">VMs restarted:restarted",
            "VMs that find no host:homeless",
        ],
        &rows,
    );
    match all {
        [one] => match one["vms"].as_array() {
            Some(vms) if !vms.is_empty() => {
                let homes = shown::table(&["VM:vm", ">priority", "from", "to:host"], vms);
                format!("{homes}\n\n{summary}")
            }
            _ => summary,
        },
        _ => summary,
    }
}
