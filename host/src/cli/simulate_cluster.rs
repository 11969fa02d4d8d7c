//! `placewright simulate --cluster`: a cluster of any kind and what happens to it.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use placewright_chain::Reuse;
use placewright_document::ClusterDocument;
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_policy::Policy;
use placewright_scheduler::questions::Restart;
use placewright_tools::simulate::Balancing;
use placewright_tools::simulate::cluster::{
    self, ClusterOutcome, ClusterReplay, ClusterReport, EventsForm, SideBySide, read_events,
    side_by_side,
};

use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::progress::SharedBar;
use super::simulate::{seconds, write_file};
use super::units;

/// What `simulate` takes besides for a cluster of any kind.
#[derive(Debug, Args)]
#[command(next_help_heading = "A cluster of your own")]
pub(super) struct ClusterArgs {
    /// In place of --trace: the document of a cluster at the start (TOML or JSON), as for placewright
    /// place: hosts of many sizes, zones, attributes, groups, tenants, and the VMs there
    #[arg(
        long,
        value_name = "FILE",
        requires = "events",
        conflicts_with_all = ["trace", "hosts", "host_cores", "host_memory", "nodes", "flavors", "limit"]
    )]
    pub cluster: Option<PathBuf>,
    /// What happens to it, in order of time: CSV with named columns or JSON lines, plain or gzip
    #[arg(long, value_name = "FILE", requires = "cluster")]
    events: Option<PathBuf>,
    /// How events are written, if the name of the file does not end in .csv, .jsonl, .ndjson or .json
    #[arg(long, value_enum, value_name = "FORMAT", requires = "cluster")]
    events_format: Option<EventsFormat>,
    /// Start VMs of hosts that fail elsewhere at once: all, or ha for those that are highly available.
    /// Without it, they wait until their hosts return
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_missing_value = "all",
        num_args = 0..=1,
        require_equals = true,
        requires = "cluster"
    )]
    restart: Option<Which>,
    /// Measurements older than this count as absent; for good if not given
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "cluster")]
    statistics_max_age: Option<i64>,
    /// How many policies are replayed at once; if not given, as many as there are processors
    #[arg(long, value_name = "N", requires = "cluster")]
    jobs: Option<NonZeroUsize>,
    /// Write each decision of each policy into this file (JSON lines)
    #[arg(long, value_name = "FILE", requires = "cluster")]
    decisions: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EventsFormat {
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    All,
    Ha,
}

/// What is wanted, whatever is replayed.
pub(super) struct Wanted<'w> {
    pub policies: &'w [String],
    pub seed: Option<u64>,
    pub reuse: Option<Reuse>,
    pub balance: Option<Balancing>,
    pub statistics: Option<bool>,
    pub plot: Option<&'w PathBuf>,
    pub format: Format,
}

impl ClusterArgs {
    /// Replay and print.
    pub(super) fn run(
        &self,
        generation: &Generation,
        wanted: &Wanted<'_>,
    ) -> Result<Answer, Failure> {
        let (Some(cluster), Some(events)) = (&self.cluster, &self.events) else {
            return Err(Failure::input_because(
                "give --cluster and --events together, or --trace",
            ));
        };
        let file = cluster.display().to_string();
        let document =
            ClusterDocument::read(&units::read(cluster)?, &file).map_err(Failure::input)?;
        output::warn(&document.warnings());
        let form = self.form(events)?;
        let hosts = document.hosts.iter().map(|host| host.id.clone());
        let read = read_events(events, form, &document.schema, hosts).map_err(Failure::input)?;
        let Some(first) = read.first() else {
            let message = format!("{} has no events", events.display());
            return Err(Failure::input_because(message));
        };
        if let Some(now) = document.now.filter(|now| *now > first.time) {
            return Err(Failure::input_because(format!(
                "{}: the first event, of line {}, is at {}, before the time of the cluster, which is {now} (\"now\" of {file})",
                events.display(),
                first.line,
                first.time
            )));
        }
        let now = document.now.unwrap_or(first.time);
        let seed = wanted.seed.unwrap_or(document.seed);
        let inventory = Inventory::of_document(document, now)
            .map_err(|error| Failure::input(anyhow::Error::new(error).context(file)))?;
        let policies = self.policies(generation, &inventory, wanted)?;
        let replay = ClusterReplay {
            cluster: &inventory,
            events: &read,
            seed,
            reuse: wanted.reuse,
            balance: wanted.balance,
            restart: self.restart.map(|which| match which {
                Which::All => Restart::All,
                Which::Ha => Restart::Ha,
            }),
            statistics: wanted.statistics,
            statistics_max_age: self.statistics_max_age,
            decisions: self.decisions.is_some(),
        };
        let loaded: Vec<Arc<Policy>> = policies.iter().map(|(_, it)| it.clone()).collect();
        let bar = SharedBar::new("replaying", read.len() * loaded.len());
        let all = SideBySide {
            replay,
            threads: self.jobs(),
        };
        let outcomes = side_by_side(all, &loaded, generation, || bar.progressed(1));
        bar.finish();
        let outcomes = outcomes.map_err(|error| {
            super::simulate::failure(error).context(events.display().to_string())
        })?;
        let named = policies.iter().map(|(name, _)| name.as_str());
        let named: Vec<(&str, &ClusterOutcome)> = named.zip(&outcomes).collect();
        self.write_decisions(&named)?;
        let reports: Vec<(&str, &ClusterReport)> = named
            .iter()
            .map(|(name, outcome)| (*name, &outcome.report))
            .collect();
        if let Some(path) = wanted.plot {
            let svg = cluster::svg(&reports).map_err(Failure::internal)?;
            write_file(path, &svg)?;
        }
        match wanted.format {
            Format::Json => {
                let reports: Vec<_> = reports.iter().map(|(_, report)| report).collect();
                output::print_json(&reports)?;
            }
            Format::Table => {
                output::print(&text(&reports))?;
                output::remark(&speed(&reports));
            }
        }
        Ok(Answer::Yes)
    }

