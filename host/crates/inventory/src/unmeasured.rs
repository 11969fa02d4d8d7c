//! What VMs take that have come to run on a host since it was last measured: no measurement
//! shows it yet, so it is counted against what was measured until a later one does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::growth::{self, Taken};
use super::host::UnmeasuredMemory;
use super::journal::Undo;
use super::nested::{HUGE_PAGES, NODE_PAGES, NUMA_NODES};
use super::vm::VmEntry;
use super::{Aspects, Cell, Inventory, Shape};
use placewright_model::Facts;

/// The column of hosts that is measured and less by what is not measured yet.
pub(super) const MEMORY_FREE: &str = "memory.free";

/// The column of hosts that is less by what VMs not measured yet take beyond the free memory.
pub(super) const SWAP_FREE: &str = "swap.free";

/// The column of hosts that has the load of all that runs there.
pub(super) const CPU_USAGE: &str = "cpu.usage";

/// What a VM that runs takes of its host that no measurement shows yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Unmeasured {
    /// Second in which it came to run there, or to run with other amounts.
    since: i64,
    /// Ordinary memory, bytes.
    memory: i64,
    /// Whether no measurement shows that it runs there at all, nor the overhead of its memory, which a
    /// VM has too that lies in huge pages alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    whole: bool,
    /// Whether huge pages of it are in no measurement.
    pages: bool,
    /// Whether anything that it takes of NUMA nodes is in none.
    nodes: bool,
    /// Whether huge pages of NUMA nodes that it takes are in none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    node_pages: bool,
    /// Whether load of CPUs of it is in none.
    #[serde(default)]
    load: bool,
    /// What measurements show of it all the same: it ran there with less before. Few VMs have
    /// grown since their host was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<Box<Shown>>,
}

/// Huge pages of a virtual node: the host's nodes that it may be put on; the size of its pages in
/// bytes, and how many.
pub(super) type NodePages = (Vec<i64>, Vec<(i64, i64)>);

/// What measurements show of a VM that takes more than that by now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Shown {
    /// Huge pages: their size in bytes, and how many.
    pages: Vec<(i64, i64)>,
    /// Virtual NUMA nodes: the host's nodes that each may be put on, and its memory in bytes.
    nodes: Vec<(Vec<i64>, i64)>,
    /// The huge pages of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node_pages: Vec<NodePages>,
    /// vCPUs that share CPUs with others.
    vcpus: i64,
    /// Their load, millicores; None: it has none, or none was measured.
    load: Option<i64>,
}

impl Shown {
    /// What measurements show of a VM that runs.
    fn of(entry: &VmEntry) -> Self {
        let unmeasured = entry.unmeasured.as_ref();
        let known = unmeasured.and_then(|it| it.shown.as_deref()).cloned();
        let known = known.unwrap_or_default();
        let taken = Taken::of(&entry.shape);
        let has_usage = !unmeasured.is_some_and(|it| it.load);
        Self {
            pages: match entry.has_unmeasured_pages() {
                true => known.pages,
                false => entry.huge_pages().collect(),
            },
            nodes: match entry.has_unmeasured_nodes() {
                true => known.nodes,
                false => entry.numa_nodes().collect(),
            },
            node_pages: match unmeasured.is_some_and(|it| it.node_pages) {
                true => known.node_pages,
                false if !entry.takes_node_pages() => Vec::new(),
                false => entry.node_pages().collect(),
            },
            vcpus: if has_usage { taken.vcpus } else { known.vcpus },
            load: if has_usage { taken.load } else { known.load },
        }
    }

    /// The same of load alone.
    fn taken(&self) -> Taken {
        Taken {
            vcpus: self.vcpus,
            load: self.load,
            ..Taken::default()
        }
    }
}

impl Unmeasured {
    /// Of a VM that comes to run as it is in `entry`, where it has run as in `held` before, on a
    /// host whose use of CPUs is measured or not.
    fn of(entry: &VmEntry, held: Option<&VmEntry>, has_usage: bool, now: i64) -> Option<Self> {
        let memory = ordinary_memory(&entry.shape, &entry.vm.facts);
        let measured = held.map_or(0, |held| {
            let known = held.unmeasured.as_ref().map_or(0, |it| it.memory);
            ordinary_memory(&held.shape, &held.vm.facts).saturating_sub(known)
        });
        let shown = held.map(Shown::of).unwrap_or_default();
        let pages = growth::beyond(entry.huge_pages(), shown.pages.iter().copied());
        let nodes = growth::nodes_beyond(entry.numa_nodes(), shown.nodes.clone());
        let node_pages = growth::each_pages_beyond(entry.node_pages(), shown.node_pages.clone());
        let has_node_pages = node_pages.into_iter().any(|pages| !pages.is_empty());
        let load = Taken::of(&entry.shape).beyond(&shown.taken());
        let unmeasured = Self {
            since: now,
            memory: memory.saturating_sub(measured).max(0),
            whole: held.is_none_or(|held| held.unmeasured.as_ref().is_some_and(|it| it.whole)),
            pages: !pages.is_empty(),
            nodes: !nodes.is_empty(),
            node_pages: has_node_pages,
            // Its load grows with its vCPUs; what is measured of a VM itself is no growth.
            load: has_usage && load.vcpus > 0,
            shown: Some(Box::new(shown)),
        };
        let unmeasured = unmeasured.tidied();
        let was_unmeasured = held.and_then(|held| held.unmeasured.clone());
        // Where it takes what it took, it does so since when it did.
        match was_unmeasured {
            Some(before)
                if before
                    == (Self {
                        since: before.since,
                        ..unmeasured.clone()
                    }) =>
            {
                Some(before)
            }
            _ => Some(unmeasured).filter(|it| !it.is_nothing()),
        }
    }

