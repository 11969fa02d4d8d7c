//! The time that calls may take, by a clock that stands still while the whole program does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};

/// How many times its limit a call may take by the wall clock, if it is limited by the
/// processor time of its thread.
const WALL: u32 = 30;

/// The time by which runs of chains are limited.
///
/// Where calls are limited by time, it counts the ticks of the engine's ticker: it stands still
/// as long as the whole program was stopped, and whoever goes on before the ticker does is not
/// told that the time is up. Reading it costs less than reading the system's clock.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Ticks so far, of one millisecond each. None: there is no ticker.
    ticks: Option<Arc<AtomicU64>>,
    began: Instant,
}

impl Clock {
    pub(super) fn new(ticks: Option<Arc<AtomicU64>>) -> Self {
        Self {
            ticks,
            began: Instant::now(),
        }
    }

    fn now(&self) -> Duration {
        match &self.ticks {
            Some(ticks) => Duration::from_millis(ticks.load(Ordering::Relaxed)),
            None => self.began.elapsed(),
        }
    }

    /// The moment at which `limit` will have passed for certain.
    pub fn after(&self, limit: Duration) -> Moment {
        let begun = match self.ticks {
            // The current tick may be almost over.
            Some(_) => self.now().saturating_add(Duration::from_millis(1)),
            None => self.now(),
        };
        Moment(begun.saturating_add(limit))
    }

    /// How long it is until that moment; zero if it has passed.
    pub fn until(&self, moment: Moment) -> Duration {
        moment.0.saturating_sub(self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(None)
    }
}

/// A moment by a [`Clock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(Duration);

/// The processor time of the whole program so far. None where the system does not tell.
pub(super) fn processor_time() -> Option<Duration> {
    ProcessTime::try_now().ok().map(|time| time.as_duration())
}

fn thread_time() -> Option<Duration> {
    ThreadTime::try_now().ok().map(|time| time.as_duration())
}

/// What making an instance may take, and a call that no decision waits for: so much processor time
/// of its thread, and 30 times as much by the wall clock. So a unit does not fail because the
/// machine is busy.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    limit: Duration,
    began: Instant,
    /// Processor time of the thread when the call began.
    used: Option<Duration>,
}

impl Allowance {
    /// Begin a call on this thread.
    pub(crate) fn begin(limit: Duration) -> Self {
        Self {
            limit,
            began: Instant::now(),
            used: thread_time(),
        }
    }

    /// How long the call may go on before this is asked again, on the same thread. None: no more.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        let now = thread_time();
        let used = self.used.zip(now);
        let used = used.map(|(before, now)| now.saturating_sub(before));
        self.remaining_after(used, self.began.elapsed())
    }

    fn remaining_after(&self, used: Option<Duration>, wall: Duration) -> Option<Duration> {
        let most = self.limit.saturating_mul(WALL);
        // Where the processor time is not known, there is the wall clock.
        let remaining = self.limit.checked_sub(used.unwrap_or(wall))?;
        let remaining = remaining.min(most.checked_sub(wall)?);
        (!remaining.is_zero()).then_some(remaining)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_clock_with_ticks_stands_still_without_them() {
        let ticks = Arc::new(AtomicU64::new(7));
        let clock = Clock::new(Some(ticks.clone()));
        let moment = clock.after(Duration::from_millis(10));
        assert_eq!(clock.until(moment), Duration::from_millis(11));
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(clock.until(moment), Duration::from_millis(11));
        ticks.store(17, Ordering::Relaxed);
        assert_eq!(clock.until(moment), Duration::from_millis(1));
        ticks.store(40, Ordering::Relaxed);
        assert_eq!(clock.until(moment), Duration::ZERO);
    }

    #[test]
    fn a_call_that_waits_for_the_processor_may_go_on_up_to_a_bound() {
        let allowance = Allowance::begin(SECOND);
        let milliseconds = Duration::from_millis;
        let after =
            |used, wall| allowance.remaining_after(Some(milliseconds(used)), milliseconds(wall));
        assert_eq!(after(100, 1000), Some(milliseconds(900)));
        assert_eq!(after(1000, 1000), None);
        assert_eq!(after(100, 29_500), Some(milliseconds(500)));
        assert_eq!(after(100, 30_000), None);
        assert_eq!(allowance.remaining_after(None, SECOND), None);
    }

    #[test]
    fn a_call_that_uses_the_processor_is_over_when_its_time_is() {
        let allowance = Allowance::begin(Duration::from_millis(20));
        let begun = Instant::now();
        while allowance.remaining().is_some() {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
        assert!(begun.elapsed() >= Duration::from_millis(20));
    }
}
