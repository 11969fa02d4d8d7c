//! Questions about a cluster: how many more fit, what if a host fails, what if hosts are emptied,
//! why not there, what another factor would do. Each is a form, with the answer below; nothing is
//! changed.

mod factor;
mod shape;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::format::{self, cost, cut, len, things};
use crate::overview::needs::hosts_that;
use crate::page::{self as pages, Area, Page, crumbs, sentence};
use crate::parts::{self, host_link, note, state, vm_link};
use crate::plan::finding;
use crate::plans;
use crate::url::{self, of_cluster, segment};
use crate::value::{count, items, text, texts};
use placewright_http::{Permission, Problem};

/// Rows of an answer's table.
const ROWS: usize = 500;
/// Findings of a plan that the answer shows, at most.
const NOTES: usize = 20;

/// The questions: what they are called in the query, and for people.
const KINDS: [(&str, &str); 5] = [
    ("room", "How many more fit?"),
    ("failure", "What if a host fails?"),
    ("maintenance", "What if hosts are emptied?"),
    ("why", "Why not there?"),
    (FACTOR, "What would another factor do?"),
];
const FACTOR: &str = "factor";
/// Cores and memory of the VM in the form of the question how many fit, before somebody changes them.
const USUAL: (&str, &str) = ("8", "64 GiB");

/// The page of a question.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    // The cluster must be there, whatever is asked.
    let shown = ask.get(&api).await?;
    let kind = ask.one_of("ask", &KINDS.map(|(word, _)| word))?;
    let kind = kind.unwrap_or("room");
    if kind == FACTOR {
        let decides = text(&shown["settings"], "policy");
        let (form, copies, answer) = factor::answered(&ask, &cluster, decides).await?;
        return page(&ask, &cluster, (kind, form), (copies, answer)).await;
    }
    let question = question(&ask, &api, kind);
    let (answer, wrong) = match (ask.param("now"), &question) {
        (None, _) => (html! {}, Vec::new()),
        (_, Err(wrong)) => (note("bad", html! { (sentence(wrong)) }), Vec::new()),
        (_, Ok(question)) => answered(&ask, &cluster, kind, question).await,
    };
    let form = html! {
        (fields(&ask, kind, &wrong))
        button.btn.main type="submit" { "Ask" }
    };
    let copies = question.map_or_else(
        |_| html! {},
        |(path, body)| {
            let body = body.map(|body| body.to_string());
            let curl = parts::curl("POST", &path, body.as_deref());
            let command = match (kind, &body) {
                ("room", Some(vm)) => Some(parts::command_about(
                    vm,
                    &["capacity", "--vm", "/dev/stdin", "--cluster", &cluster],
                )),
                _ => command(&ask, &cluster, kind),
            };
            parts::copies(&curl, command.as_deref())
        },
    );
    page(&ask, &cluster, (kind, form), (copies, answer)).await
}

/// The page: the fields of a question, and the answer below.
async fn page(
    ask: &Ask,
    cluster: &str,
    (kind, form): (&str, Markup),
    (copies, answer): (Markup, Markup),
) -> Result<Response, Problem> {
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), (cluster, of_cluster(cluster, &[]))], "Questions"))
            h1 { (KINDS.iter().find(|(word, _)| *word == kind).map_or("", |(_, text)| text)) }
            p { "Answers come from running the policy's own chain on a copy of the cluster. Nothing is changed." }
        } }
        nav.tabs aria-label="Questions" { @for (word, text) in KINDS {
            a href=(url::with(&Vec::new(), "ask", word, &[])) aria-current=[(word == kind).then_some("page")] { (text) }
        } }
        section.panel { form.in.bar method="get" {
            input type="hidden" name="ask" value=(kind);
            input type="hidden" name="now" value="yes";
            (form)
        } }
        (answer)
        div.acts { (copies) }
    };
    let page = Page {
        title: format!("Questions about {cluster}"),
        area: Area::Questions,
        cluster: Some(cluster),
        main,
        live: "",
        script: None,
    };
    pages::shown(ask, page).await
}

