//! One policy: its chain and document, tried on recorded decisions before it is saved.

mod amount;
mod answer;
mod chain;
mod changes;
mod document;
mod faults;
mod from_json;
mod history;
mod keys;
mod merge;
mod order;
mod rows;
mod setting;
mod whole;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::ask::{Ask, Console, Sent};
use crate::assets;
use crate::form;
use crate::format::{Moment, cut, things};
use crate::missing::Missing;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts::{self, ago, barred, note};
use crate::told;
use crate::url::{self, Pairs, of_cluster, segment};
use crate::value::text;
pub(crate) use amount::usual as usual_amount;
pub(crate) use chain::CostEntry;
use changes::Change;
pub(crate) use changes::tree as in_json;
use document::Language;
use faults::Faults;
pub(crate) use from_json::as_toml;
use merge::Both;
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};
use whole::Whole;

/// Units that can be chosen for a chain.
const UNITS: usize = 1000;

/// A policy that is being changed.
struct Draft {
    /// The document as it would be saved.
    text: String,
    /// The revision that it is a draft of.
    revision: u64,
    /// Whether the document is shown in the place of the chain.
    is_document: bool,
    /// The cluster whose decisions it is tried on.
    cluster: Option<String>,
    /// The decision of which chances are told.
    shares_of: Option<String>,
    /// Whether each decision is made on what those before it have come to.
    in_sequence: bool,
    /// The unit that was to be added to the chain, and could not be.
    not_added: Option<NotAdded>,
}

/// A unit that cannot be added to the chain.
struct NotAdded {
    unit: String,
    list: String,
    why: String,
}

/// What stands above the views of a policy.
struct Above<'c> {
    /// The status of the answer.
    status: StatusCode,
    told: Markup,
    /// The name for a copy that was refused.
    copy: Option<&'c str>,
}

impl Above<'_> {
    /// Nothing.
    fn nothing(status: StatusCode) -> Self {
        let told = html! {};
        let copy = None;
        Self { status, told, copy }
    }
}

/// What is told of a draft.
enum Told {
    Nothing,
    Answer(Value),
    /// What is wrong with it.
    Wrong(Problem),
    /// It was not saved: somebody else saved this revision meanwhile.
    Conflict(Box<Conflict>),
}

/// A draft, and the revision that somebody else saved meanwhile.
struct Conflict {
    /// The newest revision.
    newest: Value,
    /// The revision that both began with.
    base: u64,
    /// What both have changed; None: the revision is no longer kept, or a document is no TOML.
    both: Option<Both>,
}

impl Draft {
    /// The draft that a form has.
    fn of(sent: &Pairs) -> Result<Self, Problem> {
        let revision = form::value(sent, "revision").and_then(|it| it.parse().ok());
        let revision = revision.ok_or_else(|| {
            Problem::new(
                Code::InvalidParameter,
                "\"revision\" must be the number of a revision",
            )
        })?;
        // Browsers send the ends of lines as two signs.
        let text = form::value(sent, "text")
            .unwrap_or_default()
            .replace("\r\n", "\n");
        let is_document = form::value(sent, "view") == Some("document");
        let text = match is_document {
            true => text,
            false => document::with_fields(&as_toml(&text), sent)?,
        };
        let said = |name| {
            form::value(sent, name)
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
        };
        Ok(Self {
            text,
            revision,
            is_document,
            cluster: said("cluster"),
            shares_of: said("shares-of"),
            in_sequence: in_sequence(said("sequence").as_deref())?,
            not_added: None,
        })
    }

    /// The query of the route that tries this draft. The answer names, for each decision that is
    /// listed, the entry of the policy that changes its outcome.
    fn query(&self, name: &str) -> String {
        let examples = answer::CHANGED.to_string();
        url::query([
            ("policy", Some(name)),
            ("examples", Some(&*examples)),
            ("shares-of", self.shares_of.as_deref()),
            ("in-sequence", self.in_sequence.then_some("true")),
        ])
    }

    /// The command that tries it.
    fn command(&self, name: &str) -> String {
        let cluster = self.cluster.as_deref().unwrap_or("CLUSTER");
        let mut words = vec!["policy", "draft", name, "draft.toml", "--cluster", cluster];
        if let Some(number) = &self.shares_of {
            words.extend(["--shares-of", number]);
        }
        words.extend(self.in_sequence.then_some("--in-sequence"));
        parts::command(&words)
    }
}

