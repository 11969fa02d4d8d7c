//! Calls of a unit's parts, and what makes an answer one that can be used.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::TypedFunc;

use super::answer;
use super::fault::Fault;
use super::guest::Guest;
use super::state::Logged;
use crate::contract::{
    Answers, Call, Change, Description, Fact, Judgement, Part, Problem, Proposal, Shares,
    TableRead, Turns,
};

// A call borrows its tables. Wasmtime's functions are covariant in their
// parameters, so that one that is kept for `&'static Call` serves any `&Call`.
type Judge<'a> = TypedFunc<(Answers, &'a Call), (Result<Judgement, Problem>,)>;
type Balance<'a> = TypedFunc<(&'a Call,), (Result<Vec<Proposal>, Problem>,)>;
type Refine<'a> = TypedFunc<(&'a Call,), (Result<Shares, Problem>,)>;
type Placed<'a> = TypedFunc<(&'a Call,), (Result<Vec<Change>, Problem>,)>;
type Order<'a> = TypedFunc<(&'a Call,), (Result<Turns, Problem>,)>;
type Explain<'a> = TypedFunc<(&'a Call,), (Result<Vec<Fact>, Problem>,)>;
type Check<'a> = TypedFunc<(&'a Call,), (Result<(), String>,)>;

/// A running instance of a unit, with memory of its own.
///
/// Not shared: calls take `&mut self` and come one after the other. After a call
/// that trapped, every further call gives [`super::Cause::Poisoned`].
pub struct Instance {
    guest: Guest,
    description: Arc<Description>,
    // Looked up and checked at the first call: a fresh instance serves one part.
    judge: Option<Judge<'static>>,
    balance: Option<Balance<'static>>,
    refine: Option<Refine<'static>>,
    placed: Option<Placed<'static>>,
    order: Option<Order<'static>>,
    explain: Option<Explain<'static>>,
    check: Option<Check<'static>>,
}

impl Instance {
    pub(super) fn new(guest: Guest, description: Arc<Description>) -> Self {
        Self {
            guest,
            description,
            judge: None,
            balance: None,
            refine: None,
            placed: None,
            order: None,
            explain: None,
            check: None,
        }
    }

