//! Places that are reserved: which VM, where, until when; confirmed, kept for longer or given back.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::{self, Moment, bytes, cores, cut, things};
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, ago, empty, host_link, vm_link};
use crate::told;
use crate::url::{self, of_cluster, segment};
use crate::value::{count, items, number, text};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Reservations of a page.
const ROWS: usize = 100;
/// Seconds from which on a reservation is marked as one that runs out.
const SOON: i64 = 600;

/// The list.
pub(crate) async fn list(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let sums = ask.get(&format!("{api}/sums")).await?;
    let rows = ROWS.to_string();
    let query = url::query([("after", ask.param("after")), ("limit", Some(&*rows))]);
    let path = format!("{api}/reservations?{query}");
    let page = ask.get(&path).await?;
    let reservations = items(&page, "items");
    // Both lists go by the ids of the VMs; a place that came or went in between is one that the
    // other list has not.
    let listed = ask.get(&format!("{api}/vms?pending=true&{query}")).await?;
    let vms: HashMap<&str, &Value> = items(&listed, "items")
        .iter()
        .map(|vm| (text(vm, "id"), vm))
        .collect();
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], "Reservations"))
            h1 { @match count(&sums, "pending") {
                0 => "No place is reserved",
                places => (things(places, "place is reserved", "places are reserved")),
            } }
            p { "A place is kept until the VM is confirmed to run there, until it is given back, or until it runs out."
                @if let Some(next) = Moment::of(&sums["next-expiry"]) { " The next one runs out " (ago(next)) "." } }
        } }
        section.panel aria-label="Reservations" {
            @if reservations.is_empty() {
                div.in { (empty("No place is reserved", html! {
                    @if ask.param("after").is_some() { a href=(of_cluster(&cluster, &["reservations"])) { "Show the first ones" } }
                    @else { "Each decision that places or moves a VM reserves one." }
                })) }
            } @else {
                div.scroll { table {
                    caption.vh { "Reservations of " (cluster) }
                    thead { tr {
                        th scope="col" { "VM" } th scope="col" { "For" } th scope="col" { "Place" }
                        th.num scope="col" { "CPU" } th.num scope="col" { "Memory" }
                        th scope="col" { "Since" } th scope="col" { "Runs out" }
                        th scope="col" { span.vh { "Deeds" } }
                    } }
                    tbody { @for reservation in reservations {
                        @let vm = vms.get(text(reservation, "vm")).copied().unwrap_or(&Value::Null);
                        (row(&ask, &cluster, reservation, vm))
                    } }
                } }
            }
            @if let Some(next) = page["next"].as_str() {
                nav.pager aria-label="Pages" {
                    a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Next " (ROWS) }
                }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("reservations", Some(&cluster), &[])))) }
    };
    let page = Page {
        title: format!("Reservations of {cluster}"),
        area: Area::Reservations,
        cluster: Some(&cluster),
        main,
        live: "vm,reservation,inventory",
        script: None,
    };
    page::shown(&ask, page).await
}

