//! `placewright balance`: which moves a policy plans for a cluster that runs.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use placewright_chain::Proposed;
use placewright_document::ClusterDocument;
use placewright_inventory::Inventory;
use placewright_model::Facts;
use placewright_plugins::DEFAULT_POLICY;
use placewright_scheduler::{
    BalanceOptions, BalancePlan, MoveShown, PlanTold, Scheduler, SchedulerOptions,
};
use serde::Serialize;

use super::clusters;
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::rounds;
use super::units::{self, UnitArgs};

/// Plan the moves that improve a running cluster.
///
/// Repairs come first: VMs leave hosts in maintenance, down or faulty, broken hard groups are
/// joined or parted, and hosts that promise more than they may give VMs away. Then the policy's balance
/// unit proposes moves. A proposal is planned if the policy's filters allow it and it lowers the
/// policy's cost. Each step is legal after the steps before it, so you may stop after any of them.
/// Nothing is moved; --apply writes the cluster as it would be afterwards.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright balance --cluster cluster.toml
  placewright balance --cluster cluster.toml --policy power-saving --moves 5 \\
      --apply after.json
  placewright balance --ganeti cluster.data

See placewright --help for exit codes. A cluster for which nothing is planned is no failure.")]
pub(super) struct Balance {
    /// The document of the cluster (TOML or JSON)
    #[arg(long, value_name = "FILE", required_unless_present = "ganeti")]
    cluster: Option<PathBuf>,
    /// In place of a document: a text file of Ganeti's htools (hbal -t, gnt-cluster's hscan)
    #[arg(long, value_name = "FILE", conflicts_with = "cluster")]
    ganeti: Option<PathBuf>,
    /// Of a Ganeti file with several groups of nodes, the one to balance
    #[arg(long, value_name = "NAME", requires = "ganeti")]
    group: Option<String>,
    /// The policy: one that comes with the program (placewright policy list), or a file; if not given
    /// general, or ganeti for a Ganeti file
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,
    /// A move must lower the policy's cost by more than this
    #[arg(long, value_name = "COST", default_value_t = BalanceOptions::default().margin, value_parser = margin)]
    margin: f64,
    /// The most moves of a plan
    #[arg(long, value_name = "N", default_value_t = BalanceOptions::default().moves)]
    moves: usize,
    /// Move no VM twice
    #[arg(long)]
    once: bool,
    /// Whether repairs come first: VMs on hosts that are not up, broken hard groups, hosts that
    /// promise more than they may. Default: true, and false for a Ganeti file
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    repairs: Option<bool>,
    /// Show the moves in rounds, with at most N moves under way at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_in_flight: Option<u32>,
    /// Write the document of the cluster (JSON) as it is after these moves into this file
    #[arg(long, value_name = "FILE")]
    apply: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

impl Balance {
    /// Plan and print.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let (cluster, document) = match (&self.ganeti, &self.cluster) {
            (Some(file), _) => clusters::read_ganeti(file, self.group.as_deref())?,
            (None, Some(file)) => clusters::read_with_document(file)?,
            (None, None) => return Err(Failure::input_because("name a cluster with --cluster")),
        };
        let generation = self.units.load()?;
        let default = match self.ganeti {
            Some(_) => "ganeti",
            None => DEFAULT_POLICY,
        };
        let name = self.policy.as_deref().unwrap_or(default);
        let policy = units::policy(name, &generation, cluster.inventory.schema())?;
        let options = SchedulerOptions {
            seed: cluster.seed,
            ..SchedulerOptions::default()
        };
        let mut scheduler = Scheduler::new(cluster.inventory, policy, &generation, options)
            .map_err(Failure::input)?;
        let options = BalanceOptions {
            margin: self.margin,
            // Nothing is remembered of moves before this call.
            cool_down: i64::from(self.once),
            moves: self.moves,
            // As in Ganeti, it is the unit that says what leaves a node that is drained or
            // offline.
            repairs: self.repairs.unwrap_or(self.ganeti.is_none()),
        };
        let plan = scheduler
            .plan_balance(cluster.now, &options)
            .map_err(Failure::place)?;
        let begun_on = scheduler.copy();
        if let Some(file) = &self.apply {
            scheduler.carry_out(&plan).map_err(Failure::input)?;
            let mut document = document;
            renew(&mut document, scheduler.inventory());
            let text = serde_json::to_string_pretty(&document).map_err(Failure::internal)?;
            fs::write(file, text + "\n").map_err(|error| {
                Failure::input(
                    anyhow::Error::new(error).context(format!("cannot write {}", file.display())),
                )
            })?;
        }
        let rounds = rounds::of(begun_on, &plan, self.max_in_flight);
        match self.format {
            Format::Json => output::print_json(&PlanShown::new(&plan, rounds.as_deref()))?,
            Format::Table => output::print(&shown(&plan, rounds.as_deref()))?,
        }
        Ok(Answer::Yes)
    }
}

