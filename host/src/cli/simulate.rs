//! `placewright simulate`: a trace and a fleet in; counts, times and a picture out.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use placewright_chain::Reuse;
use placewright_model::schema::Schema;
use placewright_model::{Kind, Measure, Value};
use placewright_plugins::DEFAULT_POLICY;
use placewright_scheduler::{BalanceError, BalanceOptions};
use placewright_tools::simulate::trace::{Trace, TraceError};
use placewright_tools::simulate::{
    Balancing, CallTime, Fleet, Outcome, Replay, ReplayError, Report, Reused, plot,
};

use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::progress::Follower;
use super::simulate_cluster::{self, ClusterArgs};
use super::simulate_openb::{self, Wanted};
use super::spread;
use super::units::{self, UnitArgs};

/// Less memory than this was written without its unit of measure.
const LEAST_MEMORY: i64 = 1 << 20;

/// Replay what happened to a cluster, or a trace of VMs, and count.
///
/// With --cluster, the hosts are those of a document, of any size and kind, with the VMs that run
/// there, and --events tells what happens in order of time: VMs that come and go, hosts that fail and
/// return, measured load, and every other change. Several policies stand side by side. A server
/// gives both files of its own history: placewright --server URL export CLUSTER.
///
/// An event is a line of JSON with its "time" and one of: "place" (what is to be placed, in the
/// words of placewright place --vm; it runs at once), "reserve" (the same, and it runs once a later
/// event confirms it), "confirm", "cancel", "remove" (ids of VMs), "down", "up" (ids of hosts),
/// "statistics" and "changes" (as in a document of changes). Or it is a row of a CSV file with the
/// columns time, event, id, and any column of VMs, requests and hosts: the event is one of these
/// words, or vm or host for a change of one. Times are seconds, or RFC 3339.
///
/// With --trace, the hosts are all alike and empty at first, and VMs come and go as the trace says; each is placed when it comes, and stays on its host until it
/// leaves. The trace is CSV, plain or gzip, in one of
/// two formats that the header tells apart: vm,tenant,core_u,ram_u,prio,start_s,end_s (Azure
/// Trace for Packing 2020; 100 core_u are a core, 4 ram_u a GiB; VMs of (2, 8), which have another
/// scale, and VMs larger than a host are left out) or vm,batch,flavor,start_s,dur_s (Azure Public
/// Dataset V1; with a table of flavors). The same input gives the same decisions, always: their
/// hash is decision_fnv1a64.
///
/// With --nodes, the hosts are those of that file, and the trace is a list of pods with GPUs
/// (Alibaba's cluster-trace-gpu-v2023, "openb"): pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,
/// shuffled by the seed and lengthened until it asks for 130 % of the GPUs. Nobody leaves then.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright simulate --cluster cluster.toml --events week.jsonl \\
      --policy general --policy power-saving --plot week.svg
  placewright simulate --cluster cluster.toml --events week.csv \\
      --policy mine.toml --restart=ha --decisions decisions.jsonl
  placewright simulate --trace vms.csv.gz --hosts 1000 \\
      --host-cores 40 --host-memory 512GiB --policy best-fit
  placewright simulate --trace vms.csv.gz --hosts 900 \\
      --host-cores 40 --host-memory 512GiB --policy power-saving \\
      --plot power-saving.svg --format json
  placewright simulate --trace vms.csv.gz --hosts 900 \\
      --host-cores 40 --host-memory 512GiB --policy even-distribution \\
      --balance=10min
  placewright simulate --trace pods-default.csv.gz --nodes nodes.csv.gz \\
      --policy gpu-fgd

