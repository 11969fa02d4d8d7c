//! Waiting for a state, and ending what works beside a check.
//!
//! A test that waits without a bound hangs instead of failing, and its name is not printed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Nothing that a test waits for takes so long, on the slowest machine.
pub const LONG: Duration = Duration::from_secs(300);

/// Between two looks at the state that is waited for.
const BETWEEN: Duration = Duration::from_millis(10);

/// Wait until it is so.
///
/// # Panics
/// It is not so after [`LONG`]: `what` was to be seen.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "in {LONG:?} there was not: {what}");
        std::thread::sleep(BETWEEN);
    }
}

/// Sets a flag when it is dropped, also by an assertion that fails: threads that work until the
/// flag is set end with the test, and do not hang it.
#[must_use = "it sets the flag at once if nothing holds it"]
pub struct Ends<'flag>(pub &'flag AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn threads_end_although_the_check_that_they_work_beside_fails() {
        let ends = AtomicBool::new(false);
        let failed = catch_unwind(AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let _ends = Ends(&ends);
                scope.spawn(|| {
                    while !ends.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
                panic!("a check fails");
            });
        }));
        assert!(failed.is_err());
    }
}
