//! The first page: is anything waiting for somebody, and what is worst?

mod clusters;
pub(crate) mod needs;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::events;
use crate::format::{self, Moment, things};
use crate::known::Known;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, ago, empty, note, state};
use crate::url::segment;
use crate::value::{count, items, number, text};
use clusters::{Line, REASONS};
use needs::Need;
use placewright_http::Problem;

/// Events that are shown.
const EVENTS: usize = 9;
/// Clusters, and the server, that a sentence names one by one.
const PLACES: usize = 6;
/// Things that need somebody which are shown at once; the others unfold.
const NEEDS: usize = 30;

/// The overview.
pub(crate) async fn show(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    clusters::check_order(&ask)?;
    let mut lines = Vec::new();
    let mut needs = Vec::new();
    for cluster in ask.list("/v1/clusters", 1000).await? {
        let name = text(&cluster, "name").to_owned();
        let sums = ask
            .get_if(&format!("/v1/clusters/{}/sums", segment(&name)))
            .await;
        let rates = ask
            .get_if(&format!("/v1/clusters/{}/rates", segment(&name)))
            .await;
        needs.extend(needs::of_cluster(&ask, &cluster, (sums.as_ref(), rates.as_ref())).await);
        lines.push(Line {
            cluster,
            sums,
            rates,
        });
    }
    needs.extend(needs::of_server(&ask).await);
    needs.sort_by_key(|need| need.rank);
    let events = ask.list("/v1/events/recent", EVENTS).await?;
    let known = Known::of(&ask, &events).await;
    let ready = ask.get("/v1/ready").await;
    let hosts: usize = lines
        .iter()
        .map(|line| count(&line.cluster["counted"], "hosts"))
        .sum();
    let vms: usize = lines
        .iter()
        .map(|line| count(&line.cluster["counted"], "vms"))
        .sum();
    let title = match lines.len() {
        0 => "No cluster yet".to_owned(),
        number => format!(
            "{}, {}, {}",
            things(number, "cluster", "clusters"),
            things(hosts, "host", "hosts"),
            things(vms, "VM", "VMs")
        ),
    };
    let main = html! {
        div.head {
            div {
                (crumbs(&[], "Overview"))
                h1 { (title) }
                p { (summary(&lines, &needs)) }
            }
        }
        @if lines.is_empty() { (no_cluster()) }
        @if !needs.is_empty() { (needs_panel(&needs)) }
        @if !lines.is_empty() { (clusters::panel(&ask, &lines, &needs)) }
        div.cols.two-one {
            section.panel aria-labelledby="latest" {
                header {
                    h2 id="latest" { "Latest events" }
                    span.bar { span.live-state data-own {} a href="/events" { "All events" } }
                }
                (events::table(&ask, &events, &known))
            }
            (server(&ask, &ready, &lines, &needs).await)
        }
        div.acts { (parts::copies(&parts::curl("GET", "/v1/clusters", None), Some(&parts::command(&["get", "clusters"])))) }
    };
    let page = Page {
        title: "Overview".to_owned(),
        area: Area::Overview,
        cluster: None,
        main,
        live: "*",
        script: None,
    };
    page::shown(&ask, page).await
}

fn summary(lines: &[Line], needs: &[Need]) -> String {
    if lines.is_empty() {
        return "Make one of a document, and this page shows how it fares.".to_owned();
    }
    match needs {
        [] => "Nothing waits for anybody.".to_owned(),
        [only] => format!("One thing needs somebody, in {}.", only.place()),
        more => {
            let mut places: Vec<&str> = more.iter().map(Need::place).collect();
            places.dedup();
            places.sort_unstable();
            places.dedup();
            let places = match places.as_slice() {
                [one] => (*one).to_owned(),
                many if many.len() > PLACES => things(many.len(), "place", "places"),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
                [] => String::new(),
            };
            format!(
                "{} need somebody, in {places}.",
                things(more.len(), "thing", "things")
            )
        }
    }
}

