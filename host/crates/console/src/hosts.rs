//! The hosts of a cluster: a map, and the same as a table.

pub(crate) mod colour;
pub(crate) mod fleet;
mod measured;
pub(crate) mod table;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::assets;
use crate::format::{self, bytes, cores, number, percent};
use crate::heat;
use crate::missing::Missing;
use crate::overview::needs;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, empty, measure_key, note, sign};
use crate::url::{self, of_cluster, segment};
use crate::value::{measure, text};
use colour::{COST, Share};
pub(crate) use colour::{Colour, Scale};
use fleet::{ALONE, NONE};
pub(crate) use fleet::{Fleet, HostRow};
use placewright_document::Word;
use placewright_http::Problem;
use placewright_model::HostState;

/// Rows of a page of the table.
const ROWS: usize = 100;
/// Policies that may be chosen from.
const POLICIES: usize = 10_000;

/// The hosts of a cluster.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let is_table = ask.one_of("view", &["map", "table"])? == Some("table");
    fleet::check_order(&ask)?;
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let shown = match ask.get(&api).await {
        Ok(shown) => shown,
        Err(problem) => return Missing::cluster(&cluster).instead(&ask, problem).await,
    };
    let sums = ask.get(&format!("{api}/sums")).await?;
    let fleet = Fleet::read(&ask, &api).await?;
    let wanted = fleet.wanted(&ask);
    // Those whose costs can be told of.
    let policies = match fleet.colour {
        Colour::Cost(_) => ask.list("/v1/policies", POLICIES).await?,
        _ => Vec::new(),
    };
    let policies: Vec<&str> = policies.iter().map(|it| text(it, "name")).collect();
    let needs = needs::strip(&ask, &shown, &sums).await;
    let main = html! {
        (head(&cluster, &sums, &fleet))
        @if let Some(why) = shown["broken"].as_str() {
            (note("bad", html! { b { "Nothing is decided here. " } (page::sentence(why)) }))
        }
        (needs)
        @if fleet.hosts.is_empty() {
            section.panel { div.in { (empty("No host yet", html! {
                "Hosts come with the inventory: " code { "PUT " (api) "/inventory" } "."
            })) } }
        } @else {
            @for told in &fleet.wrong { (note("warn", html! { (page::sentence(&format::cut(told, 300))) })) }
            @for name in &fleet.unknown { (note("warn", html! {
                "No host has " b.mono { "attribute." (format::cut(name, 60)) } ". A filter names state, zone, or an attribute: "
                @for (place, known) in fleet.attributes.iter().take(20).enumerate() {
                    @if place > 0 { ", " } (known.trim_start_matches("attribute."))
                } "."
            })) }
            @if !is_table {
                div.cols.map-cols {
                    section.panel aria-label="Map of hosts" {
                        header { (toolbar(&ask, &fleet, &policies)) }
                        div.in { (told(&cluster, &fleet)) (heat::map(&ask, &cluster, &fleet, &wanted)) }
                    }
                    (side(&ask, &cluster, &fleet))
                }
            }
            section.panel aria-labelledby="table" {
                header {
                    h2 id="table" { "Hosts " span.dim { (counted(&wanted, &fleet)) } }
                    @if is_table { (toolbar(&ask, &fleet, &policies)) } @else {
                        span.bar { (measured::as_of(&cluster, &fleet)) (measure_key()) }
                    }
                }
                (table::table(&ask, &cluster, (&fleet, &wanted), ROWS))
                @if is_table { div.in.bar { (measured::as_of(&cluster, &fleet)) (measure_key()) } }
            }
        }
        div.acts { (copies(&ask, &cluster, &api, &fleet.colour)) }
    };
    let page = Page {
        title: format!("Hosts of {cluster}"),
        area: Area::Hosts,
        cluster: Some(&cluster),
        main,
        // Costs are asked for once: of a large cluster that takes a while.
        live: match fleet.colour {
            Colour::Cost(_) => "",
            _ => "vm,host,inventory,reservation",
        },
        script: (!is_table).then_some(assets::HEAT_MAP),
    };
    page::shown(&ask, page).await
}

/// What is measured, and the cells of the map, without the page around them: the page asks for it twice
/// a second.
pub(crate) async fn cells(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    mut ask: Ask,
) -> Result<Response, Problem> {
    let known = ask.param("known").map(str::to_owned);
    ask.query.retain(|(name, _)| name != "known");
    let fleet = Fleet::read(&ask, &format!("/v1/clusters/{}", segment(&cluster))).await?;
    let now = measured::now(&ask, &cluster, &fleet);
    Ok(measured::answered(&now, known.as_deref()))
}

/// The panel of the chosen host without the page around it, which the map reads as a cell is chosen.
pub(crate) async fn panel(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let fleet = Fleet::read(&ask, &format!("/v1/clusters/{}", segment(&cluster))).await?;
    Ok(page::part(side(&ask, &cluster, &fleet)))
}

fn counted(wanted: &[&HostRow], fleet: &Fleet) -> String {
    match wanted.len() == fleet.hosts.len() {
        true => format::len(wanted.len()),
        false => format!(
            "{} of {}",
            format::len(wanted.len()),
            format::len(fleet.hosts.len())
        ),
    }
}

