//! Work of many decisions that ends early: its time is up, or nobody waits for it.
//!
//! It is looked at between decisions, never within one, so that what a decision comes to
//! does not depend on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When work of many decisions ends early; by default never.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    until: Option<(Instant, Duration)>,
    flags: Vec<Arc<AtomicBool>>,
}

/// Why work of many decisions ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum InterruptedError {
    /// The wall time that it may take.
    #[error("it was not finished within {} s", .0.as_secs_f64())]
    TimeLimit(Duration),
    #[error("it was cancelled: the client has gone")]
    Cancelled,
}

impl Cancel {
    /// The same, and when `limit` has passed from now on.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        let until = Instant::now().checked_add(limit);
        // What is beyond the clock's range never comes.
        self.until = until.map(|until| (until, limit)).or(self.until);
        self
    }

    /// The same, and when that flag is set.
    #[must_use]
    pub fn when(mut self, flag: &Arc<AtomicBool>) -> Self {
        self.flags.push(flag.clone());
        self
    }

    /// The same, and when the flags of the other are set.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.flags.extend(other.flags.iter().cloned());
        self
    }

    /// Whether the work goes on.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self) -> Result<(), InterruptedError> {
        if self.flags.iter().any(|flag| flag.load(Ordering::Relaxed)) {
            return Err(InterruptedError::Cancelled);
        }
        match self.until {
            Some((until, limit)) if Instant::now() >= until => {
                Err(InterruptedError::TimeLimit(limit))
            }
            _ => Ok(()),
        }
    }
}

/// Two are equal if they end work at the same time and for the same flags.
impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        let mut flags = self.flags.iter().zip(&other.flags);
        self.until == other.until
            && self.flags.len() == other.flags.len()
            && flags.all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_on_until_its_time_is_up_or_a_flag_is_set() {
        assert_eq!(Cancel::default().check(), Ok(()));
        assert_eq!(Cancel::default().within(Duration::MAX).check(), Ok(()));
        let over = Cancel::default().within(Duration::ZERO);
        assert_eq!(
            over.check(),
            Err(InterruptedError::TimeLimit(Duration::ZERO))
        );
        let (one, other) = (Arc::default(), Arc::default());
        let flagged = Cancel::default().when(&one).when(&other);
        assert_eq!(flagged.check(), Ok(()));
        other.store(true, Ordering::Relaxed);
        assert_eq!(flagged.check(), Err(InterruptedError::Cancelled));
        let either = Cancel::default().or(&flagged);
        assert_eq!(either.check(), Err(InterruptedError::Cancelled));
        assert_eq!(flagged, flagged.clone());
        assert_ne!(flagged, Cancel::default().when(&one));
    }
}
