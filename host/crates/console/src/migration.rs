//! A VM is moved: first where it would go and why, then the deed. And why it would not go to a
//! host, on its own page.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::{cost, cut, things};
use crate::overview::needs::main_reason;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, barred, host_link, note};
use crate::questions;
use crate::reservations;
use crate::standing::words;
use crate::told;
use crate::url::{self, of_cluster, segment};
use crate::value::{self, count, items, text, texts};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// What can be asked and done on the page of a VM.
pub(crate) fn ways(ask: &Ask, cluster: &str, id: &str, vm: &Value) -> Markup {
    let is_placed = vm["host"].is_string();
    html! {
        form.bar method="get" action=(of_cluster(cluster, &["vms", id])) {
            label.lab { "Why not on" input.field name="why-not" size="10" required placeholder="Host"
                value=(ask.param("why-not").unwrap_or_default()); }
            button.btn type="submit" { "Ask" }
        }
        @if is_placed && !vm["reserved"].is_object() {
            @match ask.may(Permission::Operate, Some(cluster)) {
                true => a.btn href=(of_cluster(cluster, &["vms", id, "migrate"])) { "Migrate …" },
                false => (barred(ask, Permission::Operate, "Migrate")),
            }
        }
        @if vm["reserved"].is_object() {
            (reservations::acts(ask, cluster, (id, text(&vm["reserved"], "host")), "vm"))
        }
    }
}

/// Why a VM would not go to the host that its page is asked about; nothing if it is asked about none.
pub(crate) async fn why_not(ask: &Ask, cluster: &str, id: &str) -> Markup {
    let Some(host) = ask.param("why-not") else {
        return html! {};
    };
    let query = url::query([("host", Some(host))]);
    let path = format!("/v1/clusters/{}/why?{query}", segment(cluster));
    let wanted = json!({"id": id});
    html! {
        h2 { "Why not on " span.mono { (cut(host, 60)) } "?" }
        @match ask.send("POST", &path, Sent::Json(&wanted)).await {
            Ok(answer) => (questions::why(cluster, &answer.body)),
            Err(problem) => (note("bad", html! { (sentence(problem.detail())) })),
        }
    }
}

/// What a form asks for: any host, or this one.
fn wanted(id: &str, host: &str) -> Value {
    match host {
        "" => json!({"id": id}),
        host => json!({"id": id, "allowed": [host]}),
    }
}

/// The command that asks for any host: one that is named would need a document.
fn command(cluster: &str, id: &str, host: &str) -> Option<String> {
    let words = ["migrate", "--vm", id, "--cluster", cluster, "--dry-run"];
    host.is_empty().then(|| parts::command(&words))
}

fn migrate(cluster: &str) -> String {
    format!("/v1/clusters/{}/migrate", segment(cluster))
}

/// Where a VM would go.
async fn tried(ask: &Ask, cluster: &str, id: &str, host: &str) -> Result<Value, Problem> {
    let path = format!("{}?dry-run=true", migrate(cluster));
    let sent = wanted(id, host);
    Ok(ask.send("POST", &path, Sent::Json(&sent)).await?.body)
}

/// Where a VM would go, and the button that moves it there.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let host = ask.param("host").unwrap_or_default().trim().to_owned();
    form_page(&ask, (&cluster, &id), &host, None).await
}

/// The page. `meanwhile` is the host that the page before named, if another one is chosen by now.
async fn form_page(
    ask: &Ask,
    (cluster, id): (&str, &str),
    host: &str,
    meanwhile: Option<&str>,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}/vms/{}", segment(cluster), segment(id));
    let vm = ask.get(&api).await?;
    let from = vm["host"].as_str();
    let state = match from {
        Some(from) => {
            let path = format!("/v1/clusters/{}/hosts/{}", segment(cluster), segment(from));
            let host = ask.get_if(&path).await.unwrap_or_default();
            text(&host, "state").to_owned()
        }
        None => String::new(),
    };
    let tried = tried(ask, cluster, id, host).await;
    let page = of_cluster(cluster, &["vms", id, "migrate"]);
    let main = html! {
        div.head { div {
            (crumbs(&[
                ("Overview", "/".to_owned()),
                (cluster, of_cluster(cluster, &[])),
                ("VMs", of_cluster(cluster, &["vms"])),
                (id, of_cluster(cluster, &["vms", id])),
            ], "Migrate"))
            h1 { "Migrate " (cut(id, 80)) "?" }
            p {
                @match from {
                    Some(from) => { "It is on " (host_link(cluster, Some(from)))
                        @if !matches!(state.as_str(), "up" | "") { ", which " (words(&state)) } ". " }
                    None => "It runs on no host. ",
                }
                "A place is reserved where it goes; it has moved once that is confirmed."
            }
        } }
        @if let Some(meanwhile) = meanwhile {
            (parts::alert("warn", html! {
                "Nothing was moved: " b { (cut(meanwhile, 60)) } " would not be chosen any more. This is what would be done now."
            }))
        }
        section.panel { form.in.bar method="get" action=(page) {
            label.lab { "Only to this host; empty: the policy chooses" input.field name="host" size="16" value=(host); }
            button.btn type="submit" { "Ask" }
        } }
        @match &tried {
            Ok(decision) => (answer(ask, (cluster, id), (host, decision))),
            Err(problem) => (note("bad", html! { (sentence(problem.detail())) })),
        }
        div.acts { (parts::copies(&parts::curl("POST", &format!("{}?dry-run=true", migrate(cluster)), Some(&wanted(id, host).to_string())), command(cluster, id, host).as_deref())) }
    };
    let status = match meanwhile {
        Some(_) => StatusCode::CONFLICT,
        None => StatusCode::OK,
    };
    let page = Page {
        title: format!("Migrate {id}"),
        area: Area::Vms,
        cluster: Some(cluster),
        main,
        // Each time it is asked, a decision is recorded, as of whatever is tried.
        live: "",
        script: None,
    };
    page::shown_as(ask, page, status).await
}

