//! Work of many decisions that ends early: its time is up, or nobody waits for it.
//!
//! It is looked at between decisions, never within one, so that what a decision comes to
//! does not depend on it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When work of many decisions ends early; by default never.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    until: Option<(Instant, Duration)>,
    flags: Vec<Arc<AtomicBool>>,
    gives_way: Option<GivesWay>,
}

/// Ends work that takes long while others wait.
#[derive(Clone)]
struct GivesWay {
    /// What it may take however many wait.
    after: Duration,
    /// Since when that counts.
    since: Instant,
    is_wanted: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Whether it has: then it does not go on when nobody waits any more.
    has_given_way: Arc<AtomicBool>,
}

impl GivesWay {
    fn is_over(&self) -> bool {
        let gives_way = || self.since.elapsed() >= self.after && (self.is_wanted)();
        if !self.has_given_way.load(Ordering::Relaxed) && gives_way() {
            self.has_given_way.store(true, Ordering::Relaxed);
        }
        self.has_given_way.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for GivesWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivesWay")
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
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
    /// The wall time that it may take while others wait.
    #[error("it gave way to others that waited, after {} s; ask for fewer VMs at a time", .0.as_secs_f64())]
    GaveWay(Duration),
}

impl Cancel {
    /// The same, and when `limit` has passed from now on. Work that gives way counts its time
    /// from now on.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        let now = Instant::now();
        if let Some(gives_way) = &mut self.gives_way {
            gives_way.since = now;
        }
        let until = now.checked_add(limit);
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

    /// The same, and when it has taken so long and it is wanted by others.
    #[must_use]
    pub fn giving_way(
        mut self,
        after: Duration,
        is_wanted: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        self.gives_way = Some(GivesWay {
            after,
            since: Instant::now(),
            is_wanted,
            has_given_way: Arc::default(),
        });
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
        if let Some(gives_way) = self.gives_way.as_ref().filter(|it| it.is_over()) {
            return Err(InterruptedError::GaveWay(gives_way.after));
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
        let gives_way = |it: &Self| {
            let gives_way = it.gives_way.as_ref();
            gives_way.map(|it| Arc::as_ptr(&it.has_given_way))
        };
        self.until == other.until
            && gives_way(self) == gives_way(other)
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

    #[test]
    fn work_that_took_its_time_ends_once_others_wait_and_does_not_go_on_after_them() {
        let wait = Arc::new(AtomicBool::new(false));
        let waiting = wait.clone();
        let is_wanted = Arc::new(move || waiting.load(Ordering::Relaxed));
        let short = Cancel::default().giving_way(Duration::MAX, is_wanted.clone());
        let long = Cancel::default().giving_way(Duration::ZERO, is_wanted);
        assert_eq!(long.check(), Ok(()));
        wait.store(true, Ordering::Relaxed);
        assert_eq!(short.check(), Ok(()));
        let over = Err(InterruptedError::GaveWay(Duration::ZERO));
        assert_eq!(long.check(), over);
        wait.store(false, Ordering::Relaxed);
        assert_eq!(long.check(), over);
    }
}
