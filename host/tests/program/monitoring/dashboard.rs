//! The dashboard for Grafana.

use std::fs;

use placewright_records::telemetry::families;
use serde_json::{Value, json};

use super::query::problems;
use super::{folder, prometheus, succeeds};

/// Each panel's title with its queries, and the queries of variables.
fn queries() -> Vec<(String, String)> {
    let text = fs::read_to_string(folder("grafana").join("placewright.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let of_panel = panels.flat_map(|panel| {
        let title = panel["title"].as_str().unwrap().to_owned();
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        let is_row = panel["type"] == "row";
        assert!(is_row || !targets.is_empty(), "{title} asks for nothing");
        targets.into_iter().map(move |target| {
            let query = target["expr"].as_str().unwrap().to_owned();
            (title.clone(), query)
        })
    });
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let of_variable = variables.filter_map(|variable| {
        let query = variable["query"]["query"].as_str()?;
        // label_values(QUERY, LABEL)
        let inside = query.strip_prefix("label_values(")?.strip_suffix(')')?;
        let (query, label) = inside.rsplit_once(", ")?;
        Some((
            variable["name"].to_string(),
            format!("sum by ({label}) ({query})"),
        ))
    });
    of_panel.chain(of_variable).collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let families = families();
    let queries = queries();
    assert!(queries.len() > 40, "{queries:?}");
    for (title, query) in queries {
        let problems = problems(&query, &families);
        assert!(problems.is_empty(), "{title}: {query}: {problems:?}");
    }
}

#[test]
fn the_dashboard_s_queries_are_promql() {
    let Some(mut promtool) = prometheus("promtool") else {
        return;
    };
    let rules = queries()
        .into_iter()
        .enumerate()
        .map(|(number, (_, query))| {
            let query = query.replace("$__rate_interval", "5m");
            json!({"record": format!("panel:{number}"), "expr": query})
        });
    let file = json!({"groups": [{"name": "dashboard", "rules": rules.collect::<Vec<_>>()}]});
    let made = tempfile::tempdir().unwrap();
    // What is JSON is YAML.
    let path = made.path().join("dashboard.yaml");
    fs::write(&path, file.to_string()).unwrap();
    promtool.args(["check", "rules"]).arg(&path);
    succeeds(promtool);
}
