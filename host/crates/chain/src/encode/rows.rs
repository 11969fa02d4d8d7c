//! The rows of one table of a call, and the values in them.

use std::ops::Range;
use std::sync::Arc;

use super::super::candidates::Candidates;
use super::super::plan::{ColumnPlan, Field};
use super::super::subject::{Binding, GroupRow, Held, Member};
use super::{HostRows, cell_of};
use placewright_inventory::{GroupEntry, Inventory, Nested, Shape, ShapeColumn, VmEntry};
use placewright_model::{Facts, GroupRule, Kind, Request, Value, Vm};
use placewright_policy::Settings;

/// A value on its way into a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum CellRef<'a> {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(&'a Arc<str>),
    /// A text that is not stored behind an `Arc`.
    Word(&'a str),
}

impl CellRef<'_> {
    pub(super) fn fits(&self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (CellRef::Integer(_), Kind::Integer)
                | (CellRef::Number(_), Kind::Number)
                | (CellRef::Boolean(_), Kind::Boolean)
                | (CellRef::Text(_) | CellRef::Word(_), Kind::Text)
        )
    }
}

/// The rows of a table.
pub(super) enum Level<'a> {
    Empty,
    /// So many hosts; their columns are copied whole.
    Hosts(usize),
    Request {
        request: Option<&'a Request>,
        now: i64,
        draw: Option<f64>,
    },
    Members(&'a [Member<'a>]),
    Groups(&'a [GroupRow<'a>]),
    AllGroups(Vec<&'a GroupEntry>),
    Tenant(&'a str, Option<&'a Facts>),
    Cluster(&'a Inventory),
    /// Members with the slots where they run.
    Sources(Vec<(i64, u32)>),
    Vms(Vec<&'a VmEntry>),
    /// Members on the hosts where they run.
    Held(Vec<Held<'a>>),
    /// So many rows below hosts that are stored in columns, where they stand in pieces.
    Nested {
        nested: &'a Nested,
        rows: usize,
        pieces: Vec<Range<usize>>,
    },
    Relations(Vec<[i64; 3]>),
    Bindings(Vec<Binding<'a>>),
    Facts(Vec<&'a Facts>),
    Settings(&'a Settings),
    /// Candidates, with the hosts of the call, which are the same row for row.
    Candidates(&'a Candidates, HostRows<'a>),
}

/// Tables below a VM whose rows are a host's by name or number: nobody else may have them while
/// a place is reserved that takes them.
const TAKEN_BY_NAME: [&str; 2] = ["devices", "pins"];

/// The rows of a VM itself, and those of its stay on its host.
fn rows_of<'a>(entry: &'a VmEntry, name: &str) -> [&'a [Facts]; 2] {
    [entry.vm.facts.rows(name), entry.placed_rows(name)]
}

impl<'a> Level<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Level::Empty => 0,
            Level::Hosts(count) => *count,
            Level::Request { .. } | Level::Cluster(_) | Level::Tenant(..) | Level::Settings(_) => 1,
            Level::Members(rows) => rows.len(),
            Level::Groups(rows) => rows.len(),
            Level::AllGroups(rows) => rows.len(),
            Level::Sources(rows) => rows.len(),
            Level::Vms(rows) => rows.len(),
            Level::Held(rows) => rows.len(),
            Level::Nested { rows, .. } => *rows,
            Level::Relations(rows) => rows.len(),
            Level::Bindings(rows) => rows.len(),
            Level::Facts(rows) => rows.len(),
            Level::Candidates(_, hosts) => hosts.len(),
        }
    }

    /// The rows of facts below one of these rows, in the table called `name`: those
    /// of the row itself, those of a VM's stay on its host, and what a place reserved for it
    /// there takes by name or number.
    pub(super) fn rows_below(
        &self,
        row: usize,
        name: &str,
        hosts: HostRows<'_>,
        inventory: &'a Inventory,
    ) -> [&'a [Facts]; 4] {
        let own: &'a [Facts] = match self {
            Level::Hosts(_) => inventory
                .host(hosts.slot(row))
                .map_or(&[], |host| host.facts.rows(name)),
            Level::Members(members) => members[row].vm.facts.rows(name),
            Level::Vms(vms) => {
                let entry = vms[row];
                let [own, stay] = rows_of(entry, name);
                let growth = match TAKEN_BY_NAME.contains(&name) && !entry.pending {
                    true => inventory.pending(&entry.vm.id),
                    false => None,
                };
                let [grown, stay_then] = match growth.filter(|it| it.slot == entry.slot) {
                    Some(growth) => rows_of(growth, name),
                    None => [&[][..]; 2],
                };
                return [own, stay, grown, stay_then];
            }
            Level::Held(rows) => match rows[row].entry {
                Some(entry) => {
                    let [own, stay] = rows_of(entry, name);
                    return [own, stay, &[], &[]];
                }
                None => &[],
            },
            Level::Facts(facts) => facts[row].rows(name),
            Level::Cluster(inventory) => inventory.facts().rows(name),
            Level::Tenant(_, facts) => facts.map_or(&[], |facts| facts.rows(name)),
            Level::Settings(settings) => settings.rows(name),
            Level::Request { request, .. } => {
                request.map_or(&[], |request| request.facts.rows(name))
            }
            _ => &[],
        };
        [own, &[], &[], &[]]
    }

    /// The value of a column in a row.
    pub(super) fn cell(
        &self,
        row: usize,
        column: &ColumnPlan,
        inventory: &'a Inventory,
    ) -> Option<CellRef<'a>> {
        let name = &*column.name;
        match self {
            // The columns of hosts and below are copied whole.
            Level::Empty | Level::Hosts(_) | Level::Nested { .. } => None,
            Level::Relations(rows) => match column.field {
                Field::Number(number) => rows[row].get(number).copied().map(CellRef::Integer),
                _ => None,
            },
            Level::Bindings(rows) => match name {
                "row" => Some(CellRef::Integer(rows[row].row)),
                _ => fact(rows[row].facts, name),
            },
            Level::Request { request, now, draw } => match name {
                "now" => Some(CellRef::Integer(*now)),
                "draw" => draw.map(CellRef::Number),
                "forced" => Some(CellRef::Boolean(
                    request.is_some_and(|request| request.forced.is_some()),
                )),
                _ => {
                    let given = request.and_then(|request| fact(&request.facts, name));
                    match name {
                        "kind" => given.or(Some(CellRef::Word("place"))),
                        _ => given,
                    }
                }
            },
            Level::Members(members) => {
                let member = &members[row];
                if let Field::Shape(column) = column.field {
                    return shape_cell(&member.shape, column);
                }
                match name {
                    "running" => Some(CellRef::Boolean(member.slot.is_some())),
                    "pinned" => Some(CellRef::Boolean(!member.vm.pinning.pinned.is_empty())),
                    "has-preferred" => {
                        Some(CellRef::Boolean(!member.vm.pinning.preferred.is_empty()))
                    }
                    "has-location" => {
                        Some(CellRef::Boolean(!member.vm.pinning.location.is_empty()))
                    }
                    "has-numa-nodes" | "has-huge-pages" | "has-devices" | "has-cpu-flags" => {
                        let rows = member.vm.facts.rows(name.trim_start_matches("has-"));
                        Some(CellRef::Boolean(!rows.is_empty()))
                    }
                    "has-pinning" => {
                        let facts = &member.vm.facts;
                        let is_pinned = facts.get("pinning").is_some();
                        Some(CellRef::Boolean(
                            is_pinned || !facts.rows("pins").is_empty(),
                        ))
                    }
                    _ => vm_cell(member.vm, name),
                }
            }
            Level::Vms(vms) => match (&column.field, name) {
                (Field::Shape(column), _) => shape_cell(&vms[row].shape, *column),
                (_, "pending") => Some(CellRef::Boolean(vms[row].pending)),
                _ => vm_cell(&vms[row].vm, name),
            },
            Level::Held(rows) => {
                let Held {
                    member,
                    slot,
                    id,
                    entry,
                } = rows[row];
                match (&column.field, name, entry) {
                    (_, "others.widest", _) => {
                        let widest = id.map_or(0, |id| inventory.widest_beside(slot, id));
                        Some(CellRef::Integer(widest))
                    }
                    (_, "member", _) => Some(CellRef::Integer(member)),
                    (_, "holds", _) => Some(CellRef::Boolean(entry.is_some())),
                    (Field::Shape(column), _, Some(entry)) => shape_cell(&entry.shape, *column),
                    (Field::Shape(_), _, None) if column.kind == Kind::Boolean => {
                        Some(CellRef::Boolean(false))
                    }
                    (Field::Shape(_), _, None) => Some(CellRef::Integer(0)),
                    (_, _, Some(entry)) => vm_cell(&entry.vm, name),
                    (_, _, None) => None,
                }
            }
            Level::Groups(rows) => {
                let row = &rows[row];
                match name {
                    "here" => Some(CellRef::Integer(row.here())),
                    "elsewhere" => Some(CellRef::Boolean(row.elsewhere)),
                    _ => group_cell(row.entry, name),
                }
            }
            Level::AllGroups(groups) => match name {
                "here" => Some(CellRef::Integer(0)),
                "elsewhere" => Some(CellRef::Boolean(!groups[row].presence.is_empty())),
                _ => group_cell(groups[row], name),
            },
            Level::Tenant(id, facts) => match name {
                "id" => Some(CellRef::Word(id)),
                _ => fact((*facts)?, name),
            },
            Level::Cluster(inventory) => match name {
                "name" => Some(CellRef::Text(inventory.name())),
                _ => fact(inventory.facts(), name),
            },
            Level::Sources(rows) => {
                let (member, slot) = rows[row];
                let host = inventory.host(slot)?;
                match name {
                    "member" => Some(CellRef::Integer(member)),
                    "id" => Some(CellRef::Text(&host.id)),
                    "name" => fact(&host.facts, name).or(Some(CellRef::Text(&host.id))),
                    _ => fact(&host.facts, name),
                }
            }
            Level::Facts(rows) => fact(rows[row], name),
            Level::Settings(settings) => settings.value(name).map(cell_of),
            Level::Candidates(candidates, hosts) => {
                let place = candidates.place(hosts.slot(row))?;
                let number = |numbers: &[f64]| numbers.get(place).copied().map(CellRef::Number);
                match name {
                    "group" => candidates.groups.get(place).copied().map(CellRef::Integer),
                    "share" => number(&candidates.shares),
                    "cost" => number(&candidates.costs),
                    _ => number(candidates.named(name.strip_prefix("cost.")?)?),
                }
            }
        }
    }
}

