//! What all instances of an engine take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::idle::{Idle, Need};

/// Bytes that all instances may have together, and how many they have.
#[derive(Debug)]
pub(super) struct Total {
    most: usize,
    taken: AtomicUsize,
    /// Instances that go where others need the room.
    idle: Arc<Idle>,
}

impl Total {
    pub(super) fn new(most: usize, idle: Arc<Idle>) -> Self {
        Self {
            most,
            taken: AtomicUsize::new(0),
            idle,
        }
    }
}

/// What one instance has of it, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    total: Arc<Total>,
    taken: usize,
}

impl Share {
    pub(super) fn new(total: Arc<Total>) -> Self {
        Self { total, taken: 0 }
    }

    /// Take so many bytes more; instances that nobody uses just now go for them. False, and
    /// nothing is taken, if all others together would have too many.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        // No room is made for what would never fit.
        let may_fit = self
            .taken
            .checked_add(bytes)
            .is_some_and(|all| all <= self.total.most);
        loop {
            if self.take_free(bytes) {
                return true;
            }
            if !may_fit || !self.total.idle.release(Need::Memory) {
                return false;
            }
        }
    }

    fn take_free(&mut self, bytes: usize) -> bool {
        let most = self.total.most;
        let taken = |all: usize| all.checked_add(bytes).filter(|all| *all <= most);
        let all = &self.total.taken;
        let is_taken = all
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
            .is_ok();
        if is_taken {
            self.taken += bytes;
        }
        is_taken
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.total.taken.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounded_together_and_given_back() {
        let total = Arc::new(Total::new(10, Arc::default()));
        let (mut one, mut other) = (Share::new(total.clone()), Share::new(total.clone()));
        assert!(one.take(6) && other.take(4));
        assert!(!one.take(1) && !other.take(usize::MAX));
        drop(one);
        assert!(other.take(6) && !other.take(1));
        drop(other);
        assert_eq!(total.taken.load(Ordering::Relaxed), 0);
    }
}
