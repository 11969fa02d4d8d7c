//! What VMs take that have come to run on a host since it was last measured: no measurement
//! shows it yet, so it is counted against what was measured until a later one does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::growth::{self, Taken};
use super::host::UnmeasuredMemory;
use super::journal::Undo;
use super::nested::{FUNCTIONS, HUGE_PAGES, NODE_PAGES, NUMA_NODES, PROMISED_FUNCTIONS};
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
    /// Whether virtual functions that it takes of network cards are in none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    functions: bool,
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
    /// Virtual functions of network cards: their network, and how many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<(Arc<str>, i64)>,
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
            functions: match entry.has_unmeasured_functions() {
                true => known.functions,
                false => entry.functions(),
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
        let functions = growth::beyond(
            entry.functions().into_iter(),
            shown.functions.iter().cloned(),
        );
        let load = Taken::of(&entry.shape).beyond(&shown.taken());
        let unmeasured = Self {
            since: now,
            memory: memory.saturating_sub(measured).max(0),
            whole: held.is_none_or(|held| held.unmeasured.as_ref().is_some_and(|it| it.whole)),
            pages: !pages.is_empty(),
            nodes: !nodes.is_empty(),
            node_pages: has_node_pages,
            functions: !functions.is_empty(),
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
            if !self.functions {
                shown.functions.clear();
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
            && !self.functions
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
            functions: self.functions && !tells(FUNCTIONS),
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
    /// Virtual functions of network cards: their network, and how many.
    pub(super) functions: Vec<(Arc<str>, i64)>,
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
            functions: shown.functions,
            devices: devices
                .filter_map(|row| Some(row.text("name")?.into()))
                .collect(),
            cpus: entry.own_cpus().collect(),
        }
    }
}

/// Memory that is not in huge pages.
pub(super) fn ordinary_memory(shape: &Shape, facts: &Facts) -> i64 {
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

    /// Whether virtual functions that it takes are in no measurement yet.
    pub(super) fn has_unmeasured_functions(&self) -> bool {
        self.unmeasured.as_ref().is_some_and(|it| it.functions)
    }

    /// The virtual functions that it takes and no measurement shows yet: their network, and how
    /// many.
    pub(super) fn unmeasured_functions(&self) -> Vec<(Arc<str>, i64)> {
        let shown = self.shown().map_or(&[][..], |shown| &shown.functions);
        growth::beyond(self.functions().into_iter(), shown.iter().cloned())
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
        // Rows that an older version has stored say so by their memory alone.
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
    for table in [HUGE_PAGES, NUMA_NODES, NODE_PAGES, FUNCTIONS] {
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
        let functions = has(|it| it.functions);
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
        if functions {
            self.renest(slot, PROMISED_FUNCTIONS);
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
mod tests;
