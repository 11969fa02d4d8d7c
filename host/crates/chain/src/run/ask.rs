//! One call of a judge for some hosts, whatever stands in its way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::alike::representatives;
use super::super::encode::{self, Context, Dictionary, HostRows, Incomplete};
use super::super::reuse::Kept;
use super::super::subject::Subject;
use super::super::{PartStep, Step};
use super::kept::NotKept;
use super::{DecisionError, StepState, Stopped, UnitTime};
use placewright_engine::contract::{Evaluation, Judgement, Part};
use placewright_engine::unit::{Fault, Instance};
use placewright_engine::{Clock, Moment};
use placewright_inventory::Inventory;
use placewright_policy::Settings;

/// After so many calls a warm instance is renewed: bounds what a slow leak in a
/// unit can come to.
pub(crate) const CALLS_PER_INSTANCE: u64 = 10_000;

/// Asks units on behalf of one decision.
pub(crate) struct Asker<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) subject: &'a Subject<'a>,
    pub(super) states: &'a mut [StepState],
    /// What calls of parts that are asked once have cost.
    pub(super) part_times: &'a mut Vec<UnitTime>,
    pub(super) dictionary: &'a mut Dictionary,
    /// Answers of earlier decisions, if they may be used.
    pub(crate) kept: Option<&'a mut Kept>,
    /// Whether every answer about every host is wanted, to be shown.
    pub(super) whole: bool,
    pub(super) clock: &'a Clock,
    pub(super) deadline: Moment,
    pub(super) limit: Duration,
    /// The unit whose call took longest so far, and how long.
    pub(super) slowest: &'a mut Option<(Duration, Arc<str>)>,
    /// The call that was stopped when the time was up.
    pub(super) stopped: &'a mut Option<Stopped>,
}

/// What a step says of the hosts it was asked about.
pub(super) enum Answer {
    /// It has nothing to say: every host stays, at cost 0.
    Nothing,
    /// One answer for every host.
    Same(Judgement),
    /// An answer for each host; `lacking` are places of hosts that lack a required
    /// value, in whose stead 0 stands in the lists.
    Each {
        judgement: Judgement,
        lacking: Vec<u32>,
        /// The slots of these hosts and maybe others in the order of their costs, if
        /// that is known.
        order: Option<Arc<[u32]>>,
    },
}

/// Why a step gives no answer.
pub(super) enum NoAnswer {
    /// The request ends here.
    Refusal(DecisionError),
    /// The unit failed: what that means is the policy's to say.
    Fault(Fault),
}

/// Why one call gives no answer.
enum NoCall {
    Fault(Fault),
    /// The calls before have used all the time of the chain.
    OutOfTime,
}

