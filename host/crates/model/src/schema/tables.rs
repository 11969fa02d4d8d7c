//! The built-in tables.

use super::{Column, Rows, Source, Table};
use crate::Bounds;
use crate::Kind::{self, Boolean, Integer, Number, Text};
use crate::Measure::{self, Bytes, Fraction, Millicores, Time};

/// A column that is always there.
fn always(name: &str, kind: Kind, source: Source, meaning: &str) -> Column {
    Column {
        name: name.into(),
        kind,
        measure: None,
        optional: false,
        source,
        // Built-in integers are amounts, counts, numbers of things or times.
        bounds: match kind {
            Integer => Bounds::FROM_ZERO,
            _ => Bounds::NONE,
        },
        choices: &[],
        example: "",
        meaning: meaning.into(),
    }
}

/// A column that the operator may give.
fn maybe(name: &str, kind: Kind, meaning: &str) -> Column {
    Column {
        optional: true,
        ..always(name, kind, Source::Given, meaning)
    }
}

fn given(name: &str, kind: Kind, meaning: &str) -> Column {
    always(name, kind, Source::Given, meaning)
}

fn kept(name: &str, kind: Kind, meaning: &str) -> Column {
    always(name, kind, Source::Kept, meaning)
}

fn added(name: &str, kind: Kind, meaning: &str) -> Column {
    always(name, kind, Source::Added, meaning)
}

impl Column {
    fn in_measure(self, measure: Measure) -> Self {
        Self {
            measure: Some(measure),
            bounds: match measure {
                Fraction => Bounds::SHARE,
                _ => self.bounds,
            },
            ..self
        }
    }

    fn within(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    fn one_of(self, choices: &'static [&'static str]) -> Self {
        Self { choices, ..self }
    }

