//! Compiling, within a time limit and, where decisions are made meanwhile, out of their way.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// What a compiler has made.
type Made = wasmtime::Result<Component>;

/// Compiles components on all cores.
pub(super) struct Compilers {
    limit: Duration,
    turn: Turn,
    /// Compilers that nobody waits for any more, by the digest of the component: one cannot
    /// be stopped, and whoever asks again waits for it and not for a second one.
    late: Mutex<BTreeMap<String, Receiver<Made>>>,
}

impl Compilers {
    pub(super) fn new(limit: Duration, turn: Turn) -> Self {
        Self {
            limit,
            turn,
            late: Mutex::default(),
        }
    }

    /// Compile the component of that digest by the closure. After the limit nobody waits any
    /// more.
    ///
    /// # Errors
    /// If the bytes are no component for this engine, and on time out.
    pub(super) fn compile(
        &self,
        digest: &str,
        compiler: impl FnOnce() -> Made + Send + 'static,
    ) -> Result<Component, CompileError> {
        let late = self.late().remove(digest);
        let made = match late {
            Some(made) => made,
            None => begin(compiler, self.turn)?,
        };
        match made.recv_timeout(self.limit) {
            Ok(Ok(component)) => Ok(component),
            Ok(Err(error)) => Err(CompileError::Invalid(format!("{error:#}"))),
            Err(RecvTimeoutError::Timeout) => {
                self.leave(digest, made);
                Err(CompileError::TooSlow(self.limit))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(CompileError::Compiler("it panicked".to_owned()))
            }
        }
    }

    /// Nobody waits for that compiler any more; and what others have made that nobody has
    /// asked for since is let go.
    fn leave(&self, digest: &str, made: Receiver<Made>) {
        let mut late = self.late();
        late.retain(|_, made| matches!(made.try_recv(), Err(TryRecvError::Empty)));
        late.insert(digest.to_owned(), made);
    }

    fn late(&self) -> MutexGuard<'_, BTreeMap<String, Receiver<Made>>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begin to compile, in a pool of its own: one that does not end in time holds up no other.
fn begin(
    compiler: impl FnOnce() -> Made + Send + 'static,
    turn: Turn,
) -> Result<Receiver<Made>, CompileError> {
    let pool = ThreadPoolBuilder::new()
        .thread_name(|number| format!("compile {number}"))
        .start_handler(move |_| {
            if turn == Turn::AfterOthers {
                step_back();
            }
        })
        // Whoever waits is told; without this the process would end.
        .panic_handler(drop)
        .build()
        .map_err(|error| CompileError::Compiler(error.to_string()))?;
    let (done, made) = mpsc::channel();
    pool.spawn(move || {
        // Nobody may want it any more.
        let _ = done.send(compiler());
    });
    Ok(made)
}

/// Let this thread come after others from now on, where the system knows how.
pub(super) fn step_back() {
    let priority = ThreadPriorityValue::try_from(PRIORITY);
    let set = priority.map(|priority| ThreadPriority::Crossplatform(priority).set_for_current());
    if !matches!(set, Ok(Ok(()))) {
        tracing::debug!(?set, "compiling has the priority of everything else");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use wasmtime::Engine;

    use super::*;

    #[test]
    fn what_is_still_being_compiled_is_waited_for_and_not_begun_again() {
        let (engine, begun) = (Engine::default(), Arc::new(AtomicUsize::new(0)));
        let compilers = Compilers::new(Duration::ZERO, Turn::AsOthers);
        let (go_on, wait) = mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        let compile = |digest: &str| {
            let (engine, begun, wait) = (engine.clone(), begun.clone(), wait.clone());
            compilers.compile(digest, move || {
                begun.fetch_add(1, Ordering::SeqCst);
                let _ = wait.lock().unwrap().recv();
                Component::from_binary(&engine, &wat::parse_str("(component)").unwrap())
            })
        };
        for _ in 0..3 {
            assert!(matches!(compile("aa"), Err(CompileError::TooSlow(_))));
        }
        go_on.send(()).unwrap();
        while compile("aa").is_err() {
            std::thread::yield_now();
        }
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        assert!(compile("bb").is_err());
        drop(go_on);
        while compile("bb").is_err() {
            std::thread::yield_now();
        }
        assert_eq!(begun.load(Ordering::SeqCst), 2);
    }
}
