//! Labels are made, changed and taken out.

use std::sync::Arc;

use super::{Label, List, PREFIX, find, href, member_ids, of_parts, tree};
use crate::call::{Call, Reply};
use crate::element::{flag, only};
use crate::fault::Fault;
use crate::groups::{named_host, named_vm};
use crate::import::Element;
use crate::inventory::{Part, parts};
use placewright_deployment::{ClusterState, DeploymentError};
use placewright_document::{ChangedGroup, Gone, InventoryChanges};
use placewright_http::Permission;
use placewright_inventory::GroupEntry;
use placewright_model::Group;

const ELEMENTS: [&str; 10] = [
    "id",
    "href",
    "name",
    "comment",
    "description",
    "read_only",
    "has_implicit_affinity_group",
    "vms",
    "hosts",
    "link",
];

/// Change the groups of a cluster, all that is to be changed or nothing.
fn turn(
    call: &Call,
    part: &Part,
    changes: impl FnOnce(&ClusterState) -> InventoryChanges + Send + 'static,
) -> Result<(), Fault> {
    call.is_about_cluster(part.name());
    let turn = part
        .cluster
        .turn_as(&call.caller, move |state: &mut ClusterState| {
            let changes = changes(state);
            let changed = state.change_and_tell(changes);
            changed.map(drop).map_err(DeploymentError::of_one_entry)
        });
    turn.wait().map_err(|error: DeploymentError| error.into())
}

fn of_groups(groups: Vec<ChangedGroup>) -> InventoryChanges {
    InventoryChanges {
        groups,
        ..InventoryChanges::default()
    }
}

/// A label of the cluster with what is different of it. What it is called comes along, for
/// where it is not in the cluster yet.
fn changed(label: &Label) -> ChangedGroup {
    let own = label.key.strip_prefix(PREFIX) == Some(&label.name);
    let text = |text: &str| Some((!text.is_empty()).then(|| Arc::from(text)));
    ChangedGroup {
        name: text(if own { "" } else { &label.name }),
        description: text(&label.description),
        ..ChangedGroup::new(label.key.clone())
    }
}

/// What a body says of a label besides its members.
fn take_over(body: &Element, label: &mut Label, known: &[Label]) -> Result<(), Fault> {
    only(body, &ELEMENTS)?;
    if let Some(name) = body.get("name").map(|it| &it.text) {
        let is_taken = |other: &Label| other.name == *name && other.key != label.key;
        if name.is_empty() {
            return Err(Fault::incomplete("AffinityLabel", "name", "update"));
        }
        if known.iter().any(is_taken) {
            return Err(name_in_use());
        }
        label.name.clone_from(name);
    }
    if let Some(description) = body.get("description") {
        label.description.clone_from(&description.text);
    }
    if flag(body, "has_implicit_affinity_group")? == Some(true) {
        return Err(Fault::refused(
            "Cannot edit Affinity Label. Labels have groups of their own in clusters of level 4.3 and older alone: make an affinity group that names the label",
        ));
    }
    match flag(body, "read_only")? {
        Some(true) => Err(Fault::immutable("read_only of a label cannot be changed")),
        _ => Ok(()),
    }
}

fn name_in_use() -> Fault {
    Fault::in_use("Cannot add Affinity Label. The name of the label is already in use")
}

/// The clusters that the caller may operate.
///
/// # Errors
/// If there are none.
fn operated(call: &Call) -> Result<Vec<Part>, Fault> {
    let mut parts = parts(call)?;
    for part in &parts {
        call.caller.must(Permission::Operate, Some(part.name()))?;
    }
    match parts.is_empty() {
        false => Ok(std::mem::take(&mut parts)),
        true => Err(Fault::refused(
            "Cannot add Affinity Label. Labels are stored in clusters, and there is none: add a cluster first",
        )),
    }
}

