//! The document of a cluster: its hosts, the VMs on them, groups and attributes.
//!
//! The document itself is the row of the table `cluster`; each host is a row of
//! `hosts`, and so on. References are checked, nothing is worked out: what VMs add
//! up to is the inventory's job.

mod attributes;
mod groups;
mod hosts;
mod json_schema;
mod write;

pub(super) use attributes::{FORM as ATTRIBUTES, read as read_attributes};
pub(super) use groups::Rule;

/// The forms of what a cluster has in it.
pub(super) mod forms {
    pub(crate) use super::attributes::{ATTRIBUTE, COLUMN};
    pub(crate) use super::groups::FORM as GROUP;
    pub(crate) use super::hosts::{HOST, VM};
}

pub(super) use json_schema::attributes_json_schema;
pub use json_schema::cluster_json_schema;
pub(super) use write::write_pinning;
pub use write::{ClusterRows, VmRow, write_cluster};

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::form::{Fields, Key, Shape, TEXT, TIME, key};
use super::value::one_line;
use super::{LONGEST_ID, Place, Problems, RowReader, Table, parse, shown};
use placewright_model::schema::Schema;
use placewright_model::{
    Bounds, Entity, Facts, Group, Host, Kind, RowChange, Vm, Write, doubt_of_gpus, doubts,
};

/// The content of a cluster's document.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterDocument {
    /// Name of the cluster: that of the file, if none is given.
    pub name: Arc<str>,
    /// The time that the document speaks of, in seconds since 1970-01-01 UTC.
    pub now: Option<i64>,
    /// What is left to chance is derived from this; 0 if not given.
    pub seed: u64,
    /// The built-in tables and columns, and the attributes that the document adds.
    pub schema: Schema,
    /// Columns and tables of `cluster`.
    pub facts: Facts,
    /// Columns and tables of `tenant`, by the tenant's id.
    pub tenants: BTreeMap<Arc<str>, Facts>,
    /// The hosts, as listed.
    pub hosts: Vec<Host>,
    /// The VMs that run or have a place reserved: those listed inside hosts first.
    pub vms: Vec<PlacedVm>,
    /// The affinity groups, as listed.
    pub groups: Vec<Group>,
}

/// A VM that has a place.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedVm {
    /// The VM.
    pub vm: Vm,
    /// Rows of tables below `hosts/vms` that end with its stay on the host.
    pub placed: Facts,
    /// Id of the host.
    pub host: Arc<str>,
    /// Whether the place is reserved and the VM does not run there yet.
    pub pending: bool,
}

impl PlacedVm {
    /// What is to be written for its stay on the host, once it has its place.
    pub fn writes(&self) -> Vec<Write> {
        let tables = self.placed.tables();
        let rows = tables.flat_map(|(table, rows)| rows.iter().map(move |row| (table, row)));
        rows.map(|(table, row)| {
            let entity = Entity::Placement(self.vm.id.clone());
            Write::row(entity, table.clone(), RowChange::Append(row.clone()))
        })
        .collect()
    }
}

/// So many VMs whose GPUs are doubtful are named.
const MOST_DOUBTS: usize = 20;

/// What a cluster's document holds besides the columns and tables of `cluster`.
pub(super) const FORM: &[Key] = &[
    key(
        "name",
        TEXT,
        "Name of the cluster; that of the file if not given",
    )
    .such_as("north"),
    key("now", TIME, "The time that the document speaks of"),
    key(
        "seed",
        Shape::Value(Kind::Integer, None, Bounds::FROM_ZERO),
        "What is left to chance is derived from this; 0 if not given",
    )
    .such_as("7"),
    key(
        "attributes",
        Shape::Table(attributes::FORM),
        "Columns and tables that this deployment adds",
    ),
    key("tenants", Shape::OpenTables, "The tenants that own VMs"),
    key("hosts", Shape::OpenTables, "The hosts"),
    key(
        "vms",
        Shape::OpenTables,
        "The VMs that run or have a place reserved; they may also stand inside their hosts",
    ),
    key(
        "groups",
        Shape::Tables(groups::FORM),
        "The affinity groups of VMs and hosts",
    ),
];

/// What a tenant has besides the columns and tables of `tenant`.
pub(super) const TENANT: &[Key] =
    &[super::form::required("id", TEXT, "Id of the tenant").such_as("shop")];

