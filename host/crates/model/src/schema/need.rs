//! What a request may need of its host, and by reading what a filter checks it.
//!
//! A need is more than a wish: a host that lacks it cannot run the VM. CPU and memory
//! are no needs in this sense. Every VM has them, and policies that overcommit without
//! bounds leave them unchecked on purpose.

use std::sync::{Arc, LazyLock};

use super::{ATTRIBUTE, Schema};

/// Something that a host must have for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// As policies and problems call it, for example `gpu.count` or `pinned`.
    pub name: Arc<str>,
    /// Where a request says it.
    pub given: Given,
    /// A filter that checks the need reads one of these of the request,
    pub said_by: Vec<Read>,
    /// and one of these of hosts, if there are any. Some filters read what a request needs
    /// for another reason: memory in huge pages is none of a host's other memory.
    pub met_by: Vec<Read>,
    /// What it is for people, after "needs".
    pub meaning: Arc<str>,
}

/// Where a request says that it needs something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A column of the table `request` that has a value.
    Request(&'static str),
    /// A column of a VM that has a value, which is neither 0 nor false.
    Vm(Arc<str>),
    /// A table below a VM that has a row.
    VmTable(Arc<str>),
    /// A network interface of a VM that has a network.
    Networks,
    /// GPUs of a VM: their number, or a share or models of them.
    Gpus,
    /// Hosts that a VM is pinned to.
    Pinned,
    /// An infinite score of a VM for a host.
    Location,
    /// A binding of the tenant that holds.
    Bindings,
    /// A group of a VM with a hard rule for its VMs.
    GroupRule,
    /// A group of a VM with a hard rule for its hosts.
    GroupHostRule,
}

/// A table that a filter reads, or one column of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Name of the table.
    pub table: Arc<str>,
    /// None: any column, or the number of rows alone.
    pub column: Option<Arc<str>>,
}

impl Read {
    fn of(path: &str) -> Self {
        match path.split_once(' ') {
            Some((table, column)) => Self {
                table: table.into(),
                column: Some(column.into()),
            },
            None => Self {
                table: path.into(),
                column: None,
            },
        }
    }

    /// Whether reading that column of that table is reading this.
    pub fn is(&self, table: &str, column: &str) -> bool {
        *self.table == *table
            && self
                .column
                .as_deref()
                .is_none_or(|of_table| of_table == column)
    }
}

impl Need {
    /// Whether a filter that reads these columns, each of a table, checks the need. Of a
    /// table without columns the number of rows is read, and the column is empty.
    pub fn is_checked_by<'a>(
        &self,
        reads: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> bool {
        let reads_one_of = |wanted: &[Read]| {
            reads
                .clone()
                .any(|(table, column)| wanted.iter().any(|read| read.is(table, column)))
        };
        reads_one_of(&self.said_by) && (self.met_by.is_empty() || reads_one_of(&self.met_by))
    }
}

fn need(name: &str, given: Given, said_by: &[&str], met_by: &[&str], meaning: &str) -> Arc<Need> {
    let reads = |list: &[&str]| list.iter().copied().map(Read::of).collect();
    Arc::new(Need {
        name: name.into(),
        given,
        said_by: reads(said_by),
        met_by: reads(met_by),
        meaning: meaning.into(),
    })
}

fn vm(column: &str, met_by: &[&str], meaning: &str) -> Arc<Need> {
    let said_by = format!("members {column}");
    need(
        column,
        Given::Vm(column.into()),
        &[&said_by],
        met_by,
        meaning,
    )
}

fn vm_table(table: &str, has: Option<&str>, met_by: &[&str], meaning: &str) -> Arc<Need> {
    let rows = format!("members/{table}");
    let has = has.map(|column| format!("members {column}"));
    let said_by: Vec<&str> = [Some(rows.as_str()), has.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    need(
        table,
        Given::VmTable(table.into()),
        &said_by,
        met_by,
        meaning,
    )
}

/// The needs of every cluster, in the order in which problems name them.
pub(super) fn built_in() -> &'static [Arc<Need>] {
    static NEEDS: LazyLock<Vec<Arc<Need>>> = LazyLock::new(|| {
        vec![
            need(
                "zone",
                Given::Request("zone"),
                &["request zone"],
                &["hosts zone"],
                "an availability zone",
            ),
            need(
                "pinned",
                Given::Pinned,
                &["members pinned", "hosts/pinned"],
                &["hosts/pinned"],
                "one of the hosts that it is pinned to",
            ),
            need(
                "location",
                Given::Location,
                &["members has-location", "hosts/location"],
                &["hosts/location"],
                "what its infinite scores say of hosts",
            ),
            need(
                "gpu.count",
                Given::Gpus,
                &["members gpu.count"],
                &["hosts/gpus"],
                "GPUs",
            ),
            vm_table(
                "gpu-models",
                None,
                &["hosts gpu.model"],
                "a model of GPU that it accepts",
            ),
            need(
                "nics",
                Given::Networks,
                &["members/nics"],
                &["hosts/networks"],
                "the networks of its interfaces",
            ),
            vm_table(
                "devices",
                Some("has-devices"),
                &["hosts/devices"],
                "devices of the host",
            ),
            // The pages themselves are read, too, by filters that look at memory only and fall
            // back on ordinary memory.
            need(
                "huge-pages",
                Given::VmTable("huge-pages".into()),
                &["members has-huge-pages"],
                &["hosts/huge-pages"],
                "huge pages",
            ),
            vm_table(
                "cpu-flags",
                Some("has-cpu-flags"),
                &["hosts/cpu-flags"],
                "CPU flags",
            ),
            vm_table(
                "numa-nodes",
                Some("has-numa-nodes"),
                &["hosts/numa-nodes"],
                "NUMA nodes for its own",
            ),
            vm_table(
                "pins",
                None,
                &["hosts/cpus"],
                "the CPUs that its vCPUs are pinned to",
            ),
            vm(
                "exclusive",
                &["hosts/cpus", "hosts cpu.exclusive"],
                "CPUs of its own",
            ),
            vm(
                "machine",
                &["hosts/machine-types"],
                "an emulated machine type",
            ),
            vm_table(
                "amounts",
                None,
                &["hosts/amounts"],
                "amounts with names of the operator's choice",
            ),
            vm_table(
                "specs",
                None,
                &["hosts/tags"],
                "what its extra specifications ask for",
            ),
            need(
                "bindings",
                Given::Bindings,
                &["tenant/bindings", "hosts/bindings"],
                &["hosts/bindings"],
                "a host that its tenant is bound to",
            ),
            need(
                "groups.hard",
                Given::GroupRule,
                &["groups hard"],
                &["hosts/group-members"],
                "the hard rule for the VMs of its group",
            ),
            need(
                "groups.host-hard",
                Given::GroupHostRule,
                &["groups host-hard"],
                &["hosts/group-hosts"],
                "the hard rule for the hosts of its group",
            ),
        ]
    });
    &NEEDS
}

