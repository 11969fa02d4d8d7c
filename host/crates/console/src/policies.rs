//! The policies, and cloning one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;

use crate::ask::{Ask, Console};
use crate::format::{cut, things};
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, empty, state};
use crate::url::{of_cluster, segment};
use crate::value::{items, text, texts};
use placewright_http::Problem;

/// Policies that are shown.
const MOST: usize = 10_000;

/// The list.
pub(crate) async fn list(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    let mut policies = ask.list("/v1/policies", MOST).await?;
    let deciding = policies
        .iter()
        .filter(|it| !items(it, "clusters").is_empty())
        .count();
    let all = policies.len();
    let wanted = ask.param("filter").unwrap_or_default().to_lowercase();
    policies.retain(|policy| text(policy, "name").to_lowercase().contains(&wanted));
    policies.sort_by_key(|policy| {
        (
            items(policy, "clusters").is_empty(),
            policy["origin"] == "program",
        )
    });
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned())], "Policies"))
            h1 { (things(deciding, "policy decides", "policies decide")) ", of " (all) }
            p { "A policy chains units, with factors and settings. Those of the program are locked: clone one to change it." }
        } }
        section.panel aria-label="Policies" {
            header { form.bar.grow method="get" data-auto {
                input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default()) aria-label="Filter" placeholder="Name";
                button.btn.without-script type="submit" { "Show" }
            } }
            @if policies.is_empty() { div.in { (empty("No policy matches", html! { a href="/policies" { "Clear the filter" } })) } }
            @else { div.scroll { table {
                caption.vh { "Policies, those that decide first" }
                thead { tr { th scope="col" { "Policy" } th scope="col" { "Decides in" } th scope="col" { "From" } th.num scope="col" { "Revision" } } }
                tbody { @for policy in &policies { tr {
                    th.row scope="row" { a href={ "/policies/" (segment(text(policy, "name"))) } { (cut(text(policy, "name"), 60)) } }
                    td { @let clusters = texts(policy, "clusters");
                        @if clusters.is_empty() { span.dim { "nowhere" } }
                        @for (place, cluster) in clusters.iter().enumerate() { @if place > 0 { ", " } a href=(of_cluster(cluster, &[])) { (cluster) } } }
                    td { @match policy["origin"].as_str() {
                        Some("program") => (state("off", "idle", "the program, locked")),
                        Some("api") => "the API",
                        _ => { "a file" }
                    } }
                    td.num { (policy["revision"]) }
                } } }
            } } }
        }
        div.acts { (parts::copies(&parts::curl("GET", "/v1/policies", None), Some(&parts::command(&["get", "policies"])))) }
    };
    let page = Page {
        title: "Policies".to_owned(),
        area: Area::Policies,
        cluster: None,
        main,
        live: "policy",
        script: None,
    };
    page::shown(&ask, page).await
}
