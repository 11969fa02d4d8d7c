//! Search: whatever has the text in its id or name, in all clusters and of the server itself.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::stream::{self, StreamExt as _};
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::format::{self, Moment, cut};
use crate::overview::needs::main_reason;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{ago, command, copies, curl, empty, host_link, list_command, vm_link};
use crate::url::{self, of_cluster, segment};
use crate::value::{items, text, texts};
use placewright_http::Problem;

/// Clusters that are searched; of more, the first by name.
const CLUSTERS: usize = 200;
/// Clusters that are asked at once: a search leaves room for other questions.
const AT_ONCE: usize = 4;
/// Things of a kind in a cluster that are shown.
const OF_A_KIND: usize = 20;
/// Policies and units that are looked through.
const OF_THE_SERVER: usize = 10_000;

/// What was found of one kind, in one cluster or of the server.
struct Found {
    kind: &'static str,
    cluster: Option<String>,
    /// Where all of them are listed.
    all: String,
    /// What was asked: the path of the API, and the command of the same.
    asked: (String, String),
    /// Links to each, at most [`OF_A_KIND`].
    links: Vec<Markup>,
    are_more: bool,
}

/// The page.
pub(crate) async fn show(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    let wanted = ask.param("text").unwrap_or_default().trim();
    let mut found = Vec::new();
    let clusters = ask.list("/v1/clusters", CLUSTERS).await?;
    if !wanted.is_empty() {
        let mut searches = Vec::new();
        for cluster in &clusters {
            searches.push(in_cluster(&ask, text(cluster, "name"), wanted).boxed());
        }
        let mut searches = stream::iter(searches).buffered(AT_ONCE);
        while let Some(in_cluster) = searches.next().await {
            found.extend(in_cluster?);
        }
        of_server(&ask, wanted, &mut found).await?;
    }
    let count: usize = found.iter().map(|it| it.links.len()).sum();
    let are_more = found.iter().any(|it| it.are_more);
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned())], "Search"))
            h1 { @match (wanted, count) {
                ("", _) => "Search",
                (_, 0) => { "Nothing is called “" (cut(wanted, 60)) "”" }
                (_, 1) => { "One thing is called “" (cut(wanted, 60)) "”" }
                (_, count) => { (format::len(count)) @if are_more { " things or more are" } @else { " things are" } " called “" (cut(wanted, 60)) "”" }
            } }
            p { "What has the text in its id or name: hosts, VMs, groups and tenants of your clusters, policies and units." }
        } }
        form.bar action="/search" method="get" {
            input.field type="search" name="text" value=(wanted) aria-label="Text in an id or name" placeholder="Id or name" required;
            button.btn.main type="submit" { "Search" }
        }
        @if !wanted.is_empty() && found.is_empty() {
            (empty("Nothing was found", html! { "Part of an id or name is enough, in letters of either case." }))
        }
        @for of_kind in &found { (panel(of_kind)) }
        @if clusters.len() == CLUSTERS { p.small.soft { "The first " (CLUSTERS) " clusters were searched." } }
    };
    let page = Page {
        title: match wanted {
            "" => "Search".to_owned(),
            wanted => format!("Search for {}", cut(wanted, 40)),
        },
        area: Area::Search,
        cluster: None,
        main,
        live: "",
        script: None,
    };
    page::shown(&ask, page).await
}

fn panel(found: &Found) -> Markup {
    let cluster = found.cluster.as_deref();
    html! {
        section.panel aria-label={ (found.kind) @if let Some(cluster) = cluster { " of " (cluster) } } {
            header {
                h2 { (found.kind) @if let Some(cluster) = cluster { span.dim { " of " (cut(cluster, 60)) } } }
                @if found.are_more && !found.all.is_empty() { a.small href=(found.all) { "Show all" } }
            }
            div.in {
                ul.list.links { @for link in &found.links { li { (link) } } }
                div.acts { (copies(&curl("GET", &found.asked.0, None), Some(&found.asked.1))) }
            }
        }
    }
}

/// What there is in a cluster.
async fn in_cluster(ask: &Ask, cluster: &str, wanted: &str) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    let filter = url::query([("text", Some(wanted))]);
    for (kind, part) in [
        ("Hosts", "hosts"),
        ("VMs", "vms"),
        ("Groups", "groups"),
        ("Tenants", "tenants"),
    ] {
        let path = format!("/v1/clusters/{}/{part}?{filter}", segment(cluster));
        let mut listed = ask.list(&path, OF_A_KIND + 1).await?;
        if listed.is_empty() {
            continue;
        }
        let are_more = listed.len() > OF_A_KIND;
        listed.truncate(OF_A_KIND);
        // Who writes a whole id wants that one.
        listed.sort_by_key(|it| text(it, "id") != wanted);
        let command = list_command(part, Some(cluster), &[("text", Some(wanted))]);
        found.push(Found {
            kind,
            cluster: Some(cluster.to_owned()),
            all: of_all(cluster, part, wanted),
            asked: (path, command),
            links: listed.iter().map(|it| link(cluster, part, it)).collect(),
            are_more,
        });
    }
    found.extend(refused(ask, cluster, wanted).await?);
    Ok(found)
}