    fn form(&self, events: &std::path::Path) -> Result<EventsForm, Failure> {
        match self.events_format {
            Some(EventsFormat::Csv) => Ok(EventsForm::Csv),
            Some(EventsFormat::Json) => Ok(EventsForm::Json),
            None => EventsForm::of(events).ok_or_else(|| {
                Failure::input_because(format!(
                    "how the events of {} are written does not follow from its name: end it in .csv or .jsonl, or give --events-format",
                    events.display()
                ))
            }),
        }
    }

    /// The policies, each with the name that it is called by.
    fn policies(
        &self,
        generation: &Generation,
        inventory: &Inventory,
        wanted: &Wanted<'_>,
    ) -> Result<Vec<(String, Arc<Policy>)>, Failure> {
        let mut policies: Vec<(String, Arc<Policy>)> = Vec::new();
        for word in wanted.policies {
            let policy = units::policy(word, generation, inventory.schema())?;
            let name = policy.name.to_string();
            let is_taken = policies.iter().any(|(known, _)| *known == name);
            policies.push((if is_taken { word.clone() } else { name }, policy));
        }
        if wanted.balance.is_some() {
            let without: Vec<String> = policies
                .iter()
                .filter(|(_, policy)| policy.balance.is_none())
                .map(|(name, _)| name.clone())
                .collect();
            if without.len() == policies.len() {
                return Err(Failure::input_because(format!(
                    "no unit that balances is named by {}: give it a table \"balance\", or leave --balance out",
                    without.join(", ")
                )));
            }
            if !without.is_empty() {
                output::remark(&format!(
                    "not balanced, as they name no unit that balances: {}",
                    without.join(", ")
                ));
            }
        }
        Ok(policies)
    }

    fn jobs(&self) -> NonZeroUsize {
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.jobs.unwrap_or_else(processors)
    }

    fn write_decisions(&self, outcomes: &[(&str, &ClusterOutcome)]) -> Result<(), Failure> {
        let Some(path) = &self.decisions else {
            return Ok(());
        };
        let mut lines = String::new();
        for (name, outcome) in outcomes {
            for decided in &outcome.decisions {
                let mut line = serde_json::to_value(decided).map_err(Failure::internal)?;
                line["policy"] = (*name).into();
                let _ = writeln!(lines, "{line}");
            }
        }
        write_file(path, &lines)
    }
}

/// A figure of a report, as it is shown.
type Figure = fn(&ClusterReport) -> String;

fn count(count: u64) -> String {
    output::number(count as f64)
}

fn percent(share: f64) -> String {
    format!("{share:.2} %")
}