/// The fields of a question; `wrong` are the names of those with which something is wrong.
fn fields(ask: &Ask, kind: &str, wrong: &[String]) -> Markup {
    let hosts = hosts(ask).join(", ");
    let field = |name: &str, label: &str, usual: &str, size: &str| {
        let value = match name {
            "host" if kind != "why" => hosts.as_str(),
            _ => ask.param(name).unwrap_or(usual),
        };
        let is_wrong = wrong.iter().any(|it| it == name);
        // Of which host it is asked cannot be guessed.
        let is_required = name == "host" && kind != "failure";
        html! {
            label.lab { (label) input.field name=(name) size=(size) value=(value) required[is_required]
                aria-invalid=[is_wrong.then_some("true")] aria-describedby=[is_wrong.then_some(WRONG)]; }
        }
    };
    html! { @match kind {
        "failure" => {
            (field("host", "Hosts that fail together, with commas between them; empty: each by itself", "", "24"))
            label.lab { "Restarted are" select.field name="restart" {
                option value="" { "all its VMs" }
                option value="ha" selected[ask.param("restart") == Some("ha")] { "the highly available ones" }
            } }
        }
        "maintenance" => (field("host", "Hosts that are emptied, with commas between them", "", "32")),
        "why" => {
            (field("vm", "VM that runs, or a new id", "", "14")) (field("cpu", "Cores", "", "5"))
            (field("memory", "Memory", "", "8")) (field("host", "Host", "", "14"))
            (shape::more(ask, wrong))
        }
        _ => {
            (field("cpu", "Cores", USUAL.0, "5")) (field("memory", "Memory", USUAL.1, "8"))
            (shape::more(ask, wrong))
        }
    } }
}

/// The hosts that are asked about: with commas between them, or each by itself.
fn hosts(ask: &Ask) -> Vec<&str> {
    let given = ask.query.iter().filter(|(name, _)| name == "host");
    let hosts = given.flat_map(|(_, hosts)| hosts.split(',').map(str::trim));
    hosts.filter(|host| !host.is_empty()).collect()
}

/// The id of the list of errors, by which fields refer to it.
const WRONG: &str = "wrong";

/// All that is wrong with what was asked, and the names of the fields that it is about.
fn wrong(problem: &Problem) -> (Markup, Vec<String>) {
    let errors = problem.clone().body(None).errors;
    let paths = errors.iter().filter_map(|it| it.place.path.as_deref());
    let fields = paths.map(|path| shape::field(path).to_owned()).collect();
    let told = html! { div id=(WRONG) { (note("bad", html! { @match errors.as_slice() {
        // A single error is part of the sentence.
        [] | [_] => (sentence(problem.detail())),
        several => ul.list { @for error in several { li { (sentence(&cut(&error.message, 300))) } } },
    } })) } };
    (told, fields)
}

/// The question of a form: its path, and what is sent.
///
/// # Errors
/// What is wrong with the form: a sentence.
fn question(ask: &Ask, api: &str, kind: &str) -> Result<(String, Option<Value>), String> {
    Ok(match kind {
        "failure" => {
            let without = hosts(ask).into_iter().map(|host| ("without", Some(host)));
            let query = url::query(without.chain([("restart", ask.param("restart"))]));
            let path = format!("{api}/what-if?{query}");
            (path.trim_end_matches('?').to_owned(), None)
        }
        "maintenance" => {
            let hosts = hosts(ask);
            if hosts.is_empty() {
                return Err("say which hosts would be emptied".to_owned());
            }
            (
                format!("{api}/evacuate?dry-run=true"),
                Some(json!({"hosts": hosts})),
            )
        }
        "why" => {
            let Some(host) = ask.param("host") else {
                return Err("say which host you ask about".to_owned());
            };
            let query = url::query([("host", Some(host))]);
            (
                format!("{api}/why?{query}"),
                Some(shape::vm(ask, ask.param("vm").unwrap_or("new"))?),
            )
        }
        _ => {
            let mut vm = shape::vm(ask, "room")?;
            if ask.param("now").is_none() {
                // As the fields say that nobody has filled in.
                for (name, usual) in [("cpu", USUAL.0), ("memory", USUAL.1)] {
                    vm[name] = ask.param(name).unwrap_or(usual).into();
                }
            }
            (format!("{api}/capacity"), Some(vm))
        }
    })
}

