//! How many bytes the bodies of all requests in work may take together, and those of one
//! caller.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::limits::ApiLimits;
use crate::problem::{Code, Problem};
use placewright_sync::Mutex;

/// How long a body waits for others to be done with.
const WAIT: Duration = Duration::from_secs(5);

/// Bytes for the bodies in work, with a share that no caller exceeds: half of them, or as
/// much as the largest body.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: usize,
    share: usize,
    wait: Duration,
    all: Arc<Semaphore>,
    /// What is free of the share of each caller that has bodies in work.
    callers: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

impl Budget {
    pub(crate) fn new(limits: &ApiLimits) -> Self {
        // The largest body must fit, and what is counted into a semaphore.
        let most = u32::MAX as usize;
        let largest = limits.body.min(most);
        let bytes = limits.bodies.clamp(largest, most);
        Self {
            bytes,
            share: (bytes / 2).max(largest),
            wait: WAIT,
            all: Arc::new(Semaphore::new(bytes)),
            callers: Mutex::default(),
        }
    }

    fn of_caller(&self, caller: &Arc<str>) -> Arc<Semaphore> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = callers.get(caller).and_then(Weak::upgrade) {
            return share;
        }
        callers.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        callers.insert(caller.clone(), Arc::downgrade(&share));
        share
    }
}

/// What one body takes of the budget, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<Budget>,
    caller: Option<Arc<str>>,
    bytes: usize,
    /// Of the caller's share, and of all.
    permits: Option<[OwnedSemaphorePermit; 2]>,
}

impl Held {
    /// Nothing so far.
    pub(crate) fn new(budget: &Arc<Budget>, caller: Option<&Arc<str>>) -> Self {
        Self {
            budget: budget.clone(),
            caller: caller.cloned(),
            bytes: 0,
            permits: None,
        }
    }

    /// Take so many bytes altogether. Bodies that come in at once are served in their order,
    /// byte by byte: a small one does not wait for the end of a large one.
    ///
    /// # Errors
    /// If there was no room for some seconds.
    pub(crate) async fn grow_to(&mut self, bytes: usize) -> Result<(), Problem> {
        let more = u32::try_from(bytes.saturating_sub(self.bytes)).unwrap_or(u32::MAX);
        let until = Instant::now() + self.budget.wait;
        let mut took = [None, None];
        let nobody = Arc::from("");
        let share = self
            .budget
            .of_caller(self.caller.as_ref().unwrap_or(&nobody));
        for (from, took) in [share, self.budget.all.clone()].into_iter().zip(&mut took) {
            let is_own = !Arc::ptr_eq(&from, &self.budget.all);
            let acquired = tokio::time::timeout_at(until, from.acquire_many_owned(more)).await;
            // The semaphores are never closed.
            *took = acquired.ok().and_then(Result::ok);
            if took.is_none() {
                return Err(self.no_room(is_own));
            }
        }
        if let [Some(of_share), Some(of_all)] = took {
            match &mut self.permits {
                Some([share, all]) => {
                    share.merge(of_share);
                    all.merge(of_all);
                }
                permits => *permits = Some([of_share, of_all]),
            }
            self.bytes = bytes;
        }
        Ok(())
    }

    fn no_room(&self, is_own: bool) -> Problem {
        let seconds = self.budget.wait.as_secs_f64();
        match is_own {
            true => Problem::new(
                Code::TooManyRequests,
                format!(
                    "the bodies of your requests in work have taken all {} bytes that those of one caller may for {seconds} s: wait for answers, then ask again",
                    self.budget.share
                ),
            ),
            false => Problem::new(
                Code::Unavailable,
                format!(
                    "the bodies of requests in work have taken all {} bytes that the option request-bodies allows for {seconds} s: ask again",
                    self.budget.bytes
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Arc<Budget> {
        let limits = ApiLimits {
            body: 100,
            bodies: 300,
            ..ApiLimits::default()
        };
        Arc::new(Budget {
            wait: Duration::from_millis(1),
            ..Budget::new(&limits)
        })
    }

    #[test]
    fn one_caller_leaves_room_for_others() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        runtime.block_on(takes_its_share_and_no_more());
    }

    async fn takes_its_share_and_no_more() {
        let budget = budget();
        let (greedy, other): (Arc<str>, Arc<str>) = (Arc::from("greedy"), Arc::from("other"));
        let mut first = Held::new(&budget, Some(&greedy));
        first.grow_to(50).await.unwrap();
        first.grow_to(100).await.unwrap();
        let mut second = Held::new(&budget, Some(&greedy));
        let refused = second.grow_to(51).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooManyRequests);
        second.grow_to(50).await.unwrap();
        let mut third = Held::new(&budget, Some(&other));
        third.grow_to(100).await.unwrap();
        let mut last = Held::new(&budget, Some(&Arc::from("last")));
        let refused = last.grow_to(51).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        drop(third);
        last.grow_to(100).await.unwrap();
    }
}
