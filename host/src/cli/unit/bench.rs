//! `placewright unit bench`.

mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use placewright_chain::Reuse;
use placewright_document::{Place, Table};
use placewright_engine::Limits;
use placewright_engine::generation::Generation;
use placewright_model::schema::Schema;
use placewright_model::{Request, Vm};
use placewright_policy::Policy;
use placewright_tools::bench::{self, Calls, Loaded, Report, Series, Situation, TraceCost};
use placewright_tools::simulate::trace::Trace;
use placewright_tools::simulate::{Replay, excerpt};

use crate::cli::clusters::{self, Cluster};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::progress::{Bar, Follower};
use crate::cli::simulate;
use crate::cli::units::{self, UnitArgs};

/// Measure what a unit costs against the limits in force, or compare two versions of it.
///
/// Shows instructions, time and memory for each call and each host, the cost of a fresh instance and
/// of loading, and how many hosts the unit judges on a trace, through the whole chain with its cache.
/// Instructions and hosts judged are the same on every machine (memory copied in bulk counts one
/// instruction a byte). Times are medians, with the quartiles in JSON. With two versions, calls
/// alternate, and the ratio of the second to the first is shown. Calls use generated tables, unless you
/// name a cluster for the judge.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit bench units/my-unit.wasm
  placewright unit bench memory units/my-memory.wasm --hosts 1000
  placewright unit bench units/my-unit.wasm --cluster cluster.toml --vm web-1 \\
      --format json

Exit code 1: a call fails, or a limit is not kept to. See placewright --help for the others.")]
pub(crate) struct Bench {
    /// The unit: a file, or the name of one that comes with the program
    #[arg(value_name = "FILE|NAME")]
    unit: String,
    /// Another version of it, to be compared with it
    #[arg(value_name = "OTHER")]
    other: Option<String>,
    /// How many hosts calls are about, 100,000 at most
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_values_t = [100, 1_000, 10_000],
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    hosts: Vec<u32>,
    /// The document of a cluster: the judge is asked about its hosts
    #[arg(long, value_name = "FILE", conflicts_with = "hosts")]
    cluster: Option<PathBuf>,
    /// A VM of the cluster that is to be placed; the first one by id if not given
    #[arg(long, value_name = "ID", requires = "cluster")]
    vm: Option<String>,
    /// The trace to be replayed, as for placewright simulate; the excerpt that comes with the
    /// program if not given
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Stop after N arrivals
    #[arg(long, value_name = "N", default_value_t = 15_000)]
    arrivals: usize,
    /// The policy that names the unit: one that comes with the program, or a file; if not given,
    /// all parts of the unit alone with their default settings
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,
    /// How long calls are timed, all together
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// What the made-up tables are made from
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

impl Bench {
    /// Measure and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let counting = self.units.cache().engine(Limits::reproducible())?;
        let mut versions: Vec<Loaded> = Vec::new();
        for unit in std::iter::once(&self.unit).chain(&self.other) {
            let bytes = units::component(unit)?;
            versions.push(bench::load(&bytes, unit, &counting).map_err(Failure::input)?);
        }
        let cluster = self.cluster.as_deref().map(clusters::read).transpose()?;
        let request = cluster.as_ref().map(|it| self.request(it)).transpose()?;
        let generations = self.generations(&versions)?;
        let versions: Vec<&Loaded> = versions.iter().collect();

        let mut rules = Vec::new();
        if let Some(cluster) = &cluster {
            for (version, generation) in versions.iter().zip(&generations) {
                let policy = self.policy(version, generation, cluster.inventory.schema())?;
                rules.push((policy, generation));
            }
        }
        let situation = cluster.as_ref().zip(request.as_ref());
        let situation = situation.map(|(cluster, request)| Situation {
            inventory: &cluster.inventory,
            request,
        });
        let mut bar = Bar::new("calling");
        let series = self
            .calls(cluster.as_ref())
            .measure(&versions, &rules, situation, |done, of| {
                bar.progressed(done, of);
            })
            .map_err(Failure::input)?;
        let (traces, all_replayed) = self.traces(&versions, &generations, &series)?;
        let report = Report::new(&versions, &series, traces);
        match self.format {
            Format::Json => output::print_json(&report)?,
            Format::Table => output::print(&text::text(&report))?,
        }
        Ok(Answer::yes_if(all_replayed && report.is_within_limits()))
    }

    fn calls(&self, cluster: Option<&Cluster>) -> Calls {
        let of_cluster = cluster.map(|cluster| vec![cluster.hosts.len()]);
        let counts = self.hosts.iter().map(|hosts| *hosts as usize);
        Calls {
            hosts: of_cluster.unwrap_or_else(|| counts.collect()),
            seed: self.seed,
            time: self.time,
        }
    }

