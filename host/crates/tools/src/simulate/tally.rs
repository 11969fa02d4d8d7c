//! Counts, while a replay goes on, what runs where and how much of the fleet that is.

use super::fleet::Fleet;
use super::spread::Spread;
use super::timeline::Timeline;

/// VMs and what they were promised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// How many VMs.
    pub vms: u32,
    /// Millicores.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
}

impl Load {
    pub(super) fn add(&mut self, cpu: i64, memory: i64) {
        self.vms = self.vms.saturating_add(1);
        self.cpu = self.cpu.saturating_add(cpu);
        self.memory = self.memory.saturating_add(memory);
    }

    fn take(&mut self, cpu: i64, memory: i64) {
        self.vms = self.vms.saturating_sub(1);
        self.cpu = self.cpu.saturating_sub(cpu);
        self.memory = self.memory.saturating_sub(memory);
    }
}

/// The load of a fleet at one time, or the greatest that there was of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// All VMs.
    pub load: Load,
    /// Hosts with a VM at least.
    pub hosts: u32,
}

impl Usage {
    /// The greater of both, figure by figure.
    pub fn max(self, other: Self) -> Self {
        Self {
            load: Load {
                vms: self.load.vms.max(other.load.vms),
                cpu: self.load.cpu.max(other.load.cpu),
                memory: self.load.memory.max(other.load.memory),
            },
            hosts: self.hosts.max(other.hosts),
        }
    }
}

/// The load of every host and of the fleet, now and over time.
#[derive(Debug)]
pub(super) struct Tally {
    fleet: Fleet,
    hosts: Vec<Load>,
    now: Usage,
    peak: Usage,
    spread: Spread,
    timeline: Timeline,
}

impl Tally {
    /// Nothing runs yet. What is kept over time is kept from `from` to `to`.
    pub(super) fn new(fleet: Fleet, from: i64, to: i64) -> Self {
        Self {
            fleet,
            hosts: vec![Load::default(); fleet.hosts as usize],
            now: Usage::default(),
            peak: Usage::default(),
            spread: Spread::new(fleet.hosts, from, to),
            timeline: Timeline::new(from, to),
        }
    }

    /// Time goes on to `time`; so far everything stayed as it is.
    pub(super) fn advance(&mut self, time: i64) {
        self.spread.advance(time);
        self.timeline.advance(time, self.now);
    }

    /// A VM was placed on a host. None if there is no such host.
    pub(super) fn placed(&mut self, host: u32, cpu: i64, memory: i64) -> Option<Load> {
        let load = self.hosts.get_mut(host as usize)?;
        let before = *load;
        load.add(cpu, memory);
        let after = *load;
        self.now.load.add(cpu, memory);
        self.now.hosts += u32::from(before.vms == 0);
        self.changed(before, after);
        Some(after)
    }

    /// A VM left its host. None if there is no such host.
    pub(super) fn left(&mut self, host: u32, cpu: i64, memory: i64) -> Option<Load> {
        let load = self.hosts.get_mut(host as usize)?;
        let before = *load;
        load.take(cpu, memory);
        let after = *load;
        self.now.load.take(cpu, memory);
        self.now.hosts -= u32::from(after.vms == 0);
        self.changed(before, after);
        Some(after)
    }

    fn changed(&mut self, before: Load, after: Load) {
        self.spread.moved(self.fleet, before, after);
        self.peak = self.peak.max(self.now);
        self.timeline.reached(self.now);
    }

    /// What runs now.
    pub(super) fn now(&self) -> Usage {
        self.now
    }

    /// The most that ran at any time, figure by figure.
    pub(super) fn peak(&self) -> Usage {
        self.peak
    }

    /// What was kept over time.
    pub(super) fn into_history(mut self) -> (Spread, Timeline) {
        self.timeline.finish();
        (self.spread, self.timeline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_in_use_while_a_vm_is_on_them() {
        let fleet = Fleet {
            hosts: 2,
            cpu: 4000,
            memory: 8,
        };
        let mut tally = Tally::new(fleet, 0, 10);
        assert_eq!(tally.placed(0, 1000, 2).map(|load| load.vms), Some(1));
        tally.placed(0, 2000, 1);
        tally.placed(1, 500, 1);
        assert_eq!((tally.now().hosts, tally.now().load.cpu), (2, 3500));
        tally.left(1, 500, 1);
        tally.left(0, 1000, 2);
        assert_eq!((tally.now().hosts, tally.now().load.memory), (1, 1));
        assert_eq!((tally.peak().hosts, tally.peak().load.vms), (2, 3));
        assert_eq!(tally.placed(2, 1, 1), None);
    }
}
