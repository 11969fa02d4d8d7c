//! One unit: what it is, reads and can be set to, who uses it, and what became of its versions.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Answer, Ask, Console, Sent};
use crate::form;
use crate::format::{self, Moment, bytes, cut, percent};
use crate::missing::Missing;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, ago, barred, empty, note, state};
use crate::told;
use crate::units::{self, Became, page_of, source, standing};
use crate::url::{of_cluster, segment};
use crate::value::{items, number, text, texts};
use placewright_document::Word;
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Entries of its history that are shown.
const HISTORY: usize = 100;

/// Clusters whose costs are shown.
const COSTS: usize = 100;

/// A unit.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let path = format!("/v1/units/{}", segment(&name));
    let missing = Missing {
        what: "unit",
        key: "unit",
        name: &name,
        cluster: None,
        area: Area::Units,
        list: ("units", "/units"),
    };
    let unit = match ask.get(&path).await {
        Ok(unit) => unit,
        Err(problem) => return missing.instead(&ask, problem).await,
    };
    let inspected = ask.get_if(&format!("{path}/inspection")).await;
    let history = ask
        .list(&format!("{path}/history"), HISTORY)
        .await
        .unwrap_or_default();
    let shadow = ask.get_if(&format!("{path}/shadow")).await;
    let costs = ask.list(&format!("{path}/costs"), COSTS).await;
    let costs = costs.unwrap_or_default();
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned()), ("Units", "/units".to_owned())], &name))
                h1 { (cut(&name, 60)) @if let Some(version) = unit["version"].as_str() { " " span.pill { (cut(version, 40)) } } }
                p { (cut(text(&unit, "summary"), 300)) }
            }
            div.acts { (deeds(&ask, &name, &unit)) }
        }
        @for paused in items(&unit, "paused") { (note("bad", html! {
            "In " a href=(of_cluster(text(paused, "cluster"), &[])) { (cut(text(paused, "cluster"), 60)) } " it " (units::paused(paused))
        })) }
        @if unit["refused"].is_object() {
            @let outcome = &unit["refused"]["outcome"];
            (note("bad", html! { "The last candidate was refused at the step “" (text(outcome, "step")) "”: " (sentence(&cut(text(outcome, "why"), 400))) }))
        }
        @if let Some(shadow) = &shadow { (judged(&ask, &name, shadow)) }
        div.cols.two-one {
            div.stack {
                @if let Some(inspected) = &inspected { (parts_of(inspected)) (settings(inspected)) }
            }
            div.stack {
                section.panel aria-labelledby="force" {
                    header { h2 id="force" { "In force" } (standing(&unit)) }
                    div.in { dl.facts {
                        dt { "From" } dd { (source(&unit["source"])) }
                        dt { "Digest" } @match unit["in-force"].as_str() { Some(digest) => dd.mono { (digest) }, None => dd { span.dim { "–" } } }
                        @if let Some(inspected) = &inspected {
                            dt { "Size" } dd { (bytes(number(inspected, "size"))) }
                            dt { "Imports" } dd.mono.small { (texts(inspected, "imports").join(", ")) }
                        }
                        dt { "Used by" } dd {
                            @let policies = texts(&unit, "policies");
                            @if policies.is_empty() { span.dim { "no policy that somebody wrote" } }
                            @for (place, policy) in policies.iter().enumerate() { @if place > 0 { ", " } a href={ "/policies/" (segment(policy)) } { (policy) } }
                        }
                    } }
                }
            }
        }
        @if !costs.is_empty() { (costs_of(&costs)) }
        (versions(&ask, &name, &unit, &history))
        div.acts { (parts::copies(
            &parts::curl("GET", &path, None),
            Some(&parts::command(&["get", "units", &name])),
        )) }
    };
    let page = Page {
        title: format!("Unit {name}"),
        area: Area::Units,
        cluster: None,
        main,
        // What a candidate has come to goes on with the decisions.
        live: match shadow {
            Some(_) => "unit,shadow,vm",
            None => "unit,shadow",
        },
        script: None,
    };
    page::shown(&ask, page).await
}

