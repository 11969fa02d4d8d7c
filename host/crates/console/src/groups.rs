//! Groups: kept or broken, and by whom.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::format::{self, things};
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, barred, empty, host_link, state, vm_link};
use crate::url::{of_cluster, segment};
use crate::value::{count, items, text};
use placewright_http::{Permission, Problem};

/// Groups that are shown.
const MOST: usize = 10_000;
/// Places of a group that are named.
const PLACES: usize = 8;

/// The groups of a cluster.
pub(crate) async fn list(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/group-standings");
    let all = ask.list(&path, MOST).await?;
    let broken = all.iter().filter(|group| group["kept"] == false).count();
    let wanted = ask.param("kept");
    let text_wanted = ask.param("filter").unwrap_or_default().to_lowercase();
    let mut groups: Vec<&Value> = all
        .iter()
        .filter(|group| match wanted {
            Some("no") => group["kept"] == false,
            Some("yes") => group["kept"] == true,
            _ => true,
        })
        .filter(|group| group.to_string().to_lowercase().contains(&text_wanted))
        .collect();
    groups.sort_by_key(|group| group["kept"] == true);
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], "Groups"))
                h1 { @match (all.len(), broken) {
                    (0, _) => "No groups",
                    (number, 0) => { "All of " (things(number, "group is", "groups are")) " kept" }
                    (number, broken) => { (format::len(broken)) " of " (things(number, "group is", "groups are")) " broken" }
                } }
                p { "A group says which VMs belong together or apart, and on which hosts." }
            }
            @if broken > 0 { div.acts { (mend(&ask, &cluster)) } }
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
                    input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default()) aria-label="Filter" placeholder="Group, VM or host";
                    button.btn.without-script type="submit" { "Show" }
                }
            }
            @if groups.is_empty() {
                div.in { (empty("No group matches", html! { a href=(of_cluster(&cluster, &["groups"])) { "Show all" } })) }
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
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), None)) }
    };
    let page = Page {
        title: format!("Groups of {cluster}"),
        area: Area::Groups,
        cluster: Some(&cluster),
        main,
        live: "vm,inventory",
        script: None,
    };
    page::shown(&ask, page).await
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

fn row(cluster: &str, group: &Value) -> Markup {
    let wants = match (text(group, "vms-wanted"), text(group, "hosts-wanted")) {
        ("together", "on-hosts") => "together, on its hosts",
        ("together", "off-hosts") => "together, not on its hosts",
        ("apart", "on-hosts") => "apart, on its hosts",
        ("apart", "off-hosts") => "apart, not on its hosts",
        ("together", _) => "together on one host",
        ("apart", _) => "apart, no two on a host",
        (_, "on-hosts") => "on its hosts",
        (_, "off-hosts") => "not on its hosts",
        _ => "nothing",
    };
    let places = items(group, "places");
    html! {
        tr.tall {
            td { @match (group["kept"] == true, group["hard"] == true) {
                (true, _) => (state("ok", "ok", "kept")),
                (false, true) => (state("bad", "bad", "broken")),
                (false, false) => (state("warn", "warn", "not kept")),
            } }
            th.row scope="row" { b { (format::cut(text(group, "id"), 80)) } span.sub { (format::cut(text(group, "name"), 80)) } }
            td { (wants) span.sub { (if group["hard"] == true { "must be kept" } else { "is kept where it can be" }) } }
            td.num { (format::len(count(group, "members"))) }
            td {
                @for by in items(group, "broken-by") {
                    p.bad { (text(by, "why")) "." }
                }
                span.small {
                    @for (number, place) in places.iter().take(PLACES).enumerate() {
                        @if number > 0 { ", " }
                        span.nowrap { (vm_link(cluster, text(place, "vm"))) " on " (host_link(cluster, place["host"].as_str())) }
                    }
                    @if places.len() > PLACES { span.dim { " and " (places.len() - PLACES) " more" } }
                    @if places.is_empty() { span.dim { "no VM of it has a place" } }
                }
            }
        }
    }
}
