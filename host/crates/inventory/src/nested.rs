//! The rows of tables below hosts, stored as columns of all hosts, so that they
//! cross to a unit by a copy of memory.
//!
//! Only tables that a unit reads are stored so, beside the hosts' facts, from which
//! they can be made again at any time.

use std::ops::Range;
use std::sync::Arc;

use super::gpus::{self, Gpu};
use super::growth;
use super::nodes;
use super::weight;
use super::{Aspects, Cell, Column, HostEntry, Inventory, Texts, VmEntry};
use placewright_model::{Facts, Kind, Value};

/// The table whose `used` and `pending` follow from VMs.
pub(super) const AMOUNTS: &str = "amounts";

/// The table whose `pending` and `memory.pending` follow from VMs.
pub(super) const HUGE_PAGES: &str = "huge-pages";

/// The table whose `taken` and `free` follow from VMs.
pub(super) const GPUS: &str = "gpus";

/// The table whose `memory.promised`, `memory.pending`, `cpus.promised`, `cpus.pending` and
/// `cpus.sharers` follow from VMs.
pub(super) const NUMA_NODES: &str = "numa-nodes";

/// The table of huge pages of nodes that are promised, all of which follows from VMs.
pub(super) const PROMISED_NODE_PAGES: &str = "numa-huge-pages";

/// The operator's own table of the huge pages of nodes: node, size, and how many are free.
pub(super) const NODE_PAGES: &str = "attribute.numa-huge-pages";

/// The table of virtual functions of network cards that are promised, all of which follows from
/// VMs.
pub(super) const PROMISED_FUNCTIONS: &str = "virtual-functions";

/// The operator's own table of virtual functions of network cards: network, and how many are
/// free.
pub(super) const FUNCTIONS: &str = "attribute.virtual-functions";

/// The table of CPUs, of which the nodes' `cpus` are counted.
pub(super) const CPUS: &str = "cpus";

/// The table of the CPUs that VMs are pinned to.
pub(super) const PINS: &str = "pins";

/// One table below hosts: the rows of all hosts, those of a host together.
#[derive(Debug, Clone)]
pub struct Nested {
    pub(super) table: Arc<str>,
    names: Vec<Arc<str>>,
    columns: Vec<Column>,
    /// By slot of the host: its first row, and how many it has.
    spans: Vec<(u32, u32)>,
    /// How many rows there are, unused ones included.
    rows: usize,
    /// Whether the rows stand in the order of slots without gaps.
    packed: bool,
}

impl Nested {
    fn new(table: Arc<str>, columns: impl Iterator<Item = (Arc<str>, Kind)>) -> Self {
        let (names, columns) = columns
            .map(|(name, kind)| (name, Column::absent(kind, 0)))
            .unzip();
        Self {
            table,
            names,
            columns,
            spans: Vec::new(),
            rows: 0,
            packed: true,
        }
    }