    /// The same with what measurements show only of what they do not show all of.
    fn tidied(mut self) -> Self {
        if let Some(shown) = &mut self.shown {
            if !self.pages {
                shown.pages.clear();
            }
            if !self.nodes {
                shown.nodes.clear();
            }
            if !self.node_pages {
                shown.node_pages.clear();
            }
            if !self.load {
                (shown.vcpus, shown.load) = (0, None);
            }
        }
        self.shown = self.shown.filter(|shown| **shown != Shown::default());
        self
    }

    fn is_nothing(&self) -> bool {
        self.memory == 0
            && !self.whole
            && !self.pages
            && !self.nodes
            && !self.node_pages
            && !self.load
    }

    /// What is left when these columns and tables of the host were measured at a time; None:
    /// nothing.
    fn after(self, facts: &Facts, at: Option<i64>) -> Option<Self> {
        if at.is_some_and(|at| at <= self.since) {
            return Some(self);
        }
        let tells = |table: &str| facts.tables().any(|(name, _)| **name == *table);
        let left = Self {
            memory: match facts.get(MEMORY_FREE) {
                Some(_) => 0,
                None => self.memory,
            },
            whole: self.whole && facts.get(MEMORY_FREE).is_none(),
            pages: self.pages && !tells(HUGE_PAGES),
            nodes: self.nodes && !tells(NUMA_NODES),
            node_pages: self.node_pages && !tells(NODE_PAGES),
            load: self.load && facts.get(CPU_USAGE).is_none(),
            ..self
        };
        Some(left.tidied()).filter(|it| !it.is_nothing())
    }
}

/// What measurements show of a VM that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Measured {
    /// Ordinary memory, bytes.
    pub(super) memory: i64,
    /// Huge pages: their size in bytes, and how many.
    pub(super) pages: Vec<(i64, i64)>,
    /// Virtual NUMA nodes: the host's nodes that each may be put on, and its memory in bytes.
    pub(super) nodes: Vec<(Vec<i64>, i64)>,
    /// The huge pages of these.
    pub(super) node_pages: Vec<NodePages>,
    /// Names of devices.
    pub(super) devices: Vec<Arc<str>>,
    /// Numbers of the CPUs that it has for itself.
    pub(super) cpus: Vec<i64>,
}

impl Measured {
    pub(super) fn of(entry: &VmEntry) -> Self {
        let shown = Shown::of(entry);
        let devices = entry.vm.facts.rows("devices").iter();
        Self {
            memory: entry.measured_memory(),
            pages: shown.pages,
            nodes: shown.nodes,
            node_pages: shown.node_pages,
            devices: devices
                .filter_map(|row| Some(row.text("name")?.into()))
                .collect(),
            cpus: entry.own_cpus().collect(),
        }
    }
}

/// Memory that is not in huge pages.
fn ordinary_memory(shape: &Shape, facts: &Facts) -> i64 {
    let rows = facts.rows(HUGE_PAGES).iter();
    let pages = rows.filter_map(|row| Some((row.integer("size")?, row.integer("count")?)));
    pages
        .fold(shape.memory, |memory, (size, count)| {
            memory.saturating_sub(size.saturating_mul(count))
        })
        .max(0)
}

impl VmEntry {
    /// Whether its huge pages are taken, and in no measurement yet.
    pub(super) fn has_unmeasured_pages(&self) -> bool {
        self.unmeasured.as_ref().is_some_and(|it| it.pages)
    }

    /// The huge pages that it takes and no measurement shows yet: their size in bytes, and how
    /// many.
    pub(super) fn unmeasured_pages(&self) -> Vec<(i64, i64)> {
        let shown = self.shown().map_or(&[][..], |shown| &shown.pages);
        growth::beyond(self.huge_pages(), shown.iter().copied())
    }

    /// The memory in bytes that it takes of nodes and no measurement shows yet, one by one of
    /// its virtual nodes.
    pub(super) fn unmeasured_nodes(&self) -> Vec<i64> {
        let shown = self.shown().map_or_else(Vec::new, |it| it.nodes.clone());
        growth::each_node_beyond(self.numa_nodes(), shown)
            .map(|(_, memory)| memory)
            .collect()
    }

    /// The huge pages that it takes of nodes and no measurement shows yet, one by one of its
    /// virtual nodes; none where all are measured.
    pub(super) fn unmeasured_node_pages(&self) -> Vec<Vec<(i64, i64)>> {
        if !self.unmeasured.as_ref().is_some_and(|it| it.node_pages) {
            return Vec::new();
        }
        let shown = self
            .shown()
            .map_or_else(Vec::new, |it| it.node_pages.clone());
        growth::each_pages_beyond(self.node_pages(), shown).collect()
    }

    /// The load of CPUs of it that no measurement shows yet, if there is any.
    pub(super) fn unmeasured_load(&self) -> Option<Taken> {
        load_beyond(&self.shape, self.unmeasured.as_ref())
    }

    fn shown(&self) -> Option<&Shown> {
        self.unmeasured.as_ref()?.shown.as_deref()
    }

    /// Whether what it takes of NUMA nodes is in no measurement yet.
    pub(super) fn has_unmeasured_nodes(&self) -> bool {
        self.unmeasured.as_ref().is_some_and(|it| it.nodes)
    }

    /// Whether measurements show the load that it takes.
    pub fn has_measured_load(&self) -> bool {
        !self.unmeasured.as_ref().is_some_and(|it| it.load)
    }

