//! Writes the content of a cluster's document, so that it can be read again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{ClusterDocument, PlacedVm};
use crate::{Word, WrittenFacts};
use placewright_model::schema::{ATTRIBUTE, Column, Schema};
use placewright_model::{Facts, Group, GroupRule, Host, Pinning};

/// What attributes are defined for, with the table in which each is seen.
const ENTITIES: [(&str, &str); 4] = [
    ("hosts", "hosts"),
    ("vms", "members"),
    ("tenants", "tenant"),
    ("clusters", "cluster"),
];

impl Serialize for ClusterDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &*self.name)?;
        if let Some(now) = self.now {
            map.serialize_entry("now", &now)?;
        }
        if self.seed != 0 {
            map.serialize_entry("seed", &self.seed)?;
        }
        let attributes = attributes(&self.schema);
        if !attributes.is_empty() {
            map.serialize_entry("attributes", &attributes)?;
        }
        let schema = &self.schema;
        let written = |table, facts| WrittenFacts {
            schema,
            table,
            facts,
        };
        written("cluster", &self.facts).entries(&mut map)?;
        let tenants = self.tenants.iter().map(|(id, facts)| WithId {
            id,
            facts: written("tenant", facts),
        });
        entries(&mut map, "tenants", tenants)?;
        let hosts = self.hosts.iter().map(|Host { id, facts }| WithId {
            id,
            facts: written("hosts", facts),
        });
        entries(&mut map, "hosts", hosts)?;
        let vms = self.vms.iter();
        entries(
            &mut map,
            "vms",
            vms.map(|placed| WrittenVm { placed, schema }),
        )?;
        entries(&mut map, "groups", self.groups.iter().map(WrittenGroup))?;
        map.end()
    }
}

fn entries<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &str,
    list: impl Iterator<Item = T>,
) -> Result<(), M::Error> {
    let list: Vec<T> = list.collect();
    match list.is_empty() {
        true => Ok(()),
        false => map.serialize_entry(key, &list),
    }
}

struct WithId<'a> {
    id: &'a Arc<str>,
    facts: WrittenFacts<'a>,
}

impl Serialize for WithId<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &**self.id)?;
        self.facts.entries(&mut map)?;
        map.end()
    }
}

struct WrittenVm<'a> {
    placed: &'a PlacedVm,
    schema: &'a Schema,
}

impl Serialize for WrittenVm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PlacedVm {
            vm,
            placed,
            host,
            pending,
        } = self.placed;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &*vm.id)?;
        map.serialize_entry("host", &**host)?;
        if *pending {
            map.serialize_entry("pending", &true)?;
        }
        for facts in [&vm.facts, placed] {
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
    entries(map, "location", location.iter().map(score))
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
