//! Warnings that whoever calls could have written as often as it likes.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use placewright_sync::Mutex;

/// A warning is written at most once in this time.
const PAUSE: Duration = Duration::from_secs(10);

/// Says when to warn again, and of how many cases.
#[derive(Debug, Default)]
pub(crate) struct Rarely {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    cases: u64,
}

impl Rarely {
    /// One more case. If it is time to warn: how many there were since the last warning.
    pub(crate) fn case(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cases += 1;
        if state
            .last
            .is_some_and(|last| now.saturating_duration_since(last) < PAUSE)
        {
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.cases))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_cases_one_is_told_with_the_number_of_the_others() {
        let rarely = Rarely::default();
        let now = Instant::now();
        assert_eq!(rarely.case(now), Some(1));
        for _ in 0..1000 {
            assert_eq!(rarely.case(now), None);
        }
        let later = now + PAUSE;
        assert_eq!(rarely.case(later), Some(1001));
        assert_eq!(rarely.case(later), None);
    }
}
