//! The score: a weighted sum of standard deviations over the nodes that are online,
//! and of counts. Ganeti's manual describes it (hbal(1), "Cluster scoring").
//!
//! Sums and sums of squares are kept, so that the score with another load of a few
//! nodes takes no look at the others. Values are counted from their mean at the
//! beginning, which keeps the sums exact where nodes are much alike.

mod bound;

use std::ops::{Add, Sub};

pub use bound::Bounds;

use crate::cluster::{Cluster, Node};
use crate::load::Load;

/// The figures of which the standard deviation counts.
pub const FIGURES: usize = 11;

/// As many, if nothing is planned: then the last three are equal to these [`TWINS`].
pub const UNPLANNED: usize = FIGURES - TWINS.len();

const TWINS: [usize; 3] = [1, 3, 6];

/// The place of reserved memory.
const RESERVED: usize = 2;

/// What is so much of a node: [`figures`] in this order. Ganeti has a load for CPU,
/// memory and network; without measurements all three are the number of primary
/// instances.
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

const RESERVED_SUM: f64 = 0.25;
const OFFLINE_INSTANCE: f64 = 4.0;
const OFFLINE_PRIMARY: f64 = 16.0;

/// What a node adds to the score, or several nodes together; of the first `N`
/// figures.
#[derive(Clone, Copy, Debug)]
pub struct Part<const N: usize> {
    /// Figures, less their mean.
    sums: [f64; N],
    squares: [f64; N],
    /// What counts as it is.
    count: f64,
}

impl<const N: usize> Part<N> {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        sums: [0.0; N],
        squares: [0.0; N],
        count: 0.0,
    };
}

macro_rules! by_figure {
    ($trait:ident, $function:ident) => {
        impl<const N: usize> $trait for Part<N> {
            type Output = Self;

            #[inline(always)]
            fn $function(mut self, other: Self) -> Self {
                for figure in 0..N {
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
pub struct Score<const N: usize> {
    online: f64,
    means: [f64; N],
    /// Of the figures, divided by the number of nodes that are online.
    weights: [f64; N],
    /// By node.
    pub parts: Vec<Part<N>>,
    /// All nodes together.
    pub total: Part<N>,
}

impl<const N: usize> Score<N> {
    /// Of the cluster as it is.
    pub fn new(cluster: &Cluster) -> Self {
        let online = || cluster.nodes.iter().filter(|node| !node.offline);
        let count = online().count() as f64;
        let mut means = [0.0; N];
        for node in online() {
            let figures: [f64; N] = figures(node, &node.load, node.reserved);
            for (mean, figure) in means.iter_mut().zip(figures) {
                *mean += figure / count;
            }
        }
        let mut weights = [0.0; N];
        weights.copy_from_slice(&WEIGHTS[..N]);
        for (twin, planned) in TWINS.iter().zip(N..FIGURES) {
            weights[*twin] += WEIGHTS[planned];
        }
        let mut score = Self {
            online: count,
            means,
            weights: weights.map(|weight| weight / count),
            parts: Vec::new(),
            total: Part::NOTHING,
        };
        let nodes = cluster.nodes.iter();
        score.parts = nodes
            .map(|node| score.part(node, &node.load, node.reserved))
            .collect();
        score.total = (score.parts.iter()).fold(Part::NOTHING, |sum, part| sum + *part);
        score
    }

    /// What a node adds with that load, and so much memory to be kept free.
    #[inline]
    pub fn part(&self, node: &Node, load: &Load, reserved: i64) -> Part<N> {
        if node.offline {
            let (primaries, secondaries) = (load.primaries as f64, load.secondaries as f64);
            return Part {
                count: OFFLINE_INSTANCE * (primaries + secondaries) + OFFLINE_PRIMARY * primaries,
                ..Part::NOTHING
            };
        }
        let mut part = Part {
            sums: figures(node, load, reserved),
            squares: [0.0; N],
            count: counts(node, load, reserved),
        };
        for figure in 0..N {
            part.sums[figure] -= self.means[figure];
            part.squares[figure] = part.sums[figure] * part.sums[figure];
        }
        part
    }

    /// The change of a part, if other memory is to be kept free: `change` holds with
    /// `before`.
    #[inline(always)]
    pub fn reserving(
        &self,
        mut change: Part<N>,
        node: &Node,
        load: &Load,
        before: i64,
        after: i64,
    ) -> Part<N> {
        if before != after && !node.offline {
            let from = before as f64 * node.per_memory - self.means[RESERVED];
            let to = after as f64 * node.per_memory - self.means[RESERVED];
            change.sums[RESERVED] += to - from;
            change.squares[RESERVED] += to * to - from * from;
            change.count += counts(node, load, after) - counts(node, load, before);
        }
        change
    }

    /// The score of all nodes together, those counts apart that are about tags.
    pub fn of(&self, all: &Part<N>) -> f64 {
        self.of_both(all, &Part::NOTHING)
    }

    /// The score of parts and a change of them.
    #[inline(always)]
    pub fn of_both(&self, parts: &Part<N>, change: &Part<N>) -> f64 {
        // Term by term, so that two are worked out at once.
        let mut terms = [0.0; N];
        for (figure, term) in terms.iter_mut().enumerate() {
            let sum = parts.sums[figure] + change.sums[figure];
            let squares = parts.squares[figure] + change.squares[figure];
            let variance = self.online * squares - sum * sum;
            // Rounding can make it negative; what is not a number stays none.
            let variance = if variance < 0.0 { 0.0 } else { variance };
            *term = self.weights[figure] * variance.sqrt();
        }
        let mut score = parts.count + change.count;
        for term in terms {
            score += term;
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

/// What counts as it is: instances of a node that fails the N+1 check, because it is
/// short of memory if the worst other node fails, and the share that is reserved.
#[inline(always)]
fn counts(node: &Node, load: &Load, reserved: i64) -> f64 {
    let fails = load.free < reserved;
    let failing = if fails {
        load.primaries + load.secondaries
    } else {
        0
    };
    RESERVED_SUM * reserved as f64 * node.per_memory + failing as f64
}

#[inline(always)]
fn figures<const N: usize>(node: &Node, load: &Load, reserved: i64) -> [f64; N] {
    let disk = |left: i64, spindles_left: i64| {
        let left = if node.exclusive { spindles_left } else { left };
        node.no_disk + left as f64 * node.per_disk
    };
    let spindles = |uses: i64| uses as f64 * node.per_spindle_use;
    let all: [f64; FIGURES] = [
        load.free as f64 * node.per_memory,
        disk(load.disk, load.spindles_free),
        reserved as f64 * node.per_memory,
        load.vcpus as f64 * node.per_cpu,
        load.primaries as f64,
        (load.primaries + load.secondaries) as f64,
        spindles(load.spindles),
        load.free_planned as f64 * node.per_memory,
        disk(load.disk_planned, load.spindles_free_planned),
        load.vcpus_planned as f64 * node.per_cpu,
        spindles(load.spindles_planned),
    ];
    let mut figures = [0.0; N];
    figures.copy_from_slice(&all[..N]);
    figures
}
