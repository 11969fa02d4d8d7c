//! `placewright place`: cluster, policy and VMs in; decisions out.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use placewright_chain::Explanation;
use placewright_document::{Surroundings, read_requests};
use placewright_model::{Request, doubts};
use placewright_plugins::DEFAULT_POLICY;
use placewright_scheduler::{
    Batch, BatchOrder, Decision, DecisionShown, Plan, RemovedHosts, SEARCH_DECISIONS, Scheduler,
    SchedulerOptions,
};
use serde::Serialize;

use super::clusters::{self, Cluster};
use super::explained::{self, Extent};
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::units::{self, UnitArgs};

/// Decide where VMs run in a cluster that a document describes.
///
/// The requests of the VM document are decided one after the other, each seeing the places that
/// the ones before it took. Nothing outside changes: the documents are only read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright place --cluster cluster.toml --vm vm.toml
  placewright place --cluster cluster.toml --policy mine.toml \\
      --units my-units --vm vm.toml --explain
  placewright place --cluster cluster.toml --policy pacemaker-balanced \\
      --vm vms.toml --batch --from-nothing
  placewright place --cluster cluster.toml --policy best-fit --vm vms.toml \\
      --batch --all-or-nothing --search

Exit code 1: a request found no host. See placewright --help for the others.")]
pub(super) struct Place {
    /// The document of the cluster: hosts, VMs that run there, groups (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// The policy: one that comes with the program (placewright policy list), or a file
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_POLICY)]
    policy: String,
    /// The document to place: a VM, VMs, or requests (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    vm: PathBuf,
    /// Take all VMs of the document as one batch, in the order that the policy's order unit gives, or
    /// else by priority, current score and size; VMs that a hard group keeps together are placed together
    #[arg(long)]
    batch: bool,
    /// With --batch: plan as if none of these VMs had a place, so that running ones may move; places
    /// that cannot be reserved as things are, with these VMs where they run, are told
    #[arg(long, requires = "batch")]
    from_nothing: bool,
    /// With --batch: take the VMs in the order in which they are listed
    #[arg(long, requires = "batch")]
    listed: bool,
    /// With --batch: place all VMs or none
    #[arg(long, requires = "batch")]
    all_or_nothing: bool,
    #[command(flatten)]
    search: SearchArgs,
    /// Show for every host why it was removed or what it costs
    #[arg(long)]
    explain: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

/// Whether a batch is searched for a better plan.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// If VMs are left out, search for a plan that leaves out fewer, with at most so many decisions
    /// more
    #[arg(
        long,
        value_name = "DECISIONS",
        num_args = 0..=1,
        default_missing_value = SEARCH_DECISIONS.to_string()
    )]
    pub search: Option<usize>,
}

impl Place {
    /// Decide and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        if self.search.search.is_some() && !self.batch {
            return Err(Failure::input_because(
                "--search is for a plan of many VMs: give --batch with it",
            ));
        }
        let cluster = clusters::read(&self.cluster)?;
        let file = self.vm.display().to_string();
        let surroundings = Surroundings {
            schema: cluster.inventory.schema(),
            now: cluster.now,
            hosts: Some(&cluster.hosts),
        };
        let requests =
            read_requests(&units::read(&self.vm)?, &file, surroundings).map_err(Failure::input)?;
        let mut scheduler = self.scheduler(cluster)?;
        let (decisions, batch) = match self.batch {
            true => {
                let mut plan = self.in_turns(&mut scheduler, requests)?;
                let turns = std::mem::take(&mut plan.turns).into_iter();
                let decisions = turns.map(|turn| turn.outcome.map_err(Failure::place));
                (
                    decisions.collect::<Result<Vec<Arc<Decision>>, Failure>>()?,
                    Some(plan),
                )
            }
            false => {
                let decisions = requests.into_iter();
                let decisions = decisions.map(|it| scheduler.place(it).map_err(Failure::place));
                (
                    decisions.collect::<Result<Vec<Arc<Decision>>, Failure>>()?,
                    None,
                )
            }
        };
        output::warn(&doubts(
            decisions.iter().flat_map(|it| &it.request.members),
            [],
        ));
        let mut placed = Vec::with_capacity(decisions.len());
        for decision in decisions {
            let explanation = match self.explain {
                true => Some(
                    scheduler
                        .explain(decision.number)
                        .map_err(Failure::internal)?,
                ),
                false => None,
            };
            placed.push((decision, explanation));
        }
        self.print(&placed, batch.as_ref())?;
        Ok(Answer::yes_if(
            placed.iter().all(|(decision, _)| decision.host.is_some()),
        ))
    }

    /// All VMs of the requests as one batch.
    fn in_turns(&self, scheduler: &mut Scheduler, requests: Vec<Request>) -> Result<Plan, Failure> {
        let batch = Batch::of_requests(requests).map_err(Failure::input)?;
        let batch = Batch {
            from_nothing: self.from_nothing,
            all_or_nothing: self.all_or_nothing || batch.all_or_nothing,
            search: self.search.search,
            order: match self.listed {
                true => BatchOrder::Listed,
                false => BatchOrder::Policy,
            },
            ..batch
        };
        let plan = scheduler.place_batch(batch).map_err(Failure::place)?;
        if let Some(vm) = plan.without_turn.first() {
            return Err(Failure::input_because(format!(
                "the policy's order gives VM \"{vm}\" no turn"
            )));
        }
        Ok(plan)
    }

    fn scheduler(&self, cluster: Cluster) -> Result<Scheduler, Failure> {
        let generation = self.units.load()?;
        let policy = units::policy(&self.policy, &generation, cluster.inventory.schema())?;
        let options = SchedulerOptions {
            seed: cluster.seed,
            ..SchedulerOptions::default()
        };
        Scheduler::new(cluster.inventory, policy, &generation, options).map_err(Failure::input)
    }

    fn print(
        &self,
        placed: &[(Arc<Decision>, Option<Explanation>)],
        batch: Option<&Plan>,
    ) -> Result<(), Failure> {
        if self.format == Format::Json {
            let all_find_one = placed.iter().all(|(decision, _)| decision.host.is_some());
            let is_whole = all_find_one && batch.is_none_or(|plan| plan.without_turn.is_empty());
            // Nothing outside changes: what is reserved here ends with the command.
            let unreserved = placed.iter().map(|(decision, _)| Decision {
                reserved: None,
                ..(**decision).clone()
            });
            let unreserved: Vec<Decision> = unreserved.collect();
            let explanations = placed.iter().map(|(_, explanation)| explanation.as_ref());
            let decisions = unreserved.iter().zip(explanations);
            let decisions = decisions.map(|(decision, explanation)| Printed {
                placed: decision.host.is_some() && (is_whole || !decision.request.all_or_nothing),
                shown: DecisionShown::new(decision, explanation),
            });
            return output::print_json(&decisions.collect::<Vec<_>>());
        }
        let is_dry = placed.iter().any(|(decision, _)| decision.request.dry_run);
        let mut text = output::shown(&decisions(placed));
        let all_find_one = placed.iter().all(|(decision, _)| decision.host.is_some());
        text.push_str(&batch.map_or(String::new(), |plan| about(plan, is_dry, all_find_one)));
        for (decision, explanation) in placed {
            if let Some(explanation) = explanation {
                let _ = write!(text, "\n\n{}:\n", vms(decision));
                text.push_str(&explained::text(explanation, Extent::Whole));
            }
        }
        output::print(&text)
    }
}

