//! What follows from a placement, by the policy's effects.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use super::PartStep;
use super::run::{DecisionError, Runner};
use super::subject::Subject;
use super::warm::Warm;
use placewright_engine::contract::{self, Change, Moment, Operation, Scope};
use placewright_engine::unit::Instance;
use placewright_inventory::Inventory;
use placewright_model::{Entity, Facts, Request, RowChange, Value, Write};

/// What one entry of the policy has follow from a placement.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// The policy's name for the entry.
    pub entry: Arc<str>,
    /// What is written, in order.
    pub writes: Vec<Write>,
}

impl Runner {
    /// Ask the policy's effects what follows if the request's members are placed
    /// on the host in `slot`. Entries that want nothing written are left out. They
    /// have what the decision just made has left of its time.
    ///
    /// # Errors
    /// If one of the units refuses or fails, or the time is up: then the decision
    /// fails.
    pub fn follow(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        slot: u32,
    ) -> Result<Vec<Followed>, DecisionError> {
        let chain = self.chain().clone();
        if chain.effects.is_empty() {
            return Ok(Vec::new());
        }
        // Out of the runner while the asker holds it.
        let mut warm = std::mem::take(&mut self.effects);
        for step in chain.effects.iter().skip(warm.len()) {
            let idle = self
                .idle
                .get_or_insert_with(|| step.unit.engine().idle_instances());
            warm.push(Warm::new(idle.place()));
        }
        let subject = Subject::new(request, inventory, draw);
        let followed = self.ask_effects(inventory, &subject, slot, &mut warm);
        for (warm, step) in warm.iter_mut().zip(&chain.effects) {
            if warm.takes_difference() {
                self.quarantine(step, inventory, slot);
            }
        }
        self.effects = warm;
        followed
    }

    /// The same without a decision just before: effects have all of the chain's time.
    ///
    /// # Errors
    /// As for [`Runner::follow`].
    pub fn follow_alone(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        slot: u32,
    ) -> Result<Vec<Followed>, DecisionError> {
        self.begin();
        self.follow(inventory, request, draw, slot)
    }

    fn ask_effects(
        &mut self,
        inventory: &Inventory,
        subject: &Subject<'_>,
        slot: u32,
        warm: &mut [Warm],
    ) -> Result<Vec<Followed>, DecisionError> {
        let chain = self.chain().clone();
        let keeps_instances = self.keeps_answers();
        let request = subject.request;
        let mut asker = self.asker(inventory, subject);
        let mut followed = Vec::new();
        for (step, warm) in chain.effects.iter().zip(warm) {
            let began = Instant::now();
            let limit = asker.left(&step.name)?;
            let (context, dictionary) = asker.context_and_dictionary(&step.settings);
            let mut call = std::mem::take(&mut warm.call);
            let shown = step.fill(context, vec![slot], dictionary, &mut call)?;
            if shown.is_empty() {
                return Err(lacking(step, inventory, slot));
            }
            let members = request.members.len();
            let memory = Cell::new(0);
            let ask = |instance: &mut Instance, limit| {
                let changes = instance.placed(&call, members, limit);
                memory.set(memory.get().max(instance.memory()));
                changes
            };
            let changes = match keeps_instances {
                true => warm.ask(step, limit, ask),
                false => step.ask(limit, ask),
            };
            warm.call = call;
            asker.took(step, shown.len(), began.elapsed(), memory.get());
            let changes = changes.map_err(|fault| step.refusal(fault))?;
            let writer = Writer {
                step,
                inventory,
                request,
                slot,
            };
            let writes: Vec<Write> = changes
                .into_iter()
                .map(|change| writer.write(change))
                .collect::<Result<_, _>>()?;
            if !writes.is_empty() {
                followed.push(Followed {
                    entry: step.name.clone(),
                    writes,
                });
            }
        }
        Ok(followed)
    }
}

fn lacking(step: &PartStep, inventory: &Inventory, slot: u32) -> DecisionError {
    DecisionError::Refused(format!(
        "unit \"{}\" cannot say what follows: host \"{}\" lacks a value that it needs",
        step.unit.description().name,
        inventory.host(slot).map_or("", |host| &host.id)
    ))
}

/// Row numbers of a call to ids.
pub(super) struct Writer<'a> {
    pub(super) step: &'a PartStep,
    pub(super) inventory: &'a Inventory,
    pub(super) request: &'a Request,
    pub(super) slot: u32,
}

impl Writer<'_> {
    /// A change that was checked against the declared writes, in ids.
    pub(super) fn write(&self, change: Change) -> Result<Write, DecisionError> {
        let member = self.request.members.get(change.entity as usize);
        let Some(vm) = member.or(self.request.members.first()) else {
            return Err(self.refused("writes for a VM, and the request names none"));
        };
        let vm = &vm.id;
        let declared = self.step.unit.description().effects.as_ref();
        let declared = declared.and_then(|part| part.writes.get(change.write as usize));
        let declared =
            || declared.ok_or_else(|| self.refused("names a write that it does not declare"));
        // No row of a table: a part that does nothing else declares no write.
        if let Operation::Reserve((amount, value)) = &change.operation {
            return Ok(Write::reserve(vm.clone(), amount.as_str(), *value));
        }
        let write = declared()?;
        let Some(row) = row_change(write, &change.operation) else {
            return Err(self.refused("changes no row"));
        };
        let written = Write::row(self.entity(write.scope, vm)?, write.table.as_str(), row);
        Ok(match write.moment {
            Moment::Decided => written,
            Moment::Running => written.once_running(vm.clone()),
        })
    }

    /// Whose table a write of that scope is about.
    fn entity(&self, scope: Scope, vm: &Arc<str>) -> Result<Entity, DecisionError> {
        Ok(match scope {
            Scope::Placement => Entity::Placement(vm.clone()),
            Scope::Vm => Entity::Vm(vm.clone()),
            Scope::Tenant => match self.request.facts.get("tenant") {
                Some(Value::Text(id)) => Entity::Tenant(id.clone()),
                _ => return Err(self.refused("writes for a tenant, and the request names none")),
            },
            Scope::Host => match self.inventory.host(self.slot) {
                Some(host) => Entity::Host(host.id.clone()),
                None => return Err(self.refused("writes for a host that is gone")),
            },
            Scope::Cluster => Entity::Cluster,
        })
    }

    fn refused(&self, what: &str) -> DecisionError {
        DecisionError::Refused(format!(
            "unit \"{}\" {what}",
            self.step.unit.description().name
        ))
    }
}

/// What an operation does to a row of the table that is written; None where it
/// reserves.
pub(super) fn row_change(write: &contract::Write, operation: &Operation) -> Option<RowChange> {
    Some(match operation {
        Operation::Reserve(_) => return None,
        Operation::Append(values) => RowChange::Append(facts(write, values)),
        Operation::Set((row, values)) => RowChange::Set(*row as usize, by_column(write, values)),
        Operation::Remove(row) => RowChange::Remove(*row as usize),
    })
}

/// The values of a new row, by column.
fn facts(write: &contract::Write, values: &[Option<contract::Value>]) -> Facts {
    let mut facts = Facts::new();
    for (column, value) in by_column(write, values) {
        if let Some(value) = value {
            facts.set(column, value);
        }
    }
    facts
}

/// The values of a row, by column; none where there is to be none.
fn by_column(
    write: &contract::Write,
    values: &[Option<contract::Value>],
) -> Vec<(Arc<str>, Option<Value>)> {
    let columns = write.columns.iter().zip(values);
    columns
        .map(|((column, _), value)| (column.as_str().into(), value.as_ref().map(Value::from)))
        .collect()
}
