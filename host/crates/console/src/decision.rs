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

/// Policies that are offered to decide again.
const POLICIES: usize = 1000;

/// A decision.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, number)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    matrix::check_words(&ask)?;
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/decisions/{}", segment(&number));
    let recorded = ask.get(&path).await?;
    // By another policy, or by one as it is now.
    let by = ask.param("policy").filter(|policy| !policy.is_empty());
    let explained = ask.get(&asked(&path, "explanation", (None, by))).await;
    let decision = &recorded["decision"];
    let matrix = explained.as_ref().ok();
    let matrix = matrix.map(|explained| match by {
        Some(policy) => Matrix::by_policy(explained, decision, policy),
        None => Matrix::of_decision(explained, decision),
    });
    let same = match by {
        Some(_) => None,
        None => comes_out_the_same(&ask, &path, matrix.as_ref()).await,
    };
    let host = ask.param("host");
    let host = matrix.as_ref().and_then(|matrix| why::host(matrix, host));
    let told = match (&matrix, host) {
        (Some(_), Some(host)) => ask.get_if(&asked(&path, "why", (Some(host), by))).await,
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
    let policy = match by {
        Some(_) => None,
        None => policy_link(&ask, explained.as_ref().ok(), &recorded).await,
    };
    let policies = ask.list("/v1/policies", POLICIES).await.unwrap_or_default();
    let is_refused = decision["refused-by-quota"].is_object();
    let main = html! {
        (head(&cluster, &number, (decision, is_tried), matrix.as_ref()))
        (facts((&cluster, &vms), &recorded, policy, same, place))
        (again(&ask, &policies, by))
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
                    b { "This decision cannot be made again" @if let Some(by) = by { " by " (cut(by, 60)) } ". " } (sentence(problem.detail()))
                    " What was recorded then:"
                })) }
                (recorded_counts(decision))
            }
        }
        @if by.is_none() { (chances(&cluster, decision)) }
        div.acts { (copies(&cluster, &number, &path, (host, by))) }
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

/// Whether a decision comes out the same when the policy and the units that made it make it again.
/// None: they cannot.
async fn comes_out_the_same(ask: &Ask, path: &str, matrix: Option<&Matrix<'_>>) -> Option<bool> {
    if matrix.is_some_and(|it| it.then.is_some()) {
        // Units that do not answer the same twice may have done so for the replay.
        return Some(false);
    }
    let path = format!("{path}/replay");
    let replayed = ask.send("POST", &path, Sent::Nothing).await.ok()?;
    replayed.body["same"].as_bool()
}

/// By which policy the decision is made again.
fn again(ask: &Ask, policies: &[Value], by: Option<&str>) -> Markup {
    let names = policies.iter().map(|policy| text(policy, "name"));
    let unknown = by.filter(|by| policies.iter().all(|policy| text(policy, "name") != *by));
    html! {
        form.bar method="get" data-auto {
            @for (name, value) in &ask.query { @if name != "policy" { input type="hidden" name=(name) value=(value); } }
            label.lab { "Decide again by"
                select.field name="policy" {
                    option value="" { "the policy and units of then" }
                    @for name in unknown.into_iter().chain(names) {
                        option value=(name) selected[by == Some(name)] { (cut(name, 60)) " as it is now" }
                    }
                }
            }
            button.btn.without-script type="submit" { "Decide again" }
            @if by.is_some() { span.small.soft { "This changes nothing." } }
        }
    }
}

/// The question about a decision of that name: about one host, or by a policy.
fn asked(decision: &str, what: &str, (host, by): (Option<&str>, Option<&str>)) -> String {
    let query = url::query([("host", host), ("policy", by)]);
    match query.is_empty() {
        true => format!("{decision}/{what}"),
        false => format!("{decision}/{what}?{query}"),
    }
}

