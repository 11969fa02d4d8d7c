//! The moves of an instance, and the best of them.
//!
//! One of its nodes changes, or both change places: *f* fails over to the
//! secondary, *r* replaces the secondary. Each move is a row of these steps
//! (hbal(1), "Algorithm").

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::cluster::{Cluster, Instance, Mirror};
use crate::fits::Without;
use crate::load::Load;
use crate::misplaced::Misplaced;
use crate::score::{FIGURES, Part, Score, UNPLANNED};

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
/// order of instances.
pub fn best(cluster: &Cluster) -> (f64, Vec<Move>) {
    match cluster.is_planned() {
        true => Moves::<FIGURES>::new(cluster).best(),
        false => Moves::<UNPLANNED>::new(cluster).best(),
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
    /// What is worked out once for all instances of one size.
    sizes: RefCell<BTreeMap<(Load, Load), ByNode<N>>>,
}

type ByNode<const N: usize> = Rc<Vec<Changes<N>>>;

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

    fn best(&self) -> (f64, Vec<Move>) {
        let instances = self.cluster.instances.iter().enumerate();
        let movable = instances.filter(|(_, instance)| instance.movable);
        let moves = movable.filter_map(|(number, instance)| {
            let mut best = Best {
                moves: self,
                number,
                instance,
                best: None,
            };
            match (instance.mirror, instance.secondary) {
                (Mirror::None, _) | (Mirror::Internal, None) => {}
                (Mirror::External, _) => best.external(),
                (Mirror::Internal, Some(secondary)) => best.internal(secondary),
            }
            best.best
        });
        (self.now, moves.collect())
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

    /// By node.
    fn changes(&self, instance: &Instance) -> ByNode<N> {
        let size = (instance.as_primary, instance.as_secondary);
        let mut sizes = self.sizes.borrow_mut();
        let changes = sizes.entry(size).or_insert_with(|| {
            let nodes = self.cluster.nodes.iter().zip(&self.score.parts);
            let changes = nodes.map(|(node, part)| {
                let with = |load| self.score.part(node, &(node.load + load), node.reserved);
                Changes {
                    as_primary: with(instance.as_primary) - *part,
                    as_secondary: with(instance.as_secondary) - *part,
                }
            });
            Rc::new(changes.collect())
        });
        Rc::clone(changes)
    }
}

/// The best move of one instance so far.
struct Best<'a, const N: usize> {
    moves: &'a Moves<'a, N>,
    number: usize,
    instance: &'a Instance,
    best: Option<Move>,
}