/// `POST /affinitylabels`
pub(crate) fn create(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("affinity_label")?;
    let parts = operated(call)?;
    let name = body.get("name").map(|it| it.text.clone());
    let name = name.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Fault::incomplete("AffinityLabel", "name", "add"))?;
    let known = of_parts(&parts);
    let free = |key: &String| known.iter().all(|label| *label.key != **key);
    let numbered = (2u64..).map(|number| format!("{PREFIX}{name}-{number}"));
    let mut keys = std::iter::once(format!("{PREFIX}{name}")).chain(numbered);
    let key = keys.find(free).unwrap_or_default();
    let mut label = Label {
        key: key.into(),
        name,
        description: String::new(),
    };
    take_over(body, &mut label, &known)?;
    let mut wanted: Vec<ChangedGroup> = parts.iter().map(|_| changed(&label)).collect();
    for list in [List::Vms, List::Hosts] {
        let Some(given) = body.get(list.name()) else {
            continue;
        };
        only(given, &[list.element()])?;
        for named in given.all(list.element()) {
            let (part, member) = named_member(&parts, list, named)?;
            let mut groups = parts.iter().zip(&mut wanted);
            let group = groups.find(|(other, _)| other.name() == part.name());
            if let Some((_, group)) = group {
                change_of(group, list).push(member);
            }
        }
    }
    for (part, group) in parts.iter().zip(wanted) {
        turn(call, part, move |_| of_groups(vec![group]))?;
    }
    let parts = operated(call)?;
    let label = find(of_parts(&parts), &super::id(&label.key))?;
    Ok(Reply::created(tree(call, &parts, &label), href(&label.key)))
}

/// The members that come into a group.
fn change_of(group: &mut ChangedGroup, list: List) -> &mut Vec<Arc<str>> {
    match list {
        List::Vms => &mut group.vms.add,
        List::Hosts => &mut group.hosts.add,
    }
}

/// The cluster of a member that is named, and its id there.
fn named_member<'p>(
    parts: &'p [Part],
    list: List,
    named: &Element,
) -> Result<(&'p Part, Arc<str>), Fault> {
    let mut last = None;
    for part in parts {
        let found = match list {
            List::Vms => named_vm(part, named),
            List::Hosts => named_host(part, named),
        };
        match found {
            Ok(member) => return Ok((part, member)),
            Err(fault) => last = Some(fault),
        }
    }
    Err(last.unwrap_or_else(|| Fault::not_found(list.element(), "")))
}

/// `PUT /affinitylabels/{id}`
pub(crate) fn update(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("affinity_label")?;
    let parts = parts(call)?;
    let known = of_parts(&parts);
    let mut label = find(known.clone(), call.part("id"))?;
    let own = super::id(&label.key);
    if body.get("id").is_some_and(|it| it.text != own) {
        return Err(Fault::immutable("id of a label cannot be changed"));
    }
    take_over(body, &mut label, &known)?;
    let has = |part: &&Part| part.inventory().group(&label.key).is_some();
    let mut wanted = Vec::new();
    for part in parts.iter().filter(has) {
        call.caller.must(Permission::Operate, Some(part.name()))?;
        wanted.push((part, changed(&label)));
    }
    for list in [List::Vms, List::Hosts] {
        if body
            .get(list.name())
            .is_some_and(|it| !it.inside.is_empty())
        {
            return Err(Fault::syntax(format!(
                "the {} of a label are changed one by one under their own path",
                list.name()
            )));
        }
    }
    for (part, group) in wanted {
        turn(call, part, move |_| of_groups(vec![group]))?;
    }
    super::show(call)
}

/// `DELETE /affinitylabels/{id}`: also of one that groups name.
pub(crate) fn remove(call: &Call) -> Result<Reply, Fault> {
    let parts = parts(call)?;
    let label = find(of_parts(&parts), call.part("id"))?;
    let concerns = |part: &&Part| {
        let mut groups = part.inventory().groups().map(GroupEntry::given);
        groups.any(|group| group.id == label.key || uses(group, &label.key))
    };
    let concerned: Vec<&Part> = parts.iter().filter(concerns).collect();
    for part in &concerned {
        call.caller.must(Permission::Operate, Some(part.name()))?;
    }
    for part in concerned {
        let key = label.key.clone();
        turn(call, part, move |state| without(state, &key))?;
    }
    Ok(Reply::complete())
}