/// The costs of a policy's document whose factors can be changed.
///
/// # Errors
/// Why they cannot be told: a sentence.
pub(crate) fn costs(document: &str) -> Result<Vec<CostEntry>, String> {
    chain::costs(document)
}

/// The document with another factor of that cost; the rest stays as it was written.
///
/// # Errors
/// If the document has no such cost.
pub(crate) fn with_factor(
    document: &str,
    entry: &CostEntry,
    factor: f64,
) -> Result<String, Problem> {
    let fields = vec![(entry.field.clone(), factor.to_string())];
    document::with_fields(document, &fields)
}

/// How decisions are made again, as a form or an address says.
fn in_sequence(sequence: Option<&str>) -> Result<bool, Problem> {
    match sequence {
        None => Ok(false),
        Some("in-sequence") => Ok(true),
        Some(_) => {
            let wrong = "\"sequence\" must be in-sequence, or not given";
            Err(Problem::new(Code::InvalidParameter, wrong))
        }
    }
}

/// A policy.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
) -> Result<Response, Problem> {
    ask.one_of("view", &["chain", "document", "history"])?;
    let missing = Missing {
        what: "policy",
        key: "policy",
        name: &name,
        cluster: None,
        area: Area::Policies,
        list: ("policies", "/policies"),
    };
    let policy = match ask.get(&format!("/v1/policies/{}", segment(&name))).await {
        Ok(policy) => policy,
        Err(problem) => return missing.instead(&ask, problem).await,
    };
    if ask.param("view") == Some("history") {
        return history::show(&ask, &name, &policy, Above::nothing(StatusCode::OK)).await;
    }
    let draft = Draft {
        text: text(&policy, "text").to_owned(),
        revision: policy["revision"].as_u64().unwrap_or_default(),
        is_document: ask.param("view") == Some("document"),
        cluster: ask.param("cluster").map(str::to_owned),
        shares_of: ask.param("shares-of").map(str::to_owned),
        in_sequence: in_sequence(ask.param("sequence"))?,
        not_added: None,
    };
    editor(&ask, &name, &policy, draft, Told::Nothing, StatusCode::OK).await
}

/// What a draft would change, alone: for the script of the editor.
pub(crate) async fn draft(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    ask.only_asks();
    let draft = Draft::of(&form::pairs(&body))?;
    let told = match try_out(&ask, &name, &draft).await {
        Told::Wrong(problem) if problem.code() == Code::Unauthorized => return Err(problem),
        told => told,
    };
    let path = format!("/v1/policies/{}", segment(&name));
    let policy = ask.get_if(&path).await.unwrap_or_default();
    let base = match policy["revision"].as_u64() == Some(draft.revision) {
        true => None,
        false => base_of(&ask, &name, &draft).await,
    };
    let markup =
        html! { (differs(&policy, base.as_ref(), &draft)) (answer::panel(&told, &draft, true)) };
    let faults = faults_of(&told, &draft);
    // The document goes with it, so that both views are of the same draft; and what is wrong with
    // which field.
    let whole = html! {
        (markup)
        textarea id="drafted" hidden { "\n" (draft.text) }
        ul id="faults" hidden { @for (field, told) in faults.all() { li data-field=(field) { (told) } } }
    };
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    Ok((kind, whole.into_string()).into_response())
}

/// What is wrong with the fields of a draft.
fn faults_of(told: &Told, draft: &Draft) -> Faults {
    match told {
        Told::Wrong(problem) => Faults::of(problem, &draft.text),
        _ => Faults::default(),
    }
}

/// Ask what would have become of recorded decisions.
async fn try_out(ask: &Ask, name: &str, draft: &Draft) -> Told {
    let Some(cluster) = &draft.cluster else {
        return Told::Nothing;
    };
    let query = draft.query(name);
    let path = format!("/v1/clusters/{}/draft?{query}", segment(cluster));
    let sent = Language::of(&draft.text).sent(&draft.text, Vec::new());
    match ask.send("POST", &path, sent).await {
        Ok(answer) => Told::Answer(answer.body),
        Err(problem) => Told::Wrong(problem),
    }
}

