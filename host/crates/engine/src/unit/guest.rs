//! One running component under limits: the only place that enters WebAssembly.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::{ComponentNamedList, InstancePre, Lift, Lower, TypedFunc};
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, UpdateDeadline};

use super::backtrace;
use super::exports::Exports;
use super::fault::{Cause, Fault, Identity};
use super::lines::Lines;
use super::place::Place;
use super::state::{State, sentence};
use crate::contract::{Description, Part, Problem, bounds};
use crate::{Allowance, Engine};
use placewright_model::cut;

/// An instance of a component, with memory of its own, that trapped at most once.
pub(super) struct Guest {
    engine: Engine,
    identity: Arc<Identity>,
    store: Store<State>,
    instance: wasmtime::component::Instance,
    exports: Arc<Exports>,
    pace: Pace,
    pub(super) poisoned: bool,
    pub(super) fuel_used: u64,
}

/// Almost every instance is made in a thousandth of this. One that is not is made again with an
/// allowance of processor time.
const SOON: Duration = Duration::from_millis(10);

/// By which clock the calls of an instance are limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// By the wall clock: somebody waits.
    Wall,
    /// By the processor time that they use: see [`Allowance`].
    Processor,
}

impl Guest {
    /// Make an instance, which runs its start function under the limits. `part`
    /// is what it is meant for, and `pace` says how its calls are limited.
    /// Where too many instances exist, those go that nobody uses just now.
    pub(super) fn new(
        engine: &Engine,
        identity: &Arc<Identity>,
        pre: &InstancePre<State>,
        exports: &Arc<Exports>,
        lines: &Arc<Lines>,
        meant: (Part, Pace),
    ) -> Result<Self, Fault> {
        let limit = engine.limits().time;
        let mut allowance = match meant.1 {
            Pace::Wall => None,
            Pace::Processor => Some(Allowance::begin(limit)),
        };
        loop {
            let (identity, exports) = (identity.clone(), exports.clone());
            let made = Self::make(
                engine,
                identity,
                pre,
                exports,
                lines.clone(),
                meant,
                allowance,
            );
            let cause = made.as_ref().err().map(|fault| &*fault.cause);
            match cause {
                Some(Cause::NoInstance(_)) if engine.release_instance() => {}
                // That another program has the processor meanwhile is no fault of the unit's.
                Some(Cause::Time(_) | Cause::Start(_)) if allowance.is_none() => {
                    allowance = Some(Allowance::begin(limit));
                }
                _ => return made,
            }
        }
    }

    /// Without an allowance the instance is made in [`SOON`] or not: asking for the time of the
    /// thread takes a twentieth of what making it does.
    fn make(
        engine: &Engine,
        identity: Arc<Identity>,
        pre: &InstancePre<State>,
        exports: Arc<Exports>,
        lines: Arc<Lines>,
        (part, pace): (Part, Pace),
        allowance: Option<Allowance>,
    ) -> Result<Self, Fault> {
        let limits = engine.limits();
        let state = State::new(identity.clone(), lines, engine);
        let mut store = Store::new(engine.wasmtime(), state);
        store.limiter(|state| state);
        store.set_hostcall_fuel(limits.answer);
        let soon = limits.time.min(SOON);
        match allowance {
            Some(allowance) => allow_processor_time(engine, &mut store, allowance, limits.time),
            None => limit(engine, &mut store, soon),
        }
        let end = engine.clock().after(soon);
        let instance = pre.instantiate(&mut store).map_err(|error| Fault {
            unit: identity.clone(),
            part,
            cause: Box::new(ended_at_start(&error, &store, engine)),
            place: place(&error, &exports),
        })?;
        // Segments are copied without anybody looking at the time.
        let is_over = match allowance {
            Some(allowance) => allowance.remaining().is_none(),
            None => engine.clock().until(end).is_zero(),
        };
        if limits.fuel.is_none() && is_over {
            return Err(Fault {
                unit: identity,
                part,
                cause: Box::new(Cause::Start(limits.time)),
                place: Place::Untold,
            });
        }
        if pace == Pace::Wall {
            store.epoch_deadline_trap();
        }
        Ok(Self {
            engine: engine.clone(),
            identity,
            store,
            instance,
            exports,
            pace,
            poisoned: false,
            fuel_used: 0,
        })
    }

