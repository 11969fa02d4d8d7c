//! One plan: what moves, why, and what somebody has yet to approve.

mod before_after;
mod doomed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::{self, Moment, bytes, cores, cost, cut, things};
use crate::hosts::fleet;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, ago, barred, button, host_link, note, state, time, vm_link};
use crate::plans::{progress, purpose, reserved, stuck, waiting};
use crate::standing::NotUp;
use crate::told;
use crate::url::{of_cluster, segment};
use crate::value::{self, count, items, text, texts};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// VMs of a plan that are asked for one by one; of more, all of the cluster are listed.
const BY_ID: usize = 200;
/// VMs of a cluster that are listed.
const VMS: usize = 100_000;

/// A plan.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, number)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/plans/{}", segment(&number));
    let plan = ask.get(&path).await?;
    let events = format!("/v1/events/recent?kind=plan&cluster={}", segment(&cluster));
    let events = ask.list(&events, 1000).await.unwrap_or_default();
    let moves = items(&plan, "moves");
    let vms = Vms::read(&ask, &cluster, moves).await;
    let not_up = NotUp::read(&ask, &api).await;
    let doomed = match plan["cancelled"] == true {
        true => BTreeMap::new(),
        false => doomed::doomed(moves, &vms, &not_up),
    };
    let now = Now {
        vms,
        not_up,
        doomed,
    };
    let is_open = |step: &Value| matches!(text(step, "state"), "planned" | "expired" | "begun");
    let hosts = match plan["cancelled"] != true && moves.iter().any(is_open) {
        true => fleet::measured(&ask, &api).await.unwrap_or_default(),
        false => Vec::new(),
    };
    // Those that can still be made.
    let waits = waiting(&plan).saturating_sub(now.doomed.len());
    let main = html! {
        (head(&ask, (&cluster, &number), (&plan, &now), waits))
        @if plan["cancelled"] == true {
            (note("", html! { b { "This plan was stopped. " } "Nothing more of it is begun." }))
        }
        (counts(&plan, &now))
        div.cols.two-one.plan-cols {
            @if moves.is_empty() { (nothing(&plan)) } @else { (approval(&ask, (&cluster, &number), (&plan, &now), waits)) }
            div.stack {
                (before_after::section(&cluster, (moves, &now), &hosts))
                (about(&cluster, &plan, &number, &events))
            }
        }
        (stuck(&plan))
        (reserved(&cluster, &plan))
        div.acts { (parts::copies(
            &parts::curl("GET", &path, None),
            Some(&parts::command(&["get", "plans", &number, "--cluster", &cluster])),
        )) }
    };
    let page = Page {
        title: format!("Plan {number} of {cluster}"),
        area: Area::Plans,
        cluster: Some(&cluster),
        main,
        live: "plan,restart,vm-moved,vm-confirmed,vm-cancelled,reservation,host",
        script: None,
    };
    page::shown(&ask, page).await
}

fn head(
    ask: &Ask,
    (cluster, number): (&str, &str),
    (plan, now): (&Value, &Now),
    waits: usize,
) -> Markup {
    let moves = items(plan, "moves").len();
    let is_over = waiting(plan) == 0 && count(&plan["counted"], "begun") == 0;
    html! {
        div.head {
            div {
                (crumbs(&[
                    ("Overview", "/".to_owned()),
                    (cluster, of_cluster(cluster, &[])),
                    ("Plans", of_cluster(cluster, &["plans"])),
                ], number))
                h1 { "Plan " (number) ": " @match (moves, waits) {
                    (0, _) => "nothing to move",
                    (_, 0) => "no move waits for you",
                    (moves, waits) => { (waits) " of " (things(moves, "move waits", "moves wait")) " for you" }
                } }
                @if plan["cancelled"] == true { p { "The plan was stopped." } }
                @else if !is_over { p { "Nothing is moved before you approve it. Each move is held against the policy again as it begins." } }
            }
            div.acts {
                @if count(&plan["counted"], "stale") + now.doomed.len() > 0 { (again(ask, cluster, plan)) }
                @if plan["auto"] == true && !is_over { (wait(ask, cluster, number)) }
                @if !is_over && plan["cancelled"] != true { (stop(ask, cluster, number, plan)) }
            }
        }
    }
}

