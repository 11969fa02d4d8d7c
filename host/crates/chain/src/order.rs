//! The turns of a batch.

use std::time::Duration;

use super::Chain;
use super::encode::Context;
use super::run::DecisionError;
use super::subject::Subject;
use placewright_inventory::Inventory;
use placewright_model::Request;

impl Chain {
    /// Put the members of a batch in order, by the policy's order unit or else as
    /// they are listed, one a turn. Members are given by their places; the members
    /// of a turn are to be placed together on one host. Who is in no turn is not
    /// to be placed.
    ///
    /// # Errors
    /// If the unit refuses or fails.
    pub fn turns(
        &self,
        inventory: &Inventory,
        batch: &Request,
        draw: f64,
        limit: Duration,
    ) -> Result<Vec<Vec<usize>>, DecisionError> {
        let Some(step) = &self.order else {
            return Ok((0..batch.members.len())
                .map(|member| vec![member])
                .collect());
        };
        let subject = Subject::new(batch, inventory, draw);
        let context = Context {
            inventory,
            subject: Some(&subject),
            settings: &step.settings,
            now: batch.now,
            candidates: None,
        };
        // Hosts of every state: an order may go by where members run now.
        let slots = inventory.hosts().map(|(slot, _)| slot).collect();
        let (call, _) = step.tables(context, slots)?;
        let turns = step
            .ask(limit, |instance, limit| instance.order(&call, limit))
            .map_err(|fault| step.refusal(fault))?;
        let bounds = turns.turns.windows(2);
        let rows = bounds.map(|bounds| &turns.rows[bounds[0] as usize..bounds[1] as usize]);
        Ok(rows
            .filter(|rows| !rows.is_empty())
            .map(|rows| rows.iter().map(|row| *row as usize).collect())
            .collect())
    }
}
