//! The way back to earlier versions.

use super::Inventory;
use super::journal::Undo;

impl Inventory {
    pub(super) fn changed(&mut self, undo: Undo) {
        self.version += 1;
        self.journal.record(undo);
    }

    /// The oldest version that [`Inventory::at_version`] can still show.
    pub fn oldest_version(&self) -> u64 {
        self.version - self.journal.len() as u64
    }

    /// The inventory as it was at an earlier version. None if that is too long ago,
    /// or still to come.
    pub fn at_version(&self, version: u64) -> Option<Inventory> {
        if version > self.version || version < self.oldest_version() {
            return None;
        }
        let mut past = self.clone();
        while past.version > version {
            let undo = past.journal.pop()?;
            past.undo(undo);
            past.version -= 1;
        }
        Some(past)
    }

    pub(super) fn undo(&mut self, undo: Undo) {
        // What the watches noted is undone by entries of its own.
        let watches = std::mem::take(&mut self.watches);
        self.undo_unwatched(undo);
        self.watches = watches;
    }

    pub(super) fn undo_unwatched(&mut self, undo: Undo) {
        match undo {
            Undo::AddHost => {
                let slot = u32::try_from(self.hosts.len().saturating_sub(1)).unwrap_or(u32::MAX);
                self.vacate(slot);
                self.next_listed -= 1;
            }
            Undo::RemoveHost { slot, host } => {
                self.host_slots.insert(host.id.clone(), slot);
                self.hosts[slot as usize] = Some(*host);
                self.rank_host(slot);
                self.note_up(false, self.is_up(slot));
            }
            Undo::HostValue { slot, column, old } => self.put_host_value(slot, &column, old),
            Undo::HostRows { slot, table, old } => {
                self.put_host_rows(slot, &table, old);
            }
            Undo::AddVm { id, pending } => {
                let places = if pending {
                    &self.pending
                } else {
                    &self.running
                };
                if let Some(index) = places.get(&id).copied() {
                    self.extract_vm(index);
                }
            }
            Undo::RemoveVm(entry) => self.insert_vm(*entry),
            Undo::SetGroup { id, old } => {
                self.replace_group(&id, old);
            }
            Undo::SetTenant { id, old } => {
                match old {
                    Some(facts) => self.tenants.insert(id, facts),
                    None => self.tenants.remove(&id),
                };
            }
            Undo::Since { slot, column, old } => self.columns[column].set(slot as usize, old),
            Undo::Clock(clock) => self.clock = clock,
        }
    }
}