/// The form that makes a new plan for the same purpose: of this one, moves have become stale.
fn again(ask: &Ask, cluster: &str, plan: &Value) -> Markup {
    let is_evacuation = text(plan, "origin") == "evacuation";
    let deed = if is_evacuation { "evacuate" } else { "plan" };
    html! {
        form action=(of_cluster(cluster, &["plans"])) method="post" {
            input type="hidden" name="deed" value=(deed);
            // The bounds of this one: where it ends at that of moves, it has as many.
            @if plan["cut-short"] == true && !is_evacuation { input type="hidden" name="moves" value=(items(plan, "moves").len()); }
            @if let Some(most) = plan["max-in-flight"].as_u64() { input type="hidden" name="max-in-flight" value=(most); }
            @if is_evacuation { @for host in texts(plan, "hosts") { input type="hidden" name="host" value=(host); } }
            (button(ask, Permission::Operate, Some(cluster), "", "Plan again"))
        }
    }
}

/// The button that has a plan begin no more moves by itself. Moves that are begun go on.
fn wait(ask: &Ask, cluster: &str, number: &str) -> Markup {
    match ask.may(Permission::Operate, Some(cluster)) {
        true => html! {
            form action=(of_cluster(cluster, &["plans", number])) method="post" {
                button.btn type="submit" name="deed" value="wait" { "Begin no more by itself" }
            }
        },
        false => barred(ask, Permission::Operate, "Begin no more by itself"),
    }
}

fn stop(ask: &Ask, cluster: &str, number: &str, plan: &Value) -> Markup {
    let under_way = count(&plan["counted"], "begun");
    let sure = match under_way {
        0 => "Stop this plan? Its moves that wait are given up, and it cannot go on afterwards."
            .to_owned(),
        under_way => format!(
            "Stop this plan? {} under way: given up, too. It cannot go on afterwards.",
            things(under_way, "move is", "moves are")
        ),
    };
    match ask.may(Permission::Operate, Some(cluster)) {
        true => html! {
            form action=(of_cluster(cluster, &["plans", number])) method="post" {
                (parts::sure_button("risk", "cancel", "Stop the plan", &sure))
            }
        },
        false => barred(ask, Permission::Operate, "Stop the plan"),
    }
}

fn counts(plan: &Value, now: &Now) -> Markup {
    let doomed = now.doomed.len();
    let waits = waiting(plan).saturating_sub(doomed);
    let expired = count(&plan["counted"], "expired").min(waits);
    let counted = &plan["counted"];
    let of = |name: &str| count(counted, name);
    html! {
        div.stack {
            (progress(plan))
            div.bar.small {
                @if of("confirmed") > 0 { (state("ok", "ok", &format!("{} done", of("confirmed")))) }
                @if of("begun") > 0 { (state("acc", "run", &format!("{} under way", of("begun")))) }
                @if waits > expired { (state("off", "idle", &format!("{} for you to approve", waits - expired))) }
                @if expired > 0 { (state("warn", "warn", &format!("{expired} not confirmed in time"))) }
                @if doomed > 0 { (state("warn", "warn", &format!("{doomed} would not be begun as things are"))) }
                @if of("cancelled") > 0 { (state("off", "idle", &format!("{} given up", of("cancelled")))) }
                @if of("stale") > 0 { (state("warn", "stale", &format!("{} stale", of("stale")))) }
                @if let Some(at) = Moment::of(&plan["checked"]) { span.dim { "last found to hold " (ago(at)) } }
            }
        }
    }
}

fn nothing(plan: &Value) -> Markup {
    html! {
        section.panel { div.in.stack {
            p { b { "There is nothing to move." } }
            @for reason in texts(plan, "reasons") { p.soft { (sentence(&cut(reason, 300))) } }
        } }
    }
}

