//! The labels that one host or VM is in.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use super::write::{has, put, take};
use super::{Known, Label, List, find, member_ids, of_parts, tree, without_members};
use crate::call::{Call, Reply};
use crate::element::only;
use crate::fault::Fault;
use crate::inventory::{Part, parts};
use crate::tree::Tree;

/// The host or VM that the path is about: its cluster, and its id here.
fn found<'p>(call: &Call, parts: &'p [Part]) -> Result<(&'p Part, List, Arc<str>), Fault> {
    let id = call.part("id");
    let list = match call.is_under("vms") {
        true => List::Vms,
        false => List::Hosts,
    };
    let member = |part: &Part| match list {
        List::Vms => part.vm(id).map(|entry| entry.vm.id.clone()),
        List::Hosts => part.host(id).map(|(_, host)| host.id.clone()),
    };
    let mut found = parts
        .iter()
        .filter_map(|part| Some((part, list, member(part)?)));
    found
        .next()
        .ok_or_else(|| Fault::not_found(list.element(), id))
}

/// The same, by its id in oVirt.
fn owner<'c>(call: &'c Call, parts: &[Part]) -> Result<(List, &'c str), Fault> {
    let (_, list, _) = found(call, parts)?;
    Ok((list, call.part("id")))
}

fn of_owner<'l>(
    parts: &'l [Part],
    known: &'l [Label],
    owner: (List, &'l str),
) -> impl Iterator<Item = &'l Label> {
    known.iter().filter(move |label| has(parts, label, owner))
}

/// The labels that hosts or VMs are in, for whoever shows many of those.
pub(crate) struct Labelled {
    labels: Vec<Label>,
    /// The places of labels, by the ids in oVirt of what is in them.
    members: HashMap<Uuid, Vec<usize>>,
}

impl Labelled {
    /// Those of the hosts, or else of the VMs, of these clusters.
    fn of(parts: &[Part], list: List) -> Self {
        let labels = of_parts(parts);
        let mut members: HashMap<Uuid, Vec<usize>> = HashMap::new();
        for (place, label) in labels.iter().enumerate() {
            for id in member_ids(parts, &label.key, list) {
                if let Ok(id) = Uuid::parse_str(&id) {
                    members.entry(id).or_default().push(place);
                }
            }
        }
        Self { labels, members }
    }

    /// The same, if labels are followed.
    pub(crate) fn followed(call: &Call, parts: &[Part], list: List) -> Option<Self> {
        let follows = call.follows("affinity_labels") || call.follows("affinitylabels");
        follows.then(|| Self::of(parts, list))
    }

    /// A list of the labels that a host or VM is in, by its id in oVirt. They are shown without
    /// their members: what is shown of each host or VM would grow with all of them.
    pub(crate) fn tree(&self, id: &str) -> Tree {
        let id = Uuid::parse_str(id).ok();
        let places = id.and_then(|id| self.members.get(&id)).into_iter();
        let labels = places.flatten().filter_map(|place| self.labels.get(*place));
        Tree::list("affinity_labels", labels.map(without_members))
    }
}

/// `GET /hosts/{id}/affinitylabels`, and of VMs.
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let owner = owner(call, &parts)?;
    let known = of_parts(&parts);
    let labels = of_owner(&parts, &known, owner).take(call.most()?);
    let shown = labels.map(|label| tree(call, &parts, label));
    Reply::list(call, "affinity_labels", shown)
}

/// `GET /hosts/{id}/affinitylabels/{label}`, and of VMs.
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let owner = owner(call, &parts)?;
    let label = find(of_parts(&parts), call.part("label"))?;
    match has(&parts, &label, owner) {
        true => Ok(Reply::ok(tree(call, &parts, &label))),
        false => Err(Fault::not_found("affinity label", call.part("label"))),
    }
}

/// `POST /hosts/{id}/affinitylabels`, and of VMs.
pub(crate) fn assign(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("affinity_label")?;
    only(body, &["id", "href", "name", "link"])?;
    let parts = parts(call)?;
    let (part, list, member) = found(call, &parts)?;
    let known = Known::new(of_parts(&parts));
    let label = known.named(body)?;
    put(call, part, label, (list, member))?;
    Ok(Reply::ok(tree(call, &parts, label)))
}

/// `DELETE /hosts/{id}/affinitylabels/{label}`, and of VMs.
pub(crate) fn withdraw(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let owner = owner(call, &parts)?;
    let label = find(of_parts(&parts), call.part("label"))?;
    take(call, &parts, &label, owner)?;
    Ok(Reply::complete())
}