fn head(cluster: &str, sums: &Value, fleet: &Fleet) -> Markup {
    let up = fleet.hosts.iter().filter(|host| host.state == "up").count();
    let (cpu, memory) = (measure(&sums["cpu"]), measure(&sums["memory"]));
    html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned())], cluster))
                h1 { "Hosts of " (cluster) }
            }
            dl.stats {
                div { dt { "Up" } dd { (format::len(up)) small { "of " (format::len(fleet.hosts.len())) } } }
                div { dt { "CPU promised" } dd { (percent(cpu.share()))
                    small { (number(cpu.committed + cpu.reserved, 0)) " of " (cores(cpu.promisable.round())) } } }
                div { dt { "Memory promised" } dd { (percent(memory.share()))
                    small { (bytes(memory.committed + memory.reserved)) " of " (bytes(memory.promisable)) } } }
                @if let Some((cpu, memory)) = spread(fleet) {
                    div title="Standard deviation of what is promised on the hosts that are up: 0 % is even" {
                        dt { "Spread over hosts" }
                        dd { "±" (percent(cpu)) small { "of CPU, ±" (percent(memory)) " of memory" } }
                    }
                }
                div { dt { "Room" } dd { a.small href=(of_cluster(cluster, &["questions"])) { "Ask how many fit" } } }
            }
        }
    }
}

/// How unevenly CPU and memory are promised: the standard deviation of the shares of all hosts that
/// are up. None: there are not two of them.
fn spread(fleet: &Fleet) -> Option<(f64, f64)> {
    let up = || fleet.hosts.iter().filter(|host| host.state == "up");
    let deviation = |share: fn(&HostRow) -> f64| {
        let count = up().count() as f64;
        let mean = up().map(share).sum::<f64>() / count;
        let squares = up().map(|host| (share(host) - mean).powi(2));
        (squares.sum::<f64>() / count).sqrt()
    };
    let is_spread = up().nth(1).is_some();
    is_spread.then(|| {
        (
            deviation(|host| host.cpu.share()),
            deviation(|host| host.memory.share()),
        )
    })
}

/// How to ask the same elsewhere; of the filters, those that the API has as well.
fn copies(ask: &Ask, cluster: &str, api: &str, colour: &Colour) -> Markup {
    let is_part_of_id = |filter: &&str| {
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        filter.chars().all(is_plain)
    };
    let narrowed = [
        ("text", ask.param("filter").filter(is_part_of_id)),
        (
            "state",
            ask.param("state")
                .filter(|state| HostState::from_word(state).is_some()),
        ),
    ];
    match colour {
        Colour::Share(_) => {
            let path = format!("{api}/hosts?{}", url::query(narrowed));
            parts::copies(
                &parts::curl("GET", path.trim_end_matches('?'), None),
                Some(&parts::list_command("hosts", Some(cluster), &narrowed)),
            )
        }
        Colour::Column { name, .. } => {
            let path = format!("{api}/host-columns?columns=id,{}", segment(name));
            parts::copies(&parts::curl("GET", &path, None), None)
        }
        Colour::Cost(shape) => parts::copies(
            &parts::curl("POST", &shape.path(api), Some(&shape.body().to_string())),
            Some(&shape.command(cluster)),
        ),
    }
}

/// What the colours of the map are, in a sentence, where they are no shares.
fn told(cluster: &str, fleet: &Fleet) -> Markup {
    html! { @match (&fleet.colour, &fleet.costs) {
        (Colour::Column { name, meaning, .. }, _) if !meaning.is_empty() => p.small.soft {
            b.mono { (format::cut(name, 60)) } ": " (page::sentence(&format::cut(meaning, 200)))
        },
        (Colour::Cost(_), Some((policy, chosen))) => p.small.soft {
            "What such a VM would cost now under " a href={ "/policies/" (segment(policy)) } { (format::cut(policy, 60)) } ". "
            @match chosen {
                Some(host) => { "It would go to " (parts::host_link(cluster, Some(host))) "." }
                None => b { "No host would take it." },
            }
        },
        _ => {}
    } }
}

/// What is shown, as a form: it works without scripts, and with them is sent by itself.
fn toolbar(ask: &Ask, fleet: &Fleet, policies: &[&str]) -> Markup {
    let view = ask.param("view").unwrap_or_default();
    html! {
        form.bar.grow method="get" data-auto {
            (colours(fleet))
            @if let Colour::Cost(shape) = &fleet.colour {
                label.lab { "under"
                    select.field name="policy" {
                        option value="" { "the cluster's policy" }
                        @for name in policies {
                            option value=(name) selected[shape.policy.as_deref() == Some(name)] { (format::cut(name, 60)) }
                        }
                    }
                }
                label.lab { "Cores" input.field name="cpu" size="4" value=(shape.cpu) inputmode="decimal"; }
                label.lab { "Memory" input.field name="memory" size="7" value=(shape.memory); }
            }
            (groupings(ask, fleet))
            input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default())
                aria-label="Filter hosts" placeholder="Filter: state:up zone:z1 vms>10" title="A value with spaces stands in quotes: zone:\"Hall 1\"";
            @for name in ["state", "sort"] {
                @if let Some(value) = ask.param(name) { input type="hidden" name=(name) value=(value); }
            }
            @if !view.is_empty() { input type="hidden" name="view" value=(view); }
            button.btn.without-script type="submit" { "Show" }
        }
        span.seg role="group" aria-label="View" {
            a href=(url::with(&ask.query, "view", "", &["page"])) aria-current=[view.is_empty().then_some("true")] { "Map and table" }
            a href=(url::with(&ask.query, "view", "table", &["page"])) aria-current=[(view == "table").then_some("true")] { "Table" }
        }
    }
}