impl<'a> Asker<'a> {
    /// What a part of the policy that is set so is asked about.
    pub(crate) fn context<'s>(&self, settings: &'s Settings) -> Context<'s>
    where
        'a: 's,
    {
        Context {
            inventory: self.inventory,
            subject: Some(self.subject),
            settings,
            now: self.subject.request.now,
            candidates: None,
        }
    }

    /// The same, with room for the texts of a call.
    pub(crate) fn context_and_dictionary<'s>(
        &mut self,
        settings: &'s Settings,
    ) -> (Context<'s>, &mut Dictionary)
    where
        'a: 's,
    {
        (self.context(settings), self.dictionary)
    }

    /// The time that is left, for the entry of that name.
    pub(crate) fn left(&self, entry: &Arc<str>) -> Result<Duration, DecisionError> {
        let left = self.clock.until(self.deadline).min(self.limit);
        if !left.is_zero() {
            return Ok(left);
        }
        Err(self.out_of_time(entry))
    }

    /// That the time is up, for the unit or entry of that name, which gets none.
    fn out_of_time(&self, name: &Arc<str>) -> DecisionError {
        let slowest = self.slowest.as_ref();
        DecisionError::OutOfTime {
            limit: self.limit,
            slowest: slowest.map_or_else(|| name.clone(), |(_, unit)| unit.clone()),
            stopped: self.stopped.as_ref().map(|stopped| stopped.fault.clone()),
        }
    }

    /// Note what a call of a part has taken, and how much memory its instance had after it.
    pub(crate) fn took(&mut self, step: &PartStep, rows: usize, took: Duration, memory: usize) {
        let time = UnitTime::of(self.part_times, &step.unit);
        time.add(rows, took);
        time.memory = time.memory.max(memory);
        slow(self.slowest, took, &time.unit);
    }

    /// Ask a step about these hosts, as far as its answers are not known.
    pub(super) fn ask(&mut self, step: &Step, rows: HostRows<'_>) -> Result<Answer, NoAnswer> {
        let Some(kept) = self.kept.take() else {
            return self.ask_units(step, rows);
        };
        let answer = self.ask_kept(kept, step, rows);
        self.kept = Some(kept);
        match answer {
            Ok(answer) => Ok(answer),
            // The decision will be made anew.
            Err(NotKept::Differs) => self.ask_units(step, rows),
            Err(NotKept::NoAnswer(no_answer)) => Err(no_answer),
        }
    }

    /// Ask a step about all of these hosts.
    pub(super) fn ask_units(
        &mut self,
        step: &Step,
        rows: HostRows<'_>,
    ) -> Result<Answer, NoAnswer> {
        let began = Instant::now();
        let context = step.context(self.inventory, self.subject);
        if !encode::gates_open(&step.plan, context) {
            return Ok(Answer::Nothing);
        }
        if step.plan.hosts.is_none() {
            let judgement = self.call(step, HostRows::List(&[]), 1, began)?;
            return match judgement {
                Ok(judgement) => Ok(Answer::Same(judgement)),
                Err(_) => Ok(Answer::Nothing),
            };
        }
        let lacking = encode::lacking(&step.plan, self.inventory, rows);
        if lacking.is_empty()
            && !self.whole
            && step.evaluation == Evaluation::RowWise
            && let Some(answer) = self.ask_about_representatives(step, rows, began)?
        {
            return Ok(answer);
        }
        if lacking.is_empty() {
            match self.call(step, rows, rows.len(), began)? {
                Ok(judgement) => Ok(Answer::Each {
                    judgement,
                    lacking,
                    order: None,
                }),
                Err(more) => self.ask_without(step, rows, more, began),
            }
        } else {
            self.ask_without(step, rows, lacking, began)
        }
    }

    /// Ask about one of the hosts that are alike to the unit, if most are, and let
    /// its answer stand for all of them.
    fn ask_about_representatives(
        &mut self,
        step: &Step,
        rows: HostRows<'_>,
        began: Instant,
    ) -> Result<Option<Answer>, NoAnswer> {
        let alike = representatives(&step.plan, self.inventory, self.subject, rows);
        let Some((asked, place)) = alike else {
            return Ok(None);
        };
        let slots: Vec<u32> = asked.iter().map(|row| rows.slot(*row as usize)).collect();
        // A host that lacks a value below it has to be left out: the long way.
        let answer = self.call(step, HostRows::List(&slots), slots.len(), began)?;
        Ok(answer.ok().map(|judgement| Answer::Each {
            judgement: repeat(&judgement, &asked, place, rows.len()),
            lacking: Vec::new(),
            order: None,
        }))
    }

    /// Ask again, about the hosts that lack nothing.
    fn ask_without(
        &mut self,
        step: &Step,
        rows: HostRows<'_>,
        mut lacking: Vec<u32>,
        began: Instant,
    ) -> Result<Answer, NoAnswer> {
        loop {
            let kept: Vec<u32> = (0..rows.len() as u32)
                .filter(|row| lacking.binary_search(row).is_err())
                .collect();
            let slots: Vec<u32> = kept.iter().map(|row| rows.slot(*row as usize)).collect();
            match self.call(step, HostRows::List(&slots), slots.len(), began)? {
                Ok(judgement) => {
                    return Ok(Answer::Each {
                        judgement: spread(judgement, &kept, rows.len()),
                        lacking,
                        order: None,
                    });
                }
                Err(more) => {
                    lacking.extend(more.into_iter().map(|row| kept[row as usize]));
                    lacking.sort_unstable();
                }
            }
        }
    }

    /// One call. The inner error lists rows that lack a required value below them.
    fn call(
        &mut self,
        step: &Step,
        rows: HostRows<'_>,
        answers: usize,
        began: Instant,
    ) -> Result<Result<Judgement, Vec<u32>>, NoAnswer> {
        let state = &mut self.states[step.place];
        let context = step.context(self.inventory, self.subject);
        match encode::encode(&step.plan, context, rows, self.dictionary, &mut state.call) {
            Ok(()) => {}
            Err(Incomplete::Hosts(rows)) => return Ok(Err(rows)),
            Err(Incomplete::Table { table, column }) => {
                return Err(NoAnswer::Refusal(DecisionError::Refused(format!(
                    "unit \"{}\" needs {column} of {table}, and the request does not give it",
                    step.unit.description().name
                ))));
            }
        }
        let unit = &*state.time.unit;
        let span = tracing::debug_span!("unit", unit, hosts = rows.len()).entered();
        let left = || self.clock.until(self.deadline).min(self.limit);
        let answer = judge(step, state, answers, left);
        drop(span);
        let took = began.elapsed();
        state.time.add(rows.len(), took);
        slow(self.slowest, took, &state.time.unit);
        match answer {
            Ok(judgement) => Ok(Ok(judgement)),
            Err(NoCall::Fault(fault)) if fault.is_refusal() => {
                Err(NoAnswer::Refusal(DecisionError::Refused(fault.to_string())))
            }
            Err(NoCall::Fault(fault)) => {
                if fault.is_out_of_time() {
                    *self.stopped = Some(Stopped {
                        place: step.place,
                        fault: Arc::new(fault.clone()),
                    });
                }
                Err(NoAnswer::Fault(fault))
            }
            Err(NoCall::OutOfTime) => Err(match &*self.stopped {
                // It was this step that used up the time, when it was asked for answers to
                // be kept: what that means is the policy's to say, as without keeping any.
                Some(stopped) if stopped.place == step.place => {
                    NoAnswer::Fault(Fault::clone(&stopped.fault))
                }
                _ => NoAnswer::Refusal(self.out_of_time(&self.states[step.place].time.unit)),
            }),
        }
    }
}