fn uses(group: &Group, key: &Arc<str>) -> bool {
    group.vms_of.contains(key) || group.hosts_of.contains(key)
}

/// What takes a label out of a cluster, and out of the groups that name it.
fn without(state: &ClusterState, key: &Arc<str>) -> InventoryChanges {
    let inventory = state.inventory();
    let rest = |others: &[Arc<str>]| {
        let others = others.iter().filter(|other| *other != key);
        Some(others.cloned().collect())
    };
    let groups = inventory.groups().map(GroupEntry::given);
    let groups = groups.filter(|group| uses(group, key));
    let groups = groups.map(|group| ChangedGroup {
        vms_of: rest(&group.vms_of),
        hosts_of: rest(&group.hosts_of),
        ..ChangedGroup::new(group.id.clone())
    });
    InventoryChanges {
        groups: groups.collect(),
        gone: Gone {
            groups: inventory
                .group(key)
                .map(|_| key.clone())
                .into_iter()
                .collect(),
            ..Gone::default()
        },
        ..InventoryChanges::default()
    }
}

/// Put a host or VM of a cluster into a label.
pub(crate) fn put(
    call: &Call,
    part: &Part,
    label: &Label,
    (list, member): (List, Arc<str>),
) -> Result<(), Fault> {
    call.caller.must(Permission::Operate, Some(part.name()))?;
    let mut group = changed(label);
    change_of(&mut group, list).push(member);
    turn(call, part, move |state| {
        if state.inventory().group(&group.id).is_some() {
            (group.name, group.description) = (None, None);
        }
        of_groups(vec![group])
    })
}

/// `POST /affinitylabels/{id}/{list}`
pub(crate) fn add(call: &Call) -> Result<Reply, Fault> {
    let list = List::of(call)?;
    let body = call.body(list.element())?;
    only(body, &["id", "href", "name", "link"])?;
    let parts = parts(call)?;
    let label = find(of_parts(&parts), call.part("id"))?;
    let (part, member) = named_member(&parts, list, body)?;
    put(call, part, &label, (list, member.clone()))?;
    Ok(Reply::ok(match list {
        List::Vms => super::member_vm(part, &member),
        List::Hosts => super::member_host(part, &member),
    }))
}

/// Take a host or VM, by its id in oVirt, out of a label.
pub(crate) fn take(
    call: &Call,
    parts: &[Part],
    label: &Label,
    (list, wanted): (List, &str),
) -> Result<(), Fault> {
    for part in parts {
        let Some(group) = part.inventory().group(&label.key) else {
            continue;
        };
        let group = group.given();
        let found = match list {
            List::Vms => group.vms.iter().find(|vm| part.vm_id(vm) == wanted),
            List::Hosts => group.hosts.iter().find(|host| part.host_id(host) == wanted),
        };
        let Some(member) = found.cloned() else {
            continue;
        };
        call.caller.must(Permission::Operate, Some(part.name()))?;
        let mut changed = ChangedGroup::new(label.key.clone());
        match list {
            List::Vms => changed.vms.remove.push(member),
            List::Hosts => changed.hosts.remove.push(member),
        }
        let key = label.key.clone();
        return turn(call, part, move |state| {
            // Who was faster may have taken the whole label out.
            let is_there = state.inventory().group(&key).is_some();
            of_groups(is_there.then_some(changed).into_iter().collect())
        });
    }
    Err(Fault::not_found(list.element(), wanted))
}

/// `DELETE /affinitylabels/{id}/{list}/{member}`
pub(crate) fn remove_member(call: &Call) -> Result<Reply, Fault> {
    let list = List::of(call)?;
    let parts = parts(call)?;
    let label = find(of_parts(&parts), call.part("id"))?;
    take(call, &parts, &label, (list, call.part("member")))?;
    Ok(Reply::complete())
}

/// Whether a host or VM, by its id in oVirt, is in a label.
pub(crate) fn has(parts: &[Part], label: &Label, (list, wanted): (List, &str)) -> bool {
    member_ids(parts, &label.key, list).any(|id| id == wanted)
}