fn no_cluster() -> Markup {
    html! {
        section.panel { div.in {
            (empty("A cluster is made of a document", html! {
                "It says which hosts, VMs and groups there are. From a clone of the repository:"
            }))
            pre.code tabindex="0" {
                "curl -X POST -H 'Content-Type: application/toml' \\\n    --data-binary @host/examples/cluster.toml \"$SERVER\"/v1/clusters"
            }
        } }
    }
}

fn needs_panel(needs: &[Need]) -> Markup {
    html! {
        section.panel aria-labelledby="needs" {
            header {
                h2 id="needs" { "Needs somebody " span.dim { (needs.len()) } }
                span.small.dim { "Worst first. What is settled leaves by itself." }
            }
            @let (shown, folded) = needs.split_at(needs.len().min(NEEDS));
            ul.needs { @for need in shown { (needed(need)) } }
            @if !folded.is_empty() {
                details.in {
                    summary { (things(folded.len(), "more thing", "more things")) }
                    ul.needs { @for need in folded { (needed(need)) } }
                }
            }
        }
    }
}

fn needed(need: &Need) -> Markup {
    html! {
        li {
            span class=(need.colour()) { (parts::sign(need.sign())) span.vh { (need.grade()) } }
            span.soft.small.nowrap { (need.place()) }
            span.txt { (need.text) }
            span.dim.small.nowrap { @if let Some(since) = need.since { (ago(since)) } }
            a.btn href=(need.path) { (need.deed) }
        }
    }
}

async fn server(
    ask: &Ask,
    ready: &Result<Value, Problem>,
    lines: &[Line],
    needs: &[Need],
) -> Markup {
    let of_server: Vec<&Need> = needs.iter().filter(|need| need.is_of_server()).collect();
    let health = ask.get_if("/v1/health").await.unwrap_or_default();
    let units = ask.list("/v1/units", 10_000).await.unwrap_or_default();
    let in_force = units.iter().filter(|unit| unit["in-force"].is_string());
    let in_force = in_force.count();
    let policies = ask.list("/v1/policies", 10_000).await.unwrap_or_default();
    let deciding = policies
        .iter()
        .filter(|policy| !items(policy, "clusters").is_empty());
    let deciding: Vec<&str> = deciding.map(|policy| text(policy, "name")).collect();
    let reserved: usize = lines
        .iter()
        .map(|line| count(&line.cluster["counted"], "pending"))
        .sum();
    let next = lines.iter().filter_map(|line| {
        let sums = line.sums.as_ref()?;
        sums["next-expiry"].as_i64()
    });
    let next = next.min().map(Moment);
    html! {
        section.panel aria-labelledby="server" {
            header {
                h2 id="server" { "Server" }
                @match ready {
                    Ok(_) if of_server.is_empty() => (state("ok", "ok", "Ready")),
                    Ok(_) => (state("warn", "warn", "Ready, degraded")),
                    Err(_) => (state("warn", "warn", "Not ready")),
                }
            }
            div.in {
                @if !of_server.is_empty() { ul.reasons {
                    @for need in of_server.iter().take(REASONS) { li { a href=(need.path) { (need.brief) } } }
                } }
                @if let Err(problem) = ready { (note("warn", html! { (page::sentence(problem.detail())) })) }
                dl.facts {
                    dt { "Version" } dd { (text(&health, "version")) }
                    dt { "Units" } dd { a href="/units" { (format::len(in_force)) " in force" } }
                    dt { "Policies" } dd {
                        @if deciding.is_empty() { "none decides; " }
                        @for (number, name) in deciding.iter().enumerate() {
                            @if number > 0 { ", " }
                            a href={ "/policies/" (segment(name)) } { (name) }
                        }
                        @if deciding.len() == 1 { " decides; " } @else if deciding.len() > 1 { " decide; " }
                        (format::len(policies.len() - deciding.len())) " more"
                    }
                    dt { "Reservations" } dd {
                        (format::len(reserved)) " held"
                        @if let Some(next) = next { "; the first ends " (ago(next)) }
                    }
                    dt { "Memory promised" } dd {
                        (format::bytes(lines.iter().filter_map(|line| {
                            let memory = &line.sums.as_ref()?["memory"];
                            Some(number(memory, "committed") + number(memory, "reserved"))
                        }).sum()))
                    }
                }
            }
        }
    }
}
