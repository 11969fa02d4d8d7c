//! Hosts, to be looked at.

use super::below;
use super::call::{Call, Reply};
use super::fault::Fault;
use super::inventory::{Part, parts};
use super::labels::{self, Labelled};
use super::migrate;
use super::search::{Field, Search};
use super::tree::Tree;
use placewright_inventory::HostEntry;
use placewright_model::Value;

/// A host of a cluster, for its columns.
pub(crate) struct Host<'p> {
    part: &'p Part,
    slot: u32,
    entry: &'p HostEntry,
}

/// Path of a host.
pub(crate) fn href(id: &str) -> String {
    format!("/ovirt-engine/api/hosts/{id}")
}

impl<'p> Host<'p> {
    pub(crate) fn new(part: &'p Part, (slot, entry): (u32, &'p HostEntry)) -> Self {
        Self { part, slot, entry }
    }

    fn value(&self, column: &str) -> Option<Value> {
        self.part.inventory().host_value(self.slot, column)
    }

    fn integer(&self, column: &str) -> Option<i64> {
        match self.value(column)? {
            Value::Integer(integer) => Some(integer),
            Value::Number(number) => Some(number as i64),
            _ => None,
        }
    }

    fn number(&self, column: &str) -> Option<f64> {
        match self.value(column)? {
            Value::Integer(integer) => Some(integer as f64),
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    fn text(&self, column: &str) -> Option<String> {
        match self.value(column)? {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    fn is(&self, column: &str) -> bool {
        self.value(column) == Some(Value::Boolean(true))
    }

    pub(crate) fn id(&self) -> String {
        self.part.host_id(&self.entry.id)
    }

    pub(crate) fn name(&self) -> String {
        self.text("name")
            .unwrap_or_else(|| self.entry.id.to_string())
    }

    fn status(&self) -> String {
        self.text("state").unwrap_or_else(|| "up".to_owned())
    }

    /// Bytes that VMs to come may be promised.
    fn schedulable(&self) -> i64 {
        let integer = |column| self.integer(column).unwrap_or(0) as f64;
        let total = integer("memory.total") * self.number("memory.overcommit").unwrap_or(1.0);
        let taken = integer("memory.committed") + integer("memory.pending");
        (total - taken - integer("memory.reserved")).max(0.0) as i64
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
        let sockets = self.integer("cpu.sockets").unwrap_or(1).max(1);
        let cores = self.integer("cpu.cores").unwrap_or(sockets).max(sockets);
        let threads = self.integer("cpu.threads").unwrap_or(cores).max(cores);
        let topology = Tree::new("topology")
            .text("cores", cores / sockets)
            .text("sockets", sockets)
            .text("threads", threads / cores);
        let count = |column| self.integer(column).unwrap_or(0);
        let summary = Tree::new("summary")
            .text("active", count("vms.count"))
            .text("migrating", count("vms.migrating"))
            .text(
                "total",
                count("vms.count").saturating_add(count("vms.pending")),
            );
        let status = Tree::new("spm").text(
            "status",
            if self.is("attribute.spm") {
                "spm"
            } else {
                "none"
            },
        );
        let mut tree = Tree::new("host")
            .with_room(24)
            .at(&href, &id)
            .text("name", self.name())
            .text(
                "address",
                self.text("address").unwrap_or_else(|| self.name()),
            )
            .with(Tree::new("cpu").with(topology))
            .text(
                "external_status",
                self.text("status.external")
                    .unwrap_or_else(|| "ok".to_owned()),
            )
            .text("max_scheduling_memory", self.schedulable())
            .text("memory", self.integer("memory.total").unwrap_or(0))
            .text(
                "numa_supported",
                !self.entry.facts.rows("numa-nodes").is_empty(),
            )
            .with(Tree::new("power_management").text("enabled", self.is("power.managed")))
            .with(status)
            .text("status", self.status())
            .with(summary)
            .text("update_available", false)
            .with(self.part.reference());
        for list in HostList::ALL {
            if call.follows(list.name()) || call.follows(list.element()) {
                tree = tree.with(self.list(list).named(list.element()));
            }
            tree = tree.link_below(&href, list.name());
        }
        tree.link_below(&href, "affinitylabels")
    }

    /// What belongs to it.
    fn list(&self, list: HostList) -> Tree {
        let href = href(&self.id());
        match list {
            HostList::Nics => below::host_nics(self.part, &href, self.entry),
            HostList::NumaNodes => below::host_numa_nodes(&href, self.entry),
            HostList::Statistics => Tree::list("statistics", self.statistics()),
            HostList::Tags => below::tags(&self.entry.facts),
        }
    }

    /// What was measured. As on an engine, what was not is 0.
    fn statistics(&self) -> Vec<Tree> {
        let bytes = |column| self.integer(column).unwrap_or(0);
        let used = |total, free: &str| match self.integer(free) {
            Some(free) => bytes(total).saturating_sub(free),
            None => 0,
        };
        let memory = [
            ("memory.total", bytes("memory.total")),
            ("memory.used", used("memory.total", "memory.free")),
            ("memory.free", bytes("memory.free")),
            ("memory.shared", 0),
            ("swap.total", bytes("swap.total")),
            ("swap.used", used("swap.total", "swap.free")),
            ("swap.free", bytes("swap.free")),
        ];
        let memory =
            memory.map(|(name, value)| self.statistic(name, "integer", "bytes", value.to_string()));
        let usage = self.number("cpu.usage").map(|usage| usage * 100.0);
        let cpu = [
            ("cpu.current.user", usage.unwrap_or(0.0)),
            ("cpu.current.system", 0.0),
            ("cpu.current.idle", usage.map_or(0.0, |usage| 100.0 - usage)),
        ];
        let cpu =
            cpu.map(|(name, value)| self.statistic(name, "decimal", "percent", value.to_string()));
        memory.into_iter().chain(cpu).collect()
    }

    fn statistic(&self, name: &str, kind: &str, unit: &str, value: String) -> Tree {
        statistic(&href(&self.id()), name, kind, unit, &value)
    }
}

/// A statistic of what is found under an address.
pub(crate) fn statistic(owner: &str, name: &str, kind: &str, unit: &str, value: &str) -> Tree {
    let id = super::ids::of("statistic", &[owner, name]);
    let datum = Tree::new("value").text("datum", value);
    Tree::new("statistic")
        .at(&format!("{owner}/statistics/{id}"), &id)
        .text("name", name)
        .text("kind", "gauge")
        .text("type", kind)
        .text("unit", unit)
        .with(Tree::list("values", [datum]))
}

fn field(key: &str) -> Option<Field> {
    match key {
        "name" | "host" | "id" | "cluster" | "status" | "address" | "hostname"
        | "update_available" | "tag" | "datacenter" => Some(Field::Text),
        "memory" | "active_vms" | "vms" => Some(Field::Number),
        _ => None,
    }
}

fn value(host: &Host<'_>, key: &str) -> Option<String> {
    match key {
        "name" | "host" => Some(host.name()),
        "id" => Some(host.id()),
        "cluster" => Some(host.part.name().to_string()),
        "status" => Some(host.status()),
        "address" | "hostname" => Some(host.text("address").unwrap_or_else(|| host.name())),
        "update_available" => Some("false".to_owned()),
        "datacenter" => Some(super::constants::DATA_CENTER.to_owned()),
        "memory" => Some(host.integer("memory.total").unwrap_or(0).to_string()),
        "active_vms" | "vms" => Some(host.integer("vms.count").unwrap_or(0).to_string()),
        _ => None,
    }
}

/// `GET /hosts`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let search = Search::read(call, field)?;
    let parts = parts(call)?;
    let closure = call.query("check_vms_in_affinity_closure");
    if closure.is_some_and(|closure| !closure.eq_ignore_ascii_case("false")) {
        return Err(Fault::refused(
            "hosts are not looked for with the VMs of whole affinity groups: name all of them in \"migration_target_of\"",
        ));
    }
    let targets = match call.query("migration_target_of") {
        None => None,
        Some(vms) => Some(migrate::targets(call, &parts, vms)?),
    };
    let hosts = parts.iter().flat_map(|part| {
        let hosts = part.hosts().into_iter();
        hosts.map(move |host| Host::new(part, host))
    });
    let is_target = |host: &Host<'_>| {
        let place = |(cluster, hosts): &(_, std::collections::HashSet<_>)| {
            *cluster == *host.part.name() && hosts.contains(&host.entry.id)
        };
        targets.as_ref().is_none_or(place)
    };
    let found = search.of(hosts.filter(is_target).collect(), value)?;
    let found = found.iter().take(call.most()?);
    let labelled = Labelled::followed(call, &parts, labels::List::Hosts);
    let shown = found.map(|host| host.labelled(call, labelled.as_ref()));
    Reply::list(call, "hosts", shown)
}

/// Show something of the host of the id in the path.
fn shown(
    call: &Call,
    show: impl Fn(&Host<'_>, &[Part]) -> Result<Tree, Fault>,
) -> Result<Reply, Fault> {
    let id = call.part("id");
    let parts = parts(call)?;
    for part in &parts {
        if let Some(host) = part.host(id) {
            return Ok(Reply::ok(show(&Host::new(part, host), &parts)?));
        }
    }
    Err(Fault::not_found("host", id))
}

/// What of a host is listed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostList {
    Nics,
    NumaNodes,
    Statistics,
    Tags,
}

impl HostList {
    const ALL: [Self; 4] = [Self::Nics, Self::NumaNodes, Self::Statistics, Self::Tags];

    fn name(self) -> &'static str {
        match self {
            Self::Nics => "nics",
            Self::NumaNodes => "numanodes",
            Self::Statistics => "statistics",
            Self::Tags => "tags",
        }
    }

    /// What the list is called inside the host.
    fn element(self) -> &'static str {
        match self {
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

/// `GET /hosts/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    shown(call, |host, parts| {
        let labelled = Labelled::followed(call, parts, labels::List::Hosts);
        Ok(host.labelled(call, labelled.as_ref()))
    })
}

/// `GET /hosts/{id}/{list}`
pub(crate) fn list_below(call: &Call) -> Result<Reply, Fault> {
    let most = call.most()?;
    shown(call, |host, _| {
        Ok(host.list(HostList::of(call)?).first(most))
    })
}

/// `GET /hosts/{id}/{list}/{entry}`
pub(crate) fn show_below(call: &Call) -> Result<Reply, Fault> {
    let wanted = call.part("entry");
    shown(call, |host, _| {
        let list = host.list(HostList::of(call)?);
        let found = list.of_id(wanted);
        found.ok_or_else(|| Fault::not_found(call.part("list"), wanted))
    })
}
