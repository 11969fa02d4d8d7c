//! An instance of a part that is asked once in a decision, kept for the decisions after.

use std::time::{Duration, Instant};

use super::PartStep;
use super::run::CALLS_PER_INSTANCE;
use placewright_engine::IdlePlace;
use placewright_engine::contract::Call;
use placewright_engine::unit::{Fault, Instance};

/// In one of so many calls of a warm instance a fresh one is asked the same.
const CALLS_PER_CHECK: u64 = 64;

/// The instance of one step, and room for its calls.
///
/// A part that imports nothing but `log` is a function of its tables, unless it keeps
/// something in its memory from call to call. To see that it does not, a fresh instance
/// is asked the same from time to time. If it says something else, it is in the right,
/// and every call has an instance of its own from then on.
pub(super) struct Warm {
    pub(super) call: Call,
    instance: IdlePlace,
    /// Calls that the instance has answered.
    calls: u64,
    is_doubted: bool,
    /// A fresh instance said something else, which nobody was told yet.
    differed: bool,
}

impl Warm {
    /// None yet, in that place.
    pub(super) fn new(place: IdlePlace) -> Self {
        Self {
            call: Call::default(),
            instance: place,
            calls: 0,
            is_doubted: false,
            differed: false,
        }
    }

    /// Ask the part in the warm instance, if there is one. A trap in it counts only if a
    /// fresh one traps too.
    pub(super) fn ask<T: PartialEq>(
        &mut self,
        step: &PartStep,
        limit: Duration,
        ask: impl Fn(&mut Instance, Duration) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Some(mut warm) = self.instance.take() else {
            let mut fresh = Box::new(step.unit.instantiate(step.part)?);
            let answer = ask(&mut fresh, limit);
            self.calls = 1;
            self.keep(fresh);
            return answer;
        };
        let began = Instant::now();
        let answer = ask(&mut warm, limit);
        let left = || limit.saturating_sub(began.elapsed());
        if answer.as_ref().is_err_and(Fault::is_worth_another_try) {
            return step.ask(left(), ask);
        }
        // The first of them too: what counts its calls is found out at once.
        if self.calls % CALLS_PER_CHECK == 1
            && let Ok(said) = &answer
        {
            let fresh = step.ask(left(), ask);
            let agrees = match &fresh {
                Ok(fresh) => fresh == said,
                Err(fault) => fault.is_out_of_time(),
            };
            if !agrees {
                (self.is_doubted, self.differed) = (true, true);
                return fresh;
            }
        }
        self.calls += 1;
        self.keep(warm);
        answer
    }

    /// Keep an instance for the next call, unless it is not to be entered again.
    fn keep(&mut self, instance: Box<Instance>) {
        let is_used_up = self.calls >= CALLS_PER_INSTANCE;
        if !is_used_up && !self.is_doubted && !instance.is_poisoned() {
            self.instance.keep(instance);
        }
    }

    /// Whether a fresh instance said something else since the last time this was asked.
    pub(super) fn takes_difference(&mut self) -> bool {
        std::mem::take(&mut self.differed)
    }
}