/// The command that asks the same, where it needs no document of a VM.
fn command(ask: &Ask, cluster: &str, kind: &str) -> Option<String> {
    let hosts = hosts(ask);
    let mut words = match kind {
        "failure" => {
            let mut words = vec!["what-if"];
            words.extend(hosts.iter().flat_map(|host| ["--without-host", *host]));
            let restart = ask.param("restart").into_iter();
            words.extend(restart.flat_map(|which| ["--restart", which]));
            words
        }
        "maintenance" => [vec!["evacuate"], hosts].concat(),
        "why" => {
            let is_known = |name: &str| matches!(name, "ask" | "now" | "vm" | "host");
            if !ask.query.iter().all(|(name, _)| is_known(name)) {
                return None;
            }
            vec![
                "why",
                "--vm",
                ask.param("vm")?,
                "--host",
                ask.param("host")?,
            ]
        }
        _ => return None,
    };
    words.extend(["--cluster", cluster]);
    if kind == "maintenance" {
        words.push("--dry-run");
    }
    Some(parts::command(&words))
}

/// Ask the API, and show what it answers; with the names of the fields with which something is wrong.
async fn answered(
    ask: &Ask,
    cluster: &str,
    kind: &str,
    (path, body): &(String, Option<Value>),
) -> (Markup, Vec<String>) {
    let sent = body.as_ref().map_or(Sent::Nothing, Sent::Json);
    match ask.send("POST", path, sent).await {
        Err(problem) => wrong(&problem),
        Ok(answer) => {
            let told = match kind {
                "failure" => failure(cluster, &answer.body),
                "maintenance" => maintenance(Some(ask), cluster, &answer.body),
                "why" => why(cluster, &answer.body),
                _ => room(cluster, &answer.body),
            };
            (told, Vec::new())
        }
    }
}

/// Which hosts were removed, and why.
pub(crate) fn removed_by(removed: &[Value]) -> Markup {
    html! { @for (place, by) in removed.iter().enumerate() {
        @if place > 0 { "; " }
        (hosts_that(count(by, "hosts"), text(by, "reason")))
    } }
}

fn room(cluster: &str, answer: &Value) -> Markup {
    let hosts = items(answer, "hosts");
    let most = hosts
        .iter()
        .map(|it| count(it, "fit"))
        .max()
        .unwrap_or(1)
        .max(1);
    html! {
        section.panel aria-label="Answer" { div.in.stack {
            p.lead { b { (len(count(answer, "fit"))) " more fit" @if answer["bounded"] == true { ", and perhaps more" } "." }
                @if let Some(because) = answer["refused-by-quota"]["because"].as_str() { " The next one is refused by " (cut(because, 300)) "." }
                @if !items(answer, "stopped-by").is_empty() { " The next one is stopped: " (removed_by(items(answer, "stopped-by"))) "." } }
            @for warning in texts(answer, "warnings") { (note("warn", html! { (sentence(&cut(warning, 200))) })) }
        }
        @if !hosts.is_empty() { div.scroll { table {
            thead { tr { th scope="col" { "Host" } th.num scope="col" { "Fit" } th scope="col" { span.vh { "Share of the host that fits most" } } } }
            tbody { @for host in hosts.iter().take(ROWS) { @let fit = count(host, "fit"); tr {
                th.row scope="row" { (host_link(cluster, host["host"].as_str())) } td.num { (len(fit)) }
                td { svg viewBox="0 0 100 10" preserveAspectRatio="none" width="260" height="10" aria-hidden="true" { rect.f-com width=(fit * 100 / most) height="10" rx="2" {} } }
            } } }
        } } (first_of(hosts.len(), "hosts")) } }
    }
}

/// Says that there is more than the rows of a table.
fn first_of(all: usize, things: &str) -> Markup {
    html! { @if all > ROWS { p.in.small.dim { "These are the first " (len(ROWS)) " of " (len(all)) " " (things) "; the API tells them all." } } }
}