impl ClusterDocument {
    /// Read the document of a cluster in TOML or JSON.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(text: &str, file: &str) -> Result<Self, Problems> {
        Self::of_tree(&parse(text, file)?, stem(file))
    }

    /// Read the document of a cluster that is called `name` if the document has no name for
    /// it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read_as(text: &str, file: &str, name: &str) -> Result<Self, Problems> {
        Self::of_tree(&parse(text, file)?, name)
    }

    /// Read the document of a cluster that was parsed already. `name` is what the cluster
    /// is called if the document has no name for it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn of_tree(tree: &Table, name: &str) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let (fields, others) = Fields::split(tree, FORM, "a cluster", &mut problems);
        let schema = attributes::schema(&fields, &mut problems);
        let mut reader = RowReader::new(&schema, problems);

        let keys: Vec<_> = FORM.iter().map(|key| key.name).collect();
        let facts = reader.facts("cluster", others, &keys);
        let tenants = tenants(&fields, &mut reader);
        let (hosts, vms) = hosts::read(&fields, &mut reader);
        let known: BTreeSet<&str> = hosts.iter().map(|host| &*host.id).collect();
        let groups = groups::read(&fields, &known, &mut reader.problems);
        let mut problems = reader.problems;
        if let (Some(name), Some(place)) = (fields.text("name"), fields.place_of("name")) {
            if name.len() > LONGEST_ID {
                problems.add(place, too_long("cluster", &name));
            } else if name.contains(char::is_control) {
                problems.add(place, not_one_line("cluster", &name));
            }
        }
        problems.locate(tree);
        problems.or(Self {
            name: fields.text("name").unwrap_or_else(|| name.into()),
            now: fields.integer("now"),
            seed: fields.integer("seed").map_or(0, i64::unsigned_abs),
            schema,
            facts,
            tenants,
            hosts,
            vms,
            groups,
        })
    }
}

impl ClusterDocument {
    /// What is allowed and surely a mistake, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut sentences = doubts(self.vms.iter().map(|placed| &placed.vm), &self.hosts);
        sentences.extend(self.doubts_of_gpus());
        sentences
    }

    /// A sentence for each VM that is said to have GPUs which its host has not; of many, for the
    /// first ones.
    fn doubts_of_gpus(&self) -> Vec<String> {
        let with_gpus = || {
            self.vms
                .iter()
                .filter(|it| !it.placed.rows("gpus").is_empty())
        };
        if with_gpus().next().is_none() {
            return Vec::new();
        }
        let hosts: BTreeMap<&str, &Facts> = (self.hosts.iter())
            .map(|host| (&*host.id, &host.facts))
            .collect();
        let doubts = with_gpus().filter_map(|it| {
            let facts = hosts.get(&*it.host)?;
            doubt_of_gpus(&it.vm.id, it.placed.rows("gpus"), &it.host, facts)
        });
        doubts.take(MOST_DOUBTS).collect()
    }
}

/// The name of a file without folders and ending.
pub fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn tenants(fields: &Fields<'_>, reader: &mut RowReader<'_>) -> BTreeMap<Arc<str>, Facts> {
    let mut ids = Ids::new("tenant");
    let mut tenants = BTreeMap::new();
    for table in fields.tables("tenants") {
        let (tenant, others) = Fields::split(table, TENANT, "a tenant", &mut reader.problems);
        let facts = reader.facts("tenant", others, &["id"]);
        if let Some(id) = ids.take(&tenant, &mut reader.problems) {
            tenants.insert(id, facts);
        }
    }
    tenants
}

/// That an id would break the lines in which it is shown.
fn not_one_line(what: &str, id: &str) -> String {
    format!("the id of a {what} is {}", one_line(id))
}

fn too_long(what: &str, id: &str) -> String {
    format!(
        "the id of a {what} has at most {LONGEST_ID} bytes; this one has {}",
        id.len()
    )
}

/// The ids of one kind of thing, each with the place where it was first given.
pub(super) struct Ids<'t> {
    what: &'static str,
    known: HashMap<Arc<str>, &'t Place>,
}

impl<'t> Ids<'t> {
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            known: HashMap::new(),
        }
    }

    /// The id in `fields`, if there is a good one; a second time is a problem.
    pub(super) fn take(
        &mut self,
        fields: &Fields<'t>,
        problems: &mut Problems,
    ) -> Option<Arc<str>> {
        let id = fields.text("id")?;
        let place = fields.place_of("id").unwrap_or(fields.place);
        if id.contains(char::is_control) {
            problems.add(place, not_one_line(self.what, &id));
            return None;
        }
        if id.trim().is_empty() {
            problems.add(
                place,
                format!("the id of a {} must not be empty", self.what),
            );
            return None;
        }
        if id.len() > LONGEST_ID {
            problems.add(place, too_long(self.what, &id));
            return None;
        }
        if let Some(first) = self.known.get(&id) {
            problems.add(
                place,
                format!(
                    "there is a second {} \"{}\"; the first is at {first}",
                    self.what,
                    shown(&id)
                ),
            );
            return None;
        }
        self.known.insert(id.clone(), place);
        Some(id)
    }

    /// Check that `id` is one of them.
    pub(super) fn refer(&self, id: &str, place: &Place, problems: &mut Problems) {
        if !self.known.contains_key(id) {
            problems.add_misnamed(
                place,
                format!("there is no {} \"{}\"", self.what, shown(id)),
                id,
                self.known.keys().map(|known| &**known),
            );
        }
    }
}

#[cfg(test)]
mod tests;
