//! Affinity labels: named sets of hosts and VMs, which affinity groups take in as members.
//!
//! In each cluster a label is a group that wants nothing, and affinity groups name it as one
//! whose members they have, too. Its id begins with [`PREFIX`]; what begins so in several
//! clusters is one label.

mod assigned;
mod write;

pub(crate) use assigned::{
    Labelled, assign, list as list_assigned, show as show_assigned, withdraw,
};
pub(crate) use write::{add as add_member, create, remove, remove_member, update};

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::call::{Call, Reply};
use super::fault::Fault;
use super::groups::{member_host, member_vm};
use super::ids;
use super::import::Element;
use super::inventory::{Part, parts};
use super::tree::Tree;
use placewright_inventory::{GroupEntry, Inventory};
use placewright_model::Group;

/// What the ids of groups that are labels begin with.
pub(crate) const PREFIX: &str = "label:";

/// Whether the group of that id is a label.
pub(crate) fn is_label(group: &str) -> bool {
    group.starts_with(PREFIX)
}

/// Id of a label.
pub(crate) fn id(key: &str) -> String {
    ids::of("affinity label", &[key])
}

/// Path of a label.
pub(crate) fn href(key: &str) -> String {
    format!("/ovirt-engine/api/affinitylabels/{}", id(key))
}

/// A label.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    /// The id of its groups.
    pub key: Arc<str>,
    pub name: String,
    description: String,
}

impl Label {
    fn of(group: &Group) -> Self {
        let own = group.id.strip_prefix(PREFIX).unwrap_or(&group.id);
        Self {
            key: group.id.clone(),
            name: group.name.as_deref().unwrap_or(own).to_owned(),
            description: group.description.as_deref().unwrap_or_default().to_owned(),
        }
    }
}

fn groups(inventory: &Inventory) -> impl Iterator<Item = &Group> {
    let groups = inventory.groups().map(GroupEntry::given);
    groups.filter(|group| is_label(&group.id))
}

/// The labels of these clusters, by key.
fn of_parts(parts: &[Part]) -> Vec<Label> {
    let groups = parts.iter().flat_map(|part| groups(part.inventory()));
    let labels: BTreeMap<Arc<str>, Label> = groups
        .map(|group| (group.id.clone(), Label::of(group)))
        .collect();
    labels.into_values().collect()
}

/// The labels of all clusters that the caller is shown.
pub(crate) fn all(call: &Call) -> Result<Known, Fault> {
    Ok(Known::new(of_parts(&parts(call)?)))
}

/// Labels to find those in that a body names, which may be thousands.
pub(crate) struct Known {
    labels: Vec<Label>,
    /// Their places by id, and by name: the first one of that name.
    ids: HashMap<String, usize>,
    names: HashMap<String, usize>,
}

impl Known {
    fn new(labels: Vec<Label>) -> Self {
        let (mut ids, mut names) = (HashMap::new(), HashMap::new());
        for (place, label) in labels.iter().enumerate() {
            ids.insert(id(&label.key), place);
            names.entry(label.name.clone()).or_insert(place);
        }
        Self { labels, ids, names }
    }

    /// The label that an element names.
    ///
    /// # Errors
    /// If there is none, or it names none.
    pub(crate) fn named(&self, named: &Element) -> Result<&Label, Fault> {
        let text = |key: &str| named.get(key).map(|it| it.text.as_str());
        let (found, wanted) = match (text("id"), text("name")) {
            (Some(wanted), _) => (self.ids.get(wanted), wanted),
            (None, Some(wanted)) => (self.names.get(wanted), wanted),
            (None, None) => return Err(Fault::incomplete("AffinityLabel", "id|name", "add")),
        };
        let found = found.and_then(|place| self.labels.get(*place));
        found.ok_or_else(|| Fault::not_found("affinity label", wanted))
    }
}

/// The label of that id.
fn find(known: Vec<Label>, wanted: &str) -> Result<Label, Fault> {
    let mut known = known.into_iter();
    let found = known.find(|label| id(&label.key) == wanted);
    found.ok_or_else(|| Fault::not_found("affinity label", wanted))
}

/// A label as something else names it.
pub(crate) fn reference(key: &str) -> Tree {
    Tree::new("affinity_label").at(&href(key), &id(key))
}

/// A label as a list of another thing's shows it: with its name, if it is in that cluster.
pub(crate) fn shown(part: &Part, key: &str) -> Tree {
    let entry = part.inventory().group(key);
    match entry.map(|entry| Label::of(entry.given())) {
        Some(label) => reference(key).text("name", label.name),
        None => reference(key),
    }
}

