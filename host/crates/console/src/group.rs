//! One group: its members and rules as a form; made, changed and removed.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::ask::{Ask, Console};
use crate::form;
use crate::format::cut;
use crate::groups;
use crate::page::{self, Area, Page, crumbs, sentence};
use crate::parts;
use crate::told;
use crate::url::{self, Pairs, of_cluster, segment};
use crate::value::{text, texts};
use placewright_http::Permission;
use placewright_http::problem::{Code, Problem};

/// Lists of ids that a group has: the key, and what people call it.
const LISTS: [(&str, &str); 4] = [
    ("vms", "VMs"),
    ("hosts", "Hosts"),
    ("vms-of", "Groups whose own VMs are in it, too"),
    ("hosts-of", "Groups whose own hosts are in it, too"),
];
/// Standings that are looked through for that of one group.
const STANDINGS: usize = 1000;

/// What a form of a group has: texts, as they were entered.
struct Entered {
    /// Of the group as it was read; empty: it is a new one.
    tag: String,
    fields: Pairs,
}

impl Entered {
    /// As the group is.
    fn of(group: &Value, tag: String) -> Self {
        let mut fields = Pairs::new();
        let mut put = |name: &str, value: String| fields.push((name.to_owned(), value));
        for name in ["id", "name", "description", "rule", "host-rule"] {
            put(name, text(group, name).to_owned());
        }
        for name in ["hard", "host-hard"] {
            if group[name] == true {
                put(name, "yes".to_owned());
            }
        }
        if let Some(priority) = group["priority"].as_f64() {
            put("priority", priority.to_string());
        }
        for (name, _) in LISTS {
            put(name, texts(group, name).join("\n"));
        }
        Self { tag, fields }
    }

    fn text(&self, name: &str) -> &str {
        self.untrimmed(name).trim()
    }

    fn untrimmed(&self, name: &str) -> &str {
        form::value(&self.fields, name).unwrap_or_default()
    }

    /// The group that the form describes, whole. `known` is the group as it was.
    fn document(&self, known: &Value) -> Result<Value, Problem> {
        let mut group = Map::new();
        for name in ["name", "description", "rule", "host-rule"] {
            // What nobody touched stays as it is, with its spaces.
            // Browsers send lines with CR LF.
            let entered = self.untrimmed(name).replace("\r\n", "\n");
            let entered = match entered == text(known, name) {
                true => &*entered,
                false => entered.trim(),
            };
            if !entered.is_empty() {
                group.insert(name.to_owned(), entered.into());
            }
        }
        for name in ["hard", "host-hard"] {
            if !self.text(name).is_empty() {
                group.insert(name.to_owned(), true.into());
            }
        }
        let priority = self.text("priority");
        if !priority.is_empty() {
            let number = priority.parse::<f64>().ok().filter(|it| it.is_finite());
            let number = number.ok_or_else(|| {
                let wrong = format!(
                    "\"{}\" is no number, which the field \"Priority\" needs",
                    cut(priority, 40)
                );
                Problem::new(Code::Unprocessable, wrong)
            })?;
            group.insert("priority".to_owned(), number.into());
        }
        for (name, _) in LISTS {
            // Whoever writes ids puts spaces around them by mistake; those that are there may have some.
            let known = texts(known, name);
            let ids = self.untrimmed(name).lines();
            let ids = ids.map(|id| if known.contains(&id) { id } else { id.trim() });
            let ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
            if !ids.is_empty() {
                group.insert(name.to_owned(), ids.into());
            }
        }
        Ok(group.into())
    }
}

fn path(cluster: &str, id: &str) -> String {
    format!("/v1/clusters/{}/groups/{}", segment(cluster), segment(id))
}

/// The form for a new group.
pub(crate) async fn form_for_new(ask: &Ask, cluster: &str) -> Result<Response, Problem> {
    // The cluster must be there.
    ask.get(&format!("/v1/clusters/{}", segment(cluster)))
        .await?;
    let mut fields = Pairs::new();
    for (name, value) in [("rule", "negative"), ("hard", "yes")] {
        fields.push((name.to_owned(), value.to_owned()));
    }
    let entered = Entered {
        tag: String::new(),
        fields,
    };
    form_page(ask, (cluster, None), &entered, None).await
}