    /// Memory of it that is not in huge pages and that measurements show, bytes.
    pub fn measured_memory(&self) -> i64 {
        let unmeasured = self.unmeasured.as_ref().map_or(0, |it| it.memory);
        self.ordinary_memory().saturating_sub(unmeasured).max(0)
    }

    /// Memory of it that is not in huge pages, bytes.
    pub fn ordinary_memory(&self) -> i64 {
        ordinary_memory(&self.shape, &self.vm.facts)
    }

    /// What it takes of its host's memory that no measurement shows.
    pub(super) fn unmeasured_memory(&self) -> UnmeasuredMemory {
        let bytes = self.unmeasured.as_ref().map_or(0, |it| it.memory);
        let is_whole = self.unmeasured.as_ref().is_some_and(|it| it.whole)
            || bytes > 0 && bytes >= self.ordinary_memory();
        UnmeasuredMemory {
            bytes: bytes.into(),
            vms: i64::from(is_whole),
        }
    }

    /// Second since when it takes what no measurement shows yet; None: all is measured.
    pub fn unmeasured_since(&self) -> Option<i64> {
        self.unmeasured.as_ref().map(|it| it.since)
    }
}

/// What is measured of a host and is given otherwise than it was.
fn given_anew(given: &Facts, known: &Facts) -> Facts {
    let mut anew = Facts::new();
    for column in [MEMORY_FREE, CPU_USAGE] {
        if let Some(value) = given.get(column).filter(|it| known.get(column) != Some(it)) {
            anew.set(column, value.clone());
        }
    }
    for table in [HUGE_PAGES, NUMA_NODES, NODE_PAGES] {
        let rows = given.rows(table);
        if rows != known.rows(table) {
            anew.set_rows(table, rows.to_vec());
        }
    }
    anew
}

/// What a VM of this shape takes of CPUs beyond what was measured; None: all is measured.
fn load_beyond(shape: &Shape, unmeasured: Option<&Unmeasured>) -> Option<Taken> {
    let unmeasured = unmeasured.filter(|it| it.load)?;
    let taken = Taken::of(shape);
    Some(match &unmeasured.shown {
        None => taken,
        Some(shown) => taken.beyond(&shown.taken()),
    })
}

impl Inventory {
    /// From now on what came to run longer ago than so many seconds counts as measured; None:
    /// when it is measured.
    pub fn set_unmeasured_max_age(&mut self, seconds: Option<i64>) {
        self.unmeasured_max_age = seconds;
        self.end_unmeasured();
    }

    /// What a VM that comes to run takes that no measurement shows.
    pub(super) fn unmeasured_of(
        &self,
        entry: &VmEntry,
        held: Option<&VmEntry>,
    ) -> Option<Unmeasured> {
        Unmeasured::of(entry, held, self.has_usage(entry.slot), self.clock)
    }

    /// Whether the use of a host's CPUs is measured.
    pub(super) fn has_usage(&self, slot: u32) -> bool {
        let host = self.host(slot);
        host.is_some_and(|host| host.facts.get(CPU_USAGE).is_some())
    }

    /// The use of a host's CPUs as it was at a time is the first that is known: it does not show
    /// the load of what came to run there later, when none was known.
    pub(super) fn note_load_not_shown(&mut self, slot: u32, at: i64) {
        let Some(host) = self.host(slot) else {
            return;
        };
        let later = host.vms.iter().filter_map(|index| {
            let entry = self.vms[*index as usize].as_ref()?;
            let unmeasured = entry.unmeasured.as_ref()?;
            let is_later = unmeasured.since >= at && !unmeasured.load;
            (is_later && Taken::of(&entry.shape).vcpus > 0).then(|| {
                let load = Unmeasured {
                    load: true,
                    ..unmeasured.clone()
                };
                (*index, load)
            })
        });
        for (index, unmeasured) in later.collect::<Vec<_>>() {
            self.change_unmeasured(index, Some(unmeasured));
        }
    }

    /// What came to run long ago counts as measured.
    pub(super) fn end_unmeasured(&mut self) {
        let Some(age) = self.unmeasured_max_age else {
            return;
        };
        let since = self.clock.saturating_sub(age);
        while let Some((began, index)) = self.unmeasured.first().copied() {
            if began >= since {
                break;
            }
            self.change_unmeasured(index, None);
        }
    }

    /// When the clock has gone back, what came to run later than now came now: else no
    /// measurement would be later for as long.
    pub(super) fn time_unmeasured_anew(&mut self) {
        let now = self.clock;
        let ahead = self.unmeasured.iter().filter(|(since, _)| *since > now);
        let ahead: Vec<u32> = ahead.map(|(_, index)| *index).collect();
        for index in ahead {
            let entry = self.vms[index as usize].as_ref();
            let known = entry.and_then(|entry| entry.unmeasured.clone());
            self.change_unmeasured(index, known.map(|it| Unmeasured { since: now, ..it }));
        }
    }

    /// The first second in which something counts as measured by its age; None: nothing does.
    pub fn next_measured(&self) -> Option<i64> {
        let (since, _) = self.unmeasured.first()?;
        let age = self.unmeasured_max_age?;
        Some(since.saturating_add(age).saturating_add(1))
    }

