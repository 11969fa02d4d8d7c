//! What would change, for people; from the JSON that a server gives, or that is printed.

use std::fmt::Write;

use serde_json::Value;

use crate::cli::output;

/// Whether a server has found nothing that would change.
pub(super) fn is_unchanged(told: &Value) -> bool {
    let clusters = told["clusters"].as_object();
    let mut clusters = clusters.into_iter().flatten();
    refusal(told).is_none() && clusters.all(|(_, replayed)| count(replayed, "differing") == 0)
}

pub(super) fn of_server(told: &Value) -> String {
    let mut text = String::new();
    let staging = &told["staging"];
    let name = staging["name"].as_str().unwrap_or("the unit");
    let version = staging["version"].as_str().unwrap_or_default();
    let digest: String = word(staging, "digest").chars().take(12).collect();
    let _ = writeln!(text, "{name} {version} ({digest})");
    if let Some(why) = refusal(told) {
        let _ = writeln!(text, "It would be refused: {why}");
    }
    let clusters = told["clusters"].as_object();
    for (cluster, replayed) in clusters.into_iter().flatten() {
        let _ = write!(text, "\nCluster {cluster}: {}", of_decisions(replayed));
    }
    if refusal(told).is_none() && clusters.is_none_or(serde_json::Map::is_empty) {
        text.push_str("No cluster uses a unit of this name.\n");
    }
    text
}

pub(super) fn on_trace(told: &Value) -> String {
    let mut table = output::table(&["", ">as it is", ">with the unit"]);
    let rows = [
        ("VMs placed", "placed"),
        ("VMs rejected", "rejected"),
        ("cores rejected", "rejected-cores"),
        ("hosts in use, mean", "mean-used-hosts"),
    ];
    for (title, name) in rows {
        let shown = |side: &str| output::number(told[side][name].as_f64().unwrap_or_default());
        table.add_row([title.to_owned(), shown("before"), shown("after")]);
    }
    format!(
        "{} in policy {}, on {} with {} hosts: {}\nThe whole replay\n\n{}",
        word(told, "unit"),
        word(told, "policy"),
        word(told, "trace"),
        count(told, "hosts"),
        of_decisions(told),
        output::shown(&table),
    )
}

/// Why the unit would not come into force.
fn refusal(told: &Value) -> Option<&str> {
    let outcome = &told["staging"]["outcome"];
    (outcome["result"] == "refused").then(|| outcome["why"].as_str().unwrap_or_default())
}

fn of_decisions(replayed: &Value) -> String {
    let [tried, differing, failing] =
        ["tried", "differing", "failing"].map(|name| count(replayed, name));
    let number = |count: u64| output::number(count as f64);
    let mut text = match (tried, differing) {
        (0, _) => "there is no decision to make again\n".to_owned(),
        (tried, 0) => format!("all of {} decisions come out the same\n", number(tried)),
        (tried, differing) => format!(
            "{} of {} decisions come out differently ({:.1} % agree)\n",
            number(differing),
            number(tried),
            (tried - differing) as f64 / tried as f64 * 100.0
        ),
    };
    if failing > 0 {
        let _ = writeln!(text, "In {} of them there is no decision", number(failing));
    }
    for example in replayed["examples"].as_array().into_iter().flatten() {
        let _ = write!(text, "\n{}", of_example(example));
    }
    text
}

fn of_example(example: &Value) -> String {
    let host = |side: &str| example[side].as_str().unwrap_or("no host");
    let vms = example["vms"].as_array().into_iter().flatten();
    let vms: Vec<&str> = vms.filter_map(Value::as_str).collect();
    let mut text = format!(
        "Decision {}, {}: {} before, {} with the unit\n",
        count(example, "decision"),
        vms.join(", "),
        host("before"),
        host("after")
    );
    if let Some(failure) = example["failure"].as_str() {
        let _ = writeln!(text, "  {failure}");
    }
    for host in example["hosts"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "  {}: before {}; with the unit {}",
            word(host, "host"),
            fate(&host["before"]),
            fate(&host["after"])
        );
        for cost in host["costs"].as_array().into_iter().flatten() {
            let shown = |side: &str| cost[side].as_f64().map_or("-".to_owned(), output::number);
            let _ = writeln!(
                text,
                "    cost {}: {} before, {} with the unit",
                word(cost, "entry"),
                shown("before"),
                shown("after")
            );
        }
    }
    text
}

fn fate(fate: &Value) -> String {
    match fate["fate"].as_str().unwrap_or_default() {
        "removed" => format!(
            "{} removes it: it {}",
            word(fate, "filter"),
            word(fate, "reason")
        ),
        "not-asked" => format!("it {}", word(fate, "reason")),
        _ => {
            let sums = fate["sums"].as_array().into_iter().flatten();
            let sums = sums.map(|sum| output::number(sum.as_f64().unwrap_or(f64::INFINITY)));
            let sums: Vec<String> = sums.collect();
            match sums.is_empty() {
                true => "it is left".to_owned(),
                false => format!("it costs {}", sums.join(", ")),
            }
        }
    }
}

fn word<'v>(of: &'v Value, name: &str) -> &'v str {
    of[name].as_str().unwrap_or_default()
}

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_default()
}