/// Try a draft, save it, show it in another way, or clone the policy.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path(name): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let sent = form::pairs(&body);
    let path = format!("/v1/policies/{}", segment(&name));
    let deed = form::value(&sent, "deed").unwrap_or("try");
    if deed == "clone" {
        return clone(&ask, &name, &sent).await;
    }
    if deed != "save" {
        // What is tried, moved or carried over is saved nowhere.
        ask.only_asks();
    }
    let mut draft = Draft::of(&sent)?;
    let policy = ask.get(&path).await?;
    match deed {
        _ if deed.starts_with(order::MOVE)
            || deed.starts_with(order::REMOVE)
            || deed.starts_with(order::UNWATCH)
            || deed == order::ADD =>
        {
            let said = |name| form::value(&sent, name).unwrap_or_default().trim();
            if deed == order::ADD {
                let (unit, list) = (said("add-unit"), said("add-list"));
                let added = order::added(&draft.text, list, unit)?;
                match why_not_added(&ask, (unit, list)).await? {
                    None => draft.text = added,
                    Some(why) => {
                        let (unit, list) = (unit.to_owned(), list.to_owned());
                        draft.not_added = Some(NotAdded { unit, list, why });
                        let told = try_out(&ask, &name, &draft).await;
                        let status = StatusCode::UNPROCESSABLE_ENTITY;
                        return editor(&ask, &name, &policy, draft, told, status).await;
                    }
                }
            }
            draft.text = match deed {
                order::ADD => draft.text,
                _ if deed.starts_with(order::REMOVE) => order::removed(&draft.text, deed)?,
                _ if deed.starts_with(order::UNWATCH) => order::unwatched(&draft.text, deed)?,
                _ => order::moved(&draft.text, deed)?,
            };
            let told = try_out(&ask, &name, &draft).await;
            editor(&ask, &name, &policy, draft, told, StatusCode::OK).await
        }
        "try" => {
            let told = try_out(&ask, &name, &draft).await;
            editor(&ask, &name, &policy, draft, told, StatusCode::OK).await
        }
        "chain" | "document" => {
            draft.is_document = deed == "document";
            let told = try_out(&ask, &name, &draft).await;
            let shown = html! { "This is the " (deed) " of your draft. Nothing is saved." };
            let above = Above {
                told: parts::outcome("", shown),
                ..Above::nothing(StatusCode::OK)
            };
            shown_editor(&ask, (&name, &policy), draft, told, above).await
        }
        "save" => {
            let tag = (header::IF_MATCH, format!("\"{}\"", draft.revision));
            let document = Language::of(&draft.text).sent(&draft.text, vec![tag]);
            match ask.send("PUT", &path, document).await {
                Ok(answer) => {
                    let page = format!("/policies/{}?view=history", segment(&name));
                    let revision = answer.body["revision"].as_u64().unwrap_or_default();
                    let saved = format!("revision {revision} of {} is saved", cut(&name, 64));
                    told::done(&ask, &page, &saved)
                }
                Err(problem) if problem.code() == Code::RevisionChanged => {
                    let status = problem.code().status();
                    let conflict = conflicting(&ask, &name, &policy, &draft).await;
                    let told = Told::Conflict(Box::new(conflict));
                    editor(&ask, &name, &policy, draft, told, status).await
                }
                // Whatever keeps it from being saved, the draft stays.
                Err(problem) if problem.code() != Code::Unauthorized => {
                    let status = problem.code().status();
                    editor(&ask, &name, &policy, draft, Told::Wrong(problem), status).await
                }
                Err(problem) => Err(problem),
            }
        }
        "merge" => {
            let base = form::value(&sent, "base").and_then(|it| it.parse().ok());
            draft.revision = base.unwrap_or(draft.revision);
            let conflict = conflicting(&ask, &name, &policy, &draft).await;
            let Some(both) = conflict.both else {
                let wrong = "what both have changed cannot be told any more: compare the documents";
                return Err(Problem::new(Code::Unprocessable, wrong));
            };
            let theirs = as_toml(text(&policy, "text"));
            let mine = as_toml(&draft.text);
            let (text, left) = merge::carried(&theirs, &mine, &both.free);
            draft.text = text;
            draft.revision = policy["revision"].as_u64().unwrap_or_default();
            let not = both.colliding.into_iter().chain(left).collect();
            let told = try_out(&ask, &name, &draft).await;
            merged(&ask, &name, &policy, draft, (told, not)).await
        }
        _ => {
            let wrong = "\"deed\" must be try, save, merge, chain, document, clone, add or begin with move/, remove/ or unwatch/";
            Err(Problem::new(Code::InvalidParameter, wrong))
        }
    }
}

