//! What undoes each change, so that an earlier version can be looked at again.

use std::collections::VecDeque;
use std::sync::Arc;

use super::column::Cell;
use super::holdings::Vacated;
use super::host::{HostEntry, Reading};
use super::rows::{FactsOf, RowEdit};
use super::unmeasured::Unmeasured;
use super::vm::VmEntry;
use placewright_model::budget::Collection;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, Value};

/// How to take one change back. It is small, as every decision writes some: what is large is boxed.
#[derive(Debug, Clone)]
pub(super) enum Undo {
    /// The host in this slot was not there.
    AddHost { slot: u32 },
    /// The host in this slot was there, with these values in the host columns of these numbers
    /// and none in the others.
    RemoveHost {
        slot: u32,
        host: Arc<HostEntry>,
        cells: Box<[(usize, Cell)]>,
    },
    /// A host's column had this given value.
    HostValue {
        slot: u32,
        column: Arc<str>,
        old: Option<Value>,
    },
    /// A host's table had these given rows.
    HostRows {
        slot: u32,
        table: Arc<str>,
        old: Vec<Facts>,
    },
    /// A VM was not there, running or pending.
    AddVm { id: Arc<str>, pending: bool },
    /// A VM was there.
    RemoveVm(Box<VmEntry>),
    /// A group was there in this form, or not at all.
    SetGroup {
        id: Arc<str>,
        old: Option<Box<Group>>,
    },
    /// The facts of a tenant.
    SetTenant { id: Arc<str>, old: Option<Facts> },
    /// A row of a table is brought back to what it was.
    Row {
        of: FactsOf,
        table: Arc<str>,
        back: Box<RowEdit>,
    },
    /// A VM's place took so much less of an amount.
    Reserve {
        id: Arc<str>,
        pending: bool,
        amount: Arc<str>,
        value: i64,
    },
    /// This of what a VM takes that runs was in no measurement.
    Unmeasured {
        id: Arc<str>,
        old: Option<Unmeasured>,
    },
    /// The last of what waits until this VM runs did not wait.
    Wait { id: Arc<str> },
    /// A VM had been vacated like this, or not been vacated.
    Vacated {
        id: Arc<str>,
        old: Option<Box<Vacated>>,
    },
    /// The batch had placed so many VMs on the hosts in these slots.
    Batch(Vec<(u32, i64)>),
    /// A watched condition had begun to hold then, or did not hold.
    Since {
        slot: u32,
        column: usize,
        old: Option<Cell>,
    },
    /// There were these tables and columns.
    Schema(Arc<Schema>),
    /// The clock stood here.
    Clock(i64),
}

/// The last changes, oldest first: bounded, but for those of open transactions.
#[derive(Debug)]
pub(super) struct Journal {
    /// Each with its bytes.
    undo: VecDeque<(Undo, u64)>,
    /// How many changes there are at most.
    bound: usize,
    /// Bytes that the changes take.
    bytes: u64,
    /// How many transactions are open, one within the other.
    open: usize,
    /// Of open transactions: what was replaced of hosts' measurements, by slot.
    /// They are no versions, as nothing in the past depends on them.
    replaced: Vec<(u32, Vec<Reading>)>,
}

/// A copy is no part of the transactions of what it was copied from.
impl Clone for Journal {
    fn clone(&self) -> Self {
        Self {
            undo: self.undo.clone(),
            bound: self.bound,
            bytes: self.bytes,
            open: 0,
            replaced: Vec::new(),
        }
    }
}

impl Journal {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            undo: VecDeque::new(),
            bound,
            bytes: 0,
            open: 0,
            replaced: Vec::new(),
        }
    }

    pub(super) fn record(&mut self, undo: Undo) {
        let taken = undo.weight();
        self.bytes += taken;
        self.undo.push_back((undo, taken));
        if self.open == 0 {
            self.trim();
        }
    }

    /// Drop the oldest changes beyond the bounds.
    fn trim(&mut self) {
        while (self.undo.len() > self.bound || self.bytes > Collection::Journal.bound())
            && let Some((_, taken)) = self.undo.pop_front()
        {
            self.bytes -= taken;
        }
    }

    /// Bytes that the changes take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Put another code in the place of each of the texts, given the number of its column.
    pub(super) fn recode(&mut self, mut code: impl FnMut(usize, i64) -> i64) {
        for (undo, _) in &mut self.undo {
            let Undo::RemoveHost { cells, .. } = undo else {
                continue;
            };
            for (column, cell) in cells {
                if let Cell::Integer(value) = cell {
                    *value = code(*column, *value);
                }
            }
        }
    }

    /// A transaction begins: nothing is forgotten until it ends. Gives how much was replaced
    /// before it.
    pub(super) fn open(&mut self) -> usize {
        self.open += 1;
        self.replaced.len()
    }

    /// The innermost transaction ends.
    pub(super) fn close(&mut self) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.replaced = Vec::new();
            self.trim();
            // What was only needed for the transaction is given back.
            if self.undo.capacity() > 2 * self.bound {
                self.undo.shrink_to(self.bound);
            }
        }
    }

    /// The measurements of the host in that slot are about to be replaced.
    pub(super) fn replace(&mut self, slot: u32, measured: &[Reading]) {
        if self.open > 0 {
            self.replaced.push((slot, measured.to_vec()));
        }
    }

    /// What was replaced since there was so much of it, the last first.
    pub(super) fn replaced_since(&mut self, len: usize) -> Vec<(u32, Vec<Reading>)> {
        let mut since = self.replaced.split_off(len.min(self.replaced.len()));
        since.reverse();
        since
    }

    /// Nothing leads back behind this.
    pub(super) fn forget(&mut self) {
        self.undo = VecDeque::new();
        self.bytes = 0;
    }

    pub(super) fn pop(&mut self) -> Option<Undo> {
        let (last, taken) = self.undo.pop_back()?;
        self.bytes -= taken;
        Some(last)
    }

    /// Drop all but the last so many changes.
    pub(super) fn keep(&mut self, changes: usize) {
        let dropped = self.undo.len().saturating_sub(changes);
        let dropped = self.undo.drain(..dropped);
        self.bytes -= dropped.map(|(_, taken)| taken).sum::<u64>();
    }

    /// The last so many changes, oldest first.
    pub(super) fn last(&self, changes: usize) -> impl Iterator<Item = &Undo> {
        let last = self.undo.len().saturating_sub(changes)..;
        self.undo.range(last).map(|(undo, _)| undo)
    }

    pub(super) fn len(&self) -> usize {
        self.undo.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Undo;

    /// A decision writes half a dozen, and thousands of decisions are remembered.
    #[test]
    fn an_entry_takes_at_most_80_bytes() {
        let bytes = size_of::<(Undo, u64)>();
        assert!(bytes <= 80, "{bytes}");
    }
}