/// Requests of the latest decisions that found no host: their VMs may be nowhere else.
async fn refused(ask: &Ask, cluster: &str, wanted: &str) -> Result<Option<Found>, Problem> {
    let most = (OF_A_KIND + 1).to_string();
    let query = [
        ("placed", Some("false")),
        ("text", Some(wanted)),
        ("limit", Some(&*most)),
    ];
    let path = format!(
        "/v1/clusters/{}/decisions?{}",
        segment(cluster),
        url::query(query)
    );
    let listed = ask.get(&path).await?;
    let refused = items(&listed, "items");
    if refused.is_empty() {
        return Ok(None);
    }
    let all = url::query([("outcome", Some("none")), ("filter", Some(wanted))]);
    let command = list_command("decisions", Some(cluster), &query[..2]);
    Ok(Some(Found {
        kind: "Requests without a host",
        cluster: Some(cluster.to_owned()),
        all: format!("{}?{all}", of_cluster(cluster, &["decisions"])),
        asked: (path, command),
        links: refused
            .iter()
            .take(OF_A_KIND)
            .map(|it| refusal(cluster, it))
            .collect(),
        are_more: refused.len() > OF_A_KIND || listed["next"].is_string(),
    }))
}

/// A decision that found no host, with why.
fn refusal(cluster: &str, recorded: &Value) -> Markup {
    let decision = &recorded["decision"];
    let number = recorded["number"].as_u64().unwrap_or_default().to_string();
    let vms = texts(decision, "vms").join(", ");
    html! {
        a.mono href=(of_cluster(cluster, &["decisions", &number])) { (cut(&vms, 80)) }
        " " span.soft { (cut(&main_reason(decision), 160)) }
        @if let Some(at) = Moment::of(&recorded["at"]) { " " span.small.dim { (ago(at)) } }
    }
}

/// Where all things of a kind are listed that have the text.
fn of_all(cluster: &str, part: &str, wanted: &str) -> String {
    let page = match part {
        "hosts" => of_cluster(cluster, &[]),
        part => of_cluster(cluster, &[part]),
    };
    match part {
        "vms" => format!("{page}?{}", url::query([("text", Some(wanted))])),
        "hosts" | "groups" => format!("{page}?{}", url::query([("filter", Some(wanted))])),
        // There is no list of tenants.
        _ => String::new(),
    }
}

fn link(cluster: &str, part: &str, thing: &Value) -> Markup {
    let id = text(thing, "id");
    let name = text(thing, "name");
    html! {
        @match part {
            "hosts" => (host_link(cluster, Some(id))),
            "vms" => (vm_link(cluster, id)),
            "groups" => { a.mono href=(of_cluster(cluster, &["groups", id])) { (cut(id, 80)) } }
            _ => { a.mono href={ (of_cluster(cluster, &["vms"])) "?" (url::query([("tenant", Some(id))])) } { (cut(id, 80)) } }
        }
        @if !name.is_empty() && name != id { " " span.soft { (cut(name, 80)) } }
        @if let Some(host) = thing["host"].as_str() { " " span.small.dim { "on " (cut(host, 60)) } }
    }
}

/// Policies and units.
async fn of_server(ask: &Ask, wanted: &str, found: &mut Vec<Found>) -> Result<(), Problem> {
    let lower = wanted.to_lowercase();
    for (kind, part) in [("Policies", "policies"), ("Units", "units")] {
        let listed = ask.list(&format!("/v1/{part}"), OF_THE_SERVER).await?;
        let mut names: Vec<&str> = listed.iter().map(|it| text(it, "name")).collect();
        names.retain(|name| name.to_lowercase().contains(&lower));
        names.sort_by_key(|name| (*name != wanted, *name));
        if names.is_empty() {
            continue;
        }
        let filter = url::query([("filter", Some(wanted))]);
        let links = names.iter().take(OF_A_KIND).map(|name| {
            html! { a.mono href={ "/" (part) "/" (segment(name)) } { (cut(name, 80)) } }
        });
        found.push(Found {
            kind,
            cluster: None,
            all: format!("/{part}?{filter}"),
            // The API narrows neither by name.
            asked: (format!("/v1/{part}"), command(&["get", part])),
            links: links.collect(),
            are_more: names.len() > OF_A_KIND,
        });
    }
    Ok(())
}

/// The field on every page.
pub(crate) fn field() -> Markup {
    html! {
        form.find action="/search" method="get" role="search" {
            input.field type="search" name="text" aria-label="Search hosts, VMs, groups, tenants, policies and units" placeholder="Search" required;
            button.vh type="submit" { "Search" }
        }
    }
}
