//! A VM that runs and has a place reserved on the same host: it is to run there with other
//! amounts, or other values. Until that is confirmed, its place takes what it asks for less what it holds.

use std::sync::Arc;

use super::nested::{GPUS, PINS};
use super::unmeasured::{CPU_USAGE, ordinary_memory};
use super::vm::Terms;
use super::{HostEntry, Inventory, InventoryError, Shape, ShapeColumn, VmEntry};
use placewright_model::{Facts, Value, Vm};

/// The column that says how the vCPUs of a VM are pinned.
const PINNING: &str = "pinning";

/// What a place takes of sums of its host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) cpu: i64,
    pub(super) memory: i64,
    /// vCPUs that it shares with others.
    pub(super) vcpus: i64,
    /// CPUs of its own.
    pub(super) exclusive: i64,
    /// Measured load; None: it has CPUs of its own, or none was measured.
    pub(super) load: Option<i64>,
}

impl Taken {
    pub(super) fn of(shape: &Shape) -> Self {
        let vcpus = shape.vcpus();
        let (vcpus, exclusive) = if shape.exclusive {
            (0, vcpus)
        } else {
            (vcpus, 0)
        };
        Self {
            cpu: shape.cpu,
            memory: shape.memory,
            vcpus,
            exclusive,
            load: shape.load.filter(|_| !shape.exclusive),
        }
    }

    /// The same less what is held, of each kind not below nothing.
    pub(super) fn beyond(self, held: &Self) -> Self {
        let less = |asked: i64, held: i64| asked.saturating_sub(held).max(0);
        Self {
            cpu: less(self.cpu, held.cpu),
            memory: less(self.memory, held.memory),
            vcpus: less(self.vcpus, held.vcpus),
            exclusive: less(self.exclusive, held.exclusive),
            load: self.load.map(|load| less(load, held.load.unwrap_or(0))),
        }
    }
}

impl VmEntry {
    /// Whether the VM is to run otherwise than it does: with other amounts, or with anything else
    /// that a request says of it. What is measured is not asked for.
    pub fn asks_otherwise(&self, vm: &Vm) -> bool {
        let unmeasured = |shape: Shape| Shape {
            load: None,
            ..shape
        };
        // What a shape has is compared as it counts, whether it was given or is the default.
        unmeasured(self.shape) != unmeasured(Shape::of(&vm.facts))
            || !asked(&self.vm.facts).eq(asked(&vm.facts))
            || !rows(&self.vm.facts).eq(rows(&vm.facts))
    }
}

/// What is asked for beside the shape.
fn asked(facts: &Facts) -> impl Iterator<Item = (&Arc<str>, &Value)> {
    let is_asked = |name: &str| ShapeColumn::named(name).is_none() && name != CPU_USAGE;
    facts.values().filter(move |(name, _)| is_asked(name))
}

fn rows(facts: &Facts) -> impl Iterator<Item = (&Arc<str>, &[Facts])> {
    facts.tables().filter(|(_, rows)| !rows.is_empty())
}

/// The VMs of a host in the order of their ids, each with where it runs there, if it is a place
/// reserved for it there.
pub(super) fn with_held<'a>(
    host: &'a HostEntry,
    vms: &'a [Option<VmEntry>],
) -> impl Iterator<Item = (&'a VmEntry, Option<&'a VmEntry>)> {
    let at = |position: usize| vms[*host.vms.get(position)? as usize].as_ref();
    (0..host.vms.len()).filter_map(move |position| {
        let entry = at(position)?;
        if !entry.pending {
            return Some((entry, None));
        }
        // In this order both places of a VM stand beside each other.
        let beside = [position.checked_sub(1), position.checked_add(1)];
        let mut beside = beside.into_iter().flatten().filter_map(at);
        let held = beside.find(|other| !other.pending && other.vm.id == entry.vm.id);
        Some((entry, held))
    })
}

