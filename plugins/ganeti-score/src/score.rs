//! The score: a weighted sum of standard deviations over the nodes that are online,
//! and of counts. Ganeti's manual describes it (hbal(1), "Cluster scoring").
//!
//! Sums and sums of squares are kept, so that the score with another load of a few
//! nodes takes no look at the others. Values are counted from their mean at the
//! beginning, which keeps the sums exact where nodes are much alike.

use std::ops::{Add, Sub};

use crate::cluster::{Cluster, Node};
use crate::load::Load;

/// The figures of which the standard deviation counts.
const FIGURES: usize = 11;

/// What is so much of a node: [`figures`] in this order. Ganeti has a load for CPU, memory and
/// network; without measurements all three are the number of primary instances.
const WEIGHTS: [f64; FIGURES] = [
    0.5, // free memory
    0.5, // free disk
    1.0, // reserved memory
    0.5, // vCPUs per CPU
    3.0, // load of CPU, memory and network
    1.0, // load of disks
    0.5, // spindles
    0.5, // free memory, planned
    0.5, // the last three: free disk, vCPUs and spindles, planned
    0.5, 0.5,
];

/// As many are different from others only if something is planned.
const PLANNED: usize = 3;

/// The figures that the planned ones are then equal to.
const TWINS: [usize; PLANNED] = [1, 3, 6];

const RESERVED_SUM: f64 = 0.25;
const OFFLINE_INSTANCE: f64 = 4.0;
const OFFLINE_PRIMARY: f64 = 16.0;

/// What a node adds to the score, or several nodes together.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Figures, less their mean.
    sums: [f64; FIGURES],
    squares: [f64; FIGURES],
    /// What counts as it is.
    count: f64,
}

impl Part {
    const NOTHING: Self = Self {
        sums: [0.0; FIGURES],
        squares: [0.0; FIGURES],
        count: 0.0,
    };
}

macro_rules! by_figure {
    ($trait:ident, $function:ident) => {
        impl $trait for Part {
            type Output = Self;

            #[inline]
            fn $function(mut self, other: Self) -> Self {
                for figure in 0..FIGURES {
                    self.sums[figure] = self.sums[figure].$function(other.sums[figure]);
                    self.squares[figure] = self.squares[figure].$function(other.squares[figure]);
                }
                self.count = self.count.$function(other.count);
                self
            }
        }
    };
}

by_figure!(Add, add);
by_figure!(Sub, sub);

/// What scores of one cluster have in common.
pub struct Score {
    online: f64,
    means: [f64; FIGURES],
    weights: [f64; FIGURES],
    figures: usize,
    /// By node.
    pub parts: Vec<Part>,
    /// All nodes together.
    pub total: Part,
}

impl Score {
    /// Of the cluster as it is.
    pub fn new(cluster: &Cluster) -> Self {
        let online = || cluster.nodes.iter().filter(|node| !node.offline);
        let count = online().count() as f64;
        let mut means = [0.0; FIGURES];
        for node in online() {
            for (mean, figure) in means
                .iter_mut()
                .zip(figures(node, &node.load, node.reserved))
            {
                *mean += figure / count;
            }
        }
        let planned = cluster
            .instances
            .iter()
            .any(|instance| instance.forthcoming);
        let mut score = Self {
            online: count,
            means,
            weights: WEIGHTS,
            figures: FIGURES,
            parts: Vec::new(),
            total: Part::NOTHING,
        };
        if !planned {
            score.figures = FIGURES - PLANNED;
            for (twin, planned) in TWINS.iter().zip(FIGURES - PLANNED..) {
                score.weights[*twin] += WEIGHTS[planned];
            }
        }
        let nodes = cluster.nodes.iter();
        score.parts = nodes
            .map(|node| score.part(node, &node.load, node.reserved))
            .collect();
        score.total = score
            .parts
            .iter()
            .fold(Part::NOTHING, |sum, part| sum + *part);
        score
    }

    /// What a node adds with that load, and so much memory to be kept free.
    #[inline]
    pub fn part(&self, node: &Node, load: &Load, reserved: i64) -> Part {
        let (primaries, all) = (
            load.primaries as f64,
            (load.primaries + load.secondaries) as f64,
        );
        if node.offline {
            return Part {
                count: OFFLINE_INSTANCE * all + OFFLINE_PRIMARY * primaries,
                ..Part::NOTHING
            };
        }
        let mut part = Part {
            sums: figures(node, load, reserved),
            squares: [0.0; FIGURES],
            count: RESERVED_SUM * reserved as f64 / node.memory,
        };
        // The node fails the N+1 check: if the worst node fails, it is short of memory.
        if load.free < reserved {
            part.count += all;
        }
        for figure in 0..FIGURES {
            part.sums[figure] -= self.means[figure];
            part.squares[figure] = part.sums[figure] * part.sums[figure];
        }
        part
    }

    /// The score of all nodes together, those counts apart that are about tags.
    #[inline]
    pub fn of(&self, all: &Part) -> f64 {
        let mut score = all.count;
        for figure in 0..self.figures {
            let mean = all.sums[figure] / self.online;
            let variance = all.squares[figure] / self.online - mean * mean;
            // Rounding can make it negative; what is not a number stays none.
            let variance = if variance < 0.0 { 0.0 } else { variance };
            score += self.weights[figure] * variance.sqrt();
        }
        score
    }
}

/// What the score cannot be less than: without any one node, as much memory must be
/// kept free on the others as all instances reserve.
pub fn least(cluster: &Cluster) -> f64 {
    let memory = || cluster.nodes.iter().map(|node| node.memory);
    let all: f64 = memory().sum();
    let without_largest = all - memory().fold(0.0, f64::max);
    if cluster.nodes.len() < 2 || without_largest <= 0.0 {
        return 0.0;
    }
    let reserved = cluster.nodes.iter().flat_map(|node| &node.reserved_for);
    let reserved = reserved.sum::<i64>() as f64;
    RESERVED_SUM * (reserved / without_largest - reserved / all)
}

#[inline]
fn figures(node: &Node, load: &Load, reserved: i64) -> [f64; FIGURES] {
    let disk = |left: i64, spindles_left: i64| match (node.exclusive, node.spindles, node.disk) {
        (true, spindles, _) if spindles > 0.0 => spindles_left as f64 / spindles,
        (false, _, disk) if disk > 0.0 => left as f64 / disk,
        _ => 1.0,
    };
    let cpu = |vcpus: i64| vcpus as f64 / node.cpus / node.cpu_speed;
    let spindles = |uses: i64| match node.exclusive {
        true => 0.0,
        false => uses as f64 / node.spindle_limit,
    };
    [
        load.free as f64 / node.memory,
        disk(load.disk, load.spindles_free),
        reserved as f64 / node.memory,
        cpu(load.vcpus),
        load.primaries as f64,
        (load.primaries + load.secondaries) as f64,
        spindles(load.spindles),
        load.free_planned as f64 / node.memory,
        disk(load.disk_planned, load.spindles_free_planned),
        cpu(load.vcpus_planned),
        spindles(load.spindles_planned),
    ]
}
