//! The thread that moves an engine's epoch on, by which calls are interrupted.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Length of an epoch. Short enough to make a budget in milliseconds exact, long
/// enough to cost nothing.
const TICK: Duration = Duration::from_millis(1);

/// Increments the epoch every millisecond until it is dropped.
///
/// A thread of its own, since a pool's threads may all be inside units that
/// hang. A thread that was woken late makes up for the ticks that it missed, so
/// that budgets hold on a busy machine too.
pub(super) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Start ticking for `engine`.
    pub(super) fn start(engine: wasmtime::Engine) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("epoch-ticker".to_owned())
            .spawn(move || {
                let mut next = Instant::now() + TICK;
                while let Err(RecvTimeoutError::Timeout) =
                    stopped.recv_timeout(next.saturating_duration_since(Instant::now()))
                {
                    let now = Instant::now();
                    while next <= now {
                        engine.increment_epoch();
                        next += TICK;
                    }
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// The number of ticks after which `budget` has passed for certain: the current
/// tick may be almost over.
pub(super) fn ticks(budget: Duration) -> u64 {
    // In milliseconds, without the 128-bit division of `as_millis`: this is
    // worked out for every call.
    let ticks = budget
        .as_secs()
        .saturating_mul(1000)
        .saturating_add(u64::from(budget.subsec_nanos().div_ceil(1_000_000)));
    match ticks {
        0 => 0,
        // Wasmtime adds the number to the current epoch.
        ticks => ticks.saturating_add(1).min(u64::MAX / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_cut_short_and_no_budget_is_none() {
        assert_eq!(ticks(Duration::ZERO), 0);
        assert_eq!(ticks(Duration::from_micros(1)), 2);
        assert_eq!(ticks(Duration::from_millis(5)), 6);
        assert_eq!(ticks(Duration::MAX), u64::MAX / 2);
    }
}
