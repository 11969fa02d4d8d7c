//! Affinity groups of a cluster.

mod members;
mod write;

pub(crate) use members::{
    add as add_member, list as list_members, named_host, named_vm, remove as remove_member,
    show as show_member,
};
pub(crate) use write::{create, remove, update};

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::call::{Call, Reply};
use super::clusters;
use super::fault::Fault;
use super::hosts;
use super::ids::Ids;
use super::inventory::Part;
use super::labels;
use super::tree::Tree;
use super::vms;
use placewright_inventory::{GroupEntry, Inventory};
use placewright_model::{Group, GroupRule};

/// Id of a group.
pub(crate) fn id(cluster: &str, group: &str) -> String {
    Ids::new("affinity group", cluster).of(group)
}

/// Path of a group.
fn href(cluster: &str, id: &str) -> String {
    format!("{}/affinitygroups/{id}", clusters::href(cluster))
}

/// The group of the id in the path, and its cluster.
fn find(call: &Call) -> Result<(Part, Group), Fault> {
    let part = Part::of(clusters::find(call)?)?;
    let wanted = call.part("group");
    let mut groups = part.inventory().groups();
    let found = groups.find(|entry| {
        let own = &entry.group.id;
        !labels::is_label(own) && id(part.name(), own) == wanted
    });
    let found = found.map(|entry| entry.given().clone());
    drop(groups);
    match found {
        Some(group) => Ok((part, group)),
        None => Err(Fault::not_found("affinity group", wanted)),
    }
}

/// `GET /clusters/{id}/affinitygroups`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let part = Part::of(clusters::find(call)?)?;
    let groups = part.inventory().groups().map(GroupEntry::given);
    let groups = groups.filter(|group| !labels::is_label(&group.id));
    let shown = groups.take(call.most()?).map(|group| tree(&part, group));
    Reply::list(call, "affinity_groups", shown)
}

/// `GET /clusters/{id}/affinitygroups/{group}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let (part, group) = find(call)?;
    Ok(Reply::ok(tree(&part, &group)))
}

/// What a group is called.
fn name_of(group: &Group) -> &str {
    group.name.as_deref().unwrap_or(&group.id)
}

/// Whether a rule wants things together and must be kept; None: there is none.
fn parts_of(rule: Option<GroupRule>) -> Option<(bool, bool)> {
    rule.map(|rule| match rule {
        GroupRule::Positive { hard } => (true, hard),
        GroupRule::Negative { hard } => (false, hard),
    })
}

fn rule(name: &'static str, rule: Option<GroupRule>) -> Tree {
    let (positive, enforcing) = parts_of(rule).unwrap_or_default();
    Tree::new(name)
        .text("enabled", rule.is_some())
        .text("enforcing", enforcing)
        .text("positive", positive)
}

/// A group as it is answered: with its own members, and with labels by themselves.
fn tree(part: &Part, group: &Group) -> Tree {
    let entry = part.inventory().group(&group.id);
    let all_members = entry.map_or(group, |entry| &entry.group);
    let cluster = part.name();
    let id = id(cluster, &group.id);
    let href = href(cluster, &id);
    let (positive, enforcing) = parts_of(group.vm_rule).unwrap_or_default();
    let mut tree = Tree::new("affinity_group")
        .at(&href, &id)
        .text("name", name_of(group))
        .text(
            "description",
            group.description.as_deref().unwrap_or_default(),
        )
        .text("broken", is_broken(part.inventory(), all_members))
        // What clients before 4.1 know.
        .text("enforcing", enforcing)
        .with(rule("hosts_rule", group.host_rule))
        .text("positive", positive)
        .text("priority", format!("{:?}", group.priority))
        .with(rule("vms_rule", group.vm_rule))
        .with(Tree::new("cluster").at(&clusters::href(cluster), &clusters::id(cluster)))
        .with(Tree::list(
            "vms",
            group.vms.iter().map(|vm| member_vm(part, vm)),
        ))
        .with(Tree::list(
            "hosts",
            group.hosts.iter().map(|host| member_host(part, host)),
        ))
        .with(Tree::list("vm_labels", labels_of(&group.vms_of)))
        .with(Tree::list("host_labels", labels_of(&group.hosts_of)));
    for rel in ["vms", "hosts", "vmlabels", "hostlabels"] {
        tree = tree.link_below(&href, rel);
    }
    tree
}

