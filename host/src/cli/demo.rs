//! `placewright demo`: an excerpt of a real trace under three policies.

use std::sync::Arc;

use clap::Args;
use placewright_chain::Reuse;
use placewright_engine::Limits;
use placewright_engine::generation::Generation;
use placewright_model::schema::Schema;
use placewright_plugins::DEFAULT_POLICY;
use placewright_tools::simulate::excerpt::{self, FLEET};
use placewright_tools::simulate::trace::Trace;
use placewright_tools::simulate::{Outcome, Replay, Report};

use super::explained::{self, Extent};
use super::failure::{Answer, Failure};
use super::output;
use super::progress::Follower;
use super::spread;
use super::units::{self, CacheArgs};

const POLICIES: [&str; 3] = ["none", DEFAULT_POLICY, "power-saving"];

/// The decision that is explained: of this policy, by its number. A VM of 16 cores and
/// 128 GiB that comes when the fleet is well filled.
const EXPLAINED: (&str, u64) = (DEFAULT_POLICY, 4995);
/// How many of the hosts that were left are shown.
const BEST: usize = 6;

/// Show how three policies place the VMs of a real trace; needs no files.
///
/// Replays two weeks of a quarter of the tenants in a 1 % sample of the Azure Trace for Packing 2020
/// on a fleet that is too small at times, decides through the WebAssembly units that come with the
/// program, and explains one of the decisions in full.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  placewright demo

See placewright --help for exit codes.")]
pub(super) struct Demo {
    #[command(flatten)]
    cache: CacheArgs,
}

impl Demo {
    /// Replay, compare, explain.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let trace = excerpt::trace().map_err(Failure::internal)?;
        let engine = self.cache.engine(Limits::default())?;
        let generation = units::embedded(&engine)?;
        output::print(&introduction(&trace))?;
        let mut outcomes = Vec::with_capacity(POLICIES.len());
        let mut explanation = None;
        for name in POLICIES {
            let mut follower = Follower::new(name);
            if name == EXPLAINED.0 {
                follower = follower.explaining(EXPLAINED.1);
            }
            outcomes.push(replay(name, &trace, &generation, &mut follower)?);
            explanation = explanation.or(follower.explained);
        }
        output::print(&comparison(&outcomes))?;
        if let Some((decision, explanation)) = explanation {
            output::print(&explained_text(&decision, &explanation))?;
        }
        output::print(NEXT)?;
        Ok(Answer::Yes)
    }
}

fn replay(
    name: &str,
    trace: &Trace,
    generation: &Generation,
    follower: &mut Follower,
) -> Result<Outcome, Failure> {
    let policy = units::policy(name, generation, Schema::built_in())?;
    let replay = Replay {
        trace,
        fleet: FLEET,
        limit: None,
        statistics: None,
        seed: 0,
        reuse: Some(Reuse::default()),
        balance: None,
    };
    let outcome = replay.run(Arc::clone(&policy), generation, follower);
    outcome.map_err(super::simulate::failure)
}

fn introduction(trace: &Trace) -> String {
    format!(
        "Two weeks of a real cloud, {} VMs (an excerpt of the Azure Trace for Packing 2020,\n\
         CC-BY-4.0), on {} hosts of {} cores and {} each, under three policies.\n\
         Every decision is made by WebAssembly units that come with this program.\n\n",
        output::number(trace.vms.len() as f64),
        FLEET.hosts,
        FLEET.cpu / 1000,
        output::bytes(FLEET.memory),
    )
}

fn comparison(outcomes: &[Outcome]) -> String {
    let mut columns = vec![""];
    let names: Vec<String> = POLICIES.iter().map(|name| format!(">{name}")).collect();
    columns.extend(names.iter().map(String::as_str));
    let mut table = output::table(&columns);
    let mut row = |name: &str, value: fn(&Report) -> String| {
        let values = outcomes.iter().map(|outcome| value(&outcome.report));
        table.add_row(std::iter::once(name.to_owned()).chain(values));
    };
    row("VMs placed", |report| output::number(report.placed as f64));
    row("VMs rejected", |report| {
        output::number(report.rejected as f64)
    });
    row("cores rejected", |report| {
        output::number(report.rejected_cores)
    });
    row("hosts in use, peak", |report| {
        report.peak_used_hosts.to_string()
    });
    row("hosts in use, mean", |report| {
        format!("{:.1}", report.mean_used_hosts)
    });
    row("hosts in use, end", |report| {
        report.end_used_hosts.to_string()
    });
    row("CPU promised, peak", |report| {
        format!("{:.1} %", report.peak_cpu_pct)
    });
    row("decisions per second", |report| {
        output::number(report.decisions_per_second)
    });
    let sides: Vec<(&str, &Report)> = POLICIES
        .into_iter()
        .zip(outcomes.iter().map(|outcome| &outcome.report))
        .collect();
    format!(
        "{}\n\nHosts by CPU load (mean number over the two weeks)\n\n{}\n\n{READING}\n\n",
        output::shown(&table),
        spread::text(&sides),
    )
}

const READING: &str = "\
The more evenly VMs are spread, the less room is left in one piece: large VMs find none and are
rejected. Packed hosts leave others empty, for large VMs or to be switched off.";

fn explained_text(
    decision: &placewright_scheduler::Decision,
    explanation: &placewright_chain::Explanation,
) -> String {
    let vms: Vec<String> = decision
        .request
        .members
        .iter()
        .map(|vm| {
            let cores = vm.facts.integer("cpu").unwrap_or(0) as f64 / 1000.0;
            let memory = output::bytes(vm.facts.integer("memory").unwrap_or(0));
            format!("{} ({cores} cores, {memory})", vm.id)
        })
        .collect();
    format!(
        "One decision of {} in full: {}\n\n{}\n\n",
        explanation.policy,
        vms.join(", "),
        explained::text(explanation, Extent::Best(BEST))
    )
}

const NEXT: &str = "\
Next: placewright policy show power-saving, placewright place --help, placewright simulate --help";
