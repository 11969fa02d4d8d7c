//! Scheduling policies, and the filters, weights and balances in them.

mod entries;
mod write;

pub(crate) use entries::{add, list as list_entries, remove as remove_entry, show as show_entry};
pub(crate) use write::{create, properties as properties_of, remove, update};

use super::call::{Call, Reply};
use super::catalogue::Catalogue;
use super::fault::Fault;
use super::import::source::Kind;
use super::names::{self, Shown};
use super::policy::Entry;
use super::tree::Tree;
use super::units;

/// Path of a policy.
pub(crate) fn href(id: &str) -> String {
    format!("/ovirt-engine/api/schedulingpolicies/{id}")
}

/// `GET /schedulingpolicies`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let catalogue = call.site.catalogue();
    let most = call.most()?;
    let all = names::policies(&call.site, &call.caller, &catalogue);
    let shown = all.iter().take(most);
    let shown = shown.map(|policy| tree(call, policy, &catalogue));
    Ok(Reply::ok(Tree::list("scheduling_policies", shown)))
}

/// `GET /schedulingpolicies/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let catalogue = call.site.catalogue();
    let policy = find(call, &catalogue)?;
    Ok(Reply::ok(tree(call, &policy, &catalogue)))
}

/// `GET /schedulingpolicies/{id}/clusters`: what version 3 links to.
pub(crate) fn clusters(call: &Call) -> Result<Reply, Fault> {
    let catalogue = call.site.catalogue();
    let policy = find(call, &catalogue)?;
    super::clusters::of_policy(call, &policy.record.name)
}

/// The policy of the id in the path.
pub(crate) fn find(call: &Call, catalogue: &Catalogue) -> Result<Shown, Fault> {
    let id = call.part("id");
    let all = names::policies(&call.site, &call.caller, catalogue);
    let found = all.into_iter().find(|shown| shown.said.id == id);
    found.ok_or_else(|| Fault::not_found("scheduling policy", id))
}

/// A policy as it is answered.
pub(crate) fn tree(call: &Call, policy: &Shown, catalogue: &Catalogue) -> Tree {
    let said = &policy.said;
    let href = href(&said.id);
    let mut tree = Tree::new("scheduling_policy")
        .at(&href, &said.id)
        .text("name", &policy.name)
        .text("description", &said.description);
    for kind in Kind::ALL {
        if call.follows(kind.list()) || call.follows(kind.element()) {
            let entries = entries::tree(policy, kind, catalogue);
            if kind == Kind::Weight {
                // Some clients know the list by the name of what it holds.
                tree = tree.with(entries.clone().named(kind.element()));
            }
            tree = tree.with(entries);
        }
    }
    tree = tree
        .text("locked", said.locked.is_some())
        .text("default_policy", said.is_default)
        .with(properties("properties", &said.properties));
    for kind in Kind::ALL {
        tree = tree.link_below(&href, kind.list());
    }
    // Some clients know the list by the name of what it holds.
    tree.link("weight", format!("{href}/weights"))
        .link_below(&href, "clusters")
}

/// Names and values as they are answered.
pub(crate) fn properties<'a>(
    name: &'static str,
    properties: impl IntoIterator<Item = &'a (String, String)>,
) -> Tree {
    let properties = properties.into_iter();
    let properties = properties.map(|(name, value)| {
        let property = Tree::new("property");
        property.text("name", name).text("value", value)
    });
    Tree::list(name, properties)
}

/// An entry as it is answered.
fn entry(policy: &Shown, entry: &Entry) -> Tree {
    let kind = entry.kind;
    let href = format!("{}/{}/{}", href(&policy.said.id), kind.list(), entry.unit);
    let tree = Tree::new(kind.element()).at(&href, &entry.unit);
    let tree = match kind {
        Kind::Filter => tree.text("position", entry.number),
        Kind::Weight => tree.text("factor", entry.number),
        Kind::Balance => tree,
    };
    let unit = Tree::new("scheduling_policy_unit");
    tree.with(unit.at(&units::href(&entry.unit), &entry.unit))
}
