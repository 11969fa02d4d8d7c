//! Why not there: one host of a decision, in a sentence and with the evidence.

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{self, cost, cut};
use crate::matrix::{Matrix, Row};
use crate::page::sentence;
use crate::parts::{empty, host_link, note};
use crate::value::{items, text};

/// Shares of chance that are told in a sentence.
const SHARES: usize = 6;

/// The host that the page is about: the one that is asked about, or the first that was removed, or
/// the next best.
pub(crate) fn host<'m>(matrix: &Matrix<'m>, asked: Option<&'m str>) -> Option<&'m str> {
    let host = asked.or_else(|| matrix.removed.first().map(|row| row.host));
    host.or_else(|| matrix.next_best().map(|(host, _)| host))
}

/// Whether no filter let the host through, or none was asked about it.
pub(crate) fn is_kept_out(matrix: &Matrix<'_>, host: &str) -> bool {
    matrix.removed.iter().any(|row| row.host == host)
        || matrix.unasked.iter().any(|(known, _)| *known == host)
}

/// Why there was no choice, if there was none: the request or an administrator named the host, or
/// no other was left.
pub(crate) fn forced(recorded: &Value, matrix: &Matrix<'_>) -> Option<String> {
    let (request, decision) = (&recorded["request"], &recorded["decision"]);
    let host = cut(decision["host"].as_str()?, 60);
    if request["force"].is_string() {
        let by = cut(text(recorded, "by"), 40);
        return Some(format!(
            "There was no choice: {by} forced {host} past the policy, and no unit was asked"
        ));
    }
    if let [_] = items(request, "allowed") {
        return Some(format!(
            "There was no choice: the request allows {host} alone"
        ));
    }
    let mut vms = items(request, "vms").iter();
    if let Some(vm) = vms.find(|vm| items(vm, "pinned").len() == 1) {
        let vm = cut(text(vm, "id"), 60);
        return Some(format!(
            "There was no choice: {vm} is pinned to {host} alone"
        ));
    }
    let (left, removed, _) = matrix.counts();
    (left == 1 && removed > 0).then(|| {
        let others = format::things(removed, "other was", "others were");
        format!("There was no choice: {host} was the only host left, {others} removed")
    })
}

/// The group of candidates that a host was drawn from, in words: "one of 3 with 50 %, 30 % and
/// 20 %". None where chance did not decide.
pub(crate) fn drawn(decision: &Value) -> Option<String> {
    let host = decision["host"].as_str()?;
    let is_in = |group: &&Value| {
        let candidates = group.as_array().into_iter().flatten();
        candidates.into_iter().any(|it| text(it, "host") == host)
    };
    let mut groups = items(decision, "shares").iter();
    let group = groups.find(is_in)?.as_array()?;
    if group.len() < 2 {
        return None;
    }
    let mut shares: Vec<f64> = group
        .iter()
        .map(|it| it["share"].as_f64().unwrap_or_default())
        .collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    let told: Vec<String> = shares
        .iter()
        .take(SHARES)
        .map(|it| format::percent(*it))
        .collect();
    let told = match (told.split_last(), shares.len() > SHARES) {
        (Some((last, [])), _) => last.clone(),
        (Some((last, others)), false) => format!("{} and {last}", others.join(", ")),
        (_, true) => format!("{} and less", told.join(", ")),
        (None, _) => return None,
    };
    Some(format!("one of {} with {told}", format::len(group.len())))
}

/// The panel beside the matrix. `told` is what the API says of the host, where it keeps the VMs
/// off.
pub(crate) fn panel(
    ask: &Ask,
    (cluster, recorded): (&str, &Value),
    matrix: &Matrix<'_>,
    (host, told): (Option<&str>, Option<&Value>),
) -> Markup {
    html! {
        section.panel id="why" aria-labelledby="why-title" aria-live="polite" {
            header {
                h2 id="why-title" { "Why not " span.mono { (host.map_or("there".to_owned(), |host| cut(host, 40))) } "?" }
                form.bar method="get" action="#why" {
                    @for (name, value) in &ask.query { @if name != "host" { input type="hidden" name=(name) value=(value); } }
                    input.field name="host" value=(host.unwrap_or_default()) aria-label="Id of the host" size="12" list="hosts-of-decision";
                    button.btn type="submit" { "Ask" }
                }
            }
            datalist id="hosts-of-decision" {
                @for row in matrix.left.iter().chain(&matrix.removed).take(200) { option value=(row.host) {} }
            }
            div.in.stack {
            @if let Some(forced) = forced(recorded, matrix) { (note("warn", html! { b { (sentence(&forced)) } })) }
            @match host {
                Some(host) => {
                    (answer(cluster, &recorded["decision"], matrix, host))
                    @if let Some(told) = told { (ways(host, items(told, "ways"))) }
                }
                None if matrix.counts().0 == 0 => (empty("No unit was asked", html! { "Ask about a host by its id." })),
                None => (empty("Every host was taken", html! { "There is nothing to ask." })),
            } }
        }
    }
}

