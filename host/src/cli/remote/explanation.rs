//! An explanation for people: who was removed and why, what the others cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::shown;
use crate::cli::output;

/// Hosts that are shown with their costs, cheapest first.
const MOST_HOSTS: usize = 20;

/// The explanation as text.
pub(super) fn text(body: &Value) -> String {
    let chosen = body["chosen"].as_str();
    let mut text = match chosen {
        Some(host) => format!("Chosen: {}\n", shown::plain(host)),
        None => "Chosen: none\n".to_owned(),
    };
    if body["refused"].is_string() {
        let because = shown::cell(&body["refused"]);
        let _ = write!(
            text,
            "No host was looked for: {because}.\nWithout that this would have become of the hosts:\n"
        );
    }
    let stages = list(&body["stages"]);
    for stage in stages {
        if stages.len() > 1 {
            let _ = write!(text, "\nStage {}\n", shown::cell(&stage["name"]));
        }
        text.push_str(&of_stage(stage, chosen));
    }
    let unasked = list(&body["not-considered"]);
    if !unasked.is_empty() {
        let rows = shown::table(&["not asked:host", "because it:reason"], unasked);
        let _ = write!(text, "\n{rows}\n");
    }
    let _ = write!(
        text,
        "\nPolicy: {}, inventory version {}",
        shown::cell(&body["policy"]),
        shown::cell(&body["inventory-version"])
    );
    text
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn of_stage(stage: &Value, chosen: Option<&str>) -> String {
    let hosts = list(&stage["hosts"]);
    let (removed, mut remaining): (Vec<&Value>, Vec<&Value>) =
        hosts.iter().partition(|host| host["removed"].is_object());
    remaining.sort_by(|one, other| sums(one).total_cmp_all(&sums(other)));
    let mut text = String::new();
    if !remaining.is_empty() {
        let _ = write!(text, "\n{}\n", costs(&remaining, chosen));
    }
    if remaining.len() > MOST_HOSTS {
        let more = remaining.len() - MOST_HOSTS;
        let _ = writeln!(text, "... and {more} more");
    }
    if !removed.is_empty() {
        let _ = write!(text, "\n{}\n", reasons(&removed));
    }
    text
}

/// Sums of costs, tier by tier; none is infinite.
struct Sums(Vec<f64>);

impl Sums {
    fn total_cmp_all(&self, other: &Self) -> std::cmp::Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let mut orders = pairs.map(|(one, other)| one.total_cmp(other));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(self.0.len().cmp(&other.0.len()))
    }
}

fn sums(host: &Value) -> Sums {
    let sums = list(&host["sums"]).iter();
    Sums(
        sums.map(|sum| sum.as_f64().unwrap_or(f64::INFINITY))
            .collect(),
    )
}

/// One row for each host: its sum, and the weighted cost of each entry.
fn costs(hosts: &[&Value], chosen: Option<&str>) -> String {
    let mut table = output::table(&["host", ">cost", "of which"]);
    for host in hosts.iter().take(MOST_HOSTS) {
        let name = shown::cell(&host["host"]);
        let name = match host["host"].as_str() == chosen {
            true => output::strong(format!("{name} <- chosen")),
            false => name.into(),
        };
        let number = |cost: &Value| output::number(cost.as_f64().unwrap_or(f64::INFINITY));
        let total: Vec<String> = list(&host["sums"]).iter().map(number).collect();
        let costs = list(&host["costs"]).iter();
        let costs: Vec<String> = costs
            .filter(|cost| cost["weighted"].as_f64() != Some(0.0))
            .map(|cost| {
                format!(
                    "{} {}",
                    shown::cell(&cost["name"]),
                    number(&cost["weighted"])
                )
            })
            .collect();
        table.add_row([name, total.join(" / ").into(), costs.join(", ").into()]);
    }
    output::shown(&table)
}

/// One row for each reason, with how many hosts it removed and some of them.
fn reasons(hosts: &[&Value]) -> String {
    let mut found: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for host in hosts {
        let removed = &host["removed"];
        let mut reason = shown::cell(&removed["reason"]);
        if removed["passing"] == true {
            reason.push_str(" (for now)");
        }
        let names = found.entry((shown::cell(&removed["filter"]), reason));
        names.or_default().extend(host["host"].as_str());
    }
    let mut table = output::table(&["removed by", "because it", ">hosts", "which"]);
    for ((filter, reason), names) in found {
        let shown = shown::plain(&output::some_of(&names));
        table.add_row([filter, reason, names.len().to_string(), shown]);
    }
    output::shown(&table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hosts_are_told_cheapest_first_and_those_that_are_removed_by_their_reasons() {
        let removed = |host: &str| json!({"host": host, "removed": {"filter": "memory", "reason": "has too little", "passing": true}});
        let cost = |host: &str, sum: Value| json!({"host": host, "sums": [sum], "costs": [{"name": "cpu", "weighted": sum}, {"name": "x", "weighted": 0.0}]});
        let text = text(&json!({
            "chosen": "b", "policy": "p", "inventory-version": 7,
            "stages": [{"name": "s", "hosts": [
                cost("a", Value::Null), cost("b", json!(1.5)), removed("c"), removed("d"),
            ]}],
        }));
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[0], ["Chosen:", "b"], "{text}");
        assert_eq!(
            lines[4],
            ["b", "<-", "chosen", "1.50", "cpu", "1.50"],
            "{text}"
        );
        assert_eq!(lines[5], ["a", "∞", "cpu", "∞"], "{text}");
        assert!(
            text.contains("has too little (for now)       2   c, d"),
            "{text}"
        );
    }
}
