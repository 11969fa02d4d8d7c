//! What follows from decisions is written: rows of facts, and more of the amounts
//! that a place takes.
//!
//! Some of it waits until the VM runs. By then other changes may have come first,
//! so a row that is to change is kept in mind by its content, besides its number.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::intake::{self, Owner};
use super::journal::Undo;
use super::rows::{FactsOf, RowEdit};
use super::vm::{CPU, MEMORY};
use super::{Inventory, InventoryError, VmEntry};
use placewright_model::schema::Table;
use placewright_model::{
    Bounds, Effect, Entity, Facts, GREATEST_INTEGER, Moment, RowChange, Value, Write,
};

/// An effect that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    effect: Effect,
    /// The row that is set or removed, as it was when the effect was checked.
    old: Option<Facts>,
}

impl Inventory {
    /// Write what follows from a decision, all of it or nothing. Row numbers are
    /// those of before: rows that are added stand behind the others, and removals
    /// come last.
    ///
    /// What waits until a VM runs is written by [`confirm_vm`](Self::confirm_vm) and
    /// [`run_vm`](Self::run_vm), and forgotten if the reservation ends before. What
    /// it is about may have changed by then: a row that is not there any more is
    /// not removed, and is set as a new one.
    ///
    /// # Errors
    /// If a write is about something that is not there, or does not fit the schema.
    pub fn apply(&mut self, writes: &[Write]) -> Result<(), InventoryError> {
        let mut steps = Vec::with_capacity(writes.len());
        for write in writes {
            if let Moment::Running(vm) = &write.moment {
                self.place_of(vm)?;
            }
            let old = self.check_effect(&write.effect)?.cloned();
            let effect = write.effect.clone();
            steps.push((&write.moment, Step { effect, old }));
        }
        self.check_removals(writes)?;
        let mut now = Vec::with_capacity(steps.len());
        for (moment, step) in steps {
            match moment {
                Moment::Running(vm) if self.pending.contains_key(vm) => self.wait(vm, step),
                _ => now.push(step),
            }
        }
        self.carry_out(now);
        Ok(())
    }

    /// Check an effect, and give the row that it changes.
    fn check_effect(&self, effect: &Effect) -> Result<Option<&Facts>, InventoryError> {
        match effect {
            Effect::Reserve { vm, amount, value } => {
                self.place_of(vm)?;
                check_reserved(vm, amount, *value)?;
                Ok(None)
            }
            Effect::Row {
                entity,
                table,
                change,
            } => self.check_change(entity, table, change),
        }
    }

    fn check_change(
        &self,
        entity: &Entity,
        table: &Arc<str>,
        change: &RowChange,
    ) -> Result<Option<&Facts>, InventoryError> {
        let (parent, owner) = self.named(entity);
        let Some(of) = self.all_of(entity).into_iter().next() else {
            return Err(match entity {
                Entity::Host(id) => InventoryError::UnknownHost(id.clone()),
                _ => InventoryError::UnknownVm(owner.id.clone()),
            });
        };
        let below = match self.schema.table(parent) {
            Some(parent) => intake::child(&self.schema, parent, owner, table)?,
            None => return Err(intake::unknown_table(owner, table)),
        };
        let row = |at: usize| {
            let rows = self.rows_of(&of, table);
            rows.get(at).ok_or_else(|| InventoryError::NoRow {
                entity: owner.entity,
                id: owner.id.clone(),
                table: table.clone(),
                row: at,
                rows: rows.len(),
            })
        };
        match change {
            RowChange::Append(new) => {
                intake::check(&self.schema, below, owner, new)?;
                intake::check_complete(below, owner, new)?;
                Ok(None)
            }
            RowChange::Set(at, values) => {
                let old = row(*at)?;
                check_values(below, owner, values)?;
                intake::check_complete(below, owner, &with_values(old.clone(), values))?;
                Ok(Some(old))
            }
            RowChange::Remove(at) => row(*at).map(Some),
        }
    }

