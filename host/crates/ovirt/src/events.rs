//! What happened: the events of the deployment, and what clients have noted among them.

use std::sync::Arc;

use super::call::{Call, Reply};
use super::clusters;
use super::element::only;
use super::fault::Fault;
use super::inventory::{Part, parts};
use super::moment;
use super::search::{Field, Search};
use super::tree::Tree;
use super::{hosts, vms};
use placewright_deployment::{Event, EventKind, News};
use placewright_document::Word;
use placewright_http::Permission;

/// The most bytes of what a client has noted: with `: ` between its two parts it is as long as
/// the sentence of an event may be.
const LONGEST: usize = 4094;

/// Whose events are shown: those of clusters that the caller is shown, and of none if it is shown
/// all.
fn of_caller(call: &Call) -> Vec<Arc<Event>> {
    let is_shown = |event: &Arc<Event>| match &event.cluster {
        Some(cluster) => call.caller.sees(cluster),
        None => call.caller.clusters.is_none(),
    };
    let mut events = call.site.deployment.events().remembered();
    events.retain(is_shown);
    // As engines list them: the last one first.
    events.reverse();
    events
}

fn severity(event: &Event) -> &'static str {
    match event.kind.is_warning() {
        true => "warning",
        false => "normal",
    }
}

/// A number for each kind of event: its place among all.
fn code(kind: EventKind) -> usize {
    let place = EventKind::WORDS.iter().position(|(_, it)| *it == kind);
    place.unwrap_or_default()
}

fn tree(parts: &[Part], event: &Event) -> Tree {
    let id = event.number.to_string();
    let mut tree = Tree::new("event")
        .at(&format!("/ovirt-engine/api/events/{id}"), &id)
        .text("code", code(event.kind))
        .text("custom_id", -1)
        .text("description", &event.message)
        .text("flood_rate", 30)
        .text("index", event.number)
        .text("origin", "Placewright")
        .text("severity", severity(event))
        .text("time", moment::written(event.at));
    let Some(cluster) = &event.cluster else {
        return tree;
    };
    tree = tree.with(Tree::new("cluster").at(&clusters::href(cluster), &clusters::id(cluster)));
    let Some(part) = parts.iter().find(|part| part.name() == cluster) else {
        return tree;
    };
    if let Some(host) = &event.host {
        let id = part.host_id(host);
        tree = tree.with(Tree::new("host").at(&hosts::href(&id), &id));
    }
    if let Some(vm) = &event.vm {
        let id = part.vm_id(vm);
        tree = tree.with(Tree::new("vm").at(&vms::href(&id), &id));
    }
    tree
}

fn field(key: &str) -> Option<Field> {
    match key {
        "severity" | "description" | "message" | "cluster" | "event_vm" | "event_host" | "vm"
        | "host" => Some(Field::Text),
        "id" | "index" | "type" | "code" => Some(Field::Number),
        _ => None,
    }
}

fn value(event: &Event, key: &str) -> Option<String> {
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    match key {
        "severity" => Some(severity(event).to_owned()),
        "description" | "message" => Some(event.message.clone()),
        "cluster" => text(&event.cluster),
        "event_vm" | "vm" => text(&event.vm),
        "event_host" | "host" => text(&event.host),
        "id" | "index" => Some(event.number.to_string()),
        _ => Some(code(event.kind).to_string()),
    }
}

/// `GET /events`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let search = Search::read(call, field)?;
    let after = moment::number("from", call.query("from"))?;
    let parts = parts(call)?;
    let mut events = of_caller(call);
    events.retain(|event| after.is_none_or(|after| event.number > after));
    let found = search.of(events, |event, key| value(event, key))?;
    let found = found.iter().take(call.most()?);
    let shown = found.map(|event| tree(&parts, event));
    Ok(Reply::ok(Tree::list("events", shown)))
}