/// What of the memory that a place takes of its host's sums is to be in huge pages: the size of a
/// page, and the bytes in all pages of that size. `held`: the VM where it runs on the same host.
///
/// The bytes are negative where ordinary memory replaces pages. So the memory that a place takes,
/// less the bytes in pages, is the ordinary memory that the VM takes in addition to its own.
pub(super) fn memory_in_pages(entry: &VmEntry, held: Option<&VmEntry>) -> Vec<(i64, i64)> {
    let taken = Taken::of(&entry.shape);
    let taken = held.map_or(taken, |held| taken.beyond(&Taken::of(&held.shape)));
    let held_pages = || held.into_iter().flat_map(VmEntry::asked_pages);
    let memory = taken.memory.max(0);
    let mut left = memory;
    let mut pages = beyond(entry.asked_pages(), held_pages());
    for (size, amount) in &mut pages {
        *amount = size.saturating_mul(*amount).clamp(0, left);
        left -= *amount;
    }
    let Some(held) = held else {
        return pages;
    };
    let ordinary = [entry, held].map(|it| ordinary_memory(&it.shape, &it.vm.facts));
    let mut instead = ordinary[0].saturating_sub(ordinary[1]).saturating_sub(left);
    for (size, count) in beyond(held_pages(), entry.asked_pages()) {
        let bytes = size.saturating_mul(count).min(instead);
        if bytes > 0 {
            instead -= bytes;
            pages.push((size, -bytes));
        }
    }
    pages
}

/// The rows of numbers and amounts that are there beyond those that are held.
pub(super) fn beyond<K: PartialEq>(
    asked: impl Iterator<Item = (K, i64)>,
    held: impl Iterator<Item = (K, i64)>,
) -> Vec<(K, i64)> {
    let mut sums: Vec<(K, i64)> = Vec::new();
    let signed = asked.map(|it| (it, 1)).chain(held.map(|it| (it, -1)));
    for ((name, amount), sign) in signed {
        let amount = amount.saturating_mul(sign);
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum = sum.saturating_add(amount),
            None => sums.push((name, amount)),
        }
    }
    sums.retain(|(_, sum)| *sum > 0);
    sums
}

impl Inventory {
    /// Reserve a place for a VM on the host where it runs, where it is to run with other
    /// amounts. What belongs to its stay there goes on, but for GPUs and CPUs by number where
    /// it asks for others.
    ///
    /// # Errors
    /// If it does not run, or has a place reserved already.
    pub fn reserve_in_place(&mut self, vm: Arc<Vm>, terms: Terms) -> Result<(), InventoryError> {
        let Some(running) = self.running(&vm.id) else {
            return Err(InventoryError::UnknownVm(vm.id.clone()));
        };
        let Some(host) = self.host(running.slot).map(|host| host.id.clone()) else {
            return Err(InventoryError::UnknownVm(vm.id.clone()));
        };
        let stay = running.placed().map(|rows| stay_of(running, rows, &vm));
        let id = vm.id.clone();
        self.reserve_checked(vm, &host, terms)?;
        if let Some(rows) = stay
            && rows != Facts::new()
            && let Some(index) = self.places(true).get(&id).copied()
            && let Some(mut entry) = self.take_vm(index)
        {
            entry.stay_mut().rows = rows;
            self.put_vm(entry);
        }
        Ok(())
    }

    /// Where a VM runs whose place is reserved on the same host.
    pub(super) fn held_by(&self, entry: &VmEntry) -> Option<&VmEntry> {
        if !entry.pending {
            return None;
        }
        let running = self.running(&entry.vm.id)?;
        (running.slot == entry.slot).then_some(running)
    }

    /// The place that is reserved for a VM on the host in that slot, where it runs.
    pub(super) fn growth(&self, id: &str, slot: u32) -> Option<VmEntry> {
        let pending = self.pending(id)?;
        (pending.slot == slot).then(|| pending.clone())
    }

