//! Turns inventory, request and settings into the tables of one call.
//!
//! Host columns are copied as they are stored; everything else is few rows. The
//! form is the WIT's record `tables`.

mod dictionary;
mod fixed;
mod nested;
mod rows;

pub(super) use dictionary::Dictionary;
pub(super) use fixed::{Fixed, fix};

use fixedbitset::FixedBitSet;

use super::candidates::Candidates;
use super::plan::{ColumnPlan, Field, ReadPlan, Source, TablePlan};
use super::subject::Subject;
use placewright_engine::contract::Call;
use placewright_inventory::{Inventory, VmEntry};
use placewright_model::{Facts, Kind, Value};
use placewright_policy::Settings;
use rows::{CellRef, Level};

/// The hosts of a call, by slot, ascending.
#[derive(Debug, Clone, Copy)]
pub(super) enum HostRows<'a> {
    /// Every slot from 0, none of them free.
    All(u32),
    List(&'a [u32]),
}

impl HostRows<'_> {
    pub(super) fn len(self) -> usize {
        match self {
            HostRows::All(count) => count as usize,
            HostRows::List(slots) => slots.len(),
        }
    }

    pub(super) fn slot(self, row: usize) -> u32 {
        match self {
            HostRows::All(_) => row as u32,
            HostRows::List(slots) => slots[row],
        }
    }

    /// The row of the host in that slot, if it is one of these.
    pub(super) fn row(self, slot: u32) -> Option<usize> {
        match self {
            HostRows::All(count) => (slot < count).then_some(slot as usize),
            HostRows::List(slots) => slots.binary_search(&slot).ok(),
        }
    }

    pub(super) fn slots(self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(move |row| self.slot(row))
    }
}

/// What a call is about.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) inventory: &'a Inventory,
    /// None for a balance part.
    pub(super) subject: Option<&'a Subject<'a>>,
    pub(super) settings: &'a Settings,
    pub(super) now: i64,
    /// The hosts that a stage has left, where the part is asked about these.
    pub(super) candidates: Option<&'a Candidates>,
}

/// Why a call cannot be made as it is.
#[derive(Debug, PartialEq)]
pub(super) enum Incomplete {
    /// These rows of hosts lack a required value, themselves or below.
    Hosts(Vec<u32>),
    /// This table, which is not about hosts, lacks a required value.
    Table { table: String, column: String },
}

/// Fill `call` with the tables of `plan`.
pub(super) fn encode<'a>(
    plan: &ReadPlan,
    context: Context<'a>,
    hosts: HostRows<'a>,
    dictionary: &mut Dictionary,
    call: &mut Call,
) -> Result<(), Incomplete> {
    let mut encoder = Encoder::new(plan, context, hosts, dictionary, call);
    for table in &plan.tables {
        encoder.table(plan, table)?;
    }
    if encoder.incomplete.is_empty() {
        Ok(())
    } else {
        let mut rows = encoder.incomplete;
        rows.sort_unstable();
        rows.dedup();
        Err(Incomplete::Hosts(rows))
    }
}

/// Fill `call` with the tables of `plan` that are about the request and say the same of
/// every host.
pub(super) fn request_side<'a>(
    plan: &ReadPlan,
    context: Context<'a>,
    dictionary: &mut Dictionary,
    call: &mut Call,
) -> Result<(), Incomplete> {
    let mut encoder = Encoder::new(plan, context, HostRows::List(&[]), dictionary, call);
    for table in &plan.tables {
        if table.of_request {
            encoder.table(plan, table)?;
        } else {
            encoder.skip();
        }
    }
    Ok(())
}

/// Whether every gate of the plan is open: a column that at least one row has, and
/// not as false.
pub(super) fn gates_open(plan: &ReadPlan, context: Context<'_>) -> bool {
    plan.gates.iter().all(|(table, column)| {
        let table = &plan.tables[*table];
        let column = &table.columns[*column];
        let level = top_level(table, context, HostRows::List(&[]));
        (0..level.len()).any(|row| {
            let cell = level.cell(row, column, context.inventory);
            cell.is_some_and(|cell| !matches!(cell, CellRef::Boolean(false)))
        })
    })
}

