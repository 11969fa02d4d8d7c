//! Hosts that have promised more than they may.

use std::sync::Arc;

use super::Misplaced;
use crate::balance::Cause;
use crate::balance::relocate::Leaving;
use placewright_inventory::{Column, HostEntry, Inventory, VmEntry};
use placewright_model::{Departure, Measure, Value};

/// What a host has promised of something, and how much it may.
struct Promised {
    what: &'static str,
    measure: Measure,
    promised: i64,
    limit: i64,
    /// What a VM takes of it.
    of_vm: fn(&VmEntry) -> i64,
}

impl Promised {
    fn excess(&self) -> i64 {
        self.promised.saturating_sub(self.limit).max(0)
    }
}

/// The columns of hosts that say what is promised of something.
struct Columns<'w> {
    committed: Option<&'w Column>,
    pending: Option<&'w Column>,
    total: Option<&'w Column>,
    overcommit: Option<&'w Column>,
}

impl<'w> Columns<'w> {
    fn of(world: &'w Inventory, what: &str) -> Self {
        let column = |name: &str| {
            let index = world.column_index(&format!("{what}.{name}"));
            index.map(|index| world.column(index))
        };
        Self {
            committed: column("committed"),
            pending: column("pending"),
            total: column("total"),
            overcommit: column("overcommit"),
        }
    }

    /// What the host in that slot has promised, and how much it may; None if it does not
    /// say how much it has.
    fn promised(&self, slot: u32) -> Option<(i64, i64)> {
        let row = slot as usize;
        let integer = |column: Option<&Column>| column.and_then(|it| it.integer(row)).unwrap_or(0);
        let total = Some(integer(self.total)).filter(|total| *total > 0)?;
        let overcommit = self.overcommit.and_then(|column| column.as_number(row));
        let limit = (total as f64 * overcommit.unwrap_or(1.0)) as i64;
        Some((
            integer(self.committed).saturating_add(integer(self.pending)),
            limit,
        ))
    }
}

/// What hosts have promised.
struct Promises<'w> {
    memory: Columns<'w>,
    cpu: Columns<'w>,
}

impl<'w> Promises<'w> {
    fn of(world: &'w Inventory) -> Self {
        Self {
            memory: Columns::of(world, "memory"),
            cpu: Columns::of(world, "cpu"),
        }
    }

    /// Memory, of which a host may promise what it has unless it says otherwise; and CPU,
    /// where it says how much of it may be promised: policies differ too much in what they
    /// promise where nothing is said.
    fn of_host(&self, slot: u32, host: &HostEntry) -> [Option<Promised>; 2] {
        let memory = self.memory.promised(slot);
        let memory = memory.map(|(promised, limit)| Promised {
            what: "memory",
            measure: Measure::Bytes,
            promised,
            limit,
            of_vm: |entry| entry.shape.memory,
        });
        let cpu = self.cpu.promised(slot);
        let cpu = cpu.filter(|(promised, limit)| {
            promised > limit && host.facts.get("cpu.overcommit").is_some()
        });
        let cpu = cpu.map(|(promised, limit)| Promised {
            what: "CPU",
            measure: Measure::Millicores,
            promised,
            limit,
            of_vm: |entry| entry.shape.cpu,
        });
        [memory, cpu]
    }
}

/// How much more hosts have promised than they may, in millionths of what each may.
pub(super) fn wrong(world: &Inventory) -> i128 {
    let promises = Promises::of(world);
    let hosts = world.hosts();
    let each = hosts.flat_map(|(slot, host)| promises.of_host(slot, host));
    let each = each.flatten().filter(|it| it.excess() > 0);
    each.map(|it| i128::from(it.excess()) * 1_000_000 / i128::from(it.limit.max(1)) + 1)
        .sum()
}

/// Why a host has promised no more than it may by now, the VMs that are about to leave it not
/// counted: a sentence without its full stop. None: it has promised more.
pub(in crate::balance) fn why_kept(world: &Inventory, host: &str) -> Option<String> {
    let slot = world.slot(host)?;
    let entry = world.host(slot)?;
    let promises = Promises::of(world).of_host(slot, entry);
    let leaving = |over: &Promised| -> i64 {
        let vms = world.vms_of(entry).filter(|vm| !vm.pending);
        let leave = vms.filter(|vm| {
            let pending = world.pending(&vm.vm.id);
            pending.is_some_and(|elsewhere| elsewhere.slot != slot)
        });
        leave.map(over.of_vm).sum()
    };
    let mut over = promises.iter().flatten();
    let is_over = over.any(|over| over.excess() > leaving(over));
    (!is_over).then(|| format!("host {host} promises no more than it may by now"))
}

/// VMs without which their host would have promised less: host by host, first the smallest
/// that is enough by itself, then the largest of the others.
pub(super) fn misplaced(world: &Inventory) -> Vec<Misplaced> {
    let mut hosts: Vec<_> = world.hosts().collect();
    hosts.sort_by_key(|(slot, _)| world.ranks()[*slot as usize]);
    let promises = Promises::of(world);
    let mut misplaced = Vec::new();
    for (slot, host) in hosts {
        let host_state = world.host_state(slot);
        let over = promises.of_host(slot, host).into_iter().flatten();
        for over in over.filter(|it| it.excess() > 0) {
            let excess = over.excess();
            let running = world.vms_of(host).filter(|entry| !entry.pending);
            let mut vms: Vec<(i64, &Arc<str>)> = running
                .filter(|entry| {
                    let leaves = host_state.departure(entry.shape.migratable);
                    leaves == Departure::Live && world.pending(&entry.vm.id).is_none()
                })
                .map(|entry| ((over.of_vm)(entry), &entry.vm.id))
                .filter(|(takes, _)| *takes > 0)
                .collect();
            vms.sort_by_key(|(takes, _)| match *takes >= excess {
                true => (false, *takes),
                false => (true, -*takes),
            });
            let shown = |amount: i64| over.measure.display(&Value::Integer(amount));
            let leaving = Leaving {
                cause: Cause::OverCommitted,
                group: None,
                reason: format!(
                    "host {} has promised {} of {}, and may promise {}",
                    host.id,
                    shown(over.promised),
                    over.what,
                    shown(over.limit)
                ),
                allowed: Vec::new(),
                excluded: vec![host.id.clone()],
            };
            misplaced.extend(vms.into_iter().map(|(_, vm)| Misplaced {
                vm: vm.clone(),
                leaving: leaving.clone(),
            }));
        }
    }
    misplaced
}