impl<'a, const N: usize> Best<'a, N> {
    /// Nodes of its group that are online and do not have the instance.
    fn targets(&self) -> impl Iterator<Item = usize> + use<'a, N> {
        let (instance, nodes) = (self.instance, &self.moves.cluster.nodes);
        let group = nodes[instance.primary].group;
        let others = (0..nodes.len())
            .filter(move |node| *node != instance.primary && Some(*node) != instance.secondary);
        others.filter(move |node| !nodes[*node].offline && nodes[*node].group == group)
    }

    #[inline(always)]
    fn note(&mut self, parts: &Part<N>, moved: &Part<N>, primary: usize, secondary: Option<usize>) {
        let Moves {
            cluster,
            score,
            misplaced,
            now,
            now_misplaced,
            ..
        } = self.moves;
        let change = misplaced.change(cluster, self.instance, primary, secondary);
        let this = Move {
            instance: self.number,
            primary,
            secondary,
            score: score.of_both(parts, moved) + now_misplaced + change,
        };
        if this.beats(self.best.map_or(*now, |best| best.score)) {
            self.best = Some(this);
        }
    }

    fn shares(&self, node: usize) -> bool {
        let tags = &self.instance.exclusion;
        !tags.is_empty() && self.moves.cluster.nodes[node].shares(tags) > 0
    }

    /// The instance can run on any node.
    #[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
    fn external(&mut self) {
        let (moves, instance) = (self.moves, self.instance);
        let nodes = &moves.cluster.nodes;
        let from = &nodes[instance.primary];
        let left = Without {
            load: from.load - instance.as_primary,
            ..Without::other(from)
        };
        let base = moves.score.total - moves.score.parts[instance.primary]
            + moves.part(instance.primary, &left);
        let changes = moves.changes(instance);
        for target in self.targets() {
            let there = Without::other(&nodes[target]);
            if from.migrates_to(there.node)
                && there.fits_primary(instance, self.shares(target), from.offline)
            {
                self.note(
                    &base,
                    &changes[target].as_primary,
                    target,
                    instance.secondary,
                );
            }
        }
    }

    /// The instance runs on a node and is mirrored on another one.
    #[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
    fn internal(&mut self, secondary: usize) {
        let (moves, instance) = (self.moves, self.instance);
        let (score, nodes) = (&moves.score, &moves.cluster.nodes);
        let primary = instance.primary;
        let (from, mirror) = (&nodes[primary], &nodes[secondary]);
        // Both nodes without the instance.
        let p = Without {
            load: from.load - instance.as_primary,
            ..Without::other(from)
        };
        let s = Without {
            load: mirror.load - instance.as_secondary,
            reserved: mirror.reserved_without(primary, instance.reserves()),
            node: mirror,
        };
        let rescued = from.offline;
        let base = score.total - score.parts[primary] - score.parts[secondary];
        let s_primary = Without {
            load: s.load + instance.as_primary,
            ..s
        };
        let fails_over = !mirror.offline
            && from.migrates_to(mirror)
            && s.fits_primary(instance, self.shares(secondary), rescued);
        if fails_over {
            // f
            let reserved = p.reserved_with(instance, secondary);
            if p.fits_secondary(instance, reserved, rescued) {
                let after = p.mirrored(instance, reserved);
                let all = base + moves.part(primary, &after) + moves.part(secondary, &s_primary);
                self.note(&all, &Part::NOTHING, secondary, Some(primary));
            }
        }
        let can_stay = p.fits_primary(instance, false, true);
        let p_left = base + moves.part(primary, &p);
        let s_left = base + moves.part(secondary, &s);
        let p_stays = s_left + score.parts[primary];
        let s_takes = p_left + moves.part(secondary, &s_primary);
        let mut p_mirrors = Mirroring::new(moves, &s_left, primary, (p, instance));
        let mut s_mirrors = Mirroring::new(moves, &p_left, secondary, (s, instance));
        let changes = moves.changes(instance);
        for target in self.targets() {
            let there = Without::other(&nodes[target]);
            let change = &changes[target];
            let as_primary = &change.as_primary;
            let as_secondary = |reserved| {
                let load = there.load + instance.as_secondary;
                let part = change.as_secondary;
                score.reserving(part, there.node, &load, there.reserved, reserved)
            };
            let shares = self.shares(target);
            let fits = there.fits_primary(instance, shares, false);
            let fits_rescued = fits || rescued && there.fits_primary(instance, shares, true);
            // r: somebody must be there to copy the disks from.
            let reserved = there.reserved_with(instance, primary);
            if !rescued && there.fits_secondary(instance, reserved, mirror.offline) && can_stay {
                self.note(&p_stays, &as_secondary(reserved), primary, Some(target));
            }
            // r, f
            let reserved = p.reserved_with(instance, target);
            if from.migrates_to(there.node)
                && fits
                && p.fits_secondary(instance, reserved, mirror.offline)
            {
                let parts = p_mirrors.with(moves, instance, reserved);
                self.note(parts, as_primary, target, Some(primary));
            }
            if !fails_over {
                continue;
            }
            // f, r, f
            let reserved = s.reserved_with(instance, target);
            if mirror.migrates_to(there.node)
                && fits_rescued
                && s.fits_secondary(instance, reserved, rescued)
            {
                let parts = s_mirrors.with(moves, instance, reserved);
                self.note(parts, as_primary, target, Some(secondary));
            }
            // f, r
            let reserved = there.reserved_with(instance, secondary);
            if there.fits_secondary(instance, reserved, rescued) {
                self.note(&s_takes, &as_secondary(reserved), secondary, Some(target));
            }
        }
    }
}

impl Without<'_> {
    /// With the instance as secondary.
    fn mirrored(&self, instance: &Instance, reserved: i64) -> Self {
        Self {
            load: self.load + instance.as_secondary,
            reserved,
            ..*self
        }
    }
}

/// All nodes but a target, with an old node as secondary. What must be kept free
/// there is nearly always the same, whatever the target.
struct Mirroring<'a, const N: usize> {
    without: Without<'a>,
    /// What is usually to be kept free, and all parts then.
    reserved: i64,
    all: Part<N>,
    /// All parts with something else to be kept free.
    other: Part<N>,
}

impl<'a, const N: usize> Mirroring<'a, N> {
    fn new(
        moves: &Moves<'_, N>,
        base: &Part<N>,
        node: usize,
        best: (Without<'a>, &Instance),
    ) -> Self {
        let (without, instance) = best;
        let reserved = without.reserved.max(instance.reserves());
        let all = *base + moves.part(node, &without.mirrored(instance, reserved));
        Self {
            without,
            reserved,
            all,
            other: all,
        }
    }

    #[inline(always)]
    fn with(&mut self, moves: &Moves<'_, N>, instance: &Instance, reserved: i64) -> &Part<N> {
        match self.reserved == reserved {
            true => &self.all,
            false => self.reserving(moves, instance, reserved),
        }
    }

    fn reserving(&mut self, moves: &Moves<'_, N>, instance: &Instance, reserved: i64) -> &Part<N> {
        let (node, load) = (self.without.node, self.without.load + instance.as_secondary);
        let score = &moves.score;
        self.other = score.reserving(self.all, node, &load, self.reserved, reserved);
        &self.other
    }
}
