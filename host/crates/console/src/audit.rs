//! The audit log: who changed what, and who was refused.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::events::about;
use crate::format::{self, cut, things};
use crate::known::Known;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, day, empty, note, sign, state, with_times};
use crate::url;
use crate::value::{count, items, text};
use placewright_http::problem::Code;
use placewright_http::{Permission, Problem};

/// Records of a page.
const ROWS: usize = 100;

/// Kinds of records, as chips.
const KINDS: [(&str, &str); 6] = [
    ("", "all"),
    ("call", "changes"),
    ("refusal", "refusals"),
    ("event", "events"),
    ("server", "server"),
    ("log", "log"),
];

/// What came of a call.
const RESULTS: [(&str, &str); 5] = [
    ("", "all"),
    ("done", "done"),
    ("refused", "refused"),
    ("failed", "failed"),
    ("unanswered", "unanswered"),
];

/// Filters of the page, which are those of the API, and those of the command line.
const FILTERS: [&str; 10] = [
    "kind", "by", "action", "cluster", "result", "status", "text", "since", "until", "after",
];

/// The list.
pub(crate) async fn show(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    let main = match ask.may(Permission::Administer, None) {
        true => log(&ask).await?,
        false => html! {
            (head())
            section.panel aria-label="Records" { div.in {
                (empty("Not shown to you", html! {
                    "The audit log tells what everybody did, in every cluster. "
                    (parts::barred(&ask, Permission::Administer, "Show the audit log"))
                }))
            } }
        },
    };
    let page = Page {
        title: "Audit log".to_owned(),
        area: Area::Audit,
        cluster: None,
        main,
        live: "",
        script: None,
    };
    page::shown(&ask, page).await
}

fn head() -> Markup {
    html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned())], "Audit log"))
            h1 { "Who changed what" }
            p { "Each change with its caller and what came of it, and each refusal; the newest first." }
        } }
    }
}

async fn log(ask: &Ask) -> Result<Markup, Problem> {
    let wanted: Vec<(&str, String)> = FILTERS
        .into_iter()
        .filter_map(|name| Some((name, moment(name, ask.param(name)?))))
        .collect();
    let rows = ROWS.to_string();
    let said = wanted.iter().map(|(name, value)| (*name, Some(&**value)));
    let query = url::query(said.chain([("limit", Some(rows.as_str()))]));
    let path = format!("/v1/audit?{query}");
    let listed = match ask.get(&path).await {
        Ok(listed) => listed,
        // There is no file to be read.
        Err(problem) if problem.code() == Code::Unprocessable => {
            let why = problem.body(None).detail;
            return Ok(html! { (head()) (note("warn", html! { p { (sentence(&why)) } })) });
        }
        Err(problem) => return Err(problem),
    };
    let records = items(&listed, "items");
    Ok(html! {
        (head())
        @for gap in items(&listed, "gaps") { (missing(gap)) }
        section.panel aria-label="Records" {
            (filters(ask).await?)
            (table(ask, records, &Known::of(ask, records).await))
            (pages(ask, &listed))
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&command(&wanted)))) }
    })
}

/// A moment that a field for moments has sent, which has no zone, is in UTC.
fn moment(name: &str, value: &str) -> String {
    let is_of_field = value.len() == "2026-11-26T08:00".len() && value.contains('T');
    match name {
        "since" if is_of_field => format!("{value}:00Z"),
        // The minute to its end.
        "until" if is_of_field => format!("{value}:59.999999Z"),
        _ => value.to_owned(),
    }
}

