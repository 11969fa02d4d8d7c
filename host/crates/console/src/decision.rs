//! One decision: why there, why not there.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console, Sent};
use crate::format::{self, Moment, bytes, cores, cost, cut, percent, things};
use crate::matrix::{self, Matrix, Then};
use crate::overview::needs::hosts_that;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, ago, host_link, note, state, vm_link};
use crate::standing::{NotUp, words};
use crate::url::{self, of_cluster, segment};
use crate::value::{count, items, text, texts};
use crate::why;
use placewright_http::Problem;

/// VMs of a decision that are named.
const VMS: usize = 3;

/// A decision.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, number)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/decisions/{}", segment(&number));
    let recorded = ask.get(&path).await?;
    let explained = ask.get(&format!("{path}/explanation")).await;
    let replayed = ask
        .send("POST", &format!("{path}/replay"), Sent::Nothing)
        .await
        .ok();
    let decision = &recorded["decision"];
    let matrix = explained.as_ref().ok();
    let matrix = matrix.map(|explained| Matrix::of_decision(explained, decision));
    let same = match matrix.as_ref().is_some_and(|it| it.then.is_some()) {
        // Units that do not answer the same twice may have done so for that.
        true => Some(false),
        false => replayed.and_then(|answer| answer.body["same"].as_bool()),
    };
    let asked = ask.param("host");
    let host = matrix.as_ref().and_then(|matrix| why::host(matrix, asked));
    let told = match (&matrix, host) {
        (Some(_), Some(host)) => {
            let of = url::query([("host", Some(host))]);
            ask.get_if(&format!("{path}/why?{of}")).await
        }
        _ => None,
    };
    let vms = known_vms(&ask, &api, decision).await;
    let is_tried = recorded["request"]["dry-run"] == true;
    let place = match vms.first() {
        Some((_, vm)) if decision["reserved"] == true && !is_tried => {
            let host = vm.as_ref().map_or("", |vm| text(vm, "host"));
            let host = ask.get_if(&format!("{api}/hosts/{}", segment(host))).await;
            let not_up = NotUp::of_host(&host.unwrap_or_default());
            Some(place(&cluster, (vm.as_ref(), &not_up), &number, decision))
        }
        _ => None,
    };
    let policy = policy_link(&ask, explained.as_ref().ok()).await;
    let is_refused = decision["refused-by-quota"].is_object();
    let main = html! {
        (head(&cluster, &number, (decision, is_tried), matrix.as_ref()))
        (facts((&cluster, &vms), &recorded, policy, same, place))
        @if is_refused && matrix.is_some() { p.small.soft { "Without the quota this would have become of the hosts:" } }
        @match &matrix {
            Some(matrix) => {
                div.cols.two-one {
                    (matrix::panel(&ask, &cluster, matrix))
                    div.stack { (why::panel(&ask, (&cluster, &recorded), matrix, (host, told.as_ref()))) }
                }
            }
            None => {
                @if let Err(problem) = &explained { (note("warn", html! {
                    b { "This decision cannot be made again. " } (sentence(problem.detail()))
                    " What was recorded then:"
                })) }
                (recorded_counts(decision))
            }
        }
        (chances(&cluster, decision))
        div.acts { (copies(&cluster, &number, (&path, host))) }
    };
    let page = Page {
        title: format!("Decision {number} of {cluster}"),
        area: Area::Decisions,
        cluster: Some(&cluster),
        main,
        live: "",
        script: None,
    };
    page::shown(&ask, page).await
}

/// How to ask the same elsewhere: about one host, if the page is about one.
fn copies(cluster: &str, number: &str, (path, host): (&str, Option<&str>)) -> Markup {
    let mut words = vec!["explain", number, "--cluster", cluster];
    let of = match host {
        Some(host) => {
            words.extend(["--host", host]);
            format!("{path}/why?{}", url::query([("host", Some(host))]))
        }
        None => format!("{path}/explanation"),
    };
    parts::copies(
        &parts::curl("GET", &of, None),
        Some(&parts::command(&words)),
    )
}

/// The first VMs of a decision, each as it is known now, if it is.
async fn known_vms<'d>(ask: &Ask, api: &str, decision: &'d Value) -> Vec<(&'d str, Option<Value>)> {
    let mut vms = Vec::new();
    for vm in texts(decision, "vms").into_iter().take(VMS) {
        vms.push((vm, ask.get_if(&format!("{api}/vms/{}", segment(vm))).await));
    }
    vms
}

fn head(
    cluster: &str,
    number: &str,
    (decision, is_tried): (&Value, bool),
    matrix: Option<&Matrix>,
) -> Markup {
    let vms = texts(decision, "vms");
    let host = decision["host"].as_str();
    html! {
        div.head { div {
            (crumbs(&[
                ("Overview", "/".to_owned()),
                (cluster, of_cluster(cluster, &[])),
                ("Decisions", of_cluster(cluster, &["decisions"])),
            ], number))
            h1 {
                @for (place, vm) in vms.iter().take(VMS).enumerate() { @if place > 0 { ", " } (cut(vm, 60)) }
                @if vms.len() > 3 { " and " (vms.len() - 3) " more" }
                " → " (host.map_or("no host".to_owned(), |host| cut(host, 60)))
            }
            p.lead { @if is_tried { b { "Only tried: nothing was reserved." } " " } (verdict(decision, matrix)) }
        } }
    }
}

