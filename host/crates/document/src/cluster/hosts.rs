//! The hosts of a cluster's document, and the VMs on them.

use std::sync::Arc;

use super::{Ids, PlacedVm};
use crate::form::{BOOLEAN, Fields, Key, Shape, TEXT, key, required};
use crate::pinning::{LOCATION, PINNED, PREFERRED, pinning};
use crate::{Content, Problems, RowReader, Table};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Vm};

/// What a host has besides the columns and tables of `hosts`.
pub(crate) const HOST: &[Key] = &[
    required("id", TEXT, "Id of the host, unique in the cluster").such_as("h1"),
    key("vms", Shape::OpenTables, "The VMs on the host"),
];

/// What a VM has besides the columns and tables of `hosts/vms`.
pub(crate) const VM: &[Key] = &[
    required("id", TEXT, "Id of the VM, unique in the cluster").such_as("web-1"),
    key(
        "host",
        TEXT,
        "Id of the host that it runs on, unless it stands inside the host",
    )
    .such_as("h1"),
    key(
        "pending",
        BOOLEAN,
        "Whether its place is reserved and it does not run there yet",
    ),
    PINNED,
    PREFERRED,
    LOCATION,
];

/// All hosts, and all VMs with their hosts.
pub(super) fn read(
    document: &Fields<'_>,
    reader: &mut RowReader<'_>,
) -> (Vec<Host>, Vec<PlacedVm>) {
    let mut ids = Ids::new("host");
    let mut hosts = Vec::new();
    let mut inside = Vec::new();
    for table in document.tables("hosts") {
        let (fields, others) = Fields::split(table, form(table), "a host", &mut reader.problems);
        let facts = reader.facts("hosts", others, &["id", "vms"]);
        let id = ids.take(&fields, &mut reader.problems);
        let vms = fields.tables("vms").iter().copied();
        inside.extend(vms.map(|vm| (Some(id.clone().unwrap_or_default()), vm)));
        if let Some(id) = id {
            hosts.push(Host { id, facts });
        }
    }
    let outside = document.tables("vms").iter().map(|vm| (None, *vm));
    let mut vms = VmReader {
        hosts: &ids,
        ids: [Ids::new("VM"), Ids::new("reserved place of VM")],
        reader,
    };
    let vms = inside
        .into_iter()
        .chain(outside)
        .filter_map(|(host, table)| vms.read(host, table))
        .collect();
    (hosts, vms)
}

/// A table under "vms" holds the columns `vms.*`, a list the VMs.
fn form(host: &Table) -> &'static [Key] {
    match host.get("vms").map(|node| &node.content) {
        Some(Content::Table(_)) => &HOST[..1],
        _ => HOST,
    }
}

struct VmReader<'a, 't, 's> {
    hosts: &'a Ids<'t>,
    /// Of VMs that run, and of those that have a place reserved: one may do both.
    ids: [Ids<'t>; 2],
    reader: &'a mut RowReader<'s>,
}

impl<'t> VmReader<'_, 't, '_> {
    /// A VM that stands inside the host `inside`, or beside all hosts.
    fn read(&mut self, inside: Option<Arc<str>>, table: &'t Table) -> Option<PlacedVm> {
        let problems = &mut self.reader.problems;
        let (fields, others) = Fields::split(table, VM, "a VM", problems);
        let hosts = self.hosts;
        let pinning = pinning(&fields, problems, |host, place, problems| {
            hosts.refer(host, place, problems);
        });
        let host = match inside {
            Some(host) => self.inside(host, &fields),
            None => self.outside(&fields, table),
        };
        let problems = &mut self.reader.problems;
        let pending = fields.boolean("pending").unwrap_or(false);
        let id = self.ids[usize::from(pending)].take(&fields, problems);
        let keys: Vec<_> = VM.iter().map(|key| key.name).collect();
        let mut facts = self.reader.facts("hosts/vms", others, &keys);
        let placed = split_placed(&mut facts, self.reader.schema);
        Some(PlacedVm {
            vm: Vm {
                id: id?,
                facts,
                pinning,
            },
            placed,
            host: host?,
            pending,
        })
    }

    fn inside(&mut self, host: Arc<str>, fields: &Fields<'_>) -> Option<Arc<str>> {
        if let Some(place) = fields.place_of("host") {
            self.reader.problems.add(
                place,
                "a VM that stands inside a host runs there; leave \"host\" out",
            );
        }
        Some(host)
    }

    fn outside(&mut self, fields: &Fields<'_>, table: &Table) -> Option<Arc<str>> {
        let problems: &mut Problems = &mut self.reader.problems;
        match (fields.text("host"), fields.place_of("host")) {
            (Some(host), Some(place)) => {
                self.hosts.refer(&host, place, problems);
                Some(host)
            }
            _ if table.get("host").is_some() => None,
            _ => {
                problems.add(
                    &table.place,
                    "a VM of a cluster's document needs \"host\", the id of the host that it runs on; a VM to be placed belongs in a separate document",
                );
                None
            }
        }
    }
}

/// Take out of `facts` what belongs to the VM's stay on its host: the tables that
/// only a VM with a place has.
fn split_placed(facts: &mut Facts, schema: &Schema) -> Facts {
    let mut placed = Facts::new();
    let names: Vec<Arc<str>> = facts.tables().map(|(name, _)| name.clone()).collect();
    for name in names {
        if schema.table(&format!("members/{name}")).is_none() {
            let rows = facts.take_rows(&name);
            placed.set_rows(name, rows);
        }
    }
    placed
}