/// What can be done with it.
fn deeds(ask: &Ask, name: &str, unit: &Value) -> Markup {
    if !ask.may(Permission::Administer, None) {
        return html! { div.bar { (parts::all_barred(ask, Permission::Administer, &["Pin", "Disable"])) } };
    }
    let is = |column: &str| unit[column] == true;
    html! {
        form.bar action={ "/units/" (segment(name)) } method="post" {
            @if is("pinned") { button.btn name="deed" value="unpin" type="submit" { "Take the pin off" } }
            @else { button.btn name="deed" value="pin" type="submit" { "Pin" } }
            @if is("disabled") { button.btn name="deed" value="enable" type="submit" { "Enable" } }
            @else if let Some(why) = used_by(unit) { (parts::barred_because(&["Disable"], &why)) }
            @else { button.btn.risk name="deed" value="disable" type="submit" { "Disable" } }
        }
    }
}

/// Policies that are named where a unit cannot be disabled.
const NAMED: usize = 3;

/// The policies that use it, as what keeps it from being disabled: "used by a, b and c".
fn used_by(unit: &Value) -> Option<String> {
    let policies: Vec<String> = texts(unit, "policies")
        .iter()
        .map(|it| cut(it, 40))
        .collect();
    let named = match policies.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several if several.len() > NAMED + 1 => {
            let more = several.len() - NAMED;
            format!("{} and {more} more", several[..NAMED].join(", "))
        }
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("used by {named}"))
}

/// What its parts answer and read.
fn parts_of(inspected: &Value) -> Markup {
    html! {
        section.panel aria-labelledby="reads" {
            header { h2 id="reads" { "What it does, and what it reads" } span.small.dim { "Nothing else is shown to it." } }
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "Part" } th scope="col" { "Table" } th scope="col" { "Columns" } } }
                tbody { @for part in items(inspected, "parts") {
                    @let answers = texts(part, "answers");
                    tr.group { td colspan="3" {
                        b { (text(part, "part")) } @if !answers.is_empty() { ": " (answers.join(" and ")) }
                        @if let Some(evaluation) = part["evaluation"].as_str() { " · " (evaluation) }
                    } }
                    @for read in items(part, "reads") { tr.tall {
                        td {} td.mono { (cut(text(read, "table"), 60)) }
                        td.small { @for column in items(read, "columns") {
                            span.mono.nowrap { (cut(text(column, "column"), 60)) @if column["required"] != true { span.dim { "?" } } } " "
                        } @if items(read, "columns").is_empty() { span.dim { "how many rows there are" } } }
                    } }
                    @for reason in items(part, "reasons") { tr { td {} td.soft { "reason" } td.small { "host " (cut(text(reason, "text"), 160)) } } }
                } }
            } }
        }
    }
}

fn settings(inspected: &Value) -> Markup {
    let settings = items(inspected, "settings");
    html! {
        section.panel aria-labelledby="settings" {
            header { h2 id="settings" { "Settings " span.dim { (settings.len()) } } }
            @if settings.is_empty() { div.in { (empty("It has none", html! { "It works the same in every policy." })) } }
            @else { div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Kind" } th scope="col" { "Default" } th scope="col" { "Meaning" } } }
                tbody { @for setting in settings { tr.tall {
                    th.row.mono scope="row" { (cut(text(setting, "name"), 60)) }
                    td.small { (text(setting, "kind")) @if let Some(measure) = setting["measure"].as_str() { ", in " (measure) } }
                    td.mono.small { @match setting["default"].as_str() {
                        Some(usual) => (cut(&crate::policy::usual_amount(setting, usual), 60)),
                        None if setting["required"] == true => "must be given",
                        None => "none",
                    } }
                    td.small { (cut(text(setting, "meaning"), 300)) }
                } } }
            } } }
        }
    }
}

