//! What follows from a placement, by the policy's effects.

use std::sync::Arc;
use std::time::Instant;

use super::PartStep;
use super::encode::Context;
use super::run::{Refusal, Runner};
use super::subject::Subject;
use crate::contract::{self, Change, Moment, Operation, Scope};
use crate::inventory::Inventory;
use crate::model::{Facts, Request, Value, Write, WriteChange, WriteMoment, WriteOwner};

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
    /// on the host in `slot`. Entries that want nothing written are left out.
    ///
    /// # Errors
    /// If one of the units refuses or fails: then the decision fails.
    pub fn follow(
        &mut self,
        inventory: &Inventory,
        request: &Request,
        draw: f64,
        slot: u32,
    ) -> Result<Vec<Followed>, Refusal> {
        let chain = self.chain().clone();
        if chain.effects.is_empty() {
            return Ok(Vec::new());
        }
        let subject = Subject::new(request, inventory, draw);
        let mut followed = Vec::new();
        for step in &chain.effects {
            let began = Instant::now();
            let context = Context {
                inventory,
                subject: Some(&subject),
                settings: &step.settings,
                now: request.now,
                candidates: None,
            };
            let (call, shown) = step.tables(context, vec![slot])?;
            if shown.is_empty() {
                return Err(lacking(step, inventory, slot));
            }
            let members = request.members.len();
            let changes = step
                .ask(self.limit(), |instance, limit| {
                    instance.placed(&call, members, limit)
                })
                .map_err(|fault| step.refusal(fault))?;
            self.took(step, began.elapsed());
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

fn lacking(step: &PartStep, inventory: &Inventory, slot: u32) -> Refusal {
    Refusal::Refused(format!(
        "unit \"{}\" cannot say what follows: host \"{}\" lacks a value that it needs",
        step.unit.description().name,
        inventory.host(slot).map_or("", |host| &host.id)
    ))
}

/// Row numbers of a call to ids.
struct Writer<'a> {
    step: &'a PartStep,
    inventory: &'a Inventory,
    request: &'a Request,
    slot: u32,
}

impl Writer<'_> {
    /// A change that was checked against the declared writes, in ids.
    fn write(&self, change: Change) -> Result<Write, Refusal> {
        let declared = self.step.unit.description().effects.as_ref();
        let write = declared.and_then(|part| part.writes.get(change.write as usize));
        let member = self.request.members.get(change.entity as usize);
        let (Some(write), Some(first)) = (write, self.request.members.first()) else {
            return Err(self.refused("names a write that it does not declare"));
        };
        let vm = member.unwrap_or(first).id.clone();
        let reserves = matches!(change.operation, Operation::Reserve(_));
        let owner = match write.scope {
            // What is reserved belongs to a placement, whatever write it names.
            _ if reserves => WriteOwner::Placement(vm.clone()),
            Scope::Placement => WriteOwner::Placement(vm.clone()),
            Scope::Vm => WriteOwner::Vm(vm.clone()),
            Scope::Tenant => match self.request.facts.get("tenant") {
                Some(Value::Text(id)) => WriteOwner::Tenant(id.clone()),
                _ => return Err(self.refused("writes for a tenant, and the request names none")),
            },
            Scope::Host => match self.inventory.host(self.slot) {
                Some(host) => WriteOwner::Host(host.id.clone()),
                None => return Err(self.refused("writes for a host that is gone")),
            },
            Scope::Cluster => WriteOwner::Cluster,
        };
        let facts = |values: Vec<Option<contract::Value>>| {
            let mut facts = Facts::new();
            for ((column, _), value) in write.columns.iter().zip(&values) {
                if let Some(value) = value {
                    facts.set(column.as_str(), Value::from(value));
                }
            }
            facts
        };
        Ok(Write {
            owner,
            table: write.table.as_str().into(),
            moment: match write.moment {
                Moment::Decided => WriteMoment::Decided,
                Moment::Running => WriteMoment::Running,
            },
            vm,
            change: match change.operation {
                Operation::Append(values) => WriteChange::Append(facts(values)),
                Operation::Set((row, values)) => WriteChange::Set(row as usize, facts(values)),
                Operation::Remove(row) => WriteChange::Remove(row as usize),
                Operation::Reserve((amount, value)) => {
                    WriteChange::Reserve(amount.as_str().into(), value)
                }
            },
        })
    }

    fn refused(&self, what: &str) -> Refusal {
        Refusal::Refused(format!(
            "unit \"{}\" {what}",
            self.step.unit.description().name
        ))
    }
}
