//! One list of pods in one order, under one policy.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::super::hash::DecisionHash;
use super::super::report::{CallTime, Reused, as_seconds, percent, rate};
use super::super::{CHAIN_LIMIT, ReplayError};
use super::files::{Nodes, Pod, PodList};
use super::typical::{typical, with_typical};
use super::workload::arrivals;
use placewright_chain::Reuse;
use placewright_engine::generation::Generation;
use placewright_model::{Facts, Request, Vm};
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{Cancel, Quotas, Scheduler, SchedulerOptions};

/// When it is looked at how much is allocated: once so much of the cluster's GPUs was
/// asked for, in percent.
pub const POINTS: [u32; 3] = [95, 100, 130];

/// What is to be replayed.
#[derive(Debug, Clone, Copy)]
pub struct GpuReplay<'a> {
    /// The cluster.
    pub nodes: &'a Nodes,
    /// The pods.
    pub list: &'a PodList,
    /// Decides on the order of the pods, and on draws.
    pub seed: u64,
    /// Stop after so many pods.
    pub limit: Option<usize>,
    /// How units' answers are kept from decision to decision; None: they are not.
    pub reuse: Option<Reuse>,
}

/// How much was allocated at one point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Point {
    /// How much of the cluster's GPUs had been asked for, in percent.
    pub arrived_pct: u32,
    /// How much of them was allocated, in percent.
    pub allocated_pct: f64,
}

/// The figures of a replay. Field for field what `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct GpuReport {
    /// The file of the pods.
    pub trace: String,
    /// The policy that decided.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// GPUs of the cluster.
    pub gpus: i64,
    /// Pods that came.
    pub arrivals: u64,
    /// Pods that got a node.
    pub placed: u64,
    /// Pods that got none.
    pub rejected: u64,
    /// How much of the GPUs is allocated at the end, in percent.
    pub allocated_pct: f64,
    /// How much of the GPUs was asked for at the end, in percent.
    pub arrived_pct: f64,
    /// How much was allocated on the way, at the points that were reached.
    pub points: Vec<Point>,
    /// Pods with a need that no filter of the policy checks, by the need's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unheeded: BTreeMap<Arc<str>, u64>,
    /// FNV-1a, 64 bits, of all decisions.
    pub decision_fnv1a64: String,
    /// Wall time of the replay.
    #[serde(serialize_with = "as_seconds", rename = "seconds")]
    pub time: Duration,
    /// Pods per second of wall time.
    pub decisions_per_second: f64,
    /// What each call of the chain took.
    pub calls: Vec<CallTime>,
    /// What keeping units' answers has brought; none if they were not kept.
    pub reuse: Option<Reused>,
}

impl GpuReplay<'_> {
    /// Replay the pods under a policy that was checked against `generation`. Units
    /// that go by typical shapes, and were given none, get those of the list.
    /// `progressed` is told how many pods are done of how many.
    ///
    /// # Errors
    /// If the policy cannot be run, or a unit fails that it does not do without.
    pub fn run(
        &self,
        policy: &Policy,
        generation: &Generation,
        mut progressed: impl FnMut(usize, usize),
    ) -> Result<GpuReport, ReplayError> {
        let mut order = arrivals(&self.list.pods, self.nodes.thousandths(), self.seed);
        order.truncate(self.limit.unwrap_or(usize::MAX));
        let options = SchedulerOptions {
            chain_limit: CHAIN_LIMIT,
            reservation: None,
            seed: self.seed,
            recorded: 0,
            recorded_bytes: u64::MAX,
            reuse: self.reuse,
            // What goes unheeded is counted.
            unheeded: Unheeded::Warn,
            cancel: Cancel::default(),
            quotas: Quotas::default(),
        };
        let policy = Arc::new(with_typical(policy, &typical(&self.list.pods)));
        let inventory = self.nodes.inventory("openb")?;
        let mut run = Run {
            scheduler: Scheduler::new(inventory, policy, generation, options)?,
            members: self.list.pods.iter().map(member).collect(),
            total: self.nodes.thousandths(),
            asked: 0,
            allocated: 0,
            placed: 0,
            points: Vec::new(),
            hash: DecisionHash::default(),
            unheeded: BTreeMap::new(),
        };
        let begin = Instant::now();
        for (done, pod) in order.iter().enumerate() {
            run.arrive(done, *pod, &self.list.pods[*pod])?;
            progressed(done + 1, order.len());
        }
        Ok(self.report(run, order.len() as u64, begin.elapsed()))
    }

    fn report(&self, run: Run, arrivals: u64, time: Duration) -> GpuReport {
        GpuReport {
            trace: self.list.name.clone(),
            policy: run.scheduler.chain().policy().name.to_string(),
            seed: self.seed,
            nodes: self.nodes.nodes.len(),
            gpus: self.nodes.nodes.iter().map(|node| node.gpus).sum(),
            arrivals,
            placed: run.placed,
            rejected: arrivals - run.placed,
            allocated_pct: percent(run.allocated as f64, run.total as f64),
            arrived_pct: percent(run.asked as f64, run.total as f64),
            calls: CallTime::of(&run.scheduler, time),
            reuse: Reused::of(&run.scheduler),
            decision_fnv1a64: run.hash.digits(),
            points: run.points,
            unheeded: run.unheeded,
            time,
            decisions_per_second: rate(arrivals, time),
        }
    }
}

/// What is known of a pod, as of a VM.
fn member(pod: &Pod) -> Facts {
    let mut facts = Facts::new().with("cpu", pod.cpu).with("memory", pod.memory);
    if pod.gpus > 0 {
        facts.set("gpu.count", pod.gpus);
        facts.set("gpu.share", pod.share);
    }
    let models = pod.models.split('|').map(str::trim);
    for model in models.filter(|model| !model.is_empty()) {
        facts.push_row("gpu-models", Facts::new().with("model", model));
    }
    facts
}

/// A replay that is under way.
struct Run {
    scheduler: Scheduler,
    /// By place in the list.
    members: Vec<Facts>,
    /// Thousandths of GPUs that there are, were asked for, and are allocated.
    total: i64,
    asked: i64,
    allocated: i64,
    placed: u64,
    points: Vec<Point>,
    hash: DecisionHash,
    /// Decisions with a need that no filter of the policy checks, by the need's name.
    unheeded: BTreeMap<Arc<str>, u64>,
}

impl Run {
    /// The `number`th pod comes, which stands at `place` in the list.
    fn arrive(&mut self, number: usize, place: usize, pod: &Pod) -> Result<(), ReplayError> {
        let mut vm = Vm::new(format!("pod-{number:06}"));
        vm.facts = self.members[place].clone();
        let request = Request {
            members: vec![vm],
            ..Request::default()
        };
        let decision = self.scheduler.place(request);
        let decision = decision.map_err(|source| ReplayError::Place {
            line: place as u64 + 2,
            source: Box::new(source),
        })?;
        self.asked += pod.thousandths();
        for need in &decision.unheeded {
            *self.unheeded.entry(need.need.clone()).or_default() += 1;
        }
        self.hash
            .decided(decision.decided.chosen.as_ref().map(|chosen| chosen.slot));
        if decision.host.is_some() {
            self.placed += 1;
            self.allocated += pod.thousandths();
        }
        while let Some(point) = POINTS.get(self.points.len())
            && self.asked.saturating_mul(100) >= self.total.saturating_mul(i64::from(*point))
        {
            self.points.push(Point {
                arrived_pct: *point,
                allocated_pct: percent(self.allocated as f64, self.total as f64),
            });
        }
        Ok(())
    }
}
