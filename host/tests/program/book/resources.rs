//! Which sums there are of each resource of a host, and which units read them: a table of the
//! book, written from what is stated here and from what units declare.

use std::collections::BTreeSet;
use std::fs;

use placewright_engine::contract::Part;
use placewright_model::schema::Schema;
use placewright_tests::units::built_in;

use super::{REMEDY, is_to_be_updated, pages};

/// A sum: a column, by table and name, also of a table of the operator's own, or why there is
/// none.
enum Sum {
    In(&'static str, &'static str),
    Operators(&'static str, &'static str),
    None(&'static str),
}

use Sum::{In, None as No, Operators};

/// A resource, and what of it is promised to VMs that run, promised to pending ones, and
/// measured.
struct Resource {
    name: &'static str,
    promised: Sum,
    pending: Sum,
    measured: Sum,
}

const RESOURCES: [Resource; 14] = [
    Resource {
        name: "memory",
        promised: In("hosts", "memory.committed"),
        pending: In("hosts", "memory.pending"),
        measured: In("hosts", "memory.free"),
    },
    Resource {
        name: "CPU",
        promised: In("hosts", "cpu.committed"),
        pending: In("hosts", "cpu.pending"),
        measured: In("hosts", "cpu.usage"),
    },
    Resource {
        name: "exclusive CPUs",
        promised: In("hosts", "cpu.exclusive"),
        pending: No("in the same sum: no VM may have them meanwhile"),
        measured: In("hosts/cpus", "exclusive"),
    },
    Resource {
        name: "shared vCPUs",
        promised: In("hosts", "vcpus"),
        pending: In("hosts", "vcpus.pending"),
        measured: In("hosts", "cpu.usage"),
    },
    Resource {
        name: "load of CPUs",
        promised: No("what runs is measured, and is in the sum of the pending ones until then"),
        pending: In("hosts", "load.pending"),
        measured: In("hosts", "cpu.usage"),
    },
    Resource {
        name: "memory of a NUMA node",
        promised: In("hosts/numa-nodes", "memory.promised"),
        pending: In("hosts/numa-nodes", "memory.pending"),
        measured: In("hosts/numa-nodes", "memory.free"),
    },
    Resource {
        name: "CPUs of a NUMA node",
        promised: In("hosts/numa-nodes", "cpus.promised"),
        pending: In("hosts/numa-nodes", "cpus.pending"),
        measured: In("hosts/cpus", "exclusive"),
    },
    Resource {
        name: "shared CPUs of a NUMA node",
        promised: In("hosts/numa-nodes", "cpus.sharers"),
        pending: No("in the same sum: one CPU of the node is left for all that share its CPUs"),
        measured: No("VMs that share CPUs have none of their own"),
    },
    Resource {
        name: "huge pages, by size",
        promised: No("a VM that runs has its pages, and what is free is measured"),
        pending: In("hosts/huge-pages", "pending"),
        measured: In("hosts/huge-pages", "free"),
    },
    Resource {
        name: "huge pages of a NUMA node",
        promised: No("a VM that runs has its pages, and what is free is measured"),
        pending: In("hosts/numa-huge-pages", "pending"),
        measured: Operators("hosts/attribute.numa-huge-pages", "free"),
    },
    Resource {
        name: "virtual functions of network cards, by network",
        promised: No("a VM that runs has its functions, and what is free is measured"),
        pending: In("hosts/virtual-functions", "pending"),
        measured: Operators("hosts/attribute.virtual-functions", "free"),
    },
    Resource {
        name: "GPUs, by number and by need",
        promised: In("hosts/gpus", "taken"),
        pending: No("in the same sum: no VM may have them meanwhile"),
        measured: No("thousandths are promised, and nobody measures them"),
    },
    Resource {
        name: "devices, by name",
        promised: In("hosts/vms/devices", "name"),
        pending: In("hosts/vms/devices", "name"),
        measured: In("hosts/devices", "free"),
    },
    Resource {
        name: "amounts, by name",
        promised: In("hosts/amounts", "used"),
        pending: In("hosts/amounts", "pending"),
        measured: No("an amount is what the operator says it is"),
    },
];

impl Resource {
    fn sums(&self) -> [&Sum; 3] {
        [&self.promised, &self.pending, &self.measured]
    }

    /// The units that read one of its sums, or what is free of it, in words.
    fn readers(&self) -> String {
        let mut places: BTreeSet<(&str, &str)> = BTreeSet::new();
        for sum in self.sums() {
            if let In(table, column) | Operators(table, column) = sum {
                places.insert((table, column));
            }
        }
        for table in ["hosts/gpus", "hosts/amounts"] {
            if places.iter().any(|(known, _)| *known == table) {
                places.insert((table, "free"));
            }
        }
        let units = built_in().units().filter(|unit| {
            let description = unit.description();
            Part::ALL.iter().any(|part| {
                let mut reads = description.reads(*part).unwrap_or_default().iter();
                reads.any(|read| {
                    let mut columns = read.columns.iter();
                    columns.any(|it| places.contains(&(&*read.table, &*it.column)))
                })
            })
        });
        let names: Vec<String> = units.map(|unit| format!("`{}`", unit.name())).collect();
        names.join(", ")
    }
}

fn table() -> String {
    let mut table = "| resource | promised to VMs that run | promised to pending VMs | measured | read by |\n|---|---|---|---|---|\n".to_owned();
    for resource in &RESOURCES {
        let cells = resource.sums().map(|sum| match sum {
            In(table, column) => format!("`{table}` `{column}`"),
            Operators(table, column) => format!("`{table}` `{column}`, a table of the operator"),
            No(reason) => format!("none: {reason}"),
        });
        let [promised, pending, measured] = cells;
        let (name, readers) = (resource.name, resource.readers());
        table += &format!("| {name} | {promised} | {pending} | {measured} | {readers} |\n");
    }
    table
}

#[test]
fn every_resource_has_its_sums_or_a_reason_and_somebody_reads_them() {
    let schema = Schema::built_in();
    for resource in &RESOURCES {
        for sum in resource.sums() {
            match sum {
                In(table, column) => assert!(
                    schema.column(table, column).is_some(),
                    "{}: there is no column {column} in {table}",
                    resource.name
                ),
                Operators(table, _) => assert!(table.contains("/attribute."), "{table}"),
                No(reason) => assert!(!reason.is_empty(), "{}: why not?", resource.name),
            }
        }
        assert!(!resource.readers().is_empty(), "{}", resource.name);
    }
}

#[test]
fn the_page_of_resources_says_what_is_stated_and_declared() {
    const BEGIN: &str = "<!-- resources -->\n";
    const END: &str = "<!-- /resources -->\n";
    let path = pages().join("ideas.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the page has the marks");
    let (known, after) = rest.split_once(END).expect("the page has both marks");
    let table = table();
    if is_to_be_updated() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(known, table, "{REMEDY}");
}
