//! VMs, to be looked at.

use super::below;
use super::call::{Call, Reply};
use super::fault::Fault;
use super::hosts::{self, Host};
use super::inventory::{Part, parts};
use super::labels::{self, Labelled};
use super::search::{Field, Search};
use super::tree::Tree;
use placewright_inventory::VmEntry;

/// A VM of a cluster.
struct Vm<'p> {
    part: &'p Part,
    entry: &'p VmEntry,
}

/// Path of a VM.
pub(crate) fn href(id: &str) -> String {
    format!("/ovirt-engine/api/vms/{id}")
}

/// What a VM is called.
pub(crate) fn name(entry: &VmEntry) -> String {
    let name = entry.vm.facts.text("name");
    name.unwrap_or(&entry.vm.id).to_owned()
}

impl Vm<'_> {
    fn id(&self) -> String {
        self.part.vm_id(&self.entry.vm.id)
    }

    fn status(&self) -> String {
        let state = self.entry.vm.facts.text("state").unwrap_or("up");
        match (
            self.entry.pending,
            self.part.inventory().pending(&self.entry.vm.id),
        ) {
            (true, _) => "wait_for_launch".to_owned(),
            (false, Some(place)) if place.slot != self.entry.slot => "migrating".to_owned(),
            // What is reserved where it runs is for its growth.
            (false, _) => state.replace('-', "_"),
        }
    }

    /// The host on which it runs.
    fn host(&self) -> Option<Host<'_>> {
        let slot = self.entry.slot;
        let host = self.part.inventory().host(slot)?;
        (!self.entry.pending).then(|| Host::new(self.part, (slot, host)))
    }

    /// It with the labels that it is in, if they are followed.
    fn labelled(&self, call: &Call, labelled: Option<&Labelled>) -> Tree {
        let tree = self.tree(call);
        match labelled {
            Some(labelled) => tree.with(labelled.tree(&self.id())),
            None => tree,
        }
    }

    fn tree(&self, call: &Call) -> Tree {
        let id = self.id();
        let href = href(&id);
        let vm = &self.entry.vm;
        let facts = &vm.facts;
        let memory = facts.integer("memory").unwrap_or(0);
        let vcpus = facts
            .integer("cpu")
            .map_or(1, |cpu| cpu.saturating_add(999) / 1000);
        let sockets = facts.integer("sockets").unwrap_or(1);
        let topology = Tree::new("topology")
            .text(
                "cores",
                facts
                    .integer("cores")
                    .unwrap_or_else(|| (vcpus / sockets.max(1)).max(1)),
            )
            .text("sockets", sockets)
            .text("threads", facts.integer("threads").unwrap_or(1));
        let is_pinned = !vm.pinning.pinned.is_empty();
        let stays = facts.get("migratable") == Some(&false.into());
        let hosts = vm.pinning.pinned.iter().chain(&vm.pinning.preferred);
        let hosts = hosts.map(|host| {
            let id = self.part.host_id(host);
            Tree::new("host").at(&hosts::href(&id), &id)
        });
        let placement = Tree::new("placement_policy")
            .text(
                "affinity",
                if is_pinned || stays {
                    "pinned"
                } else {
                    "migratable"
                },
            )
            .with(Tree::list("hosts", hosts));
        let available = Tree::new("high_availability")
            .text("enabled", facts.is("ha"))
            .text("priority", facts.integer("priority").unwrap_or(0));
        let kind = match facts.text("type") {
            Some("high-performance") => "high_performance",
            Some("desktop") => "desktop",
            _ => "server",
        };
        let policy = Tree::new("memory_policy").text("guaranteed", memory);
        let mut tree = Tree::new("vm")
            .at(&href, &id)
            .text("name", name(self.entry))
            .with(Tree::new("cpu").with(topology))
            .with(available)
            .text("memory", memory)
            .with(policy)
            .with(placement)
            .text("status", self.status())
            .text("type", kind)
            .with(self.part.reference());
        if let Some(host) = self.host() {
            let id = host.id();
            tree = tree.with(Tree::new("host").at(&hosts::href(&id), &id));
        }
        for list in VmList::ALL {
            if call.follows(list.name()) || call.follows(list.element()) {
                tree = tree.with(self.list(list).named(list.element()));
            }
            tree = tree.link_below(&href, list.name());
        }
        tree.link_below(&href, "affinitylabels")
            .link_below(&href, "migrate")
    }

    /// What belongs to it.
    fn list(&self, list: VmList) -> Tree {
        let href = href(&self.id());
        let vm = &self.entry.vm;
        match list {
            VmList::Nics => below::vm_nics(&href, vm),
            VmList::NumaNodes => below::vm_numa_nodes(&href, vm),
            VmList::Statistics => Tree::list("statistics", self.statistics()),
            VmList::Tags => below::tags(&vm.facts),
            // Nothing is known of disks here.
            VmList::DiskAttachments => Tree::list("disk_attachments", []),
        }
    }

    /// What was measured. As on an engine, what was not is 0.
    fn statistics(&self) -> Vec<Tree> {
        let facts = &self.entry.vm.facts;
        let memory = facts.integer("memory").unwrap_or(0) as f64;
        let used = memory * facts.number("memory.usage").unwrap_or(0.0);
        let count = |name: &str| facts.integer(name).unwrap_or(1);
        let vcpus = count("sockets")
            .saturating_mul(count("cores"))
            .saturating_mul(count("threads"));
        // Of one CPU.
        let usage = facts.number("cpu.usage").unwrap_or(0.0) * 100.0 * vcpus as f64;
        let owner = href(&self.id());
        [
            ("memory.installed", "integer", "bytes", memory.to_string()),
            ("memory.used", "integer", "bytes", used.round().to_string()),
            (
                "memory.free",
                "integer",
                "bytes",
                (memory - used).round().to_string(),
            ),
            ("cpu.current.guest", "decimal", "percent", usage.to_string()),
            (
                "cpu.current.hypervisor",
                "decimal",
                "percent",
                "0".to_owned(),
            ),
            ("cpu.current.total", "decimal", "percent", usage.to_string()),
            ("migration.progress", "integer", "percent", "0".to_owned()),
        ]
        .map(|(name, kind, unit, value)| hosts::statistic(&owner, name, kind, unit, &value))
        .into_iter()
        .collect()
    }
}