/// What cells can be coloured by.
fn colours(fleet: &Fleet) -> Markup {
    let now = fleet.colour.word();
    let is_attribute = |name: &&String| name.starts_with("attribute.");
    let (own, built_in): (Vec<_>, Vec<_>) = fleet.numbers.iter().partition(is_attribute);
    let columns = [("Columns", built_in), ("Attributes", own)];
    html! {
        label.lab { "Colour"
            select.field name="colour" {
                optgroup label="Shares" { @for (word, text, _) in Share::WORDS {
                    option value=(word) selected[now == *word] { (text) }
                } }
                optgroup label="What a VM would cost" {
                    option value=(COST) selected[now == COST] { "cost under a policy" }
                }
                @for (title, names) in &columns { @if !names.is_empty() {
                    optgroup label=(title) { @for name in names {
                        option value=(name) selected[now == *name] { (format::cut(name.trim_start_matches("attribute."), 60)) }
                    } }
                } }
            }
        }
    }
}

/// What hosts can be put together by.
fn groupings(ask: &Ask, fleet: &Fleet) -> Markup {
    let group = ask.param("group").unwrap_or_default();
    html! {
        label.lab { "Group by"
            select.field name="group" {
                option value="" selected[group.is_empty()] { "zone" }
                @for name in &fleet.attributes {
                    @let alone = format!("{ALONE}{name}");
                    @let short = format::cut(name.trim_start_matches("attribute."), 60);
                    option value=(name) selected[group == *name] { "zone, " (short) }
                    option value=(alone) selected[group == alone] { (short) }
                }
                option value=(NONE) selected[group == NONE] { "nothing" }
            }
        }
    }
}

/// The host that is looked at, beside the map.
fn side(ask: &Ask, cluster: &str, fleet: &Fleet) -> Markup {
    let chosen = ask
        .param("host")
        .and_then(|id| fleet.hosts.iter().find(|host| host.id == id));
    html! {
        aside.panel id="host-panel" aria-live="polite" aria-label="The chosen host" {
            @match chosen {
                Some(host) => (glance(cluster, host, &fleet.colour)),
                None => {
                    header { h2 { "No host is chosen" } }
                    div.in.soft.small {
                        p { "Choose a cell of the map, by the pointer or by the keys." }
                    }
                }
            }
            footer.with-script {
                span.kbd { "←" } " " span.kbd { "→" } " " span.kbd { "↑" } " " span.kbd { "↓" } " move, "
                span.kbd { "Enter" } " opens, " span.kbd { "T" } " goes to the row"
            }
        }
    }
}

/// A host in a few lines.
fn glance(cluster: &str, host: &HostRow, colour: &Colour) -> Markup {
    let (cpu, memory) = (host.cpu, host.memory);
    let used = |used: Option<f64>, text: fn(f64) -> String| match used {
        Some(used) => format!("{} used", text(used)),
        None => "not measured".to_owned(),
    };
    html! {
        header {
            h2 { a.mono href=(of_cluster(cluster, &["hosts", &host.id])) { (format::cut(&host.id, 40)) } }
            (parts::host_state(&host.state))
        }
        div.in.stack {
            div {
                h3 { "CPU" } (cpu.bar("CPU"))
                p.small.soft aria-live="off" {
                    (used(cpu.used, cores)) " · " (number(cpu.committed, 1)) " committed · "
                    (number(cpu.reserved, 1)) " reserved · of " (cores(cpu.promisable))
                }
            }
            div {
                h3 { "Memory" } (memory.bar("Memory"))
                p.small.soft aria-live="off" {
                    (used(memory.used, bytes)) " · " (bytes(memory.committed)) " committed · "
                    (bytes(memory.reserved)) " reserved · of " (bytes(memory.promisable))
                }
            }
            dl.facts {
                @if let Some(zone) = &host.zone { dt { "Zone" } dd { (crate::format::cut(zone, 80)) } }
                @if let Some(group) = &host.group { dt { "Group" } dd { (group) } }
                @if colour.needs_column() {
                    dt { (colour.title()) } dd { (host.written(colour)) }
                }
                dt { "VMs" } dd { (format::len(host.vms)) @if host.pending > 0 { ", and " (format::len(host.pending)) " reserved" } }
            }
            p { a.btn href=(of_cluster(cluster, &["hosts", &host.id])) { (sign("n-fleet")) "Open" } }
        }
    }
}
