//! One host: what it has, what runs there, and what can be done with it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::{Ask, Console};
use crate::format::{self, Moment, bytes, cores, number, percent};
use crate::maintenance;
use crate::measures::Measures;
use crate::missing::Missing;
use crate::page::{self, Area, Page, crumbs};
use crate::parts::{self, Measure, ago, barred, empty, host_state};
use crate::standing::{NotUp, words};
use crate::url::{self, of_cluster, segment};
use crate::value::{count, text};
use crate::vms;
use placewright_http::{Permission, Problem};

/// VMs of the host that are listed.
const VMS: usize = 1000;

/// The columns by which they can be sorted; `-` stands for the greatest first.
const ORDERS: [&str; 6] = ["id", "-id", "cpu", "-cpu", "memory", "-memory"];

/// A host.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let api = format!("/v1/clusters/{}", segment(&cluster));
    let path = format!("{api}/hosts/{}", segment(&id));
    let host = match ask.get(&path).await {
        Ok(host) => host,
        Err(problem) => {
            let list = of_cluster(&cluster, &[]);
            let list = ("hosts", &*list);
            let kind = ("host", "host");
            let missing = Missing::of_cluster(kind, (&cluster, &id), Area::Hosts, list);
            return missing.instead(&ask, problem).await;
        }
    };
    // Who makes room looks for the largest first.
    let sorted = ask.one_of("sort", &ORDERS)?.unwrap_or("-memory");
    let of_host = url::query([("host", Some(id.as_str())), ("sort", Some(sorted))]);
    let vms = ask.list(&format!("{api}/vms?{of_host}"), VMS).await?;
    let columns = ask.get(&format!("{api}/host-columns?columns=id")).await?;
    let overcommit = columns["cpu-overcommit"].as_f64();
    let not_up = NotUp::of_host(&host);
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned()), (&cluster, of_cluster(&cluster, &[]))], &id))
                h1.mono { (format::cut(&id, 80)) }
                p.bar { (host_state(text(&host, "state"))) span { (sentence(&host)) } }
            }
            div.acts {
                (maintenance::way(&ask, &cluster, (&id, text(&host, "state")), ""))
                (empty_it(&ask, &cluster, &id))
            }
        }
        div.cols.two-one {
            section.panel aria-labelledby="vms" {
                header { h2 id="vms" { "VMs " span.dim { (format::len(vms.len())) } } }
                @if vms.is_empty() {
                    div.in { (empty("No VM runs here", html! { "and no place is reserved." })) }
                } @else { (vms::table(&cluster, (&vms, &not_up), Some((&ask, sorted)))) }
            }
            div.stack {
                section.panel aria-labelledby="measures" {
                    header { h2 id="measures" { "What is promised" } (parts::measure_key()) }
                    // The page is read again from its own address.
                    p.in.small.dim id="measured" data-measured="" { "measured values as of " (parts::time(Moment::now())) span.age {} }
                    div.in.stack { (measures(&host, overcommit)) }
                }
                section.panel aria-labelledby="columns" {
                    header { h2 id="columns" { "What units can read of it" } }
                    div.in { (facts(&host)) }
                }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::command(&["get", "hosts", &id, "--cluster", &cluster])))) }
    };
    let page = Page {
        title: format!("{id} of {cluster}"),
        area: Area::Hosts,
        cluster: Some(&cluster),
        main,
        live: "vm,host,inventory,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}

fn sentence(host: &Value) -> String {
    let (running, pending) = (count(host, "vms.count"), count(host, "vms.pending"));
    let state = text(host, "state");
    let mut sentence = match (running, state) {
        (0, _) => "No VM runs here".to_owned(),
        (_, "down" | "error") => format!(
            "The host {} with {} on it",
            words(state),
            format::things(running, "VM", "VMs")
        ),
        _ => format!("{} here", format::things(running, "VM runs", "VMs run")),
    };
    if pending > 0 {
        let places = format::things(pending, "place is", "places are");
        sentence.push_str(&format!(", and {places} reserved"));
    }
    let zone = text(host, "zone");
    if !zone.is_empty() {
        sentence.push_str(&format!("; it stands in {}", format::cut(zone, 40)));
    }
    sentence + "."
}

/// The form that plans how the host is emptied.
fn empty_it(ask: &Ask, cluster: &str, id: &str) -> Markup {
    match ask.may(Permission::Operate, Some(cluster)) {
        true => html! {
            form action=(of_cluster(cluster, &["plans"])) method="post" {
                input type="hidden" name="deed" value="evacuate";
                input type="hidden" name="host" value=(id);
                button.btn type="submit" { "Plan to empty it" }
            }
        },
        false => barred(ask, Permission::Operate, "Plan to empty it"),
    }
}

fn measures(host: &Value, overcommit: Option<f64>) -> Markup {
    let Measures { cpu, memory } = Measures::of_host(|name| host[name].as_f64(), overcommit);
    let line = |measure: Measure, text: fn(f64) -> String| {
        let used = measure.used.map_or("not measured".to_owned(), |used| {
            format!("{} used", text(used))
        });
        format!(
            "{used} · {} committed · {} reserved · of {}",
            text(measure.committed),
            text(measure.reserved),
            text(measure.promisable)
        )
    };
    html! {
        div { h3 { "CPU" } (cpu.bar("CPU")) p.small.soft { (line(cpu, cores)) } }
        div { h3 { "Memory" } (memory.bar("Memory")) p.small.soft { (line(memory, bytes)) } }
    }
}

/// The columns of a row, but for those that stand elsewhere.
fn facts(host: &Value) -> Markup {
    let columns = host.as_object();
    let shown = columns
        .into_iter()
        .flatten()
        .filter(|(name, _)| !matches!(name.as_str(), "id" | "vms" | "statistics"));
    let measured = &host["statistics"];
    html! {
        dl.facts {
            @for (name, value) in shown {
                dt.mono { (format::cut(name, 40)) }
                dd {
                    (written(name, value))
                    @if let Some(at) = Moment::of(&measured[name]["measured"]) {
                        span.dim.small { " measured " (ago(at)) }
                        @if measured[name]["outdated"] == true { span.warn.small { " outdated" } }
                    }
                }
            }
        }
    }
}

/// A value as people read it.
pub(crate) fn written(name: &str, value: &Value) -> Markup {
    let is_of = |part: &str| name.starts_with(part);
    match value {
        Value::Number(amount) => {
            let amount = amount.as_f64().unwrap_or_default();
            let is_share = name.ends_with("usage") || name.ends_with("overcommit");
            let is_cpu = matches!(
                name,
                "cpu" | "cpu.total" | "cpu.committed" | "cpu.pending" | "load.pending"
            );
            let is_memory = (is_of("memory") || is_of("swap") || name == "disk")
                && !name.ends_with("overcommit");
            match () {
                () if is_share => html! { (percent(amount)) },
                () if is_cpu => html! { (cores(amount)) },
                () if is_memory => html! { (bytes(amount)) },
                () => html! { (number(amount, 3)) },
            }
        }
        Value::String(text) => html! { (format::cut(text, 80)) },
        Value::Bool(yes) => html! { (if *yes { "yes" } else { "no" }) },
        Value::Null => html! { span.dim { "none" } },
        Value::Array(rows) if rows.iter().all(Value::is_string) => {
            let texts: Vec<String> = rows
                .iter()
                .filter_map(Value::as_str)
                .map(|it| format::cut(it, 40))
                .collect();
            html! { (texts.join(", ")) }
        }
        Value::Array(rows) => html! {
            @for row in rows.iter().take(20) { div.small.mono { (format::cut(&row.to_string(), 120)) } }
            @if rows.len() > 20 { span.dim { "and " (rows.len() - 20) " more" } }
        },
        Value::Object(_) => html! { span.small.mono { (format::cut(&value.to_string(), 160)) } },
    }
}