/// The rows of hosts that lack a value required of the hosts themselves.
pub(super) fn lacking(plan: &ReadPlan, inventory: &Inventory, hosts: HostRows<'_>) -> Vec<u32> {
    let mut rows: Vec<u32> = Vec::new();
    for index in &plan.required_host_columns {
        let column = inventory.column(*index);
        if !column.is_complete() {
            note_absent(hosts, column.absent_rows(), 0, &mut rows);
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

struct Encoder<'a, 'c> {
    context: Context<'a>,
    hosts: HostRows<'a>,
    /// The rows of the tables so far.
    levels: Vec<Level<'a>>,
    /// Rows of hosts that lack a required value.
    incomplete: Vec<u32>,
    dictionary: &'c mut Dictionary,
    call: &'c mut Call,
}

impl<'a, 'c> Encoder<'a, 'c> {
    fn new(
        plan: &ReadPlan,
        context: Context<'a>,
        hosts: HostRows<'a>,
        dictionary: &'c mut Dictionary,
        call: &'c mut Call,
    ) -> Self {
        call.clear();
        dictionary.clear();
        Self {
            context,
            hosts,
            levels: Vec::with_capacity(plan.tables.len()),
            incomplete: Vec::new(),
            dictionary,
            call,
        }
    }

    /// Leave a table out: nothing below it is asked for.
    fn skip(&mut self) {
        self.levels.push(Level::Empty);
    }

    fn table(&mut self, plan: &ReadPlan, table: &TablePlan) -> Result<(), Incomplete> {
        if let Some(fixed) = &table.fixed {
            self.fixed(fixed);
            return Ok(());
        }
        let offsets_at = self.call.integers.len();
        let level = match table.parent {
            None => top_level(table, self.context, self.hosts),
            Some(parent) => {
                let level = self.below(table, parent);
                debug_assert_eq!(
                    self.call.integers.len() - offsets_at,
                    self.levels[parent].len() + 1
                );
                level
            }
        };
        self.call
            .rows
            .push(u32::try_from(level.len()).unwrap_or(u32::MAX));
        self.levels.push(level);
        for column in &table.columns {
            match column.field {
                Field::HostColumn(index) => self.host_column(index),
                Field::NestedColumn(index) => self.nested_column(column, index),
                _ => self.column(plan, table, column)?,
            }
        }
        Ok(())
    }

    /// The rows of a table below another one; their offsets are written.
    fn below(&mut self, table: &TablePlan, parent: usize) -> Level<'a> {
        let Context {
            inventory, subject, ..
        } = self.context;
        let relation = subject.and_then(|subject| subject.relation(table.source));
        let integers = &mut self.call.integers;
        if let (Source::Current, Some(subject)) = (table.source, subject) {
            let current = subject.current.iter();
            let held = current.map(|row| (row.slot, subject.held(row, inventory)));
            return Level::Held(rows::related(held, self.hosts, integers));
        }
        if let Some(relation) = relation {
            let relation = relation.iter().map(|row| (row.slot, row.numbers));
            return Level::Relations(rows::related(relation, self.hosts, integers));
        }
        let parents = &self.levels[parent];
        match table.source {
            Source::HostVms => {
                let hosts = self.hosts.slots();
                let vms = rows::gather(integers, hosts, |slot, rows| {
                    if let Some(host) = inventory.host(slot) {
                        rows.extend(inventory.residents_of(host));
                    }
                });
                Level::Vms(vms)
            }
            Source::Nested(index) => nested::offsets(inventory.nested(index), self.hosts, integers),
            Source::Bindings => {
                let bindings = subject.map_or(&[][..], |subject| &subject.bindings[..]);
                let bindings = bindings.iter().map(|binding| (binding.slot, *binding));
                Level::Bindings(rows::related(bindings, self.hosts, integers))
            }
            Source::GroupVms | Source::GroupHosts => {
                let (offsets, numbers) = self.group_rows(table.source, parents);
                self.call.integers.extend(offsets);
                Level::Relations(numbers)
            }
            Source::Below | Source::SettingTable => {
                let name = table.short_name();
                let facts: Vec<&'a Facts> =
                    rows::gather(integers, 0..parents.len(), |row, rows| {
                        for part in parents.rows_below(row, name, self.hosts, inventory) {
                            rows.extend(part);
                        }
                    });
                Level::Facts(facts)
            }
            _ => {
                let offsets = integers.len() + parents.len() + 1;
                integers.resize(offsets, 0);
                Level::Empty
            }
        }
    }

    /// For a balance part: the VMs and hosts of all groups, as row numbers.
    fn group_rows(&self, source: Source, parents: &Level<'a>) -> (Vec<i64>, Vec<[i64; 3]>) {
        let (mut offsets, mut numbers) = (vec![0], Vec::new());
        let Level::AllGroups(groups) = parents else {
            offsets.resize(parents.len() + 1, 0);
            return (offsets, numbers);
        };
        // Numbered as in hosts/vms, whether that was declared before or not.
        let inventory = self.context.inventory;
        let hosts = self.hosts.slots().filter_map(|slot| inventory.host(slot));
        let vms: Vec<&VmEntry> = match source {
            Source::GroupVms => hosts
                .flat_map(|host| inventory.residents_of(host))
                .collect(),
            _ => Vec::new(),
        };
        for entry in groups {
            match source {
                Source::GroupVms => {
                    let rows = (0i64..).zip(&vms);
                    numbers.extend(
                        rows.filter(|(_, vm)| entry.group.vms.contains(&vm.vm.id))
                            .map(|(row, _)| [row, 0, 0]),
                    );
                }
                _ => numbers.extend((0i64..).zip(self.hosts.slots()).filter_map(|(row, slot)| {
                    entry.hosts.binary_search(&slot).ok().map(|_| [row, 0, 0])
                })),
            }
            offsets.push(numbers.len() as i64);
        }
        (offsets, numbers)
    }

    fn host_column(&mut self, index: usize) {
        let column = self.context.inventory.column(index);
        let call = &mut *self.call;
        match column.kind() {
            Kind::Number => {
                let base = call.numbers.len();
                match self.hosts {
                    HostRows::All(count) => {
                        let values = &column.numbers()[..count as usize];
                        call.numbers.extend_from_slice(values);
                    }
                    HostRows::List(slots) => {
                        let values = column.numbers();
                        call.numbers
                            .extend(slots.iter().map(|slot| values[*slot as usize]));
                    }
                }
                if !column.is_complete() {
                    note_absent(
                        self.hosts,
                        column.absent_rows(),
                        base,
                        &mut call.absent_numbers,
                    );
                }
            }
            kind => {
                let base = call.integers.len();
                let values = column.integers();
                let texts = self.context.inventory.texts();
                match (self.hosts, kind) {
                    (hosts, Kind::Text) => {
                        for slot in hosts.slots() {
                            let slot = slot as usize;
                            let absent = column.absent_rows().contains(slot);
                            call.integers.push(match absent {
                                true => 0,
                                false => self.dictionary.inventory_code(
                                    values[slot],
                                    texts,
                                    &mut call.texts,
                                ),
                            });
                        }
                    }
                    (HostRows::All(count), _) => {
                        call.integers.extend_from_slice(&values[..count as usize]);
                    }
                    (HostRows::List(slots), _) => call
                        .integers
                        .extend(slots.iter().map(|slot| values[*slot as usize])),
                }
                if !column.is_complete() {
                    note_absent(
                        self.hosts,
                        column.absent_rows(),
                        base,
                        &mut call.absent_integers,
                    );
                }
            }
        }
    }

    fn column(
        &mut self,
        plan: &ReadPlan,
        table: &TablePlan,
        column: &ColumnPlan,
    ) -> Result<(), Incomplete> {
        let this = self.levels.len() - 1;
        for row in 0..self.levels[this].len() {
            let cell = self.levels[this].cell(row, column, self.context.inventory);
            let cell = cell.filter(|cell| cell.fits(column.kind));
            if cell.is_none() && column.required {
                match self.host_of(plan, this, row) {
                    Some(host) => self.incomplete.push(host),
                    None => {
                        return Err(Incomplete::Table {
                            table: table.name.to_string(),
                            column: column.name.to_string(),
                        });
                    }
                }
            }
            self.push(column.kind, cell);
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, cell: Option<CellRef<'_>>) {
        let call = &mut *self.call;
        match (kind, cell) {
            (Kind::Number, Some(CellRef::Number(value))) => call.numbers.push(value + 0.0),
            (Kind::Number, _) => {
                call.absent_numbers.push(position(call.numbers.len()));
                call.numbers.push(0.0);
            }
            (_, Some(CellRef::Integer(value))) => call.integers.push(value),
            (_, Some(CellRef::Boolean(value))) => call.integers.push(i64::from(value)),
            (_, Some(CellRef::Text(text))) => {
                let code = self.dictionary.code(text, &mut call.texts);
                call.integers.push(code);
            }
            (_, Some(CellRef::Word(word))) => {
                let code = self.dictionary.code(&word.into(), &mut call.texts);
                call.integers.push(code);
            }
            _ => {
                call.absent_integers.push(position(call.integers.len()));
                call.integers.push(0);
            }
        }
    }

    /// The row of hosts above a row of a table below it.
    fn host_of(&self, plan: &ReadPlan, table: usize, row: usize) -> Option<u32> {
        let parent = plan.tables[table].parent?;
        if !plan.tables[table].is_below(plan.hosts?, plan) {
            return None;
        }
        let offsets = &self.call.integers[self.offsets(plan, table)..];
        let offsets = &offsets[..=self.levels[parent].len()];
        let above = offsets.partition_point(|offset| *offset <= row as i64) - 1;
        match plan.tables[parent].source {
            Source::Hosts => u32::try_from(above).ok(),
            _ => self.host_of(plan, parent, above),
        }
    }

    /// Where the offsets of a table begin in `call.integers`.
    fn offsets(&self, plan: &ReadPlan, table: usize) -> usize {
        let tables = plan.tables.iter().zip(&self.levels).take(table);
        let integers = tables.map(|(table, level)| {
            if let Some(fixed) = &table.fixed {
                return fixed.integers();
            }
            let columns = table.columns.iter();
            let columns = columns.filter(|column| column.kind != Kind::Number);
            let offsets = table
                .parent
                .map_or(0, |parent| self.levels[parent].len() + 1);
            offsets + columns.count() * level.len()
        });
        integers.sum()
    }
}

fn top_level<'a>(table: &TablePlan, context: Context<'a>, hosts: HostRows<'a>) -> Level<'a> {
    let Context {
        inventory, subject, ..
    } = context;
    match (table.source, subject) {
        (Source::Hosts, _) => Level::Hosts(hosts.len()),
        (Source::Cluster, _) => Level::Cluster(inventory),
        (Source::Settings, _) => Level::Settings(context.settings),
        (Source::Request, _) => Level::Request {
            request: subject.map(|subject| subject.request),
            now: context.now,
            draw: subject.map(|subject| subject.draw),
        },
        (Source::Members, Some(subject)) => Level::Members(&subject.members),
        (Source::Groups, Some(subject)) => Level::Groups(&subject.groups),
        (Source::Tenant, Some(subject)) => match subject.request.facts.text("tenant") {
            Some(id) => Level::Tenant(id, inventory.tenant(id)),
            None => Level::Empty,
        },
        (Source::Sources, Some(subject)) => Level::Sources(
            (0i64..)
                .zip(&subject.members)
                .filter_map(|(member, m)| Some((member, m.slot?)))
                .collect(),
        ),
        (Source::Candidates, _) => match context.candidates {
            Some(candidates) => Level::Candidates(candidates, hosts),
            None => Level::Empty,
        },
        (Source::Groups, None) => Level::AllGroups(inventory.groups().collect()),
        _ => Level::Empty,
    }
}

fn note_absent(hosts: HostRows<'_>, absent: &FixedBitSet, base: usize, positions: &mut Vec<u32>) {
    match hosts {
        HostRows::All(_) => positions.extend(absent.ones().map(|row| position(base + row))),
        HostRows::List(slots) => {
            let rows = slots.iter().enumerate();
            positions.extend(
                rows.filter(|(_, slot)| absent.contains(**slot as usize))
                    .map(|(row, _)| position(base + row)),
            );
        }
    }
}

fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The value of a fact as a cell of a call.
fn cell_of(value: &Value) -> CellRef<'_> {
    match value {
        Value::Integer(value) => CellRef::Integer(*value),
        Value::Number(value) => CellRef::Number(*value),
        Value::Boolean(value) => CellRef::Boolean(*value),
        Value::Text(text) => CellRef::Text(text),
    }
}
