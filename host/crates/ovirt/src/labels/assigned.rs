//! The labels that one host or VM is in.

use std::sync::Arc;

use super::write::{has, put, take};
use super::{Label, List, find, named, of_parts, tree};
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

/// The labels of a host or VM, by its id in oVirt, for whoever shows it.
pub(crate) fn labels_of(call: &Call, parts: &[Part], list: List, id: &str) -> Tree {
    let known = of_parts(parts);
    let labels = of_owner(parts, &known, (list, id));
    Tree::list(
        "affinity_labels",
        labels.map(|label| tree(call, parts, label)),
    )
}

/// `GET /hosts/{id}/affinitylabels`, and of VMs.
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let owner = owner(call, &parts)?;
    let known = of_parts(&parts);
    let labels = of_owner(&parts, &known, owner).take(call.most()?);
    let shown = labels.map(|label| tree(call, &parts, label));
    Ok(Reply::ok(Tree::list("affinity_labels", shown)))
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
    only(&body, &["id", "href", "name", "link"])?;
    let parts = parts(call)?;
    let (part, list, member) = found(call, &parts)?;
    let known = of_parts(&parts);
    let label = named(&known, &body)?;
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
