//! What a connection and the register of all tell each other.

use std::task::Waker;

use futures_util::task::AtomicWaker;

use placewright_sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Tells a connection that its place is needed, and others whether it is in use.
#[derive(Debug, Default)]
pub(super) struct Signal {
    needed: AtomicBool,
    waker: AtomicWaker,
    /// Requests on it that have no answer yet.
    requests: AtomicU64,
    /// When it was used last, by a clock that counts uses of all connections.
    used: AtomicU64,
}

impl Signal {
    /// Another connection needs the place: this one is to be closed.
    pub(super) fn is_needed(&self) {
        self.needed.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether another connection needs the place; if not, `waker` is woken once one does.
    pub(super) fn look(&self, waker: &Waker) -> bool {
        if self.needed.load(Ordering::Acquire) {
            return true;
        }
        self.waker.register(waker);
        self.needed.load(Ordering::Acquire)
    }

    /// A request on it begins, or ends.
    pub(super) fn request(&self, begins: bool, now: u64) {
        match begins {
            true => self.requests.fetch_add(1, Ordering::Relaxed),
            false => self.requests.fetch_sub(1, Ordering::Relaxed),
        };
        self.touch(now);
    }

    /// It is used at this time.
    pub(super) fn touch(&self, now: u64) {
        self.used.store(now, Ordering::Relaxed);
    }

    /// Whether a request on it has no answer yet.
    pub(super) fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    /// When it was used last.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}