fn fact<'a>(facts: &'a Facts, name: &str) -> Option<CellRef<'a>> {
    facts.get(name).map(cell_of)
}

/// A column of a VM that follows from its shape.
fn shape_cell(shape: &Shape, column: ShapeColumn) -> Option<CellRef<'static>> {
    match shape.value(column) {
        Value::Integer(value) => Some(CellRef::Integer(value)),
        Value::Boolean(value) => Some(CellRef::Boolean(value)),
        _ => None,
    }
}

/// Another column of a VM, with its default.
fn vm_cell<'a>(vm: &'a Vm, name: &str) -> Option<CellRef<'a>> {
    match name {
        "id" => Some(CellRef::Text(&vm.id)),
        "priority" => fact(&vm.facts, name).or(Some(CellRef::Integer(0))),
        "gpu.count" => vm.gpus().map(CellRef::Integer),
        _ => fact(&vm.facts, name),
    }
}

fn group_cell<'a>(entry: &GroupEntry, name: &str) -> Option<CellRef<'a>> {
    let group = &entry.group;
    match name {
        "rule" => rule_word(group.vm_rule),
        "hard" => Some(CellRef::Boolean(is_hard(group.vm_rule))),
        "host-rule" => rule_word(group.host_rule),
        "host-hard" => Some(CellRef::Boolean(is_hard(group.host_rule))),
        "priority" => Some(CellRef::Number(group.priority)),
        _ => None,
    }
}

