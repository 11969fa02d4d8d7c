//! `placewright balance`: what a policy proposes for a cluster that runs.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use placewright::chain::Proposed;
use placewright::scheduler::{Scheduler, SchedulerOptions};

use super::clusters;
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::units::{self, UnitArgs};

/// Show which moves a policy proposes for a cluster that runs.
///
/// Asks the policy's balance unit. Nothing is moved, and whether the policy's filters agree with
/// what is proposed is not looked at.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  placewright balance --cluster cluster.toml --policy even-distribution

See placewright --help for exit codes.")]
pub struct Balance {
    /// The document of the cluster (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// The policy: one that comes with the program (placewright policy list), or a file
    #[arg(long, value_name = "NAME|FILE")]
    policy: String,
    /// What the output looks like
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

impl Balance {
    /// Ask and print.
    pub fn run(self) -> Result<Answer, Failure> {
        let cluster = clusters::read(&self.cluster)?;
        let generation = self.units.load()?;
        let policy = units::policy(&self.policy, &generation, cluster.inventory.schema())?;
        if policy.balance.is_none() {
            return Err(Failure::input_because(format!(
                "policy \"{}\" names no unit that balances: give it a table \"balance\"",
                policy.name
            )));
        }
        let options = SchedulerOptions::default();
        let mut scheduler = Scheduler::new(cluster.inventory, policy, &generation, options)
            .map_err(Failure::input)?;
        let proposals = scheduler.balance(cluster.now).map_err(Failure::refusal)?;
        match self.format {
            Format::Json => output::print_json(&proposals)?,
            Format::Table if proposals.is_empty() => output::print("Nothing is proposed.")?,
            Format::Table => output::print(&output::shown(&table(&proposals)))?,
        }
        Ok(Answer::Yes)
    }
}

fn table(proposals: &[Proposed]) -> comfy_table::Table {
    let mut table = output::table(&["what", "where", "because"]);
    for proposal in proposals {
        table.add_row(match proposal {
            Proposed::Move {
                vm,
                from,
                among,
                accept,
                reason,
            } => [
                format!("move {vm}"),
                format!("from {from} to {}", to(from, among, accept)),
                reason.clone(),
            ],
            Proposed::HostState {
                host,
                state,
                reason,
            } => [
                format!("bring {host} into {state}"),
                host.to_string(),
                reason.clone(),
            ],
            Proposed::Finding { reason, about } => {
                let about: Vec<String> = about
                    .iter()
                    .map(|(table, id)| format!("{table} {id}"))
                    .collect();
                ["finding".to_owned(), about.join(", "), reason.clone()]
            }
        });
    }
    table
}

/// Where a VM may go. Among the hosts may be its own: then it may stay as well.
fn to(from: &Arc<str>, among: &[Arc<str>], accept: &[Arc<str>]) -> String {
    let hosts = if accept.is_empty() { among } else { accept };
    let others: Vec<Arc<str>> = hosts.iter().filter(|host| *host != from).cloned().collect();
    match (others.is_empty(), others.len() < hosts.len()) {
        (true, true) => "where it is".to_owned(),
        (false, true) => format!("{}, or it stays", any_of(&others)),
        (_, false) => any_of(hosts),
    }
}

fn any_of(hosts: &[Arc<str>]) -> String {
    const MANY: usize = 6;
    match hosts {
        [] => "any host".to_owned(),
        [host] => host.to_string(),
        hosts if hosts.len() > MANY => format!("one of {} hosts", hosts.len()),
        hosts => format!("one of {}", hosts.join(", ")),
    }
}
