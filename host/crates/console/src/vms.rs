//! VMs: all of a cluster, and one of them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console};
use crate::decisions;
use crate::form;
use crate::format::{self, Moment, bytes, cores};
use crate::groups;
use crate::host::written;
use crate::migration;
use crate::missing::Missing;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, ago, empty, host_link, vm_link};
use crate::standing::{self, NotUp};
use crate::url::{self, of_cluster, segment};
use crate::value::{items, text};
use placewright_http::Problem;

/// VMs of a page.
const ROWS: usize = 100;
/// The latest decisions about a VM that are listed.
const DECISIONS: usize = 50;
/// How VMs are listed, as the API calls it.
const ORDERS: [(&str, &str); 4] = [
    ("", "by id"),
    ("-memory", "most memory first"),
    ("-cpu", "most CPU first"),
    ("name", "by name"),
];
/// Groups of a VM that are shown.
const GROUPS: usize = 100;

/// The VMs of a cluster.
pub(crate) async fn list(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let counted = ask.get(&api).await?["counted"].take();
    let rows = ROWS.to_string();
    let names = ["text", "host", "tenant", "pending", "sort", "after"];
    let said = names.map(|name| (name, ask.param(name)));
    let query = url::query(said.into_iter().chain([("limit", Some(rows.as_str()))]));
    let narrowed = &said[..5];
    let path = format!("{api}/vms?{query}");
    let filtered = ["text", "host", "tenant", "pending"]
        .iter()
        .any(|it| ask.param(it).is_some());
    // A filter that names what is not there is refused with a sentence.
    let (page, wrong) = match ask.get(&path).await {
        Ok(page) => (page, None),
        Err(problem) if filtered && form::is_told(&problem) => (Value::Null, Some(problem)),
        Err(problem) => return Err(problem),
    };
    let vms = items(&page, "items");
    let not_up = NotUp::read(&ask, &api).await;
    let pending = ask.param("pending");
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], "VMs"))
            h1 { "VMs of " (cluster) }
            p {
                (format::count(counted["vms"].as_u64().unwrap_or_default())) " are on hosts, "
                (format::count(counted["pending"].as_u64().unwrap_or_default())) " have a place reserved."
            }
        } }
        section.panel aria-label="VMs" {
            header {
                form.bar.grow method="get" data-auto {
                    label.lab { "Which"
                        select.field name="pending" {
                            option value="" { "all" }
                            option value="false" selected[pending == Some("false")] { "those on hosts" }
                            option value="true" selected[pending == Some("true")] { "those with a place reserved" }
                        }
                    }
                    input.field name="text" value=(ask.param("text").unwrap_or_default()) aria-label="Part of the id or name" placeholder="Id or name";
                    input.field name="host" value=(ask.param("host").unwrap_or_default()) aria-label="Id of the host" placeholder="Host";
                    input.field name="tenant" value=(ask.param("tenant").unwrap_or_default()) aria-label="Id of the tenant" placeholder="Tenant";
                    label.lab { "Order"
                        select.field name="sort" {
                            @for (word, meaning) in ORDERS { option value=(word) selected[ask.param("sort").unwrap_or_default() == word] { (meaning) } }
                        }
                    }
                    button.btn.without-script type="submit" { "Show" }
                }
            }
            @if vms.is_empty() {
                div.in { (empty(if filtered { "No VM matches" } else { "No VM here" }, html! {
                    @if let Some(wrong) = &wrong { (page::sentence(wrong.detail())) " " }
                    @if filtered { a href=(of_cluster(&cluster, &["vms"])) { "Clear the filter" } }
                    @else { "VMs come with the inventory, and by " code { "POST " (api) "/place" } "." }
                })) }
            } @else { (table(&cluster, (vms, &not_up), None)) }
            @if let Some(next) = page["next"].as_str() {
                nav.pager aria-label="Pages" {
                    a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Next " (ROWS) }
                }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("vms", Some(&cluster), narrowed)))) }
    };
    let page = Page {
        title: format!("VMs of {cluster}"),
        area: Area::Vms,
        cluster: Some(&cluster),
        main,
        live: "vm,inventory,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}

/// How to ask the same elsewhere: of a VM, or why it is not on a host, if the page is about one.
fn copies((cluster, id): (&str, &str), api: &str, why_not: Option<&str>) -> Markup {
    let Some(host) = why_not else {
        let path = format!("{api}/vms/{}", segment(id));
        let words = ["get", "vms", id, "--cluster", cluster];
        return parts::copies(
            &parts::curl("GET", &path, None),
            Some(&parts::command(&words)),
        );
    };
    let path = format!("{api}/why?{}", url::query([("host", Some(host))]));
    let asked = json!({"id": id}).to_string();
    let words = ["why", "--vm", id, "--host", host, "--cluster", cluster];
    parts::copies(
        &parts::curl("POST", &path, Some(&asked)),
        Some(&parts::command(&words)),
    )
}

/// Rows of VMs: of all hosts, or of one, whose page may sort them, and how it has.
pub(crate) fn table(
    cluster: &str,
    (vms, hosts): (&[Value], &NotUp),
    of_one: Option<(&Ask, &str)>,
) -> Markup {
    let with_host = of_one.is_none();
    let head = |name, title, is_number| match of_one {
        Some((ask, sorted)) => parts::sorted_head(ask, sorted, name, title, is_number),
        None => html! { th.num[is_number] scope="col" { (title) } },
    };
    html! {
        div.scroll { table {
            caption.vh { "VMs of " (cluster) }
            thead { tr {
                (head("id", "VM", false))
                th scope="col" { "State" }
                @if with_host { th scope="col" { "Host" } }
                (head("cpu", "CPU", true))
                (head("memory", "Memory", true))
                th scope="col" { "Tenant" }
            } }
            tbody { @for vm in vms {
                tr {
                    th.row scope="row" { (vm_link(cluster, text(vm, "id"))) }
                    td { (standing::of(vm, hosts)) }
                    @if with_host { td { (place(cluster, vm)) } }
                    td.num { @if let Some(cpu) = vm["cpu"].as_f64() { (cores(cpu)) } @else { span.dim { "–" } } }
                    td.num { @if let Some(memory) = vm["memory"].as_f64() { (bytes(memory)) } @else { span.dim { "–" } } }
                    td { (format::cut(text(vm, "tenant"), 40)) }
                }
            } }
        } }
    }
}

fn place(cluster: &str, vm: &Value) -> Markup {
    let reserved = vm["reserved"]["host"].as_str();
    html! {
        @if let Some(host) = vm["host"].as_str() { (host_link(cluster, Some(host))) }
        @if let (true, Some(_)) = (vm["host"].is_string(), reserved) { " → " }
        @if let Some(host) = reserved { (host_link(cluster, Some(host))) }
    }
}

/// One VM.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/vms/{}", segment(&id));
    let vm = match ask.get(&path).await {
        Ok(vm) => vm,
        Err(problem) => {
            let list = of_cluster(&cluster, &["vms"]);
            let list = ("VMs", &*list);
            let kind = ("VM", "vm");
            let missing = Missing::of_cluster(kind, (&cluster, &id), Area::Vms, list);
            return missing.instead(&ask, problem).await;
        }
    };
    let not_up = match vm["host"].as_str() {
        Some(host) => {
            let host = ask.get_if(&format!("{api}/hosts/{}", segment(host))).await;
            host.as_ref().map(NotUp::of_host).unwrap_or_default()
        }
        None => NotUp::default(),
    };
    let why = migration::why_not(&ask, &cluster, &id).await;
    let most = DECISIONS.to_string();
    let of_decisions = url::query([("vm", Some(id.as_str())), ("limit", Some(&most))]);
    let decisions = ask.get(&format!("{api}/decisions?{of_decisions}")).await?;
    let about = items(&decisions, "items");
    let has_more = decisions["next"].is_string();
    let of_vm = url::query([("vm", Some(id.as_str()))]);
    let groups = ask
        .list(&format!("{api}/group-standings?{of_vm}"), GROUPS)
        .await?;
    let main = html! {
        div.head { div {
            (crumbs(&[
                ("Overview", "/".to_owned()),
                (&cluster, of_cluster(&cluster, &[])),
                ("VMs", of_cluster(&cluster, &["vms"])),
            ], &id))
            h1.mono { (format::cut(&id, 80)) }
            p.bar { (standing::of(&vm, &not_up)) span { (standing::sentence(&cluster, &vm, &not_up)) } }
        } div.acts { (migration::ways(&ask, &cluster, &id, &vm)) } }
        (why)
        div.cols.two-one {
            section.panel aria-labelledby="decisions" {
                header { h2 id="decisions" { "Decisions about it " span.dim { (about.len()) @if has_more { " latest" } } } }
                @if about.is_empty() && !has_more { div.in { (empty("None is recorded", html! {
                    "It came with the inventory, or the decision about it is no longer kept."
                })) } } @else {
                    div.scroll { table {
                        thead { tr { th.num scope="col" { "Number" } th scope="col" { "Host" } th scope="col" { "By" } th scope="col" { "When" } } }
                        tbody { @for recorded in about {
                            @let number = recorded["number"].as_u64().unwrap_or_default().to_string();
                            tr {
                                td.num { a href=(of_cluster(&cluster, &["decisions", &number])) { (number) } }
                                td { (host_link(&cluster, recorded["decision"]["host"].as_str())) (decisions::tried(recorded)) }
                                td { (format::cut(text(recorded, "by"), 40)) }
                                td { @if let Some(at) = Moment::of(&recorded["at"]) { (ago(at)) } }
                            }
                        } }
                    } }
                    @if has_more { p.in.small {
                        a href=(format!("{}?{}", of_cluster(&cluster, &["decisions"]), url::query([("vm", Some(id.as_str()))]))) { "Earlier decisions about it" }
                    } }
                }
            }
            div.stack {
                section.panel aria-labelledby="facts" {
                    header { h2 id="facts" { "What units can read of it" } }
                    div.in { dl.facts {
                        @for (name, value) in vm.as_object().into_iter().flatten() {
                            @if !matches!(name.as_str(), "id" | "host" | "reserved") {
                                dt.mono { (format::cut(name, 40)) } dd { (written(name, value)) }
                            }
                        }
                    } }
                }
                @if !groups.is_empty() {
                    section.panel aria-labelledby="groups" {
                        header { h2 id="groups" { "Its groups" } }
                        ul.list.in { @for group in &groups { li {
                            a href=(of_cluster(&cluster, &["groups", text(group, "id")])) { (format::cut(text(group, "id"), 60)) } " "
                            (groups::standing(group))
                        } } }
                    }
                }
            }
        }
        div.acts { (copies((&cluster, &id), &api, ask.param("why-not"))) }
    };
    let page = Page {
        title: format!("{id} of {cluster}"),
        area: Area::Vms,
        cluster: Some(&cluster),
        main,
        live: "vm,inventory,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}