/// A VM of a plan as it is now.
#[derive(Debug, Clone, Default, PartialEq)]
struct Vm {
    host: Option<String>,
    /// In cores.
    cpu: Option<f64>,
    /// In bytes.
    memory: Option<f64>,
}

/// The VMs of a plan that are still known, by id.
#[derive(Debug, Default)]
struct Vms {
    known: BTreeMap<String, Vm>,
    /// Whether those that are not among them are gone: otherwise nobody could tell.
    is_whole: bool,
}

impl Vms {
    async fn read(ask: &Ask, cluster: &str, moves: &[Value]) -> Self {
        let api = format!("/v1/clusters/{}/vms", segment(cluster));
        let of = |vm: &Value| Vm {
            host: vm["host"].as_str().map(str::to_owned),
            cpu: vm["cpu"].as_f64(),
            memory: vm["memory"].as_f64(),
        };
        let ids: BTreeSet<&str> = moves.iter().map(|step| text(step, "vm")).collect();
        if ids.len() > BY_ID {
            let Ok(all) = ask.list(&api, VMS).await else {
                return Self::default();
            };
            let is_whole = all.len() < VMS;
            let all = all.iter().filter(|vm| ids.contains(text(vm, "id")));
            let known = all.map(|vm| (text(vm, "id").to_owned(), of(vm))).collect();
            return Self { known, is_whole };
        }
        let (mut known, mut is_whole) = (BTreeMap::new(), true);
        for id in ids {
            match ask.get(&format!("{api}/{}", segment(id))).await {
                Ok(vm) => drop(known.insert(id.to_owned(), of(&vm))),
                Err(problem) => is_whole &= problem.code() == Code::NotFound,
            }
        }
        Self { known, is_whole }
    }
}

/// What there is to be known of the moves of a plan as things are.
struct Now {
    vms: Vms,
    not_up: NotUp,
    /// Why moves that wait would not be begun, by their numbers.
    doomed: BTreeMap<usize, String>,
}

/// The moves, by reason, with a tick for each that waits.
fn approval(
    ask: &Ask,
    (cluster, number): (&str, &str),
    (plan, now): (&Value, &Now),
    waits: usize,
) -> Markup {
    let may = ask.may(Permission::Operate, Some(cluster));
    let mut groups: Vec<(String, Vec<&Value>)> = Vec::new();
    for step in items(plan, "moves") {
        let cause = cause(step);
        match groups.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, moves)) => moves.push(step),
            None => groups.push((cause, vec![step])),
        }
    }
    let is_open = waits > 0 && plan["cancelled"] != true;
    html! {
        form.panel action=(of_cluster(cluster, &["plans", number])) method="post" {
            header {
                @if is_open && may {
                    label.lab.with-script { input type="checkbox" data-all; "all that wait" }
                    span.dim.small.with-script.hide-s { span.kbd { "J" } " " span.kbd { "K" } " move, " span.kbd { "Space" } " ticks, "
                        span.kbd { "A" } " ticks all, " span.kbd { "Shift" } " " span.kbd { "Enter" } " approves" }
                } @else { h2 { "Moves" } }
            }
            div.scroll { table.cards.moves-of-plan {
                caption.vh { "Moves of plan " (number) }
                thead { tr {
                    th scope="col" { span.vh { "Approve" } } th.num scope="col" { "Step" } th scope="col" { "VM" }
                    th.num scope="col" { "CPU" } th.num scope="col" { "Memory" }
                    th scope="col" { "Move" } th scope="col" { "Why" } th.num scope="col" { "Gain" } th scope="col" { "State" }
                } }
                tbody { @for (cause, moves) in &groups {
                    tr.group { td colspan="9" { b { (cause) } " · " (things(moves.len(), "move", "moves")) } }
                    @for step in moves { (step_row(cluster, step, now, may && is_open)) }
                } }
            } }
            @if is_open {
                div.approve.sticky {
                    @if may {
                        label.lab { input type="checkbox" name="auto" value="true" checked[plan["auto"] == true];
                            "begin the next ones by themselves as these are confirmed" }
                        button.btn.main.wide-s type="submit" name="deed" value="begin"
                            data-counts="Approve and begin 1 move|Approve and begin # moves" { "Approve and begin the ticked moves" }
                    } @else { (barred(ask, Permission::Operate, "Approve and begin moves")) }
                }
            }
        }
    }
}

