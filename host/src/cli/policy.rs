//! `placewright policy`: policies that come with the program, and checks of others.

mod import_ovirt;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use placewright_chain::{Chain, UnheededInCluster};
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use placewright_policy::{Policy as CheckedPolicy, Unheeded};
use serde::Serialize;

use super::clusters;
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::units::{self, UnitArgs};

/// List, show, check and import policies.
#[derive(Debug, Subcommand)]
pub(super) enum Policy {
    List(List),
    Show(Show),
    Check(Check),
    ImportOvirt(import_ovirt::ImportOvirt),
}

impl Policy {
    /// Do what is asked.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self {
            Policy::List(list) => list.run(),
            Policy::Show(show) => show.run(),
            Policy::Check(check) => check.run(),
            Policy::ImportOvirt(import) => import.run(),
        }
    }
}

/// List the policies that come with the program.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  placewright policy list")]
pub(super) struct List {
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

/// A policy of the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    description: String,
    units: Vec<String>,
}

impl List {
    fn run(self) -> Result<Answer, Failure> {
        let units = self.units.load()?;
        let policies: Result<Vec<Listed>, Failure> = plugins::POLICIES
            .iter()
            .map(|policy| {
                let policy = units::policy(policy.name, &units, Schema::built_in())?;
                Ok(Listed {
                    name: policy.name.to_string(),
                    description: policy.description.to_string(),
                    units: units_of(&policy),
                })
            })
            .collect();
        let policies = policies?;
        if self.format == Format::Json {
            output::print_json(&policies)?;
            return Ok(Answer::Yes);
        }
        let mut table = output::table(&["policy", "what it does", "units"]);
        for policy in policies {
            let units = policy.units.join(", ");
            table.add_row([
                output::strong(policy.name),
                policy.description.into(),
                units.into(),
            ]);
        }
        output::print(&output::shown(&table))?;
        Ok(Answer::Yes)
    }
}

/// The names of a policy's units, in the order of their first use.
fn units_of(policy: &CheckedPolicy) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let stages = policy.stages.iter().flat_map(|stage| {
        let filters = stage.filters.iter().map(|entry| &entry.unit);
        let costs = stage.costs.iter().map(|entry| &entry.unit);
        let selections = stage.selections.iter().map(|entry| &entry.unit);
        filters.chain(costs).chain(selections)
    });
    let effects = policy.effects.iter().map(|entry| &entry.unit);
    let alone = policy.order.iter().chain(&policy.balance);
    let alone = alone.map(|entry| &entry.unit);
    for unit in stages.chain(effects).chain(alone) {
        if !units.contains(&unit.name.to_string()) {
            units.push(unit.name.to_string());
        }
    }
    units
}

/// Print a policy that comes with the program.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  placewright policy show even-distribution > mine.toml")]
pub(super) struct Show {
    /// Its name
    name: String,
}

impl Show {
    fn run(self) -> Result<Answer, Failure> {
        match plugins::policy(&self.name) {
            Some(policy) => output::print(policy.text)?,
            None => return Err(units::no_policy(&self.name)),
        }
        Ok(Answer::Yes)
    }
}

/// Check a policy document, and tell everything that is wrong with it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright policy check mine.toml
  placewright policy check mine.toml --units my-units --cluster cluster.toml

Exit code 1: something is wrong with it. See placewright --help for the others.")]
pub(super) struct Check {
    /// The policy: a file, or the name of one that comes with the program
    #[arg(value_name = "FILE")]
    policy: String,
    /// The document of a cluster: the policy may use its attributes, and needs of its VMs that no
    /// filter of the policy checks are reported
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    #[command(flatten)]
    units: UnitArgs,
}

impl Check {
    fn run(self) -> Result<Answer, Failure> {
        let (text, file) = units::policy_text(&self.policy)?;
        let inventory = inventory(self.cluster.as_deref())?;
        let generation = self.units.load()?;
        match check(&text, &file, &generation, inventory) {
            Ok((policy, unheeded)) => {
                for remark in policy.remarks() {
                    output::remark(&format!("warning: {file}: {remark}"));
                }
                let units = units_of(&policy).join(", ");
                output::print(&format!(
                    "{file}: policy \"{}\" is fine; units: {units}{}",
                    policy.name,
                    about(&unheeded)
                ))?;
                Ok(Answer::Yes)
            }
            Err(problems) => {
                output::print(&problems)?;
                Ok(Answer::No)
            }
        }
    }
}

/// The cluster of a document, or one without hosts.
fn inventory(cluster: Option<&Path>) -> Result<Inventory, Failure> {
    match cluster {
        Some(path) => Ok(clusters::read(path)?.inventory),
        None => Ok(Inventory::new(
            "check",
            Arc::new(Schema::built_in().clone()),
        )),
    }
}

/// The needs of VMs of the cluster that the policy does not check, a line each.
fn about(unheeded: &[UnheededInCluster]) -> String {
    let lines = unheeded.iter().map(|need| {
        let units = match need.units.as_slice() {
            [] => "no unit at hand checks it".to_owned(),
            units => format!("units that check it: {}", units.join(", ")),
        };
        let what = match need.unheeded {
            Unheeded::Refuse => "requests like these are refused",
            Unheeded::Warn => "decisions warn of it",
            Unheeded::Ignore => "it is ignored",
        };
        let more = match need.count.saturating_sub(need.vms.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "\nwarning: no filter checks \"{}\" ({}), which VMs of the cluster need: {}{more}; {what}; {units}",
            need.need,
            need.meaning,
            need.vms.join(", "),
        )
    });
    lines.collect()
}

/// The policy with the needs of VMs of the cluster that it does not check, or everything
/// that is wrong with it. Only where each part of it is right, units are asked whether
/// their settings go together.
fn check(
    text: &str,
    file: &str,
    units: &Generation,
    mut inventory: Inventory,
) -> Result<(Arc<CheckedPolicy>, Vec<UnheededInCluster>), String> {
    let policy = CheckedPolicy::load(text, file, units, inventory.schema());
    let policy = policy
        .map(Arc::new)
        .map_err(|problems| problems.to_string())?;
    let filters = CheckedPolicy::read(text, file).and_then(|document| document.check_filters());
    filters.map_err(|problems| problems.to_string())?;
    match Chain::resolve(policy.clone(), units, &mut inventory) {
        Ok(chain) => Ok((policy, chain.unheeded_in(&inventory))),
        Err(error) => Err(format!("{file}: {error}")),
    }
}
