//! Groups: kept or broken, and by whom.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::format::{self, things};
use crate::group;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, barred, empty, host_link, state, vm_link};
use crate::url::{self, of_cluster, segment};
use crate::value::{count, items, text};
use placewright_http::{Permission, Problem};

/// Groups of a page.
const ROWS: usize = 100;

/// The groups of a cluster.
pub(crate) async fn list(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    if ask.param("make").is_some() {
        return group::form_for_new(&ask, &cluster).await;
    }
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let counted = ask.get(&api).await?["counted"].take();
    let all = count(&counted, "groups");
    let wanted = ask.one_of("kept", &["yes", "no"])?;
    let kept = match wanted {
        Some("no") => Some("false"),
        Some("yes") => Some("true"),
        _ => None,
    };
    let rows = ROWS.to_string();
    let narrowed = [
        ("kept", kept),
        ("vm", ask.param("vm")),
        ("text", ask.param("filter")),
    ];
    let part = [("after", ask.param("after")), ("limit", Some(&*rows))];
    let query = url::query(narrowed.into_iter().chain(part));
    let path = format!("{api}/group-standings?{query}");
    let page = ask.get(&path).await?;
    let groups = items(&page, "items");
    // One is enough to offer what puts it right.
    let broken = format!("{api}/group-standings?kept=false&limit=1");
    let is_broken = !items(&ask.get(&broken).await?, "items").is_empty();
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], "Groups"))
                h1 { @match (all, is_broken) {
                    (0, _) => "No groups",
                    (number, false) => { "All of " (things(number, "group is", "groups are")) " kept" }
                    (number, true) => { "Not all of " (things(number, "group is", "groups are")) " kept" }
                } }
                p { "A group says which VMs belong together or apart, and on which hosts." }
            }
            div.acts {
                @if is_broken { (mend(&ask, &cluster)) }
                @match ask.may(Permission::Operate, Some(&cluster)) {
                    true => a.btn href={ (of_cluster(&cluster, &["groups"])) "?make=yes" } { "Make a group" },
                    false => (barred(&ask, Permission::Operate, "Make a group")),
                }
            }
        }
        section.panel aria-label="Groups" {
            header {
                form.bar.grow method="get" data-auto {
                    label.lab { "Which"
                        select.field name="kept" {
                            option value="" { "all" }
                            option value="no" selected[wanted == Some("no")] { "broken" }
                            option value="yes" selected[wanted == Some("yes")] { "kept" }
                        }
                    }
                    input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default()) aria-label="Filter" placeholder="Group";
                    input.field name="vm" value=(ask.param("vm").unwrap_or_default()) aria-label="Id of the VM" placeholder="VM";
                    button.btn.without-script type="submit" { "Show" }
                }
            }
            @if groups.is_empty() {
                div.in { (match all {
                    0 => empty("No group yet", html! { "Groups come with the inventory, and can be made here." }),
                    _ => empty("No group matches", html! { a href=(of_cluster(&cluster, &["groups"])) { "Clear the filter" } }),
                }) }
            } @else {
                div.scroll { table {
                    caption.vh { "Groups of " (cluster) }
                    thead { tr {
                        th scope="col" { "State" } th scope="col" { "Group" } th scope="col" { "Wants" }
                        th.num scope="col" { "VMs" } th scope="col" { "Where they are" }
                    } }
                    tbody { @for group in groups { (row(&cluster, group)) } }
                } }
            }
            @if let Some(next) = page["next"].as_str() {
                nav.pager aria-label="Pages" {
                    a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Next " (ROWS) }
                }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("group-standings", Some(&cluster), &narrowed)))) }
    };
    let shown = Page {
        title: format!("Groups of {cluster}"),
        area: Area::Groups,
        cluster: Some(&cluster),
        main,
        live: "vm,inventory",
        script: None,
    };
    page::shown(&ask, shown).await
}

/// The form that plans moves, which put broken groups right first.
fn mend(ask: &Ask, cluster: &str) -> Markup {
    let text = "Plan the moves that put it right";
    match ask.may(Permission::Operate, Some(cluster)) {
        true => html! {
            form action=(of_cluster(cluster, &["plans"])) method="post" {
                input type="hidden" name="deed" value="plan";
                button.btn.main type="submit" { (text) }
            }
        },
        false => barred(ask, Permission::Operate, text),
    }
}

/// What a group wants, in words.
pub(crate) fn wants(group: &Value) -> &'static str {
    match (text(group, "vms-wanted"), text(group, "hosts-wanted")) {
        ("together", "on-hosts") => "together, on its hosts",
        ("together", "off-hosts") => "together, not on its hosts",
        ("apart", "on-hosts") => "apart, on its hosts",
        ("apart", "off-hosts") => "apart, not on its hosts",
        ("together", _) => "together on one host",
        ("apart", _) => "apart, no two on a host",
        (_, "on-hosts") => "on its hosts",
        (_, "off-hosts") => "not on its hosts",
        _ => "nothing",
    }
}

fn row(cluster: &str, group: &Value) -> Markup {
    let wants = wants(group);
    html! {
        tr.tall {
            td { (standing(group)) }
            th.row scope="row" { a href=(of_cluster(cluster, &["groups", text(group, "id")])) { b { (format::cut(text(group, "id"), 80)) } } span.sub { (format::cut(text(group, "name"), 80)) } }
            td { (wants) span.sub { (if group["hard"] == true { "must be kept" } else { "is kept where it can be" }) } }
            td.num { (format::len(count(group, "members"))) }
            td {
                (places_of(cluster, group))
            }
        }
    }
}

/// Who breaks a group, and where its VMs are.
pub(crate) fn places_of(cluster: &str, group: &Value) -> Markup {
    let (places, placed) = (items(group, "places"), count(group, "placed"));
    let untold = count(group, "breaks").saturating_sub(items(group, "broken-by").len());
    html! {
        @for by in items(group, "broken-by") {
            p.bad { (text(by, "why")) "." }
        }
        @if untold > 0 { p.dim { "And it is broken on " (things(untold, "more host", "more hosts")) "." } }
        span.small.places {
            @for (number, place) in places.iter().enumerate() {
                @if number > 0 { ", " }
                span.place { (vm_link(cluster, text(place, "vm"))) " on " (host_link(cluster, place["host"].as_str())) }
            }
            @if placed > places.len() { span.dim { " and " (format::len(placed - places.len())) " more" } }
            @if places.is_empty() { span.dim { "no VM of it has a place" } }
        }
    }
}

/// Whether a group is kept: its sign and a word.
pub(crate) fn standing(group: &Value) -> Markup {
    match (group["kept"] == true, group["hard"] == true) {
        (true, _) => state("ok", "ok", "kept"),
        (false, true) => state("bad", "bad", "broken"),
        (false, false) => state("warn", "warn", "not kept"),
    }
}