/// Why a unit cannot stand in that list of a chain: a sentence. None: it can, as far as its name and
/// its kinds tell.
async fn why_not_added(ask: &Ask, (unit, list): (&str, &str)) -> Result<Option<String>, Problem> {
    let name = chain::unpinned(unit);
    // Of a unit in force, an inspection knows the other names, too.
    let inspected = ask
        .get_if(&format!("/v1/units/{}/inspection", segment(name)))
        .await;
    let known_as = inspected.as_ref().map_or(name, |unit| text(unit, "name"));
    match ask.get(&format!("/v1/units/{}", segment(known_as))).await {
        Ok(known) => return Ok(order::misplaced(&known, list)),
        Err(problem) if problem.code() == Code::NotFound => {}
        Err(problem) => return Err(problem),
    }
    Ok(Some(format!(
        "There is no unit \"{}\": choose one of the list, or hand it in on the page of units first.",
        cut(name, 60)
    )))
}

/// A draft of a revision that is not the newest any more, beside the newest one.
async fn conflicting(ask: &Ask, name: &str, newest: &Value, draft: &Draft) -> Conflict {
    let base = base_of(ask, name, draft).await;
    let both = base.and_then(|base| {
        let mine = as_toml(&draft.text);
        let (base, newest) = (text(&base, "text"), text(newest, "text"));
        Both::of(&as_toml(base), &as_toml(newest), &mine)
    });
    Conflict {
        newest: newest.clone(),
        base: draft.revision,
        both,
    }
}

/// The editor with a draft into which changes were carried; `not` are those that were not.
async fn merged(
    ask: &Ask,
    name: &str,
    policy: &Value,
    draft: Draft,
    (told, not): (Told, Vec<Change>),
) -> Result<Response, Problem> {
    let note = html! {
        @match not.is_empty() {
            true => (parts::outcome("ok", html! { b { "Your changes stand in revision " (draft.revision) " now, as a draft. " } "Nothing is saved yet." })),
            false => (parts::outcome("warn", html! {
                p { b { "What does not collide stands in revision " (draft.revision) " now, as a draft. " } "Nothing is saved yet." }
                p { "These of yours were not carried over: the other one's stay, unless you change them again." }
                (told_changes(&not))
            })),
        }
    };
    let above = Above {
        told: note,
        ..Above::nothing(StatusCode::OK)
    };
    shown_editor(ask, (name, policy), draft, told, above).await
}

/// Changes in words.
fn told_changes(changes: &[Change]) -> Markup {
    html! { ul.list.changes { @for change in changes { li { (change.sentence()) } } } }
}

/// The revision that a draft edits; None if the history does not have it any more.
async fn base_of(ask: &Ask, name: &str, draft: &Draft) -> Option<Value> {
    let path = format!("/v1/policies/{}/history", segment(name));
    let revisions = ask.list(&path, history::MOST).await.unwrap_or_default();
    let mut revisions = revisions.into_iter();
    revisions.find(|it| it["revision"].as_u64() == Some(draft.revision))
}

/// The differences between a draft and the revision that it edits, in words. `base` is that revision,
/// where it is not the newest.
fn differs(policy: &Value, base: Option<&Value>, draft: &Draft) -> Markup {
    let newest = policy;
    let policy = base.unwrap_or(policy);
    let changes = changes::between(text(policy, "text"), &draft.text).unwrap_or_default();
    html! {
        @if base.is_some() { div role="status" { (note("warn", html! {
            b { (cut(text(newest, "by"), 40)) " has saved revision " (newest["revision"]) " meanwhile. " }
            "Your draft is of revision " (draft.revision) ": saving it shows both side by side first."
        })) } }
        @if !changes.is_empty() {
            section.panel aria-labelledby="differs" {
                header { h2 id="differs" { "What you have changed " span.dim { (changes.len()) } }
                    span.small.dim { @match base { Some(_) => { "against revision " (draft.revision) } None => "against what is in force" } } }
                div.in { (told_changes(&changes))
                    details { summary.small { "In the document" } (history::shown(text(policy, "text"), &draft.text)) } }
            }
        }
    }
}