/// The document of the cluster as it is now.
fn renew(document: &mut ClusterDocument, inventory: &Inventory) {
    for host in &mut document.hosts {
        let slot = inventory.slot(&host.id);
        if let Some(entry) = slot.and_then(|slot| inventory.host(slot)) {
            host.facts = entry.facts.clone();
        }
    }
    for placed in document.vms.iter_mut().filter(|placed| !placed.pending) {
        let Some(entry) = inventory.running(&placed.vm.id) else {
            continue;
        };
        let Some(host) = inventory.host(entry.slot) else {
            continue;
        };
        if placed.host != host.id {
            placed.host = host.id.clone();
            // What belonged to its stay on the other host.
            placed.placed = Facts::new();
        }
        placed.vm = (*entry.vm).clone();
    }
}

/// What a move must lower the cost by at least.
pub(super) fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(margin) if (0.0..f64::INFINITY).contains(&margin) => Ok(margin),
        _ => Err("write a number, 0 or more".to_owned()),
    }
}

/// A plan as programs read it.
#[derive(Serialize)]
pub(super) struct PlanShown {
    #[serde(flatten)]
    told: PlanTold,
    moves: Vec<InRound>,
}

/// A move, and in which round it is made, if that was asked for.
#[derive(Serialize)]
struct InRound {
    #[serde(flatten)]
    planned: MoveShown,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<usize>,
}

impl PlanShown {
    /// What the plan says, and the round of each of its moves.
    pub(super) fn new(plan: &BalancePlan, rounds: Option<&[Option<usize>]>) -> Self {
        let of = |place: usize| rounds.and_then(|rounds| *rounds.get(place)?);
        let moves = plan.moves_told().enumerate();
        let moves = moves.map(|(place, planned)| InRound {
            planned,
            round: of(place),
        });
        Self {
            told: plan.told(),
            moves: moves.collect(),
        }
    }
}

fn shown(plan: &BalancePlan, rounds: Option<&[Option<usize>]>) -> String {
    let mut parts = Vec::new();
    if plan.moves.is_empty() {
        parts.push("Nothing is to be moved.".to_owned());
        if !plan.reasons.is_empty() {
            parts.push(output::list("Because:", &plan.reasons));
        }
    } else {
        parts.push(output::shown(&moves(plan, rounds)));
    }
    if plan.cut_short {
        parts.push("There may be more: the plan holds no more moves than --moves.".to_owned());
    }
    parts.extend(stuck(plan));
    if !plan.notes.is_empty() {
        parts.push(output::shown(&notes(&plan.notes)));
    }
    let refused = plan
        .refused
        .iter()
        .filter(|it| it.after == plan.moves.len());
    let refused: Vec<String> = refused
        .map(|it| format!("{} stays on {}: {}", it.vm, it.from, it.because))
        .collect();
    if !refused.is_empty() {
        parts.push(output::list("Proposed and not done:", &refused));
    }
    parts.join("\n\n")
}

pub(super) fn moves(plan: &BalancePlan, rounds: Option<&[Option<usize>]>) -> comfy_table::Table {
    let columns = [
        "step",
        "move",
        "from",
        "to",
        ">cost before",
        ">after",
        "because",
    ];
    let with_round = [["round"].as_slice(), &columns].concat();
    let mut table = output::table(match rounds {
        Some(_) => &with_round,
        None => &columns,
    });
    for (number, step) in (1..).zip(&plan.moves) {
        let to = match step.from == step.to {
            true => Vec::new(),
            false => vec![step.to.to_string()],
        };
        let round = rounds.and_then(|rounds| rounds.get(number - 1));
        let round = round.map(|round| round.map_or("-".to_owned(), |round| round.to_string()));
        let row = [
            format!("{number}"),
            step.vm.to_string(),
            step.from.to_string(),
            [to, step.changes_shown()].concat().join("; "),
            step.cost_before.as_deref().map_or("-".to_owned(), costs),
            costs(&step.cost_after),
            match step.live {
                true => step.reason.clone(),
                false => format!("{}; it does not run while it moves", step.reason),
            },
        ];
        table.add_row(round.into_iter().chain(row));
    }
    table
}

/// The VMs that should leave their hosts and cannot.
pub(super) fn stuck(plan: &BalancePlan) -> Option<String> {
    let stuck = plan.stuck.iter();
    let stuck: Vec<String> = stuck
        .map(|it| format!("{} stays on {}: {}", it.vm, it.from, it.because))
        .collect();
    (!stuck.is_empty()).then(|| output::list("These should leave their hosts and cannot:", &stuck))
}

/// Of several tiers, one after the other.
fn costs(tiers: &[f64]) -> String {
    let tiers: Vec<String> = tiers.iter().map(|cost| format!("{cost:.8}")).collect();
    match tiers.is_empty() {
        true => "-".to_owned(),
        false => tiers.join(" / "),
    }
}

pub(super) fn notes(notes: &[Proposed]) -> comfy_table::Table {
    let mut table = output::table(&["for an operator", "where", "because"]);
    for note in notes {
        match note {
            Proposed::Move { .. } => {}
            Proposed::HostState {
                host,
                state,
                reason,
            } => {
                let what = format!("bring {host} into {state}");
                table.add_row([what, host.to_string(), reason.clone()]);
            }
            Proposed::Finding { reason, about } => {
                let about: Vec<String> = about
                    .iter()
                    .map(|(table, id)| format!("{table} {id}"))
                    .collect();
                table.add_row(["finding".to_owned(), about.join(", "), reason.clone()]);
            }
        }
    }
    table
}
