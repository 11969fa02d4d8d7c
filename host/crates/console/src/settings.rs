//! How a cluster is set: its policy, plans and restarts by the server, and how long measurements
//! count.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::form;
use crate::format::cut;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, button};
use crate::told;
use crate::url::{Pairs, of_cluster, segment};
use crate::value::text;
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Policies that may be chosen from.
const POLICIES: usize = 10_000;

/// A field for a number of seconds, or of something else.
struct Field {
    name: &'static str,
    label: &'static str,
    /// What it means that it is empty.
    empty: &'static str,
    least: i64,
    most: i64,
}

/// The longest time that can be set, 30 days.
const LONGEST: i64 = 2_592_000;

const BALANCE: Field = Field {
    name: "balance-every",
    label: "Make a plan of moves every so many seconds",
    empty: "none is made",
    least: 10,
    most: LONGEST,
};
const SETTLE: Field = Field {
    name: "restart-settle",
    label: "Restart them after their host has been down for so many seconds",
    empty: "60",
    least: 0,
    most: 3600,
};
const IN_FLIGHT: Field = Field {
    name: "restart-max-in-flight",
    label: "Restart so many at once",
    empty: "8",
    least: 1,
    most: 1000,
};
const STATISTICS: Field = Field {
    name: "statistics-max-age",
    label: "What was measured of hosts counts for so many seconds",
    empty: "until it is measured again",
    least: 1,
    most: LONGEST,
};
const UNMEASURED: Field = Field {
    name: "unmeasured-max-age",
    label: "What has come to run counts as measured after so many seconds",
    empty: "when it is measured",
    least: 1,
    most: LONGEST,
};

/// What a form has: texts, as they were entered.
struct Entered {
    revision: String,
    fields: Pairs,
}

impl Entered {
    /// As the cluster is set.
    fn of(settings: &Value) -> Self {
        let restart = &settings["restart"];
        let number = |value: &Value| value.as_i64().map(|it| it.to_string());
        let fields = [
            ("policy", Some(text(settings, "policy").to_owned())),
            (BALANCE.name, number(&settings["balance"]["every"])),
            (
                "restart",
                restart
                    .is_object()
                    .then(|| restart["vms"].as_str().unwrap_or("all").to_owned()),
            ),
            (SETTLE.name, number(&restart["settle"])),
            (IN_FLIGHT.name, number(&restart["max-in-flight"])),
            (STATISTICS.name, number(&settings[STATISTICS.name])),
            (UNMEASURED.name, number(&settings[UNMEASURED.name])),
        ];
        Self {
            revision: settings["revision"].to_string(),
            fields: fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
        }
    }

    fn text(&self, name: &str) -> &str {
        form::value(&self.fields, name).unwrap_or_default().trim()
    }

    /// None: the field is empty.
    fn number(&self, field: &Field) -> Result<Option<i64>, Problem> {
        let entered = self.text(field.name);
        if entered.is_empty() {
            return Ok(None);
        }
        let number = entered.parse().ok();
        let number = number.filter(|it| (field.least..=field.most).contains(it));
        number.map(Some).ok_or_else(|| {
            let (least, most) = (field.least, field.most);
            let sentence = format!(
                "\"{}\" is not a whole number from {least} to {most}, which the field \"{}\" needs",
                cut(entered, 40),
                field.label
            );
            Problem::new(Code::Unprocessable, sentence)
        })
    }

    /// The settings that the form describes. What it does not show stays as in `before`.
    fn settings(&self, before: &Value) -> Result<Value, Problem> {
        let mut settings = Map::new();
        settings.insert("policy".to_owned(), self.text("policy").into());
        if before["overrides"].is_object() {
            settings.insert("overrides".to_owned(), before["overrides"].clone());
        }
        if let Some(every) = self.number(&BALANCE)? {
            settings.insert("balance".to_owned(), json!({"every": every}));
        }
        let which = self.text("restart");
        let given = [
            ("settle", self.number(&SETTLE)?),
            ("max-in-flight", self.number(&IN_FLIGHT)?),
        ];
        if !which.is_empty() {
            let mut restart = Map::from_iter([("vms".to_owned(), which.into())]);
            for (name, number) in given {
                restart.extend(number.map(|it| (name.to_owned(), it.into())));
            }
            settings.insert("restart".to_owned(), restart.into());
        }
        for field in [&STATISTICS, &UNMEASURED] {
            let number = self.number(field)?;
            settings.extend(number.map(|it| (field.name.to_owned(), it.into())));
        }
        Ok(settings.into())
    }
}

/// The settings of a cluster.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    let settings = ask.get(&path(&cluster)).await?;
    let entered = Entered::of(&settings);
    form_page(&ask, &cluster, &settings, &entered, None).await
}

