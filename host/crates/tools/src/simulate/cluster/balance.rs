//! The periodic pass of the policy's balance unit.

use std::time::Instant;

use super::run::Run;
use crate::simulate::ReplayError;

impl Run<'_> {
    /// Make the passes that are due before `time`.
    pub(super) fn balance_until(&mut self, time: i64) -> Result<(), ReplayError> {
        while let Some(passes) = &mut self.passes
            && let Some((now, options)) = passes.due_before(time)
        {
            let begin = Instant::now();
            self.tally.advance(now);
            let plan = self.scheduler.plan_balance(now, &options);
            let plan = plan.map_err(|source| ReplayError::Balance {
                time: now,
                source: Box::new(source.into()),
            })?;
            let moves = self.carry_out(now, &plan)?;
            self.moved.balance += moves;
            self.look()?;
            if let Some(passes) = &mut self.passes {
                passes.made(plan.moves.len() as u64, begin.elapsed());
            }
        }
        Ok(())
    }
}