    /// What was measured of a host shows what came to run there before `at`; None: an operator
    /// says so, and it counts as of now.
    pub(super) fn note_shown(&mut self, slot: u32, measured: &Facts, at: Option<i64>) {
        let Some(host) = self.host(slot) else {
            return;
        };
        let entries = host.vms.iter().copied().filter(|index| {
            let entry = self.vms[*index as usize].as_ref();
            entry.is_some_and(|entry| entry.unmeasured.is_some())
        });
        for index in entries.collect::<Vec<_>>() {
            let entry = self.vms[index as usize].as_ref();
            let Some(known) = entry.and_then(|entry| entry.unmeasured.clone()) else {
                continue;
            };
            let unmeasured = known.clone().after(measured, at);
            if unmeasured.as_ref() != Some(&known) {
                self.change_unmeasured(index, unmeasured);
            }
        }
    }

    /// Take over from `old` what no measurement shows. Of a VM that runs here where it had a place
    /// reserved in `old`, or ran with other amounts, it is as if it had been put there by itself;
    /// and what is given of a host otherwise than in `old` shows all that runs there.
    pub fn unmeasured_as_in(&mut self, old: &Inventory) {
        let changed = self.running.iter().filter_map(|(id, index)| {
            let entry = self.vms[*index as usize].as_ref()?;
            let slot = old.slot(&self.host(entry.slot)?.id)?;
            let held = old.running(id).filter(|held| held.slot == slot);
            let was_reserved = old.pending(id).is_some_and(|it| it.slot == slot);
            let has_changed = held.is_some_and(|held| held.vm.facts != entry.vm.facts);
            (was_reserved || has_changed).then(|| (*index, self.unmeasured_of(entry, held)))
        });
        for (index, unmeasured) in changed.collect::<Vec<_>>() {
            self.change_unmeasured(index, unmeasured);
        }
        for (_, known) in old.hosts() {
            let slot = self.slot(&known.id);
            let shown = slot
                .and_then(|slot| Some((slot, given_anew(&self.host(slot)?.facts, &known.facts))));
            if let Some((slot, shown)) = shown {
                self.note_shown(slot, &shown, None);
            }
        }
    }

    /// Count the load of a VM as measured where it runs. What no measurement shows of its memory, of
    /// its huge pages and of NUMA nodes stays so; if it just came there, none shows any.
    pub fn count_load_as_measured(&mut self, vm: &str, came: bool) {
        let Some(index) = self.running.get(vm).copied() else {
            return;
        };
        let Some(entry) = self.vms[index as usize].as_ref() else {
            return;
        };
        let unmeasured = match came {
            true => Unmeasured::of(entry, None, false, self.clock),
            false => entry.unmeasured.clone(),
        };
        let rest = unmeasured.map(|it| Unmeasured { load: false, ..it });
        let rest = rest.filter(|it| !it.is_nothing());
        if rest != entry.unmeasured {
            self.change_unmeasured(index, rest);
        }
    }

    /// From now on this is what no measurement shows of the VM in that place.
    fn change_unmeasured(&mut self, index: u32, unmeasured: Option<Unmeasured>) {
        if let Some((id, old)) = self.put_unmeasured(index, unmeasured) {
            self.changed(Undo::Unmeasured { id, old });
        }
    }

    /// Bring back what no measurement showed of a VM that runs.
    pub(super) fn bring_back_unmeasured(&mut self, id: &str, old: Option<Unmeasured>) {
        if let Some(index) = self.running.get(id).copied() {
            self.put_unmeasured(index, old);
        }
    }

    /// Count anew what no measurement shows of the VM in that place. Its id, and what it was
    /// before.
    fn put_unmeasured(
        &mut self,
        index: u32,
        unmeasured: Option<Unmeasured>,
    ) -> Option<(Arc<str>, Option<Unmeasured>)> {
        let entry = self.vms[index as usize].as_mut()?;
        let (id, slot, shape) = (entry.vm.id.clone(), entry.slot, entry.shape);
        let before = entry.unmeasured.as_ref();
        let load = [before, unmeasured.as_ref()].map(|it| load_beyond(&shape, it));
        let has = |it: fn(&Unmeasured) -> bool| {
            before.is_some_and(it) || unmeasured.as_ref().is_some_and(it)
        };
        let (pages, nodes) = (has(|it| it.pages), has(|it| it.nodes || it.node_pages));
        let since = unmeasured.as_ref().map(|it| it.since);
        let memory = entry.unmeasured_memory();
        let old = std::mem::replace(&mut entry.unmeasured, unmeasured);
        let memory = entry.unmeasured_memory().and(memory, -1);
        if let Some(host) = self.host_mut(slot) {
            host.unmeasured = host.unmeasured.and(memory, 1);
        }
        for (load, by) in load.into_iter().zip([-1, 1]) {
            if let Some(load) = load {
                self.count_unmeasured_load(slot, &load, by);
            }
        }
        if let Some(old) = &old {
            self.unmeasured.remove(&(old.since, index));
        }
        if let Some(since) = since {
            self.unmeasured.insert((since, index));
        }
        self.note(slot, Aspects::VMS);
        self.count_unmeasured_memory(slot);
        if pages {
            self.renest(slot, HUGE_PAGES);
        }
        if nodes {
            self.renest_nodes(slot);
        }
        self.watch_host(slot);
        Some((id, old))
    }

    /// Count the load of a VM that no measurement shows in (`by` = 1) or out (`by` = -1).
    pub(super) fn count_unmeasured_load(&mut self, slot: u32, taken: &Taken, by: i64) {
        if by == 0 || taken.exclusive > 0 {
            return;
        }
        let (column, amount) = match taken.load {
            Some(load) => (self.sums.load_pending, load),
            None => (self.sums.vcpus_unmeasured, taken.vcpus),
        };
        self.add_cell(column, slot, by * amount);
    }

