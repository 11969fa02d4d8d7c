//! What a draft would change: the sentence first, then the evidence.

mod pie;

use maud::{Markup, html};
use serde_json::Value;

use super::{Draft, Told};
use crate::format::{self, cost, cut, len, percent, things};
use crate::page::sentence;
use crate::parts::{empty, host_link, note};
use crate::url::of_cluster;
use crate::value::{count, items, number, text, texts};

/// Hosts of the bars.
const HOSTS: usize = 15;
/// Decisions that are listed.
pub(super) const CHANGED: usize = 100;

/// What is told of a draft.
pub(super) fn panel(told: &Told, draft: &Draft, may_edit: bool) -> Markup {
    match told {
        Told::Answer(answer) => shown(answer, draft.cluster.as_deref().unwrap_or_default()),
        Told::Wrong(problem) => wrong(problem),
        Told::Nothing | Told::Conflict(_) => html! {
            section.panel { div.in { (empty("What a draft would change", html! {
                @if may_edit { "is worked out on recorded decisions, once there is a cluster that has some." }
                @else { "is worked out on recorded decisions, by whoever may write policies." }
            })) } }
        },
    }
}

fn wrong(problem: &placewright_http::Problem) -> Markup {
    let body = problem.clone().body(None);
    html! {
        section.panel aria-label="What is wrong with the draft" {
            header { h2 { "This draft cannot be used yet" } }
            div.in.stack {
                @if body.errors.is_empty() { (note("bad", html! { (sentence(&body.detail)) })) }
                @for error in &body.errors { (note("bad", html! {
                    (sentence(&error.message))
                    @if let Some(meant) = &error.suggestion { " Did you mean " b { (cut(meant, 60)) } "?" }
                    @if let Some(line) = error.place.line { span.dim { " (line " (line) " of the document)" } }
                })) }
            }
        }
    }
}

fn shown(answer: &Value, cluster: &str) -> Markup {
    let (tried, differing, of) = (
        count(answer, "tried"),
        count(answer, "differing"),
        count(answer, "of"),
    );
    let share = if tried == 0 {
        0.0
    } else {
        differing as f64 / tried as f64
    };
    html! {
        section.panel aria-labelledby="answer-title" {
            header { h2 id="answer-title" { "What this draft would change" } }
            div.in.stack {
                @if tried == 0 {
                    (empty("No decision to try it on", html! { "None is recorded in " (cluster) " that could be made again." }))
                } @else {
                    (danger(answer))
                    p.lead { b data-differing=(differing) {
                        @if differing == 0 { "None of " (things(tried, "decision", "decisions")) " would have another outcome." }
                        @else { (len(differing)) " of " (things(tried, "decision", "decisions")) " would have another outcome." }
                    } }
                    svg.pair viewBox="0 0 400 8" preserveAspectRatio="none" height="8" role="img" aria-label={ (percent(share)) " would change" } {
                        rect.f-track width="400" height="8" rx="3" {} rect.f-acc width=(format!("{:.1}", share * 400.0)) height="8" rx="3" {}
                    }
                    @if of > tried { p.small.warn { "There was time for " (tried) " of " (of) "." } }
                    @for warning in texts(answer, "warnings") { (note("warn", html! { (sentence(&cut(warning, 300))) })) }
                    @if answer["shares"].is_object() { (pie::shares(cluster, &answer["shares"])) }
                    @if !items(answer, "hosts").is_empty() { (bars(items(answer, "hosts"))) }
                    (figures(answer))
                    p.small.soft { @if answer["in-sequence"] == true {
                        "The oldest decision is made first, and each on what those before it have come to: a VM that would have gone elsewhere is there as long as it was where it went. What was measured, forced placements and batches are as they were."
                    } @else {
                        "Each decision is made again by itself, on the inventory of then: loads that would have shifted meanwhile do not count."
                    } }
                }
            }
        }
        @if differing > 0 { (changed(answer, cluster)) }
    }
}

/// What somebody must not oversee: requests that would find no host any more, or no decision.
fn danger(answer: &Value) -> Markup {
    let after = count(answer, "rejected-after");
    let more = after.saturating_sub(count(answer, "rejected-before"));
    let failing = count(answer, "failing");
    html! {
        @if more > 0 { (note("bad", html! {
            b { (things(more, "more request", "more requests")) " would find no host: " (len(after)) " of " (len(count(answer, "tried"))) "." }
        })) }
        @if failing > 0 { (note("bad", html! {
            b { (things(failing, "request", "requests")) " would get no decision, as a unit gives no answer." }
        })) }
    }
}

