//! `placewright unit run`.

mod asked;
mod settings;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use placewright_chain::{Chain, DecisionError, NotConsidered, Query, Runner, Said, TableSeen};
use placewright_document::{Place, nearest};
use placewright_engine::Limits;
use placewright_engine::contract::Part;
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Logged, Unit};
use placewright_model::Request;
use placewright_policy::Policy;
use placewright_scheduler::{Batch, SchedulerOptions, derived_draw};
use serde::Serialize;

use super::inspect;
use crate::cli::clusters::{self, Cluster};
use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::questions;
use crate::cli::units::CacheArgs;
use asked::{Asked, PartArg};

/// Ask a unit once about a cluster, and show what it saw and what it said.
///
/// One call of one part, without any other unit: the tables that the unit declares, with the values
/// that reach it, and its answer, host by host. Made by the chain of a cluster and under its limits.
/// Nothing outside changes. A call that fails still shows what the unit saw.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit run my-unit.wasm --cluster cluster.toml --vm vm.toml
  placewright unit run memory --cluster cluster.toml --vm web-1 \\
      --settings headroom=\"8 GiB\"
  placewright unit run memory --cluster cluster.toml --vm web-1 --part filter \\
      --host h1 --host h2
  placewright unit run power-saving --cluster cluster.toml --part balance \\
      --format json

Exit code 1: the unit leaves none of the hosts. See placewright --help for the others.")]
pub(crate) struct Run {
    /// The unit: a file, or the name of one that comes with the program
    #[arg(value_name = "FILE|NAME")]
    unit: String,
    /// The document of the cluster: hosts, VMs that run there, groups (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// The VM: an id from the cluster, or a document of VMs. A balance part needs none; an order part
    /// takes all VMs of the document
    #[arg(long, value_name = "ID|FILE")]
    vm: Option<String>,
    /// The part that is asked. If not given, filter and cost function, in one call where they answer
    /// host by host; or else the first part that the unit has
    #[arg(long, value_enum, value_name = "PART")]
    part: Option<PartArg>,
    /// A setting of the unit. A value that is not TOML counts as text. Repeat it for more settings
    #[arg(long, value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// Ask about this host only. Repeat it for more hosts. An effects part is asked about one host
    #[arg(long, value_name = "ID")]
    host: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    cache: CacheArgs,
}

/// What came out, as programs read it.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report<'a> {
    unit: &'a str,
    version: &'a str,
    digest: String,
    part: Part,
    /// Of a judge: what was asked of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<&'static str>,
    saw: Vec<TableSeen>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_asked: &'a [NotConsidered],
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<&'a Said>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logged: Vec<Sentence<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// A sentence that the unit logged.
#[derive(Serialize)]
struct Sentence<'a> {
    level: &'static str,
    message: &'a str,
}

impl<'a> From<&'a Logged> for Sentence<'a> {
    fn from(logged: &'a Logged) -> Self {
        Self {
            level: logged.level.name(),
            message: &logged.message,
        }
    }
}

