//! What undoes each change, so that an earlier version can be looked at again.

use std::collections::VecDeque;
use std::sync::Arc;

use super::column::Cell;
use super::host::HostEntry;
use super::rows::{FactsOf, RowEdit};
use super::vm::VmEntry;
use crate::model::schema::Schema;
use crate::model::{Facts, Group, Value};

/// How to take one change back.
#[derive(Debug, Clone)]
pub(super) enum Undo {
    /// The host in this slot was not there.
    AddHost { slot: u32 },
    /// The host in this slot was there.
    RemoveHost { slot: u32, host: Arc<HostEntry> },
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
    SetGroup { id: Arc<str>, old: Option<Group> },
    /// The facts of a tenant.
    SetTenant { id: Arc<str>, old: Option<Facts> },
    /// A row of a table is brought back to what it was.
    Row {
        of: FactsOf,
        table: Arc<str>,
        back: RowEdit,
    },
    /// A VM's place took so much less of an amount.
    Reserve {
        id: Arc<str>,
        pending: bool,
        amount: Arc<str>,
        value: i64,
    },
    /// The last of what waits until this VM runs did not wait.
    Wait { id: Arc<str> },
    /// A VM had been vacated from this slot, or not been vacated.
    Vacated { id: Arc<str>, old: Option<u32> },
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

/// The last changes, oldest first, bounded.
#[derive(Debug, Clone)]
pub(super) struct Journal {
    undo: VecDeque<Undo>,
    bound: usize,
}

impl Journal {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            undo: VecDeque::new(),
            bound,
        }
    }

    pub(super) fn record(&mut self, undo: Undo) {
        if self.undo.len() == self.bound {
            self.undo.pop_front();
        }
        if self.bound > 0 {
            self.undo.push_back(undo);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Undo> {
        self.undo.pop_back()
    }

    /// Drop all but the last so many changes.
    pub(super) fn keep(&mut self, changes: usize) {
        let dropped = self.undo.len().saturating_sub(changes);
        self.undo.drain(..dropped);
    }

    /// The last so many changes, oldest first.
    pub(super) fn last(&self, changes: usize) -> impl Iterator<Item = &Undo> {
        self.undo.range(self.undo.len().saturating_sub(changes)..)
    }

    pub(super) fn len(&self) -> usize {
        self.undo.len()
    }
}