/// Decisions on each host, in force and under the draft: those first that differ most.
fn bars(hosts: &[Value]) -> Markup {
    let hosts = &hosts[..hosts.len().min(HOSTS)];
    let most = hosts
        .iter()
        .map(|it| count(it, "before").max(count(it, "after")))
        .max()
        .unwrap_or(1)
        .max(1);
    let (wide, high) = (46, 130);
    let height = |number: usize| number * high / most;
    html! {
        div { div.bar {
            h3 { "Decisions on each host, most changed first" }
            span.key { svg viewBox="0 0 12 10" aria-hidden="true" { rect.f-com width="12" height="10" rx="2" {} } "as decided" }
            span.key { svg viewBox="0 0 12 10" aria-hidden="true" { rect.f-acc width="12" height="10" rx="2" {} } "draft" }
        }
        div.scroll { svg.pair.bars viewBox={ "0 0 " (hosts.len().max(HOSTS) * wide) " " (high + 44) } role="img" aria-label="Decisions on each host; the same numbers are in the table below" {
            @for (place, host) in hosts.iter().enumerate() {
                @let (before, after) = (count(host, "before"), count(host, "after"));
                @let x = place * wide + 6;
                rect.b x=(x) y=(14 + high - height(before)) width="16" height=(height(before)) rx="2" {}
                rect.a x=(x + 18) y=(14 + high - height(after)) width="16" height=(height(after)) rx="2" {}
                text x=(x + 8) y=(10 + high - height(before)) text-anchor="middle" { (before) }
                text.f-ink x=(x + 26) y=(10 + high - height(after)) text-anchor="middle" { (after) }
                text x=(x + 17) y=(high + 28) text-anchor="middle" { (cut(text(host, "host"), 7)) }
                text x=(x + 17) y=(high + 41) text-anchor="middle" { (difference(before, after)) }
            }
        } } }
        details { summary.small { "The same as a table" }
            table.flat { thead { tr { th scope="col" { "Host" } th.num scope="col" { "As decided" } th.num scope="col" { "Draft" } } }
                tbody { @for host in hosts { tr { th.row.mono scope="row" { (cut(text(host, "host"), 60)) } td.num { (count(host, "before")) } td.num { (count(host, "after")) } } } } }
        }
    }
}

fn difference(before: usize, after: usize) -> String {
    match before.cmp(&after) {
        std::cmp::Ordering::Less => format!("+{}", after - before),
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Greater => format!("−{}", before - after),
    }
}

fn figures(answer: &Value) -> Markup {
    let hosts = items(answer, "hosts");
    let used = |name: &str| hosts.iter().filter(|it| count(it, name) > 0).count();
    let most = |name: &str| hosts.iter().map(|it| count(it, name)).max().unwrap_or(0);
    let figure = |title: &str, after: usize, before: usize| {
        html! {
            div { dt { (title) } dd { (len(after)) @if after != before { small { "was " (len(before)) } } } }
        }
    };
    html! { dl.stats {
        (figure("Hosts that get a VM", used("after"), used("before")))
        (figure("Most on one host", most("after"), most("before")))
        (figure("Without a host", count(answer, "rejected-after"), count(answer, "rejected-before")))
        @if count(answer, "failing") > 0 { (figure("Without a decision", count(answer, "failing"), 0)) }
    } }
}

fn changed(answer: &Value, cluster: &str) -> Markup {
    let changed = items(answer, "changed");
    html! {
        section.panel aria-labelledby="changed" {
            header { h2 id="changed" { "Decisions that would have another outcome " span.dim { (len(changed.len())) } } }
            div.scroll { table {
                thead { tr { th.num scope="col" { "Number" } th scope="col" { "VM" } th scope="col" { "As decided" } th scope="col" { "Draft" } th scope="col" { "Mostly through" } th.num scope="col" { "Cheaper by" } } }
                tbody { @for one in changed.iter().take(CHANGED) {
                    @let number_of = one["decision"].to_string();
                    @let tipped = &one["tipped"];
                    tr {
                        th.row.num scope="row" { a href=(of_cluster(cluster, &["decisions", &number_of])) { (number_of) } }
                        td.mono { (cut(&texts(one, "vms").join(", "), 60)) }
                        td { (host_link(cluster, one["before"].as_str())) }
                        td { (host_link(cluster, one["after"].as_str())) @if let Some(why) = one["failure"].as_str() { span.sub.bad { (cut(why, 120)) } } }
                        td { @if tipped.is_object() { (cut(text(tipped, "entry"), 60)) @if let Some(reason) = tipped["reason"].as_str() { span.sub { (cut(reason, 100)) } } } @else { span.dim { "–" } } }
                        td.num { @if tipped["by"].is_number() { (cost(number(tipped, "by"))) } @else { span.dim { "–" } } }
                    }
                } }
            } }
            @if let Some(why) = unexplained(answer) { footer { (why) } }
            @if changed.len() > CHANGED { footer { "and " (changed.len() - CHANGED) " more: the API tells all of them" } }
        }
    }
}

/// Why no entry is named through which decisions have another outcome, if none is.
fn unexplained(answer: &Value) -> Option<&'static str> {
    (answer["in-sequence"] == true).then_some(
        "Decisions that are made one after the other are not explained: the entry is named when each is made by itself.",
    )
}

/// A share, as points of change are told: −4.9 pp.
fn points(before: f64, after: f64) -> String {
    let change = (after - before) * 100.0;
    let sign = if change > 0.0 { "+" } else { "" };
    format!("{sign}{} pp", format::number(change, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_without_entries_says_why() {
        let told = |in_sequence: bool| {
            let change = json!({"decision": 1, "vms": ["v"], "before": "a", "after": "b"});
            let answer = json!({"changed": [change], "in-sequence": in_sequence});
            changed(&answer, "c").into_string()
        };
        assert!(told(true).contains("are not explained"), "{}", told(true));
        assert!(!told(false).contains("are not explained"));
    }
}
