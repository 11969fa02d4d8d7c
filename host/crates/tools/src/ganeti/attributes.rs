//! The attributes that hold what only Ganeti knows: the unit `ganeti-score` reads
//! them.

use placewright_model::Kind::{self, Boolean, Integer, Number, Text};
use placewright_model::Measure::{self, Bytes};
use placewright_model::schema::{AttributeError, Schema};

type Column = (&'static str, Kind, Option<Measure>, &'static str);

const HOSTS: [Column; 10] = [
    (
        "memory.missing",
        Integer,
        None,
        "Bytes that are gone beside what the node and its instances were promised",
    ),
    ("cpu.node", Integer, None, "vCPUs that the node itself uses"),
    (
        "cpu.speed",
        Number,
        None,
        "Speed of its CPUs, relative to others",
    ),
    ("cpu.ratio", Number, None, "The most vCPUs for each CPU"),
    ("disk.total", Integer, Some(Bytes), "Disk that it has"),
    (
        "disk.available",
        Integer,
        Some(Bytes),
        "Disk that instances may take, all together",
    ),
    ("spindles.total", Integer, None, "Spindles that it has"),
    (
        "spindles.available",
        Integer,
        None,
        "Spindles that instances may take, all together",
    ),
    (
        "spindles.ratio",
        Number,
        None,
        "The most uses of spindles for each of them",
    ),
    (
        "spindles.exclusive",
        Boolean,
        None,
        "Whether instances have spindles for themselves",
    ),
];

const GROUP: Column = ("group", Text, None, "The group of nodes that it is in");

const VMS: [Column; 7] = [
    ("disk", Integer, Some(Bytes), "Disk that it has"),
    (
        "disk-template",
        Text,
        None,
        "How its disks are kept, for example drbd, plain, rbd",
    ),
    ("spindles", Integer, None, "How much it uses spindles"),
    (
        "disk-spindles",
        Integer,
        None,
        "Spindles that it has for itself",
    ),
    ("status", Text, None, "For example running, ADMIN_down"),
    (
        "auto-balance",
        Boolean,
        None,
        "Whether it is moved and restarted by itself",
    ),
    (
        "forthcoming",
        Boolean,
        None,
        "Whether it is only planned yet",
    ),
];

const TABLES: [(&str, &str, &str, &str); 6] = [
    ("hosts", "location", "tag", "Common causes of failure"),
    (
        "hosts",
        "migration",
        "tag",
        "What an instance that leaves must find where it goes",
    ),
    (
        "hosts",
        "receives",
        "tag",
        "What an instance finds that comes",
    ),
    (
        "vms",
        "exclusion",
        "tag",
        "Instances that share one of these are kept apart",
    ),
    ("vms", "desired-location", "tag", "Where it would rather be"),
    (
        "vms",
        "secondary",
        "host",
        "The host that mirrors its disks",
    ),
];

/// The built-in schema with these attributes.
pub(super) fn schema() -> Result<Schema, AttributeError> {
    let mut schema = Schema::default();
    let hosts = HOSTS.iter().chain([&GROUP]).map(|column| ("hosts", column));
    let vms = VMS.iter().map(|column| ("vms", column));
    for (entity, (name, kind, measure, meaning)) in hosts.chain(vms) {
        schema.define_attribute(entity, name, *kind, *measure, meaning)?;
    }
    for (entity, name, column, meaning) in TABLES {
        let columns = [(column.to_owned(), Text, None)];
        schema.define_attribute_table(entity, name, &columns, meaning)?;
    }
    Ok(schema)
}