/// The ids in oVirt of the VMs, or else hosts, of a label that are there.
fn member_ids<'p>(
    parts: &'p [Part],
    key: &'p str,
    list: List,
) -> impl Iterator<Item = String> + use<'p> {
    parts.iter().flat_map(move |part| {
        let inventory = part.inventory();
        let group = inventory.group(key).map(GroupEntry::given);
        let is_there =
            move |vm: &str| inventory.running(vm).is_some() || inventory.pending(vm).is_some();
        let (vms, hosts) = match list {
            List::Vms => (group.map(|group| &group.vms), None),
            List::Hosts => (None, group.map(|group| &group.hosts)),
        };
        let vms = vms.into_iter().flatten().filter(move |vm| is_there(vm));
        let hosts = hosts.into_iter().flatten();
        vms.map(|vm| part.vm_id(vm))
            .chain(hosts.map(|host| part.host_id(host)))
    })
}

/// The VMs, or else hosts, of a label that are there.
fn members(parts: &[Part], key: &str, list: List) -> Vec<(String, Tree)> {
    let of_part = |part: &Part| -> Vec<(String, Tree)> {
        let inventory = part.inventory();
        let Some(group) = inventory.group(key).map(GroupEntry::given) else {
            return Vec::new();
        };
        match list {
            List::Vms => {
                let is_there =
                    |vm: &str| inventory.running(vm).is_some() || inventory.pending(vm).is_some();
                let vms = group.vms.iter().filter(|vm| is_there(vm));
                vms.map(|vm| (part.vm_id(vm), member_vm(part, vm)))
                    .collect()
            }
            List::Hosts => {
                let hosts = group.hosts.iter();
                let hosts = hosts.map(|host| (part.host_id(host), member_host(part, host)));
                hosts.collect()
            }
        }
    };
    parts.iter().flat_map(of_part).collect()
}

/// What a label has lists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Vms,
    Hosts,
}

impl List {
    fn of(call: &Call) -> Result<Self, Fault> {
        match call.part("list") {
            "vms" => Ok(Self::Vms),
            "hosts" => Ok(Self::Hosts),
            other => Err(Fault::not_found("collection", other)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Vms => "vms",
            Self::Hosts => "hosts",
        }
    }

    fn element(self) -> &'static str {
        match self {
            Self::Vms => "vm",
            Self::Hosts => "host",
        }
    }
}

/// A label as it is shown among those of another thing.
fn without_members(label: &Label) -> Tree {
    let href = href(&label.key);
    described(label)
        .link_below(&href, List::Hosts.name())
        .link_below(&href, List::Vms.name())
}

/// What is said of a label besides its members.
fn described(label: &Label) -> Tree {
    reference(&label.key)
        .text("name", &label.name)
        .text("description", &label.description)
        .text("read_only", false)
        // It does so in clusters of level 4.3 and older alone.
        .text("has_implicit_affinity_group", false)
}

/// A label as it is answered.
fn tree(call: &Call, parts: &[Part], label: &Label) -> Tree {
    let href = href(&label.key);
    let mut tree = described(label);
    for list in [List::Hosts, List::Vms] {
        if call.follows(list.name()) {
            let members = members(parts, &label.key, list).into_iter();
            tree = tree.with(Tree::list(list.name(), members.map(|(_, member)| member)));
        }
        tree = tree.link_below(&href, list.name());
    }
    tree
}

/// `GET /affinitylabels`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let labels = of_parts(&parts);
    let shown = labels.iter().take(call.most()?);
    let shown = shown.map(|label| tree(call, &parts, label));
    Reply::list(call, "affinity_labels", shown)
}

/// `GET /affinitylabels/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let label = find(of_parts(&parts), call.part("id"))?;
    Ok(Reply::ok(tree(call, &parts, &label)))
}

/// `GET /affinitylabels/{id}/{list}`
pub(crate) fn list_members(call: &Call) -> Result<Reply, Fault> {
    let list = List::of(call)?;
    let parts = parts(call)?;
    let label = find(of_parts(&parts), call.part("id"))?;
    let members = members(&parts, &label.key, list).into_iter();
    let shown = members.map(|(_, member)| member).take(call.most()?);
    Reply::list(call, list.name(), shown)
}

/// `GET /affinitylabels/{id}/{list}/{member}`
pub(crate) fn show_member(call: &Call) -> Result<Reply, Fault> {
    let list = List::of(call)?;
    let parts = parts(call)?;
    let label = find(of_parts(&parts), call.part("id"))?;
    let wanted = call.part("member");
    let mut members = members(&parts, &label.key, list).into_iter();
    match members.find(|(id, _)| id == wanted) {
        Some((_, member)) => Ok(Reply::ok(member)),
        None => Err(Fault::not_found(list.element(), wanted)),
    }
}
