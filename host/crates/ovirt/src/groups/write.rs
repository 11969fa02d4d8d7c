//! Groups are made, changed and taken out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::members::{named_host, named_vm};
use super::{find, href, id, name_of, parts_of, tree};
use crate::call::{Call, Reply};
use crate::clusters;
use crate::element::{flag, only};
use crate::fault::Fault;
use crate::import::Element;
use crate::inventory::Part;
use crate::labels;
use placewright_deployment::cluster::Condition;
use placewright_deployment::{ClusterState, DeploymentError};
use placewright_document::{EntityKind, InventoryChanges};
use placewright_http::Permission;
use placewright_inventory::GroupEntry;
use placewright_model::{Group, GroupRule};

/// How often a change is begun again because somebody else was faster.
const TRIES: usize = 8;

const ELEMENTS: [&str; 17] = [
    "id",
    "href",
    "name",
    "description",
    "comment",
    "broken",
    "cluster",
    "enforcing",
    "positive",
    "priority",
    "hosts_rule",
    "vms_rule",
    "vms",
    "hosts",
    "vm_labels",
    "host_labels",
    "link",
];

/// That no other group of the cluster is called so.
fn check_name(part: &Part, name: &str, own: Option<&str>) -> Result<(), Fault> {
    if labels::is_label(name) {
        return Err(Fault::refused(format!(
            "Cannot edit Affinity Group. Names that begin with \"{}\" are those of affinity labels",
            labels::PREFIX
        )));
    }
    let mut others = part.inventory().groups().map(GroupEntry::given);
    let is_taken = others.any(|other| {
        own != Some(&*other.id) && !labels::is_label(&other.id) && name_of(other) == name
    });
    match is_taken {
        false => Ok(()),
        true => Err(name_in_use()),
    }
}

fn name_in_use() -> Fault {
    Fault::in_use("Cannot add Affinity Group. The name is already in use in this cluster")
}

/// The id of a new group: its name, unless that of another group was this one before.
fn new_id(part: &Part, name: &str) -> Arc<str> {
    let numbered = (2u64..).map(|number| format!("{name}-{number}"));
    let mut ids = std::iter::once(name.to_owned()).chain(numbered);
    let free = ids.find(|id| part.inventory().group(id).is_none());
    free.unwrap_or_else(|| name.to_owned()).into()
}

fn set_name(group: &mut Group, name: &str) {
    group.name = (*name != *group.id).then(|| name.into());
}

/// The groups whose members a group has, with these labels in the place of others.
fn with_labels(call: &Call, others: &[Arc<str>], labels: &Element) -> Result<Vec<Arc<str>>, Fault> {
    only(labels, &["affinity_label"])?;
    let known = labels::all(call)?;
    let others = others.iter().filter(|other| !labels::is_label(other));
    let mut wanted: Vec<Arc<str>> = others.cloned().collect();
    let mut taken: HashSet<Arc<str>> = wanted.iter().cloned().collect();
    for named in labels.all("affinity_label") {
        let label = known.named(named)?;
        if taken.insert(label.key.clone()) {
            wanted.push(label.key.clone());
        }
    }
    Ok(wanted)
}

/// Change a group as a body says.
fn take_over(
    call: &Call,
    body: &Element,
    part: &Part,
    group: &mut Group,
    is_new: bool,
) -> Result<(), Fault> {
    only(body, &ELEMENTS)?;
    let text = |key: &str| body.get(key).map(|it| it.text.as_str());
    if let Some(description) = text("description") {
        group.description = (!description.is_empty()).then(|| description.into());
    }
    if let Some(labels) = body.get("vm_labels") {
        group.vms_of = with_labels(call, &group.vms_of, labels)?;
    }
    if let Some(labels) = body.get("host_labels") {
        group.hosts_of = with_labels(call, &group.hosts_of, labels)?;
    }
    if let Some(priority) = text("priority") {
        let number = priority.parse::<f64>().ok().filter(|it| it.is_finite());
        group.priority = number.ok_or_else(|| Fault::syntax("\"priority\" must be a number"))?;
    }
    // The old spelling is about VMs.
    let old = (flag(body, "positive")?, flag(body, "enforcing")?);
    let vms = body.get("vms_rule");
    group.vm_rule = match (vms, old) {
        (None, (None, None)) => group.vm_rule,
        (None, (positive, enforcing)) => {
            let known = parts_of(group.vm_rule).unwrap_or_default();
            let positive = positive.unwrap_or(known.0);
            Some(rule_of(positive, enforcing.unwrap_or(known.1)))
        }
        (Some(rule), _) => rule_read(rule, group.vm_rule, is_new)?,
    };
    if let Some(rule) = body.get("hosts_rule") {
        group.host_rule = rule_read(rule, group.host_rule, is_new)?;
    }
    if let Some(vms) = body.get("vms") {
        only(vms, &["vm"])?;
        let vms = vms.all("vm").map(|vm| named_vm(part, vm));
        group.vms = vms.collect::<Result<_, _>>()?;
    }
    if let Some(hosts) = body.get("hosts") {
        only(hosts, &["host"])?;
        let hosts = hosts.all("host").map(|host| named_host(part, host));
        group.hosts = hosts.collect::<Result<_, _>>()?;
    }
    Ok(())
}