/// `GET /events/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let id = call.part("id");
    let mut events = of_caller(call).into_iter();
    let found = events.find(|event| event.number.to_string() == id);
    let event = found.ok_or_else(|| Fault::not_found("event", id))?;
    Ok(Reply::ok(tree(&parts(call)?, &event)))
}

/// `POST /events`: note what a client did or saw.
pub(crate) fn create(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("event")?;
    let known = [
        "id",
        "href",
        "name",
        "comment",
        "description",
        "severity",
        "origin",
        "custom_id",
        "custom_data",
        "correlation_id",
        "flood_rate",
        "time",
        "cluster",
        "host",
        "vm",
        "data_center",
        "storage_domain",
        "template",
        "user",
        "code",
        "index",
    ];
    only(body, &known)?;
    let text = |key: &str| body.get(key).map(|it| it.text.as_str());
    let given = |key: &str| text(key).filter(|text| !text.is_empty());
    for key in ["description", "severity", "origin", "custom_id"] {
        if given(key).is_none() {
            return Err(Fault::incomplete("Event", key, "add"));
        }
    }
    if text("custom_id").is_some_and(|id| id.parse::<i32>().is_err()) {
        return Err(Fault::syntax("\"custom_id\" must be a whole number"));
    }
    let severity = text("severity").unwrap_or_default();
    let kind = match severity {
        "normal" => EventKind::Noted,
        "warning" | "error" | "alert" => EventKind::NotedWarning,
        _ => {
            return Err(Fault::syntax(
                "\"severity\" must be normal, warning, error or alert",
            ));
        }
    };
    let description = text("description").unwrap_or_default();
    let origin = text("origin").unwrap_or_default();
    if description.len() + origin.len() > LONGEST {
        return Err(Fault::refused(format!(
            "Cannot add Event. Its description and origin have more than {LONGEST} bytes"
        )));
    }
    let parts = parts(call)?;
    let named = |key: &str| body.get(key)?.get("id").map(|it| it.text.clone());
    let missing = |what: &str, id: &str| {
        let id = placewright_document::shown(id);
        Fault::refused(format!("Cannot add Event. There is no {what} \"{id}\""))
    };
    let (mut part, mut host, mut vm) = (None, None, None);
    if let Some(id) = named("cluster") {
        let found = parts.iter().find(|part| clusters::id(part.name()) == id);
        part = Some(found.ok_or_else(|| missing("cluster", &id))?);
    }
    if let Some(id) = named("host") {
        let mut found = parts
            .iter()
            .filter_map(|part| Some((part, part.host(&id)?)));
        let (of_host, (_, entry)) = found.next().ok_or_else(|| missing("host", &id))?;
        (part, host) = (Some(of_host), Some(entry.id.clone()));
    }
    if let Some(id) = named("vm") {
        let mut found = parts.iter().filter_map(|part| Some((part, part.vm(&id)?)));
        let (of_vm, entry) = found.next().ok_or_else(|| missing("VM", &id))?;
        (part, vm) = (Some(of_vm), Some(entry.vm.id.clone()));
    }
    let cluster = part.map(|part| part.name().clone());
    match &cluster {
        Some(cluster) => {
            call.is_about_cluster(cluster);
            call.caller.must(Permission::Operate, Some(cluster))?;
        }
        None => call.caller.must_everywhere(Permission::Operate)?,
    }
    let deployment = &call.site.deployment;
    deployment.events().tell(
        deployment.now(),
        News {
            kind,
            cluster,
            host,
            vm,
            by: Some(call.caller.name.clone()),
            message: format!("{origin}: {description}"),
            ..News::default()
        },
    );
    let made = of_caller(call).into_iter();
    let mut made = made.filter(|event| event.kind == kind && event.message.ends_with(description));
    let made = made.next();
    let made = made.ok_or_else(|| Fault::not_found("event", description))?;
    let href = format!("/ovirt-engine/api/events/{}", made.number);
    Ok(Reply::created(tree(&parts, &made), href))
}
