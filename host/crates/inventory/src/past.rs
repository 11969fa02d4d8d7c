//! The way back to earlier versions.

use super::journal::Undo;
use super::{Aspects, Cell, Inventory};

impl Inventory {
    pub(super) fn changed(&mut self, undo: Undo) {
        self.version += 1;
        self.bytes = self.bytes.saturating_add_signed(self.grown_by(&undo));
        self.journal.record(undo);
    }

    /// Go on from a version, before which nothing is remembered. Versions do not go back.
    pub fn begin_at(&mut self, version: u64) {
        self.journal.keep(0);
        self.version = self.version.max(version);
    }

    /// Be of that version, before which nothing is remembered: for an inventory that is put
    /// together anew as it was then.
    pub fn set_version(&mut self, version: u64) {
        self.journal.keep(0);
        self.version = version;
    }

    /// The oldest version that [`Inventory::at_version`] can still show.
    pub fn oldest_version(&self) -> u64 {
        self.version - self.journal.len() as u64
    }

    /// The inventory as it was at an earlier version. None if that is too long ago,
    /// or still to come.
    pub fn at_version(&self, version: u64) -> Option<Inventory> {
        if !self.remembers(version) {
            // Known without making a copy.
            return None;
        }
        let mut past = self.clone();
        past.take_back(version).then_some(past)
    }

    /// Take back everything since an earlier version, as if it had not happened.
    /// False, and nothing is changed, if that is too long ago or still to come. What must
    /// be taken back in any case is made within a [`Transaction`](super::Transaction).
    #[must_use = "if it is false, nothing was taken back"]
    pub fn take_back(&mut self, version: u64) -> bool {
        if !self.remembers(version) {
            return false;
        }
        self.hold_groups(|inventory| {
            inventory.rank_together(|inventory| inventory.take_back_each(version));
        });
        self.settle_old_groups();
        true
    }

    fn take_back_each(&mut self, version: u64) {
        while self.version > version {
            let Some(undo) = self.journal.pop() else {
                break;
            };
            // It is as it was right after the change.
            let grown = self.grown_by(&undo);
            self.bytes = self.bytes.saturating_sub_signed(grown);
            self.undo(undo);
            self.version -= 1;
        }
    }

    /// Let go of what leads back to versions before this one.
    pub fn forget_before(&mut self, version: u64) {
        let versions = self.version.saturating_sub(version);
        self.journal
            .keep(usize::try_from(versions).unwrap_or(usize::MAX));
    }

    fn remembers(&self, version: u64) -> bool {
        (self.oldest_version()..=self.version).contains(&version)
    }

    pub(super) fn undo(&mut self, undo: Undo) {
        // What the watches noted is undone by entries of its own.
        let watches = std::mem::take(&mut self.watches);
        self.undo_unwatched(undo);
        self.watches = watches;
    }

    pub(super) fn undo_unwatched(&mut self, undo: Undo) {
        match undo {
            Undo::AddHost { slot } => {
                self.free_slot(slot);
                self.next_listed -= 1;
            }
            Undo::RemoveHost { slot, host, cells } => {
                self.host_slots.insert(host.id.clone(), slot);
                self.hosts[slot as usize] = Some(host);
                let behind = self.hosts.len() - 1 - slot as usize;
                self.free_at_end = self.free_at_end.min(behind);
                // Another host may have stood there meanwhile.
                let mut cells = cells.iter().peekable();
                for (place, column) in self.columns.iter_mut().enumerate() {
                    let cell = cells.next_if(|(known, _)| *known == place);
                    column.set(slot as usize, cell.map(|(_, cell)| *cell));
                }
                self.renest_all(slot);
                self.rank_host(slot);
                self.note_up(slot, false, self.is_up(slot));
                self.note(slot, Aspects::ALL);
            }
            Undo::HostValue { slot, column, old } => {
                self.put_host_value(slot, &column, old);
                // It may be one that was outdated.
                self.oldest_measured = i64::MIN;
            }
            Undo::HostRows { slot, table, old } => {
                self.put_host_rows(slot, &table, old);
                self.oldest_measured = i64::MIN;
            }
            Undo::AddVm { id, pending } => {
                if let Some(index) = self.places(pending).get(&id).copied() {
                    self.extract_vm(index);
                }
            }
            Undo::RemoveVm(entry) => self.insert_vm(*entry),
            Undo::SetGroup { id, old } => {
                self.groups.put(&id, old.map(|old| *old));
            }
            Undo::SetTenant { id, old } => {
                match old {
                    Some(facts) => self.tenants.insert(id, facts),
                    None => self.tenants.remove(&id),
                };
            }
            Undo::Row { of, table, back } => {
                self.edit_row(&of, &table, *back);
            }
            Undo::Reserve {
                id,
                pending,
                amount,
                value,
            } => self.add_reserved(&id, pending, &amount, -value),
            Undo::Unmeasured { id, old } => self.bring_back_unmeasured(&id, old),
            Undo::Wait { id } => {
                if let Some(entry) = self.placed_mut(&id, true) {
                    entry.stay_mut().waiting.pop();
                }
            }
            Undo::Vacated { id, old } => {
                self.set_vacated(&id, old.map(|old| *old));
            }
            Undo::Batch(old) => {
                for (slot, count) in old {
                    let count = Some(Cell::Integer(count));
                    self.set_cell(self.sums.batch_placed, slot, count);
                }
            }
            Undo::Since { slot, column, old } => self.set_cell(column, slot, old),
            Undo::Schema(schema) => self.schema = schema,
            Undo::Clock(clock) => self.clock = clock,
        }
    }
}