/// Make a policy of a new name: of the draft, where the editor sends one, else of what is saved.
async fn clone(ask: &Ask, name: &str, sent: &Pairs) -> Result<Response, Problem> {
    let path = format!("/v1/policies/{}", segment(name));
    let new = form::value(sent, "name").unwrap_or_default();
    // It is attached to no cluster yet: it is tried on the one that the draft was tried on.
    let tried = url::query([("cluster", form::value(sent, "cluster"))]);
    let page = format!("/policies/{}?{tried}", segment(new));
    let page = page.trim_end_matches('?');
    let cloned = format!("policy {} is a copy of {}", cut(new, 64), cut(name, 64));
    let draft = match form::value(sent, "text") {
        Some(_) => Some(Draft::of(sent)?),
        None => None,
    };
    if new.is_empty() {
        let unnamed = html! {
            b { "The copy needs a name. " } "Nothing is saved: write a name beside \"Clone\"."
        };
        return not_cloned(ask, (name, new), draft, (StatusCode::BAD_REQUEST, unnamed)).await;
    }
    let Some(draft) = draft else {
        let wanted = json!({"name": new});
        let path = format!("{path}/clone");
        return match ask.send("POST", &path, Sent::Json(&wanted)).await {
            Ok(_) => told::done(ask, page, &cloned),
            Err(problem) if problem.code() == Code::Unauthorized => Err(problem),
            Err(problem) => {
                let why = why_not_cloned(new, &problem);
                not_cloned(ask, (name, new), None, why).await
            }
        };
    };
    let is_new = vec![(header::IF_NONE_MATCH, "*".to_owned())];
    let text = document::renamed(&draft.text, new);
    let document = Language::of(&text).sent(&text, is_new);
    let copy = format!("/v1/policies/{}", segment(new));
    match ask.send("PUT", &copy, document).await {
        Ok(_) => told::done(ask, page, &cloned),
        Err(problem) if problem.code() == Code::Unauthorized => Err(problem),
        Err(problem) if is_of_document(&problem) => {
            // What was tuned stays on the page.
            let status = problem.code().status();
            let policy = ask.get(&path).await?;
            editor(ask, name, &policy, draft, Told::Wrong(problem), status).await
        }
        Err(problem) => {
            let why = why_not_cloned(new, &problem);
            not_cloned(ask, (name, new), Some(draft), why).await
        }
    }
}

/// Whether a problem is one of the document that was sent, rather than of where it was to go.
fn is_of_document(problem: &Problem) -> bool {
    matches!(problem.code(), Code::InvalidDocument | Code::InvalidJson)
}

/// Why there is no copy under a name.
fn why_not_cloned(new: &str, problem: &Problem) -> (StatusCode, Markup) {
    let is_taken = matches!(
        problem.code(),
        Code::Conflict | Code::Locked | Code::RevisionChanged
    );
    match is_taken {
        true => {
            let taken = html! {
                b { "There is a policy " (cut(new, 60)) " already. " } "Nothing is saved: take another name for the copy."
            };
            (StatusCode::CONFLICT, taken)
        }
        false => {
            let why = html! { b { "Nothing is saved. " } (sentence(problem.detail())) };
            (problem.code().status(), why)
        }
    }
}

/// The page that the copy was made on, with why it cannot have the name that was given; the draft, if
/// there is one, is not at fault.
async fn not_cloned(
    ask: &Ask,
    (name, new): (&str, &str),
    draft: Option<Draft>,
    (status, why): (StatusCode, Markup),
) -> Result<Response, Problem> {
    let policy = ask.get(&format!("/v1/policies/{}", segment(name))).await?;
    let above = Above {
        status,
        told: parts::alert("bad", html! { span id="not-cloned" { (why) } }),
        copy: Some(new),
    };
    match draft {
        Some(draft) => shown_editor(ask, (name, &policy), draft, Told::Nothing, above).await,
        None => history::show(ask, name, &policy, above).await,
    }
}

