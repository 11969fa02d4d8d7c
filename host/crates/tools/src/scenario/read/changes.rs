//! What is different of the cluster in a case.

use super::super::form::WITHOUT;
use super::super::merge::{merged, remove};
use placewright_document::{Content, Node, Problems, Table, shown};

/// What a change can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    Host,
    Vm,
}

impl Changed {
    fn noun(self) -> &'static str {
        match self {
            Changed::Host => "host",
            Changed::Vm => "VM",
        }
    }
}

/// Change hosts or VMs of a cluster's document, each named by its id.
pub(super) fn change(cluster: &mut Table, what: Changed, changes: &Table, problems: &mut Problems) {
    for change in &changes.entries {
        let Content::Table(columns) = &change.node.content else {
            let other = change.node.content.noun();
            let message = format!("\"{}\" must be a table, not {other}", shown(&change.key));
            problems.add(&change.node.place, message);
            continue;
        };
        let mut rows = rows(cluster, what);
        match rows.iter_mut().find(|row| id(row) == Some(&change.key)) {
            Some(row) => change_row(row, columns, problems),
            None => {
                let id_given = shown(&change.key);
                let message = format!("there is no {} \"{id_given}\" in the cluster", what.noun());
                let right = rows.iter().filter_map(|row| id(row));
                problems.add_misnamed(&change.place, message, &change.key, right);
            }
        }
    }
}

/// The rows of hosts, or of VMs inside their hosts and beside them.
fn rows(cluster: &mut Table, what: Changed) -> Vec<&mut Table> {
    let mut found = Vec::new();
    for entry in &mut cluster.entries {
        match (&*entry.key, what) {
            ("hosts", Changed::Host) | ("vms", Changed::Vm) => {
                found.extend(tables(&mut entry.node));
            }
            ("hosts", Changed::Vm) => {
                let hosts = tables(&mut entry.node).into_iter();
                let vms = hosts.flat_map(|host| {
                    let inside = host.entries.iter_mut();
                    inside.filter(|entry| *entry.key == *"vms")
                });
                found.extend(vms.flat_map(|vms| tables(&mut vms.node)));
            }
            _ => {}
        }
    }
    found
}

fn tables(list: &mut Node) -> Vec<&mut Table> {
    let Content::List(list) = &mut list.content else {
        return Vec::new();
    };
    let tables = list.iter_mut().filter_map(|node| match &mut node.content {
        Content::Table(table) => Some(table),
        _ => None,
    });
    tables.collect()
}

fn id(row: &Table) -> Option<&str> {
    match &row.get("id")?.content {
        Content::Text(id) => Some(id),
        _ => None,
    }
}

/// Give a row what is different, and take from it what it is to be without.
fn change_row(row: &mut Table, changes: &Table, problems: &mut Problems) {
    let mut changes = changes.clone();
    let without = changes.entries.iter().position(|it| *it.key == *WITHOUT);
    if let Some(without) = without {
        let without = changes.entries.remove(without).node;
        take(row, &without, problems);
    }
    *row = merged(row, &changes);
}

/// Take away the columns that a list names.
fn take(row: &mut Table, without: &Node, problems: &mut Problems) {
    let Content::List(names) = &without.content else {
        let message = format!("\"{WITHOUT}\" must be a list of columns");
        return problems.add(&without.place, message);
    };
    for name in names {
        let is_taken = match &name.content {
            Content::Text(name) => remove(&mut row.entries, name),
            _ => false,
        };
        if !is_taken {
            let message = format!(
                "\"{WITHOUT}\" must name columns that the cluster gives, to be taken away in this case"
            );
            problems.add(&name.place, message);
        }
    }
}
