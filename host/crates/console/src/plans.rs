//! Plans of moves: those that are there, and making one.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::{self, Moment, cut, things};
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, ago, button, empty, host_link, state, vm_link};
use crate::told;
use crate::url::{Pairs, of_cluster, segment};
use crate::value::{count, items, text, texts};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// The list.
pub(crate) async fn list(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let path = format!("/v1/clusters/{}/plans", segment(&cluster));
    let mut plans = ask.list(&path, 1000).await?;
    plans.reverse();
    let open: usize = plans.iter().map(waiting).filter(|waits| *waits > 0).count();
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], "Plans"))
                h1 { @match open {
                    0 => "No plan waits for you",
                    _ => { (things(open, "plan waits", "plans wait")) " for you" }
                } }
                p { "A plan says which VMs move where, and why. Nothing is moved before somebody approves it." }
            }
            div.acts { (make(&ask, &cluster)) }
        }
        section.panel aria-label="Plans" {
            @if plans.is_empty() {
                div.in { (empty("No plan yet", html! {
                    "A plan first puts right what is wrong (VMs on hosts that are not up, broken hard groups), then lowers the policy's cost."
                })) }
            } @else {
                div.scroll { table {
                    caption.vh { "Plans of " (cluster) ", the newest first" }
                    thead { tr {
                        th.num scope="col" { "Plan" } th scope="col" { "State" } th scope="col" { "For" }
                        th.num scope="col" { "Moves" } th scope="col" { "How far" } th scope="col" { "Made" }
                    } }
                    tbody { @for plan in &plans { (row(&cluster, plan)) } }
                } }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("plans", Some(&cluster), &[])))) }
    };
    let page = Page {
        title: format!("Plans of {cluster}"),
        area: Area::Plans,
        cluster: Some(&cluster),
        main,
        live: "plan,restart,vm-moved,vm-confirmed,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}

/// Moves of a plan that nobody has approved.
pub(crate) fn waiting(plan: &Value) -> usize {
    match plan["cancelled"] == true {
        true => 0,
        false => count(&plan["counted"], "planned") + count(&plan["counted"], "expired"),
    }
}

fn make(ask: &Ask, cluster: &str) -> Markup {
    html! {
        form action=(of_cluster(cluster, &["plans"])) method="post" {
            input type="hidden" name="deed" value="plan";
            (button(ask, Permission::Operate, Some(cluster), "main", "Make a plan"))
        }
    }
}

fn row(cluster: &str, plan: &Value) -> Markup {
    let number = plan["number"].as_u64().unwrap_or_default().to_string();
    let counted = &plan["counted"];
    let moves = items(plan, "moves").len();
    html! {
        tr {
            th.row.num scope="row" { a href=(of_cluster(cluster, &["plans", &number])) { (number) } }
            td { @match (plan["cancelled"] == true, waiting(plan), count(counted, "begun")) {
                (true, ..) => (state("off", "idle", "stopped")),
                (_, 0, 0) => (state("ok", "ok", "done")),
                (_, 0, _) => (state("acc", "run", "under way")),
                _ => (state("warn", "pend", "waits for you")),
            } }
            td { (purpose(plan)) }
            td.num { (format::len(moves)) }
            td { (progress(plan)) }
            td { (cut(text(plan, "by"), 40)) @if let Some(at) = Moment::of(&plan["now"]) { " " (ago(at)) } }
        }
    }
}

/// What a plan was made for.
pub(crate) fn purpose(plan: &Value) -> String {
    match text(plan, "origin") {
        "evacuation" => format!("to empty {}", cut(&texts(plan, "hosts").join(", "), 80)),
        _ => "balance".to_owned(),
    }
}

/// A piece for each move, in the order of the plan.
pub(crate) fn progress(plan: &Value) -> Markup {
    let counted = &plan["counted"];
    let words = [
        ("confirmed", "done"),
        ("begun", "under way"),
        ("planned", "wait"),
        ("expired", "expired"),
        ("cancelled", "given up"),
        ("stale", "stale"),
    ];
    let told: Vec<String> = words
        .iter()
        .filter(|(name, _)| count(counted, name) > 0)
        .map(|(name, word)| format!("{} {word}", count(counted, name)))
        .collect();
    html! {
        span.prog role="img" aria-label=(if told.is_empty() { "no moves".to_owned() } else { told.join(", ") }) {
            @for step in items(plan, "moves").iter().take(60) {
                i class=(match text(step, "state") {
                    "confirmed" => "done", "begun" => "run", "planned" | "expired" => "wait", _ => "gone",
                }) {}
            }
        }
    }
}

/// Make a plan, or one that empties a host.
pub(crate) async fn make_one(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let hosts: Vec<&str> = form::values(&sent, "host")
        .filter(|host| !host.is_empty())
        .collect();
    let made = match form::value(&sent, "deed") {
        Some("plan") => {
            let wanted = bounded(json!({}), &sent, &["moves", "max-in-flight"])?;
            ask.send("POST", &format!("{api}/plans"), Sent::Json(&wanted))
                .await?
        }
        Some("evacuate") => {
            let wanted = bounded(json!({"hosts": hosts}), &sent, &["max-in-flight"])?;
            ask.send("POST", &format!("{api}/evacuate"), Sent::Json(&wanted))
                .await?
        }
        _ => {
            let wrong = "\"deed\" must be plan or evacuate";
            return Err(Problem::new(Code::InvalidParameter, wrong));
        }
    };
    let number = made.body["number"].as_u64().unwrap_or_default();
    let page = of_cluster(&cluster, &["plans", &number.to_string()]);
    told::done(&ask, &page, &format!("plan {number} is made"))
}

/// What is wanted, within the bounds that the form names.
fn bounded(mut wanted: Value, sent: &Pairs, names: &[&str]) -> Result<Value, Problem> {
    for name in names {
        if let Some(most) = form::value(sent, name).filter(|most| !most.is_empty()) {
            let most: u64 = most.parse().map_err(|_| {
                let wrong = format!("\"{name}\" must be a whole number");
                Problem::new(Code::InvalidParameter, wrong)
            })?;
            wanted[*name] = json!(most);
        }
    }
    Ok(wanted)
}

/// VMs of a plan that should move and cannot.
pub(crate) fn stuck(plan: &Value) -> Markup {
    let stuck = items(plan, "stuck");
    if stuck.is_empty() {
        return html! {};
    }
    html! {
        section.panel aria-labelledby="stuck" {
            header { h2 id="stuck" { (things(stuck.len(), "VM cannot go", "VMs cannot go")) } }
            div.scroll { table {
                thead { tr { th scope="col" { "VM" } th scope="col" { "Runs on" } th scope="col" { "Should go" } th scope="col" { "Why it cannot" } } }
                tbody { @for vm in stuck.iter().take(200) { tr.tall {
                    th.row.mono scope="row" { (cut(text(vm, "vm"), 60)) } td.mono { (cut(text(vm, "from"), 60)) }
                    td { (sentence(&cut(text(vm, "reason"), 160))) } td { (sentence(&cut(text(vm, "why"), 240))) }
                } } }
            } }
        }
    }
}

/// Places that were reserved already on the hosts that a plan empties, or elsewhere for VMs that run
/// there. No move of the plan is about them.
pub(crate) fn reserved(cluster: &str, plan: &Value) -> Markup {
    let reserved = items(plan, "reserved");
    if reserved.is_empty() {
        return html! {};
    }
    html! {
        section.panel aria-labelledby="reserved" {
            header { h2 id="reserved" { (things(reserved.len(), "place is reserved already", "places are reserved already")) }
                span.small.dim { "As the moves were planned. They stay until they are confirmed, given back or run out." } }
            div.scroll { table {
                thead { tr { th scope="col" { "VM" } th scope="col" { "Place" } th scope="col" { "Runs on" } th scope="col" { "Runs out" } } }
                tbody { @for place in reserved.iter().take(200) { tr {
                    th.row scope="row" { (vm_link(cluster, text(place, "vm"))) }
                    td { (host_link(cluster, place["host"].as_str())) }
                    td { @match place["from"].as_str() { Some(from) => (host_link(cluster, Some(from))), None => span.dim { "nothing yet" } } }
                    td.nowrap { @match Moment::of(&place["expires"]) { Some(expires) => (ago(expires)), None => span.dim { "not by itself" } } }
                } } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_is_made_again_has_the_bounds_of_the_first() {
        let sent = |fields: &[(&str, &str)]| -> Pairs {
            let pairs = fields.iter();
            pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let names = ["moves", "max-in-flight"];
        let wanted = bounded(
            json!({}),
            &sent(&[("moves", "12"), ("max-in-flight", "2")]),
            &names,
        );
        assert_eq!(wanted.unwrap(), json!({"moves": 12, "max-in-flight": 2}));
        assert_eq!(bounded(json!({}), &sent(&[]), &names).unwrap(), json!({}));
        assert!(bounded(json!({}), &sent(&[("moves", "many")]), &names).is_err());
    }
}
