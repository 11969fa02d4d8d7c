//! `placewright unit test`.

mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use placewright_build as build;
use placewright_engine::Limits;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_tools::scenario::{self, Scenarios, Tested};

use super::build::{BuildArgs, up_to_date};
use super::inspect;
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units::{self, CacheArgs};

/// Where a project has its scenarios.
const SCENARIOS: &str = "scenarios";

/// Test a unit by scenarios: a small cluster, a request, and what is expected.
///
/// A project is built first, but for one in Python, JavaScript or TypeScript whose NAME.wasm is
/// newer than its sources: that file is tested as it is. Each case goes through the same chain and scheduler as in a cluster.
/// Without a policy in the file, all parts of the unit are asked and no other unit. Calls are
/// limited by fuel, not by time, and what is left to chance comes from the file, so that a test
/// comes out the same on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit test my-unit
  placewright unit test my-unit.wasm \\
      --scenarios my-unit/scenarios/full-hosts.toml
  placewright unit test my-unit --filter \"without room\" --format json
  placewright unit test my-unit --update

A scenario file:
  cluster = \"cluster.toml\"      # or [cluster], as in a cluster's document
  settings = { headroom = \"1 GiB\" }  # what the unit is set to

  [[cases]]
  name = \"a host without room is left out\"
  # A VM, the id of one of the cluster, or vms = [...]
  vm = { id = \"new\", memory = \"4 GiB\" }
  # What is different in this case
  hosts.h1 = { \"memory.free\" = \"1 GiB\" }

  [cases.expect]
  chosen = \"h2\"  # or \"none\", or error = \"a text that it contains\"
  hosts.h1 = { keep = false, reason = \"has too little free memory\" }
  hosts.h2 = { keep = true, cost = 0.5 }
  # of a balance, for which no vm is needed:
  # moves = [{ vm = \"web\", from = \"h1\", to = [\"h2\"] }]

Exit code 1: a case came out otherwise than expected. See placewright --help for the others.")]
pub(crate) struct Test {
    /// The folder of a project, a unit's file, or the name of a unit that comes with the program
    #[arg(value_name = "DIR|FILE|NAME", default_value = ".")]
    unit: String,
    /// A scenario file, or a folder of them; if not given, the folder scenarios beside the unit
    #[arg(long, value_name = "DIR|FILE")]
    scenarios: Option<PathBuf>,
    /// Run only cases whose names contain this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write into the files what came out, where something else or nothing is expected. All else in
    /// them stays as it is; look at what changed before you trust it
    #[arg(long)]
    update: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    tools: BuildArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

/// The cases of a file that were run.
struct TestedFile<'a> {
    scenarios: &'a Scenarios,
    cases: Vec<Tested<'a>>,
}

impl Test {
    /// Build the unit if need be, run the cases, and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let files = self.read()?;
        let (unit, from) = self.unit()?;
        let generation = generation(&files, &unit)?;
        let tested = tested(&files, &unit, &generation)?;
        match self.format {
            Format::Json => output::print_json(&report::json(&unit, &from, &tested))?,
            Format::Table => output::print(&report::text(&unit, &from, &tested))?,
        }
        if self.update {
            for file in &tested {
                update(file)?;
            }
            return Ok(Answer::Yes);
        }
        let mut cases = tested.iter().flat_map(|file| &file.cases);
        Ok(Answer::yes_if(cases.all(Tested::passed)))
    }

    /// The scenario files with the cases that are wanted.
    fn read(&self) -> Result<Vec<Scenarios>, Failure> {
        let place = self.scenarios.clone().unwrap_or_else(|| self.beside_unit());
        if !place.exists() {
            return Err(Failure::input_because(format!(
                "there are no scenarios: {} does not exist; write a scenario file there (placewright unit test --help shows one), or name one with --scenarios",
                place.display()
            )));
        }
        let paths = scenario::files(&place).map_err(Failure::input)?;
        if paths.is_empty() {
            return Err(Failure::input_because(format!(
                "{} has no scenario file: there is no file in it whose name ends in .toml or .json and that has [[cases]]",
                place.display()
            )));
        }
        let mut files = open(paths)?;
        if let Some(filter) = &self.filter {
            for file in &mut files {
                file.cases
                    .retain(|case| case.name.contains(filter.as_str()));
            }
            files.retain(|file| !file.cases.is_empty());
            if files.is_empty() {
                return Err(Failure::input_because(format!(
                    "no case has a name that contains \"{filter}\""
                )));
            }
        }
        Ok(files)
    }

    fn beside_unit(&self) -> PathBuf {
        let unit = Path::new(&self.unit);
        let folder = match unit.is_dir() {
            true => unit,
            // A file of the project.
            false => unit.parent().unwrap_or(Path::new("")),
        };
        folder.join(SCENARIOS)
    }

    /// The unit, built if a project is named, and where it is from.
    fn unit(&self) -> Result<(Arc<Unit>, String), Failure> {
        let path = Path::new(&self.unit);
        let is_project = path.is_dir() || path.is_file() && !self.unit.ends_with(".wasm");
        let there = match is_project {
            true => up_to_date(path, Path::new(SCENARIOS)).map(|out| out.display().to_string()),
            false => Some(self.unit.clone()),
        };
        if let Some(there) = there {
            let unit = inspect::load(&there, &self.cache, Limits::reproducible())?;
            return Ok((unit, there));
        }
        let built = build::build(path, &self.tools.options()).map_err(Failure::input)?;
        for warning in &built.warnings {
            output::remark(&format!("warning: {warning}"));
        }
        let engine = self.cache.engine(Limits::reproducible())?;
        let unit = Unit::load(&engine, &built.bytes, &built.name).map_err(Failure::input)?;
        Ok((unit, format!("built now from {}", path.display())))
    }
}

/// Whether all cases beside the project in `folder` pass, and what there is to tell of them;
/// None if it has none.
pub(super) fn of_project(
    folder: &Path,
    unit: &Arc<Unit>,
) -> Result<Option<(bool, String)>, Failure> {
    let place = folder.join(SCENARIOS);
    if !place.exists() {
        return Ok(None);
    }
    let files = open(scenario::files(&place).map_err(Failure::input)?)?;
    if files.is_empty() {
        return Ok(None);
    }
    let generation = generation(&files, unit)?;
    let tested = tested(&files, unit, &generation)?;
    let mut cases = tested.iter().flat_map(|file| &file.cases);
    Ok(Some((cases.all(Tested::passed), report::brief(&tested))))
}

/// The scenarios of these files.
fn open(paths: Vec<PathBuf>) -> Result<Vec<Scenarios>, Failure> {
    let mut files = Vec::new();
    let mut wrong = Vec::new();
    for path in paths {
        match Scenarios::open(&path) {
            Ok(scenarios) => files.push(scenarios),
            Err(error) => wrong.push(format!("{:#}", anyhow::Error::new(error))),
        }
    }
    match wrong.is_empty() {
        true => Ok(files),
        false => Err(Failure::input_because(wrong.join("\n"))),
    }
}

/// The unit, and those that the policies of the files may name.
fn generation(files: &[Scenarios], unit: &Arc<Unit>) -> Result<Generation, Failure> {
    match files.iter().any(Scenarios::name_policies) {
        true => units::beside_embedded(unit),
        false => Generation::new([unit.clone()]).map_err(Failure::internal),
    }
}

/// Run all cases, if there is nothing wrong with any of them.
fn tested<'a>(
    files: &'a [Scenarios],
    unit: &'a Unit,
    generation: &'a Generation,
) -> Result<Vec<TestedFile<'a>>, Failure> {
    let mut ready = Vec::new();
    let mut wrong = Vec::new();
    for scenarios in files {
        match scenario::Test::new(scenarios, unit, generation) {
            Ok(tests) => ready.push((scenarios, tests)),
            Err(problems) => wrong.push(problems.to_string()),
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::input_because(wrong.join("\n")));
    }
    let tested = ready.into_iter().map(|(scenarios, tests)| TestedFile {
        scenarios,
        cases: tests.into_iter().map(scenario::Test::run).collect(),
    });
    Ok(tested.collect())
}

/// Write into a file what came out of its cases that did not pass.
fn update(file: &TestedFile<'_>) -> Result<(), Failure> {
    let wrong = file.cases.iter().filter(|case| !case.passed()).count();
    if wrong == 0 {
        return Ok(());
    }
    let path = &file.scenarios.path;
    let of_file = |error: anyhow::Error| {
        Failure::input(error.context(format!("cannot update {}", path.display())))
    };
    let text = units::read(path)?;
    let updated = file.scenarios.updated(&text, &file.cases);
    let updated = updated.map_err(|error| of_file(error.into()))?;
    std::fs::write(path, updated).map_err(|error| of_file(error.into()))?;
    let cases = if wrong == 1 { "case" } else { "cases" };
    output::remark(&format!("{}: {wrong} {cases} updated", path.display()));
    Ok(())
}
