//! The alert rules.

use std::fs;

use placewright_records::telemetry::families;

use super::query::problems;
use super::{folder, prometheus, succeeds};

/// A rule, as far as the book tells of it.
#[derive(Debug, Default)]
pub(crate) struct Alert {
    pub(crate) name: String,
    pub(crate) expr: String,
    /// How long it must be so.
    pub(crate) lasts: Option<String>,
    pub(crate) severity: String,
    pub(crate) action: String,
}

/// All rules, in order. The file has one key in a line, and no other form of YAML.
pub(crate) fn alerts() -> Vec<Alert> {
    let text = fs::read_to_string(folder("prometheus").join("alerts.yaml")).unwrap();
    let mut alerts: Vec<Alert> = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some((key, value)) = line.split_once(": ") else {
            continue;
        };
        let value = value.to_owned();
        if key == "- alert" {
            alerts.push(Alert {
                name: value,
                ..Alert::default()
            });
        } else if let Some(alert) = alerts.last_mut() {
            match key {
                "expr" => alert.expr = value,
                "for" => alert.lasts = Some(value),
                "severity" => alert.severity = value,
                "action" => alert.action = value,
                _ => {}
            }
        }
    }
    alerts
}

#[test]
fn alerts_ask_for_metrics_that_there_are() {
    let families = families();
    let alerts = alerts();
    assert!(alerts.len() > 20, "{alerts:?}");
    for alert in alerts {
        let problems = problems(&alert.expr, &families);
        assert!(problems.is_empty(), "{}: {problems:?}", alert.name);
        assert!(!alert.action.is_empty(), "{}: says no action", alert.name);
        let severity = &*alert.severity;
        assert!(matches!(severity, "page" | "ticket"), "{}", alert.name);
    }
}

#[test]
fn every_alert_fires_and_does_not_fire_where_its_tests_say_so() {
    let tests = fs::read_to_string(folder("prometheus").join("alerts.test.yaml")).unwrap();
    for alert in alerts() {
        let named = format!("alertname: {}\n", alert.name);
        let mut checks = tests.split(&named).skip(1);
        let fires = checks.clone().any(|rest| is_firing(rest));
        assert!(fires, "{}: no test has it fire", alert.name);
        let rests = checks.any(|rest| !is_firing(rest));
        assert!(rests, "{}: no test has it not fire", alert.name);
    }
    let Some(mut promtool) = prometheus("promtool") else {
        return;
    };
    promtool.current_dir(folder("prometheus"));
    promtool.args(["test", "rules", "alerts.test.yaml"]);
    succeeds(promtool);
}

/// Whether the check that begins here expects an alert.
fn is_firing(check: &str) -> bool {
    let line = check.lines().find(|it| it.contains("exp_alerts:"));
    line.is_some_and(|it| !it.contains("[]"))
}