fn rule_word(rule: Option<GroupRule>) -> Option<CellRef<'static>> {
    Some(CellRef::Word(match rule? {
        GroupRule::Positive { .. } => "positive",
        GroupRule::Negative { .. } => "negative",
    }))
}

fn is_hard(rule: Option<GroupRule>) -> bool {
    matches!(
        rule,
        Some(GroupRule::Positive { hard: true } | GroupRule::Negative { hard: true })
    )
}

/// The rows below each parent, in their order; the offsets go to `integers`.
pub(super) fn gather<P, R>(
    integers: &mut Vec<i64>,
    parents: impl Iterator<Item = P>,
    mut rows_of: impl FnMut(P, &mut Vec<R>),
) -> Vec<R> {
    let mut rows = Vec::new();
    integers.push(0);
    for parent in parents {
        rows_of(parent, &mut rows);
        integers.push(rows.len() as i64);
    }
    rows
}

/// The rows of a relation, each with its slot, that stand below the hosts of the
/// call; the offsets go to `integers`. Both are in the order of slots.
pub(super) fn related<R>(
    relation: impl ExactSizeIterator<Item = (u32, R)>,
    hosts: HostRows<'_>,
    integers: &mut Vec<i64>,
) -> Vec<R> {
    let offsets = integers.len();
    integers.resize(offsets + hosts.len() + 1, 0);
    let offsets = &mut integers[offsets..];
    let mut rows = Vec::with_capacity(relation.len());
    let mut next_row = 0;
    for (slot, related) in relation {
        let Some(row) = hosts.row(slot) else {
            continue;
        };
        offsets[next_row..=row].fill(rows.len() as i64);
        next_row = row + 1;
        rows.push(related);
    }
    offsets[next_row..].fill(rows.len() as i64);
    rows
}