/// Why there, in a sentence.
fn verdict(decision: &Value, matrix: Option<&Matrix>) -> Markup {
    if let Some(because) = decision["refused-by-quota"]["because"].as_str() {
        return html! { b { "No host was looked for. " } (sentence(&cut(because, 300))) };
    }
    if let Some((matrix, Then(then))) = matrix.and_then(|it| Some((it, it.then?))) {
        return made_again(matrix, then);
    }
    let Some(host) = decision["host"].as_str() else {
        let removed = items(decision, "removed");
        return html! {
            b { "No host. " }
            @if removed.is_empty() { "The cluster had none." }
            @else {
                @for (place, by) in removed.iter().enumerate() {
                    @if place > 0 { "; " }
                    (hosts_that(count(by, "hosts"), text(by, "reason")))
                }
                "."
            }
        };
    };
    let Some(matrix) = matrix else {
        return html! { b { (cut(host, 60)) " was chosen." } };
    };
    let (left, ..) = matrix.counts();
    let next = matrix.next_best();
    html! {
        b {
            @if matrix.is_by_chance() { (cut(host, 60)) " was drawn, "
                @match why::drawn(decision) {
                    Some(drawn) => { (drawn) "." }
                    None => { "from " (things(left, "candidate", "candidates")) "." }
                } }
            @else if let Some(least) = matrix.costs_of(host) {
                (cut(host, 60)) " costs least of " (things(left, "host", "hosts")) ": " (least) "."
            } @else if left == 0 { (cut(host, 60)) " was taken as the request forces it: no unit was asked." }
            @else { (cut(host, 60)) " was chosen of " (things(left, "host", "hosts")) "." }
        }
        @if let (false, Some((next, by))) = (matrix.is_by_chance(), next) {
            " " (cut(next, 60)) " came next, "
            @if by == 0.0 { "at the same cost." } @else { (cost(by)) " dearer." }
        }
        " " (others(matrix))
    }
}

/// What would become now of a decision that comes out differently, and what became of it then.
fn made_again(matrix: &Matrix, then: Option<&str>) -> Markup {
    let costs = |host: &str| matrix.costs_of(host).filter(|_| !matrix.is_by_chance());
    html! {
        b { @match matrix.chosen().map(|row| row.host) {
            Some(now) => { "Made again now it would go to " (cut(now, 60)) @if let Some(costs) = costs(now) { ", which costs " (costs) } "." }
            None => "Made again now it would find no host.",
        } }
        " "
        @match then {
            Some(then) => { "It went to " (cut(then, 60))
                @if let Some(costs) = costs(then) { ", which costs " (costs) " now" }
                @else if matrix.removed.iter().any(|row| row.host == then) { ", which is removed now" }
                "." }
            None => "It found no host.",
        }
        " " (others(matrix)) " The table shows how it comes out now."
    }
}

/// How many hosts were no candidates.
fn others(matrix: &Matrix) -> String {
    let (_, removed, unasked) = matrix.counts();
    let (removed, unasked) = (format::len(removed), format::len(unasked));
    format!("{removed} removed, {unasked} not considered.")
}

/// What has become of the place that a decision reserved: `vm` is the first of its VMs as it is known
/// now, if it still is.
fn place(
    cluster: &str,
    (vm, not_up): (Option<&Value>, &NotUp),
    number: &str,
    decision: &Value,
) -> Markup {
    // It was never confirmed, or it ran and is no more.
    let Some(vm) = vm else {
        return html! { (state("off", "idle", "The VM is not known any more")) };
    };
    let by = vm["reserved"]["decision"].as_u64().map(|it| it.to_string());
    let is_held = vm["reserved"].is_object()
        && by.as_deref().is_none_or(|by| by == number)
        && vm["reserved"]["host"] == decision["host"];
    html! {
        @if is_held {
            (state("acc", "pend", "A place is reserved"))
            @if let Some(expires) = Moment::of(&vm["reserved"]["expires"]) { span { "it ends " (ago(expires)) " unless it is confirmed" } }
        } @else if vm["host"].is_string() && vm["host"] == decision["host"] {
            @let host = text(vm, "host");
            @match not_up.state(host).filter(|_| not_up.has_failed(host)) {
                None => (state("ok", "ok", "It runs there")),
                Some(word) => (state("bad", "bad", &format!("Its host {}", words(word)))),
            }
        } @else if vm["host"].is_string() {
            (state("off", "idle", "It runs elsewhere now")) span { "on " (host_link(cluster, vm["host"].as_str())) }
        } @else {
            (state("off", "idle", "The place it reserved is free again"))
        }
    }
}

