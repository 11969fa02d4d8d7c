//! VMs, hosts and labels of a group, one by one.

use std::sync::Arc;

use super::write::change;
use super::{find, member_host, member_vm};
use crate::call::{Call, Reply};
use crate::element::only;
use crate::fault::Fault;
use crate::import::Element;
use crate::inventory::Part;
use crate::labels;
use crate::tree::Tree;
use placewright_model::Group;

/// Which members a path is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vms,
    Hosts,
    VmLabels,
    HostLabels,
}

impl Kind {
    fn of(call: &Call) -> Result<Self, Fault> {
        match call.part("list") {
            "vms" => Ok(Self::Vms),
            "hosts" => Ok(Self::Hosts),
            "vmlabels" => Ok(Self::VmLabels),
            "hostlabels" => Ok(Self::HostLabels),
            other => Err(Fault::not_found("collection", other)),
        }
    }

    fn element(self) -> &'static str {
        match self {
            Self::Vms => "vm",
            Self::Hosts => "host",
            Self::VmLabels | Self::HostLabels => "affinity_label",
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Vms => "vms",
            Self::Hosts => "hosts",
            Self::VmLabels | Self::HostLabels => "affinity_labels",
        }
    }

    fn members(self, group: &mut Group) -> &mut Vec<Arc<str>> {
        match self {
            Self::Vms => &mut group.vms,
            Self::Hosts => &mut group.hosts,
            Self::VmLabels => &mut group.vms_of,
            Self::HostLabels => &mut group.hosts_of,
        }
    }

    /// Whether what a group has is shown as a member of that kind.
    fn is_shown(self, member: &str) -> bool {
        match self {
            Self::Vms | Self::Hosts => true,
            Self::VmLabels | Self::HostLabels => labels::is_label(member),
        }
    }

    /// Id of a member in oVirt.
    fn id(self, part: &Part, member: &str) -> String {
        match self {
            Self::Vms => part.vm_id(member),
            Self::Hosts => part.host_id(member),
            Self::VmLabels | Self::HostLabels => labels::id(member),
        }
    }

    fn tree(self, part: &Part, member: &str) -> Tree {
        match self {
            Self::Vms => member_vm(part, member),
            Self::Hosts => member_host(part, member),
            Self::VmLabels | Self::HostLabels => labels::shown(part, member),
        }
    }

    /// The member that an element names, by its id here.
    fn named(self, call: &Call, part: &Part, named: &Element) -> Result<Arc<str>, Fault> {
        match self {
            Self::Vms => named_vm(part, named),
            Self::Hosts => named_host(part, named),
            Self::VmLabels | Self::HostLabels => {
                let known = labels::all(call)?;
                known.named(named).map(|label| label.key.clone())
            }
        }
    }
}

/// `GET /clusters/{id}/affinitygroups/{group}/{list}`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let (part, mut group) = find(call)?;
    let kind = Kind::of(call)?;
    let members = std::mem::take(kind.members(&mut group));
    let members = members.iter().filter(|member| kind.is_shown(member));
    let shown = members
        .take(call.most()?)
        .map(|member| kind.tree(&part, member));
    Reply::list(call, kind.list(), shown)
}

/// `GET /clusters/{id}/affinitygroups/{group}/{list}/{member}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let (part, mut group) = find(call)?;
    let kind = Kind::of(call)?;
    let wanted = call.part("member");
    let members = std::mem::take(kind.members(&mut group));
    let mut members = members.iter().filter(|member| kind.is_shown(member));
    match members.find(|member| kind.id(&part, member) == wanted) {
        Some(member) => Ok(Reply::ok(kind.tree(&part, member))),
        None => Err(Fault::not_found(kind.element(), wanted)),
    }
}

/// The VM that an element names, by its id here.
pub(crate) fn named_vm(part: &Part, named: &Element) -> Result<Arc<str>, Fault> {
    let text = |key: &str| named.get(key).map(|it| it.text.as_str());
    let found = match (text("id"), text("name")) {
        (Some(id), _) => part.vm(id),
        (None, Some(wanted)) => part.vm_by_name(wanted),
        (None, None) => return Err(Fault::incomplete("Vm", "id|name", "add")),
    };
    let found = found.map(|entry| entry.vm.id.clone());
    let id = text("id").or_else(|| text("name")).unwrap_or_default();
    found.ok_or_else(|| Fault::not_found("VM", id))
}

/// The host that an element names, by its id here.
pub(crate) fn named_host(part: &Part, named: &Element) -> Result<Arc<str>, Fault> {
    let text = |key: &str| named.get(key).map(|it| it.text.as_str());
    let found = match (text("id"), text("name")) {
        (Some(id), _) => part.host(id).map(|(_, host)| host),
        (None, Some(wanted)) => part.host_by_name(wanted),
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
    only(body, &["id", "href", "name", "link"])?;
    let (part, _) = find(call)?;
    let member = kind.named(call, &part, body)?;
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
        let members = kind.members(group);
        let before = members.len();
        members.retain(|member| !kind.is_shown(member) || kind.id(part, member) != wanted);
        match members.len() < before {
            true => Ok(()),
            false => Err(Fault::not_found(kind.element(), &wanted)),
        }
    })?;
    Ok(Reply::complete())
}
