//! The document of changes to a cluster: what came, what is different, what went.
//!
//! It has the words of the cluster's document. Of a host or VM that is known already
//! only what is given changes.

use std::sync::Arc;

use super::cluster::{Ids, split_placed};
use super::form::{Fields, Key, Shape, TEXT, key, required};
use super::{Problems, RowReader, cluster, parse, pinning};
use crate::model::schema::Schema;
use crate::model::{Facts, Group, Host, Vm};

/// What changes in a cluster. Everything in it is one change: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InventoryChanges {
    /// Tenants, each with what is known of it from now on.
    pub tenants: Vec<(Arc<str>, Facts)>,
    /// Hosts that are new, or of which something is different.
    pub hosts: Vec<Host>,
    /// What was measured of hosts. It is rounded, and not kept for good.
    pub statistics: Vec<Host>,
    /// VMs that run or have a place reserved, or of which something is different.
    pub vms: Vec<ChangedVm>,
    /// Groups that are new, or replace the one of their id.
    pub groups: Vec<Group>,
    /// What is there no more.
    pub gone: Gone,
}

/// A VM that is new on a host, or of which something is different.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedVm {
    /// The VM; of one that is known, what is different.
    pub vm: Vm,
    /// Rows of tables below `hosts/vms` that end with its stay on the host.
    pub placed: Facts,
    /// Id of the host where it runs; None: where it is.
    pub host: Option<Arc<str>>,
}

/// Ids of what is there no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gone {
    pub hosts: Vec<Arc<str>>,
    pub vms: Vec<Arc<str>>,
    pub groups: Vec<Arc<str>>,
}

const FORM: &[Key] = &[
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
        Shape::Tables(cluster::GROUP),
        "Affinity groups that are new or different",
    ),
    key("gone", Shape::Table(GONE), "What is there no more"),
];

const GONE: &[Key] = &[
    key(
        "hosts",
        Shape::Texts,
        "Ids of hosts, which have no VMs any more",
    ),
    key("vms", Shape::Texts, "Ids of VMs"),
    key("groups", Shape::Texts, "Ids of groups"),
];

const HOST: &[Key] = &[required(
    "id",
    TEXT,
    "Id of the host, unique in the cluster",
)];

const VM: &[Key] = &[
    required("id", TEXT, "Id of the VM, unique in the cluster"),
    key("host", TEXT, "Id of the host that it runs on"),
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
        let tree = parse(text, file)?;
        let mut reader = RowReader::new(schema, Problems::new());
        let fields = Fields::read(&tree, FORM, "a document of changes", &mut reader.problems);
        let tenants = rows(&fields, "tenants", "tenant", "a tenant", &mut reader);
        let hosts = rows(&fields, "hosts", "hosts", "a host", &mut reader);
        let statistics = rows(&fields, "statistics", "hosts", "a host", &mut reader);
        let vms = vms(&fields, &mut reader);
        let groups = cluster::read_groups(&fields, None, &mut reader.problems);
        let gone = fields.table("gone").map_or(Gone::default(), |table| {
            let gone = Fields::read(table, GONE, "\"gone\"", &mut reader.problems);
            Gone {
                hosts: gone.list("hosts"),
                vms: gone.list("vms"),
                groups: gone.list("groups"),
            }
        });
        reader.problems.or(Self {
            tenants: tenants.into_iter().map(|it| (it.id, it.facts)).collect(),
            hosts,
            statistics,
            vms,
            groups,
            gone,
        })
    }
}

/// The rows under `key`, each with its id.
fn rows(
    document: &Fields<'_>,
    key: &str,
    table: &str,
    what: &'static str,
    reader: &mut RowReader<'_>,
) -> Vec<Host> {
    let mut ids = Ids::new(what.trim_start_matches("a "));
    let mut rows = Vec::new();
    for row in document.tables(key) {
        let (fields, others) = Fields::split(row, HOST, what, &mut reader.problems);
        let facts = reader.facts(table, others, &["id"]);
        rows.extend(
            ids.take(&fields, &mut reader.problems)
                .map(|id| Host { id, facts }),
        );
    }
    rows
}

fn vms(document: &Fields<'_>, reader: &mut RowReader<'_>) -> Vec<ChangedVm> {
    let mut ids = Ids::new("VM");
    let mut vms = Vec::new();
    let keys: Vec<_> = VM.iter().map(|key| key.name).collect();
    for row in document.tables("vms") {
        let (fields, others) = Fields::split(row, VM, "a VM", &mut reader.problems);
        let pinning = pinning::pinning(&fields, &mut reader.problems, |_, _, _| {});
        let mut facts = reader.facts("hosts/vms", others, &keys);
        let placed = split_placed(&mut facts, reader.schema);
        if let Some(id) = ids.take(&fields, &mut reader.problems) {
            vms.push(ChangedVm {
                vm: Vm { id, facts, pinning },
                placed,
                host: fields.text("host"),
            });
        }
    }
    vms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_changes_is_read_with_the_words_of_a_cluster() {
        let text = r#"{
            "hosts": [{"id": "h", "memory": {"total": "4 GiB"}}],
            "statistics": [{"id": "g", "cpu.usage": 0.5}],
            "vms": [{"id": "v", "host": "h", "memory": "1 GiB"}, {"id": "w", "cpu": 500}],
            "groups": [{"id": "apart", "vms": ["v", "w"], "rule": "negative", "hosts": ["new"]}],
            "gone": {"vms": ["x"], "hosts": ["f"]}
        }"#;
        let changes = InventoryChanges::read(text, "changes", &Schema::default()).unwrap();
        assert_eq!(
            changes.hosts[0].facts.integer("memory.total"),
            Some(4 << 30)
        );
        assert_eq!(changes.statistics[0].facts.number("cpu.usage"), Some(0.5));
        assert_eq!(changes.vms[0].host.as_deref(), Some("h"));
        assert_eq!(changes.vms[1].host, None);
        assert_eq!(changes.groups[0].hosts.len(), 1);
        assert_eq!(&*changes.gone.vms[0], "x");
    }

    #[test]
    fn everything_wrong_is_told_with_its_place() {
        let text = "{\"host\": [], \"vms\": [{\"memory\": 1}],\n \"statistics\": [{\"id\": \"h\", \"cpu.usag\": 1}]}";
        let problems = InventoryChanges::read(text, "changes", &Schema::default()).unwrap_err();
        let said = problems.to_string();
        for part in [
            "\"host\"",
            "did you mean \"hosts\"",
            "needs \"id\"",
            "changes:2",
            "cpu.usage",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
    }
}