    /// A row that is removed is not set or removed besides.
    fn check_removals(&self, writes: &[Write]) -> Result<(), InventoryError> {
        let mut removed = BTreeSet::new();
        let mut set = BTreeSet::new();
        for write in writes {
            let Effect::Row {
                entity,
                table,
                change,
            } = &write.effect
            else {
                continue;
            };
            let (at, twice) = match change {
                RowChange::Append(_) => continue,
                RowChange::Set(at, _) => {
                    let row = (entity, table, *at);
                    set.insert(row);
                    (*at, removed.contains(&row))
                }
                RowChange::Remove(at) => {
                    let row = (entity, table, *at);
                    (*at, !removed.insert(row) || set.contains(&row))
                }
            };
            if twice {
                let (_, owner) = self.named(entity);
                return Err(InventoryError::RowRemoved {
                    entity: owner.entity,
                    id: owner.id.clone(),
                    table: table.clone(),
                    row: at,
                });
            }
        }
        Ok(())
    }

    /// Do what was checked.
    pub(super) fn carry_out(&mut self, steps: Vec<Step>) {
        // Rows are found before any changes, and removed after all others.
        let steps: Vec<_> = steps
            .into_iter()
            .map(|step| (self.find_rows(&step), step))
            .collect();
        let mut removals = Vec::new();
        for (places, Step { effect, old }) in steps {
            let (table, change) = match effect {
                Effect::Row { table, change, .. } => (table, change),
                Effect::Reserve { vm, amount, value } => {
                    self.reserve(&vm, amount, value);
                    continue;
                }
            };
            for (of, at) in places {
                match (&change, at) {
                    (RowChange::Append(row), _) => self.append_row(of, &table, row.clone()),
                    (RowChange::Set(_, values), Some(at)) => {
                        let row = self.rows_of(&of, &table)[at].clone();
                        let row = with_values(row, values);
                        self.change_row(of, &table, RowEdit::Replace(at, row));
                    }
                    (RowChange::Set(_, values), None) => {
                        let row = with_values(old.clone().unwrap_or_default(), values);
                        self.append_row(of, &table, row);
                    }
                    (RowChange::Remove(_), Some(at)) => removals.push((of, table.clone(), at)),
                    (RowChange::Remove(_), None) => {}
                }
            }
        }
        removals.sort_unstable();
        removals.dedup();
        for (of, table, at) in removals.into_iter().rev() {
            self.change_row(of, &table, RowEdit::Delete(at));
        }
    }

    fn append_row(&mut self, of: FactsOf, table: &Arc<str>, row: Facts) {
        let last = self.rows_of(&of, table).len();
        self.change_row(of, table, RowEdit::Insert(last, row));
    }

    /// Whose rows a step is about, and which row: the one of its number, unless
    /// that is another one by now and the one that was meant stands elsewhere.
    fn find_rows(&self, step: &Step) -> Vec<(FactsOf, Option<usize>)> {
        let Effect::Row {
            entity,
            table,
            change,
        } = &step.effect
        else {
            return Vec::new();
        };
        let old = step.old.as_ref();
        let find = |of: FactsOf| {
            let rows = self.rows_of(&of, table);
            let at = match change {
                RowChange::Append(_) => None,
                RowChange::Set(at, _) | RowChange::Remove(at) if rows.get(*at) == old => Some(*at),
                _ => rows.iter().position(|row| Some(row) == old),
            };
            (of, at)
        };
        self.all_of(entity).into_iter().map(find).collect()
    }

    /// Whose facts are written. Those of a VM stand at both of its places; the one
    /// that is reserved comes first, for requests are about it.
    fn all_of(&self, entity: &Entity) -> Vec<FactsOf> {
        match entity {
            Entity::Cluster => vec![FactsOf::Cluster],
            Entity::Tenant(id) => vec![FactsOf::Tenant(id.clone())],
            Entity::Host(id) => self.slot(id).map(FactsOf::Host).into_iter().collect(),
            Entity::Vm(id) => [true, false]
                .into_iter()
                .filter(|pending| self.placed(id, *pending).is_some())
                .map(|pending| FactsOf::Vm {
                    id: id.clone(),
                    pending,
                })
                .collect(),
            Entity::Placement(id) => {
                let place = self.place_of(id).ok().map(|entry| FactsOf::Stay {
                    id: id.clone(),
                    pending: entry.pending,
                });
                place.into_iter().collect()
            }
        }
    }

