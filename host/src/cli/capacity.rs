//! `placewright capacity`: how many more of a VM fit.

use clap::Args;
use placewright_scheduler::RemovedHosts;
use placewright_scheduler::questions::{Capacity as Found, USUAL_CAPACITY};

use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::questions::About;

/// Tell how many more of a VM fit into a cluster, on which hosts, and what stops the next one.
///
/// Places copies of the VM one after the other, each seeing those before it, on a copy of the
/// cluster. The copies belong to the VM's groups and tenant; a VM of the cluster keeps its place.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright capacity --cluster cluster.toml --policy best-fit --vm vm.toml
  placewright capacity --cluster cluster.toml --policy even.toml --vm web-1 \\
      --format json

Exit code 1: not one more fits. See placewright --help for the others.")]
pub(super) struct Capacity {
    /// The VM: the id of one of the cluster, or the document of one that is to be placed
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    /// Stop when N copies have found a host
    #[arg(long, value_name = "VMS", default_value_t = USUAL_CAPACITY)]
    at_most: usize,
    #[command(flatten)]
    about: About,
}

impl Capacity {
    /// Ask and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let asked = self.about.read()?;
        let request = asked.request(&self.vm)?;
        let found = asked.situation().capacity(&request, self.at_most);
        let found = found.map_err(Failure::question)?;
        output::warn(&found.warnings);
        match self.about.format {
            Format::Json => output::print_json(&found)?,
            Format::Table => output::print(&text(&found))?,
        }
        Ok(Answer::yes_if(found.fit > 0))
    }
}

fn text(found: &Found) -> String {
    let (vms, fit) = (found.vms.join(", "), output::number(found.fit as f64));
    let mut parts = vec![match found.bounded {
        true => format!("{fit} more of {vms} fit, and maybe more: the search ended at --at-most."),
        false => format!("{fit} more of {vms} fit."),
    }];
    if !found.hosts.is_empty() {
        let mut table = output::table(&["host", ">fit"]);
        for filled in &found.hosts {
            table.add_row([filled.host.to_string(), filled.fit.to_string()]);
        }
        parts.push(output::shown(&table));
    }
    if !found.bounded {
        parts.push(match found.stopped_by.is_empty() {
            true => format!(
                "There is no host for the next one: {}.",
                output::nobody_left(found.considered)
            ),
            false => format!(
                "What stops the next one:\n{}",
                output::shown(&reasons(&found.stopped_by))
            ),
        });
    }
    parts.join("\n\n")
}

fn reasons(reasons: &[RemovedHosts]) -> comfy_table::Table {
    let mut table = output::table(&["removed by", "because it", ">hosts", "for example"]);
    for reason in reasons {
        let because = match reason.passing {
            true => format!("{} (for now)", reason.reason),
            false => reason.reason.to_string(),
        };
        table.add_row([
            reason.filter.to_string(),
            because,
            reason.hosts.to_string(),
            reason.names.join(", "),
        ]);
    }
    table
}