fn answer(cluster: &str, decision: &Value, matrix: &Matrix<'_>, host: &str) -> Markup {
    if let Some((_, reason)) = matrix.unasked.iter().find(|(known, _)| *known == host) {
        return html! { p.lead { b { (cut(host, 60)) " " (cut(reason, 200)) "." } " No unit was asked about it." } };
    }
    if let Some(row) = matrix.removed.iter().find(|row| row.host == host) {
        return removed(cluster, row);
    }
    let chosen = matrix.chosen();
    let row = matrix.left.iter().find(|row| row.host == host);
    match (row, chosen) {
        (Some(row), Some(chosen)) if row.host == chosen.host => html! {
            p.lead { b { (cut(host, 60)) " was chosen." }
                @match drawn(decision) {
                    Some(drawn) => { " Chance decided: it was " (drawn) "." }
                    None if matrix.is_by_chance() => " It was the only one that chance had left.",
                    None => " No host costs less.",
                } }
        },
        (Some(_), Some(chosen)) if matrix.is_by_chance() => html! {
            p.lead { b { "Another host was drawn." }
                @if let Some(drawn) = drawn(decision) { " " (cut(chosen.host, 60)) " was " (drawn) "." }
                " Where selections decide, chance does: the shares stand below." }
        },
        (None, _) if decision["host"] == host => html! {
            p.lead { b { (cut(host, 60)) " was taken." } " No unit was asked about it." }
        },
        (Some(row), Some(chosen)) => costlier(matrix, row, chosen),
        (Some(_), None) => {
            html! { p.lead { b { (cut(host, 60)) " was left, and nothing was chosen." } } }
        }
        (None, _) => {
            html! { p.lead { "There was no host " b.mono { (cut(host, 60)) } " in this decision." } }
        }
    }
}

fn removed(cluster: &str, row: &Row<'_>) -> Markup {
    let by = row.removed.unwrap_or(&Value::Null);
    let values = items(by, "values");
    html! {
        p.lead { (host_link(cluster, Some(row.host))) " " b { (cut(text(by, "reason"), 200)) "." }
            " The filter " b { (cut(text(by, "filter"), 60)) } " removed it"
            @if by["passing"] == true { "; waiting for places that are reserved may help" } "." }
        @if !values.is_empty() {
            details open[values.len() <= 16] {
                summary { "What the filter saw: " (format::things(values.len(), "value", "values")) }
                div.scroll { table.flat {
                    thead { tr { th scope="col" { "Of" } th scope="col" { "Column" } th.num scope="col" { "Value" } } }
                    tbody { @for value in values { tr {
                        td.soft { (whose(text(value, "table"))) } td.mono { (cut(text(value, "column"), 60)) } td.num { (cut(text(value, "value"), 80)) }
                    } } }
                } }
            }
        }
    }
}

/// The smallest changes that would have let the host through, as sentences.
pub(crate) fn ways(host: &str, ways: &[Value]) -> Markup {
    let way = |way: &Value| {
        html! {
            (sentence(&cut(text(way, "sentence"), 240)))
            @if way["chosen"] == true { " " b { (cut(host, 60)) " would then be chosen." } }
        }
    };
    html! {
        div id="smallest-change" { @match ways {
            [] => p.small.soft { "No change of the request or of the host, and no two of them together, was found that would let it through." },
            [first, rest @ ..] => {
                p { "The smallest change that would let it through: " (way(first)) }
                @if !rest.is_empty() {
                    details {
                        summary { "Or, instead: " (format::things(rest.len(), "other way", "other ways")) }
                        ul { @for other in rest { li { (way(other)) } } }
                    }
                }
            }
        } }
    }
}

fn whose(table: &str) -> String {
    match table {
        "hosts" => "the host".to_owned(),
        "members" => "the VM".to_owned(),
        "settings" => "the settings".to_owned(),
        other => cut(other, 40),
    }
}

