//! The tables of metrics and of alerts: written from what a server registers, and from the rules.

use placewright_records::telemetry::{MetricFamily, families};

use super::check_tables;
use crate::monitoring::{Alert, alerts};

fn metrics_table() -> String {
    let rows = families().into_iter().map(|family| {
        let MetricFamily {
            kind, help, labels, ..
        } = &family;
        let name = match &**kind {
            "histogram" => family.name.clone(),
            _ => family.samples().concat(),
        };
        let labels = labels.iter().map(|(label, values)| match values.len() {
            0 => format!("`{label}`"),
            _ => {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                format!("`{label}` ({})", values.join(", "))
            }
        });
        let labels: Vec<String> = labels.collect();
        format!("| `{name}` | {kind} | {} | {help} |\n", labels.join(", "))
    });
    let head = "\n| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n";
    head.to_owned() + &rows.collect::<String>() + "\n"
}

fn alerts_table() -> String {
    let rows = alerts().into_iter().map(|alert| {
        let Alert {
            name,
            expr,
            lasts,
            severity,
            action,
        } = alert;
        let lasts = lasts.map_or_else(String::new, |it| format!(", for {it}"));
        let expr = expr.replace('|', "\\|");
        format!("| `{name}` | {severity} | `{expr}`{lasts} | {action} |\n")
    });
    let head = "\n| Alert | Severity | Fires where | What to do |\n|---|---|---|---|\n";
    head.to_owned() + &rows.collect::<String>() + "\n"
}

#[test]
fn the_page_of_metrics_and_alerts_is_current() {
    let tables = [("metrics", metrics_table()), ("alerts", alerts_table())];
    check_tables("metrics.md", &tables);
}