    /// The number of a column.
    #[inline]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| **known == *name)
    }

    /// A column, by its number; a row for every row of the table.
    pub fn column(&self, index: usize) -> &Column {
        &self.columns[index]
    }

    /// The rows of the host in that slot.
    #[inline]
    pub fn span(&self, slot: u32) -> Range<usize> {
        let (first, count) = self.spans.get(slot as usize).copied().unwrap_or((0, 0));
        first as usize..(first + count) as usize
    }

    /// Whether no host has a row.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|(_, count)| *count == 0)
    }

    /// How many rows there are, if those of all hosts stand in the order of slots
    /// without gaps.
    #[inline]
    pub fn packed_rows(&self) -> Option<usize> {
        self.packed.then_some(self.rows)
    }

    /// By slot of the host: its first row.
    #[inline]
    pub fn first_rows(&self) -> impl ExactSizeIterator<Item = u32> {
        self.spans.iter().map(|(first, _)| *first)
    }

    /// Put another code in the place of each of the texts.
    pub(super) fn recode(&mut self, mut code: impl FnMut(i64) -> i64) {
        let columns = self.columns.iter_mut();
        for column in columns.filter(|column| column.kind() == Kind::Text) {
            column.recode(&mut code);
        }
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes_of(self.rows)
    }

    /// Bytes that so many rows take.
    pub(super) fn bytes_of(&self, rows: usize) -> u64 {
        weight::of_cells(rows, self.columns.len())
    }

    /// Make place for the rows of a host.
    fn place(&mut self, slot: u32, count: usize) -> Range<usize> {
        let slot = slot as usize;
        while self.spans.len() <= slot {
            let end = u32::try_from(self.rows).unwrap_or(u32::MAX);
            self.spans.push((end, 0));
        }
        let (_, held) = self.spans[slot];
        if held as usize != count {
            let is_last = slot + 1 == self.spans.len();
            self.packed &= is_last && held == 0;
            let first = u32::try_from(self.rows).unwrap_or(u32::MAX);
            self.spans[slot] = (first, u32::try_from(count).unwrap_or(u32::MAX));
            self.rows += count;
            for column in &mut self.columns {
                for _ in 0..count {
                    column.push_absent();
                }
            }
        }
        self.span(u32::try_from(slot).unwrap_or(u32::MAX))
    }

    /// Whether a row has another value now.
    fn set_amounts(&mut self, slot: u32, host: &HostEntry, texts: &mut Texts) -> bool {
        let mut changed = self.span(slot).len() != host.amounts.len();
        let rows = self.place(slot, host.amounts.len());
        for (row, amount) in rows.zip(&host.amounts) {
            for (name, column) in self.names.iter().zip(&mut self.columns) {
                let cell = match &**name {
                    "name" => i64::from(texts.code(&amount.name)),
                    "total" => amount.total,
                    "used" => amount.used,
                    "free" => (amount.total)
                        .saturating_sub(amount.used)
                        .saturating_sub(amount.pending),
                    _ => amount.pending,
                };
                changed |= column.set(row, Some(Cell::Integer(cell)));
            }
        }
        changed
    }

    /// Whether a row has another value now.
    fn set_gpus(&mut self, slot: u32, host: &HostEntry, vms: &[Option<VmEntry>]) -> bool {
        let gpus = gpus::taken(host, vms);
        let mut changed = self.span(slot).len() != gpus.len();
        let rows = self.place(slot, gpus.len());
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            let cell: fn(&Gpu) -> Option<i64> = match &**name {
                "index" => |gpu| gpu.index,
                "taken" => |gpu| Some(gpu.taken),
                _ => |gpu| Some(gpu.free()),
            };
            for (row, gpu) in rows.clone().zip(&gpus) {
                changed |= column.set(row, cell(gpu).map(Cell::Integer));
            }
        }
        changed
    }

    /// Whether a row has another value now.
    fn set_facts(&mut self, slot: u32, facts: &[Facts], texts: &mut Texts) -> bool {
        let mut changed = self.span(slot).len() != facts.len();
        let rows = self.place(slot, facts.len());
        for (row, facts) in rows.zip(facts) {
            for (name, column) in self.names.iter().zip(&mut self.columns) {
                let cell = match facts.get(name) {
                    Some(Value::Integer(value)) => Some(Cell::Integer(*value)),
                    Some(Value::Number(value)) => Some(Cell::Number(*value)),
                    Some(Value::Boolean(value)) => Some(Cell::Integer(i64::from(*value))),
                    Some(Value::Text(text)) => Some(Cell::Integer(i64::from(texts.code(text)))),
                    None => None,
                };
                changed |= column.set(row, cell);
            }
        }
        changed
    }

    /// Whether a row has, or may have, another value now.
    fn set(
        &mut self,
        slot: u32,
        host: Option<&HostEntry>,
        vms: &[Option<VmEntry>],
        texts: &mut Texts,
    ) -> bool {
        match host {
            None => {
                let held = self.span(slot).len();
                self.place(slot, 0);
                held > 0
            }
            Some(host) if *self.table == *AMOUNTS => self.set_amounts(slot, host, texts),
            Some(host) if *self.table == *GPUS => self.set_gpus(slot, host, vms),
            Some(host) if *self.table == *PROMISED_NODE_PAGES => {
                self.set_node_pages(slot, host, vms)
            }
            Some(host) if *self.table == *PROMISED_FUNCTIONS => {
                self.set_functions(slot, host, vms, texts)
            }
            Some(host) => {
                let changed = self.set_facts(slot, host.facts.rows(&self.table), texts);
                if *self.table == *NUMA_NODES {
                    self.add_taken_nodes(slot, host, vms);
                    return true;
                }
                if *self.table == *HUGE_PAGES {
                    self.add_pending_pages(slot, host, vms);
                    return true;
                }
                changed
            }
        }
    }

    /// Add the pages that pending VMs need to what was given, and the memory that is to be in
    /// them. Pages of a size that the host does not have are the concern of filters.
    fn add_pending_pages(&mut self, slot: u32, host: &HostEntry, vms: &[Option<VmEntry>]) {
        let index = |name| self.column_index(name);
        let columns = ["size", "pending", "memory.pending"].map(index);
        let [Some(size), Some(pending), Some(memory)] = columns else {
            return;
        };
        let rows = self.span(slot);
        for row in rows.clone() {
            self.columns[pending].add(row, 0);
            self.columns[memory].add(row, 0);
        }
        let waiting = growth::with_held(host, vms)
            .filter(|(entry, _)| entry.pending || entry.waits_for_pages());
        let mut add = |column: usize, wanted: i64, amount: i64| {
            let found = rows
                .clone()
                .find(|row| self.columns[size].integer(*row) == Some(wanted));
            if let Some(row) = found {
                self.columns[column].add(row, amount);
            }
        };
        for (entry, held) in waiting {
            let taken = match held {
                None if entry.pending => entry.huge_pages().collect::<Vec<_>>(),
                None => entry.unmeasured_pages(),
                Some(held) => growth::beyond(entry.huge_pages(), held.huge_pages()),
            };
            for (wanted, count) in taken {
                add(pending, wanted, count);
            }
            // The memory of those that run is in no sum of pending ones.
            if entry.pending {
                for (wanted, bytes) in growth::memory_in_pages(entry, held) {
                    add(memory, wanted, bytes);
                }
            }
        }
    }

    /// Add the memory that VMs take of nodes, and the CPUs that they have there for themselves, to
    /// what was given.
    fn add_taken_nodes(&mut self, slot: u32, host: &HostEntry, vms: &[Option<VmEntry>]) {
        let names = [
            "memory.promised",
            "memory.pending",
            "memory.free",
            "cpus",
            "cpus.promised",
            "cpus.pending",
            "cpus.sharers",
        ];
        let columns = names.map(|name| self.column_index(name));
        let [
            promised,
            pending,
            free,
            cpus,
            cpus_promised,
            cpus_pending,
            sharers,
        ] = columns;
        let rows = self.span(slot);
        let mut add = |column: Option<usize>, place: usize, amount: i64| {
            if let Some(column) = column {
                self.columns[column].add(rows.start + place, amount);
            }
        };
        let nodes = nodes::of_host(host, vms);
        for (place, node) in nodes.iter().enumerate() {
            add(promised, place, node.memory.promised);
            add(pending, place, node.memory.pending);
            // What was given of these is in the sums already.
            add(cpus_promised, place, node.cpus.promised);
            add(cpus_pending, place, node.cpus.pending);
            add(sharers, place, node.cpus.sharers);
        }
        for (row, node) in rows.zip(nodes) {
            if let Some(column) = cpus {
                self.columns[column].set(row, node.cpus.all.map(Cell::Integer));
            }
            if let Some(column) = free.filter(|_| node.memory.unshown > 0)
                && let Some(measured) = self.columns[column].integer(row)
            {
                let left = measured.saturating_sub(node.memory.unshown).max(0);
                self.columns[column].set(row, Some(Cell::Integer(left)));
            }
        }
    }

    /// Whether a row has another value now.
    fn set_node_pages(&mut self, slot: u32, host: &HostEntry, vms: &[Option<VmEntry>]) -> bool {
        let promised = nodes::promised_pages(host, vms);
        let mut changed = self.span(slot).len() != promised.len();
        let rows = self.place(slot, promised.len());
        for (row, pages) in rows.zip(promised) {
            for (name, column) in self.names.iter().zip(&mut self.columns) {
                let cell = match &**name {
                    "node" => pages.node,
                    "size" => pages.size,
                    _ => pages.count,
                };
                changed |= column.set(row, Some(Cell::Integer(cell)));
            }
        }
        changed
    }

    /// Whether a row has another value now.
    fn set_functions(
        &mut self,
        slot: u32,
        host: &HostEntry,
        vms: &[Option<VmEntry>],
        texts: &mut Texts,
    ) -> bool {
        let waiting = growth::with_held(host, vms).filter(|(entry, _)| entry.waits_for_functions());
        let taken = waiting.flat_map(|(entry, held)| match held {
            None if entry.pending => entry.functions(),
            None => entry.unmeasured_functions(),
            Some(held) => {
                growth::beyond(entry.functions().into_iter(), held.functions().into_iter())
            }
        });
        let mut promised = growth::beyond(taken, std::iter::empty());
        promised.sort_unstable();
        let mut changed = self.span(slot).len() != promised.len();
        let rows = self.place(slot, promised.len());
        for (row, (network, count)) in rows.zip(promised) {
            for (name, column) in self.names.iter().zip(&mut self.columns) {
                let cell = match &**name {
                    "network" => i64::from(texts.code(&network)),
                    _ => count,
                };
                changed |= column.set(row, Some(Cell::Integer(cell)));
            }
        }
        changed
    }

    /// Whether more of the rows are unused than used.
    fn is_sparse(&self) -> bool {
        let used: usize = self.spans.iter().map(|(_, count)| *count as usize).sum();
        self.rows > 2 * used + 64
    }
}