/// Why moves are made, in words for a group of them.
fn cause(step: &Value) -> String {
    match text(step, "cause") {
        "host-state" => format!("{} must be left", cut(text(step, "from"), 40)),
        "hard-group" => "Hard groups are broken".to_owned(),
        "over-committed" => "Hosts have promised more than they may".to_owned(),
        "evacuation" => "The host is to be emptied".to_owned(),
        "balance" => "The policy's balance".to_owned(),
        other => sentence(&cut(&other.replace('-', " "), 60))
            .trim_end_matches('.')
            .to_owned(),
    }
}

/// What a move gains: the cost where the VM is less that of where it goes, tier by tier. None: it must
/// leave its host whatever it costs there.
fn gain(step: &Value) -> Option<Vec<f64>> {
    let costs = |name: &str| -> Vec<f64> { items(step, name).iter().map(value::cost).collect() };
    step["cost-before"].is_array().then(|| {
        let (before, after) = (costs("cost-before"), costs("cost-after"));
        let pairs = before.into_iter().zip(after);
        // From one infinite cost to another nothing is gained.
        pairs
            .map(|(before, after)| if before == after { 0.0 } else { before - after })
            .collect()
    })
}

fn step_row(cluster: &str, step: &Value, now: &Now, may_tick: bool) -> Markup {
    let known = now.vms.known.get(text(step, "vm"));
    let (cpu, memory) = known.map_or((None, None), |vm| (vm.cpu, vm.memory));
    let not_up = &now.not_up;
    let written = |costs: &[f64]| {
        let costs = costs.iter().map(|one| cost(*one));
        costs.collect::<Vec<_>>().join(" / ")
    };
    let number = count(step, "step");
    let (vm, word) = (text(step, "vm"), text(step, "state"));
    let doomed = now.doomed.get(&number);
    let waits = matches!(word, "planned" | "expired") && doomed.is_none();
    let costs: Vec<f64> = items(step, "cost-after").iter().map(value::cost).collect();
    html! {
        tr.tall {
            td.tick { label { input type="checkbox" name="move" value=(number) aria-label={ "Move " (number) ": " (cut(vm, 60)) } disabled[!(waits && may_tick)]; } }
            td.num.dim.hide-s { (number) }
            td.nowrap { (vm_link(cluster, vm)) @if step["live"] == false { span.sub { (at_rest(step, not_up)) } } }
            td.num.nowrap data-l="CPU" { @match cpu { Some(cpu) => (cores(cpu)), None => span.dim { "–" } } }
            td.num.nowrap data-l="memory" { @match memory { Some(memory) => (bytes(memory)), None => span.dim { "–" } } }
            td.nowrap { (host_link(cluster, step["from"].as_str())) span.dim { " → " } (host_link(cluster, step["to"].as_str())) }
            td.words { (sentence(&cut(text(step, "reason"), 200)))
                @let together = texts(step, "together");
                @if !together.is_empty() { span.sub { "with " (cut(&together.join(", "), 80)) } } }
            td.num.nowrap data-l="gain" {
                @match gain(step) { Some(gain) => b { (written(&gain)) }, None => span.soft { "must leave" } }
                span.sub { "cost there " (written(&costs)) }
            }
            td.words { (step_state(word))
                @if let Some(why) = doomed {
                    span.sub { (state("warn", "warn", &format!("{why}: it would not be begun"))) }
                }
                span.sub {
                    @if let Some(since) = Moment::of(&step["since"]) { "since " (time(since)) }
                    @if let Some(by) = step["begun-by"].as_str() { " begun by " (cut(by, 40)) }
                    @if let Some(expires) = Moment::of(&step["expires"]) { "; place kept until " (time(expires)) }
                    @if let Some(why) = step["why"].as_str() { " " (sentence(&cut(why, 200))) }
                }
            }
        }
    }
}