See placewright --help for exit codes. VMs that find no host are counted; they are no failure.")]
pub(super) struct Simulate {
    /// The trace
    #[arg(long, value_name = "FILE", required_unless_present = "cluster")]
    trace: Option<PathBuf>,
    /// The table of flavors (flavor,cores,ram_qgib); if not given, flavors.csv or flavors.csv.gz
    /// beside the trace
    #[arg(long, value_name = "FILE")]
    flavors: Option<PathBuf>,
    /// How many hosts, 100,000 at most
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        required_unless_present_any = ["nodes", "cluster"]
    )]
    hosts: Option<u32>,
    /// CPU of each host in cores, for example 40 or 0.5
    #[arg(long, value_name = "CORES", value_parser = cores, required_unless_present_any = ["nodes", "cluster"])]
    host_cores: Option<i64>,
    /// Memory of each host, for example 512GiB
    #[arg(long, value_name = "SIZE", value_parser = memory, required_unless_present_any = ["nodes", "cluster"])]
    host_memory: Option<i64>,
    /// The nodes of a cluster of GPUs (node,cpu_milli,memory_mib,gpu,model): replay a list of pods
    /// with GPUs on them
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["hosts", "host_cores", "host_memory", "flavors", "statistics", "plot", "balance"]
    )]
    nodes: Option<PathBuf>,
    /// The policy: one that comes with the program (placewright policy list), or a file. With --cluster,
    /// may be given again
    #[arg(long = "policy", value_name = "NAME|FILE", default_value = DEFAULT_POLICY)]
    policies: Vec<String>,
    /// Stop after N arrivals
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Seed of all random draws, for policies that use chance; with --nodes also of the order of the
    /// pods. If not given 0, or with --cluster what the document says
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Call every unit for every host in every decision, without the cache
    #[arg(long)]
    no_reuse: bool,
    /// Whether hosts report cpu.usage and memory.free as if each VM used all that it was promised: a
    /// trace tells no more. auto: if a unit of the policy reads it, and neither --cluster nor --events
    /// tells of it
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        default_missing_value = "on",
        num_args = 0..=1,
        require_equals = true
    )]
    statistics: When,
    /// Let the policy's balance unit move VMs every so often, for example every 10min; every 5
    /// minutes if no time is given. Moves take no time
    #[arg(
        long,
        value_name = "TIME",
        value_parser = seconds,
        default_missing_value = "5min",
        num_args = 0..=1,
        require_equals = true
    )]
    balance: Option<i64>,
    /// Draw hosts in use and promised CPU and memory over time into this file (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    own: ClusterArgs,
    #[command(flatten)]
    units: UnitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    On,
    Off,
}

impl Simulate {
    /// Replay and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let reuse = (!self.no_reuse).then(Reuse::default);
        let statistics = match self.statistics {
            When::Auto => None,
            When::On => Some(true),
            When::Off => Some(false),
        };
        let balance = self.balance.map(|every| Balancing {
            every,
            options: BalanceOptions::default(),
        });
        let Some(trace) = &self.trace else {
            let wanted = simulate_cluster::Wanted {
                policies: &self.policies,
                seed: self.seed,
                reuse,
                balance,
                statistics,
                plot: self.plot.as_ref(),
                format: self.format,
            };
            return self.own.run(&self.units.load()?, &wanted);
        };
        let [policy] = &self.policies[..] else {
            return Err(Failure::input_because(
                "several policies stand side by side with --cluster only: give --policy once",
            ));
        };
        let generation = self.units.load()?;
        let policy = units::policy(policy, &generation, Schema::built_in())?;
        let seed = self.seed.unwrap_or(0);
        if let Some(nodes) = &self.nodes {
            let wanted = Wanted {
                seed,
                limit: self.limit,
                reuse,
                format: self.format,
            };
            simulate_openb::run(nodes, trace, &policy, &generation, &wanted)?;
            return Ok(Answer::Yes);
        }
        let trace = Trace::open(trace, self.flavors.as_deref()).map_err(unreadable)?;
        let replay = Replay {
            trace: &trace,
            // Without --nodes, none of these may be left out.
            fleet: Fleet {
                hosts: self.hosts.unwrap_or_default(),
                cpu: self.host_cores.unwrap_or_default(),
                memory: self.host_memory.unwrap_or_default(),
            },
            limit: self.limit,
            statistics,
            seed,
            reuse,
            balance,
        };
        if self.balance.is_some() && policy.balance.is_none() {
            return Err(Failure::input_because(format!(
                "policy \"{}\" names no unit that balances: give it a table \"balance\", or leave --balance out",
                policy.name
            )));
        }
        let mut follower = Follower::new("replaying");
        let outcome = replay
            .run(policy, &generation, &mut follower)
            .map_err(failure)?;
        self.draw(&outcome)?;
        match self.format {
            Format::Json => output::print_json(&outcome.report)?,
            Format::Table => output::print(&text(&outcome.report))?,
        }
        Ok(Answer::Yes)
    }

    fn draw(&self, outcome: &Outcome) -> Result<(), Failure> {
        let Some(path) = &self.plot else {
            return Ok(());
        };
        let svg = plot::svg(outcome).map_err(Failure::internal)?;
        write_file(path, &svg)
    }
}

