//! The periodic pass of the policy's balance unit in a replay.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::report::as_seconds;
use super::{ReplayError, Run};
use placewright_scheduler::BalanceOptions;

/// How a replay balances its fleet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balancing {
    /// Seconds from one pass to the next, 1 or more.
    pub every: i64,
    /// How each pass goes about its work.
    pub options: BalanceOptions,
}

/// What the passes of a replay came to. A move takes no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Balanced {
    /// Seconds from one pass to the next.
    pub every_s: i64,
    /// How many passes there were.
    pub passes: u64,
    /// How many of them moved something.
    pub passes_with_moves: u64,
    /// How many moves were made.
    pub moves: u64,
    /// Wall time of all passes.
    #[serde(serialize_with = "as_seconds", rename = "seconds")]
    pub time: Duration,
}

/// The passes of a replay that is under way.
pub(super) struct Passes {
    balancing: Balancing,
    /// When the next one is due.
    next: i64,
    counts: Balanced,
}

impl Passes {
    /// From `begin` (seconds) on.
    pub(super) fn new(balancing: Balancing, begin: i64) -> Self {
        let every = balancing.every.max(1);
        Self {
            balancing,
            next: begin.saturating_add(every),
            counts: Balanced {
                every_s: every,
                ..Balanced::default()
            },
        }
    }

    /// When the next pass is to be made that is due before `time`, and how; it is taken as made.
    pub(super) fn due_before(&mut self, time: i64) -> Option<(i64, BalanceOptions)> {
        let now = self.next;
        if now >= time {
            return None;
        }
        self.next = now.saturating_add(self.counts.every_s);
        Some((now, self.balancing.options))
    }

    /// A pass was made.
    pub(super) fn made(&mut self, moves: u64, time: Duration) {
        self.counts.passes += 1;
        self.counts.passes_with_moves += u64::from(moves > 0);
        self.counts.moves += moves;
        self.counts.time += time;
    }

    pub(super) fn counts(&self) -> Balanced {
        self.counts
    }
}

impl Run<'_> {
    /// Make the passes that are due before `time`.
    pub(super) fn balance_until(&mut self, time: i64) -> Result<(), ReplayError> {
        while let Some(passes) = &mut self.passes
            && let Some((now, options)) = passes.due_before(time)
        {
            let begin = Instant::now();
            let moves = self.balance(now, &options)?;
            if let Some(passes) = &mut self.passes {
                passes.made(moves, begin.elapsed());
            }
        }
        Ok(())
    }

    /// A VM that runs reports that it uses all that it was promised: balance units
    /// move those of which they know the load.
    pub(super) fn measure(&mut self, number: u32, host: u32) -> Result<(), ReplayError> {
        let mut vm = self.member(number);
        let cpu = self.vms[number as usize].cpu;
        let of_vcpus = cpu.saturating_add(999) / 1000 * 1000;
        if of_vcpus > 0 {
            let usage = cpu as f64 / of_vcpus as f64;
            vm.facts
                .set("cpu.usage", placewright_model::Value::Number(usage));
        }
        let inventory = self.scheduler.inventory_mut();
        if let Some(host) = inventory.host(host).map(|host| host.id.clone()) {
            inventory.run_vm(vm, &host)?;
        }
        Ok(())
    }

    /// One pass: what is planned is carried out. Gives the number of moves.
    fn balance(&mut self, now: i64, options: &BalanceOptions) -> Result<u64, ReplayError> {
        self.tally.advance(now);
        let stopped = |source| ReplayError::Balance {
            time: now,
            source: Box::new(source),
        };
        // What was there before the trace began comes at its beginning.
        let plan = self.scheduler.plan_balance(now.max(0), options);
        let plan = plan.map_err(|error| stopped(error.into()))?;
        self.scheduler.carry_out(&plan).map_err(stopped)?;
        for step in &plan.moves {
            let inventory = self.scheduler.inventory();
            let slots = (inventory.slot(&step.from), inventory.slot(&step.to));
            let (Some(number), (Some(from), Some(to))) = (self.names.number(&step.vm), slots)
            else {
                continue;
            };
            if from == to {
                continue;
            }
            let Some(vm) = self.vms.get(number as usize) else {
                continue;
            };
            let (cpu, memory) = (vm.cpu, vm.memory);
            self.places[number as usize] = Some(to);
            let load = self.tally.left(from, cpu, memory);
            self.report(from, load)?;
            let load = self.tally.placed(to, cpu, memory);
            self.report(to, load)?;
        }
        Ok(plan.moves.len() as u64)
    }
}