fn failure(cluster: &str, answer: &Value) -> Markup {
    let mut failures: Vec<&Value> = items(answer, "failures").iter().collect();
    let lost = failures.iter().filter(|it| it["survived"] == false).count();
    let is_empty = failures.iter().all(|it| items(it, "vms").is_empty());
    // Those that would leave VMs without a host first.
    failures.sort_by_key(|it| it["survived"] == true);
    html! {
        section.panel aria-label="Answer" {
            div.in { p.lead { @match (failures.len(), lost) {
                (0, _) => b { "No host is up that may fail." },
                (_, 0) if is_empty => b { "No VM would have to be restarted." },
                (1, 0) => b { "Every VM finds another host." },
                (1, _) => b { "Some VMs find no other host." },
                (all, 0) => { b { "Each of " (len(all)) " hosts may fail." } " Every VM would find another one." },
                (all, lost) => { b { (len(lost)) " of " (len(all)) " hosts may not fail." } " Some of their VMs would find no other host." },
            } } }
            div.scroll { table {
                thead { tr { th scope="col" { "Host that fails" } th scope="col" { "Outcome" } th.num scope="col" { "VMs" } th scope="col" { "Without a host" } } }
                tbody { @for one in failures.iter().take(ROWS) {
                    @let vms = items(one, "vms");
                    @let stranded: Vec<&Value> = vms.iter().filter(|vm| !vm["host"].is_string()).collect();
                    tr.tall {
                        th.row scope="row" { @for host in texts(one, "hosts") { (host_link(cluster, Some(host))) " " } }
                        td { @if one["survived"] == true { (state("ok", "ok", "all find a host")) } @else { (state("bad", "bad", "not all do")) } }
                        td.num { (len(vms.len())) }
                        td { @for vm in stranded.iter().take(6) { (vm_link(cluster, text(vm, "vm"))) " " }
                            @if stranded.len() > 6 { span.dim { "and " (stranded.len() - 6) " more" } }
                            @if let Some(vm) = stranded.first() { span.sub { (removed_by(items(vm, "stopped-by"))) } } }
                    }
                } }
            } }
            (first_of(failures.len(), "failures"))
            @if let [one] = failures[..] { (homes(cluster, one)) }
        }
    }
}

/// Where the VMs of hosts that fail would go, from which of them.
fn homes(cluster: &str, failure: &Value) -> Markup {
    let vms = items(failure, "vms");
    let is_of_several = items(failure, "hosts").len() > 1;
    html! { @if !vms.is_empty() {
        div.scroll { table {
            caption.vh { "Where its VMs would go" }
            thead { tr { th scope="col" { "VM" } @if is_of_several { th scope="col" { "From" } } th scope="col" { "Would go to" } } }
            tbody { @for vm in vms.iter().take(ROWS) { tr {
                th.row scope="row" { (vm_link(cluster, text(vm, "vm"))) }
                @if is_of_several { td { (host_link(cluster, vm["from"].as_str())) } }
                td { @match vm["host"].as_str() {
                    Some(host) => (host_link(cluster, Some(host))),
                    None => { (state("bad", "bad", "no host")) span.sub { (removed_by(items(vm, "stopped-by"))) } }
                } }
            } } }
        } }
        (first_of(vms.len(), "VMs"))
    } }
}

/// What an evacuation would move where. `ask` is whoever may make a plan of it by a button here.
pub(crate) fn maintenance(ask: Option<&Ask>, cluster: &str, plan: &Value) -> Markup {
    let moves = items(plan, "moves");
    html! {
        section.panel aria-label="Answer" {
            div.in.stack {
                p.lead { b { (things(moves.len(), "VM would move", "VMs would move")) "." }
                    @match items(plan, "stuck").len() { 0 if moves.is_empty() => {} 0 => { " All of them can go." } stuck => { " " (things(stuck, "VM cannot", "VMs cannot")) "." } } }
                @for reason in texts(plan, "reasons") { p.soft { (sentence(&cut(reason, 300))) } }
                // Where a host is put into maintenance, it is what they would remind of.
                @if ask.is_some() { @for found in items(plan, "notes").iter().take(NOTES) { (note("warn", finding(cluster, found))) } }
                @if let (Some(ask), false) = (ask, moves.is_empty()) { form action=(of_cluster(cluster, &["plans"])) method="post" {
                    input type="hidden" name="deed" value="evacuate";
                    @for host in texts(plan, "hosts") { input type="hidden" name="host" value=(host); }
                    (parts::button(ask, Permission::Operate, Some(cluster), "", "Make a plan of it"))
                } }
            }
            @if !moves.is_empty() { div.scroll { table {
                thead { tr { th scope="col" { "VM" } th scope="col" { "Move" } th scope="col" { "Why" } } }
                tbody { @for step in moves.iter().take(ROWS) { tr {
                    th.row scope="row" { (vm_link(cluster, text(step, "vm"))) }
                    td { (host_link(cluster, step["from"].as_str())) " → " (host_link(cluster, step["to"].as_str())) }
                    td { (sentence(&cut(text(step, "reason"), 160))) }
                } } }
            } } (first_of(moves.len(), "moves")) }
        }
        (plans::stuck(plan))
        (plans::reserved(cluster, plan))
    }
}