    fn such_as(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    fn or_absent(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }
}

fn table(name: &str, rows: Rows, source: Source, meaning: &str, columns: Vec<Column>) -> Table {
    Table {
        name: name.into(),
        rows,
        relation: false,
        source,
        meaning: meaning.into(),
        columns,
    }
}

/// A table of rows that documents give below a row of the parent.
fn nested(name: &str, meaning: &str, columns: Vec<Column>) -> Table {
    table(name, Rows::Many, Source::Given, meaning, columns)
}

fn relation(name: &str, meaning: &str, columns: Vec<Column>) -> Table {
    Table {
        relation: true,
        ..table(name, Rows::Many, Source::Kept, meaning, columns)
    }
}

pub(super) fn built_in() -> Vec<Table> {
    let mut tables = vec![
        request(),
        table(
            "members",
            Rows::Many,
            Source::Given,
            "The VMs to be placed together on one host, usually one; for an order part, all requests of a batch",
            members(),
        ),
        groups(),
        relation(
            "groups/vms",
            "The VMs of a group that run, for a balance part",
            vec![kept("vm", Integer, "Row number in hosts/vms").such_as("0")],
        ),
        relation(
            "groups/hosts",
            "The hosts of a group, for a balance part",
            vec![kept("host", Integer, "Row number in hosts").such_as("h1")],
        ),
        table(
            "tenant",
            Rows::Optional,
            Source::Given,
            "The tenant that the request is made for",
            vec![kept("id", Text, "Id of the tenant").such_as("shop")],
        ),
        nested(
            "tenant/bindings",
            "Hosts that the tenant is or was bound to, in the order in which it was",
            vec![
                given("host", Text, "Id of the host, which may be gone by now").such_as("h1"),
                maybe("zone", Text, "Availability zone at the time").such_as("z1"),
                maybe("tag", Text, "Tag at the time").such_as("rack-7"),
                given("start", Integer, "When it began").in_measure(Time),
                maybe("end", Integer, "When it ended; absent while it holds").in_measure(Time),
            ],
        ),
        table(
            "cluster",
            Rows::One,
            Source::Given,
            "The cluster that the decision is made in",
            vec![kept("name", Text, "Name of the cluster").such_as("north")],
        ),
        nested(
            "cluster/networks",
            "The logical networks of the cluster",
            vec![
                given("name", Text, "Name of the network").such_as("management"),
                maybe("required", Boolean, "Whether every host must have it"),
                maybe("display", Boolean, "Whether consoles are reached over it"),
            ],
        ),
        table(
            "sources",
            Rows::Many,
            Source::Kept,
            "The hosts where members run now, candidates or not",
            vec![
                kept("member", Integer, "Row number in members").such_as("0"),
                kept("id", Text, "Id of the host").such_as("h1"),
                maybe("name", Text, "Name of the host").such_as("node-1"),
                maybe("address", Text, "Network address of the host").such_as("192.0.2.11"),
                maybe("zone", Text, "Availability zone of the host").such_as("z1"),
            ],
        ),
        table(
            "hosts",
            Rows::Many,
            Source::Given,
            "The hosts that are asked about",
            hosts(),
        ),
        table(
            "hosts/vms",
            Rows::Many,
            Source::Kept,
            "The VMs that run on the host or have a place reserved on it",
            running_vms(),
        ),
        table(
            "candidates",
            Rows::Many,
            Source::Kept,
            "For selections and explain parts: the hosts that are left, row for row as in hosts",
            vec![
                kept(
                    "group",
                    Integer,
                    "Number of the group that it stands in, best first",
                )
                .such_as("0"),
                kept("share", Number, "Its share of chance inside the group").in_measure(Fraction),
                kept(
                    "cost",
                    Number,
                    "The sum of the stage's weighted costs so far",
                )
                .such_as("1.25"),
            ],
        ),
    ];
    tables.extend(below_vms("members"));
    tables.extend(below_vms("hosts/vms"));
    tables.push(nested(
        "hosts/vms/fixed-keys",
        "Placement keys that were fixed when it was placed, for as long as it stays on the host",
        vec![
            given("name", Text, "Name of the key").such_as("web-1"),
            given("value", Number, "Value").such_as("1.5"),
        ],
    ));
    tables.push(gpus_of_stay("hosts/vms/gpus"));
    tables.extend(below_hosts());
    tables.extend(relations());
    tables.extend(held_rows());
    tables
}

fn request() -> Table {
    table(
        "request",
        Rows::One,
        Source::Given,
        "The request as a whole",
        vec![
            kept("now", Integer, "When the decision is made").in_measure(Time),
            kept(
                "draw",
                Number,
                "The request's random number, 0 or more and less than 1",
            )
            .such_as("0.61"),
            given(
                "kind",
                Text,
                "What is asked for: place, migrate, or the operator's own word",
            )
            .such_as("place"),
            maybe("tenant", Text, "Id of the tenant that asks").such_as("shop"),
            kept(
                "forced",
                Boolean,
                "Whether an administrator chose the host, so that no unit was asked",
            ),
            maybe("zone", Text, "Availability zone that is asked for").such_as("z1"),
            maybe(
                "instances",
                Integer,
                "How many instances the tenant's deployment has",
            )
            .such_as("3"),
        ],
    )
}

/// What a VM may do, with what oVirt knows besides.
const VM_STATES: &[&str] = &[
    "up",
    "down",
    "stopped",
    "off",
    "paused",
    "suspended",
    "migrating",
    "powering-up",
    "powering-down",
    "reboot-in-progress",
    "saving-state",
    "restoring-state",
    "wait-for-launch",
    "image-locked",
    "image-illegal",
    "not-responding",
    "unassigned",
    "unknown",
];

/// What is known of a VM, placed or not.
fn vm_columns() -> Vec<Column> {
    vec![
        kept("id", Text, "Id of the VM").such_as("web-1"),
        maybe("name", Text, "Name of the VM").such_as("web-1"),
        maybe("tenant", Text, "Id of the tenant that owns it").such_as("shop"),
        maybe(
            "type",
            Text,
            "What it is optimised for: desktop, server or high-performance",
        )
        .one_of(&["desktop", "server", "high-performance"])
        .such_as("high-performance"),
        maybe("state", Text, "What it does: up if it runs and nothing is given")
            .one_of(VM_STATES)
            .such_as("up"),
        maybe(
            "zone",
            Text,
            "Availability zone that it belongs to: the one that the request asked for which placed it",
        ).such_as("z1"),
        given(
            "priority",
            Integer,
            "The greater, the sooner it is served; 0 if not given",
        ).such_as("10")
        .within(Bounds::NONE),
        given(
            "cpu",
            Integer,
            "CPU that it was promised; a core per vCPU if not given",
        )
        .in_measure(Millicores),
        given(
            "memory",
            Integer,
            "Memory that it was promised; 0 if not given",
        )
        .in_measure(Bytes),
        given("sockets", Integer, "Virtual CPU sockets; 1 if not given").such_as("1"),
        given(
            "cores",
            Integer,
            "Cores per virtual socket; if not given, as many as its CPU needs",
        ).such_as("2"),
        given(
            "threads",
            Integer,
            "Threads per virtual core; 1 if not given",
        ).such_as("1"),
        kept("vcpus", Integer, "sockets x cores x threads").such_as("2"),
        maybe("cpu.usage", Number, "Measured share of its vCPUs in use").in_measure(Fraction),
        maybe(
            "memory.usage",
            Number,
            "Measured share of its memory in use",
        )
        .in_measure(Fraction),
        maybe("memory.video", Integer, "Memory for video").in_measure(Bytes),
        maybe("io-threads", Integer, "I/O threads").such_as("1"),
        maybe(
            "gpu.count",
            Integer,
            "How many GPUs it needs; 1 if not given where gpu.share or gpu-models is",
        ).such_as("1"),
        maybe(
            "gpu.share",
            Integer,
            "Thousandths that it needs of each of its GPUs; all of it if not given",
        ).such_as("500")
        .within(Bounds::THOUSANDTHS),
        given(
            "ha",
            Boolean,
            "Whether it is restarted elsewhere if its host fails",
        ),
        given(
            "exclusive",
            Boolean,
            "Whether it has exclusive physical CPUs; so also where its pinning is dedicated or isolate-threads",
        ),
        given(
            "migratable",
            Boolean,
            "Whether it may be moved while it runs; true if not given",
        ),
        maybe("machine", Text, "Emulated machine type").such_as("pc-q35-rhel9.4.0"),
        maybe(
            "pinning",
            Text,
            "How its vCPUs are pinned; absent if they are not",
        )
        .one_of(&["manual", "dedicated", "isolate-threads", "resize-and-pin"])
        .such_as("dedicated"),
        maybe(
            "stickiness",
            Integer,
            "How strongly it wants to stay where it runs",
        ).such_as("100")
        .within(Bounds::NONE),
    ]
}

fn members() -> Vec<Column> {
    let mut columns = vm_columns();
    columns.extend([
        kept("running", Boolean, "Whether it runs on a host now"),
        kept(
            "pinned",
            Boolean,
            "Whether it is pinned to hosts (hosts/pinned)",
        ),
        kept(
            "has-preferred",
            Boolean,
            "Whether it prefers hosts (hosts/preferred)",
        ),
        kept(
            "has-location",
            Boolean,
            "Whether it has scores for hosts (hosts/location)",
        ),
        kept(
            "has-pinning",
            Boolean,
            "Whether its vCPUs are pinned: by pinning, or by rows of members/pins",
        ),
        kept(
            "has-numa-nodes",
            Boolean,
            "Whether it has NUMA nodes of its own (members/numa-nodes)",
        ),
        kept(
            "has-huge-pages",
            Boolean,
            "Whether it needs huge pages (members/huge-pages); a filter that reads this checks that need",
        ),
        kept(
            "has-devices",
            Boolean,
            "Whether it needs devices of a host (members/devices)",
        ),
        kept(
            "has-cpu-flags",
            Boolean,
            "Whether it needs CPU flags (members/cpu-flags)",
        ),
    ]);
    columns
}

fn running_vms() -> Vec<Column> {
    let mut columns = vm_columns();
    columns.push(kept(
        "pending",
        Boolean,
        "Whether its place is reserved and it does not run here yet",
    ));
    columns
}

fn hosts() -> Vec<Column> {
    vec![
        kept("id", Text, "Id of the host").such_as("h1"),
        kept("listed", Integer, "Its place in the order in which hosts were added, from 0").such_as("0"),
        maybe("name", Text, "Name of the host").such_as("node-1"),
        maybe("address", Text, "Network address").such_as("192.0.2.11"),
        maybe("zone", Text, "Availability zone").such_as("z1"),
        given("state", Text, "up (takes VMs; if not given), maintenance, down or error")
            .one_of(&["up", "maintenance", "down", "error"]),
        maybe("created", Integer, "When it was added").in_measure(Time),
        // CPU
        maybe("cpu.sockets", Integer, "CPU sockets").such_as("2"),
        maybe("cpu.cores", Integer, "CPU cores of all sockets").such_as("40"),
        maybe("cpu.threads", Integer, "CPU threads of all cores").such_as("80"),
        given("cpu.total", Integer, "CPU that it has; that of its cores if not given")
            .in_measure(Millicores),
        maybe(
            "cpu.overcommit",
            Number,
            "How much of its CPU may be promised, 1 = all of it once; if not given, as the policy says, or 1",
        )
        .in_measure(Fraction)
        .within(Bounds::FROM_ZERO),
        maybe("cpu.usage", Number, "Measured share of its CPU in use").in_measure(Fraction),
        added("cpu.committed", Integer, "CPU promised to the VMs that run here")
            .in_measure(Millicores),
        added("cpu.pending", Integer, "CPU promised to the VMs that have a place reserved here")
            .in_measure(Millicores),
        added("cpu.exclusive", Integer, "CPUs that VMs here, pending ones included, have for themselves").such_as("8"),
        added("vcpus", Integer, "vCPUs of the VMs that run here without exclusive CPUs").such_as("2"),
        added(
            "vcpus.pending",
            Integer,
            "vCPUs of the VMs that have a place reserved here without exclusive CPUs",
        ).such_as("4"),
        added(
            "load.pending",
            Integer,
            "Load of VMs without exclusive CPUs that ran on another host before: pending VMs, and VMs that run here and are not yet measured in cpu.usage",
        )
        .in_measure(Millicores),
        added(
            "vcpus.unmeasured",
            Integer,
            "vCPUs of VMs without exclusive CPUs and without a measured load: pending VMs, and VMs that run here and are not yet measured in cpu.usage",
        ).such_as("2"),
        // memory
        given("memory.total", Integer, "Physical memory; 0 if not given").in_measure(Bytes),
        maybe("memory.free", Integer, "Measured free memory").in_measure(Bytes),
        given("memory.reserved", Integer, "Memory that the host keeps for itself; 0 if not given")
            .in_measure(Bytes),
        given(
            "memory.overcommit",
            Number,
            "How much of its memory may be promised, 1 = all of it once; 1 if not given",
        )
        .in_measure(Fraction)
        .within(Bounds::FROM_ZERO),
        added("memory.committed", Integer, "Memory promised to the VMs that run here")
            .in_measure(Bytes),
        added("memory.pending", Integer, "Memory promised to the VMs that have a place reserved here")
            .in_measure(Bytes),
        added(
            "memory.unmeasured",
            Integer,
            "Memory outside huge pages of VMs that run here and are not yet measured in memory.free, which is already less by it",
        )
        .in_measure(Bytes),
        maybe("swap.total", Integer, "Swap space").in_measure(Bytes),
        maybe("swap.free", Integer, "Free swap space").in_measure(Bytes),
        maybe("gpu.model", Text, "Model of its GPUs, which are all alike").such_as("nvidia-a100"),
        // VMs
        added("vms.count", Integer, "VMs that run here").such_as("12"),
        added("vms.pending", Integer, "VMs that have a place reserved here").such_as("1"),
        added(
            "vms.unmeasured",
            Integer,
            "VMs that run here and of which memory.free shows nothing yet",
        )
        .such_as("1"),
        added("vms.migrating", Integer, "VMs here that are on the move, to or from this host").such_as("0"),
        added("vms.ha", Integer, "Highly available VMs here, pending ones included").such_as("5"),
        kept(
            "vms.widest",
            Integer,
            "Cores of the largest VM here (running or pending, without exclusive CPUs); 0 if there is none",
        ).such_as("16"),
        kept("batch.placed", Integer, "VMs that the batch at hand has placed here so far").such_as("0"),
        // power
        maybe("power.managed", Boolean, "Whether it can be switched on and off from outside"),
        maybe("power.keep-on", Boolean, "Whether it must not be switched off"),
        maybe("power.by-policy", Boolean, "Whether a policy has brought it into its state"),
        maybe("status.external", Text, "What an outside monitor says of it: ok, or what is wrong").such_as("ok"),
    ]
}

fn groups() -> Table {
    table(
        "groups",
        Rows::Many,
        Source::Kept,
        "The affinity groups of the members; for a balance part, all groups",
        vec![
            kept(
                "rule",
                Text,
                "What it wants of its VMs: positive or negative; absent if nothing",
            )
            .such_as("negative")
            .or_absent(),
            kept("hard", Boolean, "Whether the rule for VMs must be kept"),
            kept(
                "host-rule",
                Text,
                "What it wants of its hosts: positive or negative; absent if nothing",
            )
            .such_as("positive")
            .or_absent(),
            kept(
                "host-hard",
                Boolean,
                "Whether the rule for hosts must be kept",
            ),
            kept(
                "priority",
                Number,
                "The greater, the more it counts; 1 if not given",
            )
            .such_as("1"),
            kept("here", Integer, "How many of the members are in it").such_as("1"),
            kept(
                "elsewhere",
                Boolean,
                "Whether a VM of it that is no member runs or is pending on any host that is not down or in error",
            ),
        ],
    )
}

/// GPUs that belong to a VM's stay on its host.
fn gpus_of_stay(name: &str) -> Table {
    nested(
        name,
        "GPUs of the host that it was given when it was placed, for as long as it stays there",
        vec![
            given("index", Integer, "Number of the GPU").such_as("0"),
            given("share", Integer, "Thousandths of it that it takes")
                .such_as("500")
                .within(Bounds::THOUSANDTHS),
        ],
    )
}

/// Tables below a VM, the same for members and running VMs.
fn below_vms(parent: &str) -> Vec<Table> {
    let name = |table: &str| format!("{parent}/{table}");
    vec![
        nested(
            &name("amounts"),
            "What it needs of amounts with names of the operator's choice",
            vec![
                given("name", Text, "Name of the amount").such_as("floating-ips"),
                given("need", Integer, "How much of it").such_as("2"),
            ],
        ),
        nested(
            &name("keys"),
            "Placement keys that concern it",
            vec![
                maybe(
                    "level",
                    Integer,
                    "Level of the resource that carries the key",
                )
                .such_as("1"),
                maybe("index", Integer, "Which resource of that level, from 0").such_as("0"),
                maybe("class", Text, "Who set it").such_as("tenant"),
                given("name", Text, "Name of the key").such_as("disk"),
                given("value", Text, "Value, a text").such_as("ssd"),
                maybe("weight", Number, "Weight").such_as("1.5"),
            ],
        ),
        nested(
            &name("specs"),
            "Extra specifications that it asks for",
            vec![
                given("key", Text, "Key").such_as("disk"),
                given("value", Text, "Value").such_as("ssd"),
            ],
        ),
        nested(
            &name("nics"),
            "Its network interfaces",
            vec![
                maybe(
                    "network",
                    Text,
                    "Name of the network; absent if it has none",
                )
                .such_as("management"),
                maybe("plugged", Boolean, "Whether it is plugged in"),
                maybe(
                    "passthrough",
                    Boolean,
                    "Whether it passes through to a physical function",
                ),
                maybe(
                    "external",
                    Boolean,
                    "Whether the network is an outside provider's",
                ),
            ],
        ),
        nested(
            &name("numa-nodes"),
            "Its virtual NUMA nodes",
            vec![
                given("index", Integer, "Number of the node").such_as("0"),
                given("memory", Integer, "Memory of the node").in_measure(Bytes),
                maybe(
                    "mode",
                    Text,
                    "How its memory is bound to the host's nodes; strict if not given",
                )
                .one_of(&["strict", "interleave", "preferred"])
                .such_as("strict"),
            ],
        ),
        nested(
            &name("numa-nodes/host-nodes"),
            "The host's NUMA nodes that the virtual node is pinned to",
            vec![given("index", Integer, "Number of the host's node").such_as("0")],
        ),
        nested(
            &name("pins"),
            "Its vCPUs that are pinned",
            vec![
                given("vcpu", Integer, "Number of the vCPU").such_as("0"),
                given("cpu", Integer, "Number of the host's CPU").such_as("4"),
            ],
        ),
        nested(
            &name("huge-pages"),
            "Huge pages that it needs",
            vec![
                given("size", Integer, "Size of a page").in_measure(Bytes),
                given("count", Integer, "How many").such_as("512"),
            ],
        ),
        nested(
            &name("devices"),
            "Devices of a host that it needs",
            vec![
                given("name", Text, "Name of the device").such_as("pci_0000_3b_00_0"),
                maybe("kind", Text, "Kind of the device").such_as("gpu"),
            ],
        ),
        nested(
            &name("cpu-flags"),
            "CPU flags that it needs",
            vec![given("flag", Text, "The flag").such_as("avx2")],
        ),
        nested(
            &name("gpu-models"),
            "Models of GPU that it accepts; any if there is no row",
            vec![given("model", Text, "Name of the model").such_as("nvidia-a100")],
        ),
    ]
}

fn below_hosts() -> Vec<Table> {
    vec![
        nested(
            "hosts/amounts",
            "Amounts with names of the operator's choice",
            vec![
                given("name", Text, "Name of the amount").such_as("floating-ips"),
                given("total", Integer, "How much of it the host has").such_as("16"),
                added("used", Integer, "Needed by the VMs that run here").such_as("4"),
                added(
                    "pending",
                    Integer,
                    "Needed by the VMs that have a place reserved here",
                ).such_as("1"),
                kept(
                    "free",
                    Integer,
                    "total less used and pending; less than 0 where more was given than there is",
                ).such_as("3")
                .within(Bounds::NONE),
            ],
        ),
        nested(
            "hosts/networks",
            "Networks that the host is connected to",
            vec![
                given("name", Text, "Name of the network").such_as("management"),
                maybe("ipv4", Text, "Boot protocol for IPv4, absent if none")
                    .one_of(&["static", "dhcp"])
                    .such_as("dhcp"),
                maybe("ipv6", Text, "Boot protocol for IPv6, absent if none")
                    .one_of(&["static", "dhcp", "autoconf", "poly-dhcp-autoconf"])
                    .such_as("autoconf"),
            ],
        ),
        nested(
            "hosts/numa-nodes",
            "NUMA nodes",
            vec![
                given("index", Integer, "Number of the node").such_as("0"),
                given("memory.total", Integer, "Memory of the node").in_measure(Bytes),
                maybe("memory.free", Integer, "Measured free memory of the node").in_measure(Bytes),
                added(
                    "memory.promised",
                    Integer,
                    "Memory of the node promised to virtual nodes, pinned to it, of the VMs that run here",
                )
                .in_measure(Bytes),
                added(
                    "memory.pending",
                    Integer,
                    "The same for the VMs that have a place reserved here",
                )
                .in_measure(Bytes),
                kept(
                    "cpus",
                    Integer,
                    "CPU threads of the node that are online, by the host's cpus; absent if none of these names the node",
                ).such_as("20")
                .or_absent(),
                added(
                    "cpus.promised",
                    Integer,
                    "CPUs of the node that VMs which run here have for themselves: those that they are pinned to, or else those of virtual nodes pinned to it",
                ).such_as("4"),
                added(
                    "cpus.pending",
                    Integer,
                    "The same for the VMs that have a place reserved here",
                ).such_as("2"),
                added(
                    "cpus.sharers",
                    Integer,
                    "Virtual nodes pinned to the node whose VMs share CPUs, of VMs that run here and of those that have a place reserved here: while there are any, one CPU of the node must be left to be shared",
                ).such_as("1"),
            ],
        ),
        nested(
            "hosts/cpus",
            "CPU threads, one by one",
            vec![
                given("cpu", Integer, "Number of the thread").such_as("4"),
                maybe("socket", Integer, "Number of its socket").such_as("0"),
                maybe("core", Integer, "Number of its core in the socket").such_as("3"),
                maybe("numa", Integer, "Number of its NUMA node").such_as("0"),
                maybe("online", Boolean, "Whether it is online"),
                maybe("exclusive", Boolean, "Whether a VM has it for itself"),
            ],
        ),
        nested(
            "hosts/huge-pages",
            "Huge pages",
            vec![
                given("size", Integer, "Size of a page").in_measure(Bytes),
                given("free", Integer, "Free pages").such_as("512"),
                added(
                    "pending",
                    Integer,
                    "Pages needed by the VMs that have a place reserved here",
                ).such_as("64"),
                kept(
                    "memory.pending",
                    Integer,
                    "What of the host's memory.pending is to be in these pages: memory of VMs that have a place reserved here, and none of VMs that run here already and whose pages count as pending until they are measured; negative where VMs that run here are to have ordinary memory instead of these pages",
                )
                .in_measure(Bytes),
            ],
        ),
        table(
            "hosts/numa-huge-pages",
            Rows::Many,
            Source::Kept,
            "Huge pages of NUMA nodes that are promised and that no measurement shows yet: a row for each node and size of which there are any",
            vec![
                kept("node", Integer, "Number of the node"),
                kept("size", Integer, "Size of a page").in_measure(Bytes),
                kept(
                    "pending",
                    Integer,
                    "Pages that virtual nodes pinned to the node need, of the VMs that have a place reserved here, and of VMs that run here and are not yet measured in attribute.numa-huge-pages",
                ),
            ],
        ),
        table(
            "hosts/virtual-functions",
            Rows::Many,
            Source::Kept,
            "Virtual functions of network cards that are promised and that no measurement shows yet: a row for each network of which there are any",
            vec![
                kept("network", Text, "Name of the network").such_as("storage"),
                kept(
                    "pending",
                    Integer,
                    "Virtual functions that plugged network cards need which pass through, of the VMs that have a place reserved here, and of VMs that run here and are not yet measured in attribute.virtual-functions",
                )
                .such_as("2"),
            ],
        ),
        nested(
            "hosts/gpus",
            "GPUs, of which VMs take whole ones or thousandths",
            vec![
                given("index", Integer, "Number of the GPU").such_as("0"),
                added(
                    "taken",
                    Integer,
                    "Thousandths of it that the VMs take that run here or have a place reserved here",
                ).such_as("500"),
                kept(
                    "free",
                    Integer,
                    "1000 less what is taken; less than 0 where more was given than there is",
                ).such_as("500")
                .within(Bounds::NONE),
            ],
        ),
        nested(
            "hosts/devices",
            "Devices that can be given to a VM",
            vec![
                given("name", Text, "Name of the device").such_as("pci_0000_3b_00_0"),
                maybe("kind", Text, "Kind of the device").such_as("gpu"),
                maybe("free", Boolean, "Whether no VM has it"),
            ],
        ),
        nested(
            "hosts/cpu-flags",
            "CPU flags",
            vec![given("flag", Text, "The flag").such_as("avx2")],
        ),
        nested(
            "hosts/machine-types",
            "Machine types that the host can emulate",
            vec![given("name", Text, "Name of the machine type").such_as("pc-q35-rhel9.4.0")],
        ),
        nested(
            "hosts/versions",
            "Compatibility versions that the host supports",
            vec![given("version", Text, "The version").such_as("4.8")],
        ),
        nested(
            "hosts/leases",
            "Storage domains of which the host can take leases",
            vec![
                given("domain", Text, "Id of the storage domain").such_as("d1"),
                given("acquired", Boolean, "Whether the host has joined it"),
            ],
        ),
        nested(
            "hosts/hooks",
            "Hooks that are installed",
            vec![given("name", Text, "Name of the hook").such_as("after-migration")],
        ),
        nested(
            "hosts/keys",
            "Placement keys of the host",
            vec![
                given("name", Text, "Name of the key").such_as("load"),
                given("value", Number, "Value").such_as("0.5"),
                maybe("weight", Number, "Weight").such_as("1.5"),
                maybe("sticky", Boolean, "Whether VMs that run here keep it"),
            ],
        ),
        nested(
            "hosts/usage",
            "Reported usage of resources, where the host is a pod of many",
            vec![
                given("name", Text, "Name of the resource").such_as("pods"),
                given("used", Integer, "How much is used").such_as("4"),
                given("total", Integer, "How much there is").such_as("16"),
            ],
        ),
        nested(
            "hosts/tags",
            "Tags of the host",
            vec![given("key", Text, "Key").such_as("rack"), given("value", Text, "Value").such_as("r7")],
        ),
        nested(
            "hosts/costs",
            "What running here costs, an entry for each instance of a deployment",
            vec![maybe(
                "amount",
                Integer,
                "Millionths of the currency per hour; absent if unknown",
            ).such_as("120000")],
        ),
        nested(
            "hosts/failures",
            "Launches that failed here",
            vec![
                given("time", Integer, "When").in_measure(Time),
                maybe("kind", Text, "What failed").such_as("start"),
            ],
        ),
    ]
}

/// What a member holds on the host where it runs: columns of a VM by which it takes
/// resources.
fn held(member: Column) -> Vec<Column> {
    let taking = [
        "cpu",
        "memory",
        "memory.video",
        "io-threads",
        "sockets",
        "cores",
        "threads",
        "vcpus",
        "exclusive",
        "gpu.count",
        "gpu.share",
        "pinning",
    ];
    let columns = vm_columns().into_iter();
    let columns = columns.filter(|column| taking.contains(&&*column.name));
    let columns = columns.map(|column| Column {
        source: Source::Kept,
        ..column
    });
    let holds = kept(
        "holds",
        Boolean,
        "Whether it holds a place there; not so where a plan is made as if it had none",
    );
    let widest = kept(
        "others.widest",
        Integer,
        "Cores of the largest of the other VMs there (running or pending, without exclusive CPUs); 0 if there is none",
    )
    .such_as("4");
    let columns = [member, holds].into_iter().chain(columns);
    columns.chain([widest]).collect()
}

/// Rows below a VM by which it takes resources.
fn held_rows() -> Vec<Table> {
    let taking = [
        "amounts",
        "numa-nodes",
        "numa-nodes/host-nodes",
        "huge-pages",
        "devices",
        "pins",
        "gpu-models",
        "gpus",
        "nics",
    ];
    let tables = below_vms("hosts/current").into_iter();
    let tables = tables.chain([gpus_of_stay("hosts/current/gpus")]);
    let is_taking = |table: &Table| {
        let name = table.name.strip_prefix("hosts/current/");
        name.is_some_and(|name| taking.contains(&name))
    };
    let kept = |table: Table| Table {
        source: Source::Kept,
        columns: (table.columns.into_iter())
            .map(|column| Column {
                source: Source::Kept,
                ..column
            })
            .collect(),
        ..table
    };
    tables.filter(is_taking).map(kept).collect()
}

fn relations() -> Vec<Table> {
    let member = || kept("member", Integer, "Row number in members").such_as("0");
    vec![
        relation(
            "hosts/current",
            "Members that run on the host now, with the resources that each holds there. The host's sums contain these. In a plan from nothing members hold nothing",
            held(member()),
        ),
        relation(
            "hosts/pinned",
            "Members that are pinned to the host",
            vec![member()],
        ),
        relation(
            "hosts/preferred",
            "Members that prefer the host",
            vec![member()],
        ),
        relation(
            "hosts/group-members",
            "Groups of the request that have other VMs running or pending on the host; for a positive group, VMs that are migrating to another host are not counted",
            vec![
                kept("group", Integer, "Row number in groups").such_as("0"),
                kept(
                    "vms",
                    Integer,
                    "How many VMs of the group, without the members",
                )
                .such_as("1"),
                kept("unmovable", Integer, "How many of these may not be moved").such_as("0"),
            ],
        ),
        relation(
            "hosts/group-hosts",
            "Groups of the request that the host is in",
            vec![kept("group", Integer, "Row number in groups").such_as("0")],
        ),
        relation(
            "hosts/location",
            "Scores that members have for the host",
            vec![
                member(),
                kept("score", Integer, "The score; ±1000000 stand for infinity")
                    .such_as("100")
                    .within(Bounds::NONE),
            ],
        ),
        relation(
            "hosts/bindings",
            "Bindings of the request's tenant to the host",
            vec![
                kept("row", Integer, "Number of the binding among the tenant's").such_as("0"),
                kept("zone", Text, "Availability zone at the time")
                    .such_as("z1")
                    .or_absent(),
                kept("tag", Text, "Tag at the time")
                    .such_as("rack-7")
                    .or_absent(),
                kept("start", Integer, "When it began").in_measure(Time),
                kept("end", Integer, "When it ended; absent while it holds")
                    .in_measure(Time)
                    .or_absent(),
            ],
        ),
    ]
}