fn rule_of(positive: bool, hard: bool) -> GroupRule {
    match positive {
        true => GroupRule::Positive { hard },
        false => GroupRule::Negative { hard },
    }
}

/// A rule as a body has it. One that does not say whether it is enabled is, if it is new or says
/// what it wants.
fn rule_read(
    rule: &Element,
    known: Option<GroupRule>,
    is_new: bool,
) -> Result<Option<GroupRule>, Fault> {
    only(rule, &["enabled", "enforcing", "positive"])?;
    let (positive, enforcing) = (flag(rule, "positive")?, flag(rule, "enforcing")?);
    let usual = is_new || positive.is_some() || known.is_some();
    if !flag(rule, "enabled")?.unwrap_or(usual) {
        return Ok(None);
    }
    let known = parts_of(known);
    let missing = |field| Fault::incomplete("AffinityRule", field, "add");
    let positive = positive
        .or(known.map(|it| it.0))
        .ok_or_else(|| missing("positive"))?;
    let hard = enforcing
        .or(known.map(|it| it.1))
        .ok_or_else(|| missing("enforcing"))?;
    Ok(Some(rule_of(positive, hard)))
}

/// A group as a document of changes has it.
fn document(group: &Group) -> Json {
    let word =
        |rule| parts_of(rule).map(|(positive, _)| if positive { "positive" } else { "negative" });
    let mut document = json!({
        "id": group.id,
        "vms": group.vms,
        "hosts": group.hosts,
        "priority": group.priority,
        "name": group.name,
        "description": group.description,
        "vms-of": group.vms_of,
        "hosts-of": group.hosts_of,
    });
    for (rule, keys) in [
        (group.vm_rule, ("rule", "hard")),
        (group.host_rule, ("host-rule", "host-hard")),
    ] {
        if let (Some(word), Some((_, hard))) = (word(rule), parts_of(rule)) {
            document[keys.0] = word.into();
            document[keys.1] = hard.into();
        }
    }
    json!({"groups": [document]})
}

/// Why a group was not put there.
enum Refused {
    Raced,
    Fault(Fault),
}

fn put(call: &Call, part: &Part, group: &Group, condition: Condition) -> Result<(), Refused> {
    call.is_about_cluster(part.name());
    let schema = part.cluster.schema();
    let text = document(group).to_string();
    let changes = InventoryChanges::read(&text, "affinity_group.json", &schema);
    let changes =
        changes.map_err(|problems| Refused::Fault(DeploymentError::from(problems).into()))?;
    let id = group.id.clone();
    let turn = part
        .cluster
        .turn_as(&call.caller, move |state: &mut ClusterState| {
            state.put_entity(EntityKind::Group, &id, changes, condition)
        });
    match turn.wait() {
        Ok(_) => Ok(()),
        Err(DeploymentError::Changed { .. }) => Err(Refused::Raced),
        Err(DeploymentError::IsThere { .. }) => Err(Refused::Fault(name_in_use())),
        Err(error) => Err(Refused::Fault(error.into())),
    }
}