/// The whole page.
async fn editor(
    ask: &Ask,
    name: &str,
    policy: &Value,
    draft: Draft,
    told: Told,
    status: StatusCode,
) -> Result<Response, Problem> {
    shown_editor(ask, (name, policy), draft, told, Above::nothing(status)).await
}

/// The same with something above the editor.
async fn shown_editor(
    ask: &Ask,
    (name, policy): (&str, &Value),
    mut draft: Draft,
    told: Told,
    above: Above<'_>,
) -> Result<Response, Problem> {
    let clusters = ask.list("/v1/clusters", 1000).await?;
    let names: Vec<&str> = clusters.iter().map(|it| text(it, "name")).collect();
    let deciding: Vec<&str> = clusters
        .iter()
        .filter(|it| text(&it["settings"], "policy") == name)
        .map(|it| text(it, "name"))
        .collect();
    let usual = deciding
        .first()
        .or(names.first())
        .map(|it| (*it).to_owned());
    draft.cluster = draft.cluster.or(usual);
    if !draft.is_document {
        draft.text = as_toml(&draft.text).into_owned();
    }
    // What would be saved is in another language than what is.
    let is_translated = Language::of(text(policy, "text")) == Language::Json
        && Language::of(&draft.text) == Language::Toml;
    let is_locked = policy["origin"] != "api";
    let may_edit = ask.caller.must(Permission::AuthorPolicies, None).is_ok();
    let chain = chain::Chain::read(ask, &draft.text, text(policy, "text")).await;
    // Where chance decides, a request is chosen of which the shares are told.
    if draft.shares_of.is_none()
        && chain.as_ref().is_ok_and(chain::Chain::has_selections)
        && let Some(cluster) = &draft.cluster
    {
        let newest = format!("/v1/clusters/{}/decisions", segment(cluster));
        let newest = ask.list(&newest, 1).await.unwrap_or_default();
        draft.shares_of = newest.first().map(|it| it["number"].to_string());
    }
    let told = match told {
        Told::Nothing if may_edit => try_out(ask, name, &draft).await,
        told => told,
    };
    // What the draft would change stands beside a conflict, too.
    let beside = match &told {
        Told::Conflict(_) if may_edit => Some(try_out(ask, name, &draft).await),
        _ => None,
    };
    let answer = answer::panel(beside.as_ref().unwrap_or(&told), &draft, may_edit);
    let may_save = may_edit && !is_locked;
    let units = match may_edit && !draft.is_document {
        true => ask.list("/v1/units", UNITS).await.unwrap_or_default(),
        false => Vec::new(),
    };
    let mut faults = faults_of(&told, &draft);
    if let Some(not) = &draft.not_added {
        faults.add(order::ADD_UNIT, &not.why);
    }
    let whole = match draft.is_document {
        true => None,
        false => Whole::read(ask, &draft.text).await,
    };
    let first = draft.not_added.as_ref().map(|_| order::ADD_UNIT.to_owned());
    let first = first.or_else(|| chain.as_ref().ok().and_then(|it| it.first_fault(&faults)));
    let first = first.or_else(|| whole.as_ref().and_then(|it| it.first_fault(&faults)));
    // The focus is on the message above the editor, or, if there is none, on the first error.
    let is_told_above = !above.told.0.is_empty();
    let first = first.filter(|_| !is_told_above && !draft.is_document);
    let refused = match &told {
        Told::Wrong(problem) if !above.status.is_success() => Some(problem.detail()),
        _ => None,
    };
    let refused = refused.filter(|_| first.is_none() && !is_told_above);
    let path = format!("/policies/{}", segment(name));
    let main = html! {
        (head(ask, (name, policy), &deciding, Some("editor"), above.copy))
        (tabs(&path, if draft.is_document { "document" } else { "" }))
        (above.told)
        @if let Some(why) = refused { (parts::alert("bad", html! { b { "Nothing is saved. " } (sentence(why)) })) }
        @if is_translated { (note("", html! {
            p { "This policy is written in JSON. The form writes TOML: it says the same, and a policy that is saved here is in TOML from then on. "
            a href={ (path) "?view=document" } { "Show the document as it is" } "." }
        })) }
        @if let Told::Conflict(between) = &told { (conflict(between, &draft)) }
        form.stack id="editor" action=(path) method="post" data-draft={ (path) "/draft" } {
            input type="hidden" name="revision" value=(match &told {
                // Saved again, it goes over what was saved meanwhile, which stands above.
                Told::Conflict(between) => between.newest["revision"].as_u64().unwrap_or_default(),
                _ => draft.revision,
            });
            @if let Told::Conflict(between) = &told { input type="hidden" name="base" value=(between.base); }
            input type="hidden" name="view" value=(if draft.is_document { "document" } else { "chain" });
            div.bar {
                @if may_save {
                    // Where something can be carried over, that is the next deed.
                    @let is_next = match &told {
                        Told::Conflict(between) => between.both.as_ref().is_none_or(|both| both.free.is_empty()),
                        Told::Wrong(_) => false,
                        _ => true,
                    };
                    button.btn.main[is_next] type="submit" name="deed" value="save" { "Save as revision " (draft.revision.max(policy["revision"].as_u64().unwrap_or_default()) + 1) }
                } @else if !may_edit && !is_locked { (barred(ask, Permission::AuthorPolicies, "Save")) }
                @if may_edit {
                    button.btn.without-script type="submit" name="deed" value="try" { "Try it" }
                    @if draft.is_document { button.btn type="submit" name="deed" value="chain" { "Show the chain" } }
                    @else { button.btn type="submit" name="deed" value="document" { "Show the document" } }
                }
                @match (is_locked, may_edit) {
                    (true, true) => span.small.soft { "Changes can be tried here; to save them, clone the policy." },
                    (true, false) => span.small.soft { "It comes with the program, and is changed in a clone of it alone." },
                    (false, _) => {}
                }
            }
            div.cols.one-two.tuning {
                div.stack {
                    @match (&chain, draft.is_document) {
                        (Ok(chain), false) => {
                            textarea.hidden name="text" aria-label="The document" { "\n" (draft.text) }
                            @let state = setting::State { may: may_edit, faults: &faults, first: first.as_deref() };
                            (chain.form(&state, &units, draft.not_added.as_ref()))
                            @if let Some(whole) = &whole { (whole.form(&state, &units, &chain.settings())) }
                        }
                        (Err(why), false) => {
                            textarea.hidden name="text" aria-label="The document" { "\n" (draft.text) }
                            (note("warn", html! { (sentence(why)) " Show the document to change it." }))
                        }
                        (_, true) => {
                            section.panel aria-labelledby="document" {
                                header { h2 id="document" { label for="text" { "Document" } } }
                                div.in { textarea.field id="text" name="text" spellcheck="false" readonly[!may_edit] { "\n" (draft.text) } }
                            }
                        }
                    }
                }
                div.stack {
                    (trial_bar(&names, &draft))
                    div.answer id="answer" aria-live="polite" { (differs(policy, None, &draft)) (answer) }
                }
            }
        }
        div.acts { (parts::copies(
            &format!("{} -H 'Content-Type: application/toml' --data-binary @draft.toml",
                parts::curl("POST", &format!("/v1/clusters/{}/draft?{}", draft.cluster.as_deref().unwrap_or("CLUSTER"), draft.query(name)), None)),
            Some(&draft.command(name)),
        )) }
    };
    let page = Page {
        title: format!("Policy {name}"),
        area: Area::Policies,
        cluster: None,
        main,
        live: "",
        script: Some(assets::DRAFT),
    };
    page::shown_as(ask, page, above.status).await
}