fn field(key: &str) -> Option<Field> {
    match key {
        "name" | "id" | "cluster" | "status" | "host" | "tag" | "datacenter" => Some(Field::Text),
        "memory" => Some(Field::Number),
        _ => None,
    }
}

fn value(vm: &Vm<'_>, key: &str) -> Option<String> {
    match key {
        "name" => Some(name(vm.entry)),
        "id" => Some(vm.id()),
        "cluster" => Some(vm.part.name().to_string()),
        "status" => Some(vm.status()),
        "host" => vm.host().map(|host| host.name()),
        "datacenter" => Some(super::constants::DATA_CENTER.to_owned()),
        "memory" => Some(vm.entry.vm.facts.integer("memory").unwrap_or(0).to_string()),
        _ => None,
    }
}

/// `GET /vms`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let search = Search::read(call, field)?;
    let parts = parts(call)?;
    let all = parts.iter().flat_map(|part| {
        let mut vms: Vec<_> = part.vms().collect();
        vms.sort_by(|one, other| one.vm.id.cmp(&other.vm.id));
        vms.into_iter().map(move |entry| Vm { part, entry })
    });
    let found = search.of(all.collect(), value)?;
    let found = found.iter().take(call.most()?);
    let labelled = Labelled::followed(call, &parts, labels::List::Vms);
    let shown = found.map(|vm| vm.labelled(call, labelled.as_ref()));
    Reply::list(call, "vms", shown)
}

/// Show something of the VM of the id in the path.
fn shown(
    call: &Call,
    show: impl Fn(&Vm<'_>, &[Part]) -> Result<Tree, Fault>,
) -> Result<Reply, Fault> {
    let id = call.part("id");
    let parts = parts(call)?;
    for part in &parts {
        if let Some(entry) = part.vm(id) {
            return Ok(Reply::ok(show(&Vm { part, entry }, &parts)?));
        }
    }
    Err(Fault::not_found("VM", id))
}

/// What of a VM is listed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VmList {
    DiskAttachments,
    Nics,
    NumaNodes,
    Statistics,
    Tags,
}

impl VmList {
    const ALL: [Self; 5] = [
        Self::DiskAttachments,
        Self::Nics,
        Self::NumaNodes,
        Self::Statistics,
        Self::Tags,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::DiskAttachments => "diskattachments",
            Self::Nics => "nics",
            Self::NumaNodes => "numanodes",
            Self::Statistics => "statistics",
            Self::Tags => "tags",
        }
    }

    /// What the list is called inside the VM.
    fn element(self) -> &'static str {
        match self {
            Self::DiskAttachments => "disk_attachments",
            Self::NumaNodes => "numa_nodes",
            Self::Nics | Self::Statistics | Self::Tags => self.name(),
        }
    }

    fn of(call: &Call) -> Result<Self, Fault> {
        let wanted = call.part("list");
        let found = Self::ALL.into_iter().find(|list| list.name() == wanted);
        found.ok_or_else(|| Fault::not_found("collection", wanted))
    }
}

/// `GET /vms/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    shown(call, |vm, parts| {
        let labelled = Labelled::followed(call, parts, labels::List::Vms);
        Ok(vm.labelled(call, labelled.as_ref()))
    })
}

/// `GET /vms/{id}/{list}`
pub(crate) fn list_below(call: &Call) -> Result<Reply, Fault> {
    let most = call.most()?;
    shown(call, |vm, _| Ok(vm.list(VmList::of(call)?).first(most)))
}

/// `GET /vms/{id}/{list}/{entry}`
pub(crate) fn show_below(call: &Call) -> Result<Reply, Fault> {
    let wanted = call.part("entry");
    shown(call, |vm, _| {
        let list = vm.list(VmList::of(call)?);
        let found = list.of_id(wanted);
        found.ok_or_else(|| Fault::not_found(call.part("list"), wanted))
    })
}
