//! What a query in PromQL names, held against the metrics that there are. Its grammar is not
//! checked here: `promtool` does that.

use std::collections::BTreeSet;

use placewright_records::telemetry::MetricFamily;

/// Labels that Prometheus adds.
const ADDED: [&str; 2] = ["instance", "job"];

/// Words before a list of labels.
const LISTS: [&str; 5] = ["by", "without", "ignoring", "on", "group_left"];

/// What of a query does not exist: metrics, labels, and values of labels.
pub(super) fn problems(query: &str, families: &[MetricFamily]) -> Vec<String> {
    let mut found = Found::default();
    let mut rest = query;
    while let Some(at) = rest.find(|it: char| it.is_ascii_alphabetic() || it == '_' || it == '"') {
        rest = &rest[at..];
        if let Some(text) = rest.strip_prefix('"') {
            rest = text.split_once('"').map_or("", |(_, after)| after);
            continue;
        }
        let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let end = rest.find(|it| !word(it)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_start();
        rest = after;
        if LISTS.contains(&name) {
            if let Some((list, after)) = after.strip_prefix('(').and_then(|it| it.split_once(')')) {
                found.listed.extend(list.split(',').map(str::trim));
                rest = after;
            }
        } else if name == "up" || name.starts_with("placewright_") || name.starts_with("process_") {
            let matchers = after.strip_prefix('{').and_then(|it| it.split_once('}'));
            rest = matchers.map_or(after, |(_, after)| after);
            found.metric(name, matchers.map_or("", |(inside, _)| inside), families);
        }
    }
    if !found.any {
        found.problems.push("it asks for no metric".to_owned());
    }
    for label in found.listed.difference(&found.labels) {
        found
            .problems
            .push(format!("no metric in it has a label {label}"));
    }
    found.problems
}

#[derive(Default)]
struct Found<'q> {
    any: bool,
    /// Labels of all metrics in it.
    labels: BTreeSet<&'q str>,
    /// Labels by which it sums or joins.
    listed: BTreeSet<&'q str>,
    problems: Vec<String>,
}

impl<'q> Found<'q> {
    fn metric(&mut self, name: &str, matchers: &'q str, families: &'q [MetricFamily]) {
        self.any = true;
        self.labels.extend(ADDED);
        let of = |family: &&MetricFamily| family.samples().iter().any(|it| it == name);
        let family = families.iter().find(of);
        if family.is_none() && name != "up" {
            self.problems.push(format!("there is no metric {name}"));
            return;
        }
        let known = family.map(|it| &it.labels);
        self.labels.extend(
            known
                .into_iter()
                .flat_map(|it| it.keys())
                .map(String::as_str),
        );
        if name.ends_with("_bucket") {
            self.labels.insert("le");
        }
        for matcher in matchers.split(',').filter(|it| !it.is_empty()) {
            let Some((label, value)) = matcher.split_once('=') else {
                self.problems.push(format!("{matcher} is not understood"));
                continue;
            };
            let label = label.trim_end_matches('!').trim();
            if !self.labels.contains(label) {
                self.problems.push(format!("{name} has no label {label}"));
            }
            let values = known.and_then(|it| it.get(label));
            let Some(values) = values.filter(|it| !it.is_empty()) else {
                continue;
            };
            let asked = value.trim_start_matches('~').trim_matches('"').split('|');
            for value in asked.filter(|it| !values.contains(*it)) {
                self.problems
                    .push(format!("{name}: {label} is never {value}"));
            }
        }
    }
}

#[test]
fn what_a_query_gets_wrong_is_found() {
    let families = placewright_records::telemetry::families();
    let problems = |query| problems(query, &families);
    for right in [
        r#"sum by (cluster) (rate(placewright_decisions_total{outcome="failed",instance=~"$i"}[5m]))"#,
        r#"up{job="placewright"} == 0"#,
        "histogram_quantile(0.9, sum by (le) (rate(placewright_store_commit_seconds_bucket[5m])))",
    ] {
        assert_eq!(problems(right), [""; 0], "{right}");
    }
    for (wrong, problem) in [
        (
            "placewright_decision_total",
            "there is no metric placewright_decision_total",
        ),
        (
            r#"placewright_decisions_total{outcome=~"failed|lost"}"#,
            "placewright_decisions_total: outcome is never lost",
        ),
        (
            r#"placewright_hosts{unit="x"}"#,
            "placewright_hosts has no label unit",
        ),
        (
            "sum by (unit) (placewright_hosts)",
            "no metric in it has a label unit",
        ),
        ("time() > 3", "it asks for no metric"),
    ] {
        assert_eq!(problems(wrong), [problem], "{wrong}");
    }
}
