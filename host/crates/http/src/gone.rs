//! Callers that go away before they have an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use placewright_scheduler::{Cancel, InterruptedError};

/// Belongs to the request that a caller waits for: when it is dropped, what was begun for the
/// caller ends at its next decision.
#[derive(Debug, Default)]
pub struct Gone(Arc<AtomicBool>);

impl Gone {
    /// Ends work when the caller has gone.
    pub fn cancel(&self) -> Cancel {
        Cancel::default().when(&self.0)
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
