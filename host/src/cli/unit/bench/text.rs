//! What was measured, for people.

use std::fmt::Write;

use comfy_table::Table;
use placewright_tools::bench::{
    CallCost, Compared, LimitShown, Quartiles, Report, TraceCost, UnitCost,
};

use crate::cli::output;

pub(super) fn text(report: &Report) -> String {
    let units: Vec<String> = report.units.iter().map(of_unit).collect();
    let mut text = units.join("\n\n");
    if let [one, other] = &report.units[..]
        && !report.compared.is_empty()
    {
        let _ = write!(
            text,
            "\n\nWhat {} costs for each 1 that {} costs\n\n{}",
            other.source,
            one.source,
            output::shown(&compared(&report.compared))
        );
    }
    text
}

fn of_unit(cost: &UnitCost) -> String {
    let digest: String = cost.digest.chars().take(12).collect();
    let load = &cost.load;
    let mut text = format!(
        "{}: {} {} ({digest})\n{}, compiled in {}, loaded from the cache in {}; a fresh instance takes {}\n\n{}",
        cost.source,
        cost.unit,
        cost.version,
        bytes(load.bytes as f64),
        duration(load.compiled_ns),
        duration(load.from_cache_ns.median),
        duration(load.instance_ns.median),
        output::shown(&calls(&cost.calls)),
    );
    for call in &cost.calls {
        if let Some(why) = &call.failure {
            let hosts = output::number(call.hosts as f64);
            let _ = write!(text, "\n{}, {hosts} hosts: {why}", call.part);
        }
    }
    if let Some(trace) = &cost.trace {
        let _ = write!(text, "\n\n{}", on_trace(trace));
    }
    let _ = write!(text, "\n\n{}", output::shown(&limits(&cost.limits)));
    text
}

fn calls(calls: &[CallCost]) -> Table {
    let mut table = output::table(&[
        "part",
        ">hosts",
        ">instructions",
        ">per host",
        ">time",
        ">per host",
        ">memory",
    ]);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for call in calls {
        let instructions = call.instructions.map(|it| output::number(it as f64));
        let per_host = call.instructions_per_host.map(output::number);
        table.add_row([
            call.part.to_string(),
            output::number(call.hosts as f64),
            or_dash(instructions),
            or_dash(per_host),
            or_dash(call.time_ns.map(|time| duration(time.median))),
            or_dash(call.time_per_host_ns.map(duration)),
            bytes(call.memory_after_bytes as f64),
        ]);
    }
    table
}

fn on_trace(trace: &TraceCost) -> String {
    let count = |count: u64| output::number(count as f64);
    let mut text = format!(
        "On {} ({} VMs, {} of them placed on {} hosts, policy {}): it judged {} hosts in {} calls, and {} answers came from the cache; {} in all.",
        trace.trace,
        count(trace.arrivals),
        count(trace.placed),
        trace.hosts,
        trace.policy,
        count(trace.asked),
        count(trace.calls),
        count(trace.reused),
        duration(trace.time_ns),
    );
    if trace.quarantined {
        text.push_str(
            " It gave different answers for a host that had not changed, so its answers were no longer cached.",
        );
    }
    text
}

fn limits(limits: &[LimitShown]) -> Table {
    let mut table = output::table(&["limit", ">used", ">allowed", ">share", ""]);
    for limit in limits {
        let shown = |value: f64| match limit.measure {
            "bytes" => bytes(value),
            "seconds" => duration(value * 1e9),
            _ => output::number(value),
        };
        table.add_row([
            limit.limit.to_owned(),
            shown(limit.used),
            shown(limit.allowed),
            format!("{:.2} %", limit.used / limit.allowed * 100.0),
            if limit.kept { "" } else { "NOT KEPT" }.to_owned(),
        ]);
    }
    table
}

fn compared(compared: &[Compared]) -> Table {
    let columns = ["part", ">hosts", ">instructions", ">time", "half between"];
    let mut table = output::table(&columns);
    for of in compared {
        let ratio = |ratio: f64| format!("{ratio:.3}");
        let between = |it: Quartiles| format!("{} and {}", ratio(it.lower), ratio(it.upper));
        table.add_row([
            of.part.to_string(),
            output::number(of.hosts as f64),
            of.instructions.map_or("-".to_owned(), ratio),
            of.time.map_or("-".to_owned(), |it| ratio(it.median)),
            of.time.map_or(String::new(), between),
        ]);
    }
    table
}

fn bytes(bytes: f64) -> String {
    output::bytes(bytes as i64)
}

/// Nanoseconds as people read them.
fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    match value {
        value if value >= 100.0 => format!("{value:.0} {unit}"),
        value if value >= 10.0 => format!("{value:.1} {unit}"),
        value => format!("{value:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_with_three_digits() {
        let shown = [0.0, 1.234, 45_600.0, 789_000_000.0, 2e9].map(duration);
        assert_eq!(shown, ["0.00 ns", "1.23 ns", "45.6 µs", "789 ms", "2.00 s"]);
    }
}
