//! `placewright evacuate`: how hosts are emptied.

use std::sync::Arc;

use clap::Args;
use placewright_document::nearest;
use placewright_scheduler::BalancePlan;

use super::balance::{self, PlanShown};
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::questions::About;
use super::rounds;

/// Plan how hosts are emptied, and list the VMs that cannot leave.
///
/// These hosts take no VMs. The policy places every VM that runs on them, one after the other: first
/// by priority, then by the score where it runs, then by size. VMs that a hard group keeps together
/// move together. Nothing outside changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright evacuate --cluster cluster.toml --policy even.toml --host h1
  placewright evacuate --cluster cluster.toml --host h1 --host h2 --format json

Exit code 1: a VM cannot go. See placewright --help for the others.")]
pub(super) struct Evacuate {
    /// The host to empty. Repeat it to empty several hosts together
    #[arg(long, value_name = "ID", required = true)]
    host: Vec<String>,
    /// Show the moves in rounds, with at most N moves under way at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_in_flight: Option<u32>,
    #[command(flatten)]
    about: About,
}

impl Evacuate {
    /// Plan and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let format = self.about.format;
        let (mut scheduler, now) = self.about.read()?.scheduler()?;
        let inventory = scheduler.inventory();
        if let Some(unknown) = self.host.iter().find(|id| inventory.slot(id).is_none()) {
            let known = nearest(unknown, inventory.hosts().map(|(_, host)| &*host.id));
            let hint = known.map_or(String::new(), |id| format!(" (did you mean \"{id}\"?)"));
            return Err(Failure::input_because(format!(
                "there is no host \"{unknown}\" in the cluster{hint}"
            )));
        }
        let hosts: Vec<Arc<str>> = self.host.iter().map(|id| id.as_str().into()).collect();
        let plan = scheduler
            .plan_evacuation(now, &hosts)
            .map_err(Failure::place)?;
        let rounds = rounds::of(scheduler, &plan, self.max_in_flight);
        match format {
            Format::Json => output::print_json(&PlanShown::new(&plan, rounds.as_deref()))?,
            Format::Table => output::print(&text(&plan, rounds.as_deref()))?,
        }
        Ok(Answer::yes_if(plan.stuck.is_empty()))
    }
}

fn text(plan: &BalancePlan, rounds: Option<&[Option<usize>]>) -> String {
    let mut parts = Vec::new();
    if !plan.moves.is_empty() {
        parts.push(output::shown(&balance::moves(plan, rounds)));
    }
    parts.extend(balance::stuck(plan));
    if !plan.reserved.is_empty() {
        let reserved = plan.reserved.iter().map(|it| match &it.from {
            Some(from) => format!("{} on {}, and it runs on {from}", it.vm, it.host),
            None => format!("{} on {}", it.vm, it.host),
        });
        let reserved: Vec<String> = reserved.collect();
        parts.push(output::list("Places are reserved:", &reserved));
    }
    if !plan.notes.is_empty() {
        parts.push(output::shown(&balance::notes(&plan.notes)));
    }
    let all = plan.moves.len() + plan.stuck.len();
    parts.push(match (all, plan.stuck.len()) {
        (0, _) => "Nothing is to be moved: ".to_owned() + &plan.reasons.join("; ") + ".",
        (all, 0) => format!("Of {all} VMs, all find another host."),
        (all, stuck) => format!("Of {all} VMs, {stuck} cannot go."),
    });
    parts.join("\n\n")
}