/// A group.
pub(crate) async fn show(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
) -> Result<Response, Problem> {
    let (group, tag) = ask.get_tagged(&path(&cluster, &id)).await?;
    let entered = Entered::of(&group, tag);
    form_page(&ask, (&cluster, Some(&id)), &entered, None).await
}

/// How it stands with a group.
async fn standing(ask: &Ask, cluster: &str, id: &str) -> Option<Value> {
    let standings = ask.list(&standings(cluster, id), STANDINGS).await.ok()?;
    standings.into_iter().find(|it| it["id"] == id)
}

/// Where the API tells how it stands with a group, and with others that have its id in theirs.
fn standings(cluster: &str, id: &str) -> String {
    let query = url::query([("text", Some(id))]);
    format!("/v1/clusters/{}/group-standings?{query}", segment(cluster))
}

/// The page of the form. `wrong` is the problem that kept it from being saved.
async fn form_page(
    ask: &Ask,
    (cluster, id): (&str, Option<&str>),
    entered: &Entered,
    wrong: Option<Problem>,
) -> Result<Response, Problem> {
    let standing = match id {
        Some(id) => standing(ask, cluster, id).await,
        None => None,
    };
    let title = id.map_or("New group".to_owned(), |id| cut(id, 80));
    let may = ask.may(Permission::Operate, Some(cluster));
    let action = match id {
        Some(id) => of_cluster(cluster, &["groups", id]),
        None => of_cluster(cluster, &["groups"]),
    };
    let save = if id.is_some() {
        "Save the group"
    } else {
        "Make the group"
    };
    let main = html! {
        div.head { div {
            (crumbs(&[
                ("Overview", "/".to_owned()),
                (cluster, of_cluster(cluster, &[])),
                ("Groups", of_cluster(cluster, &["groups"])),
            ], &title))
            h1 { @match id { Some(id) => { "Group " (cut(id, 80)) }, None => "Make a group" } }
            @match &standing {
                Some(standing) => p.bar { (groups::standing(standing)) span {
                    @match groups::wants(standing) { "nothing" => "It wants nothing.", wants => { "It wants its VMs " (wants) "." } } } },
                None => p { "A group says which VMs belong together or apart, and on which hosts." },
            }
        } }
        @if let Some(wrong) = &wrong { (parts::alert("bad", told(wrong, id, &action))) }
        div.cols.two-one {
            section.panel aria-labelledby="form" {
                header { h2 id="form" { "Members and rules" } }
                form.in.stack action=(action) method="post" {
                    input type="hidden" name="tag" value=(entered.tag);
                    @if id.is_none() { label.lab { "Id" input.field name="id" required value=(entered.text("id")); } }
                    label.lab { "Name" input.field name="name" value=(entered.untrimmed("name")); span.small.dim { "empty: its id" } }
                    label.lab { "What it is for"
                        textarea.field name="description" cols="32" rows=(entered.untrimmed("description").lines().count().clamp(1, 8)) { "\n" (entered.untrimmed("description")) } }
                    (rule(entered, ("rule", "hard"), "Its VMs are wanted", [("positive", "together on one host"), ("negative", "apart, no two on a host")]))
                    (members(entered, LISTS[0]))
                    (rule(entered, ("host-rule", "host-hard"), "Its VMs and hosts: VMs are wanted", [("positive", "on its hosts"), ("negative", "not on its hosts")]))
                    (members(entered, LISTS[1]))
                    details open[LISTS[2..].iter().any(|(name, _)| !entered.text(name).is_empty())] {
                        summary { "More" }
                        div.stack {
                            (members(entered, LISTS[2]))
                            (members(entered, LISTS[3]))
                            label.lab { "Priority" input.field name="priority" size="6" value=(entered.text("priority"));
                                span.small.dim { "the greater, the more it counts where not all can be had; empty: 1" } }
                        }
                    }
                    div.acts { (parts::button(ask, Permission::Operate, Some(cluster), "main", save)) }
                }
            }
            @if let (Some(id), Some(standing)) = (id, &standing) {
                section.panel aria-labelledby="where" {
                    header { h2 id="where" { "Where its VMs are" } }
                    div.in.stack {
                        div { (groups::places_of(cluster, standing)) }
                        @if !may { (parts::barred(ask, Permission::Operate, "Remove the group")) }
                        @else { form action=(action) method="post" {
                            @let question = format!("Remove the group {}? Its VMs stay where they are, and nothing keeps them so any more.", cut(id, 60));
                            input type="hidden" name="tag" value=(entered.tag);
                            (parts::sure_button("risk", "remove", "Remove the group", &question))
                        } }
                    }
                }
            }
        }
        @if let Some(id) = id { div.acts { (parts::copies(&parts::curl("GET", &standings(cluster, id), None), Some(&parts::list_command("group-standings", Some(cluster), &[("text", Some(id))])))) } }
    };
    let status = wrong.map_or(StatusCode::OK, |wrong| wrong.code().status());
    let page = Page {
        title: match id {
            Some(id) => format!("Group {id} of {cluster}"),
            None => format!("New group of {cluster}"),
        },
        area: Area::Groups,
        cluster: Some(cluster),
        main,
        // What is being entered is not to go.
        live: "",
        script: None,
    };
    page::shown_as(ask, page, status).await
}

