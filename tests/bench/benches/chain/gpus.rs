//! A cluster of GPUs, well filled, under fragmentation gradient descent: pods come, and the
//! one that came first leaves.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Request, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{Scheduler, SchedulerOptions};
use placewright_tools::simulate::openb::{
    GpuNode, Nodes, Pod, PodList, arrivals, file_in, typical, with_typical,
};

use crate::fleet::{Numbers, component};

/// As many nodes as the published cluster has.
const NODES: u64 = 1_213;
const PODS: u64 = 8_000;
/// How much of the GPUs is asked for while it goes on, in percent.
const FULL_PCT: i64 = 85;
const GIB: i64 = 1 << 30;

/// A scheduler, and pods for it without end.
pub(crate) struct Gpus {
    scheduler: Scheduler,
    pods: Vec<Pod>,
    order: Vec<usize>,
    /// How many pods have come so far.
    number: usize,
    /// The pods that stay, the first first, with the thousandths of GPUs that they have.
    staying: VecDeque<(String, i64)>,
    taken: i64,
    full: i64,
}

impl Gpus {
    /// A cluster of made-up nodes, filled; or the published one, if the data lies in
    /// the folder `shared/data` beside the repository.
    pub(crate) fn new() -> Self {
        let (nodes, pods) = published().unwrap_or_else(made_up);
        let engine = Engine::new(Limits::default(), None).expect("an engine");
        let unit = Unit::load(&engine, &component("fgd"), "fgd").expect("the unit loads");
        let generation = Generation::new([unit]).expect("one name");
        let text = plugins::policy("gpu-fgd").expect("an embedded policy").text;
        let policy = Policy::load(text, "p.toml", &generation, Schema::built_in())
            .expect("the policy fits the unit");
        let policy = Arc::new(with_typical(&policy, &typical(&pods)));
        let inventory = nodes.inventory("bench").expect("nodes are as wanted");
        let options = SchedulerOptions {
            recorded: 0,
            reservation: None,
            ..SchedulerOptions::default()
        };
        let scheduler =
            Scheduler::new(inventory, policy, &generation, options).expect("the units are there");
        let mut gpus = Self {
            scheduler,
            order: arrivals(&pods, nodes.thousandths(), 0),
            pods,
            number: 0,
            staying: VecDeque::new(),
            taken: 0,
            full: nodes.thousandths() * FULL_PCT / 100,
        };
        while gpus.taken < gpus.full {
            gpus.come();
        }
        gpus
    }

    /// A pod comes; when the cluster is full, those leave that came first.
    pub(crate) fn come(&mut self) {
        let pod = &self.pods[self.order[self.number % self.order.len()]];
        let id = format!("pod-{:09}", self.number);
        self.number += 1;
        let mut vm = Vm::new(id.as_str())
            .with("cpu", pod.cpu)
            .with("memory", pod.memory);
        if pod.gpus > 0 {
            vm.facts.set("gpu.count", pod.gpus);
            vm.facts.set("gpu.share", pod.share);
        }
        for model in pod.models.split('|').filter(|model| !model.is_empty()) {
            let row = Facts::new().with("model", model);
            vm.facts.push_row("gpu-models", row);
        }
        let request = Request {
            members: vec![vm],
            ..Request::default()
        };
        let decision = self.scheduler.place(request).expect("the request is good");
        if decision.host.is_some() {
            self.taken += pod.thousandths();
            self.staying.push_back((id, pod.thousandths()));
        }
        while self.taken > self.full
            && let Some((id, thousandths)) = self.staying.pop_front()
        {
            self.taken -= thousandths;
            let inventory = self.scheduler.inventory_mut();
            inventory.cancel_vm(&id).expect("it has its place");
        }
    }
}

fn published() -> Option<(Nodes, Vec<Pod>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/openb-2023");
    let nodes = Nodes::open(&file_in(&folder, "nodes.csv")).ok()?;
    let list = PodList::open(&file_in(&folder, "pods-default.csv")).ok()?;
    Some((nodes, list.pods))
}

/// Nodes and pods of a few kinds, in about the published proportions.
fn made_up() -> (Nodes, Vec<Pod>) {
    let mut numbers = Numbers::new(2023);
    let nodes = (0..NODES).map(|_| {
        let (cores, gib, gpus, model) = match numbers.below(10) {
            0..5 => (96, 384, 8, "G2"),
            5..8 => (104, 512, 2, "T4"),
            8 => (16, 120, 2, "P100"),
            _ => (32, 128, 4, "V100M16"),
        };
        GpuNode {
            cpu: cores * 1000,
            memory: gib * GIB,
            gpus,
            model: model.into(),
        }
    });
    let nodes = Nodes {
        name: "made up".into(),
        nodes: nodes.collect(),
    };
    let pods = (0..PODS).map(|_| {
        let size = 1 + numbers.below(12) as i64;
        let (gpus, share) = match numbers.below(20) {
            0..3 => (0, 0),
            3..11 => (1, 100 + 90 * (size % 9)),
            11..18 => (1, 1000),
            18 => (2, 1000),
            _ => (8, 1000),
        };
        Pod {
            cpu: size * 1000 * gpus.max(1),
            memory: size * 3 * GIB,
            gpus,
            share,
            models: "".into(),
        }
    });
    (nodes, pods.collect())
}
