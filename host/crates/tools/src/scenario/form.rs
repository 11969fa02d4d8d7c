//! The keys of a scenario file.

use placewright_document::form::{BOOLEAN, INTEGER, Key, NUMBER, Shape, TEXT, TIME, key, required};

const SETTINGS: &str = "What the unit is set to";
const POLICY: &str = "The policy: a table, a file, or the name of one that comes with the program; \
                      if not given, all parts of the unit alone";

/// A file of scenarios.
pub(super) const FILE: &[Key] = &[
    key("description", TEXT, "What the cases are about"),
    required(
        "cluster",
        Shape::Any,
        "The cluster of every case: a table as in the document of a cluster, or the path of such a document from this file's folder",
    ),
    key("policy", Shape::Any, POLICY),
    key("settings", Shape::Open, SETTINGS),
    required("cases", Shape::Tables(CASE), "The cases"),
];

/// A case.
pub(super) const CASE: &[Key] = &[
    required("name", TEXT, "What the case shows, unique in the file"),
    key(
        "vm",
        Shape::Any,
        "The VM to be placed: a table as in the document of a VM, the path of such a document, or the id of a VM of the cluster, which is then moved",
    ),
    key(
        "vms",
        Shape::OpenTables,
        "VMs to be placed together on one host",
    ),
    key(
        "request",
        Shape::Open,
        "A whole request, as in a document of requests: the VMs and whatever else it says",
    ),
    key(
        "now",
        TIME,
        "The time of the case; that of the cluster if not given, or else 0",
    ),
    key(
        "draw",
        NUMBER,
        "The number, 0 or more and less than 1, that decides what is left to chance",
    ),
    key(
        "settings",
        Shape::Open,
        "What the unit is set to in this case, over what is set for every case",
    ),
    key(
        "policy",
        Shape::Any,
        "The policy of this case, in place of the file's",
    ),
    key(
        "cluster",
        Shape::Open,
        "What is different of the cluster in this case: keys of its document",
    ),
    key(
        "hosts",
        Shape::Open,
        "What is different of hosts in this case: columns, by the ids of the hosts",
    ),
    key(
        "placed",
        Shape::Open,
        "What is different of VMs of the cluster in this case: columns, by the ids of the VMs",
    ),
    key(
        "expect",
        Shape::Table(EXPECT),
        "What is expected; only what is said here is compared",
    ),
];

/// What is expected of a case.
pub(super) const EXPECT: &[Key] = &[
    key("chosen", TEXT, "Id of the host that is chosen, or \"none\""),
    key(
        "moves",
        Shape::Tables(MOVE),
        "The moves that the unit's balance proposes, in its order; [] if it must propose none",
    ),
    key(
        "error",
        TEXT,
        "That there is no decision, or a unit is left out of it, because of an error that contains this text",
    ),
    key(
        "hosts",
        Shape::Open,
        "What is expected of hosts, by their ids",
    ),
];

/// A move that is expected.
pub(super) const MOVE: &[Key] = &[
    required("vm", TEXT, "Id of the VM that is moved"),
    key("from", TEXT, "Id of the host that it runs on"),
    key(
        "to",
        Shape::Texts,
        "Ids of the hosts that the policy may choose from, in any order; [] if it may be any",
    ),
];

/// What is expected of a host.
pub(super) const HOST: &[Key] = &[
    key("keep", BOOLEAN, "Whether it is left by all filters"),
    key("reason", TEXT, "Why it is removed, in the unit's words"),
    key("passing", BOOLEAN, "Whether the reason will pass by itself"),
    key("by", TEXT, "The entry of the policy that removes it"),
    key("cost", Shape::Any, "What the unit says that it costs"),
    key(
        "costs",
        Shape::Open,
        "What entries of the policy say that it costs, by their names",
    ),
    key(
        "sum",
        Shape::Any,
        "The sum of its costs, each multiplied by its factor; of several tiers, a list of the sums",
    ),
    key(
        "group",
        INTEGER,
        "The group that the selections put it in, the best being 1",
    ),
    key("share", NUMBER, "Its share of chance in its group"),
];

/// The key under which a change of a host or VM names what is taken away.
pub(super) const WITHOUT: &str = "without";
