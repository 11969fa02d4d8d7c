//! The moves of an instance, and the best of them.
//!
//! One of its nodes changes, or both change places: *f* fails over to the
//! secondary, *r* replaces the secondary. Each move is a row of these steps
//! (hbal(1), "Algorithm").

mod best;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::cluster::{Cluster, Instance};
use crate::fits::Without;
use crate::load::Load;
use crate::misplaced::Misplaced;
use crate::score::{Bounds, FIGURES, Part, Score, UNPLANNED};

use best::Best;

/// Scores that differ by less are equal: they differ by rounding.
const EQUAL: f64 = 1e-12;

/// An instance on other nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Its place in the list.
    pub instance: usize,
    pub primary: usize,
    pub secondary: Option<usize>,
    /// The score that the cluster then has.
    pub score: f64,
}

impl Move {
    /// Whether it is better than another one, not only by rounding.
    pub fn beats(&self, score: f64) -> bool {
        self.score < score - EQUAL
    }
}

/// The score of the cluster as it is.
#[cfg(test)]
pub fn score(cluster: &Cluster) -> f64 {
    match cluster.is_planned() {
        true => Moves::<FIGURES>::new(cluster).now,
        false => Moves::<UNPLANNED>::new(cluster).now,
    }
}

/// The score with one instance more, for each node as its primary; the cluster does
/// not have it yet.
pub fn scores_with(cluster: &Cluster, instances: &[Instance]) -> Vec<f64> {
    let planned = cluster.is_planned() || instances.iter().any(|it| it.forthcoming);
    match planned {
        true => Moves::<FIGURES>::new(cluster).scores_with(instances),
        false => Moves::<UNPLANNED>::new(cluster).scores_with(instances),
    }
}

/// The score, and the best move of each instance that has one which lowers it, in the
/// order of instances. Instances may be left out if so many as `wanted` have better
/// moves.
pub fn best(cluster: &Cluster, wanted: usize) -> (f64, Vec<Move>) {
    match cluster.is_planned() {
        true => Moves::<FIGURES>::new(cluster).best(wanted),
        false => Moves::<UNPLANNED>::new(cluster).best(wanted),
    }
}

/// All that moves are judged by.
struct Moves<'a, const N: usize> {
    cluster: &'a Cluster,
    score: Score<N>,
    misplaced: Misplaced,
    /// The score as it is.
    now: f64,
    /// What of it is about tags.
    now_misplaced: f64,
    /// What is worked out once for all instances of one size: what they take as primary,
    /// as secondary, and what is to be kept free for them.
    sizes: RefCell<BTreeMap<(Load, Load, i64), Rc<OfSize<N>>>>,
}

/// How instances of one size change the parts of nodes.
struct OfSize<const N: usize> {
    by_node: Vec<Changes<N>>,
    /// Bounds of how they change any node that is online.
    primaries: Bounds<N>,
    /// Whatever must then be kept free.
    secondaries: Bounds<N>,
}

/// How a node's part changes with an instance as primary, and as secondary for which
/// no more memory is to be kept free than before.
#[derive(Clone, Copy)]
struct Changes<const N: usize> {
    as_primary: Part<N>,
    as_secondary: Part<N>,
}

impl<'a, const N: usize> Moves<'a, N> {
    fn new(cluster: &'a Cluster) -> Self {
        let score = Score::new(cluster);
        let misplaced = Misplaced::new(cluster);
        let now_misplaced = misplaced.total(cluster);
        Self {
            now: score.of(&score.total) + now_misplaced,
            cluster,
            score,
            misplaced,
            now_misplaced,
            sizes: RefCell::default(),
        }
    }

    fn best(&self, wanted: usize) -> (f64, Vec<Move>) {
        let mut enough = Enough::new(wanted);
        let mut moves = Vec::new();
        for (number, instance) in self.cluster.instances.iter().enumerate() {
            if !instance.movable {
                continue;
            }
            if let Some(best) = Best::of(self, number, instance, enough.limit()) {
                enough.note(best.score);
                moves.push(best);
            }
        }
        (self.now, moves)
    }

    fn scores_with(&self, instances: &[Instance]) -> Vec<f64> {
        let scores = instances.iter().map(|instance| {
            let node = Without::other(&self.cluster.nodes[instance.primary]);
            let mut all = self.score.total - self.score.parts[instance.primary];
            let after = Without {
                load: node.load + instance.as_primary,
                ..node
            };
            all = all + self.part(instance.primary, &after);
            if let Some(secondary) = instance.secondary.filter(|it| *it != instance.primary) {
                let node = Without::other(&self.cluster.nodes[secondary]);
                let reserved = node.reserved_with(instance, instance.primary);
                let after = node.mirrored(instance, reserved);
                all = all - self.score.parts[secondary] + self.part(secondary, &after);
            }
            let tags = self.misplaced.added(self.cluster, instance);
            self.score.of(&all) + self.now_misplaced + tags
        });
        scores.collect()
    }

    fn part(&self, node: usize, without: &Without<'_>) -> Part<N> {
        self.score
            .part(&self.cluster.nodes[node], &without.load, without.reserved)
    }

    fn of_size(&self, instance: &Instance) -> Rc<OfSize<N>> {
        let reserves = instance.reserves();
        let size = (instance.as_primary, instance.as_secondary, reserves);
        let mut sizes = self.sizes.borrow_mut();
        let of_size = sizes.entry(size).or_insert_with(|| {
            let nodes = || self.cluster.nodes.iter().zip(&self.score.parts);
            let changes = nodes().map(|(node, part)| {
                let with = |load| self.score.part(node, &(node.load + load), node.reserved);
                Changes {
                    as_primary: with(instance.as_primary) - *part,
                    as_secondary: with(instance.as_secondary) - *part,
                }
            });
            let by_node: Vec<Changes<N>> = changes.collect();
            let online = || (self.cluster.nodes.iter().zip(&by_node)).filter(|it| !it.0.offline);
            let primaries = online().map(|(_, changes)| Bounds::of(changes.as_primary));
            let secondaries = online().map(|(node, changes)| {
                let (bounds, most) = (Bounds::of(changes.as_secondary), node.reserved + reserves);
                self.score
                    .reserving_up_to(bounds, node, node.reserved, most)
            });
            Rc::new(OfSize {
                primaries: Bounds::of_any(primaries),
                secondaries: Bounds::of_any(secondaries),
                by_node,
            })
        });
        Rc::clone(of_size)
    }
}

/// The score that a move must have to be among the best that are wanted.
struct Enough {
    wanted: usize,
    /// The least scores so far, ascending.
    least: Vec<f64>,
}

impl Enough {
    fn new(wanted: usize) -> Self {
        Self {
            wanted,
            least: Vec::new(),
        }
    }

    /// A little more than the greatest score that is wanted, so that all that are equal to
    /// it but for rounding are found whatever was found before.
    fn limit(&self) -> f64 {
        match self.least.last() {
            Some(greatest) if self.least.len() >= self.wanted => greatest + 1000.0 * EQUAL,
            _ => f64::INFINITY,
        }
    }

    fn note(&mut self, score: f64) {
        let place = self.least.partition_point(|least| *least <= score);
        if place < self.wanted {
            self.least.insert(place, score);
            self.least.truncate(self.wanted);
        }
    }
}
