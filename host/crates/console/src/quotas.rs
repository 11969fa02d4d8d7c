//! Quotas: what tenants hold of what they may hold; made, changed and removed by admins.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::ask::{Ask, Console};
use crate::form;
use crate::format::{self, bytes, cores, cut, things};
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, barred, day, empty, note, state};
use crate::told;
use crate::url::{self, Pairs, of_cluster, segment};
use crate::value::{items, text};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Quotas of a page.
const ROWS: usize = 100;
/// Clusters that a quota may be for.
const CLUSTERS: usize = 1000;

/// What can be limited: its name, what people call it, and an example.
const LIMITS: [(&str, &str, &str); 4] = [
    ("cpu", "CPU in cores", "64"),
    ("memory", "Memory", "256 GiB"),
    ("gpus", "GPUs", "4"),
    ("vms", "VMs", "100"),
];

/// An amount as people read it.
fn written(name: &str, amount: f64) -> String {
    match name {
        "cpu" => cores(amount),
        "memory" => bytes(amount),
        _ => format::number(amount, 3),
    }
}

/// The list.
pub(crate) async fn list(State(_): State<Arc<Console>>, ask: Ask) -> Result<Response, Problem> {
    if ask.param("make").is_some() {
        return form_page(&ask, None, &Entered::new(), None).await;
    }
    let rows = ROWS.to_string();
    let names = ["tenant", "cluster", "after"];
    let said = names.map(|name| (name, ask.param(name)));
    let query = url::query(said.into_iter().chain([("limit", Some(&*rows))]));
    let narrowed = &said[..2];
    let path = format!("/v1/quotas?{query}");
    let (quotas, wrong) = match ask.get(&path).await {
        Ok(page) => (page, None),
        // There is no such cluster.
        Err(problem) if problem.code() == Code::NotFound => (Value::Null, Some(problem)),
        Err(problem) => return Err(problem),
    };
    let listed = items(&quotas, "items");
    let is_filtered = ["tenant", "cluster"]
        .iter()
        .any(|it| ask.param(it).is_some());
    let is_part = ask.param("after").is_some() || quotas["next"].is_string();
    let full = listed.iter().filter(|it| fullest(it) >= 1.0).count();
    let main = html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned())], "Quotas"))
                h1 { @match (listed.len(), full) {
                    (0, _) if is_filtered => "No quota matches",
                    (0, _) if is_part => "No more quotas",
                    (0, _) => "No quota",
                    (_, 0) if is_filtered || is_part => "None of these quotas is used up",
                    (_, 0) => "Every tenant has room left in its quotas",
                    (_, full) => { (things(full, "quota is", "quotas are")) " used up" }
                } }
                p { "A quota says how much a tenant may hold, in one cluster or in all together. What is held already stays, even where it is more." }
            }
            div.acts { @match ask.may(Permission::Administer, None) {
                true => a.btn.main href="/quotas?make=yes" { "Make a quota" },
                false => (barred(&ask, Permission::Administer, "Make a quota")),
            } }
        }
        @if let Some(wrong) = &wrong { (note("warn", html! { (sentence(wrong.detail())) })) }
        section.panel aria-label="Quotas" {
            header { form.bar.grow method="get" data-auto {
                input.field name="tenant" value=(ask.param("tenant").unwrap_or_default()) aria-label="Id of the tenant" placeholder="Tenant";
                input.field name="cluster" value=(ask.param("cluster").unwrap_or_default()) aria-label="Name of the cluster" placeholder="Cluster";
                button.btn.without-script type="submit" { "Show" }
            } }
            @if listed.is_empty() {
                div.in { (match is_filtered {
                    true => empty("No quota matches", html! { a href="/quotas" { "Clear the filter" } }),
                    false if is_part => empty("No more quotas", html! { a href="/quotas" { "Show the first ones" } }),
                    false => empty("No tenant is limited", html! { "With a quota nothing is placed with which its tenant would hold more than it allows." }),
                }) }
            } @else {
                div.scroll { table {
                    caption.vh { "Quotas by name" }
                    thead { tr {
                        th scope="col" { "Quota" } th scope="col" { "Tenant" } th scope="col" { "Where" }
                        @for (_, title, _) in LIMITS { th scope="col" { (title) } }
                        th scope="col" { "Changed" }
                    } }
                    tbody { @for quota in listed { (row(quota)) } }
                } }
            }
            @if let Some(next) = quotas["next"].as_str() {
                nav.pager aria-label="Pages" {
                    a.btn href=(url::with(&ask.query, "after", next, &[])) rel="next" { "Next " (ROWS) }
                }
            }
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::list_command("quotas", None, narrowed)))) }
    };
    let page = Page {
        title: "Quotas".to_owned(),
        area: Area::Quotas,
        cluster: None,
        main,
        live: "vm,quota,inventory,reservation",
        script: None,
    };
    page::shown(&ask, page).await
}