/// Why a group was not saved.
fn told(wrong: &Problem, id: Option<&str>, action: &str) -> Markup {
    html! { @match (wrong.code(), id) {
        (Code::RevisionChanged, Some(_)) => { "Somebody else has changed this group meanwhile, and nothing of yours is saved. "
            a href=(action) { "See theirs" } ", then change it again." }
        (Code::RevisionChanged, None) => "There is a group of this id already: nothing is saved. Take another id, or change that one.",
        _ => {
            "Nothing was saved: "
            @let body = wrong.clone().body(None);
            @match body.errors.as_slice() {
                [] => (sentence(&body.detail)),
                errors => ul.list { @for error in errors.iter().take(20) { li { (sentence(&cut(&error.message, 300))) } } },
            }
        }
    } }
}

fn rule(
    entered: &Entered,
    (name, hard): (&str, &str),
    label: &str,
    words: [(&str, &str); 2],
) -> Markup {
    html! {
        div.bar {
            label.lab { (label) select.field name=(name) {
                option value="" { "as it comes" }
                @for (word, meaning) in words { option value=(word) selected[entered.text(name) == word] { (meaning) } }
            } }
            label.lab { input type="checkbox" name=(hard) value="yes" checked[!entered.text(hard).is_empty()]; "must be kept" }
        }
    }
}

fn members(entered: &Entered, (name, label): (&str, &str)) -> Markup {
    let lines = entered.untrimmed(name).lines().count();
    html! {
        label.lab { (label) ", an id a line"
            textarea.field.ids name=(name) rows=(lines.clamp(3, 12)) spellcheck="false" { "\n" (entered.untrimmed(name)) }
        }
    }
}

/// Make a group.
pub(crate) async fn make(
    State(_): State<Arc<Console>>,
    Path(cluster): Path<String>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let entered = Entered {
        tag: String::new(),
        fields: form::pairs(&body),
    };
    let id = entered.text("id").to_owned();
    if id.is_empty() {
        let wrong = Problem::new(Code::Unprocessable, "a group needs an id");
        return form_page(&ask, (&cluster, None), &entered, Some(wrong)).await;
    }
    put(&ask, (&cluster, &id), entered).await
}