/// How to ask the same elsewhere: about one host, if the page is about one, and by the policy that
/// the decision is made again by.
fn copies(
    cluster: &str,
    number: &str,
    path: &str,
    (host, by): (Option<&str>, Option<&str>),
) -> Markup {
    let mut words = vec!["explain", number, "--cluster", cluster];
    for (option, value) in [("--host", host), ("--policy", by)] {
        if let Some(value) = value {
            words.extend([option, value]);
        }
    }
    let what = match host {
        Some(_) => "why",
        None => "explanation",
    };
    let of = asked(path, what, (host, by));
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
    if let Some((matrix, by)) = matrix.and_then(|it| Some((it, it.by?))) {
        return made_by(matrix, by, decision["host"].as_str());
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
                @match why::drawn(matrix, decision) {
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

/// What would become of a decision by a policy as it is now, and what became of it.
fn made_by(matrix: &Matrix, policy: &str, then: Option<&str>) -> Markup {
    let costs = |host: &str| matrix.costs_of(host).filter(|_| !matrix.is_by_chance());
    let now = matrix.chosen().map(|row| row.host);
    html! {
        b { "By " (cut(policy, 60)) " as it is now it would "
            @match now {
                Some(host) => { @if now == then { "go to the same host, " (cut(host, 60)) } @else { "go to " (cut(host, 60)) }
                    @if let Some(costs) = costs(host) { ", which costs " (costs) } }
                None => { "find no host" @if then.is_none() { " either" } }
            }
            "." }
        " "
        @match then {
            _ if now == then => {}
            Some(then) => { "It went to " (cut(then, 60))
                @if let Some(costs) = costs(then) { ", which costs " (costs) }
                @else if matrix.removed.iter().any(|row| row.host == then) { ", which is removed" }
                ". " }
            None => "It found no host. ",
        }
        (others(matrix)) " Hosts are as they were then; units are those in force now."
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

/// The policy that made a decision: a link, unless it is gone; and whether it has changed since.
async fn policy_link(ask: &Ask, explained: Option<&Value>, recorded: &Value) -> Option<Markup> {
    let policy = text(explained?, "policy");
    let page = format!("/policies/{}", segment(policy));
    let Some(known) = ask.get_if(&format!("/v1{page}")).await else {
        return Some(html! { (policy) });
    };
    Some(html! {
        a href=(page) { (policy) }
        @if let Some(changed) = changed_since(&known, recorded) {
            ", " span.warn { "changed since" } " (" (ago(changed)) "): "
            a href=(url::with(&ask.query, "policy", policy, &[])) { "decide again" }
        }
    })
}

/// When a policy was changed, if that was after the decision.
fn changed_since(policy: &Value, recorded: &Value) -> Option<Moment> {
    let (changed, decided) = Moment::of(&policy["at"]).zip(Moment::of(&recorded["at"]))?;
    (changed.0 > decided.0).then_some(changed)
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
    fn a_policy_has_changed_since_if_its_revision_is_later_than_the_decision() {
        let since = |at: Value| changed_since(&json!({ "at": at }), &json!({"at": 100}));
        assert_eq!(since(json!(101)).map(|it| it.0), Some(101));
        assert!(since(json!(100)).is_none());
        // Those that come with the program have no time.
        assert!(since(Value::Null).is_none());
    }

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
        for (then, told) in [
            (
                json!("h1"),
                "would go to h2, which costs 0.000.</b> It went to h1, which costs 2.000. ",
            ),
            (
                json!("h3"),
                "would go to h2, which costs 0.000.</b> It went to h3, which is removed. ",
            ),
            (
                json!("h2"),
                "would go to the same host, h2, which costs 0.000.</b> 1 removed",
            ),
            (
                Value::Null,
                "would go to h2, which costs 0.000.</b> It found no host. ",
            ),
        ] {
            let decision = json!({"host": then});
            let matrix = Matrix::by_policy(&explanation, &decision, "p");
            let verdict = verdict(&decision, Some(&matrix)).into_string();
            let expected = format!("<b>By p as it is now it {told}");
            assert!(verdict.starts_with(&expected), "{verdict}");
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