impl Inventory {
    /// A table below hosts that is stored in columns.
    pub fn nested(&self, index: usize) -> &Nested {
        &self.nested[index]
    }

    /// The number of the table `hosts/TABLE`, which is stored in columns from now
    /// on; None if there is no such table.
    pub fn ensure_nested(&mut self, table: &str) -> Option<usize> {
        let known = self.nested.iter().position(|it| *it.table == *table);
        if known.is_some() {
            return known;
        }
        let schema = self.schema.clone();
        let of_schema = schema.table(&format!("hosts/{table}"))?;
        let columns = of_schema.columns.iter();
        let columns = columns.map(|column| (column.name.clone(), column.kind));
        self.nested.push(Nested::new(table.into(), columns));
        let index = self.nested.len() - 1;
        self.rebuild_nested(index);
        Some(index)
    }

    fn rebuild_nested(&mut self, index: usize) {
        let nested = &mut self.nested[index];
        let columns: Vec<_> = nested.columns.iter().map(Column::kind).collect();
        let columns = nested.names.iter().cloned().zip(columns);
        let mut fresh = Nested::new(nested.table.clone(), columns);
        for (slot, host) in (0u32..).zip(&self.hosts) {
            fresh.set(slot, host.as_deref(), &self.vms, &mut self.texts);
        }
        *nested = fresh;
    }