/// That a line of the form names several VMs or hosts, with commas between them: as one id it would
/// be a member that is not there, and the group would hold nobody to anything.
async fn several_in_a_line(
    ask: &Ask,
    cluster: &str,
    group: &Value,
    known: &Value,
) -> Option<Problem> {
    let api = format!("/v1/clusters/{}", segment(cluster));
    for (list, kind) in [("vms", "VM"), ("hosts", "host")] {
        let before = texts(known, list);
        let lines = texts(group, list).into_iter();
        let mut lines = lines.filter(|line| line.contains(',') && !before.contains(line));
        // One is enough to say so.
        let Some(line) = lines.next() else { continue };
        let path = |id: &str| format!("{api}/{list}/{}", segment(id));
        if ask.get_if(&path(line)).await.is_some() {
            continue;
        }
        let parts = line.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            if ask.get_if(&path(part)).await.is_some() {
                let wrong = format!(
                    "there is no {kind} \"{}\", but there is \"{}\": write each id in a line of its own",
                    cut(line, 80),
                    cut(part, 60)
                );
                return Some(Problem::new(Code::Unprocessable, wrong));
            }
        }
    }
    None
}

async fn put(
    ask: &Ask,
    (cluster, id): (&str, &str),
    entered: Entered,
) -> Result<Response, Problem> {
    let known = (!entered.tag.is_empty()).then_some(id);
    let group = match known {
        Some(id) => ask.get(&path(cluster, id)).await.unwrap_or_default(),
        None => Value::Null,
    };
    let document = match entered.document(&group) {
        Ok(document) => {
            let wrong = several_in_a_line(ask, cluster, &document, &group).await;
            wrong.map_or(Ok(document), Err)
        }
        wrong => wrong,
    };
    let saved = match document {
        Ok(document) => {
            let sent = ("PUT", &*path(cluster, id));
            ask.change(sent, &entered.tag, &document).await
        }
        Err(wrong) => Err(wrong),
    };
    match saved {
        Ok(_) => {
            let page = of_cluster(cluster, &["groups", id]);
            told::done(ask, &page, &format!("group {} is saved", cut(id, 80)))
        }
        Err(problem) if form::is_told(&problem) => {
            form_page(ask, (cluster, known), &entered, Some(problem)).await
        }
        Err(problem) => Err(problem),
    }
}

/// Change a group, or remove it.
pub(crate) async fn act(
    State(_): State<Arc<Console>>,
    Path((cluster, id)): Path<(String, String)>,
    ask: Ask,
    body: Bytes,
) -> Result<Response, Problem> {
    let fields = form::pairs(&body);
    let tag = form::tag(&fields, "group")?;
    if !form::removes(&fields)? {
        return put(&ask, (&cluster, &id), Entered { tag, fields }).await;
    }
    let sent = ("DELETE", &*path(&cluster, &id));
    match ask.change(sent, &tag, &Value::Null).await {
        Ok(_) => {
            let page = of_cluster(&cluster, &["groups"]);
            told::done(&ask, &page, &format!("group {} is removed", cut(&id, 80)))
        }
        Err(problem) if form::is_told(&problem) => {
            let group = ask.get(&path(&cluster, &id)).await?;
            let entered = Entered::of(&group, tag);
            form_page(&ask, (&cluster, Some(&id)), &entered, Some(problem)).await
        }
        Err(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_group_that_is_shown_and_saved_again_is_the_same() {
        let group = json!({"id": "g", "name": "G", "rule": "negative", "hard": true,
            "vms": ["a", "b, c"], "host-rule": "positive", "hosts": ["h1"],
            "vms-of": ["other"], "priority": 2.5});
        let mut expected = group.clone();
        expected.as_object_mut().unwrap().remove("id");
        let entered = Entered::of(&group, "\"1\"".to_owned());
        assert_eq!(entered.document(&Value::Null).unwrap(), expected);
        // Spaces around an id are a mistake, unless it has them.
        let fields = vec![("vms".to_owned(), " a\r\nb \r\n".to_owned())];
        let tag = String::new();
        let entered = Entered { tag, fields };
        let known = json!({"vms": ["b "]});
        assert_eq!(
            entered.document(&known).unwrap(),
            json!({"vms": ["a", "b "]})
        );
        let fields = vec![("priority".to_owned(), "much".to_owned())];
        let entered = Entered {
            tag: String::new(),
            fields,
        };
        assert_eq!(
            entered.document(&Value::Null).unwrap_err().code(),
            Code::Unprocessable
        );
    }
}