    /// The units beside each version, it included: those of the policy, if one is given.
    fn generations(&self, versions: &[Loaded]) -> Result<Vec<Generation>, Failure> {
        let others = match &self.policy {
            Some(_) => self.units.load()?,
            None => Generation::default(),
        };
        let with = |version: &Loaded| others.with(version.timed.clone());
        Ok(versions.iter().map(with).collect())
    }

    fn policy(
        &self,
        version: &Loaded,
        generation: &Generation,
        schema: &Schema,
    ) -> Result<Arc<Policy>, Failure> {
        let unit = version.timed.description();
        if let Some(named) = &self.policy {
            let policy = units::policy(named, generation, schema)?;
            if !policy.names(&unit.name) {
                return Err(Failure::input_because(format!(
                    "policy \"{}\" does not name unit \"{}\": name one that does, or leave --policy out",
                    policy.name, unit.name
                )));
            }
            return Ok(policy);
        }
        let place = Place {
            file: "alone.toml".into(),
            line: 1,
            column: 1,
        };
        let settings = Table {
            place: place.clone(),
            entries: Vec::new(),
        };
        let alone = Policy::alone(unit, &settings, &place);
        Policy::of_tree(&alone, "alone", generation, schema)
            .map(Arc::new)
            .map_err(|problems| {
                Failure::input(problems).context(format!(
                    "unit \"{}\" alone makes no policy: name one that sets it with --policy",
                    unit.name
                ))
            })
    }

    /// The VM that is to be placed in the cluster.
    fn request(&self, cluster: &Cluster) -> Result<Request, Failure> {
        let inventory = &cluster.inventory;
        let hosts = inventory.hosts().map(|(_, host)| host);
        let mut vms: Vec<&Arc<Vm>> = hosts
            .flat_map(|host| inventory.vms_of(host))
            .map(|entry| &entry.vm)
            .collect();
        vms.sort_by(|one, other| one.id.cmp(&other.id));
        let wanted = |vm: &&&Arc<Vm>| self.vm.as_deref().is_none_or(|id| *vm.id == *id);
        let vm = vms.iter().find(wanted).ok_or_else(|| {
            Failure::input_because(match &self.vm {
                Some(id) => format!("there is no VM \"{id}\" in the cluster"),
                None => "no VM runs in the cluster, so that there is none to be placed".to_owned(),
            })
        })?;
        Ok(Request {
            members: vec![Vm::clone(vm)],
            now: cluster.now,
            ..Request::default()
        })
    }

    /// What each version is asked on the trace, none if it decides nothing there; and
    /// whether no replay failed.
    fn traces(
        &self,
        versions: &[&Loaded],
        generations: &[Generation],
        series: &[Series],
    ) -> Result<(Vec<Option<TraceCost>>, bool), Failure> {
        let trace = match &self.trace {
            Some(file) => Trace::open(file, None).map_err(Failure::input)?,
            None => excerpt::trace().map_err(Failure::internal)?,
        };
        let replay = Replay {
            trace: &trace,
            fleet: excerpt::FLEET,
            limit: Some(self.arrivals),
            statistics: None,
            seed: self.seed,
            reuse: Some(Reuse::default()),
            balance: None,
        };
        let (mut traces, mut all_replayed) = (Vec::new(), true);
        for (number, (version, generation)) in versions.iter().zip(generations).enumerate() {
            let mut costs = series
                .iter()
                .filter_map(|it| it.costs.get(number)?.as_ref());
            if costs.any(|cost| cost.failure.is_some() && !cost.refused) {
                output::remark("no trace was replayed, since calls fail");
                traces.push(None);
                continue;
            }
            let unit = version.timed.description();
            let decides = unit.judge.is_some() || unit.selection.is_some();
            if !decides && unit.effects.is_none() {
                traces.push(None);
                continue;
            }
            let policy = match self.policy(version, generation, Schema::built_in()) {
                Ok(policy) => policy,
                // Its calls can be measured all the same.
                Err(failure) if self.policy.is_none() => {
                    output::remark(&format!("no trace was replayed: {failure}"));
                    traces.push(None);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let mut follower = Follower::new("replaying");
            let cost = bench::on_trace(&replay, policy, generation, &unit.name, &mut follower);
            match cost {
                Ok(cost) => traces.push(Some(cost)),
                Err(error) => {
                    let failure = simulate::failure(error);
                    output::remark(&format!("the trace was not replayed: {failure}"));
                    traces.push(None);
                    all_replayed = false;
                }
            }
        }
        Ok((traces, all_replayed))
    }
}
