//! The document of changes to a cluster: what came, what is different, what went.
//!
//! It has the words of the cluster's document. Of what is known already only what is given
//! changes, and null takes away.

mod groups;
mod json_schema;
mod single;
#[cfg(test)]
mod tests;

pub(crate) use groups::FORM as GROUP;
pub use groups::{ChangedGroup, MembersChange, RuleChange, TextChange};
pub use json_schema::changes_json_schema;
pub use single::{EntityKind, Extent};

use std::borrow::Cow;
use std::sync::Arc;

use super::cluster::{self, Ids};
use super::form::{Fields, Key, Shape, TEXT, TIME, key, required};
use super::{Problems, RowReader, Table, Word, parse_with_nulls, pinning, words};
use placewright_model::schema::{Attribute, Schema};
use placewright_model::{FactsChange, Host, Pinning, Vm, doubts_of_changes};

/// What changes in a cluster. Everything in it is one change: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InventoryChanges {
    /// What becomes of entries about things that are not there.
    pub missing: Missing,
    /// Columns and tables that are added, unless they are there already.
    pub attributes: Vec<Attribute>,
    /// Tenants that are new, or of which something is different.
    pub tenants: Vec<ChangedRow>,
    /// Hosts that are new, or of which something is different.
    pub hosts: Vec<ChangedRow>,
    /// What was measured of hosts. Units see it rounded.
    pub statistics: Vec<Statistics>,
    /// VMs that run or have a place reserved, or of which something is different.
    pub vms: Vec<ChangedVm>,
    /// Groups that are new, or of which something is different.
    pub groups: Vec<ChangedGroup>,
    /// What is there no more.
    pub gone: Gone,
    /// What is allowed and surely a mistake, a sentence each.
    pub warnings: Vec<String>,
}

/// What becomes of entries about hosts, VMs and groups that are not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// The whole change is refused.
    #[default]
    Refuse,
    /// They are passed over, and the answer tells which.
    Ignore,
}

impl Word for Missing {
    const WORDS: &'static [(&'static str, Self)] =
        &[("refuse", Self::Refuse), ("ignore", Self::Ignore)];
}

/// What is different of a host or a tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedRow {
    /// Its id.
    pub id: Arc<str>,
    /// What is changed of it.
    pub facts: FactsChange,
}

/// What was measured of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Id of the host.
    pub host: Arc<str>,
    /// What was measured; what is taken away is known no more.
    pub facts: FactsChange,
    /// When it was measured, in seconds; None: when it was received.
    pub measured: Option<i64>,
}

/// A VM that is new on a host, or of which something is different.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedVm {
    /// Its id.
    pub id: Arc<str>,
    /// What is different; rows of tables that only a VM with a place has end with its stay
    /// on the host.
    pub facts: FactsChange,
    /// The hosts that it names.
    pub pinning: ChangedPinning,
    /// Id of the host where it runs; None: where it is.
    pub host: Option<Arc<str>>,
}

/// What is different of the hosts that a VM names; None: it stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedPinning {
    /// Ids of the hosts that it may run on; None: as before.
    pub pinned: Option<Vec<Arc<str>>>,
    /// Ids of the hosts that it should run on; None: as before.
    pub preferred: Option<Vec<Arc<str>>>,
    /// Its location scores; None: as before.
    pub location: Option<Vec<(Arc<str>, i64)>>,
}

/// Ids of what is there no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gone {
    /// Ids of the hosts.
    pub hosts: Vec<Arc<str>>,
    /// Ids of the VMs.
    pub vms: Vec<Arc<str>>,
    /// Ids of the groups.
    pub groups: Vec<Arc<str>>,
    /// Ids of the tenants.
    pub tenants: Vec<Arc<str>>,
}