/// What a policy says of one host for one request.
pub(crate) fn why(cluster: &str, answer: &Value) -> Markup {
    let host = text(answer, "host");
    html! {
        section.panel aria-label="Answer" { div.in.stack {
        @for refusal in items(answer, "refused-by-quotas") {
            (note("warn", html! { b { "No host is looked for. " } (sentence(&cut(text(refusal, "because"), 300))) }))
        }
        @match text(answer, "standing") {
            "chosen" => p.lead { (host_link(cluster, Some(host))) b { " is the one that would be chosen." } },
            "not-asked" => p.lead { (host_link(cluster, Some(host))) " " b { (cut(text(answer, "reason"), 200)) "." } " No unit is asked about it." },
            "removed" => {
                @for (place, by) in items(answer, "by").iter().enumerate() {
                    p.lead { @if place == 0 { (host_link(cluster, Some(host))) " " } @else { "Besides it " }
                        b { (cut(text(by, "reason"), 200)) "." } " The filter " b { (cut(text(by, "filter"), 60)) } " removes it." }
                }
            }
            "costlier" => {
                p.lead { (host_link(cluster, Some(host))) b { " costs " (cost(answer["by"].as_f64().unwrap_or(f64::INFINITY))) " more than " }
                    (host_link(cluster, answer["chosen"].as_str()))
                    @if let Some(entry) = answer["through"].as_str() { ", mostly through " b { (cut(entry, 60)) } } "." }
                div.scroll { table {
                    thead { tr { th scope="col" { "Entry" } th.num scope="col" { "Here" } th.num scope="col" { "There" } th.num scope="col" { "Difference" } } }
                    tbody { @for one in items(answer, "differences") { tr {
                        th.row scope="row" { (cut(text(one, "name"), 60)) }
                        @for name in ["weighted", "weighted-chosen", "by"] { td.num { (cost(crate::value::cost(&one[name]))) } }
                    } } }
                } }
            }
            "tied" => p.lead { b { "It costs the same as the chosen host; the rule for ties decides between them." } },
            "refused-by-quota" => p.lead { (host_link(cluster, Some(host))) b { " would have been left." } },
            "not-preferred" => p.lead { b { "The request prefers other hosts, and some of these are left." } },
            "not-drawn" if answer["share"].as_f64().is_none_or(|share| share <= 0.0) => p.lead {
                (host_link(cluster, Some(host))) b { " has no chance." } " Chance decides, and the policy gives it a share of 0 %." },
            "not-drawn" => p.lead { b { "Chance decides, and another host is drawn." } " Its share is " (format::percent(answer["share"].as_f64().unwrap_or_default())) "." },
            other => p.lead { (cut(other, 80)) },
        }
        @if matches!(text(answer, "standing"), "removed" | "not-asked" | "refused-by-quota") { (crate::why::ways(host, items(answer, "ways"))) }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_hosts_that_fail_together_it_is_told_where_each_vm_was() {
        let failure = |hosts: &[&str]| {
            let vm = json!({"vm": "v", "from": "h1", "host": "h3"});
            homes("c", &json!({"hosts": hosts, "vms": [vm]})).into_string()
        };
        let together = failure(&["h1", "h2"]);
        for part in [">From<", "/hosts/h1", "/hosts/h3"] {
            assert!(together.contains(part), "{part}: {together}");
        }
        let alone = failure(&["h1"]);
        assert!(!alone.contains(">From<") && !alone.contains("/hosts/h1"));
    }
}
