//! One core of the processor for who asks and who answers.
//!
//! A history is a conversation: the referee waits for the server, and the server's threads for one
//! another. On one core the word is handed over at once; on two, each time a core that sleeps is
//! woken, which takes longer than the answer. (330 against 115 histories a second and core.)

use std::sync::{Mutex, PoisonError};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many have each core to themselves, by its number.
static TAKEN: Mutex<[u32; CpuSet::MAX_CPU]> = Mutex::new([0; CpuSet::MAX_CPU]);

/// The right of this thread, and of those that it starts, to one core.
#[derive(Debug)]
pub(crate) struct OneCore {
    core: usize,
    /// Where the thread could run before.
    before: CpuSet,
}

impl OneCore {
    /// Stay on one of the cores that fewest others have taken. None where the system does not
    /// let a thread choose.
    pub(crate) fn take() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = (0..CpuSet::MAX_CPU).filter(|core| before.is_set(*core));
        let core = allowed.min_by_key(|core| taken[*core])?;
        let mut only = CpuSet::new();
        only.set(core);
        sched_setaffinity(None, &only).ok()?;
        taken[core] += 1;
        Some(Self { core, before })
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken[self.core] = taken[self.core].saturating_sub(1);
        // The thread may go on with something else.
        let _ = sched_setaffinity(None, &self.before);
    }
}