    /// The measured free memory of a host less what no measurement shows yet, and its swap less what
    /// that is beyond the free memory: what VMs take is given to none again.
    pub(super) fn count_unmeasured_memory(&mut self, slot: u32) {
        let Some(host) = self.host(slot) else {
            return;
        };
        let UnmeasuredMemory { bytes, vms } = host.unmeasured;
        #[cfg(test)]
        {
            let each = self.vms_of(host).map(VmEntry::unmeasured_memory);
            let counted = each.fold(UnmeasuredMemory::default(), |sum, it| sum.and(it, 1));
            assert_eq!(host.unmeasured, counted, "of host {}", host.id);
        }
        let memory = i64::try_from(bytes).unwrap_or(i64::MAX);
        let free = self.measured_host_value(slot, MEMORY_FREE);
        let swap = self.measured_host_value(slot, SWAP_FREE);
        let given = |column: &str| host.facts.integer(column).unwrap_or(0);
        let sums = [
            (
                self.sums.memory_unmeasured,
                given("memory.unmeasured").saturating_add(memory),
            ),
            (
                self.sums.vms_unmeasured,
                given("vms.unmeasured").saturating_add(vms),
            ),
        ];
        for (column, sum) in sums {
            self.set_cell(column, slot, Some(Cell::Integer(sum)));
        }
        let Some((column, free)) = free else {
            return;
        };
        let left = |of: i64, taken: i64| of.saturating_sub(taken).max(0).min(of);
        self.set_cell(column, slot, Some(Cell::Integer(left(free, memory))));
        if let Some((column, swap)) = swap {
            let beyond = memory.saturating_sub(free.max(0)).max(0);
            self.set_cell(column, slot, Some(Cell::Integer(left(swap, beyond))));
        }
    }