fn step_state(word: &str) -> Markup {
    match word {
        "planned" => state("off", "idle", "Waits for you"),
        "begun" => state("acc", "run", "Under way"),
        "confirmed" => state("ok", "ok", "Done"),
        "expired" => state("warn", "warn", "Not confirmed in time"),
        "cancelled" => state("off", "idle", "Given up"),
        "stale" => state("warn", "stale", "Stale"),
        other => state("off", "idle", other),
    }
}

/// What the plan is, and who did what with it.
fn about(cluster: &str, plan: &Value, number: &str, events: &[Value]) -> Markup {
    let of_plan = events
        .iter()
        .filter(|event| event["plan"].as_u64().map(|it| it.to_string()).as_deref() == Some(number));
    let of_plan: Vec<&Value> = of_plan.collect();
    html! {
        section.panel aria-labelledby="about" {
            header { h2 id="about" { "What it is" } }
            div.in { dl.facts {
                dt { "Made for" } dd { (purpose(plan)) }
                dt { "Made by" } dd { (cut(text(plan, "by"), 40)) @if let Some(at) = Moment::of(&plan["now"]) { " " (ago(at)) } }
                dt { "At once" } dd { @match plan["max-in-flight"].as_u64() {
                    Some(most) => { (format::count(most)) " moves at most" } None => "any number of moves",
                } }
                dt { "Goes on" } dd { (if plan["auto"] == true { "by itself, as moves are confirmed" } else { "when somebody approves more" }) }
                @if plan["cut-short"] == true { dt { "More" } dd { "there may be more moves: the plan ends at its bound" } }
                @for found in items(plan, "notes").iter().take(20) { dt { "Found" } dd.small { (finding(cluster, found)) } }
            } }
        }
        @if !of_plan.is_empty() {
            section.panel aria-labelledby="who" {
                header { h2 id="who" { "Who did what" } }
                ul.list.in { @for event in of_plan { li.small {
                    b { (cut(text(event, "by"), 40)) } " " @if let Some(at) = Moment::of(&event["at"]) { (time(at)) } ": "
                    (parts::with_times(&sentence(&cut(text(event, "message"), 200))))
                } } }
            }
        }
    }
}

/// Why a VM does not run while it is moved.
fn at_rest(step: &Value, not_up: &NotUp) -> &'static str {
    match (not_up.has_failed(text(step, "from")), text(step, "cause")) {
        (true, _) => "is started on its new host: where it was nothing runs",
        // The host was not up as the plan was made, and is by now.
        (false, "host-state") => "does not run while it is moved",
        (false, _) => "is stopped to be moved",
    }
}

/// What was found while the plan was made, in sentences.
pub(crate) fn finding(cluster: &str, found: &Value) -> Markup {
    let reason = cut(text(found, "reason"), 300);
    html! { @match text(found, "kind") {
        "host-state" => {
            @let host = text(found, "host");
            (host_link(cluster, Some(host))) " "
            // What the server says completes "host ..."; units say whole sentences of their own.
            @if reason.starts_with("is ") { (sentence_end(&reason)) } @else { "should change: " (sentence_end(&reason)) }
            @match text(found, "state") {
                "maintenance" => { " Put it into "
                    a href=(of_cluster(cluster, &["hosts", host, "maintenance"])) { "maintenance" } " first." }
                "up" => " It should be brought up.",
                state => { " Its state should be " (cut(state, 40)) "." }
            }
        }
        "move" => {
            (vm_link(cluster, text(found, "vm"))) " should leave " (host_link(cluster, found["from"].as_str()))
            @let hosts = [texts(found, "accept"), texts(found, "among")].concat();
            @if !hosts.is_empty() { " for " (cut(&hosts.join(", "), 100)) } ": " (sentence_end(&reason))
        }
        "finding" => {
            (sentence(&reason))
            @let about: Vec<String> = items(found, "about").iter().map(place).collect();
            @if !about.is_empty() { " It is about " (cut(&about.join(", "), 200)) "." }
        }
        _ => (sentence(&reason)),
    } }
}

