//! Writes the content of a cluster's document, so that it can be read again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{ClusterDocument, PlacedVm};
use crate::{Word, WrittenFacts};
use placewright_model::schema::{ATTRIBUTE, Column, Schema};
use placewright_model::{Facts, Group, GroupRule, Host, Pinning, Vm};

/// What attributes are defined for, with the table in which each is seen.
const ENTITIES: [(&str, &str); 4] = [
    ("hosts", "hosts"),
    ("vms", "members"),
    ("tenants", "tenant"),
    ("clusters", "cluster"),
];

/// A cluster that can be written as a document, row by row: what is worked out for a row is gone
/// when the next one is written.
pub trait ClusterRows {
    /// Its name.
    fn name(&self) -> &Arc<str>;

    /// The time that the document speaks of, in seconds since 1970-01-01 UTC.
    fn now(&self) -> Option<i64>;

    /// What is left to chance is derived from this; 0 is not written.
    fn seed(&self) -> u64;

    /// The built-in tables and columns, and the attributes of the cluster.
    fn schema(&self) -> &Schema;

    /// Columns and tables of `cluster`.
    fn facts(&self) -> &Facts;

    /// Columns and tables of `tenant`, with the tenants' ids.
    fn tenants(&self) -> impl Iterator<Item = (&Arc<str>, &Facts)>;

    /// Columns and tables of `hosts`, with the hosts' ids, as listed.
    fn hosts(&self) -> impl Iterator<Item = (&Arc<str>, Cow<'_, Facts>)>;

    /// The VMs that run or have a place reserved.
    fn vms(&self) -> impl Iterator<Item = VmRow<'_>>;

    /// The affinity groups.
    fn groups(&self) -> impl Iterator<Item = &Group>;
}

/// A VM that has a place, as a document lists it.
#[derive(Debug, Clone, Copy)]
pub struct VmRow<'a> {
    /// The VM.
    pub vm: &'a Vm,
    /// Rows of tables below `hosts/vms` that end with its stay on the host, if there are any.
    pub placed: Option<&'a Facts>,
    /// Id of the host.
    pub host: &'a Arc<str>,
    /// Whether the place is reserved and the VM does not run there yet.
    pub pending: bool,
}

impl ClusterDocument {
    /// The document of a cluster, as a whole.
    pub fn of_rows(cluster: &impl ClusterRows) -> Self {
        let tenants = cluster.tenants();
        let hosts = cluster.hosts().map(|(id, facts)| Host {
            id: id.clone(),
            facts: facts.into_owned(),
        });
        let vms = cluster.vms().map(|row| PlacedVm {
            vm: row.vm.clone(),
            placed: row.placed.cloned().unwrap_or_else(Facts::new),
            host: row.host.clone(),
            pending: row.pending,
        });
        Self {
            name: cluster.name().clone(),
            now: cluster.now(),
            seed: cluster.seed(),
            schema: cluster.schema().clone(),
            facts: cluster.facts().clone(),
            tenants: tenants
                .map(|(id, facts)| (id.clone(), facts.clone()))
                .collect(),
            hosts: hosts.collect(),
            vms: vms.collect(),
            groups: cluster.groups().cloned().collect(),
        }
    }
}

impl ClusterRows for ClusterDocument {
    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn now(&self) -> Option<i64> {
        self.now
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn tenants(&self) -> impl Iterator<Item = (&Arc<str>, &Facts)> {
        self.tenants.iter()
    }

    fn hosts(&self) -> impl Iterator<Item = (&Arc<str>, Cow<'_, Facts>)> {
        let hosts = self.hosts.iter();
        hosts.map(|Host { id, facts }| (id, Cow::Borrowed(facts)))
    }

    fn vms(&self) -> impl Iterator<Item = VmRow<'_>> {
        self.vms.iter().map(|placed| VmRow {
            vm: &placed.vm,
            placed: Some(&placed.placed),
            host: &placed.host,
            pending: placed.pending,
        })
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter()
    }
}

impl Serialize for ClusterDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_cluster(self, serializer)
    }
}

/// Write a cluster as a document that can be read again.
///
/// # Errors
/// If the serializer has one.
pub fn write_cluster<S: Serializer>(
    cluster: &impl ClusterRows,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("name", &**cluster.name())?;
    if let Some(now) = cluster.now() {
        map.serialize_entry("now", &now)?;
    }
    if cluster.seed() != 0 {
        map.serialize_entry("seed", &cluster.seed())?;
    }
    let schema = cluster.schema();
    let attributes = attributes(schema);
    if !attributes.is_empty() {
        map.serialize_entry("attributes", &attributes)?;
    }
    let facts = WrittenFacts {
        schema,
        table: "cluster",
        facts: cluster.facts(),
    };
    facts.entries(&mut map)?;
    let row = |table, (id, facts)| Row {
        id,
        facts,
        table,
        schema,
    };
    entries(&mut map, "tenants", || {
        let tenants = cluster.tenants();
        tenants.map(|(id, facts)| row("tenant", (id, Cow::Borrowed(facts))))
    })?;
    entries(&mut map, "hosts", || {
        cluster.hosts().map(|host| row("hosts", host))
    })?;
    entries(&mut map, "vms", || {
        cluster.vms().map(|row| WrittenVm { row, schema })
    })?;
    entries(&mut map, "groups", || cluster.groups().map(WrittenGroup))?;
    map.end()
}