    /// Ask the unit what it is. Nothing is read of a description beyond
    /// [`bounds::DESCRIPTION`], so that what is done with one takes milliseconds.
    pub(super) fn describe(&mut self, budget: Duration) -> Result<Description, Fault> {
        let function = self.function::<(), (Description,)>(Part::Unit)?;
        let answer = self.engine.limits().answer;
        self.store
            .set_hostcall_fuel(answer.min(bounds::DESCRIPTION));
        let described = self.run(Part::Unit, budget, function, ());
        self.store.set_hostcall_fuel(answer);
        let (description,) = described.map_err(|fault| match *fault.cause {
            Cause::AnswerTooLarge(_) if answer > bounds::DESCRIPTION => {
                self.fault(Part::Unit, Cause::DescriptionTooLarge(bounds::DESCRIPTION))
            }
            _ => fault,
        })?;
        Ok(description)
    }

    /// What belongs to the last call.
    pub(super) fn state(&self) -> &State {
        self.store.data()
    }

    /// The function of a part, checked to be of the contract's type.
    pub(super) fn function<P, R>(&mut self, part: Part) -> Result<TypedFunc<P, R>, Fault>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let index = self
            .exports
            .function(part)
            .ok_or_else(|| self.fault(part, not_exported()))?;
        self.instance
            .get_typed_func(&mut self.store, index)
            .map_err(|error| self.fault(part, Cause::NotCallable(cut(format!("{error:#}")))))
    }

    /// Enter the component, unless it trapped before.
    pub(super) fn run<P, R>(
        &mut self,
        part: Part,
        budget: Duration,
        function: TypedFunc<P, R>,
        parameters: P,
    ) -> Result<R, Fault>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        if self.poisoned {
            return Err(self.fault(part, Cause::Poisoned));
        }
        self.store.data_mut().begin();
        allow(&self.engine, &mut self.store, self.pace, budget);
        let outcome = function.call(&mut self.store, parameters);
        if let Some(fuel) = self.engine.limits().fuel {
            self.fuel_used = fuel - self.store.get_fuel().unwrap_or(0).min(fuel);
        }
        outcome.map_err(|error| {
            self.poisoned = true;
            let cause = ended(&error, &self.store, &self.engine, budget);
            Fault {
                place: place(&error, &self.exports),
                ..self.fault(part, cause)
            }
        })
    }

    /// A fault of the kind of problem that the unit names.
    #[cold]
    pub(super) fn problem(&self, part: Part, problem: Problem) -> Fault {
        let limit = self.engine.limits().sentence;
        let cause = match problem {
            Problem::Refused(text) => Cause::Refused(sentence(&text, limit)),
            Problem::Failed(text) => Cause::Failed(sentence(&text, limit)),
        };
        self.fault(part, cause)
    }

    /// A fault of this unit.
    #[cold]
    pub(super) fn fault(&self, part: Part, cause: Cause) -> Fault {
        Fault {
            unit: self.identity.clone(),
            part,
            cause: Box::new(cause),
            place: Place::Untold,
        }
    }
}

fn not_exported() -> Cause {
    Cause::NotCallable("it does not export this part".to_owned())
}

/// Give the next call its budget.
fn allow(engine: &Engine, store: &mut Store<State>, pace: Pace, budget: Duration) {
    match pace {
        Pace::Wall => limit(engine, store, budget),
        Pace::Processor => {
            allow_processor_time(engine, store, Allowance::begin(budget), budget);
        }
    }
}