fn row(ask: &Ask, cluster: &str, reservation: &Value, vm: &Value) -> Markup {
    let id = text(reservation, "vm");
    // What is reserved of it, where that is not what runs.
    let changed = &vm["reserved"]["changes"];
    let of = |key: &str| match changed.get(key) {
        Some(value) => value,
        None => &vm[key],
    };
    let expires = Moment::of(&reservation["expires"]);
    let is_soon = expires.is_some_and(|it| it.0.saturating_sub(Moment::now().0) < SOON);
    let kind = match text(reservation, "kind") {
        "place" => "to be started",
        "migrate" => "a move",
        "resize" => "a change of its size",
        other => other,
    };
    html! {
        tr.tall {
            th.row scope="row" { (vm_link(cluster, id)) }
            td { (format::cut(kind, 40)) @if let Some(number) = reservation["decision"].as_u64() {
                span.sub { a href=(of_cluster(cluster, &["decisions", &number.to_string()])) { "decision " (number) } } } }
            td { @if let Some(from) = reservation["from"].as_str() { @if reservation["host"] != from { (host_link(cluster, Some(from))) " → " } }
                (host_link(cluster, reservation["host"].as_str())) }
            td.num { @match of("cpu").as_f64() { Some(cpu) => (cores(cpu)), None => span.dim { "–" } }
                @if let Some(gpus) = of("gpu.count").as_u64().and_then(|it| usize::try_from(it).ok()) { span.sub { (things(gpus, "GPU", "GPUs")) } } }
            td.num { @match of("memory").as_f64() { Some(memory) => (bytes(memory)), None => span.dim { "–" } }
                @for pages in of("huge-pages").as_array().into_iter().flatten().take(4) {
                    span.sub { (things(count(pages, "count"), "page", "pages")) " of " (bytes(number(pages, "size"))) } } }
            td.nowrap { @match Moment::of(&reservation["since"]) { Some(since) => (ago(since)), None => span.dim { "–" } } }
            td.nowrap { @match expires {
                Some(expires) if is_soon => span.warn { (parts::sign("warn")) " " (ago(expires)) },
                Some(expires) => (ago(expires)),
                None => span.dim { "not by itself" },
            } }
            td { (acts(ask, cluster, (id, text(reservation, "host")), "")) }
        }
    }
}

/// What can be done with the place of a VM. `back` is the page that is shown afterwards: "vm", or
/// the list.
pub(crate) fn acts(ask: &Ask, cluster: &str, (vm, host): (&str, &str), back: &str) -> Markup {
    if !ask.may(Permission::Operate, Some(cluster)) {
        let deeds = ["Confirm", "Keep longer", "Give back"];
        return parts::all_barred(ask, Permission::Operate, &deeds);
    }
    let sure = format!(
        "Give the place of {} back? Others may take it at once.",
        format::cut(vm, 60)
    );
    html! {
        form.bar action=(of_cluster(cluster, &["reservations"])) method="post" {
            input type="hidden" name="vm" value=(vm);
            input type="hidden" name="host" value=(host);
            input type="hidden" name="back" value=(back);
            button.btn.quiet type="submit" name="deed" value="confirm" { "Confirm" }
            button.btn.quiet type="submit" name="deed" value="renew" { "Keep longer" }
            (parts::sure_button("quiet risk", "cancel", "Give back", &sure))
        }
    }
}

/// A place is confirmed, kept for longer or given back.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let vm = form::value(&sent, "vm").unwrap_or_default();
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let of_vm = format!("{api}/reservations/{}", segment(vm));
    let deed = form::value(&sent, "deed");
    let told = match deed {
        Some("confirm") => {
            // On the host that the page has shown; on another one it is a conflict.
            let vms = json!({"vms": [vm], "host": form::value(&sent, "host")});
            ask.send("POST", &format!("{api}/confirm"), Sent::Json(&vms))
                .await?;
            "is confirmed"
        }
        Some("renew") => {
            ask.send("POST", &format!("{of_vm}/renew"), Sent::Nothing)
                .await?;
            "is renewed"
        }
        Some("cancel") => {
            ask.send("DELETE", &of_vm, Sent::Nothing).await?;
            "is cancelled"
        }
        _ => {
            let wrong = "\"deed\" must be confirm, renew or cancel";
            return Err(Problem::new(Code::InvalidParameter, wrong));
        }
    };
    let is_there = match deed {
        Some("cancel") => ask
            .get_if(&format!("{api}/vms/{}", segment(vm)))
            .await
            .is_some(),
        _ => true,
    };
    let parts: &[&str] = match form::value(&sent, "back") {
        Some("vm") if is_there => &["vms", vm],
        _ => &["reservations"],
    };
    let told = format!("the reservation of {} {told}", cut(vm, 80));
    told::done(&ask, &of_cluster(&cluster, parts), &told)
}