fn costlier(matrix: &Matrix<'_>, row: &Row<'_>, chosen: &Row<'_>) -> Markup {
    let differences: Vec<(&str, f64)> = matrix
        .entries
        .iter()
        .map(|entry| {
            let of = |row: &Row<'_>| row.costs.get(entry).map_or(0.0, |it| it[2]);
            (*entry, of(row) - of(chosen))
        })
        .filter(|(_, by)| *by != 0.0)
        .collect();
    let by = row.sum() - chosen.sum();
    let most = differences
        .iter()
        .map(|(_, by)| by.abs())
        .filter(|it| it.is_finite());
    let most = most.fold(f64::MIN_POSITIVE, f64::max);
    let through = differences.iter().filter(|(_, by)| *by > 0.0);
    let through = through.max_by(|a, b| a.1.total_cmp(&b.1));
    html! {
        p.lead {
            @if by == 0.0 {
                b { (cut(row.host, 60)) " costs the same as " (cut(chosen.host, 60)) "." }
                " The rule for ties decided between them."
            } @else {
                b { (cut(row.host, 60)) " costs " (cost(by)) " more than " (cut(chosen.host, 60)) }
                @if let Some((entry, _)) = through { ", mostly through " b { (cut(entry, 60)) } }
                "."
            }
        }
        @if !differences.is_empty() {
            table.flat {
                caption.vh { "Differences of weighted costs, entry by entry" }
                tbody { @for (entry, by) in &differences { tr {
                    th.row scope="row" { (cut(entry, 40)) }
                    td { svg viewBox="-50 0 100 10" width="120" height="12" aria-hidden="true" {
                        line.s-line x1="0" x2="0" y1="0" y2="10" {}
                        @let wide = (by.abs() / most * 48.0).min(48.0);
                        rect class=(if *by > 0.0 { "f-warn" } else { "f-used" }) x=(format!("{:.1}", if *by > 0.0 { 0.0 } else { -wide })) width=(format!("{wide:.1}")) height="10" {}
                    } }
                    td.num { (if *by > 0.0 { "+" } else { "" }) (cost(*by)) }
                } } }
            }
        }
        @if let Some(sentence) = wins(matrix, by, through.copied(), row.host) { p.small.soft { (sentence) } }
    }
}

/// The factor at which the host would cost less, if changing that of one entry is enough: costs
/// are factor times scale, and the scale does not hang on the factor.
fn wins(matrix: &Matrix<'_>, by: f64, through: Option<(&str, f64)>, host: &str) -> Option<String> {
    let (entry, difference) = through?;
    let factor = matrix.factor(entry)?;
    let share = 1.0 - by / difference;
    let is_one_tier = matrix.left.iter().all(|row| row.sums.len() <= 1);
    (is_one_tier && by > 0.0 && by.is_finite() && difference.is_finite() && share > 0.0).then(
        || {
            format!(
                "With a factor of {entry} below {}, {} would cost less than the chosen host.",
                format::number(factor * share, 4),
                cut(host, 60)
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shares_of_chance_are_told_in_words() {
        let decision = |shares: &[f64]| {
            let group = shares.iter().enumerate();
            let group =
                group.map(|(number, share)| json!({"host": format!("h{number}"), "share": share}));
            let group: Vec<Value> = group.collect();
            json!({"host": "h1", "shares": [[{"host": "x", "share": 1.0}], group]})
        };
        let told = |shares: &[f64]| drawn(&decision(shares));
        assert_eq!(
            told(&[0.3, 0.5, 0.2]).unwrap(),
            "one of 3 with 50 %, 30 % and 20 %"
        );
        assert_eq!(told(&[0.5, 0.5]).unwrap(), "one of 2 with 50 % and 50 %");
        assert!(told(&[0.125; 8]).unwrap().ends_with("13 % and less"));
        assert_eq!(drawn(&json!({"host": "h1", "shares": []})), None);
        assert_eq!(
            drawn(&json!({"host": "x", "shares": [[{"host": "x", "share": 1.0}]]})),
            None
        );
    }

    #[test]
    fn a_decision_without_a_choice_says_why_there_was_none() {
        let left = json!({"chosen": "a", "stages": [{"hosts": [
            {"host": "a", "sums": [1.0]},
            {"host": "b", "removed": {"filter": "cpu", "reason": "is full"}},
        ]}]});
        let both = json!({"chosen": "a", "stages": [{"hosts": [
            {"host": "a", "sums": [1.0]}, {"host": "b", "sums": [2.0]},
        ]}]});
        let told = |request: Value, explanation: &Value| {
            let recorded = json!({"by": "anna", "request": request, "decision": {"host": "a"}});
            forced(&recorded, &Matrix::of(explanation)).unwrap_or_default()
        };
        for (request, explanation, part) in [
            (
                json!({"force": "a"}),
                &both,
                "anna forced a past the policy",
            ),
            (
                json!({"allowed": ["a"]}),
                &both,
                "the request allows a alone",
            ),
            (
                json!({"vms": [{"id": "v", "pinned": ["a"]}]}),
                &both,
                "v is pinned to a alone",
            ),
            (
                json!({}),
                &left,
                "a was the only host left, 1 other was removed",
            ),
        ] {
            let told = told(request, explanation);
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(told(json!({"allowed": ["a", "b"]}), &both), "");
    }
}