/// The share of the limit that is used most.
fn fullest(quota: &Value) -> f64 {
    let shares = LIMITS.iter().filter_map(|(name, ..)| share(quota, name));
    shares.fold(0.0, f64::max)
}

/// How much of a limit is used; None: that is not limited.
fn share(quota: &Value, name: &str) -> Option<f64> {
    let limit = quota["limits"][name].as_f64()?;
    let used = quota["used"][name].as_f64().unwrap_or_default();
    Some(match limit > 0.0 {
        true => used / limit,
        false => 1.0,
    })
}

fn row(quota: &Value) -> Markup {
    let name = text(quota, "name");
    html! {
        tr.tall {
            th.row scope="row" { a href={ "/quotas/" (segment(name)) } { (cut(name, 64)) } }
            td { (cut(text(quota, "tenant"), 60)) }
            td { @match quota["cluster"].as_str() {
                Some(cluster) => a href=(of_cluster(cluster, &[])) { (cut(cluster, 60)) },
                None => "all together",
            } }
            @for (limit, title, _) in LIMITS { td { (used(quota, limit, title)) } }
            td { (cut(text(quota, "by"), 40)) span.sub { (day(text(quota, "at"))) } }
        }
    }
}

/// What is used of a limit, as a bar with words.
fn used(quota: &Value, name: &str, title: &str) -> Markup {
    let held = quota["used"][name].as_f64().unwrap_or_default();
    let Some(share) = share(quota, name) else {
        return html! { (written(name, held)) span.sub { "not limited" } };
    };
    let limit = quota["limits"][name].as_f64().unwrap_or_default();
    let told = format!("{} of {}", written(name, held), written(name, limit));
    html! {
        svg viewBox="0 0 100 8" preserveAspectRatio="none" width="110" height="8" role="img" aria-label={ (title) ": " (told) } {
            rect.f-track width="100" height="8" {}
            rect class=(if share > 1.0 { "f-bad" } else { "f-com" }) width=(format!("{:.1}", (share * 100.0).clamp(0.0, 100.0))) height="8" {}
        }
        span.sub { (told) @if share > 1.0 { " " (state("bad", "bad", "more than it allows")) } }
    }
}

/// What a form of a quota has.
struct Entered {
    tag: String,
    fields: Pairs,
}

impl Entered {
    fn new() -> Self {
        Self {
            tag: String::new(),
            fields: Pairs::new(),
        }
    }

    fn of(quota: &Value, tag: String) -> Self {
        let mut fields = Pairs::new();
        for name in ["name", "tenant", "cluster"] {
            fields.push((name.to_owned(), text(quota, name).to_owned()));
        }
        for (name, ..) in LIMITS {
            let shown = match (name, quota["limits"][name].as_f64()) {
                (_, None) => String::new(),
                // Whole units of measure where they are whole, so that nothing is lost.
                ("memory", Some(limit)) => exact_bytes(limit),
                (_, Some(limit)) => limit.to_string(),
            };
            fields.push((name.to_owned(), shown));
        }
        Self { tag, fields }
    }

    fn text(&self, name: &str) -> &str {
        form::value(&self.fields, name).unwrap_or_default().trim()
    }