/// The rows of the table.
const FIGURES: &[(&str, Figure)] = &[
    ("VMs placed", |it| count(it.placed)),
    ("VMs refused", |it| count(it.refused)),
    ("  their cores", |it| {
        output::number(it.refused_millicores as f64 / 1000.0)
    }),
    ("  their memory", |it| {
        output::bytes(it.refused_memory_bytes)
    }),
    ("VMs moved", |it| count(it.moved.all())),
    ("  by balance", |it| count(it.moved.balance)),
    ("  by request", |it| count(it.moved.requests)),
    ("  restarted", |it| count(it.moved.restarts)),
    ("  off hosts taken out", |it| count(it.moved.evacuations)),
    ("hosts failed", |it| count(it.failures.hosts)),
    ("  VMs on them", |it| count(it.failures.vms)),
    ("  VM hours lost", |it| {
        output::number((it.failures.lost_vm_seconds / 36.0).round() / 100.0)
    }),
    ("hosts, start", |it| count(it.hosts.into())),
    ("hosts, end", |it| count(it.end_hosts.into())),
    ("hosts in use, peak", |it| count(it.peak_used_hosts.into())),
    ("hosts in use, mean", |it| {
        output::number(it.mean_used_hosts)
    }),
    ("hosts in use, end", |it| count(it.end_used_hosts.into())),
    ("hosts emptied", |it| count(it.hosts_emptied)),
    ("VMs, start", |it| count(it.vms.into())),
    ("VMs, peak", |it| count(it.peak_vms.into())),
    ("VMs, end", |it| count(it.end_vms.into())),
    ("CPU promised, peak", |it| percent(it.peak_cpu_pct)),
    ("CPU promised, mean", |it| percent(it.mean_cpu_pct)),
    ("  of hosts in use", |it| percent(it.packed_cpu_pct)),
    ("memory promised, peak", |it| percent(it.peak_memory_pct)),
    ("memory promised, mean", |it| percent(it.mean_memory_pct)),
    ("  of hosts in use", |it| percent(it.packed_memory_pct)),
];

fn text(reports: &[(&str, &ClusterReport)]) -> String {
    let mut parts = vec![output::shown(&figures(reports))];
    if reports.iter().any(|(_, report)| report.refused > 0) {
        parts.push("Requests refused, by the entry that removed most hosts".to_owned());
        parts.push(output::shown(&refused(reports)));
    }
    parts.push(ending(reports));
    parts.join("\n\n")
}

fn heads<'r>(first: &[&'r str], reports: &[(&'r str, &ClusterReport)]) -> comfy_table::Table {
    let names: Vec<String> = reports.iter().map(|(name, _)| format!(">{name}")).collect();
    let names = names.iter().map(String::as_str);
    let columns: Vec<&str> = first.iter().copied().chain(names).collect();
    output::table(&columns)
}

fn figures(reports: &[(&str, &ClusterReport)]) -> comfy_table::Table {
    let mut table = heads(&[""], reports);
    for (name, figure) in FIGURES {
        let shown = reports.iter().map(|(_, report)| figure(report));
        table.add_row([(*name).to_owned()].into_iter().chain(shown));
    }
    table
}

fn refused(reports: &[(&str, &ClusterReport)]) -> comfy_table::Table {
    let mut reasons: Vec<(&str, &str)> = Vec::new();
    for refused in reports.iter().flat_map(|(_, report)| &report.refused_by) {
        let reason = (refused.by.as_str(), refused.reason.as_str());
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let mut table = heads(&["entry", "a host ..."], reports);
    for (by, reason) in reasons {
        let shown = reports.iter().map(|(_, report)| {
            let mut refused = report.refused_by.iter();
            let it = refused.find(|it| it.by == by && it.reason == reason);
            count(it.map_or(0, |it| it.requests))
        });
        table.add_row([by.to_owned(), reason.to_owned()].into_iter().chain(shown));
    }
    table
}

fn ending(reports: &[(&str, &ClusterReport)]) -> String {
    let mut lines = Vec::new();
    if let Some((_, first)) = reports.first() {
        lines.push(format!(
            "Cluster: {}, {} events over {} hours",
            first.cluster,
            count(first.events as u64),
            output::number(((first.to - first.from) as f64 / 36.0).round() / 100.0)
        ));
    }
    for (name, report) in reports {
        let decisions = &report.decision_fnv1a64;
        let statistics = match report.statistics {
            true => ", with load and free memory as if VMs used all that they were promised",
            false => "",
        };
        lines.push(format!("Decisions of {name}: {decisions}{statistics}"));
    }
    lines.join("\n")
}

/// How fast it went. That is no part of the result, which is always the same.
fn speed(reports: &[(&str, &ClusterReport)]) -> String {
    let each: Vec<String> = reports
        .iter()
        .map(|(name, report)| format!("{name} {}", output::number(report.decisions_per_second)))
        .collect();
    format!("decisions a second: {}", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_how_events_are_written() {
        let form = |name: &str| EventsForm::of(std::path::Path::new(name));
        assert_eq!(form("week.csv.gz"), Some(EventsForm::Csv));
        assert_eq!(form("a/Week.JSONL"), Some(EventsForm::Json));
        assert_eq!(form("week.txt"), None);
    }
}
