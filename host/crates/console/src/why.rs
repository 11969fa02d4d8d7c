//! Why not there: one host of a decision, in a sentence and with the evidence.

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{self, cost, cut};
use crate::matrix::{Matrix, Row, Then};
use crate::page::sentence;
use crate::parts::{empty, host_link, note};
use crate::value::{self, items, text, texts};

/// Shares of chance that are told in a sentence.
const SHARES: usize = 6;

/// The host that the page is about: the one that is asked about, or the one that was chosen and is
/// not any more, or the first that was removed, or the next best.
pub(crate) fn host<'m>(matrix: &Matrix<'m>, asked: Option<&'m str>) -> Option<&'m str> {
    let host = asked.or_else(|| matrix.then.and_then(|Then(host)| host));
    let host = host.or_else(|| matrix.removed.first().map(|row| row.host));
    host.or_else(|| matrix.next_best().map(|(host, _)| host))
        // Where nothing was chosen, whatever was left.
        .or_else(|| match matrix.chosen() {
            None => matrix.left.first().map(|row| row.host),
            Some(_) => None,
        })
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
    (left == 1 && removed > 0 && matrix.then.is_none()).then(|| {
        let others = format::things(removed, "other was", "others were");
        format!("There was no choice: {host} was the only host left, {others} removed")
    })
}

/// The group of candidates that the host was drawn from, in words: "one of 3 with 50 %, 30 % and
/// 20 %". None where chance did not decide.
pub(crate) fn drawn(matrix: &Matrix<'_>, decision: &Value) -> Option<String> {
    match matrix.by {
        Some(_) => one_of(matrix.chances_beside(matrix.chosen()?.host)),
        None => drawn_then(decision),
    }
}

/// The same as it was recorded.
fn drawn_then(decision: &Value) -> Option<String> {
    let host = decision["host"].as_str()?;
    let is_in = |group: &&Value| {
        let candidates = group.as_array().into_iter().flatten();
        candidates.into_iter().any(|it| text(it, "host") == host)
    };
    let mut groups = items(decision, "shares").iter();
    let group = groups.find(is_in)?.as_array()?.iter();
    let shares = group.map(|it| it["share"].as_f64().unwrap_or_default());
    one_of(shares.collect())
}

/// A group of candidates with these shares, in words.
fn one_of(mut shares: Vec<f64>) -> Option<String> {
    if shares.len() < 2 {
        return None;
    }
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
    Some(format!("one of {} with {told}", format::len(shares.len())))
}

/// The panel beside the matrix. `told` is what the API says of the host, where it keeps the VMs
/// off.
pub(crate) fn panel(
    ask: &Ask,
    (cluster, recorded): (&str, &Value),
    matrix: &Matrix<'_>,
    (host, told): (Option<&str>, Option<&Value>),
) -> Markup {
    let is_refused = told.is_some_and(|told| {
        matches!(
            text(told, "standing"),
            "removed" | "not-asked" | "refused-by-quota"
        )
    });
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
                    @if matrix.is_then(host) { p.lead { b { (cut(host, 60)) " was chosen then." }
                        @match matrix.by {
                            Some(policy) => { " By " (cut(policy, 60)) " it is not:" }
                            None => " Made again now it is not:",
                        } } }
                    (answer((cluster, &recorded["decision"]), matrix, (host, told)))
                    @if let Some(told) = told.filter(|_| is_refused) { (ways(host, items(told, "ways"))) }
                }
                None if matrix.counts().0 == 0 => (empty("No unit was asked", html! { "Ask about a host by its id." })),
                None if matrix.counts().2 == 0 => (empty("There was no other host", html! { "There is nothing to ask." })),
                None => (empty("No other host was considered", html! { "Ask about one by its id." })),
            } }
        }
    }
}