    /// The table that an entity's tables stand below, and what errors call it.
    fn named<'a>(&'a self, of: &'a Entity) -> (&'static str, Owner<'a>) {
        let (table, entity, id) = match of {
            Entity::Placement(id) => ("hosts/vms", "VM", id),
            Entity::Vm(id) => ("members", "VM", id),
            Entity::Host(id) => ("hosts", "host", id),
            Entity::Tenant(id) => ("tenant", "tenant", id),
            Entity::Cluster => ("cluster", "cluster", &self.name),
        };
        (table, Owner { entity, id })
    }

    /// The place that was reserved for a VM, or else the one where it runs.
    fn place_of(&self, id: &Arc<str>) -> Result<&VmEntry, InventoryError> {
        self.pending(id)
            .or_else(|| self.running(id))
            .ok_or_else(|| InventoryError::UnknownVm(id.clone()))
    }

    fn wait(&mut self, id: &Arc<str>, step: Step) {
        if let Some(entry) = self.placed_mut(id, true) {
            entry.stay_mut().waiting.push(step);
            self.changed(Undo::Wait { id: id.clone() });
        }
    }

    /// A VM's place takes no more of its host than the VM needs.
    pub fn release_reserved(&mut self, id: &Arc<str>) {
        let reserved = self.place_of(id).map(VmEntry::reserved);
        let reserved = reserved.map_or_else(|_| Vec::new(), <[_]>::to_vec);
        for (amount, value) in reserved {
            self.reserve(id, amount, -value);
        }
    }

    fn reserve(&mut self, id: &Arc<str>, amount: Arc<str>, value: i64) {
        let Ok(pending) = self.place_of(id).map(|entry| entry.pending) else {
            return;
        };
        if value != 0 {
            self.add_reserved(id, pending, &amount, value);
            self.changed(Undo::Reserve {
                id: id.clone(),
                pending,
                amount,
                value,
            });
        }
    }

    pub(super) fn add_reserved(&mut self, id: &str, pending: bool, amount: &Arc<str>, by: i64) {
        let Some(entry) = self.placed_mut(id, pending) else {
            return;
        };
        entry.stay_mut().reserve(amount, by);
        let slot = entry.slot;
        let sums = self.sums;
        let column = match (&**amount, pending) {
            (MEMORY, true) => sums.memory_pending,
            (MEMORY, false) => sums.memory_committed,
            (CPU, true) => sums.cpu_pending,
            (CPU, false) => sums.cpu_committed,
            _ => {
                if let Some(host) = self.host_mut(slot) {
                    host.count_amount(amount, by, pending);
                }
                self.renest(slot, "amounts");
                return;
            }
        };
        self.add_cell(column, slot, by);
        self.watch_host(slot);
    }
}

fn with_values(mut row: Facts, values: &[(Arc<str>, Option<Value>)]) -> Facts {
    for (column, value) in values {
        match value {
            Some(value) => row.set(column.clone(), value.clone()),
            None => row.unset(column),
        }
    }
    row
}

fn check_values(
    table: &Table,
    owner: Owner<'_>,
    values: &[(Arc<str>, Option<Value>)],
) -> Result<(), InventoryError> {
    for (column, value) in values {
        match value {
            Some(value) => intake::check_value(table, owner, column, value).map(drop)?,
            None => intake::check_column(table, owner, column).map(drop)?,
        }
    }
    Ok(())
}

fn check_reserved(vm: &Arc<str>, amount: &str, value: i64) -> Result<(), InventoryError> {
    let (entity, id) = ("VM", vm.clone());
    let column: Arc<str> = format!("what is reserved of {amount}").into();
    if value > GREATEST_INTEGER {
        return Err(InventoryError::OutOfRange { entity, id, column });
    }
    match Bounds::FROM_ZERO.broken_by(&Value::Integer(value), None) {
        Some(wanted) => Err(InventoryError::OutOfBounds {
            entity,
            id,
            column,
            wanted,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