/// The same for the command line.
fn command(wanted: &[(&str, String)]) -> String {
    let mut words = vec!["audit".to_owned(), "list".to_owned()];
    for (name, value) in wanted {
        words.extend([format!("--{name}"), value.clone()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    parts::command(&words)
}

async fn filters(ask: &Ask) -> Result<Markup, Problem> {
    let said = |name: &str| ask.param(name).unwrap_or_default();
    let clusters = ask.list("/v1/clusters", 1000).await?;
    let (kind, result) = (said("kind"), said("result"));
    let minute = |name: &str| said(name).get(..16).unwrap_or_default().to_owned();
    Ok(html! {
        header {
            nav.bar aria-label="Kinds" { @for (word, name) in KINDS {
                a.chip href=(url::with(&ask.query, "kind", word, &["after"])) aria-current=[(kind == word).then_some("true")] { (name) }
            } }
            form.bar method="get" {
                @for name in ["kind", "status"] { @if let Some(value) = ask.param(name) {
                    input type="hidden" name=(name) value=(value);
                } }
                input.field name="by" value=(said("by")) aria-label="Done by" placeholder="By whom";
                input.field name="action" value=(said("action")) aria-label="Action or route" placeholder="Action or route";
                @if !clusters.is_empty() {
                    label.lab { "Cluster"
                        select.field name="cluster" {
                            option value="" { "all" }
                            @for cluster in &clusters {
                                @let name = text(cluster, "name");
                                option value=(name) selected[said("cluster") == name] { (name) }
                            }
                        }
                    }
                }
                label.lab { "Result"
                    select.field name="result" { @for (word, name) in RESULTS {
                        option value=(word) selected[result == word] { (name) }
                    } }
                }
                label.lab { "Since (UTC)" input.field type="datetime-local" name="since" value=(minute("since")); }
                label.lab { "Until (UTC)" input.field type="datetime-local" name="until" value=(minute("until")); }
                input.field type="search" name="text" value=(said("text")) aria-label="Text" placeholder="Id or text";
                button.btn type="submit" { "Show" }
            }
        }
    })
}

/// A place where records are not as they should be.
fn missing(gap: &Value) -> Markup {
    let colour = match text(gap, "kind") {
        "removed" => "",
        "lost" => "warn",
        _ => "bad",
    };
    note(
        colour,
        html! { p {
            (with_times(&sentence(&cut(text(gap, "message"), 400))))
            @if let Some(at) = gap["at"].as_str() { " " (day(at)) }
        } },
    )
}

fn pages(ask: &Ask, listed: &Value) -> Markup {
    let (searched, next) = (count(listed, "searched"), listed["next"].as_str());
    html! {
        nav.pager aria-label="Pages" {
            @if ask.param("after").is_some() { a.btn href=(url::with(&ask.query, "after", "", &[])) { "Newest" } }
            span.soft {
                (things(searched, "record was", "records were")) " looked at"
                @if let Some(to) = listed["searched-to"].as_str() { ", back to " (day(to)) }
            }
            @if let Some(next) = next { a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Earlier" } }
        }
    }
}

fn table(ask: &Ask, records: &[Value], known: &Known) -> Markup {
    if records.is_empty() {
        let is_filtered = FILTERS.iter().any(|it| ask.param(it).is_some());
        let more = html! {
            "Earlier ones may be on the next page, if there is one."
            @if is_filtered { " " a href="/audit" { "Clear the filter" } }
        };
        return html! { div.in { (empty("No record matches", more)) } };
    }
    html! {
        div.scroll { table.events {
            caption.vh { "Records of the audit log, the newest first" }
            thead { tr {
                th scope="col" { "When" } th scope="col" { "By" } th scope="col" { "What" }
                th scope="col" { "About" } th scope="col" { "Result" }
            } }
            tbody { @for record in records { (row(ask, record, known)) } }
        } }
    }
}

fn row(ask: &Ask, record: &Value, known: &Known) -> Markup {
    let by = text(record, "by");
    // What a call did not find, or may not see, leads nowhere.
    let is_there = !matches!(text(record, "result"), "refused" | "failed");
    html! {
        tr id={ "record-" (record["sequence"]) } {
            td.when { (day(text(record, "at"))) }
            td {
                @if !by.is_empty() { a href=(url::with(&ask.query, "by", by, &["after"])) { (cut(by, 40)) } }
                @else { span.dim { (text(record, "origin")) } }
            }
            td {
                (what(record))
                details.small {
                    summary { "Record " (record["sequence"]) }
                    (details(record))
                }
            }
            td {
                // Links that stand in a text would have to be underlined.
                div { @if is_there { (about(record, known)) } @else { (named(record)) } }
                @if let Some(vms) = record["vms"].as_str() { div.mono { (cut(vms, 120)) } }
            }
            td { (result(record)) }
        }
    }
}

/// What a record is about, as text.
fn named(record: &Value) -> Markup {
    let names = ["cluster", "policy", "unit", "vm", "host"];
    let names = names.map(|name| text(record, name));
    html! { @for name in names.into_iter().filter(|it| !it.is_empty()) { (cut(name, 48)) " " } }
}

/// What was done, as a sentence or as a call.
fn what(record: &Value) -> Markup {
    let (method, route) = (text(record, "method"), text(record, "route"));
    html! {
        @if let Some(message) = record["message"].as_str() { (with_times(&sentence(&cut(message, 240)))) " " }
        @if let Some(what) = record["what"].as_str() { span.sub.mono { (cut(what, 60)) } }
        @if !method.is_empty() {
            span.mono { (cut(method, 20)) " " (cut(if route.is_empty() { text(record, "path") } else { route }, 120)) }
        }
    }
}

/// All else that the record has.
fn details(record: &Value) -> Markup {
    const SHOWN: [(&str, &str); 9] = [
        ("path", "Path"),
        ("peer", "From"),
        ("forwarded-for", "Claims to be from"),
        ("request", "Request"),
        ("before", "Before"),
        ("after", "After"),
        ("origin", "Origin"),
        ("event", "Event"),
        ("hash", "Hash"),
    ];
    let said = SHOWN.into_iter().filter_map(|(key, name)| {
        let value = match &record[key] {
            Value::String(text) => cut(text, 600),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((name, value))
    });
    html! { dl.facts { @for (name, value) in said { dt { (name) } dd.mono { (value) } } } }
}

fn result(record: &Value) -> Markup {
    let status = record["status"].as_u64();
    let word = text(record, "result");
    let said = match status {
        Some(status) => format!("{word}, {status}"),
        None => word.to_owned(),
    };
    html! {
        @match word {
            "done" => { span.nowrap { (said) } },
            "refused" => { (state("bad", "bad", &said)) },
            "failed" | "unanswered" => { (state("warn", "warn", &said)) },
            _ => {},
        }
        @if let Some(code) = record["code"].as_str() { span.sub.mono { (cut(code, 60)) } }
        @if record["repeated"] == true { span.sub { "an answer of before" } }
        @if let Some(left) = record["left-out"].as_u64() {
            span.warn { (sign("warn")) " " (format::count(left)) " more without a record" }
        }
    }
}