/// Let what runs next go on as long as `allowance` lets it, which has just begun with `budget`.
fn allow_processor_time(
    engine: &Engine,
    store: &mut Store<State>,
    allowance: Allowance,
    budget: Duration,
) {
    limit(engine, store, budget);
    if engine.limits().fuel.is_some() {
        return;
    }
    let engine = engine.clone();
    store.epoch_deadline_callback(move |_| {
        let more = allowance.remaining();
        Ok(more.map_or(UpdateDeadline::Interrupt, |more| {
            UpdateDeadline::Continue(engine.ticks(more))
        }))
    });
}

/// What runs next ends after its fuel, or after `budget` of the engine's clock.
fn limit(engine: &Engine, store: &mut Store<State>, budget: Duration) {
    match engine.limits().fuel {
        // Only fails in an engine that does not count fuel.
        Some(fuel) => drop(store.set_fuel(fuel)),
        None => store.set_epoch_deadline(engine.ticks(budget)),
    }
}

fn ended_at_start(error: &wasmtime::Error, store: &Store<State>, engine: &Engine) -> Cause {
    let limits = engine.limits();
    if error.is::<PoolConcurrencyLimitError>() {
        return Cause::NoInstance(limits.instances);
    }
    let state = store.data();
    // Here the refusal itself is the error, and no trap follows it.
    if let Some(cause) = refusal(state, engine) {
        return cause;
    }
    if error.is::<Trap>() {
        return ended(error, store, engine, limits.time);
    }
    Cause::NotCallable(cut(format!("it cannot be instantiated: {error:#}")))
}

/// What a call's error says of how it ended.
fn ended(
    error: &wasmtime::Error,
    store: &Store<State>,
    engine: &Engine,
    budget: Duration,
) -> Cause {
    let limits = engine.limits();
    let Some(trap) = error.downcast_ref::<Trap>() else {
        return match is_answer_too_large(error) {
            true => Cause::AnswerTooLarge(limits.answer),
            false => Cause::Unreadable(cut(format!("{}", error.root_cause()))),
        };
    };
    match trap {
        Trap::Interrupt => return Cause::Time(budget),
        Trap::OutOfFuel => return Cause::Fuel(limits.fuel.unwrap_or(0)),
        Trap::StackOverflow => return Cause::Stack(limits.stack),
        _ => {}
    }
    if let Some(cause) = refusal(store.data(), engine) {
        return cause;
    }
    match &store.data().last_error {
        Some(message) => Cause::Panic(message.clone()),
        None => Cause::Trap(trap.to_string()),
    }
}

/// Where an error ended a call, in code of the component whose exports these are.
fn place(error: &wasmtime::Error, exports: &Exports) -> Place {
    if !error.is::<Trap>() {
        return Place::Untold;
    }
    match backtrace::functions(error) {
        names if !names.is_empty() => Place::Functions(names),
        _ if exports.may_have_names => Place::Nameless,
        _ => Place::Untold,
    }
}

/// A unit that is refused memory seldom says so: its allocator traps. What was
/// refused in the same call is taken for the reason.
fn refusal(state: &State, engine: &Engine) -> Option<Cause> {
    let limits = engine.limits();
    let memory = state.refused_memory.map(|wanted| Cause::Memory {
        wanted,
        limit: limits.memory,
    });
    let memory = memory.or_else(|| {
        state.refused_table.map(|wanted| Cause::Table {
            wanted,
            limit: limits.table_elements,
        })
    });
    memory.or_else(|| {
        state.refused_share.map(|wanted| Cause::TotalMemory {
            wanted,
            limit: limits.total_memory,
        })
    })
}

/// Wasmtime keeps this error's type to itself, so that only its name tells it
/// from answers that break the rules. A test fails if that name changes.
fn is_answer_too_large(error: &wasmtime::Error) -> bool {
    format!("{:?}", error.root_cause()) == "HostcallFuelExhausted"
}
