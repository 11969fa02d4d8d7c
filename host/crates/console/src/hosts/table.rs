//! The table of hosts: the twin of the map.

use maud::{Markup, html};

use super::fleet::left;
use super::{Colour, Fleet, HostRow};
use crate::ask::Ask;
use crate::format::{self, bytes, cut, number};
use crate::maintenance;
use crate::parts::{empty, host_link, host_state, pager, sorted_head};
use crate::url;
use placewright_document::Word;
use placewright_http::Permission;

/// A page of the hosts that are wanted.
pub(super) fn table(
    ask: &Ask,
    cluster: &str,
    (fleet, wanted): (&Fleet, &[&HostRow]),
    rows: usize,
) -> Markup {
    let sorted = ask.param("sort").unwrap_or("id");
    let (page, pages) = page_of(ask, wanted.len(), rows);
    let has_zone = wanted.iter().any(|host| host.zone.is_some());
    let has_group = wanted.iter().any(|host| host.group.is_some());
    let colour = &fleet.colour;
    let needs_column = colour.needs_column();
    let is_live = !matches!(colour, Colour::Cost(_));
    let may = ask.may(Permission::Operate, Some(cluster));
    let head = |name, title: &str, is_number| sorted_head(ask, sorted, name, title, is_number);
    if wanted.is_empty() {
        let filter = ask
            .param("filter")
            .or(ask.param("state"))
            .unwrap_or_default();
        return html! { div.in { (empty("No host matches", html! {
            i { (format::cut(filter, 80)) } ". "
            a href=(url::with(&ask.query, "filter", "", &["state", "page"])) { "Clear the filter" }
        })) } };
    }
    html! {
        div.scroll { table {
            caption.vh { "Hosts of " (cluster) }
            thead { tr {
                (head("id", "Host", false))
                (head("state", "State", false))
                @if has_zone { (head("zone", "Zone", false)) }
                @if has_group { (head("group", "Group", false)) }
                @if needs_column { (head("value", &colour.title(), true)) }
                (head("vms", "VMs", true))
                (head("cpu", "CPU promised", true))
                (head("left-cpu", "Cores left", true))
                (head("memory", "Memory promised", true))
                (head("left-memory", "Memory left", true))
                @if may { th scope="col" { span.vh { "Maintenance" } } }
            } }
            tbody { @for host in shown(ask, wanted, rows) {
                tr id={ "row-" (host.id) } {
                    th.row scope="row" { (host_link(cluster, Some(&host.id))) }
                    td { (host_state(&host.state)) }
                    @if has_zone { td { (cut(host.zone.as_deref().unwrap_or("–"), 40)) } }
                    @if has_group { td { (cut(host.group.as_deref().unwrap_or("–"), 40)) } }
                    @if needs_column { td.value.told[host.told.is_some()].num[host.told.is_none()] {
                        // Of a size of its own: a figure that is refreshed leaves the table as it is laid out.
                        @if is_live { span.figure { (host.written(colour)) } } @else { (host.written(colour)) }
                    } }
                    td.num { (format::len(host.vms)) @if host.pending > 0 { span.dim { " +" (host.pending) } } }
                    td { (host.cpu.bar("CPU")) }
                    td.num { (number(left(&host.cpu), 1)) }
                    td { (host.memory.bar("Memory")) }
                    td.num { (bytes(left(&host.memory))) }
                    @if may { td { (maintenance::way(ask, cluster, (&host.id, &host.state), "quiet")) } }
                }
            } }
        } }
        @if !may {
            p.in.small.dim { "To put hosts into maintenance needs the role " (Permission::Operate.least_role().word()) "." }
        }
        (pager(ask, page, pages))
    }
}

/// The page of the table that is asked for, and how many there are.
fn page_of(ask: &Ask, wanted: usize, rows: usize) -> (usize, usize) {
    let pages = wanted.div_ceil(rows).max(1);
    let page = ask.param("page").and_then(|page| page.parse().ok());
    (page.unwrap_or(1).clamp(1, pages), pages)
}

/// The hosts of the page of the table that is asked for.
pub(super) fn shown<'h>(ask: &Ask, wanted: &[&'h HostRow], rows: usize) -> Vec<&'h HostRow> {
    let (page, _) = page_of(ask, wanted.len(), rows);
    let first = (page - 1) * rows;
    wanted.iter().skip(first).take(rows).copied().collect()
}

/// How many hosts are in each state, for the words beside the map.
pub(crate) fn states(fleet: &Fleet) -> Vec<(&'static str, usize)> {
    let words = ["maintenance", "down", "error"];
    let counted = words.map(|word| {
        (
            word,
            fleet.hosts.iter().filter(|it| it.state == word).count(),
        )
    });
    counted
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
}
