//! Groups are made, changed and taken out.

use serde_json::{Value as Json, json};

use super::members::{named_host, named_vm};
use super::{find, href, id, parts_of, tree};
use crate::call::{Call, Reply};
use crate::clusters;
use crate::element::{flag, only};
use crate::fault::Fault;
use crate::import::Element;
use crate::inventory::Part;
use placewright_deployment::cluster::Condition;
use placewright_deployment::{ClusterState, DeploymentError};
use placewright_document::{EntityKind, InventoryChanges};
use placewright_http::Permission;
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

/// Change a group as a body says.
fn take_over(body: &Element, part: &Part, group: &mut Group, is_new: bool) -> Result<(), Fault> {
    only(body, &ELEMENTS)?;
    let text = |key: &str| body.get(key).map(|it| it.text.as_str());
    if text("description").is_some_and(|text| !text.is_empty()) {
        return Err(Fault::refused(
            "Cannot edit Affinity Group. Descriptions of groups are not stored here: leave it out",
        ));
    }
    for labels in ["vm_labels", "host_labels"] {
        if body.get(labels).is_some_and(|it| !it.inside.is_empty()) {
            return Err(Fault::refused(
                "Cannot edit Affinity Group. There are no affinity labels here: name VMs and hosts themselves",
            ));
        }
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
        .turn_as(&call.caller.name, move |state: &mut ClusterState| {
            state.put_entity(EntityKind::Group, &id, changes, condition)
        });
    match turn.wait() {
        Ok(_) => Ok(()),
        Err(DeploymentError::Changed { .. }) => Err(Refused::Raced),
        Err(DeploymentError::IsThere { .. }) => Err(Refused::Fault(Fault::in_use(
            "Cannot add Affinity Group. The name is already in use in this cluster",
        ))),
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
    let mut group = Group {
        id: name.as_str().into(),
        vms: Vec::new(),
        hosts: Vec::new(),
        vm_rule: None,
        host_rule: None,
        priority: 1.0,
    };
    take_over(&body, &part, &mut group, true)?;
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
                .map(|entry| entry.group.clone());
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
        let name = body.get("name").map(|it| it.text.as_str());
        if name.is_some_and(|name| *name != *group.id) {
            return Err(Fault::immutable(
                "the name of an affinity group tells it from others here and cannot be changed: make another one",
            ));
        }
        let own = id(part.name(), &group.id);
        if body.get("id").is_some_and(|it| it.text != own) {
            return Err(Fault::immutable(
                "id of an affinity group cannot be changed",
            ));
        }
        take_over(&body, part, group, false)
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
        .turn_as(&call.caller.name, move |state: &mut ClusterState| {
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
