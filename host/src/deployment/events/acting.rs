//! For whom a thread acts.
//!
//! What is told deep below, as by the library of units, is told on the thread of whoever asked
//! for it.

use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static BY: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Do `work` for somebody: events that are told on this thread meanwhile, and say nothing else
/// of it, are told as done by them.
pub fn acting_as<R>(by: &Arc<str>, work: impl FnOnce() -> R) -> R {
    /// Ends it, also if the work panics.
    struct Before(Option<Arc<str>>);
    impl Drop for Before {
        fn drop(&mut self) {
            BY.set(self.0.take());
        }
    }
    let _before = Before(BY.replace(Some(by.clone())));
    work()
}

/// For whom this thread acts, if for anybody.
pub(super) fn acting() -> Option<Arc<str>> {
    BY.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_acts_for_somebody_until_the_work_is_done() {
        let (alice, bob): (Arc<str>, Arc<str>) = ("alice".into(), "bob".into());
        assert_eq!(acting(), None);
        acting_as(&alice, || {
            acting_as(&bob, || assert_eq!(acting(), Some(bob.clone())));
            assert_eq!(acting(), Some(alice.clone()));
        });
        assert_eq!(acting(), None);
    }
}
