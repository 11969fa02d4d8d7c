//! Decisions that were made, the newest first.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::format::{self, Moment, cut, things};
use crate::overview::needs::main_reason;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, ago, empty, host_link, state, vm_link};
use crate::url::{self, of_cluster, segment};
use crate::value::{count, items, text, texts};
use placewright_http::Problem;

/// Decisions of a page.
const ROWS: usize = 100;

/// The list.
pub(crate) async fn list(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let rows = ROWS.to_string();
    let outcome = ask.one_of("outcome", &["host", "none"])?;
    let placed = outcome.map(|outcome| if outcome == "host" { "true" } else { "false" });
    let (vm, filter) = (ask.param("vm"), ask.param("filter"));
    let narrowed = [("vm", vm), ("text", filter), ("placed", placed)];
    let part = [("after", ask.param("after")), ("limit", Some(&*rows))];
    let query = url::query(narrowed.into_iter().chain(part));
    let path = format!("{api}/decisions?{query}");
    let listed = ask.get(&path).await?;
    let all = items(&listed, "items");
    let is_narrowed = vm.is_some() || filter.is_some() || outcome.is_some();
    let has_more = listed["next"].is_string();
    let rejected = all
        .iter()
        .filter(|it| !it["decision"]["host"].is_string())
        .count();
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], "Decisions"))
            h1 { "Decisions of " (cluster) @if let Some(vm) = vm { " about " span.mono { (cut(vm, 60)) } } }
            p { @if !all.is_empty() {
                "Of these " (things(all.len(), "decision", "decisions")) ", "
                (format::len(rejected)) " found no host."
            } @else if !is_narrowed { "None is recorded." } }
        } }
        section.panel aria-label="Decisions" {
            header {
                form.bar.grow method="get" data-auto {
                    label.lab { "Which"
                        select.field name="outcome" {
                            option value="" { "all" }
                            option value="host" selected[outcome == Some("host")] { "that found a host" }
                            option value="none" selected[outcome == Some("none")] { "that found none" }
                        }
                    }
                    input.field type="search" name="filter" value=(filter.unwrap_or_default()) aria-label="Filter" placeholder="VM or host";
                    @if let Some(vm) = vm { input type="hidden" name="vm" value=(vm); }
                    button.btn.without-script type="submit" { "Show" }
                }
            }
            @if all.is_empty() {
                div.in { (match is_narrowed {
                    false => empty("No decision here", html! { "Each " code { "POST " (api) "/place" } " makes one." }),
                    true => empty(none_matches(has_more), html! {
                        a href=(of_cluster(&cluster, &["decisions"])) { "Clear the filter" }
                        @if has_more { ", or look at earlier ones." }
                    }),
                }) }
            } @else {
                div.scroll { table {
                    caption.vh { "Decisions of " (cluster) ", the newest first" }
                    thead { tr {
                        th.num scope="col" { "Number" } th scope="col" { "VM" } th scope="col" { "Host" }
                        th.num scope="col" { "Remaining" } th.num scope="col" { "Removed" }
                        th scope="col" { "By" } th scope="col" { "When" }
                    } }
                    tbody { @for recorded in all {
                        @let decision = &recorded["decision"];
                        @let number = recorded["number"].as_u64().unwrap_or_default().to_string();
                        @let considered = count(decision, "considered");
                        @let removed: usize = items(decision, "removed").iter()
                            .filter(|it| !matches!(text(it, "filter"), "state" | "request")).map(|it| count(it, "hosts")).sum();
                        @let vms = texts(decision, "vms");
                        tr {
                            th.row.num scope="row" { a href=(of_cluster(&cluster, &["decisions", &number])) { (number) } }
                            td { @for vm in vms.iter().take(3) { @if has_place(recorded) { (vm_link(&cluster, vm)) } @else { span.mono { (cut(vm, 60)) } } " " }
                                @if vms.len() > 3 { span.dim { "and " (vms.len() - 3) " more" } } }
                            td { @match decision["host"].as_str() {
                                Some(host) => { (host_link(&cluster, Some(host))) }
                                None => { (state("bad", "bad", "no host")) span.sub { (cut(&main_reason(decision), 90)) } }
                            } (tried(recorded)) }
                            td.num { (format::len(considered.saturating_sub(removed))) }
                            td.num { (format::len(removed)) }
                            td { (cut(text(recorded, "by"), 40)) }
                            td { @if let Some(at) = Moment::of(&recorded["at"]) { (ago(at)) } }
                        }
                    } }
                } }
            }
            @if let Some(next) = listed["next"].as_str() {
                nav.pager aria-label="Pages" { a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Earlier" } }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("decisions", Some(&cluster), &narrowed)))) }
    };
    let page = Page {
        title: format!("Decisions of {cluster}"),
        area: Area::Decisions,
        cluster: Some(&cluster),
        main,
        live: "vm,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}

/// That no decision is as it is wanted, among those that were looked through.
fn none_matches(has_more: bool) -> &'static str {
    match has_more {
        true => "None of the latest decisions matches",
        false => "No recorded decision matches",
    }
}

/// Whether its VMs have been given a place: others may not be there.
fn has_place(recorded: &Value) -> bool {
    recorded["decision"]["host"].is_string() && recorded["request"]["dry-run"] != true
}

/// The mark of a decision that was only tried.
pub(crate) fn tried(recorded: &Value) -> Markup {
    html! { @if recorded["request"]["dry-run"] == true { span.sub { "only tried" } } }
}
