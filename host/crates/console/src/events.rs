//! What happened: a list that goes on by itself.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console, Sent};
use crate::format::{self, Moment};
use crate::known::Known;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, empty, sign, time, with_times};
use crate::url::{self, of_cluster, segment};
use crate::value::{items, text};
use placewright_http::Problem;

/// Events of a page.
const ROWS: usize = 200;

/// Kinds that belong together, as chips: how the words begin.
const KINDS: [(&str, &str); 8] = [
    ("", "all"),
    ("vm", "VMs"),
    ("plan", "plans"),
    ("policy", "policies"),
    ("unit", "units"),
    ("host", "hosts"),
    ("cluster", "clusters"),
    ("reservation", "reservations"),
];

/// Events that somebody should look at.
const WARNINGS: [&str; 13] = [
    "unit-refused",
    "unit-paused",
    "unit-returned",
    "unit-not-returned",
    "unit-distrusted",
    "policy-refused",
    "policy-lost-filters",
    "cluster-without-policy",
    "cluster-stopped",
    "balance-failed",
    "reservation-expired",
    "reservation-lost",
    "reset",
];

/// The stream of events, for scripts of pages.
pub(crate) async fn stream(
    State(_): State<Arc<Console>>,
    headers: HeaderMap,
    ask: Ask,
) -> Result<Response, Problem> {
    let id = HeaderName::from_static("last-event-id");
    // A browser that comes back sends the header; a page that begins, a parameter.
    let after = headers
        .get(&id)
        .and_then(|it| it.to_str().ok())
        .or(ask.param("after"));
    let sent = after.map_or(Sent::Nothing, |after| {
        Sent::Headers(vec![(id, after.to_owned())])
    });
    ask.stream("GET", "/v1/events", sent).await
}

/// The list.
pub(crate) async fn show(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    let rows = ROWS.to_string();
    let names = ["kind", "cluster", "by", "text", "after"];
    let said = names.map(|name| (name, ask.param(name)));
    let query = url::query(said.into_iter().chain([("limit", Some(rows.as_str()))]));
    let path = format!("/v1/events/recent?{query}");
    let listed = ask.get(&path).await?;
    let events = items(&listed, "items");
    let clusters = ask.list("/v1/clusters", 1000).await?;
    let kind = ask.param("kind").unwrap_or_default();
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned())], "Events"))
                h1 { "What just happened" }
                p { "The newest first. Who did it stands beside it; the last thousand or so are remembered." }
            }
            div.acts {
                span.live-state data-own {}
                button.btn.with-script type="button" data-pause data-own aria-pressed="false" { "Pause" }
            }
        }
        section.panel aria-label="Events" {
            header {
                nav.bar aria-label="Kinds" { @for (word, name) in KINDS {
                    a.chip href=(url::with(&ask.query, "kind", word, &["after"])) aria-current=[(kind == word).then_some("true")] { (name) }
                } }
                form.bar method="get" data-auto {
                    @if !kind.is_empty() { input type="hidden" name="kind" value=(kind); }
                    @if clusters.len() > 1 {
                        label.lab { "Cluster"
                            select.field name="cluster" {
                                option value="" { "all" }
                                @for cluster in &clusters {
                                    @let name = text(cluster, "name");
                                    option value=(name) selected[ask.param("cluster") == Some(name)] { (name) }
                                }
                            }
                        }
                    }
                    input.field name="by" value=(ask.param("by").unwrap_or_default()) aria-label="Done by" placeholder="By whom";
                    input.field type="search" name="text" value=(ask.param("text").unwrap_or_default()) aria-label="Text" placeholder="Text";
                    button.btn.without-script type="submit" { "Show" }
                }
            }
            (table(&ask, events, &Known::of(&ask, events).await))
            @if let Some(next) = listed["next"].as_str() {
                nav.pager aria-label="Pages" { a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Earlier" } }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("events", None, &said[..4])))) }
    };
    let page = Page {
        title: "Events".to_owned(),
        area: Area::Events,
        cluster: None,
        main,
        live: "*",
        script: None,
    };
    page::shown(&ask, page).await
}

/// Events of one kind in a row that are not folded.
const APART: usize = 2;

/// Events of one kind and of one cluster that follow each other, the newest first. One that
/// somebody should look at stands by itself.
fn folded(events: &[Value]) -> Vec<&[Value]> {
    let is_alike = |a: &Value, b: &Value| {
        let kind = text(a, "kind");
        a["kind"] == b["kind"]
            && a["cluster"] == b["cluster"]
            && !WARNINGS.contains(&kind)
            && !kind.ends_with("refused")
    };
    let mut rows: Vec<&[Value]> = Vec::new();
    for run in events.chunk_by(is_alike) {
        match run.len() > APART {
            true => rows.push(run),
            false => rows.extend(run.chunks(1)),
        }
    }
    rows
}

/// Rows of events.
pub(crate) fn table(ask: &Ask, events: &[Value], known: &Known) -> Markup {
    if events.is_empty() {
        let filters = ["kind", "cluster", "by", "text", "after"];
        return html! { div.in { (match filters.iter().any(|it| ask.param(it).is_some()) {
            true => empty("No event matches", html! { a href="/events" { "Clear the filter" } }),
            false => empty("Nothing happened yet", html! { "What happens from now on stands here." }),
        }) } };
    }
    html! {
        div.scroll { table.events {
            caption.vh { "Events, the newest first; those of one kind in a row are one" }
            thead.vh { tr { th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "Where" } th scope="col" { "By" } } }
            tbody { @for run in folded(events) { @if let [event, others @ ..] = run {
                tr id={ "event-" (event["number"]) } {
                    td.when { @if let Some(at) = Moment::of(&event["at"]) { (time(at)) } }
                    td {
                        (mark(event)) " "
                        (with_times(&sentence(&format::cut(text(event, "message"), 240))))
                        span.sub.mono { (text(event, "kind")) }
                        @if !others.is_empty() { (more(others, known)) }
                    }
                    td { (about(event, known)) }
                    td.soft { (format::cut(text(event, "by"), 40)) }
                }
            } } }
        } }
    }
}