/// `POST /clusters/{id}/affinitygroups`
pub(crate) fn create(call: &Call) -> Result<Reply, Fault> {
    let cluster = clusters::find(call)?;
    call.caller
        .must(Permission::Operate, Some(cluster.name()))?;
    let body = call.body("affinity_group")?;
    let part = Part::of(cluster)?;
    let name = body.get("name").map(|it| it.text.clone());
    let name = name.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Fault::incomplete("AffinityGroup", "name", "add"))?;
    check_name(&part, &name, None)?;
    let mut group = Group::new(new_id(&part, &name));
    set_name(&mut group, &name);
    take_over(call, body, &part, &mut group, true)?;
    match put(call, &part, &group, Condition::New) {
        Ok(()) => {}
        Err(Refused::Fault(fault)) => return Err(fault),
        Err(Refused::Raced) => return Err(Fault::in_use("others change the group: try again")),
    }
    let part = Part::of(part.cluster)?;
    let id = id(part.name(), &group.id);
    Ok(Reply::created(tree(&part, &group), href(part.name(), &id)))
}

/// Change the group of the id in the path, all of the change or nothing. If somebody else does
/// so meanwhile, what they have made of it is changed.
///
/// # Errors
/// Those of the change; or if the group cannot be so.
pub(super) fn change(
    call: &Call,
    change: impl Fn(&Part, &mut Group) -> Result<(), Fault>,
) -> Result<(Part, Group), Fault> {
    for _ in 0..TRIES {
        let (part, known) = find(call)?;
        call.caller.must(Permission::Operate, Some(part.name()))?;
        let id = known.id.clone();
        let read = part.cluster.read(move |state| {
            let tag = state.entity(EntityKind::Group, &id)?.tag;
            let group = state
                .inventory()
                .group(&id)
                .map(|entry| entry.given().clone());
            Ok((tag, group))
        });
        let (tag, Some(known)) = read.wait()? else {
            continue;
        };
        let mut group = known.clone();
        change(&part, &mut group)?;
        if group == known {
            return Ok((part, group));
        }
        match put(call, &part, &group, Condition::Unchanged(tag)) {
            Ok(()) => return Ok((Part::of(part.cluster)?, group)),
            Err(Refused::Raced) => {}
            Err(Refused::Fault(fault)) => return Err(fault),
        }
    }
    Err(Fault::in_use(
        "others change the group all the time: try again",
    ))
}

/// `PUT /clusters/{id}/affinitygroups/{group}`
pub(crate) fn update(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("affinity_group")?;
    let (part, group) = change(call, |part, group| {
        if let Some(name) = body.get("name").map(|it| it.text.as_str()) {
            if name.is_empty() {
                return Err(Fault::incomplete("AffinityGroup", "name", "update"));
            }
            check_name(part, name, Some(&group.id))?;
            set_name(group, name);
        }
        let own = id(part.name(), &group.id);
        if body.get("id").is_some_and(|it| it.text != own) {
            return Err(Fault::immutable(
                "id of an affinity group cannot be changed",
            ));
        }
        take_over(call, body, part, group, false)
    })?;
    Ok(Reply::ok(tree(&part, &group)))
}

/// `DELETE /clusters/{id}/affinitygroups/{group}`
pub(crate) fn remove(call: &Call) -> Result<Reply, Fault> {
    let (part, group) = find(call)?;
    call.is_about_cluster(part.name());
    call.caller.must(Permission::Operate, Some(part.name()))?;
    let turn = part
        .cluster
        .turn_as(&call.caller, move |state: &mut ClusterState| {
            state.remove_entity(EntityKind::Group, &group.id, Condition::Any)
        });
    turn.wait()?;
    Ok(Reply::complete())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        rule: &str,
        known: Option<GroupRule>,
        is_new: bool,
    ) -> Result<Option<GroupRule>, Fault> {
        let element = crate::import::parse(rule, "rule.xml").unwrap();
        rule_read(&element, known, is_new)
    }

    #[test]
    fn a_rule_is_enabled_as_engines_have_it() {
        let hard = Some(GroupRule::Positive { hard: true });
        let both = "<r><positive>true</positive><enforcing>true</enforcing></r>";
        assert_eq!(read(both, None, true), Ok(hard));
        assert_eq!(read(both, None, false), Ok(hard));
        assert_eq!(
            read("<r><enabled>false</enabled></r>", hard, false),
            Ok(None)
        );
        // What is not given stays.
        let soft = Some(GroupRule::Positive { hard: false });
        assert_eq!(
            read("<r><enforcing>false</enforcing></r>", hard, false),
            Ok(soft)
        );
        assert_eq!(
            read("<r><enforcing>false</enforcing></r>", None, false),
            Ok(None)
        );
        assert!(read("<r><enabled>true</enabled></r>", None, true).is_err());
        assert!(read("<r><positive>maybe</positive></r>", None, true).is_err());
    }
}