    /// Ask the part `judge` about the tables of `call`; `rows` is the number of
    /// hosts in them, or 1 for a part that reads no `hosts`. It may take as long
    /// as `budget`.
    ///
    /// The answer has been checked: lengths, reasons, costs.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn judge(
        &mut self,
        want: Answers,
        call: &Call,
        rows: usize,
        budget: Duration,
    ) -> Result<Judgement, Fault> {
        let function: Judge<'_> = match self.judge {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Judge)?;
                *self.judge.insert(function)
            }
        };
        let (answer,) = self
            .guest
            .run(Part::Judge, budget, function, (want, call))?;
        let mut judgement = answer.map_err(|problem| self.guest.problem(Part::Judge, problem))?;
        if let Some(part) = &self.description.judge {
            answer::check_judgement(&mut judgement, want, rows, part)
                .map_err(|cause| self.guest.fault(Part::Judge, cause))?;
        }
        Ok(judgement)
    }

    /// Ask the part `balance` for proposals, as [`Instance::judge`] asks for a
    /// judgement. The rows that it names exist in `call`.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn balance(&mut self, call: &Call, budget: Duration) -> Result<Vec<Proposal>, Fault> {
        let function: Balance<'_> = match self.balance {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Balance)?;
                *self.balance.insert(function)
            }
        };
        let (answer,) = self.guest.run(Part::Balance, budget, function, (call,))?;
        let proposals = answer.map_err(|problem| self.guest.problem(Part::Balance, problem))?;
        if let Some(part) = &self.description.balance {
            answer::check_proposals(&proposals, part, &call.rows)
                .map_err(|cause| self.guest.fault(Part::Balance, cause))?;
        }
        Ok(proposals)
    }

    /// Ask the part `selection` to refine so many candidates, those of `call`. The
    /// shares have been checked against them.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn refine(
        &mut self,
        call: &Call,
        candidates: usize,
        budget: Duration,
    ) -> Result<Shares, Fault> {
        let function: Refine<'_> = match self.refine {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Selection)?;
                *self.refine.insert(function)
            }
        };
        let (answer,) = self.guest.run(Part::Selection, budget, function, (call,))?;
        let shares = answer.map_err(|problem| self.guest.problem(Part::Selection, problem))?;
        answer::check_shares(&shares, candidates)
            .map_err(|cause| self.guest.fault(Part::Selection, cause))?;
        Ok(shares)
    }

    /// Ask the part `effects` what follows from placing the members of `call` on
    /// its only host. The changes fit the declared writes.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn placed(
        &mut self,
        call: &Call,
        members: usize,
        budget: Duration,
    ) -> Result<Vec<Change>, Fault> {
        let function: Placed<'_> = match self.placed {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Effects)?;
                *self.placed.insert(function)
            }
        };
        let (answer,) = self.guest.run(Part::Effects, budget, function, (call,))?;
        let changes = answer.map_err(|problem| self.guest.problem(Part::Effects, problem))?;
        if let Some(part) = &self.description.effects {
            answer::check_changes(&changes, &part.writes, members)
                .map_err(|cause| self.guest.fault(Part::Effects, cause))?;
        }
        Ok(changes)
    }

    /// Ask the part `order` for the turns of the members of `call`, each of whom is
    /// in at most one.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn order(&mut self, call: &Call, budget: Duration) -> Result<Turns, Fault> {
        let function: Order<'_> = match self.order {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Order)?;
                *self.order.insert(function)
            }
        };
        let (answer,) = self.guest.run(Part::Order, budget, function, (call,))?;
        let turns = answer.map_err(|problem| self.guest.problem(Part::Order, problem))?;
        answer::check_turns(&turns, self.rows(Part::Order, "members", call))
            .map_err(|cause| self.guest.fault(Part::Order, cause))?;
        Ok(turns)
    }

    /// Ask the part `explain` for the values behind a judgement. The rows that they
    /// are about exist in `call`.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn explain(&mut self, call: &Call, budget: Duration) -> Result<Vec<Fact>, Fault> {
        let function: Explain<'_> = match self.explain {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Explain)?;
                *self.explain.insert(function)
            }
        };
        let (answer,) = self.guest.run(Part::Explain, budget, function, (call,))?;
        let facts = answer.map_err(|problem| self.guest.problem(Part::Explain, problem))?;
        let reads = self.description.reads(Part::Explain).unwrap_or_default();
        answer::check_facts(&facts, reads, &call.rows)
            .map_err(|cause| self.guest.fault(Part::Explain, cause))?;
        Ok(facts)
    }

    /// How many rows of a table a call of a part has; none if the part does not
    /// read it.
    fn rows(&self, part: Part, table: &str, call: &Call) -> usize {
        let reads: &[TableRead] = self.description.reads(part).unwrap_or_default();
        let number = reads.iter().position(|read| read.table == table);
        let rows = number.and_then(|number| call.rows.get(number));
        rows.map_or(0, |rows| *rows as usize)
    }

    /// Ask the part `settings` whether the settings go together.
    ///
    /// # Errors
    /// [`super::Cause::Refused`] with the unit's sentence if they do not, or however else
    /// the call ended.
    pub fn check_settings(&mut self, settings: &Call, budget: Duration) -> Result<(), Fault> {
        let function: Check<'_> = match self.check {
            Some(function) => function,
            None => {
                let function = self.guest.function(Part::Settings)?;
                *self.check.insert(function)
            }
        };
        let (answer,) = self
            .guest
            .run(Part::Settings, budget, function, (settings,))?;
        answer.map_err(|text| self.guest.problem(Part::Settings, Problem::Refused(text)))
    }

    /// Ask the unit again what it is. It must say the same as when it was loaded.
    ///
    /// # Errors
    /// However the call ended without an answer.
    pub fn describe(&mut self, budget: Duration) -> Result<Description, Fault> {
        self.guest.describe(budget)
    }

    /// What the unit logged in the last call, bounded by the limits.
    pub fn logged(&self) -> &[Logged] {
        &self.guest.state().log
    }

    /// Fuel that the last call used; 0 in an engine that does not count fuel.
    pub fn fuel_used(&self) -> u64 {
        self.guest.fuel_used
    }

    /// Bytes of its linear memories, all together. They grow and never shrink.
    pub fn memory(&self) -> usize {
        self.guest.state().memory()
    }

    /// Whether a call trapped, so that this instance answers no more.
    pub fn is_poisoned(&self) -> bool {
        self.guest.poisoned
    }
}