/// The others of a run.
fn more(others: &[Value], known: &Known) -> Markup {
    let first = others.last().and_then(|it| Moment::of(&it["at"]));
    html! {
        details.run {
            summary.small { "and " (format::len(others.len())) " more of this kind"
                @if let Some(first) = first { " since " (time(first)) } }
            ul.list { @for event in others { li.small id={ "event-" (event["number"]) } {
                @if let Some(at) = Moment::of(&event["at"]) { span.soft { (time(at)) } " " }
                (with_times(&sentence(&format::cut(text(event, "message"), 240)))) " " (about(event, known))
                @if let Some(by) = event["by"].as_str() { span.soft { "by " (format::cut(by, 40)) } }
            } } }
        }
    }
}

fn mark(event: &Value) -> Markup {
    let kind = text(event, "kind");
    match kind {
        kind if kind.ends_with("refused") || kind == "cluster-stopped" => {
            html! { span.bad { (sign("bad")) span.vh { "Refused: " } } }
        }
        kind if WARNINGS.contains(&kind) => {
            html! { span.warn { (sign("warn")) span.vh { "Warning: " } } }
        }
        _ => html! { span.off { (sign("idle")) } },
    }
}

/// What an event is about, as links where it is known to be there. VMs, hosts and the like are links in
/// every cluster that is there: to look for each of them would take turns of the cluster.
pub(crate) fn about(event: &Value, known: &Known) -> Markup {
    let cluster = event["cluster"].as_str();
    let number = |name: &str| event[name].as_u64().map(|number| number.to_string());
    let is_there = cluster.is_none_or(|it| known.has_cluster(it));
    let named = |is_there: bool, path: String, text: &str| {
        html! {
            @if is_there { a.nowrap href=(path) { (format::cut(text, 48)) } }
            @else { span.nowrap { (format::cut(text, 48)) } }
            " "
        }
    };
    html! {
        @if let Some(cluster) = cluster {
            @let named = |path: String, text: &str| named(is_there, path, text);
            (named(of_cluster(cluster, &[]), cluster))
            @if let Some(decision) = number("decision") { (named(of_cluster(cluster, &["decisions", &decision]), &format!("decision {decision}"))) }
            @if let Some(plan) = number("plan") { (named(of_cluster(cluster, &["plans", &plan]), &format!("plan {plan}"))) }
            @if let Some(vm) = event["vm"].as_str() { (named(of_cluster(cluster, &["vms", vm]), vm)) }
            @if let Some(host) = event["host"].as_str() { (named(of_cluster(cluster, &["hosts", host]), host)) }
        }
        @if let Some(policy) = event["policy"].as_str() { @if cluster.is_none() {
            (named(known.has_policy(policy), format!("/policies/{}", segment(policy)), policy))
        } }
        @if let Some(unit) = event["unit"].as_str() {
            (named(known.has_unit(unit), format!("/units/{}", segment(unit)), unit))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_gone_is_named_without_a_link() {
        let known = Known::only(&["north"], &["gold"], &["memory"]);
        for (event, is_link) in [
            (json!({"policy": "gold"}), true),
            (json!({"policy": "old"}), false),
            (json!({"unit": "memory"}), true),
            (json!({"unit": "refused"}), false),
            (json!({"cluster": "north", "vm": "web-1", "plan": 1}), true),
            (json!({"cluster": "south", "vm": "web-1", "plan": 1}), false),
        ] {
            let told = about(&event, &known).into_string();
            assert_eq!(told.contains("href"), is_link, "{told}");
            assert!(!told.contains("href") || !told.contains("span"), "{told}");
            assert!(
                about(&event, &Known::default())
                    .into_string()
                    .contains("href")
            );
        }
    }

    #[test]
    fn events_of_one_kind_and_cluster_in_a_row_are_folded_and_warnings_are_not() {
        let event = |kind: &str, cluster: &str| json!({"kind": kind, "cluster": cluster});
        let events: Vec<Value> = [
            ("vm-placed", "a"),
            ("vm-placed", "a"),
            ("vm-placed", "a"),
            ("vm-placed", "b"),
            ("vm-placed", "b"),
            ("vm-confirmed", "a"),
            ("unit-refused", "a"),
            ("unit-refused", "a"),
            ("unit-refused", "a"),
        ]
        .map(|(kind, cluster)| event(kind, cluster))
        .into();
        let lengths: Vec<usize> = folded(&events).iter().map(|run| run.len()).collect();
        assert_eq!(lengths, [3, 1, 1, 1, 1, 1, 1]);
    }
}