/// Write a file that the command line names.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::input(error.context(format!("cannot write {}", path.display())))
    })
}

fn unreadable(error: TraceError) -> Failure {
    Failure::input(error)
}

/// A time, in whole seconds.
pub(super) fn seconds(text: &str) -> Result<i64, String> {
    let time = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => humantime::parse_duration(text)
            .map_err(|_| "write a time, for example 10min, 90s or 90".to_owned())?
            .as_secs(),
    };
    match i64::try_from(time) {
        Ok(seconds @ 1..) => Ok(seconds),
        _ => Err("the time must be a second or more".to_owned()),
    }
}

/// A unit that fails is no fault of the input.
pub(super) fn failure(error: ReplayError) -> Failure {
    match error {
        ReplayError::Place { line, source } => {
            let at = format!("the VM of line {line} of the trace came to no decision");
            Failure::place(*source).context(at)
        }
        ReplayError::Balance { time, source } => {
            let at = format!("the balance pass at second {time} came to no plan");
            match *source {
                BalanceError::Place(error) => Failure::place(error).context(at),
                error => Failure::input(error).context(at),
            }
        }
        ReplayError::EventPlace { line, time, source } => {
            let at = format!("the VMs of line {line}, at second {time}, came to no decision");
            Failure::place(*source).context(at)
        }
        error => Failure::input(error),
    }
}