fn answer(ask: &Ask, (cluster, id): (&str, &str), (only, decision): (&str, &Value)) -> Markup {
    let Some(to) = decision["host"].as_str() else {
        let reason = main_reason(decision);
        return html! { section.panel aria-label="Answer" { div.in.stack {
            p.lead { b { "No host would take it" } @if !reason.is_empty() { ": " (reason) } "." }
            @if only.is_empty() { p.small.soft { "Ask its page why not on a host that you have in mind: it tells the smallest change that would let the VM through." } }
        } } };
    };
    let costs: Vec<String> = items(decision, "costs")
        .iter()
        .map(|it| cost(value::cost(it)))
        .collect();
    let removed = items(decision, "removed");
    let (considered, tied) = (count(decision, "considered"), count(decision, "tied"));
    let moves = items(decision, "moves").iter();
    let is_live = moves.into_iter().all(|it| it["live"] != false);
    html! { section.panel aria-label="Answer" { div.in.stack {
        p.lead { "It would go to " (host_link(cluster, Some(to)))
            @match (only.is_empty(), costs.is_empty()) {
                (false, _) => ", the only host that you allow.",
                (true, true) => ".",
                (true, false) => { ", where it costs least: " b { (costs.join(" / ")) } "." }
            } }
        @if tied > 1 { p.small.soft { (things(tied, "host costs", "hosts cost")) " the same; the rule for ties, or chance, decides between them." } }
        p.small.soft { "Units were asked about " (things(considered, "host", "hosts")) "."
            @if !removed.is_empty() { " Out of the question: " (questions::removed_by(removed)) "." } }
        @if let Some(number) = decision["number"].as_u64() { p.small.soft {
            "Every host with its reasons and costs: " a href=(of_cluster(cluster, &["decisions", &number.to_string()])) { "decision " (number) } ", which was only tried."
        } }
        @if !is_live { p { "It does not run while it is moved." } }
        @for warning in texts(decision, "warnings") { (note("warn", html! { (sentence(&cut(warning, 200))) })) }
        form.bar action=(of_cluster(cluster, &["vms", id, "migrate"])) method="post" {
            input type="hidden" name="host" value=(only);
            input type="hidden" name="to" value=(to);
            (parts::button(ask, Permission::Operate, Some(cluster), "main", &format!("Migrate it to {}", cut(to, 60))))
            a.btn href=(format!("{}?{}", of_cluster(cluster, &["vms", id]), url::query([("why-not", Some(to))]))) { "Why there?" }
        }
    } } }
}

/// Move it where the page said, if that is still where it would go.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let host = form::value(&sent, "host").unwrap_or_default();
    let to = form::value(&sent, "to").unwrap_or_default();
    if to.is_empty() {
        let wrong = "\"to\" must be the id of the host that the page has named";
        return Err(Problem::new(Code::InvalidParameter, wrong));
    }
    // Chance draws again each time: with it the host that was shown is the one that is allowed.
    let now = tried(&ask, &cluster, &id, host).await?;
    let is_drawn = now["shares"].is_array();
    let allowed = if is_drawn { to } else { host };
    if now["host"] != to && !is_drawn {
        return form_page(&ask, (&cluster, &id), host, Some(to)).await;
    }
    let wanted = wanted(&id, allowed);
    let path = migrate(&cluster);
    let moved = ask.send("POST", &path, Sent::Json(&wanted)).await?;
    if !moved.body["host"].is_string() {
        return form_page(&ask, (&cluster, &id), host, Some(to)).await;
    }
    let told = format!(
        "a place for {} is reserved on {}: it has moved once that is confirmed",
        cut(&id, 80),
        cut(text(&moved.body, "host"), 80)
    );
    told::done(&ask, &of_cluster(&cluster, &["vms", &id]), &told)
}