/// Set a cluster.
pub(crate) async fn save(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let fields = form::pairs(&body);
    let entered = Entered {
        revision: form::value(&fields, "revision")
            .unwrap_or_default()
            .to_owned(),
        fields,
    };
    let before = ask.get(&path(&cluster)).await?;
    let wrong = match put(&ask, &cluster, &entered, &before).await {
        Ok(()) => {
            let page = of_cluster(&cluster, &["settings"]);
            let saved = format!("the settings of {} are saved", cut(&cluster, 60));
            return told::done(&ask, &page, &saved);
        }
        Err(problem) => problem,
    };
    match wrong.code() {
        Code::RevisionChanged | Code::Unprocessable | Code::NotFound => {
            form_page(&ask, &cluster, &before, &entered, Some(wrong)).await
        }
        _ => Err(wrong),
    }
}

async fn put(ask: &Ask, cluster: &str, entered: &Entered, before: &Value) -> Result<(), Problem> {
    let settings = entered.settings(before)?;
    let document = Sent::Document {
        kind: "application/json",
        text: settings.to_string().into(),
        headers: vec![(header::IF_MATCH, format!("\"{}\"", entered.revision))],
    };
    ask.send("PUT", &path(cluster), document).await.map(drop)
}

fn path(cluster: &str) -> String {
    format!("/v1/clusters/{}/settings", segment(cluster))
}

/// The page of the form. `wrong` is the problem that kept it from being saved.
async fn form_page(
    ask: &Ask,
    cluster: &str,
    settings: &Value,
    entered: &Entered,
    wrong: Option<Problem>,
) -> Result<Response, Problem> {
    let policies = ask.list("/v1/policies", POLICIES).await?;
    let policies: Vec<&str> = policies.iter().map(|it| text(it, "name")).collect();
    let has_changed = wrong
        .as_ref()
        .is_some_and(|wrong| wrong.code() == Code::RevisionChanged);
    let main = html! {
        div.head { div {
            (crumbs(&[("Overview", "/".to_owned()), (cluster, of_cluster(cluster, &[]))], "Settings"))
            h1 { "Settings of " (cluster) }
            p { "Decided by " a href={ "/policies/" (segment(text(settings, "policy"))) } { (text(settings, "policy")) }
                ", revision " (settings["revision"]) " of these settings." }
        } }
        @if let Some(wrong) = &wrong {
            (parts::alert("bad", html! {
                @if has_changed { "Somebody else has changed these settings meanwhile, and yours are not saved. "
                    a href=(of_cluster(cluster, &["settings"])) { "See theirs" } ", then change them again." }
                @else { "Nothing was saved: " (sentence(&wrong.clone().body(None).detail)) }
            }))
        }
        form.stack action=(of_cluster(cluster, &["settings"])) method="post" {
            input type="hidden" name="revision" value=(entered.revision);
            section.panel aria-labelledby="policy" {
                header { h2 id="policy" { "Policy" } }
                div.in.stack {
                    label.lab { "Policy that decides" select.field name="policy" {
                        @for name in &policies { option value=(name) selected[*name == entered.text("policy")] { (cut(name, 60)) } }
                    } }
                    (overrides(&settings["overrides"]))
                }
            }
            section.panel aria-labelledby="server" {
                header { h2 id="server" { "What the server does by itself" } }
                div.in.stack {
                    (field(entered, &BALANCE))
                    p.small.soft { "Somebody looks at each plan and approves it before anything is moved." }
                    label.lab { "Restart VMs of hosts that are down or in error" select.field name="restart" {
                        @for (word, label) in [("", "no"), ("all", "all of them"), ("ha", "the highly available ones")] {
                            option value=(word) selected[word == entered.text("restart")] { (label) }
                        }
                    } }
                    (field(entered, &SETTLE))
                    (field(entered, &IN_FLIGHT))
                }
            }
            section.panel aria-labelledby="measured" {
                header { h2 id="measured" { "How long measurements count" } }
                div.in.stack { (field(entered, &STATISTICS)) (field(entered, &UNMEASURED)) }
            }
            div.acts {
                (button(ask, Permission::AttachPolicies, Some(cluster), "main", "Save"))
                (parts::copies(&parts::curl("GET", &path(cluster), None), Some(&parts::list_command("settings", Some(cluster), &[]))))
            }
        }
    };
    let page = Page {
        title: format!("Settings of {cluster}"),
        area: Area::Settings,
        cluster: Some(cluster),
        main,
        // What is being entered is not to go.
        live: "",
        script: None,
    };
    let status = wrong.map_or(StatusCode::OK, |wrong| wrong.code().status());
    page::shown_as(ask, page, status).await
}

fn field(entered: &Entered, field: &Field) -> Markup {
    html! {
        label.lab { (field.label)
            input.field type="number" name=(field.name) min=(field.least) max=(field.most) step="1"
                value=(entered.text(field.name));
            span.small.dim { "empty: " (field.empty) }
        }
    }
}

/// What is different from the policy here.
fn overrides(overrides: &Value) -> Markup {
    let overrides: Vec<_> = overrides.as_object().into_iter().flatten().collect();
    html! {
        @if overrides.is_empty() { p.small.soft { "Nothing is different from the policy here." } }
        @else {
            p.small.soft { "Different from the policy here, and not changed by this form:" }
            ul.list { @for (entry, other) in overrides.iter().take(256) {
                li { b { (cut(entry, 60)) } " " code { (cut(&other.to_string(), 200)) } }
            } }
        }
    }
}