fn cores(text: &str) -> Result<i64, String> {
    match Measure::Millicores.parse(text, Kind::Integer) {
        Ok(Value::Integer(millicores)) if millicores > 0 => Ok(millicores),
        Ok(_) => Err("a host needs CPU: write for example 40".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn memory(text: &str) -> Result<i64, String> {
    match Measure::Bytes.parse(text, Kind::Integer) {
        Ok(Value::Integer(bytes)) if bytes >= LEAST_MEMORY => Ok(bytes),
        Ok(_) => Err("that is less than 1 MiB: write the unit too, for example 512GiB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn text(report: &Report) -> String {
    [
        output::shown(&figures(report)),
        "CPU load of hosts (how many, averaged over time up to the last arrival)".to_owned(),
        spread::text(&[("", report)]),
        output::shown(&times(&report.calls)),
        kept_answers(report.reuse.as_ref()),
        ending(report),
    ]
    .join("\n\n")
}

fn figures(report: &Report) -> comfy_table::Table {
    let Report { fleet, trace, .. } = report;
    let mut table = output::table(&["", ">value"]);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    let count = |count: u64| output::number(count as f64);
    row("arrivals", count(trace.arrivals));
    row("VMs placed", count(report.placed));
    row("VMs rejected", count(report.rejected));
    row("  their cores", output::number(report.rejected_cores));
    row(
        "  their memory",
        output::bytes(report.rejected_memory_bytes),
    );
    row("hosts", count(fleet.hosts.into()));
    row("  of cores", output::number(fleet.cpu as f64 / 1000.0));
    row("  of memory", output::bytes(fleet.memory));
    row("hosts in use, peak", count(report.peak_used_hosts.into()));
    row("hosts in use, mean", output::number(report.mean_used_hosts));
    row("hosts in use, end", count(report.end_used_hosts.into()));
    row("VMs, peak", count(report.peak_vms.into()));
    row("VMs, end", count(report.end_vms.into()));
    row(
        "CPU promised, peak",
        format!("{:.2} %", report.peak_cpu_pct),
    );
    row(
        "memory promised, peak",
        format!("{:.2} %", report.peak_memory_pct),
    );
    if let Some(balance) = &report.balance {
        row("balance passes", count(balance.passes));
        row("  with moves", count(balance.passes_with_moves));
        let each = balance.time.as_secs_f64() * 1000.0 / balance.passes.max(1) as f64;
        row("  milliseconds each", format!("{each:.1}"));
        row("VMs moved", count(balance.moves));
    }
    row(
        "decisions per second",
        output::number(report.decisions_per_second),
    );
    table
}

/// What each call of the chain took.
pub(super) fn times(calls: &[CallTime]) -> comfy_table::Table {
    let columns = [
        "unit",
        ">calls",
        ">hosts asked about",
        ">seconds",
        ">% of the replay",
    ];
    let mut table = output::table(&columns);
    for call in calls {
        table.add_row([
            call.unit.clone(),
            output::number(call.calls as f64),
            output::number(call.rows as f64),
            format!("{:.3}", call.time.as_secs_f64()),
            format!("{:.1}", call.share_pct),
        ]);
    }
    table
}

/// What keeping answers has brought, in a sentence.
pub(super) fn kept_answers(reuse: Option<&Reused>) -> String {
    let Some(reuse) = reuse else {
        return "No answers were cached.".to_owned();
    };
    let (asked, reused) = reuse.units.iter().fold((0, 0), |(asked, reused), unit| {
        (asked + unit.asked, reused + unit.reused)
    });
    let counts = &reuse.counts;
    let mut text = format!(
        "Cache: units judged {} hosts, and {} answers came from the cache; {} of {} decisions came from cached sums; {} entries were evicted for lack of memory, and {} of them were needed again.",
        output::number(asked as f64),
        output::number(reused as f64),
        output::number(counts.from_sums as f64),
        output::number(counts.decisions as f64),
        output::number(counts.evicted as f64),
        output::number(counts.wanted_again as f64),
    );
    if !reuse.quarantined.is_empty() {
        let units = reuse.quarantined.join(", ");
        text.push_str(&format!(
            " Not cached, because they gave different answers for a host that had not changed: {units}."
        ));
    }
    text
}

fn ending(report: &Report) -> String {
    let trace = &report.trace;
    let units: Vec<String> = report
        .units
        .iter()
        .map(|unit| {
            let digest: String = unit.digest.chars().take(12).collect();
            format!("{} {} ({digest})", unit.name, unit.version)
        })
        .collect();
    let statistics = match report.statistics {
        true => "\nHosts report load and free memory as if VMs used all that they were promised.",
        false => "",
    };
    format!(
        "Trace: {} ({})\n\
         Left out: {} VMs of another scale, {} larger than a host\n\
         Policy: {}\n\
         {}\n\
         Decisions: {}{statistics}",
        trace.name,
        trace.form,
        trace.left_out_other_scale,
        trace.left_out_too_large,
        report.policy,
        output::list("Units:", &units),
        report.decision_fnv1a64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_hosts_are_read_as_people_write_them() {
        assert_eq!(cores("40"), Ok(40_000));
        assert_eq!(cores("0.5"), Ok(500));
        assert_eq!(memory("512GiB"), Ok(512 << 30));
        assert!(cores("0").is_err());
        assert!(cores("many").is_err());
        assert!(memory("512").is_err_and(|error| error.contains("512GiB")));
    }
}
