//! What threads share, as the running of a deployment uses it: the standard library's.
//!
//! With the feature `interleavings` it is shuttle's instead, which runs all threads of
//! a test on one, in an order that it draws, and so finds the orders that seldom
//! happen. A program that was built with the feature does nothing outside of such
//! tests.
//!
//! Read the list of what it exports first: [`Mutex`], [`RwLock`] and [`ArcSwap`] are used most.

#![forbid(unsafe_code)]

#[cfg(not(feature = "interleavings"))]
mod primitives {
    pub use std::sync::{Condvar, Mutex, MutexGuard, RwLock, atomic, mpsc};
    pub use std::thread;

    pub use arc_swap::{ArcSwap, ArcSwapOption};

    use std::future::Future;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::Instant;

    use tokio::sync::oneshot::Receiver;

    /// Wakes a thread that waits.
    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// Wait for what another thread sends, until then or as long as it takes; not on a thread
    /// that runs futures. None: it has not come by then; Some(None): the other has gone away.
    pub fn receive_by<T>(receiver: &mut Receiver<T>, until: Option<Instant>) -> Option<Option<T>> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(received) = Pin::new(&mut *receiver).poll(&mut context) {
                return Some(received.ok());
            }
            let Some(until) = until else {
                thread::park();
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::park_timeout(left);
        }
    }
}

#[cfg(feature = "interleavings")]
mod primitives {
    use std::sync::{Arc, PoisonError};

    pub use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock, atomic, mpsc};
    pub use shuttle::thread;

    /// As [`arc_swap::ArcSwap`], with other threads having their turns before each
    /// access.
    #[derive(Debug)]
    pub struct ArcSwap<T>(RwLock<Arc<T>>);

    impl<T> ArcSwap<T> {
        /// One that holds this value.
        pub fn new(value: Arc<T>) -> Self {
            Self(RwLock::new(value))
        }

        /// One that holds this value, which nobody else has.
        pub fn from_pointee(value: T) -> Self {
            Self::new(Arc::new(value))
        }

        /// The value that it holds now.
        pub fn load_full(&self) -> Arc<T> {
            self.0
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        }

        /// Have it hold this value from now on.
        pub fn store(&self, value: Arc<T>) {
            let before = {
                let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
                std::mem::replace(&mut *kept, value)
            };
            drop(before);
        }
    }

    /// As [`arc_swap::ArcSwapOption`], with other threads having their turns before each
    /// access.
    #[derive(Debug)]
    pub struct ArcSwapOption<T>(ArcSwap<Option<Arc<T>>>);

    impl<T> ArcSwapOption<T> {
        /// One that holds this value, or none.
        pub fn new(value: Option<Arc<T>>) -> Self {
            Self(ArcSwap::from_pointee(value))
        }

        /// The value that it holds now, if it holds one.
        pub fn load_full(&self) -> Option<Arc<T>> {
            Option::clone(&self.0.load_full())
        }

        /// Have it hold this value, or none, from now on.
        pub fn store(&self, value: Option<Arc<T>>) {
            self.0.store(Arc::new(value));
        }
    }

    /// Wait for what another thread sends; time stands still. Some(None): the other has gone
    /// away.
    pub fn receive_by<T>(
        receiver: &mut tokio::sync::oneshot::Receiver<T>,
        _: Option<std::time::Instant>,
    ) -> Option<Option<T>> {
        Some(shuttle::future::block_on(receiver).ok())
    }
}

pub use primitives::{
    ArcSwap, ArcSwapOption, Condvar, Mutex, MutexGuard, RwLock, atomic, mpsc, receive_by, thread,
};
