//! `placewright compare-openb`: policies for clusters of GPUs, beside what was published
//! of them.

mod shown;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use placewright_document::nearest;
use placewright_engine::Limits;
use placewright_engine::generation::Generation;
use placewright_model::schema::Schema;
use placewright_tools::simulate::openb::{
    Comparison, GpuReport, Nodes, POLICIES, PodList, Published, Study, WORKLOADS, file_in,
};

use super::failure::{Answer, Failure};
use super::output;
use super::progress::SharedBar;
use super::units::{self, UnitArgs};

/// Wall time that a unit may take to start. Long, because nobody waits for a single
/// decision, and millions of them should not fail because another program took the
/// processor away once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Compare policies for clusters of GPUs with what was published of them.
///
/// Replays the lists of pods that come with Alibaba's trace cluster-trace-gpu-v2023 ("openb") as
/// the paper on fragmentation gradient descent does (Q. Weng et al., USENIX ATC 2023): shuffled by a
/// seed, then others drawn at random until 130 % of the cluster's GPUs are asked for; nobody leaves.
/// Shown is how much of the GPUs is allocated once 95, 100 and 130 % were asked for, as the mean of
/// all seeds with its standard deviation, beside the published figures. Typical pods, which gpu-fgd
/// goes by, are the shapes that make up 95 % of a list.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright compare-openb openb-2023 --workload default
  placewright compare-openb openb-2023 --format markdown > results.md
  placewright compare-openb openb-2023 --workload default --policy fgd \\
      --policy my-policy.toml

See placewright --help for exit codes.")]
pub(super) struct CompareOpenb {
    /// The folder with nodes.csv, pods-WORKLOAD.csv and, if there is to be something to compare
    /// with, published-results.csv; each may be packed (.csv.gz)
    #[arg(value_name = "DIR")]
    data: PathBuf,
    /// A list of pods, for example default or cpu050; if not given, all nine. May be given again
    #[arg(long = "workload", value_name = "NAME")]
    workloads: Vec<String>,
    /// A policy: random, dot-product, gpu-clustering, gpu-packing, best-fit or fgd as published,
    /// or any other by its name or file; if not given, these six. May be given again
    #[arg(long = "policy", value_name = "NAME|FILE")]
    policies: Vec<String>,
    /// How many seeds, 0, 1 and so on
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// How many replays run at once; if not given, as many as there are processors
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
    /// For programs, a line for each figure
    Csv,
    /// For a document
    Markdown,
}

impl CompareOpenb {
    /// Replay and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let limits = Limits {
            time: PATIENCE,
            ..Limits::default()
        };
        let generation = self.units.load_under(limits)?;
        let study = Study {
            nodes: Nodes::open(&file_in(&self.data, "nodes.csv")).map_err(Failure::input)?,
            lists: self.lists()?,
            policies: self.policies(&generation)?,
            seeds: self.seeds,
        };
        let published = published(&self.data)?;
        let bar = SharedBar::new("replaying", study.decisions());
        let reports = study.run(&generation, self.jobs(), |pods| bar.progressed(pods));
        bar.finish();
        let reports = reports.map_err(super::simulate::failure)?;
        let comparison = Comparison::new(&study, &reports, &published);
        match self.format {
            Format::Json => output::print_json(&comparison)?,
            Format::Csv => output::print(&shown::csv(&comparison).map_err(Failure::internal)?)?,
            Format::Markdown => output::print(&shown::markdown(&comparison, &self.words()))?,
            Format::Table => {
                output::print(&shown::text(&comparison))?;
                output::remark(&speed(&reports));
            }
        }
        Ok(Answer::Yes)
    }

    fn lists(&self) -> Result<Vec<(String, PodList)>, Failure> {
        let wanted: Vec<String> = match self.workloads.is_empty() {
            true => WORKLOADS.map(str::to_owned).to_vec(),
            false => each_once(&self.workloads),
        };
        let open = |workload: String| {
            let file = file_in(&self.data, &format!("pods-{workload}.csv"));
            if !file.is_file() && self.data.is_dir() {
                return Err(no_workload(&workload, &file));
            }
            let list = PodList::open(&file).map_err(Failure::input)?;
            Ok((workload, list))
        };
        wanted.into_iter().map(open).collect()
    }

    fn policies(
        &self,
        generation: &Generation,
    ) -> Result<Vec<(String, Arc<placewright_policy::Policy>)>, Failure> {
        let wanted: Vec<String> = match self.policies.is_empty() {
            true => POLICIES.map(|(published, _)| published.to_owned()).to_vec(),
            false => each_once(&self.policies),
        };
        let load = |name: String| {
            let known = POLICIES.iter().find(|(published, _)| *published == name);
            let ours = known.map_or(name.as_str(), |(_, ours)| ours);
            let policy = units::policy(ours, generation, Schema::built_in())?;
            Ok((name, policy))
        };
        wanted.into_iter().map(load).collect()
    }

    fn jobs(&self) -> NonZeroUsize {
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.jobs.unwrap_or_else(processors)
    }

    /// The command that gives the same table again, from the data's own folder.
    fn words(&self) -> String {
        let mut words = vec!["placewright compare-openb".to_owned()];
        words.extend(self.data.file_name().map(|name| name.display().to_string()));
        let workloads = self.workloads.iter();
        words.extend(workloads.map(|workload| format!("--workload {workload}")));
        words.extend(
            self.policies
                .iter()
                .map(|policy| format!("--policy {policy}")),
        );
        words.push(format!("--seeds {} --format markdown", self.seeds));
        words.join(" ")
    }
}

fn each_once(names: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let names = names.iter().filter(|name| seen.insert(name.as_str()));
    names.cloned().collect()
}

fn no_workload(name: &str, file: &Path) -> Failure {
    let hint = match nearest(name, WORKLOADS) {
        Some(near) if near != name => format!("did you mean \"{near}\"?"),
        _ => format!("the published ones are {}", WORKLOADS.join(", ")),
    };
    Failure::input_because(format!(
        "there is no workload \"{name}\", no file {}(.gz): {hint}",
        file.display()
    ))
}

/// What was published, if the folder tells.
fn published(folder: &Path) -> Result<Published, Failure> {
    let file = file_in(folder, "published-results.csv");
    match file.is_file() {
        true => Published::open(&file).map_err(Failure::input),
        false => {
            output::remark(&format!(
                "{} is not there: nothing to compare with",
                file.display()
            ));
            Ok(Published::default())
        }
    }
}

/// How fast it went. That is no part of the result, which is always the same.
fn speed(reports: &[GpuReport]) -> String {
    let decisions: u64 = reports.iter().map(|report| report.arrivals).sum();
    let seconds: f64 = reports.iter().map(|report| report.time.as_secs_f64()).sum();
    format!(
        "{} decisions, {} a second and processor",
        output::number(decisions as f64),
        output::number((decisions as f64 / seconds.max(1e-9)).round()),
    )
}