impl Run {
    /// Ask and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let unit = inspect::load(&self.unit, &self.cache, Limits::default())?;
        let asked = Asked::of(&unit, self.part)?;
        let mut cluster = clusters::read(&self.cluster)?;
        let hosts = self.hosts(&cluster)?;
        let request = self.request(&cluster, asked)?;
        let chain = self.chain(&unit, &mut cluster)?;
        let limit = SchedulerOptions::default().chain_limit;
        let draw = request.draw;
        let prepared = Runner::new(chain.into(), limit)
            .prepare(Query {
                part: asked.part,
                want: asked.want,
                inventory: &cluster.inventory,
                request: &request,
                draw: draw.unwrap_or_else(|| derived_draw(cluster.seed, 1)),
                hosts: &hosts,
            })
            .map_err(failure)?;
        let answered = prepared.ask(limit);
        let description = unit.description();
        let said = answered.said.as_ref();
        let report = Report {
            unit: &description.name,
            version: &description.version,
            digest: unit.digest().to_string(),
            part: asked.part,
            answers: asked.answers(),
            saw: prepared.tables(),
            not_asked: prepared.not_asked(),
            said: said.ok(),
            logged: answered.logged.iter().map(Sentence::from).collect(),
            failure: said
                .err()
                .map(|refusal| failure(refusal.clone()).to_string()),
        };
        match self.format {
            Format::Json => output::print_json(&report)?,
            Format::Table => output::print(&text::text(&report))?,
        }
        let said = answered.said.map_err(failure)?;
        Ok(Answer::yes_if(leaves_a_host(&said)))
    }

    /// The hosts that are named.
    fn hosts(&self, cluster: &Cluster) -> Result<Vec<Arc<str>>, Failure> {
        let known = |id: &String| {
            cluster.hosts.get(id.as_str()).cloned().ok_or_else(|| {
                let near = nearest(id, cluster.hosts.iter().map(|host| &**host));
                let hint = near.map_or(String::new(), |near| format!(": did you mean \"{near}\"?"));
                Failure::input_because(format!("there is no host \"{id}\" in the cluster{hint}"))
            })
        };
        self.host.iter().map(known).collect()
    }

    /// What is to be placed.
    fn request(&self, cluster: &Cluster, asked: Asked) -> Result<Request, Failure> {
        let Some(vm) = &self.vm else {
            if asked.part == Part::Balance {
                return Ok(Request {
                    now: cluster.now,
                    ..Request::default()
                });
            }
            return Err(Failure::input_because(format!(
                "say with --vm what is to be placed: a part {} is not asked without",
                asked.part
            )));
        };
        let mut request = match asked.part {
            Part::Order => together(questions::requests(cluster, vm)?)?,
            _ => questions::request(cluster, vm)?,
        };
        // Where an administrator has chosen, no unit would be asked.
        request.forced = None;
        Ok(request)
    }

    /// The chain of this unit alone.
    fn chain(&self, unit: &Arc<Unit>, cluster: &mut Cluster) -> Result<Chain, Failure> {
        let generation = Generation::new([unit.clone()]).map_err(Failure::internal)?;
        let place = Place {
            file: self.unit.as_str().into(),
            line: 1,
            column: 1,
        };
        let settings = settings::table(&self.settings)?;
        let alone = Policy::alone(unit.description(), &settings, &place);
        let schema = cluster.inventory.schema();
        let policy =
            Policy::of_tree(&alone, "alone", &generation, schema).map_err(Failure::input)?;
        Chain::resolve(policy.into(), &generation, &mut cluster.inventory).map_err(Failure::input)
    }
}

/// The VMs of all requests as one batch.
fn together(mut requests: Vec<Request>) -> Result<Request, Failure> {
    match requests.len() {
        0 => Err(Failure::input_because("there is no VM to be placed")),
        1 => Ok(requests.remove(0)),
        _ => {
            let batch = Batch::of_requests(requests).map_err(Failure::input)?;
            Ok(Request {
                members: batch.members,
                facts: batch.facts,
                now: batch.now,
                draw: batch.draw,
                reserve_for: batch.reserve_for,
                ..Request::default()
            })
        }
    }
}

/// Whether any host is left, where the unit says which ones are.
fn leaves_a_host(said: &Said) -> bool {
    match said {
        Said::Hosts(hosts) => {
            let is_filter = hosts.iter().any(|host| host.keep.is_some());
            !is_filter || hosts.iter().any(|host| host.keep == Some(true))
        }
        Said::Groups(groups) => groups.iter().any(|group| !group.is_empty()),
        Said::Nothing | Said::Writes(_) | Said::Turns(_) | Said::Proposals(_) => true,
    }
}

/// Why there is no answer. There is no policy here whose entry would have to be named.
fn failure(refusal: DecisionError) -> Failure {
    match refusal {
        DecisionError::Failed { fault, .. } => Failure::internal(Arc::unwrap_or_clone(fault)),
        refusal => Failure::refusal(refusal),
    }
}