/// The head of the views of a policy. Where there is an editor, the copy is made of its draft:
/// `editor` is the id of its form. `copy` is a name for a copy that was refused.
fn head(
    ask: &Ask,
    (name, policy): (&str, &Value),
    deciding: &[&str],
    editor: Option<&str>,
    copy: Option<&str>,
) -> Markup {
    let revision = policy["revision"].as_u64().unwrap_or_default();
    let may = ask.caller.must(Permission::AuthorPolicies, None).is_ok();
    html! {
        div.head {
            div {
                (crumbs(&[("Overview", "/".to_owned()), ("Policies", "/policies".to_owned())], name))
                h1 { (cut(name, 60)) " " span.pill { @if policy["origin"] == "program" { "of the program, locked" } @else { "revision " (revision) } } }
                p {
                    @if deciding.is_empty() { "Decides nowhere." } @else {
                        "Decides in "
                        @for (place, cluster) in deciding.iter().enumerate() { @if place > 0 { ", " } a href=(of_cluster(cluster, &[])) { (cluster) } }
                        "."
                    }
                    @if revision > 0 { " " (cut(text(policy, "by"), 40)) " saved revision " (revision)
                        @if let Some(at) = Moment::of(&policy["at"]) { " " (ago(at)) } "." }
                }
            }
            @if may {
                @let fields = html! {
                    input.field name="name" form=[editor] required[editor.is_none()] pattern="[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}" aria-label="Name of the copy" placeholder="Name of the copy" size="16"
                        value=[copy] aria-invalid=[copy.map(|_| "true")] aria-describedby=[copy.map(|_| "not-cloned")];
                    button.btn type="submit" form=[editor] name="deed" value="clone" { "Clone" }
                };
                @match editor {
                    Some(editor) => div.bar {
                        // What a browser presses at Enter in a field: the first button of the form.
                        button.vh type="submit" form=(editor) name="deed" value="try" tabindex="-1" { "Try it" }
                        (fields)
                    },
                    None => form.bar action={ "/policies/" (segment(name)) } method="post" { (fields) },
                }
            } @else { div.bar { (barred(ask, Permission::AuthorPolicies, "Clone")) } }
        }
    }
}

