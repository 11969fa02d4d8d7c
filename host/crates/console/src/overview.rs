//! The first page: is anything waiting for somebody, and what is worst?

pub(crate) mod needs;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::events;
use crate::format::{self, Moment, things};
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, ago, empty, measure_key, note, state};
use crate::url::{of_cluster, segment};
use crate::value::{count, items, measure, number, text};
use needs::Need;
use placewright_http::Problem;

/// Events that are shown.
const EVENTS: usize = 9;
/// The period that rates cover, in seconds.
const HOUR: i64 = 3600;

/// A cluster, and what the page says of it.
struct Line {
    cluster: Value,
    sums: Option<Value>,
    rates: Option<Value>,
}

impl Line {
    fn name(&self) -> &str {
        text(&self.cluster, "name")
    }

    fn sum(&self, what: &str, name: &str) -> usize {
        self.sums
            .as_ref()
            .map_or(0, |sums| count(&sums[what], name))
    }
}

/// The overview.
pub(crate) async fn show(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
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
        needs.extend(needs::of_cluster(&ask, &cluster, sums.as_ref()).await);
        lines.push(Line {
            cluster,
            sums,
            rates,
        });
    }
    needs.extend(needs::of_server(&ask).await);
    needs.sort_by_key(|need| need.rank);
    let events = ask.list("/v1/events/recent", EVENTS).await?;
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
        @if !lines.is_empty() { (clusters(&lines, &needs, ask.console.since)) }
        div.cols.two-one {
            section.panel aria-labelledby="latest" {
                header {
                    h2 id="latest" { "Latest events" }
                    span.bar { span.live-state data-own {} a href="/events" { "All events" } }
                }
                (events::table(&ask, &events))
            }
            (server(&ask, &ready, &lines, &needs).await)
        }
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
            ul.needs {
                @for need in needs {
                    li {
                        span class=(need.colour()) { (parts::sign(need.sign())) span.vh { (need.grade()) } }
                        span.soft.small.nowrap { (need.place()) }
                        span.txt { (need.text) }
                        span.dim.small.nowrap { @if let Some(since) = need.since { (ago(since)) } }
                        a.btn href=(need.path) { (need.deed) }
                    }
                }
            }
        }
    }
}

fn clusters(lines: &[Line], needs: &[Need], since: Moment) -> Markup {
    html! {
        section.panel aria-labelledby="clusters" {
            header {
                h2 id="clusters" { "Clusters" }
                span.bar { (measure_key()) span.small.dim { "of what may be promised" } }
            }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "State" }
                    th scope="col" { "Cluster" }
                    th.num scope="col" { "VMs" }
                    th scope="col" { "CPU" }
                    th scope="col" { "Memory" }
                    th scope="col" { "Policy" }
                    th scope="col" { "Decisions in the last hour" }
                    th.num scope="col" { "Waiting" }
                } }
                tbody { @for line in lines { (cluster(line, needs, since)) } }
            } }
        }
    }
}

/// Reasons that stand beside the state of a cluster; all stand in the list of needs.
const REASONS: usize = 4;

/// How a cluster fares, with the reasons, the worst first.
fn health(name: &str, needs: &[Need]) -> Markup {
    let needs: Vec<&Need> = needs.iter().filter(|need| need.is_of(name)).collect();
    let is_broken = needs.iter().any(|need| need.stops_all);
    html! {
        @match needs.first().map(|need| need.rank) {
            Some(_) if is_broken => (state("bad", "bad", "Decides nothing")),
            Some(0) => (state("bad", "bad", "Degraded")),
            Some(1) => (state("warn", "warn", "Degraded")),
            Some(_) => (state("acc", "pend", "Waits for you")),
            None => (state("ok", "ok", "Healthy")),
        }
        @if !needs.is_empty() { ul.reasons {
            @for need in needs.iter().take(REASONS) { li { a href=(need.path) { (need.brief) } } }
            @if needs.len() > REASONS { li { a href="#needs" { "and " (needs.len() - REASONS) " more" } } }
        } }
    }
}

fn cluster(line: &Line, needs: &[Need], since: Moment) -> Markup {
    let name = line.name();
    let counted = &line.cluster["counted"];
    let up = line.sum("hosts", "up");
    let hosts = count(counted, "hosts");
    let settings = &line.cluster["settings"];
    let policy = text(settings, "policy");
    html! {
        tr.tall {
            td { (health(name, needs)) }
            td {
                a href=(of_cluster(name, &[])) { b { (name) } }
                span.sub { (things(hosts, "host", "hosts")) @if up < hosts { ", " (hosts - up) " not up" } }
            }
            td.num { (format::len(count(counted, "vms"))) span.sub { (format::len(count(counted, "pending"))) " reserved" } }
            @match &line.sums {
                Some(sums) => {
                    td { (measure(&sums["cpu"]).bar("CPU")) }
                    td { (measure(&sums["memory"]).bar("Memory")) }
                }
                None => { td colspan="2" { span.dim { "not known" } } }
            }
            td {
                @if policy.is_empty() { span.dim { "none" } } @else {
                    a.text href={ "/policies/" (segment(policy)) } { (policy) }
                    span.sub { @match line.cluster["policy-revision"].as_u64() {
                        Some(0) => "of the program", Some(revision) => { "revision " (revision) } None => "",
                    } }
                }
            }
            td { @match &line.rates {
                Some(rates) => (decided(items(rates, "minutes"), since)),
                None => span.dim { "not known" },
            } }
            td.num { (format::len(count(&line.cluster, "waiting"))) }
        }
    }
}

/// A bar for each minute: decisions that found a host, and above them those that found none.
fn decided(minutes: &[Value], since: Moment) -> Markup {
    // They are counted from the start of the server on.
    let is_young = Moment::now().0.saturating_sub(since.0) < HOUR;
    let of = |minute: &Value| {
        let without = count(minute, "rejected");
        (count(minute, "placed") + without, without)
    };
    let failed: usize = minutes.iter().map(|it| count(it, "failed")).sum();
    let (mut all, mut without, mut most) = (0, 0, 1);
    for (total, in_vain) in minutes.iter().map(of) {
        (all, without, most) = (all + total, without + in_vain, most.max(total));
    }
    let high = |number: usize| number as f64 * 20.0 / most as f64;
    html! {
        svg.minutes viewBox="0 0 180 20" width="180" height="20" preserveAspectRatio="none" aria-hidden="true" {
            @for (place, (total, in_vain)) in minutes.iter().map(of).enumerate() {
                @if total > 0 {
                    @let (top, bad) = (20.0 - high(total), high(in_vain));
                    rect.f-com x=(place * 3) y=(format!("{top:.1}")) width="2" height=(format!("{:.1}", high(total))) {}
                    @if in_vain > 0 { rect.f-bad x=(place * 3) y=(format!("{top:.1}")) width="2" height=(format!("{bad:.1}")) {} }
                }
            }
        }
        span.sub { (things(all, "decision", "decisions")) @if without > 0 { ", " span.bad { (format::len(without)) " without a host" } }
            @if failed > 0 { ", " span.bad { (things(failed, "request", "requests")) " not decided" } }
            @if is_young { " since the server started " (ago(since)) } }
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