/// A decision as it is printed for programs.
#[derive(Serialize)]
struct Printed<'a> {
    /// Whether its VMs get the host: not where all or nothing was asked for and another VM finds
    /// none.
    placed: bool,
    #[serde(flatten)]
    shown: DecisionShown<'a>,
}

/// What there is to say of a batch as a whole.
fn about(plan: &Plan, is_dry: bool, all_find_one: bool) -> String {
    let mut text = String::new();
    if let Some(searched) = &plan.searched {
        let _ = write!(
            text,
            "\n\nFirst-come order leaves out {}, this plan {}; the search took {} decisions{}.",
            searched.first_come,
            searched.left_out,
            searched.decisions,
            if searched.bounded { ", its bound" } else { "" }
        );
    }
    if !plan.reserved && !is_dry {
        let _ = write!(text, "\n\n{}", output::unreserved(all_find_one));
    }
    text
}

fn vms(decision: &Decision) -> String {
    let ids: Vec<&str> = decision.request.members.iter().map(|vm| &*vm.id).collect();
    ids.join(", ")
}

fn decisions(placed: &[(Arc<Decision>, Option<Explanation>)]) -> comfy_table::Table {
    let mut table = output::table(&["VM", "host", "why"]);
    for (decision, _) in placed {
        let host = match &decision.host {
            Some(host) => output::strong(host),
            None => output::strong("none"),
        };
        table.add_row([vms(decision).into(), host, why(decision).into()]);
    }
    table
}

/// One line on a decision: how many hosts were left, who removed the others.
fn why(decision: &Decision) -> String {
    let decided = &decision.decided;
    let left = decided.left();
    let mut parts = vec![match &decided.chosen {
        Some(chosen) => {
            let tied = match chosen.tied {
                0 | 1 => String::new(),
                tied => format!(", {tied} tied"),
            };
            let costs: Vec<String> = chosen
                .costs
                .iter()
                .map(|cost| output::number(*cost))
                .collect();
            let drawn = decision.shares.iter().flatten();
            let drawn = drawn.filter(|(host, _)| Some(host) == decision.host.as_ref());
            match costs.is_empty() {
                true if !decision.shares.is_empty() => {
                    let share: f64 = drawn.map(|(_, share)| share).sum();
                    format!("drawn with a chance of {}", output::number(share))
                }
                true => format!("best of {left}{tied}"),
                false => format!("best of {left}, cost {}{tied}", costs.join(" / ")),
            }
        }
        None if decision.shares.iter().any(|group| !group.is_empty()) => {
            "no candidate has a chance".to_owned()
        }
        None => output::nobody_left(decided.considered),
    }];
    parts.extend(decision.moves.iter().map(|moved| match moved.live {
        true => format!("VM {} is moved from {} while it runs", moved.vm, moved.from),
        false => format!(
            "VM {} is moved from {} and does not run meanwhile",
            moved.vm, moved.from
        ),
    }));
    let removed = decided.removed.iter().map(RemovedHosts::from);
    parts.extend(removed.map(|removed| removed.to_string()));
    parts.extend(
        decision
            .unheeded
            .iter()
            .map(|need| format!("warning: {need}")),
    );
    let warnings = decision.unknown.iter().chain(&decision.unreserved);
    parts.extend(warnings.map(|sentence| format!("warning: {sentence}")));
    parts.extend(
        decided
            .left_out
            .iter()
            .map(|left_out| format!("{} was left out: {}", left_out.entry, left_out.fault)),
    );
    parts.join("; ")
}
