//! Counts, while a replay goes on, what runs where, and how much of the cluster that is.

use crate::simulate::tally::{Load, Usage};
use crate::simulate::timeline::{Point, Timeline};
use placewright_inventory::{Cursor, Inventory};
use placewright_model::Value;

/// What a host has, and has promised to VMs that run there or have a place reserved there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HostLoad {
    exists: bool,
    lost: bool,
    /// VMs that run there.
    pub(super) vms: u32,
    /// VMs that run there or have a place reserved.
    places: u32,
    /// Millicores that are promised, and all of them.
    pub(super) cpu: i64,
    pub(super) cpu_total: i64,
    /// Bytes that are promised, and all of them.
    pub(super) memory: i64,
    pub(super) memory_total: i64,
}

impl HostLoad {
    fn of(inventory: &Inventory, slot: u32) -> Self {
        let Some(host) = inventory.host(slot) else {
            return Self::default();
        };
        let total = |column| match inventory.host_value(slot, column) {
            Some(Value::Integer(total)) => total,
            _ => 0,
        };
        let mut load = Self {
            exists: true,
            lost: inventory.is_lost(slot),
            cpu_total: total("cpu.total"),
            memory_total: total("memory.total"),
            ..Self::default()
        };
        for entry in inventory.vms_of(host) {
            load.vms += u32::from(!entry.pending);
            load.places += 1;
            load.cpu = load.cpu.saturating_add(entry.shape.cpu);
            load.memory = load.memory.saturating_add(entry.shape.memory);
        }
        load
    }

    fn in_use(&self) -> bool {
        self.places > 0
    }
}

/// What all hosts together have and have promised, at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    pub(super) hosts: u32,
    pub(super) used: u32,
    pub(super) vms: u32,
    /// VMs whose hosts are down or in error.
    pub(super) lost: u32,
    pub(super) cpu: i64,
    pub(super) memory: i64,
    /// Of hosts that are neither down nor in error.
    pub(super) cpu_total: i64,
    pub(super) memory_total: i64,
    /// Of hosts with a VM.
    used_cpu: i64,
    used_memory: i64,
}

impl Sums {
    fn count(&mut self, load: &HostLoad, sign: i64) {
        let add = |sum: &mut i64, part: i64| *sum = sum.saturating_add(sign * part);
        let step = |sum: &mut u32, part: u32| {
            *sum = match sign {
                1 => sum.saturating_add(part),
                _ => sum.saturating_sub(part),
            };
        };
        step(&mut self.hosts, u32::from(load.exists));
        step(&mut self.used, u32::from(load.in_use()));
        step(&mut self.vms, load.vms);
        if load.lost {
            step(&mut self.lost, load.vms);
        } else {
            add(&mut self.cpu_total, load.cpu_total);
            add(&mut self.memory_total, load.memory_total);
        }
        add(&mut self.cpu, load.cpu);
        add(&mut self.memory, load.memory);
        if load.in_use() {
            add(&mut self.used_cpu, load.cpu_total);
            add(&mut self.used_memory, load.memory_total);
        }
    }

    fn usage(&self) -> Usage {
        Usage {
            load: Load {
                vms: self.vms,
                cpu: self.cpu,
                memory: self.memory,
            },
            hosts: self.used,
        }
    }
}

/// Sums over time: of each figure, times the seconds for which it was so.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OverTime {
    pub(super) seconds: f64,
    pub(super) used: f64,
    pub(super) lost: f64,
    pub(super) cpu: f64,
    pub(super) memory: f64,
    pub(super) cpu_total: f64,
    pub(super) memory_total: f64,
    pub(super) used_cpu: f64,
    pub(super) used_memory: f64,
}

/// The most that there was at one time, figure by figure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peaks {
    pub(super) used: u32,
    pub(super) vms: u32,
    pub(super) cpu_pct: f64,
    pub(super) memory_pct: f64,
}

/// The load of every host and of the cluster, now and over time.
#[derive(Debug)]
pub(super) struct Tally {
    hosts: Vec<HostLoad>,
    seen: Option<Cursor>,
    pub(super) now: Sums,
    pub(super) peaks: Peaks,
    pub(super) over_time: OverTime,
    /// How often a host has lost its last VM.
    pub(super) emptied: u64,
    time: i64,
    timeline: Timeline,
}

impl Tally {
    /// What is counted over time is counted from `from` to `to`.
    pub(super) fn new(from: i64, to: i64) -> Self {
        Self {
            hosts: Vec::new(),
            seen: None,
            now: Sums::default(),
            peaks: Peaks::default(),
            over_time: OverTime::default(),
            emptied: 0,
            time: from,
            timeline: Timeline::new(from, to),
        }
    }

    /// Time goes on to `time`; so far everything stayed as it is.
    pub(super) fn advance(&mut self, time: i64) {
        if time > self.time {
            let seconds = (time - self.time) as f64;
            let (sums, now) = (&mut self.over_time, &self.now);
            sums.seconds += seconds;
            sums.used += seconds * f64::from(now.used);
            sums.lost += seconds * f64::from(now.lost);
            sums.cpu += seconds * now.cpu as f64;
            sums.memory += seconds * now.memory as f64;
            sums.cpu_total += seconds * now.cpu_total as f64;
            sums.memory_total += seconds * now.memory_total as f64;
            sums.used_cpu += seconds * now.used_cpu as f64;
            sums.used_memory += seconds * now.used_memory as f64;
            self.time = time;
        }
        self.timeline.advance(time, self.now.usage());
    }

    /// Look at the hosts that have changed since the last look. Gives their slots, each once.
    pub(super) fn look(&mut self, inventory: &Inventory) -> Vec<u32> {
        let changes = inventory.changes();
        let changed = self.seen.and_then(|seen| changes.since(seen));
        let mut slots: Vec<u32> = match changed {
            Some(changed) => changed.map(|(slot, _)| slot).collect(),
            None => (0..inventory.slots().max(self.hosts.len()) as u32).collect(),
        };
        slots.sort_unstable();
        slots.dedup();
        let first = self.seen.is_none();
        self.seen = Some(changes.end());
        for slot in &slots {
            let load = HostLoad::of(inventory, *slot);
            let place = *slot as usize;
            if place >= self.hosts.len() {
                self.hosts.resize(place + 1, HostLoad::default());
            }
            let before = std::mem::replace(&mut self.hosts[place], load);
            self.now.count(&before, -1);
            self.now.count(&load, 1);
            self.emptied += u64::from(!first && before.in_use() && !load.in_use());
        }
        self.reached();
        slots
    }

    fn reached(&mut self) {
        let (peaks, now) = (&mut self.peaks, &self.now);
        peaks.used = peaks.used.max(now.used);
        peaks.vms = peaks.vms.max(now.vms);
        let share = |part: i64, whole: i64| match whole {
            1.. => part as f64 / whole as f64 * 100.0,
            _ => 0.0,
        };
        peaks.cpu_pct = peaks.cpu_pct.max(share(now.cpu, now.cpu_total));
        peaks.memory_pct = peaks.memory_pct.max(share(now.memory, now.memory_total));
        self.timeline.reached(now.usage());
    }

    /// What was seen of a host at the last look.
    pub(super) fn load(&self, slot: u32) -> HostLoad {
        self.hosts.get(slot as usize).copied().unwrap_or_default()
    }

    /// The load of the cluster over time.
    pub(super) fn into_points(mut self) -> Vec<Point> {
        self.timeline.finish();
        self.timeline.points().to_vec()
    }
}
