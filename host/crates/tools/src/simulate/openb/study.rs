//! Many replays: every list of pods under every policy with every seed.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::ReplayError;
use super::files::{Nodes, PodList};
use super::replay::{GpuReplay, GpuReport};
use super::workload::arrivals;
use placewright_chain::Reuse;
use placewright_engine::generation::Generation;
use placewright_policy::Policy;

/// The policies that the publication compares, by its names for them, with ours.
pub const POLICIES: [(&str, &str); 6] = [
    ("random", "gpu-random"),
    ("dot-product", "gpu-dot-product"),
    ("gpu-clustering", "gpu-clustering"),
    ("gpu-packing", "gpu-packing"),
    ("best-fit", "gpu-best-fit"),
    ("fgd", "gpu-fgd"),
];

/// What is to be replayed.
#[derive(Debug)]
pub struct Study {
    /// The cluster.
    pub nodes: Nodes,
    /// The lists of pods, by the names of the workloads.
    pub lists: Vec<(String, PodList)>,
    /// The policies, by the names that they are published under.
    pub policies: Vec<(String, Arc<Policy>)>,
    /// Seeds 0, 1 ... up to here, without it.
    pub seeds: u64,
}

/// One replay of a study: the numbers of its list and policy, and its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub list: usize,
    pub policy: usize,
    pub seed: u64,
}

impl Study {
    /// All replays, in order.
    pub(super) fn jobs(&self) -> Vec<Job> {
        let lists = 0..self.lists.len();
        let policies = 0..self.policies.len();
        lists
            .flat_map(|list| policies.clone().map(move |policy| (list, policy)))
            .flat_map(|(list, policy)| (0..self.seeds).map(move |seed| Job { list, policy, seed }))
            .collect()
    }

    /// How many pods come in all replays together.
    pub fn decisions(&self) -> usize {
        let gpus = self.nodes.thousandths();
        let lists = self.lists.iter();
        let of_list = |(_, list): &(String, PodList)| -> usize {
            let seeds = 0..self.seeds;
            seeds
                .map(|seed| arrivals(&list.pods, gpus, seed).len())
                .sum()
        };
        lists.map(of_list).sum::<usize>() * self.policies.len()
    }

    /// Replay everything, `threads` at a time. What comes out does not depend on how
    /// many these are. `progressed` is told how many pods more are done; it is called
    /// from all threads.
    ///
    /// # Errors
    /// If a policy cannot be run, or a unit fails that it does not do without: the
    /// first of the replays that failed.
    pub fn run(
        &self,
        generation: &Generation,
        threads: NonZeroUsize,
        progressed: impl Fn(usize) + Sync,
    ) -> Result<Vec<GpuReport>, ReplayError> {
        let jobs = self.jobs();
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let done: Mutex<Vec<(usize, Result<GpuReport, ReplayError>)>> = Mutex::default();
        let work = || {
            while !failed.load(Ordering::Relaxed)
                && let number = next.fetch_add(1, Ordering::Relaxed)
                && let Some(job) = jobs.get(number)
            {
                let report = self.replay(*job, generation, &progressed);
                failed.fetch_or(report.is_err(), Ordering::Relaxed);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.push((number, report));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.get().min(jobs.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, report)| report).collect()
    }

    fn replay(
        &self,
        job: Job,
        generation: &Generation,
        progressed: &(impl Fn(usize) + Sync),
    ) -> Result<GpuReport, ReplayError> {
        let replay = GpuReplay {
            nodes: &self.nodes,
            list: &self.lists[job.list].1,
            seed: job.seed,
            limit: None,
            reuse: Some(Reuse::default()),
        };
        let policy = &self.policies[job.policy].1;
        replay.run(policy, generation, |_, _| progressed(1))
    }
}