fn sentence_end(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

/// What a finding is about, a table and the id of a row: "host h1".
fn place(about: &Value) -> String {
    let part = |number: usize| about[number].as_str().unwrap_or_default();
    let table = match part(0) {
        "hosts" => "host",
        "vms" => "VM",
        "groups" => "group",
        other => other,
    };
    format!("{} {}", cut(table, 40), cut(part(1), 60))
}

/// Approve moves, let the plan wait for more of them to be approved, or stop it.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path((cluster, number)): Path<(String, String)>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let path = format!(
        "/v1/clusters/{}/plans/{}",
        segment(&cluster),
        segment(&number)
    );
    let told = match form::value(&sent, "deed") {
        Some("cancel") => {
            ask.send("POST", &format!("{path}/cancel"), Sent::Nothing)
                .await?;
            format!("plan {number} is cancelled")
        }
        Some("wait") => {
            let wanted = json!({"moves": [], "auto": false});
            ask.send("POST", &format!("{path}/begin"), Sent::Json(&wanted))
                .await?;
            format!("plan {number} begins no more moves by itself")
        }
        // Sent by a key, a form says of no button.
        Some("begin") | None => {
            let ticked: Result<Vec<usize>, _> =
                form::values(&sent, "move").map(str::parse).collect();
            let ticked = ticked.map_err(|_| {
                Problem::new(
                    Code::InvalidParameter,
                    "\"move\" must be the number of a step",
                )
            })?;
            if ticked.is_empty() {
                let wrong = "no move is ticked: tick those that are to begin";
                return Err(Problem::new(Code::Unprocessable, wrong));
            }
            let auto = form::value(&sent, "auto") == Some("true");
            let wanted = json!({"moves": ticked, "auto": auto});
            ask.send("POST", &format!("{path}/begin"), Sent::Json(&wanted))
                .await?;
            match ticked.len() {
                1 => format!("1 move of plan {number} is approved"),
                several => format!(
                    "{} moves of plan {number} are approved",
                    format::len(several)
                ),
            }
        }
        Some(_) => {
            let wrong = "\"deed\" must be begin, wait or cancel";
            return Err(Problem::new(Code::InvalidParameter, wrong));
        }
    };
    told::done(&ask, &of_cluster(&cluster, &["plans", &number]), &told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_gains_what_it_costs_less_there() {
        let step = json!({"cost-before": [3.0, null], "cost-after": [1.0, null]});
        assert_eq!(gain(&step), Some(vec![2.0, 0.0]));
        let step = json!({"cost-before": [null], "cost-after": [1.0]});
        assert_eq!(gain(&step), Some(vec![f64::INFINITY]));
        assert_eq!(gain(&json!({"cost-after": [1.0]})), None);
    }

    #[test]
    fn what_was_found_is_told_in_sentences() {
        let told = |found: Value| {
            let markup = finding("c", &found).into_string();
            let mut text = String::new();
            let mut is_tag = false;
            for letter in markup.chars() {
                match letter {
                    '<' => is_tag = true,
                    '>' => is_tag = false,
                    letter if !is_tag => text.push(letter),
                    _ => {}
                }
            }
            text
        };
        for (found, expected) in [
            (
                json!({"kind": "host-state", "host": "h1", "state": "maintenance",
                    "reason": "is up, so that new VMs may be placed on it while it is emptied"}),
                "h1 is up, so that new VMs may be placed on it while it is emptied. \
                 Put it into maintenance first.",
            ),
            (
                json!({"kind": "host-state", "host": "h1", "state": "up", "reason": "more room is needed"}),
                "h1 should change: more room is needed. It should be brought up.",
            ),
            (
                json!({"kind": "move", "vm": "v", "from": "h1", "accept": ["h2"], "among": [], "reason": "it is crowded"}),
                "v should leave h1 for h2: it is crowded.",
            ),
            (
                json!({"kind": "finding", "about": [["hosts", "h1"], ["groups", "g"]], "reason": "nothing fits"}),
                "Nothing fits. It is about host h1, group g.",
            ),
        ] {
            assert_eq!(told(found), expected);
        }
    }
}