    /// The VMs on a host, each once, in the order of their ids: those that run there, and
    /// those that have a place reserved and do not run there yet.
    #[inline]
    pub fn residents_of(&self, host: &HostEntry) -> impl Iterator<Item = &VmEntry> {
        self.vms_of(host)
            .filter(|entry| self.held_by(entry).is_none())
    }
}

/// What of a stay goes on when the VM runs on with the amounts that it asks for.
fn stay_of(running: &VmEntry, rows: &Facts, vm: &Vm) -> Facts {
    let mut rows = rows.clone();
    // What is added to its needs follows anew from the placement.
    for table in ["amounts", "huge-pages"] {
        rows.take_rows(table);
    }
    // So do GPUs and CPUs by number, where it asks for others than it has.
    let shape = Shape::of(&vm.facts);
    if running.shape.gpu_share != shape.gpu_share {
        rows.take_rows(GPUS);
    }
    let (asked, had) = (shape.vcpus(), running.shape.vcpus());
    let is_pinned_otherwise = running.vm.facts.text(PINNING) != vm.facts.text(PINNING);
    let layout = Layout::of(vm);
    let is_laid_out_otherwise = layout != Layout::of(&running.vm);
    // Other numbers of vCPUs are shared out to several nodes otherwise.
    let is_shared_out_otherwise = layout.nodes.len() > 1 && asked != had;
    if is_pinned_otherwise || is_laid_out_otherwise || is_shared_out_otherwise || asked > had {
        rows.take_rows(PINS);
    }
    follow_need(&mut rows, &running.vm, vm);
    rows
}

/// What the CPUs that a VM is given for itself follow from, besides their number.
#[derive(PartialEq, Eq)]
struct Layout {
    sockets: i64,
    threads: i64,
    /// The host's nodes that each of its virtual nodes is pinned to.
    nodes: Vec<Vec<i64>>,
}

impl Layout {
    fn of(vm: &Vm) -> Self {
        let count = |column: &str| vm.facts.integer(column).unwrap_or(1).max(1);
        let pinned_to = |node: &Facts| {
            let rows = node.rows("host-nodes").iter();
            rows.filter_map(|row| row.integer("index")).collect()
        };
        Self {
            sockets: count("sockets"),
            threads: count("threads"),
            nodes: vm.facts.rows("numa-nodes").iter().map(pinned_to).collect(),
        }
    }
}

/// Bring the rows of a VM's stay by which it has GPUs and CPUs by number to what it needs, where
/// that is not what it needed before: those beyond it end, and a GPU is taken by the share that
/// it needs now.
pub(super) fn follow_need(rows: &mut Facts, before: &Vm, now: &Vm) {
    let [had, has] = [before, now].map(|vm| Shape::of(&vm.facts));
    let needed = |shape: &Shape| (shape.gpus, shape.gpu_share);
    let (count, share) = needed(&has);
    if needed(&had) != (count, share) && !rows.rows(GPUS).is_empty() {
        let mut gpus = rows.take_rows(GPUS);
        gpus.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        for gpu in &mut gpus {
            gpu.set("share", share);
        }
        rows.set_rows(GPUS, gpus);
    }
    if had.exclusive != has.exclusive {
        rows.take_rows(PINS);
    } else if has.vcpus() < had.vcpus() && !rows.rows(PINS).is_empty() {
        let mut pins = rows.take_rows(PINS);
        pins.retain(|pin| pin.integer("vcpu").is_none_or(|it| it < has.vcpus()));
        rows.set_rows(PINS, pins);
    }
}

/// The virtual nodes that are asked for beyond those that are held, one by one: the host's
/// nodes that each may be put on, and its memory.
pub(super) fn nodes_beyond(
    asked: impl Iterator<Item = (Vec<i64>, i64)>,
    held: Vec<(Vec<i64>, i64)>,
) -> Vec<(Vec<i64>, i64)> {
    let beyond = each_node_beyond(asked, held);
    beyond.filter(|(_, memory)| *memory > 0).collect()
}