/// Those of these groups that are labels.
fn labels_of(others: &[Arc<str>]) -> impl Iterator<Item = Tree> {
    let labels = others.iter().filter(|other| labels::is_label(other));
    labels.map(|key| labels::reference(key))
}

/// A VM of a group, which may run or not.
pub(crate) fn member_vm(part: &Part, vm: &str) -> Tree {
    let inventory = part.inventory();
    let entry = inventory.running(vm).or_else(|| inventory.pending(vm));
    let id = part.vm_id(vm);
    let name = entry.map_or_else(|| vm.to_owned(), vms::name);
    Tree::new("vm").at(&vms::href(&id), &id).text("name", name)
}

pub(crate) fn member_host(part: &Part, host: &str) -> Tree {
    let inventory = part.inventory();
    let entry = inventory.slot(host).and_then(|slot| inventory.host(slot));
    let name = entry.and_then(|entry| entry.facts.text("name"));
    let id = part.host_id(host);
    let tree = Tree::new("host").at(&hosts::href(&id), &id);
    tree.text("name", name.unwrap_or(host))
}

/// Whether the VMs that run do not run as the group wants.
fn is_broken(inventory: &Inventory, group: &Group) -> bool {
    let running = group.vms.iter().filter_map(|vm| inventory.running(vm));
    let hosts = running.filter_map(|entry| inventory.host(entry.slot));
    let mut counts: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
    for host in hosts {
        *counts.entry(&host.id).or_default() += 1;
    }
    let vms = match group.vm_rule {
        Some(GroupRule::Positive { .. }) => counts.len() > 1,
        Some(GroupRule::Negative { .. }) => counts.values().any(|count| *count > 1),
        None => false,
    };
    let inside: HashSet<&Arc<str>> = group.hosts.iter().collect();
    let is_inside = |host: &&Arc<str>| inside.contains(*host);
    let hosts = match group.host_rule {
        Some(GroupRule::Positive { .. }) => !counts.keys().all(is_inside),
        Some(GroupRule::Negative { .. }) => counts.keys().any(is_inside),
        None => false,
    };
    vms || hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Host, Vm};

    fn broken(vm_rule: Option<bool>, host_rule: Option<bool>, places: &[(&str, &str)]) -> bool {
        let mut inventory = Inventory::new("c", Arc::new(Schema::built_in().clone()));
        for host in ["h1", "h2"] {
            inventory.add_host(Host::new(host)).unwrap();
        }
        for (vm, host) in places {
            inventory.run_vm(Vm::new(*vm), host).unwrap();
        }
        let of = |positive| match positive {
            true => GroupRule::Positive { hard: true },
            false => GroupRule::Negative { hard: true },
        };
        let group = Group {
            vms: vec!["a".into(), "b".into(), "gone".into()],
            hosts: vec!["h1".into()],
            vm_rule: vm_rule.map(of),
            host_rule: host_rule.map(of),
            priority: 1.0,
            ..Group::new("g")
        };
        is_broken(&inventory, &group)
    }

    #[test]
    fn a_group_is_broken_where_vms_run_otherwise_than_it_wants() {
        let apart = [("a", "h1"), ("b", "h2"), ("other", "h2")];
        let together = [("a", "h2"), ("b", "h2")];
        for (vms, hosts, places, expected) in [
            (Some(true), None, &apart[..], true),
            (Some(true), None, &together[..], false),
            (Some(false), None, &apart[..], false),
            (Some(false), None, &together[..], true),
            (None, Some(true), &together[..], true),
            (None, Some(false), &together[..], false),
            (None, Some(false), &apart[..], true),
            (None, None, &together[..], false),
            (Some(true), Some(true), &[][..], false),
        ] {
            assert_eq!(
                broken(vms, hosts, places),
                expected,
                "{vms:?} {hosts:?} {places:?}"
            );
        }
    }
}
