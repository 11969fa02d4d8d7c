//! A host is put into maintenance, and back into service: first what would go where, then the
//! deed.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::cut;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, barred, button, note};
use crate::questions;
use crate::standing::words;
use crate::told;
use crate::url::{of_cluster, segment};
use crate::value::text;
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Changes of a host that may come between reading it and changing it.
const TRIES: usize = 4;

/// What would become of the VMs of a host, with the buttons that change its state.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/hosts/{}", segment(&id));
    let host = ask.get(&path).await?;
    let state = text(&host, "state");
    let wanted = json!({"hosts": [id]});
    let dry = format!("{api}/evacuate?dry-run=true");
    let emptied = ask.send("POST", &dry, Sent::Json(&wanted)).await;
    let is_in = state == "maintenance";
    let to = next(state);
    let main = html! {
        div.head { div {
            (crumbs(&[
                ("Overview", "/".to_owned()),
                (&cluster, of_cluster(&cluster, &[])),
                (&id, of_cluster(&cluster, &["hosts", &id])),
            ], "Maintenance"))
            h1 { @if is_in { (cut(&id, 80)) " is in maintenance" } @else { "Put " (cut(&id, 80)) " into maintenance?" } }
            p { @if is_in { "No new VM goes to it until it is back in service." }
                @else { "No new VM goes to it from then on. The VMs on it stay there until somebody moves them, and you can take it back at once." } }
        } }
        @if matches!(state, "down" | "error") { (note("warn", html! {
            "It " (words(state)) " now. In maintenance its VMs count as running there, so the server restarts none of them by itself."
        })) }
        section.panel { form.in.bar action=(of_cluster(&cluster, &["hosts", &id, "state"])) method="post" {
            input type="hidden" name="from" value=(state);
            @match (ask.may(Permission::Operate, Some(&cluster)), is_in) {
                (false, _) => (barred(&ask, Permission::Operate, &deed(to))),
                (true, true) => {
                    button.btn.main type="submit" name="state" value="up" { (deed("up")) }
                    button.btn type="submit" name="state" value=(PLANNED) { "Plan to empty it" }
                }
                (true, false) => {
                    button.btn.main type="submit" name="state" value="maintenance" { (deed("maintenance")) }
                    button.btn type="submit" name="state" value=(PLANNED) { "Put into maintenance and plan the moves" }
                }
            }
            p.small.soft { "Nothing is moved before somebody approves the plan. Whatever reports the hosts of this cluster may report another state later." }
        } }
        h2 { "What would go where" }
        @match &emptied {
            Ok(answer) => (questions::maintenance(None, &cluster, &answer.body)),
            Err(problem) => (note("bad", html! { (sentence(problem.detail())) })),
        }
        div.acts { (parts::copies(&parts::curl("POST", &dry, Some(&wanted.to_string())), Some(&parts::command(&["evacuate", &id, "--cluster", &cluster, "--dry-run"])))) }
    };
    let page = Page {
        title: format!("Maintenance of {id}"),
        area: Area::Hosts,
        cluster: Some(&cluster),
        main,
        live: "vm,host,inventory,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}

/// The word of a form that wants the moves planned as well.
const PLANNED: &str = "maintenance-and-plan";

/// What a button says that brings a host into a state.
fn deed(state: &str) -> String {
    match state {
        "up" => "Take back into service".to_owned(),
        _ => "Put into maintenance".to_owned(),
    }
}

/// What a host in this state can be brought into: a link to the question, or the button that takes it
/// back into service.
pub(crate) fn way(ask: &Ask, cluster: &str, (id, state): (&str, &str), class: &str) -> Markup {
    let page = of_cluster(cluster, &["hosts", id, "maintenance"]);
    if !ask.may(Permission::Operate, Some(cluster)) {
        return barred(ask, Permission::Operate, &deed(next(state)));
    }
    html! { @match state {
        "maintenance" => form action=(of_cluster(cluster, &["hosts", id, "state"])) method="post" {
            input type="hidden" name="from" value=(state);
            input type="hidden" name="state" value="up";
            (button(ask, Permission::Operate, Some(cluster), class, &deed("up")))
        },
        _ => a class={ "btn " (class) } href=(page) { (deed("maintenance")) " …" },
    } }
}

fn next(state: &str) -> &'static str {
    match state {
        "maintenance" => "up",
        _ => "maintenance",
    }
}

/// Change the state of a host, if it is still as the page showed it.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let wanted = form::value(&sent, "state").unwrap_or_default();
    let from = form::value(&sent, "from").unwrap_or_default();
    let (state, is_planned) = match wanted {
        "up" | "maintenance" => (wanted, false),
        PLANNED => ("maintenance", true),
        _ => {
            let wrong = format!("\"state\" must be up, maintenance or {PLANNED}");
            return Err(Problem::new(Code::InvalidParameter, wrong));
        }
    };
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/hosts/{}", segment(&id));
    put(&ask, &path, (&id, from, state)).await?;
    if !is_planned {
        let told = match state {
            "up" => format!("host {} takes VMs again", cut(&id, 80)),
            _ => format!(
                "host {} is in maintenance: it takes no more VMs",
                cut(&id, 80)
            ),
        };
        return told::done(&ask, &of_cluster(&cluster, &["hosts", &id]), &told);
    }
    let hosts = json!({"hosts": [id]});
    let evacuate = format!("{api}/evacuate");
    let plan = ask.send("POST", &evacuate, Sent::Json(&hosts)).await?;
    let number = plan.body["number"].as_u64().unwrap_or_default();
    let told = format!(
        "host {} is in maintenance, and plan {number} is made to empty it",
        cut(&id, 80)
    );
    let page = of_cluster(&cluster, &["plans", &number.to_string()]);
    told::done(&ask, &page, &told)
}

/// The state is changed only from the one that was seen: a host that has gone down meanwhile is not
/// said to be up. Other changes of the host are no reason to ask again.
async fn put(ask: &Ask, path: &str, (id, from, state): (&str, &str, &str)) -> Result<(), Problem> {
    let mut tries = 0;
    loop {
        let (host, tag) = ask.get_tagged(path).await?;
        let is = text(&host, "state");
        if is == state {
            return Ok(());
        }
        if is != from {
            let told = format!(
                "host {} {} by now, which was not so when the page was shown: look at it again",
                cut(id, 80),
                words(is)
            );
            return Err(Problem::new(Code::RevisionChanged, told));
        }
        let change: Value = json!({"state": state});
        match ask.change(("PATCH", path), &tag, &change).await {
            Ok(_) => return Ok(()),
            Err(problem) if problem.code() == Code::RevisionChanged && tries < TRIES => tries += 1,
            Err(problem) => return Err(problem),
        }
    }
}
