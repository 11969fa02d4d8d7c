//! Compiling, within a time limit and, where decisions are made meanwhile, out of their way.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use thread_priority::{ThreadPriority, ThreadPriorityValue};
use wasmtime::component::Component;

use super::CompileError;

/// Priority of threads that compile, from 0 to 99. On Linux it is a niceness of 9: where
/// decisions take all of a core, compiling takes about an eighth of it.
const PRIORITY: u8 = 24;

/// Whether compiling has the priority of everything else, or comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Somebody waits for it.
    AsOthers,
    /// Decisions are made meanwhile.
    AfterOthers,
}

/// Compile on all cores, by the closure. After `limit` nobody waits any more; the compiler cannot
/// be stopped, and ends when it is done.
///
/// # Errors
/// If the bytes are no component for this engine, and on time out.
pub(super) fn compile(
    compiler: impl FnOnce() -> wasmtime::Result<Component> + Send + 'static,
    limit: Duration,
    turn: Turn,
) -> Result<Component, CompileError> {
    // A pool of its own: one that does not end in time holds up no other.
    let pool = ThreadPoolBuilder::new()
        .thread_name(|number| format!("compile {number}"))
        .start_handler(move |_| {
            if turn == Turn::AfterOthers {
                step_back();
            }
        })
        // Told of below; without this the process would end.
        .panic_handler(drop)
        .build()
        .map_err(|error| CompileError::Compiler(error.to_string()))?;
    let (done, outcome) = mpsc::channel();
    pool.spawn(move || {
        // Nobody listens any more after the limit.
        let _ = done.send(compiler());
    });
    match outcome.recv_timeout(limit) {
        Ok(Ok(component)) => Ok(component),
        Ok(Err(error)) => Err(CompileError::Invalid(format!("{error:#}"))),
        Err(RecvTimeoutError::Timeout) => Err(CompileError::TooSlow(limit)),
        Err(RecvTimeoutError::Disconnected) => {
            Err(CompileError::Compiler("it panicked".to_owned()))
        }
    }
}

/// Let this thread come after others from now on, where the system knows how.
fn step_back() {
    let priority = ThreadPriorityValue::try_from(PRIORITY);
    let set = priority.map(|priority| ThreadPriority::Crossplatform(priority).set_for_current());
    if !matches!(set, Ok(Ok(()))) {
        tracing::debug!(?set, "compiling has the priority of everything else");
    }
}