    fn document(&self) -> Value {
        let mut limits = Map::new();
        for (name, ..) in LIMITS {
            let entered = self.text(name);
            if entered.is_empty() {
                continue;
            }
            // What is no number is read, or refused with a reason, by the API.
            let value = match (entered.parse::<u64>(), entered.parse::<f64>()) {
                (Ok(whole), _) => whole.into(),
                (_, Ok(number)) if number.is_finite() => number.into(),
                _ => Value::from(entered),
            };
            limits.insert(name.to_owned(), value);
        }
        let mut document = Map::new();
        document.insert("tenant".to_owned(), self.text("tenant").into());
        if !self.text("cluster").is_empty() {
            document.insert("cluster".to_owned(), self.text("cluster").into());
        }
        document.insert("limits".to_owned(), limits.into());
        document.into()
    }
}

/// So many bytes, in the greatest unit in which they are a whole number.
fn exact_bytes(limit: f64) -> String {
    let units = ["TiB", "GiB", "MiB", "KiB"];
    let mut size = 1024_f64.powi(4);
    for unit in units {
        if limit >= size && limit % size == 0.0 {
            return format!("{} {unit}", limit / size);
        }
        size /= 1024.0;
    }
    limit.to_string()
}

/// A quota, and the form that changes it.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let (quota, tag) = ask.get_tagged(&path(&name)).await?;
    let entered = Entered::of(&quota, tag);
    form_page(&ask, Some(&quota), &entered, None).await
}

fn path(name: &str) -> String {
    format!("/v1/quotas/{}", segment(name))
}

/// The page of the form. `wrong` is the problem that kept it from being saved.
async fn form_page(
    ask: &Ask,
    quota: Option<&Value>,
    entered: &Entered,
    wrong: Option<Problem>,
) -> Result<Response, Problem> {
    let clusters = ask.list("/v1/clusters", CLUSTERS).await?;
    let name = quota.map(|quota| text(quota, "name"));
    let title = name.map_or("New quota".to_owned(), |name| cut(name, 64));
    let may = ask.may(Permission::Administer, None);
    let has_changed = wrong
        .as_ref()
        .is_some_and(|it| it.code() == Code::RevisionChanged);
    let action = name.map_or("/quotas".to_owned(), |name| {
        format!("/quotas/{}", segment(name))
    });
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), ("Quotas", "/quotas".to_owned())], &title))
            h1 { @match name { Some(name) => { "Quota " (cut(name, 64)) }, None => "Make a quota" } }
            @if let Some(quota) = quota {
                p { "Revision " (quota["revision"]) ", saved by " (cut(text(quota, "by"), 40)) " at " (day(text(quota, "at"))) "." }
            }
        } }
        @if let Some(wrong) = &wrong { (parts::alert("bad", html! {
            @match (has_changed, name) {
                (true, Some(_)) => { "Somebody else has changed this quota meanwhile, and nothing of yours is saved. "
                    a href=(action) { "See theirs" } ", then change it again." }
                (true, None) => "There is a quota of this name already: nothing is saved. Take another name, or change that one.",
                (false, _) => { "Nothing was saved: " (sentence(&wrong.clone().body(None).detail)) }
            }
        })) }
        div.cols.two-one {
            section.panel aria-labelledby="limits" {
                header { h2 id="limits" { "What the tenant may hold" } }
                form.in.stack action=(action) method="post" {
                    input type="hidden" name="tag" value=(entered.tag);
                    @if name.is_none() {
                        label.lab { "Name of the quota" input.field name="name" required maxlength="64" value=(entered.text("name")); }
                    }
                    label.lab { "Tenant" input.field name="tenant" required value=(entered.text("tenant")); }
                    label.lab { "Where" select.field name="cluster" {
                        option value="" { "in all clusters together" }
                        @let chosen = entered.text("cluster");
                        @for cluster in &clusters { @let name = text(cluster, "name");
                            option value=(name) selected[name == chosen] { "in " (cut(name, 60)) } }
                        @if !chosen.is_empty() && !clusters.iter().any(|it| it["name"] == chosen) {
                            option value=(chosen) selected { "in " (cut(chosen, 60)) ", which is not there" } }
                    } }
                    @for (limit, title, example) in LIMITS {
                        label.lab { (title) input.field name=(limit) size="12" value=(entered.text(limit));
                            span.small.dim { "such as " (example) "; empty: not limited" } }
                    }
                    div.acts { (parts::button(ask, Permission::Administer, None, "main", if name.is_some() { "Save the quota" } else { "Make the quota" })) }
                }
            }
            @if let Some(quota) = quota {
                section.panel aria-labelledby="held" {
                    header { h2 id="held" { "What it holds now" } }
                    div.in.stack {
                        dl.facts { @for (limit, title, _) in LIMITS { dt { (title) } dd { (used(quota, limit, title)) } } }
                        @if may { form action=(action) method="post" {
                            @let question = format!("Remove this quota? {} is limited by it no more.", cut(text(quota, "tenant"), 60));
                            input type="hidden" name="tag" value=(entered.tag);
                            (parts::sure_button("risk", "remove", "Remove the quota", &question))
                        } } @else { (parts::barred(ask, Permission::Administer, "Remove the quota")) }
                    }
                }
            }
        }
        @if let Some(name) = name { div.acts { (parts::copies(&parts::curl("GET", &path(name), None), Some(&parts::command(&["get", "quotas", name])))) } }
    };
    let status = wrong.map_or(StatusCode::OK, |wrong| wrong.code().status());
    let page = Page {
        title,
        area: Area::Quotas,
        cluster: None,
        main,
        // What is being entered is not to go.
        live: "",
        script: None,
    };
    page::shown_as(ask, page, status).await
}

