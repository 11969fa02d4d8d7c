//! A part that is asked once in a decision or a batch: its tables, and the call.

use std::sync::Arc;
use std::time::Duration;

use super::PartStep;
use super::encode::{self, Context, Dictionary, HostRows, Incomplete};
use super::run::DecisionError;
use placewright_engine::contract::{Call, Part};
use placewright_engine::unit::{Fault, Instance};

impl PartStep {
    /// The tables of a call about these hosts, and the slots of its rows: those
    /// that lack a value that the unit needs are not shown.
    pub(super) fn tables(
        &self,
        context: Context<'_>,
        slots: Vec<u32>,
    ) -> Result<(Call, Vec<u32>), DecisionError> {
        let mut call = Call::default();
        let slots = self.fill(context, slots, &mut Dictionary::default(), &mut call)?;
        Ok((call, slots))
    }

    /// The same, in a call that is there already.
    pub(super) fn fill(
        &self,
        context: Context<'_>,
        mut slots: Vec<u32>,
        dictionary: &mut Dictionary,
        call: &mut Call,
    ) -> Result<Vec<u32>, DecisionError> {
        let rows = HostRows::List(&slots);
        let lacking = encode::lacking(&self.plan, context.inventory, rows);
        without(&mut slots, &lacking);
        loop {
            let rows = HostRows::List(&slots);
            match encode::encode(&self.plan, context, rows, dictionary, call) {
                Ok(()) => return Ok(slots),
                Err(Incomplete::Hosts(lacking)) => without(&mut slots, &lacking),
                Err(Incomplete::Table { table, column }) => {
                    let giver = match self.part {
                        Part::Balance => "nothing gives it",
                        _ => "the request does not give it",
                    };
                    return Err(DecisionError::Refused(format!(
                        "unit \"{}\" needs {column} of {table} for its part {}, and {giver}",
                        self.unit.description().name,
                        self.part
                    )));
                }
            }
        }
    }

    /// Ask the part in an instance of its own.
    pub(super) fn ask<T>(
        &self,
        limit: Duration,
        ask: impl FnOnce(&mut Instance, Duration) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut instance = self.unit.instantiate(self.part)?;
        ask(&mut instance, limit)
    }

    /// What a fault means where the part cannot be done without.
    pub(super) fn refusal(&self, fault: Fault) -> DecisionError {
        match fault.is_refusal() {
            true => DecisionError::Refused(fault.to_string()),
            false => DecisionError::Failed {
                entry: self.name.clone(),
                fault: Arc::new(fault),
            },
        }
    }
}

/// Take the given rows, ascending, out of the list.
fn without(slots: &mut Vec<u32>, rows: &[u32]) {
    let mut row = 0;
    slots.retain(|_| {
        row += 1;
        rows.binary_search(&(row - 1)).is_err()
    });
}
