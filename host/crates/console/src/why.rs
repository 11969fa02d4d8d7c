//! Why not there: one host of a decision, in a sentence and with the evidence.

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{self, cost, cut};
use crate::matrix::{Matrix, Row};
use crate::page::sentence;
use crate::parts::{empty, host_link};
use crate::value::{items, text};

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

/// The panel beside the matrix. `told` is what the API says of the host, where it keeps the VMs
/// off.
pub(crate) fn panel(
    ask: &Ask,
    cluster: &str,
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
            div.in.stack { @match host {
                Some(host) => {
                    (answer(cluster, matrix, host))
                    @if let Some(told) = told { (ways(host, items(told, "ways"))) }
                }
                None => (empty("Every host was taken", html! { "There is nothing to ask." })),
            } }
        }
    }
}

fn answer(cluster: &str, matrix: &Matrix<'_>, host: &str) -> Markup {
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
            p.lead { b { (cut(host, 60)) " was chosen." } " No host costs less." }
        },
        (Some(_), Some(_)) if matrix.is_by_chance() => html! {
            p.lead { b { "Another host was drawn." } " Where selections decide, chance does: the shares stand below." }
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