/// Write a list, if there is anything in it, one entry after the other.
fn entries<M: SerializeMap, I: Iterator<Item: Serialize>>(
    map: &mut M,
    key: &str,
    list: impl Fn() -> I,
) -> Result<(), M::Error> {
    match list().next() {
        None => Ok(()),
        Some(_) => map.serialize_entry(key, &List(list)),
    }
}

/// What an iterator gives, as a list.
struct List<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A row with its id.
struct Row<'a> {
    id: &'a Arc<str>,
    facts: Cow<'a, Facts>,
    table: &'static str,
    schema: &'a Schema,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &**self.id)?;
        let written = WrittenFacts {
            schema: self.schema,
            table: self.table,
            facts: &self.facts,
        };
        written.entries(&mut map)?;
        map.end()
    }
}

struct WrittenVm<'a> {
    row: VmRow<'a>,
    schema: &'a Schema,
}

impl Serialize for WrittenVm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let VmRow {
            vm,
            placed,
            host,
            pending,
        } = self.row;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &*vm.id)?;
        map.serialize_entry("host", &**host)?;
        if pending {
            map.serialize_entry("pending", &true)?;
        }
        for facts in [Some(&vm.facts), placed].into_iter().flatten() {
            let written = WrittenFacts {
                schema: self.schema,
                table: "hosts/vms",
                facts,
            };
            written.entries(&mut map)?;
        }
        write_pinning(&vm.pinning, &mut map)?;
        map.end()
    }
}

/// Write the hosts that a VM names, as far as it does.
///
/// # Errors
/// If the serializer has one.
pub(crate) fn write_pinning<M: SerializeMap>(
    pinning: &Pinning,
    map: &mut M,
) -> Result<(), M::Error> {
    let Pinning {
        pinned,
        preferred,
        location,
    } = pinning;
    for (key, hosts) in [("pinned", pinned), ("preferred", preferred)] {
        if !hosts.is_empty() {
            map.serialize_entry(key, hosts)?;
        }
    }
    let score = |(host, score): &(Arc<str>, i64)| {
        Facts::new()
            .with("host", placewright_model::Value::Text(host.clone()))
            .with("score", *score)
    };
    entries(map, "location", || location.iter().map(score))
}

struct WrittenGroup<'a>(&'a Group);

impl Serialize for WrittenGroup<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let group = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &*group.id)?;
        for (key, text) in [("name", &group.name), ("description", &group.description)] {
            if let Some(text) = text {
                map.serialize_entry(key, text)?;
            }
        }
        map.serialize_entry("vms", &group.vms)?;
        map.serialize_entry("hosts", &group.hosts)?;
        for (key, others) in [("vms-of", &group.vms_of), ("hosts-of", &group.hosts_of)] {
            if !others.is_empty() {
                map.serialize_entry(key, others)?;
            }
        }
        for (key, hard_key, rule) in [
            ("rule", "hard", group.vm_rule),
            ("host-rule", "host-hard", group.host_rule),
        ] {
            let (word, hard) = match rule {
                None => continue,
                Some(GroupRule::Positive { hard }) => ("positive", hard),
                Some(GroupRule::Negative { hard }) => ("negative", hard),
            };
            map.serialize_entry(key, word)?;
            map.serialize_entry(hard_key, &hard)?;
        }
        map.serialize_entry("priority", &group.priority)?;
        map.end()
    }
}

/// What the document adds to the built-in schema, by entity and name.
fn attributes(schema: &Schema) -> BTreeMap<&'static str, BTreeMap<String, Attribute>> {
    let mut attributes: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (entity, table) in ENTITIES {
        let mut add = |name: &str, attribute: Attribute| {
            let of_entity = attributes.entry(entity).or_default();
            of_entity.insert(name.to_owned(), attribute);
        };
        let columns = schema.table(table).map(|table| &table.columns);
        for column in columns.into_iter().flatten() {
            if let Some(name) = column.name.strip_prefix(ATTRIBUTE) {
                let need = entity == "vms" && schema.is_declared_need(name);
                let column = Kinded::of(column);
                add(name, Attribute::Column { column, need });
            }
        }
        for below in schema.children(table) {
            if let Some(name) = below.short_name().strip_prefix(ATTRIBUTE) {
                let columns = below.columns.iter();
                let columns = columns.map(|it| (it.name.to_string(), Kinded::of(it)));
                let table = columns.collect();
                let meaning = below.meaning.to_string();
                let need = entity == "vms" && schema.is_declared_need(name);
                let table = Attribute::Table {
                    table,
                    meaning,
                    need,
                };
                add(name, table);
            }
        }
    }
    attributes
}

#[derive(Serialize)]
#[serde(untagged)]
enum Attribute {
    Column {
        #[serde(flatten)]
        column: Kinded,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        need: bool,
    },
    Table {
        table: BTreeMap<String, Kinded>,
        meaning: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        need: bool,
    },
}

#[derive(Serialize)]
struct Kinded {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<&'static str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    meaning: String,
}

impl Kinded {
    fn of(column: &Column) -> Self {
        Self {
            kind: column.kind.to_string(),
            measure: column.measure.map(Word::word),
            meaning: column.meaning.to_string(),
        }
    }
}