fn answer(
    (cluster, decision): (&str, &Value),
    matrix: &Matrix<'_>,
    (host, told): (&str, Option<&Value>),
) -> Markup {
    if let Some((_, reason)) = matrix.unasked.iter().find(|(known, _)| *known == host) {
        return html! { p.lead { b { (cut(host, 60)) " " (cut(reason, 200)) "." } " No unit was asked about it." } };
    }
    if let Some(row) = matrix.removed.iter().find(|row| row.host == host) {
        return removed(cluster, row, told);
    }
    let chosen = matrix.chosen();
    let row = matrix.left.iter().find(|row| row.host == host);
    match (row, chosen) {
        (Some(row), Some(chosen)) if row.host == chosen.host => html! {
            p.lead { b { (cut(host, 60)) @if matrix.by.is_some() { " would be chosen." } @else if matrix.then.is_some() { " would be chosen now." } @else { " was chosen." } }
                @match drawn(matrix, decision) {
                    Some(drawn) => { " Chance decided: it was " (drawn) "." }
                    None if matrix.is_by_chance() => " It was the only one that chance had left.",
                    None => " No host costs less.",
                } }
        },
        (Some(_), Some(chosen)) if matrix.is_by_chance() => {
            not_drawn((host, chosen.host), matrix, drawn(matrix, decision))
        }
        (None, _) if decision["host"] == host => html! {
            p.lead { b { (cut(host, 60)) " was taken." } " No unit was asked about it." }
        },
        (Some(_), Some(chosen)) => match told {
            Some(told) => dearer(matrix, (host, chosen.host), told),
            None => {
                html! { p.lead { b { (cut(host, 60)) " was left" } ", and " (cut(chosen.host, 60)) " was chosen." } }
            }
        },
        (Some(_), None) if decision["refused-by-quota"].is_object() => html! {
            p.lead { b { (cut(host, 60)) " would have been left." } " A quota allows no more, so no host was looked for." }
        },
        (Some(_), None) => {
            html! { p.lead { b { (cut(host, 60)) " was left, and nothing was chosen." } } }
        }
        (None, _) => {
            html! { p.lead { "There was no host " b.mono { (cut(host, 60)) } " in this decision." } }
        }
    }
}

/// Why a host was not drawn where chance decided; `drawn` is what the chosen one was, in words.
fn not_drawn((host, chosen): (&str, &str), matrix: &Matrix<'_>, drawn: Option<String>) -> Markup {
    let (shown, other) = (cut(host, 60), cut(chosen, 60));
    let chance = matrix.chance(host);
    let from = matrix.chance(chosen).map(|chance| chance.group);
    html! {
        p.lead {
            @match chance {
                Some(chance) if chance.share <= 0.0 => b { (shown) " had no chance"
                    @if let Some(unit) = chance.none_by { ": " (cut(unit, 60)) " gave it none" } "." },
                Some(chance) if from.is_some_and(|from| from < chance.group) => b {
                    (shown) " is in group " (chance.group) ", and the host was drawn from group " (from.unwrap_or_default()) "." },
                Some(chance) => b { (shown) " had a chance of " (format::percent(chance.share)) ", and another host was drawn." },
                None => b { "Another host was drawn." },
            }
            @if let Some(drawn) = drawn { " " (other) " was " (drawn) "." }
        }
    }
}