fn versions(ask: &Ask, name: &str, unit: &Value, history: &[Value]) -> Markup {
    let may = ask.may(Permission::Administer, None);
    let in_force = text(unit, "in-force");
    // What a candidate of this list replaced and is no candidate of it: a unit of the program is none.
    let listed: Vec<&str> = history.iter().map(|it| text(it, "digest")).collect();
    let mut replaced: Vec<&str> = Vec::new();
    for digest in history
        .iter()
        .filter_map(|it| it["outcome"]["replaced"].as_str())
    {
        if digest != in_force && !listed.contains(&digest) && !replaced.contains(&digest) {
            replaced.push(digest);
        }
    }
    let back = |digest: &str| {
        html! {
            form action={ "/units/" (segment(name)) } method="post" {
                input type="hidden" name="digest" value=(digest);
                (parts::sure_button("", "rollback", "Go back to it", "Go back to this version? It decides from then on."))
            }
        }
    };
    html! {
        section.panel aria-labelledby="history" {
            header { h2 id="history" { "What became of candidates" } }
            @if history.is_empty() { div.in { (empty("None yet", html! { "This version comes with the program." })) } }
            @else { div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "When" } th scope="col" { "Digest" } th scope="col" { "Version" } th scope="col" { "From" } th scope="col" { "Outcome" } th scope="col" { span.vh { "Go back" } } } }
                tbody { @for entry in history {
                    @let outcome = &entry["outcome"];
                    @let digest = text(entry, "digest");
                    tr.tall {
                        td { @if let Some(at) = Moment::of(&entry["at"]) { (ago(at)) } }
                        td.mono { (digest.get(..12).unwrap_or(digest)) }
                        td { (cut(text(entry, "version"), 40)) }
                        // What was taken out came from nowhere.
                        td { @if outcome["result"] != "removed" { (source(&entry["source"])) } }
                        td { @if outcome["step"].is_string() {
                                (state("bad", "bad", "refused")) span.sub { "at “" (text(outcome, "step")) "”: " (cut(text(outcome, "why"), 200)) }
                            } @else if outcome["result"] == "removed" { (state("off", "idle", "taken out")) }
                            @else if outcome["result"] == "unchanged" { (state("off", "idle", "in force already")) }
                            @else if outcome["why"].is_string() { (state("warn", "warn", "held")) span.sub { (cut(text(outcome, "why"), 200)) } }
                            @else { (state("ok", "ok", "passed")) } }
                        td { @if may && outcome["result"] == "in-force" && digest != in_force { (back(digest)) } }
                    }
                }
                @for digest in &replaced { tr.tall {
                    td { "before" }
                    td.mono { (digest.get(..12).unwrap_or(digest)) }
                    td {} td { "was in force before the first of these" } td {}
                    td { @if may { (back(digest)) } }
                } } }
            } }
            @if !may { p.in.small.dim { "To go back to one of them needs the role " (Permission::Administer.least_role().word()) "." } } }
        }
    }
}

/// What it costs, against its limits.
fn costs_of(costs: &[Value]) -> Markup {
    // Of a unit that was not called yet nothing is known.
    let took = |cost: &Value, key: &str| match number(cost, "calls") {
        0.0 => "–".to_owned(),
        _ => format::duration(number(cost, key) / 1e6),
    };
    html! {
        section.panel aria-labelledby="costs" {
            header { h2 id="costs" { "What it costs" } span.small.dim { "Since the cluster's policy or one of its units changed last." } }
            div.scroll tabindex="0" { table {
                thead { tr {
                    th scope="col" { "Cluster" } th.num scope="col" { "Calls" } th.num scope="col" { "Hosts asked about" }
                    th.num scope="col" { "Of the time of units" } th.num scope="col" { "Half of the calls within" }
                    th.num scope="col" { "95 %" } th.num scope="col" { "99 %" } th.num scope="col" { "Longest call" } th.num scope="col" { "Most memory" }
                } }
                tbody { @for cost in costs { tr.tall {
                    th.row scope="row" { a href={ "/clusters/" (segment(text(cost, "cluster"))) } { (cut(text(cost, "cluster"), 60)) } }
                    td.num { (format::number(number(cost, "calls"), 0)) }
                    td.num { (format::number(number(cost, "rows"), 0)) span.sub { (format::number(number(cost, "rows-reused"), 0)) " more cached" } }
                    td.num { (percent(number(cost, "share"))) }
                    td.num { (took(cost, "median-us")) }
                    td.num { (took(cost, "p95-us")) }
                    td.num { (took(cost, "p99-us")) }
                    td.num { (took(cost, "longest-us")) span.sub { "of " (took(cost, "limit-us")) } }
                    td.num { (bytes(number(cost, "memory"))) span.sub { "of " (bytes(number(cost, "memory-limit"))) } }
                } } }
            } }
        }
    }
}

