//! `placewright unit replay`.

mod server;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use placewright_chain::Reuse;
use placewright_engine::Limits;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_model::schema::Schema;
use placewright_policy::Policy;
use placewright_scheduler::questions::Replayed;
use placewright_tools::simulate::trace::Trace;
use placewright_tools::simulate::{Candidate, Fleet, Outcome, Replay as TraceReplay, excerpt};
use serde::Serialize;

use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::progress::Follower;
use crate::cli::simulate;
use crate::cli::units::{self, UnitArgs};
use server::Server;

/// Tell which decisions a unit would change: those that a server has recorded, or those on a trace.
///
/// With --server, the recorded decisions of all clusters that use the unit of its name are made
/// again with it, each on the cluster as it was; nothing comes into force. Otherwise a trace is
/// replayed under a policy, and this unit judges each VM beside the one of its name, on the same
/// hosts; then the trace is replayed once more with this unit alone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit replay units/memory.wasm --server http://127.0.0.1:7425
  placewright unit replay units/memory.wasm --policy even-distribution
  placewright unit replay units/memory.wasm --policy mine.toml \\
      --trace vms.csv.gz --hosts 900

Exit code 1: a decision comes out differently, or the unit is refused. See placewright --help
for the others.")]
pub(crate) struct Replay {
    /// The unit: a file, or the name of one that comes with the program
    #[arg(value_name = "FILE|NAME")]
    unit: String,
    /// The server whose recorded decisions are made again
    #[arg(long, value_name = "URL", conflicts_with_all = ["policy", "trace", "hosts", "arrivals"])]
    server: Option<String>,
    /// The token for the server, of the role admin
    #[arg(
        long,
        value_name = "TOKEN",
        env = "PLACEWRIGHT_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
    /// The detached signature of the unit, where the server wants one
    #[arg(long, value_name = "FILE", requires = "server")]
    signature: Option<PathBuf>,
    /// How many of each cluster's newest decisions are made again; the server's choice if not given
    #[arg(long, value_name = "N", requires = "server")]
    decisions: Option<usize>,
    /// The policy that names the unit: one that comes with the program, or a file
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "server")]
    policy: Option<String>,
    /// The trace, as for placewright simulate; the excerpt that comes with the program if not given
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How many hosts of 40 cores and 512 GiB the trace is replayed on
    #[arg(
        long,
        value_name = "N",
        default_value_t = excerpt::FLEET.hosts,
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    hosts: u32,
    /// Stop after N arrivals
    #[arg(long, value_name = "N", default_value_t = 15_000)]
    arrivals: usize,
    /// How many decisions that come out differently are explained
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

/// What would change on a trace.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct OnTrace {
    unit: String,
    /// Of this component.
    digest: String,
    trace: String,
    policy: String,
    hosts: u32,
    /// The share of decisions that come out the same.
    agreement: f64,
    #[serde(flatten)]
    replayed: Replayed,
    /// The whole replay by the units as they are.
    before: Figures,
    /// And by this unit in the place of the one of its name.
    after: Figures,
}

/// What came out of a replay.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Figures {
    /// The component of the unit that decided.
    digest: String,
    placed: u64,
    rejected: u64,
    rejected_cores: f64,
    mean_used_hosts: f64,
}

impl Replay {
    /// Replay and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let bytes = units::component(&self.unit)?;
        if let Some(url) = &self.server {
            let server = Server {
                url,
                token: self.token.as_deref(),
            };
            let told = server.replay(
                &bytes,
                self.signature.as_deref(),
                self.decisions,
                self.examples,
            )?;
            match self.format {
                Format::Json => output::print_json(&told)?,
                Format::Table => output::print(&text::of_server(&told))?,
            }
            return Ok(Answer::yes_if(text::is_unchanged(&told)));
        }
        let told = self.on_trace(&bytes)?;
        let unchanged = told.replayed.differing == 0;
        match self.format {
            Format::Json => output::print_json(&told)?,
            Format::Table => {
                let told = serde_json::to_value(&told).map_err(Failure::internal)?;
                output::print(&text::on_trace(&told))?;
            }
        }
        Ok(Answer::yes_if(unchanged))
    }

    fn on_trace(&self, bytes: &[u8]) -> Result<OnTrace, Failure> {
        let named = self.policy.as_deref().unwrap_or_default();
        let generation = self.units.load()?;
        let engine = self.units.cache().engine(Limits::default())?;
        let unit = Unit::load(&engine, bytes, &self.unit).map_err(Failure::input)?;
        let candidate = generation.with(unit.clone());
        // With a unit that is not known otherwise, the policy has to be one with it.
        let policy = |generation: &Generation| units::policy(named, generation, Schema::built_in());
        let with_unit = policy(&candidate)?;
        let Some(before) = generation
            .get(unit.name())
            .filter(|_| with_unit.names(unit.name()))
        else {
            return Err(Failure::input_because(format!(
                "policy \"{}\" as it is calls no unit \"{}\", so that there is nothing to compare with: name one that does, and the unit as it is with --units",
                with_unit.name,
                unit.name()
            )));
        };
        let policy = policy(&generation)?;
        let trace = match &self.trace {
            Some(file) => Trace::open(file, None).map_err(Failure::input)?,
            None => excerpt::trace().map_err(Failure::internal)?,
        };
        let replay = TraceReplay {
            trace: &trace,
            fleet: Fleet {
                hosts: self.hosts,
                ..excerpt::FLEET
            },
            limit: Some(self.arrivals),
            statistics: None,
            seed: 0,
            reuse: Some(Reuse::default()),
            balance: None,
        };
        let mut follower = Follower::new("replaying as it is");
        let mut beside =
            Candidate::new(with_unit.clone(), &candidate, self.examples, &mut follower);
        let outcome = replay.run(policy, &generation, &mut beside);
        let outcome = outcome.map_err(simulate::failure)?;
        let replayed = beside.replayed().map_err(Failure::input)?;
        let after = alone(&replay, with_unit, &candidate, &unit)?;
        Ok(OnTrace {
            unit: unit.name().to_owned(),
            digest: unit.digest().to_string(),
            trace: trace.name.clone(),
            policy: outcome.report.policy.clone(),
            hosts: self.hosts,
            agreement: replayed.agreement(),
            replayed,
            before: Figures::of(&outcome, before),
            after,
        })
    }
}

/// The whole replay by the unit.
fn alone(
    replay: &TraceReplay<'_>,
    policy: Arc<Policy>,
    generation: &Generation,
    unit: &Unit,
) -> Result<Figures, Failure> {
    let mut follower = Follower::new("replaying with the unit");
    let outcome = replay.run(policy, generation, &mut follower);
    Ok(Figures::of(&outcome.map_err(simulate::failure)?, unit))
}

impl Figures {
    fn of(outcome: &Outcome, unit: &Unit) -> Self {
        let report = &outcome.report;
        Self {
            digest: unit.digest().to_string(),
            placed: report.placed,
            rejected: report.rejected,
            rejected_cores: report.rejected_cores,
            mean_used_hosts: report.mean_used_hosts,
        }
    }
}