/// The policy that made a decision: a link, unless it is gone.
async fn policy_link(ask: &Ask, explained: Option<&Value>) -> Option<Markup> {
    let policy = text(explained?, "policy");
    let page = format!("/policies/{}", segment(policy));
    let is_there = ask.get_if(&format!("/v1{page}")).await.is_some();
    Some(html! {
        @if is_there { a href=(page) { (policy) } } @else { (policy) }
    })
}

fn facts(
    (cluster, known): (&str, &[(&str, Option<Value>)]),
    recorded: &Value,
    policy: Option<Markup>,
    same: Option<bool>,
    place: Option<Markup>,
) -> Markup {
    let decision = &recorded["decision"];
    let vms = items(&recorded["request"], "vms");
    let sum = |name: &str| vms.iter().filter_map(|vm| vm[name].as_f64()).sum::<f64>();
    let (cpu, memory) = (sum("cpu"), sum("memory"));
    html! {
        div.bar.small.soft {
            @if let Some(place) = place { (place) }
            @if cpu > 0.0 || memory > 0.0 { span { (cores(cpu)) ", " (bytes(memory)) } }
            @for (id, vm) in known { @match vm {
                Some(_) => (vm_link(cluster, id)),
                None => span.mono { (cut(id, 60)) },
            } }
            span { "by " b { (cut(text(recorded, "by"), 40)) }
                @if let Some(at) = Moment::of(&recorded["at"]) { " " (ago(at)) } }
            @if let Some(policy) = policy { span { "policy " (policy) } }
            @match same {
                Some(true) => (state("ok", "ok", "Comes out the same again")),
                Some(false) => (state("bad", "warn", "Comes out differently now")),
                None => {}
            }
            @for warning in texts(decision, "warnings") { span.warn { (sentence(&cut(warning, 160))) } }
        }
    }
}

/// What is left of a decision that cannot be made again.
fn recorded_counts(decision: &Value) -> Markup {
    html! {
        section.panel aria-label="What was recorded" {
            div.scroll { table {
                thead { tr { th scope="col" { "Filter" } th scope="col" { "Why" } th.num scope="col" { "Hosts" } } }
                tbody { @for by in items(decision, "removed") { tr {
                    td { b { (cut(text(by, "filter"), 60)) } } td { (cut(text(by, "reason"), 160)) } td.num { (format::len(count(by, "hosts"))) }
                } } }
            } }
        }
    }
}

/// Where chance decides: the shares of the candidates, and the draw.
fn chances(cluster: &str, decision: &Value) -> Markup {
    let groups = items(decision, "shares");
    if groups.is_empty() {
        return html! {};
    }
    let draw = decision["draw"].as_f64().unwrap_or_default();
    html! {
        section.panel aria-labelledby="chances" {
            header { h2 id="chances" { "Chances" } span.small.dim { "the number drawn was " (format!("{draw:.3}")) } }
            div.scroll { table {
                thead { tr { th.num scope="col" { "Group" } th scope="col" { "Host" } th scope="col" { "Share" } } }
                tbody { @for (number, group) in groups.iter().enumerate() {
                    @for candidate in group.as_array().into_iter().flatten().take(50) {
                        @let share = candidate["share"].as_f64().unwrap_or_default();
                        tr {
                            td.num { (number + 1) }
                            td { (host_link(cluster, candidate["host"].as_str())) }
                            td { span.meas { svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" {
                                rect.f-track y="2" width="100" height="8" {}
                                rect.f-acc y="2" width=(format!("{:.1}", share * 100.0)) height="8" {}
                            } span.num { (percent(share)) } } }
                        }
                    }
                } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_decision_that_comes_out_differently_is_told_as_it_was_and_as_it_is() {
        let explanation = json!({
            "chosen": "h2",
            "stages": [{"hosts": [
                {"host": "h1", "sums": [2.0]},
                {"host": "h2", "sums": [0.0]},
                {"host": "h3", "removed": {"filter": "cpu", "reason": "has too few cores"}},
            ]}],
        });
        for (then, told) in [
            (json!("h1"), "It went to h1, which costs 2.000 now."),
            (json!("h3"), "It went to h3, which is removed now."),
            (json!("h4"), "It went to h4."),
            (Value::Null, "It found no host."),
        ] {
            let decision = json!({"host": then});
            let matrix = Matrix::of_decision(&explanation, &decision);
            let verdict = verdict(&decision, Some(&matrix)).into_string();
            let now = "<b>Made again now it would go to h2, which costs 0.000.</b> ";
            assert!(verdict.starts_with(&format!("{now}{told} ")), "{verdict}");
            assert_eq!(why::host(&matrix, None), then.as_str().or(Some("h3")));
        }
        let decision = json!({"host": "h2"});
        let matrix = Matrix::of_decision(&explanation, &decision);
        let verdict = verdict(&decision, Some(&matrix)).into_string();
        assert!(
            verdict.starts_with("<b>h2 costs least of 2 hosts: 0.000."),
            "{verdict}"
        );
    }
}