    /// The rows of a table below a host have changed.
    pub(super) fn renest(&mut self, slot: u32, table: &str) {
        let Some(index) = self.nested.iter().position(|it| *it.table == *table) else {
            return;
        };
        let host = self.hosts[slot as usize].as_deref();
        if self.nested[index].set(slot, host, &self.vms, &mut self.texts) {
            let aspects = Aspects::nested(index);
            self.changes.note(slot, aspects, self.hosts.len());
        }
        // Looked at rarely, since it takes a walk over the hosts.
        if self.version.is_multiple_of(1024) {
            self.mend_nested(index);
        }
    }

    /// What VMs take of the nodes of a host has changed.
    pub(super) fn renest_nodes(&mut self, slot: u32) {
        self.renest(slot, NUMA_NODES);
        self.renest(slot, PROMISED_NODE_PAGES);
    }

    /// Rows of a table below a host were given, and what follows from them has changed.
    pub(super) fn renest_given(&mut self, slot: u32, table: &str) {
        self.renest(slot, table);
        match table {
            CPUS => self.renest(slot, NUMA_NODES),
            NUMA_NODES => self.renest(slot, PROMISED_NODE_PAGES),
            // Who takes pages and memory is where there is enough of both.
            NODE_PAGES => self.renest_nodes(slot),
            _ => {}
        }
    }

    /// Give back rows that nobody uses, where there are more of them than of the others.
    pub(super) fn mend_nested(&mut self, index: usize) {
        if !self.nested[index].packed && self.nested[index].is_sparse() {
            self.rebuild_nested(index);
        }
    }

    /// The host in that slot has come or gone.
    pub(super) fn renest_all(&mut self, slot: u32) {
        for nested in &mut self.nested {
            let host = self.hosts[slot as usize].as_deref();
            nested.set(slot, host, &self.vms, &mut self.texts);
        }
    }
}

#[cfg(test)]
mod tests;
