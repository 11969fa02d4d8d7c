//! Several policies on the same cluster and events, at once.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{ClusterOutcome, ClusterReplay};
use crate::simulate::ReplayError;
use placewright_engine::generation::Generation;
use placewright_policy::Policy;

/// How policies are replayed side by side.
#[derive(Debug, Clone, Copy)]
pub struct SideBySide<'a> {
    /// What is replayed.
    pub replay: ClusterReplay<'a>,
    /// How many replays are made at once.
    pub threads: NonZeroUsize,
}

/// Replay under each of these policies. What comes out does not depend on how many are replayed
/// at once. `progressed` is called after each event of each replay, from all threads.
///
/// # Errors
/// As [`ClusterReplay::run`]: of the first of the policies that failed.
pub fn side_by_side(
    SideBySide { replay, threads }: SideBySide<'_>,
    policies: &[Arc<Policy>],
    generation: &Generation,
    progressed: impl Fn() + Sync,
) -> Result<Vec<ClusterOutcome>, ReplayError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done: Mutex<Vec<(usize, Result<ClusterOutcome, ReplayError>)>> = Mutex::default();
    let work = || {
        while !failed.load(Ordering::Relaxed)
            && let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(policy) = policies.get(number)
        {
            let outcome = replay.run(policy.clone(), generation, &progressed);
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((number, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get().min(policies.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}