/// The need of an attribute of VMs that an admin declares as one: a column, or a table.
pub(super) fn of_attribute(name: &str, is_table: bool, meaning: &str) -> Arc<Need> {
    let full = format!("{ATTRIBUTE}{name}");
    let meaning = match meaning {
        "" => format!("what {full} asks for"),
        told => format!("what {full} asks for ({told})"),
    };
    match is_table {
        true => vm_table(&full, None, &[], &meaning),
        false => vm(&full, &[], &meaning),
    }
}

impl Schema {
    /// What requests may need of hosts: the built-in needs, and attributes of VMs that an
    /// admin declares as needs, in this order.
    pub fn needs(&self) -> impl Iterator<Item = &Arc<Need>> {
        built_in().iter().chain(&self.declared_needs)
    }

    /// The need of that name.
    pub fn need(&self, name: &str) -> Option<&Arc<Need>> {
        self.needs().find(|need| *need.name == *name)
    }

    /// The need that a request says in that column of that table, if it says one there.
    pub fn need_said_by(&self, table: &str, column: &str) -> Option<&Arc<Need>> {
        self.needs()
            .find(|need| need.said_by.iter().any(|read| read.is(table, column)))
    }

    /// Declare an attribute of VMs, a column or a table that is defined already, as a
    /// need. Nothing happens if it is one already, or if VMs have no such attribute.
    pub fn declare_need(&mut self, attribute: &str, meaning: &str) {
        let full = format!("{ATTRIBUTE}{attribute}");
        let is_column = self.column("members", &full).is_some();
        let is_table = self.table(&format!("members/{full}")).is_some();
        if (is_column || is_table) && self.need(&full).is_none() {
            self.declared_needs
                .push(of_attribute(attribute, is_table, meaning));
        }
    }

    /// Whether an attribute of VMs, by its name without the prefix, is declared as a need.
    pub fn is_declared_need(&self, attribute: &str) -> bool {
        let full = format!("{ATTRIBUTE}{attribute}");
        self.declared_needs.iter().any(|need| *need.name == *full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn every_need_is_given_and_checked_by_what_the_schema_has() {
        let schema = Schema::built_in();
        for need in schema.needs() {
            assert!(!need.said_by.is_empty(), "{}", need.name);
            for read in need.said_by.iter().chain(&need.met_by) {
                match &read.column {
                    Some(column) => assert!(schema.column(&read.table, column).is_some()),
                    None => assert!(schema.table(&read.table).is_some(), "{}", read.table),
                }
            }
            match &need.given {
                Given::Request(column) => assert!(schema.column("request", column).is_some()),
                Given::Vm(column) => assert!(schema.column("members", column).is_some()),
                Given::VmTable(table) => {
                    assert!(schema.table(&format!("members/{table}")).is_some());
                }
                _ => {}
            }
        }
    }

    #[test]
    fn names_of_needs_are_unique() {
        let mut names: Vec<_> = built_in().iter().map(|need| &need.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), built_in().len());
    }

    #[test]
    fn an_attribute_is_a_need_once_it_is_declared_as_one() {
        let mut schema = Schema::default();
        schema
            .define_attribute("vms", "licence", Kind::Text, None, "what it runs")
            .unwrap();
        assert!(schema.need("attribute.licence").is_none());
        schema.declare_need("licence", "what it runs");
        schema.declare_need("licence", "what it runs");
        schema.declare_need("unknown", "");
        assert!(schema.is_declared_need("licence"));
        assert!(!schema.is_declared_need("unknown"));
        let need = schema
            .need_said_by("members", "attribute.licence")
            .map(|need| &*need.name);
        assert_eq!(need, Some("attribute.licence"));
        assert_eq!(schema.needs().count(), built_in().len() + 1);
    }
}