pub(crate) const FORM: &[Key] = &[
    key(
        "missing",
        Shape::Word(words::<Missing>),
        "What becomes of entries about things that are not there: the change is refused, or they are skipped and listed; refuse if not given",
    ),
    key(
        "attributes",
        Shape::Table(cluster::ATTRIBUTES),
        "Columns and tables that are added",
    ),
    key(
        "tenants",
        Shape::OpenTables,
        "Tenants that are new or different",
    ),
    key(
        "hosts",
        Shape::OpenTables,
        "Hosts that are new or different",
    ),
    key(
        "statistics",
        Shape::OpenTables,
        "What was measured of hosts",
    ),
    key("vms", Shape::OpenTables, "VMs that are new or different"),
    key(
        "groups",
        Shape::Tables(groups::FORM),
        "Affinity groups that are new or different",
    ),
    key("gone", Shape::Table(GONE), "What is there no more"),
];

pub(crate) const GONE: &[Key] = &[
    key(
        "hosts",
        Shape::Texts,
        "Ids of hosts, which have no VMs any more",
    )
    .such_as("h9"),
    key("vms", Shape::Texts, "Ids of VMs").such_as("web-2"),
    key("groups", Shape::Texts, "Ids of groups").such_as("web-apart"),
    key("tenants", Shape::Texts, "Ids of tenants").such_as("shop"),
];

pub(crate) const TENANT: &[Key] = &[required("id", TEXT, "Id of the tenant").such_as("shop")];

pub(crate) const HOST: &[Key] =
    &[required("id", TEXT, "Id of the host, unique in the cluster").such_as("h1")];

pub(crate) const STATISTICS: &[Key] = &[
    required("id", TEXT, "Id of the host").such_as("h1"),
    key(
        "measured",
        TIME,
        "When it was measured; when it is received if not given",
    ),
];

pub(crate) const VM: &[Key] = &[
    required("id", TEXT, "Id of the VM, unique in the cluster").such_as("web-1"),
    key("host", TEXT, "Id of the host that it runs on").such_as("h1"),
    pinning::PINNED,
    pinning::PREFERRED,
    pinning::LOCATION,
];

impl InventoryChanges {
    /// Read a document of changes in JSON or TOML. `file` is what problems call it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(text: &str, file: &str, schema: &Schema) -> Result<Self, Problems> {
        let tree = parse_with_nulls(text, file)?;
        Self::of_tree(&tree, schema).map_err(|mut problems| {
            problems.locate(&tree);
            problems
        })
    }

    pub(crate) fn of_tree(tree: &Table, schema: &Schema) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let fields = Fields::read(tree, FORM, "a document of changes", &mut problems);
        let (schema, attributes) = declared(&fields, schema, &mut problems);
        let mut reader = RowReader::new(&schema, problems);
        let tenants = rows(&fields, "tenants", "tenant", TENANT, &mut reader);
        let hosts = rows(&fields, "hosts", "hosts", HOST, &mut reader);
        let statistics = statistics(&fields, &mut reader);
        let vms = vms(&fields, &mut reader);
        let groups = groups::read(&fields, &mut reader.problems);
        let gone = fields.table("gone").map_or(Gone::default(), |table| {
            let gone = Fields::read(table, GONE, "\"gone\"", &mut reader.problems);
            Gone {
                hosts: gone.list("hosts"),
                vms: gone.list("vms"),
                groups: gone.list("groups"),
                tenants: gone.list("tenants"),
            }
        });
        let sizes: Vec<Vm> = vms.iter().map(ChangedVm::given).collect();
        let rooms: Vec<Host> = hosts.iter().map(ChangedRow::given_host).collect();
        reader.problems.or(Self {
            warnings: doubts_of_changes(&sizes, &rooms),
            missing: fields.word("missing").unwrap_or_default(),
            attributes,
            tenants,
            hosts,
            statistics,
            vms,
            groups,
            gone,
        })
    }
}

