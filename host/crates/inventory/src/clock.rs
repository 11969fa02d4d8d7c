//! A clock that was ahead is set back.

use std::sync::Arc;

use super::journal::Undo;
use super::{Cell, ChangeLog, Inventory, VmEntry};

impl Inventory {
    /// Set the clock back to `now` (seconds), because the one that it follows was ahead and
    /// is so no more. What was timed meanwhile goes on: a reservation ends after as many
    /// seconds as it had left, and what was measured, noted or reserved later than `now`
    /// counts as of now. Answers of units that were kept from decision to decision are asked
    /// for anew, as some of them may depend on the time. Without effect if the clock is not
    /// ahead.
    pub fn set_clock_back(&mut self, now: i64) {
        let ahead = self.clock.saturating_sub(now);
        if ahead <= 0 {
            return;
        }
        let clock = std::mem::replace(&mut self.clock, now);
        self.changed(Undo::Clock(clock));
        self.time_reservations_anew(ahead);
        self.time_measurements_anew();
        self.time_unmeasured_anew();
        self.time_watches_anew();
        self.changes = ChangeLog::default();
    }

    fn time_reservations_anew(&mut self, ahead: i64) {
        let now = self.clock;
        let mut pending: Vec<Arc<str>> = self.pending.keys().cloned().collect();
        pending.sort_unstable();
        for id in pending {
            let index = self.pending.get(&id).copied();
            let Some(entry) = index.and_then(|index| self.take_vm(index)) else {
                continue;
            };
            self.put_vm(VmEntry {
                expires: entry.expires.map(|at| at.saturating_sub(ahead)),
                since: entry.since.map(|at| at.min(now)),
                ..entry
            });
        }
    }

    fn time_measurements_anew(&mut self) {
        let now = self.clock;
        for (slot, host) in (0u32..).zip(&mut self.hosts) {
            let Some(host) = host else { continue };
            if host.measured.iter().any(|reading| reading.at > now) {
                self.journal.replace(slot, &host.measured);
                for reading in &mut Arc::make_mut(host).measured {
                    reading.at = now.min(reading.at);
                }
            }
        }
        self.oldest_measured = i64::MIN;
    }

    fn time_watches_anew(&mut self) {
        let columns = self.watches.iter().map(|watch| watch.since_column());
        let columns: Vec<usize> = columns
            .filter_map(|column| self.column_index(&column))
            .collect();
        for column in columns {
            for slot in (0u32..).take(self.hosts.len()) {
                let began = self.columns[column].integer(slot as usize);
                if let Some(began) = began.filter(|began| *began > self.clock) {
                    self.set_cell(column, slot, Some(Cell::Integer(self.clock)));
                    let old = Some(Cell::Integer(began));
                    self.changed(Undo::Since { slot, column, old });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostWatch;
    use placewright_model::schema::Schema;
    use placewright_model::{Host, Vm};

    #[test]
    fn what_was_timed_by_a_clock_that_was_ahead_goes_on_by_the_right_time() {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        inventory.add_host(Host::new("h")).unwrap();
        let watch = HostWatch {
            name: "busy".into(),
            column: "cpu.usage".into(),
            at_least: Some(0.5),
            at_most: None,
        };
        let column = watch.since_column();
        inventory.set_watches(vec![watch]);
        inventory.advance(1000);
        let vm = |id: &str| Arc::new(Vm::new(id));
        inventory.reserve_vm(vm("for good"), "h", None).unwrap();
        inventory.advance(1_000_000);
        inventory.reserve_vm(vm("v"), "h", Some(1_000_300)).unwrap();
        inventory
            .report_host("h", "cpu.usage", 0.75.into())
            .unwrap();
        let before = inventory.version();
        let since = |inventory: &Inventory| inventory.host_value(0, &column);
        let began = since(&inventory);
        let log = inventory.changes().identity().clone();

        inventory.set_clock_back(2000);
        assert_eq!(inventory.clock(), 2000);
        let pending = inventory.pending("v").unwrap();
        assert_eq!((pending.expires, pending.since), (Some(2300), Some(2000)));
        assert_eq!(inventory.pending("for good").unwrap().expires, None);
        assert_eq!(inventory.next_expiry(), Some(2301));
        assert!(began.is_some());
        assert_eq!(since(&inventory), Some(2000.into()));
        assert!(!Arc::ptr_eq(inventory.changes().identity(), &log));
        let version = inventory.version();
        inventory.set_clock_back(2000);
        assert_eq!(inventory.version(), version, "it is not ahead any more");

        assert!(inventory.take_back(before));
        assert_eq!(inventory.clock(), 1_000_000);
        assert_eq!(inventory.pending("v").unwrap().expires, Some(1_000_300));
        assert_eq!(since(&inventory), began);
    }
}
