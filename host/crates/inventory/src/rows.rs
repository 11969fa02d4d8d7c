//! Rows of facts come, change and go, each in a way that can be taken back.

use std::sync::Arc;

use super::holdings::Held;
use super::journal::Undo;
use super::nested::{GPUS, HUGE_PAGES, NUMA_NODES, PINS};
use super::{Aspects, Inventory};
use placewright_model::Facts;

/// The table of a VM that names models of GPUs.
const GPU_MODELS: &str = "gpu-models";

/// Whose facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FactsOf {
    Cluster,
    Tenant(Arc<str>),
    Host(u32),
    /// A VM where it runs, or where it has a place reserved.
    Vm {
        id: Arc<str>,
        pending: bool,
    },
    /// The stay of a VM on its host.
    Stay {
        id: Arc<str>,
        pending: bool,
    },
}

/// What happens to one row of a table.
#[derive(Debug, Clone)]
pub(super) enum RowEdit {
    Insert(usize, Facts),
    Replace(usize, Facts),
    Delete(usize),
}

impl RowEdit {
    /// Carry the edit out, and give what takes it back.
    fn apply(self, facts: &mut Facts, table: &Arc<str>) -> Option<Self> {
        Some(match self {
            RowEdit::Insert(at, row) => RowEdit::Delete(facts.insert_row(table, at, row)),
            RowEdit::Replace(at, row) => RowEdit::Replace(at, facts.replace_row(table, at, row)?),
            RowEdit::Delete(at) => RowEdit::Insert(at, facts.remove_row(table, at)?),
        })
    }
}

impl Inventory {
    pub(super) fn facts_of(&self, of: &FactsOf) -> Option<&Facts> {
        match of {
            FactsOf::Cluster => Some(&self.facts),
            FactsOf::Tenant(id) => self.tenants.get(id),
            FactsOf::Host(slot) => Some(&self.host(*slot)?.facts),
            FactsOf::Vm { id, pending } => Some(&self.placed(id, *pending)?.vm.facts),
            FactsOf::Stay { id, pending } => {
                let stay = self.placed(id, *pending)?.stay.as_ref()?;
                Some(&stay.rows)
            }
        }
    }

    /// The rows of a table, none if there is no such entity.
    pub(super) fn rows_of(&self, of: &FactsOf, table: &str) -> &[Facts] {
        self.facts_of(of).map_or(&[], |facts| facts.rows(table))
    }

    /// Change a row, and remember how it was.
    pub(super) fn change_row(&mut self, of: FactsOf, table: &Arc<str>, edit: RowEdit) {
        if let FactsOf::Tenant(id) = &of
            && !self.tenants.contains_key(id)
        {
            self.tenants.insert(id.clone(), Facts::new());
            self.changed(Undo::SetTenant {
                id: id.clone(),
                old: None,
            });
        }
        if let Some(back) = self.edit_row(&of, table, edit) {
            let table = table.clone();
            self.changed(Undo::Row {
                of,
                table,
                back: Box::new(back),
            });
        }
    }

    /// Change a row. Gives what takes it back; None if it was not there.
    pub(super) fn edit_row(
        &mut self,
        of: &FactsOf,
        table: &Arc<str>,
        edit: RowEdit,
    ) -> Option<RowEdit> {
        match of {
            FactsOf::Cluster => edit.apply(&mut self.facts, table),
            FactsOf::Tenant(id) => edit.apply(self.tenants.get_mut(id)?, table),
            FactsOf::Host(slot) => {
                let host = self.host_mut(*slot)?;
                let back = edit.apply(&mut host.facts, table);
                if &**table == "amounts" {
                    self.recount_amounts(*slot);
                }
                self.renest_given(*slot, table);
                self.note(*slot, Aspects::ROWS);
                back
            }
            FactsOf::Vm { id, pending } | FactsOf::Stay { id, pending } => {
                let index = *self.places(*pending).get(id)? as usize;
                let counts = &**table == "amounts";
                // What it holds changes, and so what it takes where it is to grow.
                let growth = match self.vms[index].as_ref() {
                    Some(entry) if counts && !entry.pending => self.growth(id, entry.slot),
                    _ => None,
                };
                if let Some(growth) = &growth {
                    self.count_amounts(growth, -1);
                }
                // Out of its place meanwhile, so that what it needs can be counted.
                let mut entry = self.vms[index].take()?;
                if counts {
                    self.count_amounts(&entry, -1);
                }
                // A VM that names models of GPUs takes one.
                let holds = **table == *GPU_MODELS && matches!(of, FactsOf::Vm { .. });
                let others = match holds {
                    true => vec![
                        self.placed(id, !*pending).and_then(Held::by),
                        self.vacated_held(id),
                    ],
                    false => Vec::new(),
                };
                if holds {
                    self.holdings.remove(Held::by(&entry).as_ref(), &others);
                }
                let facts = match of {
                    FactsOf::Vm { .. } => &mut Arc::make_mut(&mut entry.vm).facts,
                    _ => &mut entry.stay_mut().rows,
                };
                let back = edit.apply(facts, table);
                if holds {
                    self.holdings.add(Held::by(&entry).as_ref(), &others);
                }
                if counts {
                    self.count_amounts(&entry, 1);
                }
                let slot = entry.slot;
                self.vms[index] = Some(entry);
                if let Some(growth) = &growth {
                    self.count_amounts(growth, 1);
                }
                self.note(slot, Aspects::VMS);
                if **table == *HUGE_PAGES {
                    self.renest(slot, HUGE_PAGES);
                }
                if [HUGE_PAGES, NUMA_NODES, PINS].contains(&&**table) {
                    self.renest_nodes(slot);
                }
                if **table == *GPUS {
                    self.renest(slot, GPUS);
                }
                back
            }
        }
    }
}