/// The same with those that are held whole, of which nothing is asked for beyond that.
pub(super) fn each_node_beyond(
    asked: impl Iterator<Item = (Vec<i64>, i64)>,
    mut held: Vec<(Vec<i64>, i64)>,
) -> impl Iterator<Item = (Vec<i64>, i64)> {
    asked.map(move |(allowed, memory)| {
        let same = held.iter().position(|(known, _)| *known == allowed);
        let held = same.map_or(0, |place| held.swap_remove(place).1);
        let beyond = memory.saturating_sub(held).max(0);
        (allowed, beyond)
    })
}

/// Huge pages: their size in bytes, and how many.
type Pages = Vec<(i64, i64)>;

/// The huge pages of virtual nodes that are asked for beyond those that are held, one by one of
/// the nodes: the host's nodes that each may be put on, and its pages.
pub(super) fn each_pages_beyond(
    asked: impl Iterator<Item = (Vec<i64>, Pages)>,
    mut held: Vec<(Vec<i64>, Pages)>,
) -> impl Iterator<Item = Pages> {
    asked.map(move |(allowed, pages)| {
        let same = held.iter().position(|(known, _)| *known == allowed);
        let held = same.map_or_else(Vec::new, |place| held.swap_remove(place).1);
        beyond(pages.into_iter(), held.into_iter())
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::WHOLE_GPU;
    use super::*;
    use placewright_document::InventoryChanges;
    use placewright_model::schema::Schema;
    use placewright_model::{Entity, Host, RowChange, Write};

    fn cluster() -> Inventory {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        let mut host = Host::new("h");
        for index in 0..2_i64 {
            host.facts.push_row(GPUS, Facts::new().with("index", index));
        }
        inventory.add_host(host).unwrap();
        inventory
    }

    /// Rows of two numbers of the place of `v`: those columns.
    fn rows(inventory: &Inventory, table: &str, columns: [&str; 2]) -> Vec<[i64; 2]> {
        let entry = inventory.running("v").unwrap();
        let rows = entry.placed_rows(table).iter();
        rows.map(|row| columns.map(|column| row.integer(column).unwrap()))
            .collect()
    }

    fn write(inventory: &mut Inventory, table: &str, columns: [&str; 2], rows: &[[i64; 2]]) {
        let write = |[first, second]: &[i64; 2]| {
            let row = Facts::new()
                .with(columns[0], *first)
                .with(columns[1], *second);
            Write::row(Entity::Placement("v".into()), table, RowChange::Append(row))
        };
        let writes: Vec<Write> = rows.iter().map(write).collect();
        inventory.apply(&writes).unwrap();
    }

    const GPU: [&str; 2] = ["index", "share"];
    const PIN: [&str; 2] = ["vcpu", "cpu"];

    fn grow(inventory: &mut Inventory, vm: Vm) {
        let terms = Terms::default();
        inventory.reserve_in_place(Arc::new(vm), terms).unwrap();
        inventory.confirm_vm("v").unwrap();
    }

    #[test]
    fn a_default_that_is_written_out_is_no_other_share() {
        let mut inventory = cluster();
        let vm = || Vm::new("v").with("gpu.count", 1_i64);
        inventory.run_vm(vm(), "h").unwrap();
        write(&mut inventory, GPUS, GPU, &[[1, 1000]]);
        grow(&mut inventory, vm().with("gpu.share", WHOLE_GPU));
        assert_eq!(rows(&inventory, GPUS, GPU), [[1, 1000]]);
    }

    #[test]
    fn a_dedicated_vm_that_shrinks_has_some_of_the_cpus_that_it_had() {
        let mut inventory = cluster();
        let vm = |cores: i64| Vm::new("v").with("cores", cores).with(PINNING, "dedicated");
        inventory.run_vm(vm(4), "h").unwrap();
        let pins = [[0, 4], [1, 5], [2, 6], [3, 7]];
        write(&mut inventory, PINS, PIN, &pins);
        grow(&mut inventory, vm(2));
        assert_eq!(rows(&inventory, PINS, PIN), pins[..2]);
        // So it has if an operator says that it runs with fewer.
        inventory.run_vm(vm(1), "h").unwrap();
        assert_eq!(rows(&inventory, PINS, PIN), pins[..1]);
        inventory.run_vm(Vm::new("v"), "h").unwrap();
        assert!(rows(&inventory, PINS, PIN).is_empty());
    }

    #[test]
    fn a_dedicated_vm_that_is_laid_out_otherwise_has_none_of_the_cpus_that_it_had() {
        let on = |vm: Vm, nodes: &[i64]| {
            nodes.iter().fold(vm, |mut vm, node| {
                let to = Facts::new().with("index", *node);
                let row = Facts::new().with_row("host-nodes", to);
                vm.facts.push_row("numa-nodes", row);
                vm
            })
        };
        let pinned = |cores: i64| Vm::new("v").with("cores", cores).with(PINNING, "dedicated");
        let pins = [[0, 4], [1, 5], [2, 6], [3, 7]];
        let has_after = |before: Vm, after: Vm| {
            let mut inventory = cluster();
            inventory.run_vm(before, "h").unwrap();
            write(&mut inventory, PINS, PIN, &pins);
            grow(&mut inventory, after);
            rows(&inventory, PINS, PIN).len()
        };
        let on_nodes = |cores: i64, nodes: &[i64]| on(pinned(cores), nodes);
        for (before, after, expected) in [
            (pinned(4), pinned(4).with("memory", 1_i64), 4),
            (pinned(4), pinned(2).with("threads", 2_i64), 0),
            (pinned(4), pinned(2).with("sockets", 2_i64), 0),
            (on_nodes(4, &[0]), on_nodes(4, &[1]), 0),
            (on_nodes(4, &[0]), on_nodes(2, &[0]), 2),
            (on_nodes(4, &[0, 1]), on_nodes(4, &[0, 1]), 4),
            (on_nodes(4, &[0, 1]), on_nodes(2, &[0, 1]), 0),
        ] {
            let told = format!("{before:?} -> {after:?}");
            assert_eq!(has_after(before, after), expected, "{told}");
        }
    }

    #[test]
    fn gpus_that_a_vm_was_given_follow_what_an_operator_says_that_it_needs() {
        let mut inventory = cluster();
        let vm = Vm::new("v")
            .with("gpu.count", 2_i64)
            .with("gpu.share", 300_i64);
        inventory.run_vm(vm, "h").unwrap();
        write(&mut inventory, GPUS, GPU, &[[0, 300], [1, 300]]);
        let change = |inventory: &mut Inventory, text: &str| {
            let text = format!(r#"{{"vms": [{{"id": "v", {text}}}]}}"#);
            let changes = InventoryChanges::read(&text, "c.json", inventory.schema());
            inventory.change(changes.unwrap()).unwrap();
        };
        change(&mut inventory, r#""name": "web""#);
        assert_eq!(rows(&inventory, GPUS, GPU), [[0, 300], [1, 300]]);
        let before = inventory.version();
        change(&mut inventory, r#""gpu.share": 800"#);
        assert_eq!(rows(&inventory, GPUS, GPU), [[0, 800], [1, 800]]);
        change(&mut inventory, r#""gpu.count": 1"#);
        assert_eq!(rows(&inventory, GPUS, GPU), [[0, 800]]);
        change(&mut inventory, r#""gpu.count": 0"#);
        assert!(rows(&inventory, GPUS, GPU).is_empty());
        assert!(inventory.take_back(before));
        assert_eq!(rows(&inventory, GPUS, GPU), [[0, 300], [1, 300]]);
    }
}