fn removed(cluster: &str, row: &Row<'_>, told: Option<&Value>) -> Markup {
    let by = row.removed.unwrap_or(&Value::Null);
    // The filters that would remove it as well.
    let others = told.map_or(&[][..], |told| items(told, "by"));
    let others: Vec<&Value> = others
        .iter()
        .filter(|other| other["filter"] != by["filter"])
        .collect();
    let values = items(by, "values");
    html! {
        p.lead { (host_link(cluster, Some(row.host))) " " b { (cut(text(by, "reason"), 200)) "." }
            " The filter " b { (cut(text(by, "filter"), 60)) } " removed it"
            @if by["passing"] == true { "; waiting for places that are reserved may help" } "." }
        @if !others.is_empty() { p id="other-filters" {
            "Without it "
            @for (place, other) in others.iter().enumerate() {
                @if place > 0 { (if place + 1 == others.len() { " and " } else { ", " }) }
                "the filter " b { (cut(text(other, "filter"), 60)) } " would, as it " (cut(text(other, "reason"), 200))
            }
            "."
        } }
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
            (sentence(&readable(&cut(text(way, "sentence"), 240))))
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

/// A sentence of the API as people read it: numbers with commas, and CPU as it is written elsewhere.
fn readable(sentence: &str) -> String {
    let mut readable = String::with_capacity(sentence.len());
    for (place, word) in sentence.split(' ').enumerate() {
        if place > 0 {
            readable.push(' ');
        }
        let is_amount = word.len() > 4 && word.bytes().all(|letter| letter.is_ascii_digit());
        match word {
            "cpu" => readable.push_str("CPU"),
            _ if is_amount => match word.parse() {
                Ok(amount) => readable.push_str(&format::count(amount)),
                Err(_) => readable.push_str(word),
            },
            _ => readable.push_str(word),
        }
    }
    readable
}

fn whose(table: &str) -> String {
    match table {
        "hosts" => "the host".to_owned(),
        "members" => "the VM".to_owned(),
        "settings" => "the settings".to_owned(),
        other => cut(other, 40),
    }
}

/// Why a host that was left was not chosen, as the API says it.
fn dearer(matrix: &Matrix<'_>, (host, chosen): (&str, &str), told: &Value) -> Markup {
    let (shown, other) = (cut(host, 60), cut(chosen, 60));
    match text(told, "standing") {
        "tied" => html! { p.lead {
            b { (shown) " costs the same as " (other) "." }
            " The rule for ties decided between them: " (cut(&texts(told, "rule").join(", then "), 160)) "."
        } },
        "not-preferred" => {
            html! { p.lead { b { (shown) " is none of the hosts that the request prefers." } } }
        }
        "costlier" => {
            let differences: Vec<(&Value, f64)> = items(told, "differences")
                .iter()
                .map(|it| (it, value::cost(&it["by"])))
                .filter(|(_, by)| *by != 0.0)
                .collect();
            let sizes = differences.iter().map(|(_, by)| by.abs());
            let most = sizes.filter(|it| it.is_finite());
            let most = most.fold(f64::MIN_POSITIVE, f64::max);
            let through = told["through"].as_str();
            html! {
                p.lead {
                    b { (shown) " costs " (cost(value::cost(&told["by"]))) " more than " (other) }
                    @if !matrix.has_one_tier() { " in tier " (told["tier"]) }
                    @if let Some(entry) = through { ", mostly through " b { (cut(entry, 60)) } }
                    "."
                }
                @if !differences.is_empty() {
                    table.flat {
                        caption.vh { "Differences of weighted costs, entry by entry" }
                        tbody { @for (entry, by) in &differences { tr {
                            th.row scope="row" { (cut(text(entry, "name"), 40))
                                @if !matrix.has_one_tier() { span.sub { "tier " (entry["tier"]) } } }
                            td { svg viewBox="-50 0 100 10" width="120" height="12" aria-hidden="true" {
                                line.s-line x1="0" x2="0" y1="0" y2="10" {}
                                @let wide = (by.abs() / most * 48.0).min(48.0);
                                rect class=(if *by > 0.0 { "f-warn" } else { "f-used" }) x=(format!("{:.1}", if *by > 0.0 { 0.0 } else { -wide })) width=(format!("{wide:.1}")) height="10" {}
                            } }
                            td.num { (if *by > 0.0 { "+" } else { "" }) (cost(*by)) }
                        } } }
                    }
                }
                @if let Some(sentence) = wins(matrix, told, host) { p.small.soft { (sentence) } }
            }
        }
        _ => html! { p.lead { b { (shown) " was left" } ", and " (other) " was chosen." } },
    }
}

/// The factor at which the host would cost less, if changing that of one entry is enough: costs
/// are factor times scale, and the scale does not hang on the factor.
fn wins(matrix: &Matrix<'_>, told: &Value, host: &str) -> Option<String> {
    let entry = told["through"].as_str()?;
    let mut differences = items(told, "differences").iter();
    let difference = differences.find(|it| text(it, "name") == entry)?;
    let (by, difference) = (value::cost(&told["by"]), value::cost(&difference["by"]));
    let factor = matrix.factor(entry)?;
    let share = 1.0 - by / difference;
    let is_known = by > 0.0 && by.is_finite() && difference.is_finite() && share > 0.0;
    // What costs more by a negative factor costs less the nearer that is to 0.
    let side = if factor < 0.0 { "above" } else { "below" };
    (matrix.has_one_tier() && is_known).then(|| {
        format!(
            "With a factor of {} {side} {}, {} would cost less than the chosen host.",
            cut(entry, 60),
            format::number(factor * share, 4),
            cut(host, 60)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_filters_that_would_remove_a_host_are_named() {
        let explained = json!({"stages": [{"hosts": [{"host": "h1",
            "removed": {"filter": "memory", "reason": "has too little memory left"}}]}]});
        let matrix = Matrix::of(&explained);
        let told = json!({"standing": "removed", "by": [
            {"filter": "memory", "reason": "has too little memory left"},
            {"filter": "cpu", "reason": "has too few CPUs"},
        ]});
        let shown = removed("c", &matrix.removed[0], Some(&told)).into_string();
        for part in [
            "<b>memory</b> removed it",
            "<b>cpu</b> would, as it has too few CPUs",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let alone = removed("c", &matrix.removed[0], None).into_string();
        assert!(!alone.contains("Without it"), "{alone}");
    }

    #[test]
    fn ways_are_written_as_amounts_are_elsewhere() {
        let way = "cpu of VM v is at most 32 cores, and memory of VM v is at most 154514 MiB";
        let expected = "CPU of VM v is at most 32 cores, and memory of VM v is at most 154,514 MiB";
        assert_eq!(readable(way), expected);
    }

    #[test]
    fn shares_of_chance_are_told_in_words() {
        let decision = |shares: &[f64]| {
            let group = shares.iter().enumerate();
            let group =
                group.map(|(number, share)| json!({"host": format!("h{number}"), "share": share}));
            let group: Vec<Value> = group.collect();
            json!({"host": "h1", "shares": [[{"host": "x", "share": 1.0}], group]})
        };
        let told = |shares: &[f64]| drawn_then(&decision(shares));
        assert_eq!(
            told(&[0.3, 0.5, 0.2]).unwrap(),
            "one of 3 with 50 %, 30 % and 20 %"
        );
        assert_eq!(told(&[0.5, 0.5]).unwrap(), "one of 2 with 50 % and 50 %");
        assert!(told(&[0.125; 8]).unwrap().ends_with("13 % and less"));
        assert_eq!(drawn_then(&json!({"host": "h1", "shares": []})), None);
        assert_eq!(
            drawn_then(&json!({"host": "x", "shares": [[{"host": "x", "share": 1.0}]]})),
            None
        );
    }

    #[test]
    fn a_host_that_was_not_drawn_says_what_chance_it_had_and_who_gave_it_none() {
        let groups = json!([
            [{"host": "a", "share": 0.0}, {"host": "b", "share": 0.25}, {"host": "c", "share": 0.75}],
            [{"host": "d", "share": 1.0}],
        ]);
        let hosts = json!([{"host": "a"}, {"host": "b"}, {"host": "c"}, {"host": "d"}]);
        let selections = json!([{"name": "s", "unit": "weights", "groups": groups}]);
        let explanation =
            json!({"chosen": "b", "stages": [{"hosts": hosts, "selections": selections}]});
        let decision = json!({"host": "b", "shares": groups});
        let matrix = Matrix::of_decision(&explanation, &decision);
        let told = |host| answer(("c", &decision), &matrix, (host, None)).into_string();
        for (host, part) in [
            ("a", "<b>a had no chance: weights gave it none.</b>"),
            (
                "c",
                "<b>c had a chance of 75 %, and another host was drawn.</b>",
            ),
            (
                "d",
                "<b>d is in group 2, and the host was drawn from group 1.</b>",
            ),
            ("b", "<b>b was chosen.</b> Chance decided"),
        ] {
            assert!(told(host).contains(part), "{part}: {}", told(host));
        }
    }

    #[test]
    fn the_factor_at_which_a_host_would_win_is_on_the_right_side_of_the_present_one() {
        // Of cost 1 and 2 on the scale: with the factor the weighted costs.
        let explanation = |factor: f64| {
            let host = |id, scaled: f64, other: f64| {
                let weighted = factor * scaled;
                json!({"host": id, "sums": [weighted + other], "costs": [
                    {"name": "memory", "raw": scaled, "scaled": scaled, "weighted": weighted},
                    {"name": "cpu", "raw": other, "scaled": other, "weighted": other},
                ]})
            };
            let (dear, cheap) = if factor < 0.0 { (1.0, 2.0) } else { (2.0, 1.0) };
            json!({"chosen": "a", "stages": [{"hosts": [host("a", cheap, 0.5), host("b", dear, 0.0)]}]})
        };
        let told = json!({"standing": "costlier", "by": 1.5, "through": "memory",
            "differences": [{"name": "memory", "by": 2.0}, {"name": "cpu", "by": -0.5}]});
        let says = |factor| wins(&Matrix::of(&explanation(factor)), &told, "b").unwrap();
        assert!(says(2.0).contains("memory below 0.5"), "{}", says(2.0));
        assert!(says(-2.0).contains("memory above −0.5"), "{}", says(-2.0));
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
