//! `placewright simulate --nodes`: a list of pods on a cluster of GPUs.

use std::path::Path;

use placewright_chain::Reuse;
use placewright_engine::generation::Generation;
use placewright_policy::Policy;
use placewright_tools::simulate::openb::{GpuReplay, GpuReport, Nodes, PodList};

use super::failure::Failure;
use super::output::{self, Format};
use super::progress::Follower;

/// What is replayed besides the nodes and the list.
pub(super) struct Wanted {
    pub seed: u64,
    pub limit: Option<usize>,
    pub reuse: Option<Reuse>,
    pub format: Format,
}

/// Replay the list of pods in `trace` on `nodes`, and print.
pub(super) fn run(
    nodes: &Path,
    trace: &Path,
    policy: &Policy,
    generation: &Generation,
    wanted: &Wanted,
) -> Result<(), Failure> {
    let nodes = Nodes::open(nodes).map_err(Failure::input)?;
    let list = PodList::open(trace).map_err(Failure::input)?;
    let replay = GpuReplay {
        nodes: &nodes,
        list: &list,
        seed: wanted.seed,
        limit: wanted.limit,
        reuse: wanted.reuse,
    };
    let mut follower = Follower::new("replaying");
    let report = replay
        .run(policy, generation, |done, of| follower.advance(done, of))
        .map_err(super::simulate::failure)?;
    match wanted.format {
        Format::Json => output::print_json(&report),
        Format::Table => output::print(&text(&report)),
    }
}

fn text(report: &GpuReport) -> String {
    let parts = [
        output::shown(&figures(report)),
        output::shown(&super::simulate::times(&report.calls)),
        super::simulate::kept_answers(report.reuse.as_ref()),
        format!(
            "Pods: {}, in the order of seed {}\nPolicy: {}\nDecisions: {}",
            report.trace, report.seed, report.policy, report.decision_fnv1a64
        ),
    ];
    parts.join("\n\n")
}

fn figures(report: &GpuReport) -> comfy_table::Table {
    let mut table = output::table(&["", ">value"]);
    let mut row = |name: String, value: String| {
        table.add_row([name, value]);
    };
    let count = |count: u64| output::number(count as f64);
    let percent = |share: f64| format!("{share:.2} %");
    row("nodes".into(), count(report.nodes as u64));
    row("  of GPUs".into(), output::number(report.gpus as f64));
    row("pods".into(), count(report.arrivals));
    row("  placed".into(), count(report.placed));
    row("  rejected".into(), count(report.rejected));
    for point in &report.points {
        let name = format!("GPUs allocated, {} % asked for", point.arrived_pct);
        row(name, percent(point.allocated_pct));
    }
    for (need, pods) in &report.unheeded {
        row(format!("need unheeded: {need}"), count(*pods));
    }
    row("GPUs asked for, end".into(), percent(report.arrived_pct));
    row("GPUs allocated, end".into(), percent(report.allocated_pct));
    row(
        "decisions per second".into(),
        output::number(report.decisions_per_second),
    );
    table
}
