//! The comparison as a table, as CSV, and as a document.

use std::fmt::Write;

use placewright_tools::simulate::openb::{Comparison, Line};

use crate::cli::output;

const COLUMNS: [&str; 6] = [
    "workload",
    "policy",
    ">asked %",
    ">allocated %",
    ">published %",
    ">difference",
];

/// For people.
pub(super) fn text(comparison: &Comparison) -> String {
    let mut table = output::table(&COLUMNS);
    let mut before = None;
    for line in &comparison.lines {
        // What stays the same is said once.
        let key = (&line.workload, &line.policy);
        let [workload, policy] = match before == Some(key) {
            true => [String::new(), String::new()],
            false => [line.workload.clone(), line.policy.clone()],
        };
        before = Some(key);
        table.add_row([
            workload,
            policy,
            line.arrived_pct.to_string(),
            ours(line),
            theirs(line),
            difference(line),
        ]);
    }
    output::shown(&table)
}

/// A line for each figure.
pub(super) fn csv(comparison: &Comparison) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in &comparison.lines {
        writer.serialize(line)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A document: a section for each list of pods, in it a row for each policy.
pub(super) fn markdown(comparison: &Comparison, command: &str) -> String {
    let runs = comparison.lines.iter().map(|line| line.runs).max();
    let mut text = format!(
        "# Allocation of GPUs, beside the published figures\n\n\
         Made by\n\n    {command}\n\n\
         from Alibaba's trace `cluster-trace-gpu-v2023` and the lists of pods and results of the simulator that carries it\n\
         (`hkust-adsl/kubernetes-scheduler-simulator`, Apache-2.0): Q. Weng et al., *Beware of Fragmentation: Scheduling\n\
         GPU-Sharing Workloads with Fragmentation Gradient Descent*, USENIX ATC 2023. Each cell is how much of the cluster's\n\
         GPUs is allocated, in percent, once so much of them was asked for: the mean and standard deviation of {} seeds,\n\
         then the published ones, then the difference of the means. {} decisions in all.\n",
        runs.unwrap_or(0),
        output::number(comparison.decisions as f64),
    );
    for of_workload in comparison.lines.chunk_by(|a, b| a.workload == b.workload) {
        // Writing to a text cannot fail.
        let _ = write!(text, "\n## {}\n\n| policy |", of_workload[0].workload);
        let of_first = of_workload.chunk_by(|a, b| a.policy == b.policy).next();
        let points = of_first.unwrap_or_default();
        for point in points {
            let _ = write!(text, " at {} % | published | |", point.arrived_pct);
        }
        let _ = write!(text, "\n|---|{}\n", "---:|---:|---:|".repeat(points.len()));
        for of_policy in of_workload.chunk_by(|a, b| a.policy == b.policy) {
            let _ = write!(text, "| {} |", of_policy[0].policy);
            for line in of_policy {
                let cells = [ours(line), theirs(line), difference(line)];
                let _ = write!(text, " {} |", cells.join(" | "));
            }
            text.push('\n');
        }
    }
    text
}

fn ours(line: &Line) -> String {
    format!("{:.2} ± {:.2}", line.mean, line.deviation)
}

fn theirs(line: &Line) -> String {
    match (line.published_mean, line.published_deviation) {
        (Some(mean), Some(deviation)) => format!("{mean:.2} ± {deviation:.2}"),
        _ => String::new(),
    }
}

fn difference(line: &Line) -> String {
    let difference = line.difference;
    difference.map_or_else(String::new, |difference| format!("{difference:+.2}"))
}