/// What a candidate beside it has come to, and what can be done with it.
fn judged(ask: &Ask, name: &str, shadow: &Value) -> Markup {
    let clusters: Vec<(&String, &Value)> = shadow["clusters"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    let sum = |key: &str| clusters.iter().map(|(_, it)| number(it, key)).sum::<f64>();
    let (judged, agreeing) = (sum("decisions"), sum("agreeing"));
    let digest = text(shadow, "digest");
    html! {
        section.panel aria-labelledby="shadow" {
            header {
                h2 id="shadow" { "A candidate judges beside it" }
                span.small.dim { "It decides nothing. " span.mono { (digest.get(..12).unwrap_or(digest)) } }
            }
            div.in.stack {
                p.lead { @if judged == 0.0 { b { "It has judged no decision yet." } }
                    @else if agreeing == judged { b { (decisions(judged)) " judged, all with the same outcome." } }
                    @else { b { (format::number(judged - agreeing, 0)) " of " (decisions(judged)) " would have another outcome with it." } } }
                div.bar {
                    (shadow_deed(ask, name, "promote", "Put the candidate in force", "main", "Put the candidate in force? It decides from then on."))
                    (shadow_deed(ask, name, "discard", "End it", "risk", "End the candidate? What it has come to is forgotten."))
                }
            }
            @if !clusters.is_empty() { div.scroll tabindex="0" { table {
                caption.vh { "What the candidate has come to, cluster by cluster" }
                thead { tr {
                    th scope="col" { "Cluster" } th.num scope="col" { "Judged" } th.num scope="col" { "The same" }
                    th.num scope="col" { "Better hosts, mean" } th.num scope="col" { "Most" } th.num scope="col" { "Chosen host removed" }
                    th.num scope="col" { "Without an answer" } th.num scope="col" { "A decision takes" } th scope="col" { "Where it differs" }
                } }
                tbody { @for (cluster, report) in &clusters { (report_row(cluster, report)) } }
            } } }
        }
    }
}

fn decisions(number: f64) -> String {
    let one = if number == 1.0 {
        "decision"
    } else {
        "decisions"
    };
    format!("{} {one}", format::number(number, 0))
}

fn report_row(cluster: &str, report: &Value) -> Markup {
    let judged = number(report, "decisions");
    let each = |key: &str| format::duration(number(report, key) / judged.max(1.0) / 1e3);
    html! {
        tr.tall {
            th.row scope="row" { a href=(of_cluster(cluster, &[])) { (cut(cluster, 40)) } }
            td.num { (format::number(judged, 0)) }
            td.num { @if judged > 0.0 { (percent(number(report, "agreeing") / judged)) } @else { "–" } }
            td.num { (format::number(number(report, "rank-mean"), 2)) }
            td.num { (format::number(number(report, "rank-worst"), 0)) }
            td.num { (format::number(number(report, "removed"), 0)) }
            td.num { (format::number(number(report, "failures"), 0))
                @if let Some(why) = report["failure"].as_str() { span.sub.bad { (sentence(&cut(why, 160))) } } }
            td.num { (each("candidate-ms")) span.sub { "in force " (each("live-ms")) } }
            td { @for one in items(report, "examples") {
                @let decision = one["decision"].to_string();
                div.small { a href=(of_cluster(cluster, &["decisions", &decision])) { (decision) } ": "
                    (parts::host_link(cluster, one["live"].as_str())) span.dim { " → " } (parts::host_link(cluster, one["candidate"].as_str())) }
            } }
        }
    }
}

/// A button for the candidate that is asked about first.
fn shadow_deed(ask: &Ask, name: &str, deed: &str, label: &str, class: &str, sure: &str) -> Markup {
    match ask.may(Permission::Administer, None) {
        true => html! {
            form action={ "/units/" (segment(name)) } method="post" { (parts::sure_button(class, deed, label, sure)) }
        },
        false => barred(ask, Permission::Administer, label),
    }
}

/// Do something with it.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let path = format!("/v1/units/{}", segment(&name));
    let deed = form::value(&sent, "deed").unwrap_or_default();
    let staging = match deed {
        "pin" | "unpin" | "enable" | "disable" => {
            ask.send("POST", &format!("{path}/{deed}"), Sent::Nothing)
                .await?
        }
        "rollback" => {
            let digest = form::value(&sent, "digest").unwrap_or_default();
            let wanted = json!({"digest": digest});
            let answer = ask
                .send("POST", &format!("{path}/rollback"), Sent::Json(&wanted))
                .await?;
            if !answer.status.is_success() || answer.body["outcome"]["result"] == "held" {
                return refused(&ask, &answer).await;
            }
            answer
        }
        "promote" => {
            let answer = ask
                .send("POST", &format!("{path}/shadow/promote"), Sent::Nothing)
                .await?;
            // Where it is held, the unit in force stays, and it goes on judging.
            if !answer.status.is_success() || answer.body["outcome"]["result"] == "held" {
                return refused(&ask, &answer).await;
            }
            answer
        }
        "discard" => {
            ask.send("DELETE", &format!("{path}/shadow"), Sent::Nothing)
                .await?
        }
        _ => {
            let wrong =
                "\"deed\" must be pin, unpin, enable, disable, rollback, promote or discard";
            return Err(Problem::new(Code::InvalidParameter, wrong));
        }
    };
    // What is in force now, of which a pin and the like answer nothing.
    let unit = ask.get_if(&path).await.unwrap_or_default();
    let told = done(deed, &name, &unit, &staging.body);
    told::done(&ask, &format!("/units/{}", segment(&name)), &told)
}

