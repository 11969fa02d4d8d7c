//! The thread that moves an engine's epoch on, by which calls are interrupted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::clock;

/// Length of an epoch. Short enough to make a budget in milliseconds exact, long
/// enough to cost nothing.
const TICK: Duration = Duration::from_millis(1);

/// So many ticks that were missed are made up for in any case.
const LATE: u64 = 20;

/// The processor time is read when so many ticks have passed: it costs a microsecond.
const TICKS_PER_READING: u64 = 16;

/// Increments the epoch every millisecond until it is dropped.
///
/// A thread of its own, since a pool's threads may all be inside units that
/// hang. A thread that was woken late makes up for the ticks that it missed, so
/// that budgets hold on a busy machine too; but no more than the processor time that the
/// program has used meanwhile, if it was very late. So units are not blamed for a time in which
/// the program was stopped, and none has more processor time than its budget.
pub(super) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    ticks: Arc<AtomicU64>,
}

impl Ticker {
    /// Start ticking for `engine`.
    pub(super) fn start(engine: wasmtime::Engine) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let ticks = Arc::new(AtomicU64::new(0));
        let counted = ticks.clone();
        let thread = thread::Builder::new()
            .name("epoch-ticker".to_owned())
            .spawn(move || {
                let mut pace = Pace::begin(Instant::now(), clock::processor_time());
                while let Err(RecvTimeoutError::Timeout) =
                    stopped.recv_timeout(pace.next.saturating_duration_since(Instant::now()))
                {
                    let due = pace.due(Instant::now(), clock::processor_time);
                    for _ in 0..due {
                        engine.increment_epoch();
                    }
                    counted.fetch_add(due, Ordering::Relaxed);
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            ticks,
        })
    }

    /// How many ticks there were so far.
    pub(super) fn ticks(&self) -> Arc<AtomicU64> {
        self.ticks.clone()
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

/// When ticks are due.
struct Pace {
    /// When the next one is.
    next: Instant,
    /// Processor time of the program when it was last read, if it could be.
    used: Option<Duration>,
    ticks_since: u64,
}

impl Pace {
    fn begin(now: Instant, used: Option<Duration>) -> Self {
        Self {
            next: now + TICK,
            used,
            ticks_since: 0,
        }
    }

    /// How many ticks are due. `used` reads the processor time of the program.
    fn due(&mut self, now: Instant, used: impl FnOnce() -> Option<Duration>) -> u64 {
        let Some(late) = now.checked_duration_since(self.next) else {
            return 0;
        };
        let missed = whole_ticks(late).saturating_add(1);
        self.next += TICK.saturating_mul(u32::try_from(missed).unwrap_or(u32::MAX));
        self.ticks_since = self.ticks_since.saturating_add(missed);
        if self.ticks_since < TICKS_PER_READING {
            return missed;
        }
        self.ticks_since = 0;
        let before = std::mem::replace(&mut self.used, used());
        match before.zip(self.used) {
            Some((before, used)) if missed > LATE => {
                // No thread can have used more than all together.
                let used = whole_ticks(used.saturating_sub(before));
                missed.min(used.saturating_add(LATE))
            }
            _ => missed,
        }
    }
}

fn whole_ticks(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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

    /// How many ticks are due after these times by the wall clock and the processor's, in
    /// milliseconds.
    fn due<const N: usize>(steps: [(u64, u64); N]) -> [u64; N] {
        let (mut now, mut used) = (Instant::now(), Duration::ZERO);
        let mut pace = Pace::begin(now, Some(used));
        steps.map(|(wall, processor)| {
            now += Duration::from_millis(wall);
            used += Duration::from_millis(processor);
            pace.due(now, || Some(used))
        })
    }

    #[test]
    fn ticks_that_were_missed_are_made_up_for() {
        assert_eq!(due([(1, 1), (1, 0), (15, 0), (20, 0)]), [1, 1, 15, 20]);
        // Units may have been running all the time.
        assert_eq!(due([(1, 1), (500, 499)]), [1, 500]);
        assert_eq!(due([(1000, 3000)]), [1000]);
    }

    #[test]
    fn a_time_in_which_the_program_was_stopped_does_not_count() {
        assert_eq!(due([(1, 1), (60_000, 0), (1, 1)]), [1, 21, 1]);
        // Where it had some of the processor meanwhile, so much counts.
        assert_eq!(due([(16, 16), (1000, 70)]), [16, 90]);
    }

    #[test]
    fn without_the_processor_time_the_wall_clock_counts() {
        let now = Instant::now();
        let mut pace = Pace::begin(now, None);
        assert_eq!(pace.due(now + Duration::from_secs(1), || None), 1000);
    }
}
