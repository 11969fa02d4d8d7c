//! VMs and hosts of a group, one by one.

use std::sync::Arc;

use super::write::change;
use super::{find, member_host, member_vm};
use crate::call::{Call, Reply};
use crate::element::only;
use crate::fault::Fault;
use crate::import::Element;
use crate::inventory::Part;
use crate::tree::Tree;
use crate::vms;
use placewright_model::Group;

/// Which members a path is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vms,
    Hosts,
}

impl Kind {
    fn of(call: &Call) -> Result<Self, Fault> {
        match call.part("list") {
            "vms" => Ok(Self::Vms),
            "hosts" => Ok(Self::Hosts),
            "vmlabels" | "hostlabels" => Err(Fault::refused(
                "there are no affinity labels here: name VMs and hosts themselves",
            )),
            other => Err(Fault::not_found("collection", other)),
        }
    }

    fn element(self) -> &'static str {
        match self {
            Self::Vms => "vm",
            Self::Hosts => "host",
        }
    }

    fn members(self, group: &mut Group) -> &mut Vec<Arc<str>> {
        match self {
            Self::Vms => &mut group.vms,
            Self::Hosts => &mut group.hosts,
        }
    }

    fn tree(self, part: &Part, member: &str) -> Tree {
        match self {
            Self::Vms => member_vm(part, member),
            Self::Hosts => member_host(part, member),
        }
    }
}

/// `GET /clusters/{id}/affinitygroups/{group}/{list}`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let (part, mut group) = find(call)?;
    let empty = |name| Ok(Reply::ok(Tree::list(name, [])));
    let kind = match call.part("list") {
        "vmlabels" | "hostlabels" => return empty("affinity_labels"),
        _ => Kind::of(call)?,
    };
    let members = kind.members(&mut group).clone();
    let shown = members.iter().map(|member| kind.tree(&part, member));
    let name = match kind {
        Kind::Vms => "vms",
        Kind::Hosts => "hosts",
    };
    Ok(Reply::ok(Tree::list(name, shown)))
}

/// The VM that an element names, by its id here.
pub(super) fn named_vm(part: &Part, named: &Element) -> Result<Arc<str>, Fault> {
    let text = |key: &str| named.get(key).map(|it| it.text.as_str());
    let found = match (text("id"), text("name")) {
        (Some(id), _) => part.vm(id),
        (None, Some(wanted)) => part.vms().find(|entry| vms::name(entry) == wanted),
        (None, None) => return Err(Fault::incomplete("Vm", "id|name", "add")),
    };
    let found = found.map(|entry| entry.vm.id.clone());
    let id = text("id").or_else(|| text("name")).unwrap_or_default();
    found.ok_or_else(|| Fault::not_found("VM", id))
}

/// The host that an element names, by its id here.
pub(super) fn named_host(part: &Part, named: &Element) -> Result<Arc<str>, Fault> {
    let text = |key: &str| named.get(key).map(|it| it.text.as_str());
    let found = match (text("id"), text("name")) {
        (Some(id), _) => part.host(id).map(|(_, host)| host),
        (None, Some(wanted)) => {
            let hosts = part.hosts().into_iter().map(|(_, host)| host);
            let mut hosts =
                hosts.filter(|host| host.facts.text("name").unwrap_or(&host.id) == wanted);
            hosts.next()
        }
        (None, None) => return Err(Fault::incomplete("Host", "id|name", "add")),
    };
    let found = found.map(|host| host.id.clone());
    let id = text("id").or_else(|| text("name")).unwrap_or_default();
    found.ok_or_else(|| Fault::not_found("host", id))
}

/// `POST /clusters/{id}/affinitygroups/{group}/{list}`
pub(crate) fn add(call: &Call) -> Result<Reply, Fault> {
    let kind = Kind::of(call)?;
    let body = call.body(kind.element())?;
    only(&body, &["id", "href", "name", "link"])?;
    let (part, _) = find(call)?;
    let member = match kind {
        Kind::Vms => named_vm(&part, &body),
        Kind::Hosts => named_host(&part, &body),
    }?;
    change(call, |_, group| {
        let members = kind.members(group);
        if !members.contains(&member) {
            members.push(member.clone());
        }
        Ok(())
    })?;
    Ok(Reply::ok(kind.tree(&part, &member)))
}

/// `DELETE /clusters/{id}/affinitygroups/{group}/{list}/{member}`
pub(crate) fn remove(call: &Call) -> Result<Reply, Fault> {
    let kind = Kind::of(call)?;
    let wanted = call.part("member").to_owned();
    change(call, |part, group| {
        let id = |member: &str| match kind {
            Kind::Vms => part.vm_id(member),
            Kind::Hosts => part.host_id(member),
        };
        let members = kind.members(group);
        let before = members.len();
        members.retain(|member| id(member) != wanted);
        match members.len() < before {
            true => Ok(()),
            false => Err(Fault::not_found(kind.element(), &wanted)),
        }
    })?;
    Ok(Reply::complete())
}