/// What a deed has come to: a sentence. `unit` is as it is now; `staging` what became of a version
/// that was put in force.
fn done(deed: &str, name: &str, unit: &Value, staging: &Value) -> String {
    let name = cut(name, 60);
    let version = match text(staging, "version") {
        "" => text(unit, "version"),
        staged => staged,
    };
    let version = match version {
        "" => "the version that was in force".to_owned(),
        version => format!("version {}", cut(version, 40)),
    };
    let in_force = match unit["in-force"].is_string() {
        true => format!("{version} is in force"),
        false => "it is not in force".to_owned(),
    };
    match deed {
        "pin" => format!("unit {name} is pinned to {version}"),
        "unpin" => format!("unit {name} is no longer pinned: {in_force}"),
        "enable" => format!("unit {name} is enabled: {in_force}"),
        "disable" => format!("unit {name} is disabled: it is not in force"),
        "rollback" => {
            let digest = text(staging, "digest");
            let digest = digest.get(..12).unwrap_or(digest);
            format!("unit {name} is rolled back to {version}, with the digest {digest}")
        }
        "promote" => format!("the candidate for unit {name} is in force: {version}"),
        _ => format!("the candidate for unit {name} is discarded"),
    }
}

/// The page that says why a version is not in force.
async fn refused(ask: &Ask, answer: &Answer) -> Result<Response, Problem> {
    let became = Became {
        staging: &answer.body,
        file: None,
        judges: false,
    };
    page_of(ask, Some(became), answer.status).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_deed_tells_what_it_has_come_to() {
        let unit = json!({"version": "1.2.0", "in-force": "9f2c"});
        let staging = json!({"version": "1.1.0", "digest": "0123456789abcdef"});
        let told = |deed| done(deed, "memory", &unit, &Value::Null);
        assert_eq!(told("pin"), "unit memory is pinned to version 1.2.0");
        assert_eq!(
            told("unpin"),
            "unit memory is no longer pinned: version 1.2.0 is in force"
        );
        assert_eq!(
            told("enable"),
            "unit memory is enabled: version 1.2.0 is in force"
        );
        assert_eq!(
            done("rollback", "memory", &unit, &staging),
            "unit memory is rolled back to version 1.1.0, with the digest 0123456789ab"
        );
        assert_eq!(
            done("promote", "memory", &unit, &staging),
            "the candidate for unit memory is in force: version 1.1.0"
        );
        assert_eq!(
            done(
                "unpin",
                "memory",
                &json!({"version": null, "in-force": null}),
                &Value::Null
            ),
            "unit memory is no longer pinned: it is not in force"
        );
    }

    #[test]
    fn policies_that_keep_a_unit_from_being_disabled_are_named_and_counted() {
        let told = |policies: &[&str]| used_by(&json!({"policies": policies}));
        assert_eq!(told(&[]), None);
        for (policies, expected) in [
            (&["a"][..], "used by a"),
            (&["a", "b"], "used by a and b"),
            (&["a", "b", "c", "d"], "used by a, b, c and d"),
            (&["a", "b", "c", "d", "e"], "used by a, b, c and 2 more"),
        ] {
            assert_eq!(told(policies).as_deref(), Some(expected));
        }
    }
}
