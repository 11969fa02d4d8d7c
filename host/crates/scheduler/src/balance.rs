//! The periodic pass with the policy's balance unit: proposals are held against the
//! ordinary chain, put in an order in which each is legal, reviewed, and then begun
//! or cancelled.
//!
//! A plan is made on the inventory, and what it tries is taken back. It is a row of steps of one move each:
//! the unit is asked anew after every step, so whoever stops after any of them has
//! only made moves that the chain makes and that lower its cost.

mod apply;
mod cause;
mod cool_down;
mod evacuate;
mod gain;
mod pass;
mod plan;
mod reasons;
mod relocate;
mod repair;
mod restart;
mod shown;
mod world;

pub use apply::{BalanceError, Begun};
pub(super) use cool_down::CoolDown;
pub(super) use pass::RESTART;
pub use plan::{
    BalancePlan, Cause, MoveError, Nearest, Origin, PlannedMove, RefusedMove, RemovedHosts,
    StandingReservation, Stuck,
};
pub use shown::{
    ChangeShown, MoveShown, PlanTold, RefusedShown, StandingReservationShown, StuckShown,
};

use super::{PlaceError, Scheduler};
use placewright_chain::{DecisionError, Proposed};

/// How a pass goes about its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalanceOptions {
    /// A move is made only if it lowers the policy's cost by more than this, in the
    /// first tier in which the costs differ by more than this.
    pub margin: f64,
    /// Seconds for which a VM stays where it was moved to. If there are any, no VM is moved
    /// twice in one plan.
    pub cool_down: i64,
    /// The most moves of one plan.
    pub moves: usize,
    /// Whether what is wrong with the cluster is put right first, whatever the policy's
    /// balance unit says: VMs on hosts that are not up, hard groups that are broken, hosts
    /// that have promised more than they may.
    pub repairs: bool,
}

impl Default for BalanceOptions {
    fn default() -> Self {
        Self {
            // More than rounding does.
            margin: 1e-9,
            cool_down: 300,
            moves: 100,
            repairs: true,
        }
    }
}

impl Scheduler {
    /// What the policy's balance unit proposes at `now` (seconds), in order of
    /// preference, whether the chain agrees or not. Nothing is changed.
    ///
    /// # Errors
    /// If the unit refuses or fails.
    pub fn balance(&mut self, now: i64) -> Result<Vec<Proposed>, DecisionError> {
        self.inventory.advance(now);
        self.runner
            .chain()
            .balance(&self.inventory, now, self.options.chain_limit)
    }

    /// Plan moves at `now` (seconds): first, if they are wanted, those that put right what
    /// is wrong with the cluster; then those that the policy's balance unit proposes, that
    /// the chain would make, and that lower its cost. Nothing is changed.
    ///
    /// # Errors
    /// If a unit refuses or fails that the policy cannot do without.
    pub fn plan_balance(
        &mut self,
        now: i64,
        options: &BalanceOptions,
    ) -> Result<BalancePlan, PlaceError> {
        self.inventory.advance(now);
        pass::Pass::of(self, now, options, |pass| pass.plan())
    }
}