/// Note what a call of a unit has taken, if none took longer so far.
fn slow(slowest: &mut Option<(Duration, Arc<str>)>, took: Duration, unit: &Arc<str>) {
    let so_far = slowest.as_ref();
    if so_far.is_none_or(|(so_far, _)| took > *so_far) {
        *slowest = Some((took, unit.clone()));
    }
}

/// Call the unit in its warm instance, or in a fresh one. A trap in a warm instance
/// counts only if a fresh one traps too.
fn judge(
    step: &Step,
    state: &mut StepState,
    answers: usize,
    left: impl Fn() -> Duration,
) -> Result<Judgement, NoCall> {
    let warm = state.instance.take();
    let was_warm = warm.is_some();
    let mut instance = match warm {
        Some(instance) => instance,
        None => fresh(step)?,
    };
    let left = || {
        let left = left();
        match left.is_zero() {
            true => Err(NoCall::OutOfTime),
            false => Ok(left),
        }
    };
    let mut answer = instance.judge(step.want, &state.call, answers, left()?);
    if was_warm && answer.as_ref().is_err_and(Fault::is_worth_another_try) {
        instance = fresh(step)?;
        answer = instance.judge(step.want, &state.call, answers, left()?);
    }
    state.time.memory = state.time.memory.max(instance.memory());
    let used_up = state.time.calls % CALLS_PER_INSTANCE == CALLS_PER_INSTANCE - 1;
    if !used_up && !instance.is_poisoned() && !state.is_doubted {
        state.instance.keep(instance);
    }
    answer.map_err(NoCall::Fault)
}

fn fresh(step: &Step) -> Result<Box<Instance>, NoCall> {
    let instance = step.unit.instantiate(Part::Judge).map_err(NoCall::Fault)?;
    Ok(Box::new(instance))
}

/// Put answers for some rows in their places, and the answer in `place` in all
/// others.
fn repeat(judgement: &Judgement, asked: &[u32], place: usize, rows: usize) -> Judgement {
    fn fill<T: Copy>(answers: &[T], asked: &[u32], place: usize, rows: usize) -> Vec<T> {
        let Some(common) = answers.get(place) else {
            return Vec::new();
        };
        let mut all = vec![*common; rows];
        for (row, answer) in asked.iter().zip(answers) {
            all[*row as usize] = *answer;
        }
        all
    }
    Judgement {
        verdicts: fill(&judgement.verdicts, asked, place, rows),
        costs: fill(&judgement.costs, asked, place, rows),
        until: fill(&judgement.until, asked, place, rows),
    }
}

/// Put answers for some rows in their places among all rows.
fn spread(judgement: Judgement, kept: &[u32], rows: usize) -> Judgement {
    fn place<T: Copy + Default>(answers: Vec<T>, kept: &[u32], rows: usize) -> Vec<T> {
        if answers.is_empty() && !kept.is_empty() {
            return answers;
        }
        let mut all = vec![T::default(); rows];
        for (row, answer) in kept.iter().zip(answers) {
            all[*row as usize] = answer;
        }
        all
    }
    Judgement {
        verdicts: place(judgement.verdicts, kept, rows),
        costs: place(judgement.costs, kept, rows),
        until: place(judgement.until, kept, rows),
    }
}

/// A fault as it is kept in decisions.
pub(super) fn kept(fault: Fault) -> Arc<Fault> {
    Arc::new(fault)
}
