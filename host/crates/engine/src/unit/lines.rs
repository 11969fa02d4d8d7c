//! How many lines a second a unit may write to the server's log.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Lines a second of one unit, in the long run.
const A_SECOND: f64 = 10.0;

/// Lines that may come at once: those of one call.
const AT_ONCE: f64 = 32.0;

/// The lines of one unit, whatever instance writes them.
#[derive(Debug)]
pub(super) struct Lines(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Lines that may be written now.
    room: f64,
    at: Option<Instant>,
    dropped: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self(Mutex::new(State {
            room: AT_ONCE,
            at: None,
            dropped: 0,
        }))
    }
}

impl Lines {
    /// Whether a line may be written; then how many were dropped since the last one. Only the
    /// log depends on the time, and no answer of a unit.
    pub(super) fn admit(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = state.at.map(|at| now.saturating_duration_since(at));
        let grown = since.map_or(0.0, |since| since.as_secs_f64() * A_SECOND);
        state.room = (state.room + grown).min(AT_ONCE);
        state.at = Some(now);
        if state.room < 1.0 {
            state.dropped += 1;
            return None;
        }
        state.room -= 1.0;
        Some(std::mem::take(&mut state.dropped))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines_beyond_the_rate_are_dropped_and_counted() {
        let (lines, begin) = (Lines::default(), Instant::now());
        let admitted = (0..1000).filter(|_| lines.admit(begin).is_some());
        assert_eq!(admitted.count(), AT_ONCE as usize);
        let later = begin + Duration::from_secs(1);
        assert_eq!(lines.admit(later), Some(1000 - AT_ONCE as u64));
        assert_eq!(lines.admit(later), Some(0));
        let admitted = (0..1000).filter(|_| lines.admit(later).is_some());
        assert_eq!(admitted.count(), A_SECOND as usize - 2);
    }

    #[test]
    fn a_unit_that_was_silent_for_long_may_write_no_more_at_once() {
        let (lines, begin) = (Lines::default(), Instant::now());
        assert_eq!(lines.admit(begin), Some(0));
        let later = begin + Duration::from_secs(3600);
        let admitted = (0..1000).filter(|_| lines.admit(later).is_some());
        assert_eq!(admitted.count(), AT_ONCE as usize);
    }
}