/// Make a quota.
pub(crate) async fn make(
    State(_): State<Arc<Console>>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let entered = Entered {
        tag: String::new(),
        fields: form::pairs(&body),
    };
    let name = entered.text("name").to_owned();
    if name.is_empty() {
        let wrong = Problem::new(Code::Unprocessable, "a quota needs a name");
        return form_page(&ask, None, &entered, Some(wrong)).await;
    }
    put(&ask, &name, None, entered).await
}

async fn put(
    ask: &Ask,
    name: &str,
    before: Option<&Value>,
    entered: Entered,
) -> Result<Response, Problem> {
    let sent = ("PUT", &*path(name));
    match ask.change(sent, &entered.tag, &entered.document()).await {
        Ok(_) => {
            let page = format!("/quotas/{}", segment(name));
            told::done(ask, &page, &format!("quota {} is saved", cut(name, 64)))
        }
        Err(problem) if form::is_told(&problem) => {
            form_page(ask, before, &entered, Some(problem)).await
        }
        Err(problem) => Err(problem),
    }
}

/// Change a quota, or remove it.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let fields = form::pairs(&body);
    let tag = form::tag(&fields, "quota")?;
    let removes = form::removes(&fields)?;
    let before = ask.get(&path(&name)).await?;
    if !removes {
        return put(&ask, &name, Some(&before), Entered { tag, fields }).await;
    }
    let sent = ("DELETE", &*path(&name));
    match ask.change(sent, &tag, &Value::Null).await {
        Ok(_) => {
            let removed = format!("quota {} is removed", cut(&name, 64));
            told::done(&ask, "/quotas", &removed)
        }
        Err(problem) if form::is_told(&problem) => {
            let entered = Entered::of(&before, tag);
            form_page(&ask, Some(&before), &entered, Some(problem)).await
        }
        Err(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_quota_that_is_shown_and_saved_again_is_the_same() {
        let quota = json!({"tenant": "shop", "cluster": "north",
            "limits": {"cpu": 1.5, "memory": 1_181_116_006_400_u64, "vms": 10}});
        let entered = Entered::of(&quota, "\"1\"".to_owned());
        assert_eq!(entered.text("memory"), "1100 GiB");
        assert_eq!(
            entered.document(),
            json!({"tenant": "shop", "cluster": "north",
                "limits": {"cpu": 1.5, "memory": "1100 GiB", "vms": 10}})
        );
        assert_eq!(exact_bytes(1_000_000.0), "1000000");
    }

    #[test]
    fn the_share_of_a_quota_is_that_of_its_fullest_limit() {
        let quota =
            json!({"limits": {"cpu": 4, "vms": 10}, "used": {"cpu": 1, "vms": 9, "gpus": 7}});
        assert_eq!(fullest(&quota), 0.9);
        assert_eq!(fullest(&json!({"limits": {"gpus": 0}})), 1.0);
    }
}