/// The attributes that the document declares, and the schema with them.
fn declared<'s>(
    document: &Fields<'_>,
    schema: &'s Schema,
    problems: &mut Problems,
) -> (Cow<'s, Schema>, Vec<Attribute>) {
    let mut schema = Cow::Borrowed(schema);
    let mut attributes = Vec::new();
    for (attribute, place) in cluster::read_attributes(document, problems) {
        match schema.to_mut().declare(&attribute) {
            Ok(_) => attributes.push(attribute),
            Err(error) => problems.add(place, error.to_string()),
        }
    }
    (schema, attributes)
}

/// The rows under `key`, each with its id.
fn rows(
    document: &Fields<'_>,
    key: &str,
    table: &str,
    form: &[Key],
    reader: &mut RowReader<'_>,
) -> Vec<ChangedRow> {
    let (a, mut ids) = match key {
        "tenants" => ("a tenant", Ids::new("tenant")),
        _ => ("a host", Ids::new("host")),
    };
    let mut rows = Vec::new();
    for row in document.tables(key) {
        let (fields, others) = Fields::split(row, form, a, &mut reader.problems);
        let facts = reader.change(table, others, &["id"]);
        let id = ids.take(&fields, &mut reader.problems);
        rows.extend(id.map(|id| ChangedRow { id, facts }));
    }
    rows
}

/// A host may be there twice: of what was measured at different times.
fn statistics(document: &Fields<'_>, reader: &mut RowReader<'_>) -> Vec<Statistics> {
    let mut statistics = Vec::new();
    for row in document.tables("statistics") {
        let (fields, others) = Fields::split(
            row,
            STATISTICS,
            "statistics of a host",
            &mut reader.problems,
        );
        let facts = reader.change("hosts", others, &["id", "measured"]);
        statistics.extend(fields.text("id").map(|host| Statistics {
            host,
            facts,
            measured: fields.integer("measured"),
        }));
    }
    statistics
}

fn vms(document: &Fields<'_>, reader: &mut RowReader<'_>) -> Vec<ChangedVm> {
    let mut ids = Ids::new("VM");
    let mut vms = Vec::new();
    let keys: Vec<_> = VM.iter().map(|key| key.name).collect();
    for row in document.tables("vms") {
        let (fields, others) = Fields::split(row, VM, "a VM", &mut reader.problems);
        let named = pinning::pinning(&fields, &mut reader.problems, |_, _, _| {});
        let facts = reader.change("hosts/vms", others, &keys);
        if let (true, Some(place)) = (fields.is_null("host"), fields.place_of("host")) {
            let message = "a VM runs on some host; one that runs no more stands under \"gone\"";
            reader.problems.add(place, message);
        }
        if let Some(id) = ids.take(&fields, &mut reader.problems) {
            vms.push(ChangedVm {
                id,
                facts,
                pinning: ChangedPinning::of(named, &fields),
                host: fields.text("host"),
            });
        }
    }
    vms
}

impl ChangedRow {
    /// What is given of a host.
    fn given_host(&self) -> Host {
        Host {
            facts: self.facts.set.clone(),
            ..Host::new(self.id.clone())
        }
    }
}

impl ChangedVm {
    /// What is given of the VM.
    fn given(&self) -> Vm {
        Vm {
            facts: self.facts.set.clone(),
            ..Vm::new(self.id.clone())
        }
    }
}

impl ChangedPinning {
    fn of(named: Pinning, vm: &Fields<'_>) -> Self {
        let is_given = |key: &Key| vm.place_of(key.name).is_some();
        Self {
            pinned: is_given(&pinning::PINNED).then_some(named.pinned),
            preferred: is_given(&pinning::PREFERRED).then_some(named.preferred),
            location: is_given(&pinning::LOCATION).then_some(named.location),
        }
    }

    /// Take in what is different.
    pub fn apply(self, pinning: &mut Pinning) {
        if let Some(pinned) = self.pinned {
            pinning.pinned = pinned;
        }
        if let Some(preferred) = self.preferred {
            pinning.preferred = preferred;
        }
        if let Some(location) = self.location {
            pinning.location = location;
        }
    }
}