fn tabs(path: &str, current: &str) -> Markup {
    html! {
        nav.tabs aria-label="Views of the policy" {
            @for (word, name) in [("", "Chain"), ("document", "Document"), ("history", "History")] {
                a href={ (path) @if !word.is_empty() { "?view=" (word) } } data-view=[(word != "history").then_some(if word.is_empty() { "chain" } else { word })] aria-current=[(word == current).then_some("page")] { (name) }
            }
        }
    }
}

/// Which decisions a draft is tried on.
fn trial_bar(clusters: &[&str], draft: &Draft) -> Markup {
    html! {
        div.bar {
            label.lab { "Try on the 200 newest decisions of"
                select.field name="cluster" { @for name in clusters {
                    option value=(name) selected[draft.cluster.as_deref() == Some(name)] { (name) }
                } }
            }
            label.lab { "each"
                select.field name="sequence" {
                    option value="" { "by itself" }
                    option value="in-sequence" selected[draft.in_sequence] { "one after the other" }
                }
            }
            @if let Some(number) = &draft.shares_of {
                label.lab { "chances of decision" input.field name="shares-of" value=(number) size="6" inputmode="numeric"; }
            }
        }
    }
}

/// Somebody else has saved another revision meanwhile: what both have changed, in words.
fn conflict(between: &Conflict, draft: &Draft) -> Markup {
    let newest = &between.newest;
    let who = cut(text(newest, "by"), 40);
    html! {
        (parts::alert("bad", html! {
            p { b { (who) " saved revision " (newest["revision"]) " meanwhile." }
                " Nothing was saved, and nothing of yours is lost: your draft of revision " (draft.revision) " stands below." }
            @match &between.both {
                Some(both) => {
                    div.cols.halves {
                        div { h2 { "What changed since revision " (between.base) } (told_changes(&both.theirs))
                            @if both.theirs.is_empty() { p.soft { "Nothing but how it is written." } } }
                        div { h2 { "What you changed" }
                            (told_changes(&both.free))
                            @if !both.colliding.is_empty() { p { b { "Collides with that:" } } (told_changes(&both.colliding)) }
                            @if both.free.is_empty() && both.colliding.is_empty() { p.soft { "Nothing that is not there already." } } }
                    }
                    @if !both.free.is_empty() { p {
                        button.btn.main type="submit" form="editor" name="deed" value="merge" {
                            "Carry " (things(both.free.len(), "change", "changes")) " over to revision " (newest["revision"])
                        } " Nothing is saved by it. " @if !both.colliding.is_empty() { "Where both changed the same, what " (who) " saved stays." }
                    } }
                }
                None => p { "Compare it with what is in force now." },
            }
            p { "Saving again puts yours in its place, whole." }
            details { summary { "The document of revision " (newest["revision"]) } pre.code tabindex="0" { (text(newest, "text")) } }
        }))
    }
}