    /// What a host's column of integers has as it was measured, and the column's number.
    fn measured_host_value(&self, slot: u32, column: &str) -> Option<(usize, i64)> {
        let measured = self.host(slot)?.facts.integer(column)?;
        Some((self.column_index(column)?, measured))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Nested;
    use placewright_document::InventoryChanges;
    use placewright_model::schema::Schema;
    use placewright_model::{Host, Value, Vm};

    const GIB: i64 = 1 << 30;

    fn cluster() -> Inventory {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        let mut host = Host::new("h").with("memory.total", 64 * GIB);
        let pages = Facts::new().with("size", 2_i64 << 20).with("free", 100_i64);
        host.facts.push_row(HUGE_PAGES, pages);
        let node = Facts::new()
            .with("index", 0_i64)
            .with("memory.total", 32 * GIB)
            .with("memory.free", 10 * GIB);
        host.facts.push_row(NUMA_NODES, node);
        inventory.add_host(host).unwrap();
        inventory.advance(1000);
        report(&mut inventory, r#""memory.free": "10 GiB""#);
        for table in [HUGE_PAGES, NUMA_NODES] {
            inventory.ensure_nested(table).unwrap();
        }
        inventory
    }

    fn report(inventory: &mut Inventory, text: &str) {
        let text = format!(r#"{{"statistics": [{{"id": "h", {text}}}]}}"#);
        let changes = InventoryChanges::read(&text, "c.json", inventory.schema()).unwrap();
        inventory.change(changes).unwrap();
    }

    fn free(inventory: &Inventory) -> i64 {
        match inventory.host_value(0, MEMORY_FREE) {
            Some(Value::Integer(bytes)) => bytes / GIB,
            other => panic!("{other:?}"),
        }
    }

    fn in_table(inventory: &Inventory, table: usize, column: &str) -> i64 {
        let nested: &Nested = inventory.nested(table);
        let column = nested.column_index(column).unwrap();
        let row = nested.span(0).start;
        nested.column(column).integer(row).unwrap()
    }

    #[test]
    fn swap_is_less_by_what_vms_not_measured_yet_take_beyond_the_free_memory() {
        let mut inventory = cluster();
        report(
            &mut inventory,
            r#""memory.free": "3 GiB", "swap.free": "2 GiB""#,
        );
        let columns = [
            "memory.free",
            "swap.free",
            "memory.unmeasured",
            "vms.unmeasured",
        ];
        let seen = |inventory: &Inventory| {
            columns.map(|column| match inventory.host_value(0, column) {
                Some(Value::Integer(value)) if column != "vms.unmeasured" => value / GIB,
                Some(Value::Integer(value)) => value,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(seen(&inventory), [3, 2, 0, 0]);
        for id in ["v", "w"] {
            let vm = Vm::new(id).with("memory", 2 * GIB);
            inventory.reserve_vm(Arc::new(vm), "h", None).unwrap();
            inventory.confirm_vm(id).unwrap();
        }
        assert_eq!(seen(&inventory), [0, 1, 4, 2]);
        let transaction = inventory.begin();
        inventory.remove_vm("v").unwrap();
        assert_eq!(seen(&inventory), [1, 2, 2, 1]);
        inventory.roll_back(transaction);
        assert_eq!(seen(&inventory), [0, 1, 4, 2]);
        // Swap is measured, and memory is not.
        report(&mut inventory, r#""swap.free": "1 GiB""#);
        assert_eq!(seen(&inventory), [0, 0, 4, 2]);
        inventory.advance(1020);
        report(
            &mut inventory,
            r#""memory.free": "1 GiB", "swap.free": "1 GiB""#,
        );
        assert_eq!(seen(&inventory), [1, 1, 0, 0]);
    }

    #[test]
    fn a_vm_that_is_reported_with_other_memory_takes_that_much_less_what_is_measured() {
        let mut inventory = cluster();
        confirm(&mut inventory, Vm::new("v").with("memory", 5 * GIB));
        assert_eq!(free(&inventory), 5);
        let run = |inventory: &mut Inventory, gib: i64| {
            let vm = Vm::new("v").with("memory", gib * GIB);
            inventory.run_vm(vm, "h").unwrap();
        };
        run(&mut inventory, 1);
        assert_eq!(free(&inventory), 9);
        inventory.advance(1010);
        report(&mut inventory, r#""memory.free": "9 GiB""#);
        assert_eq!(free(&inventory), 9);
        run(&mut inventory, 4);
        assert_eq!(free(&inventory), 6);
        run(&mut inventory, 1);
        assert_eq!(free(&inventory), 9);
    }

    fn confirm(inventory: &mut Inventory, vm: Vm) {
        let id = vm.id.clone();
        inventory.reserve_vm(Arc::new(vm), "h", None).unwrap();
        inventory.confirm_vm(&id).unwrap();
    }

    fn vm(gib: i64) -> Vm {
        Vm::new("v").with("memory", gib * GIB)
    }

    #[test]
    fn who_is_put_where_a_place_was_reserved_is_unmeasured_until_another_value_is_given() {
        let mut old = cluster();
        old.reserve_vm(Arc::new(vm(4)), "h", None).unwrap();
        let put = |old: &Inventory, free: &str| {
            let mut put = cluster();
            report(&mut put, &format!("\"memory.free\": \"{free}\""));
            put.run_vm(vm(4), "h").unwrap();
            put.stays_as_in(old);
            put.unmeasured_as_in(old);
            put
        };
        let same = put(&old, "10 GiB");
        assert_eq!(free(&same), 6, "it has only just come to run");
        assert_eq!(free(&put(&same, "10 GiB")), 6, "that is nothing new");
        assert_eq!(free(&put(&same, "7 GiB")), 7, "that shows it");
        // Nothing was reserved for it: who put it there knows of it.
        assert_eq!(free(&put(&cluster(), "10 GiB")), 10);
        // One that is put with more has grown.
        let mut grown = cluster();
        grown.run_vm(vm(7), "h").unwrap();
        let mut before = cluster();
        before.run_vm(vm(4), "h").unwrap();
        grown.unmeasured_as_in(&before);
        assert_eq!(free(&grown), 7);
    }

    #[test]
    fn a_vm_in_huge_pages_alone_is_one_that_memory_does_not_show() {
        let unmeasured = |inventory: &Inventory| inventory.host_value(0, "vms.unmeasured");
        let mut inventory = cluster();
        let mut in_pages = Vm::new("v").with("memory", 64_i64 << 20);
        let pages = Facts::new().with("size", 2_i64 << 20).with("count", 32_i64);
        in_pages.facts.push_row(HUGE_PAGES, pages);
        confirm(&mut inventory, in_pages);
        assert_eq!(unmeasured(&inventory), Some(Value::Integer(1)));
        assert_eq!(free(&inventory), 10);
        inventory.advance(1010);
        report(
            &mut inventory,
            r#""memory.free": "9 GiB", "measured": 1010"#,
        );
        assert_eq!(unmeasured(&inventory), Some(Value::Integer(0)));
    }

    #[test]
    fn what_came_since_a_measurement_counts_until_a_later_one() {
        let mut inventory = cluster();
        confirm(&mut inventory, vm(4));
        assert_eq!(free(&inventory), 6);
        let before = inventory.version();
        // One of the same second may have been made before.
        report(&mut inventory, r#""memory.free": "10 GiB""#);
        assert_eq!(free(&inventory), 6);
        inventory.advance(1010);
        report(&mut inventory, r#""cpu.usage": 0.5, "measured": 1010"#);
        assert_eq!(free(&inventory), 6, "that says nothing of memory");
        report(
            &mut inventory,
            r#""memory.free": "7 GiB", "measured": 1010"#,
        );
        assert_eq!(free(&inventory), 7);
        assert_eq!(free(&inventory.at_version(before).unwrap()), 6);
        inventory.remove_vm("v").unwrap();
        assert_eq!(
            free(&inventory),
            7,
            "what has left is not free before it is measured"
        );
    }

    #[test]
    fn who_leaves_before_any_measurement_leaves_what_was_measured() {
        let mut inventory = cluster();
        confirm(&mut inventory, vm(4));
        inventory.remove_vm("v").unwrap();
        assert_eq!(free(&inventory), 10);
        confirm(&mut inventory, vm(40));
        assert_eq!(free(&inventory), 0, "never less than none");
    }

    #[test]
    fn growth_is_unmeasured_and_what_was_there_is_not() {
        let mut inventory = cluster();
        inventory.run_vm(vm(4), "h").unwrap();
        assert_eq!(free(&inventory), 10, "the operator knows of it");
        confirm(&mut inventory, vm(7));
        assert_eq!(free(&inventory), 7);
        // What is told of a VM leaves that as it is.
        let text = r#"{"vms": [{"id": "v", "name": "web"}]}"#;
        let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
        inventory.change(changes).unwrap();
        assert_eq!(free(&inventory), 7);
        let text = r#"{"hosts": [{"id": "h", "memory.free": "9 GiB"}]}"#;
        let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
        inventory.change(changes).unwrap();
        assert_eq!(free(&inventory), 9, "an operator says how it is");
        confirm(&mut inventory, vm(8));
        assert_eq!(free(&inventory), 8);
        let same = Some(Value::Integer(9 * GIB));
        inventory.set_host_value("h", MEMORY_FREE, same).unwrap();
        assert_eq!(
            free(&inventory),
            9,
            "and so does who embeds, with the same value"
        );
    }

    #[test]
    fn huge_pages_and_numa_nodes_are_taken_until_they_are_measured() {
        let mut inventory = cluster();
        let (pages, nodes) = (0, 1);
        let mut paged = vm(1);
        let row = Facts::new().with("size", 2_i64 << 20).with("count", 30_i64);
        paged.facts.push_row(HUGE_PAGES, row);
        confirm(&mut inventory, paged);
        assert_eq!(in_table(&inventory, pages, "pending"), 30);
        let mut divided = vm(3);
        divided.id = "w".into();
        let mut node = Facts::new().with("index", 0_i64).with("memory", 3 * GIB);
        node.push_row("host-nodes", Facts::new().with("index", 0_i64));
        divided.facts.push_row(NUMA_NODES, node);
        confirm(&mut inventory, divided);
        assert_eq!(in_table(&inventory, nodes, "memory.free"), 7 * GIB);
        assert_eq!(in_table(&inventory, nodes, "memory.promised"), 3 * GIB);
        let saved = inventory.saved_vm("w", false).unwrap();
        inventory.remove_vm("w").unwrap();
        inventory.restore_vm(saved).unwrap();
        assert_eq!(in_table(&inventory, nodes, "memory.free"), 7 * GIB);
        inventory.advance(1010);
        let before = inventory.version();
        report(
            &mut inventory,
            r#""huge-pages": [{"size": "2 MiB", "free": 70}],
               "numa-nodes": [{"index": 0, "memory": {"total": "32 GiB", "free": "8 GiB"}}]"#,
        );
        assert_eq!(in_table(&inventory, pages, "pending"), 0);
        assert_eq!(in_table(&inventory, nodes, "memory.free"), 8 * GIB);
        assert!(inventory.take_back(before));
        assert_eq!(in_table(&inventory, pages, "pending"), 30);
    }

    /// A VM with so many pages of 2 MiB, so much strict memory on node 0, and so many vCPUs.
    fn large(pages: i64, gib: i64, cores: i64) -> [Vm; 3] {
        let mut paged = Vm::new("p").with("memory", GIB);
        let row = Facts::new().with("size", 2_i64 << 20).with("count", pages);
        paged.facts.push_row(HUGE_PAGES, row);
        let mut divided = Vm::new("d").with("memory", gib * GIB);
        let mut node = Facts::new().with("index", 0_i64).with("memory", gib * GIB);
        node.push_row("host-nodes", Facts::new().with("index", 0_i64));
        divided.facts.push_row(NUMA_NODES, node);
        [paged, divided, Vm::new("b").with("cpu", cores * 1000)]
    }

    #[test]
    fn growth_of_pages_nodes_and_load_is_unmeasured_and_what_was_there_is_not() {
        let mut inventory = cluster();
        let measured = r#""cpu.usage": 0.25, "huge-pages": [{"size": "2 MiB", "free": 90}],
            "numa-nodes": [{"index": 0, "memory": {"total": "32 GiB", "free": "8 GiB"}}]"#;
        report(&mut inventory, r#""cpu.usage": 0.25"#);
        for vm in large(10, 2, 1) {
            confirm(&mut inventory, vm);
        }
        inventory.advance(1010);
        report(&mut inventory, measured);
        let taken = |inventory: &Inventory| {
            [
                in_table(inventory, 0, "pending"),
                in_table(inventory, 1, "memory.free") / GIB,
                in_table(inventory, 1, "memory.promised") / GIB,
                sums(inventory)[1],
            ]
        };
        assert_eq!(taken(&inventory), [0, 8, 2, 0]);
        for vm in large(25, 5, 12) {
            confirm(&mut inventory, vm);
        }
        assert_eq!(taken(&inventory), [15, 5, 5, 11]);
        // It grows once more before anything is measured, and is restored as it was.
        for vm in large(30, 6, 14) {
            confirm(&mut inventory, vm);
        }
        assert_eq!(taken(&inventory), [20, 4, 6, 13]);
        for id in ["p", "d", "b"] {
            let saved = inventory.saved_vm(id, false).unwrap();
            inventory.remove_vm(id).unwrap();
            inventory.restore_vm(saved).unwrap();
        }
        assert_eq!(taken(&inventory), [20, 4, 6, 13]);
        let before = inventory.version();
        inventory.advance(1020);
        report(&mut inventory, measured);
        assert_eq!(taken(&inventory), [0, 8, 6, 0]);
        assert!(inventory.take_back(before));
        assert_eq!(taken(&inventory), [20, 4, 6, 13]);
        for vm in large(5, 1, 1) {
            confirm(&mut inventory, vm);
        }
        assert_eq!(taken(&inventory), [0, 8, 1, 0], "what shrinks is measured");
    }

    #[test]
    fn pages_of_another_size_are_unmeasured() {
        let mut inventory = cluster();
        let paged = |size: i64| {
            let mut vm = vm(1);
            let row = Facts::new().with("size", size).with("count", 4_i64);
            vm.facts.push_row(HUGE_PAGES, row);
            vm
        };
        inventory.run_vm(paged(1 << 30), "h").unwrap();
        assert_eq!(in_table(&inventory, 0, "pending"), 0);
        confirm(&mut inventory, paged(2 << 20));
        assert_eq!(in_table(&inventory, 0, "pending"), 4);
    }

    #[test]
    fn a_host_that_is_given_back_as_it_was_read_shows_nothing_new() {
        let mut inventory = cluster();
        for vm in large(30, 4, 1) {
            confirm(&mut inventory, vm);
        }
        confirm(&mut inventory, vm(3));
        let taken = |inventory: &Inventory| {
            let nodes = in_table(inventory, 1, "memory.free") / GIB;
            [in_table(inventory, 0, "pending"), nodes, free(inventory)]
        };
        let before = taken(&inventory);
        assert_eq!(before[..2], [30, 6]);
        let give = |inventory: &mut Inventory, pages: i64, free: i64| {
            let text = format!(
                r#"{{"hosts": [{{"id": "h", "memory.free": "{free} GiB",
                "huge-pages": [{{"size": "2 MiB", "free": {pages}}}],
                "numa-nodes": [{{"index": 0, "memory": {{"total": "32 GiB", "free": "{free} GiB"}}}}]}}]}}"#
            );
            let changes = InventoryChanges::read(&text, "c.json", inventory.schema());
            inventory.change(changes.unwrap()).unwrap();
        };
        give(&mut inventory, 100, 10);
        assert_eq!(taken(&inventory), before);
        give(&mut inventory, 90, 9);
        assert_eq!(taken(&inventory), [0, 9, 9]);
    }

    #[test]
    fn free_memory_that_is_given_back_as_it_is_shown_is_no_measurement() {
        let mut inventory = cluster();
        confirm(&mut inventory, vm(4));
        let text = r#"{"hosts": [{"id": "h", "memory.free": "6 GiB", "name": "rack 1"}]}"#;
        let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
        inventory.change(changes).unwrap();
        assert_eq!(free(&inventory), 6);
        let host = inventory.host(0).unwrap();
        let measured: Vec<&str> = inventory.measured(host).map(|it| &**it.name).collect();
        assert_eq!(measured, [MEMORY_FREE]);
        inventory.remove_vm("v").unwrap();
        assert_eq!(free(&inventory), 10);
    }

    fn sums(inventory: &Inventory) -> [i64; 2] {
        ["load.pending", "vcpus.unmeasured"].map(|column| match inventory.host_value(0, column) {
            Some(Value::Integer(sum)) => sum,
            other => panic!("{column}: {other:?}"),
        })
    }

    fn busy(id: &str, usage: Option<f64>) -> Vm {
        let vm = Vm::new(id).with("cpu", 4000_i64);
        usage.map_or(vm.clone(), |usage| vm.with("cpu.usage", usage))
    }

    #[test]
    fn load_counts_until_the_use_of_cpus_is_measured() {
        let mut inventory = cluster();
        inventory.add_host(Host::new("other")).unwrap();
        report(&mut inventory, r#""cpu.usage": 0.25"#);
        inventory.run_vm(busy("moved", Some(0.5)), "other").unwrap();
        confirm(&mut inventory, busy("moved", Some(0.5)));
        confirm(&mut inventory, busy("new", None));
        assert_eq!(sums(&inventory), [2000, 4]);
        inventory.advance(1010);
        report(&mut inventory, r#""memory.free": "7 GiB""#);
        assert_eq!(sums(&inventory), [2000, 4], "that says nothing of CPUs");
        let before = inventory.version();
        report(&mut inventory, r#""cpu.usage": 0.75"#);
        assert_eq!(sums(&inventory), [0, 0]);
        assert_eq!(sums(&inventory.at_version(before).unwrap()), [2000, 4]);
        let touched = inventory.touched_since(before).unwrap();
        let vms = BTreeSet::from(["moved", "new"].map(Into::into));
        assert_eq!(touched.measured_vms, vms, "they are stored anew");
        assert!(touched.vms.is_empty(), "they are as they were");
    }

    #[test]
    fn load_of_a_host_whose_use_of_cpus_nobody_measures_does_not_count() {
        let mut inventory = cluster();
        confirm(&mut inventory, busy("new", None));
        assert_eq!(sums(&inventory), [0, 0]);
    }

    #[test]
    fn load_counts_though_the_first_measurement_that_arrives_is_one_of_before() {
        let mut inventory = cluster();
        inventory.advance(1100);
        confirm(&mut inventory, busy("new", None).with("memory", GIB));
        let measured = |inventory: &mut Inventory, at: i64| {
            let text =
                format!(r#"{{"statistics": [{{"id": "h", "measured": {at}, "cpu.usage": 0.5}}]}}"#);
            let changes = InventoryChanges::read(&text, "c.json", inventory.schema());
            inventory.change(changes.unwrap()).unwrap();
        };
        let before = inventory.version();
        measured(&mut inventory, 1070);
        assert_eq!(sums(&inventory)[1], 4);
        assert_eq!(sums(&inventory.at_version(before).unwrap()), [0, 0]);
        inventory.advance(1200);
        measured(&mut inventory, 1150);
        assert_eq!(sums(&inventory), [0, 0]);
    }

    #[test]
    fn what_came_to_run_long_ago_counts_as_measured_if_a_setting_says_so() {
        let mut inventory = cluster();
        confirm(&mut inventory, vm(4));
        assert_eq!(inventory.next_measured(), None);
        inventory.set_unmeasured_max_age(Some(60));
        assert_eq!(inventory.next_measured(), Some(1061));
        inventory.advance(1060);
        assert_eq!(free(&inventory), 6);
        let before = inventory.version();
        inventory.advance(1061);
        assert_eq!(free(&inventory), 10);
        assert_eq!(inventory.next_measured(), None);
        assert_eq!(free(&inventory.at_version(before).unwrap()), 6);
    }

    #[test]
    fn a_measurement_is_later_than_what_came_before_the_clock_went_back() {
        let mut inventory = cluster();
        inventory.advance(2000);
        confirm(&mut inventory, vm(4));
        inventory.set_clock_back(1500);
        inventory.advance(1501);
        report(&mut inventory, r#""memory.free": "6 GiB""#);
        assert_eq!(free(&inventory), 6);
    }
}
