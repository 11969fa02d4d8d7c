//! The moves of an instance, and the best of them.
//!
//! One of its nodes changes, or both change places: *f* fails over to the
//! secondary, *r* replaces the secondary. Each move is a row of these steps
//! (hbal(1), "Algorithm").

use crate::cluster::{Cluster, Instance, Mirror};
use crate::fits::Without;
use crate::misplaced::Misplaced;
use crate::score::{Part, Score};

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

/// All that moves are judged by.
pub struct Moves<'a> {
    cluster: &'a Cluster,
    score: Score,
    misplaced: Misplaced,
    /// The score as it is.
    pub now: f64,
    /// What of it is about tags.
    now_misplaced: f64,
}

impl<'a> Moves<'a> {
    /// Of the cluster as it is.
    pub fn new(cluster: &'a Cluster) -> Self {
        let score = Score::new(cluster);
        let misplaced = Misplaced::new(cluster);
        let now_misplaced = misplaced.total(cluster);
        Self {
            now: score.of(&score.total) + now_misplaced,
            cluster,
            score,
            misplaced,
            now_misplaced,
        }
    }

    /// The best move of each instance that has one which lowers the score, in the
    /// order of instances.
    pub fn best(&self) -> Vec<Move> {
        let instances = self.cluster.instances.iter().enumerate();
        let movable = instances.filter(|(_, instance)| instance.movable);
        movable
            .filter_map(|(number, instance)| {
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
            })
            .collect()
    }

    fn part(&self, node: usize, without: &Without<'_>) -> Part {
        self.score
            .part(&self.cluster.nodes[node], &without.load, without.reserved)
    }
}

/// The best move of one instance so far.
struct Best<'a> {
    moves: &'a Moves<'a>,
    number: usize,
    instance: &'a Instance,
    best: Option<Move>,
}

impl<'a> Best<'a> {
    /// Nodes of its group that are online and do not have the instance.
    fn targets(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (instance, nodes) = (self.instance, &self.moves.cluster.nodes);
        let group = &nodes[instance.primary].group;
        let others = (0..nodes.len())
            .filter(move |node| *node != instance.primary && Some(*node) != instance.secondary);
        others.filter(|node| !nodes[*node].offline && nodes[*node].group == *group)
    }

    fn note(&mut self, all: Part, primary: usize, secondary: Option<usize>) {
        let Moves {
            cluster,
            score,
            misplaced,
            now,
            now_misplaced,
        } = self.moves;
        let change = misplaced.change(cluster, self.instance, primary, secondary);
        let this = Move {
            instance: self.number,
            primary,
            secondary,
            score: score.of(&all) + now_misplaced + change,
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
        for target in self.targets() {
            let there = Without::other(&nodes[target]);
            if from.migrates_to(there.node)
                && there.fits_primary(instance, self.shares(target), from.offline)
            {
                let after = Without {
                    load: there.load + instance.as_primary,
                    ..there
                };
                let all = base - moves.score.parts[target] + moves.part(target, &after);
                self.note(all, target, instance.secondary);
            }
        }
    }

    /// The instance runs on a node and is mirrored on another one.
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
                self.note(all, secondary, Some(primary));
            }
        }
        let p_left = base + moves.part(primary, &p);
        let s_left = base + moves.part(secondary, &s);
        let p_stays = s_left + score.parts[primary];
        let s_takes = p_left + moves.part(secondary, &s_primary);
        let mut p_mirrors = Mirroring::new(s_left, p, primary);
        let mut s_mirrors = Mirroring::new(p_left, s, secondary);
        for target in self.targets() {
            let there = Without::other(&nodes[target]);
            let without = score.parts[target];
            let as_primary = Without {
                load: there.load + instance.as_primary,
                ..there
            };
            let as_primary = moves.part(target, &as_primary) - without;
            // r: somebody must be there to copy the disks from.
            let reserved = there.reserved_with(instance, primary);
            if !rescued
                && there.fits_secondary(instance, reserved, mirror.offline)
                && p.fits_primary(instance, false, true)
            {
                let after = there.mirrored(instance, reserved);
                let all = p_stays + (moves.part(target, &after) - without);
                self.note(all, primary, Some(target));
            }
            // r, f
            let reserved = p.reserved_with(instance, target);
            if from.migrates_to(there.node)
                && there.fits_primary(instance, self.shares(target), false)
                && p.fits_secondary(instance, reserved, mirror.offline)
            {
                let all = p_mirrors.with(moves, instance, reserved) + as_primary;
                self.note(all, target, Some(primary));
            }
            if !fails_over {
                continue;
            }
            // f, r, f
            let reserved = s.reserved_with(instance, target);
            if mirror.migrates_to(there.node)
                && there.fits_primary(instance, self.shares(target), rescued)
                && s.fits_secondary(instance, reserved, rescued)
            {
                let all = s_mirrors.with(moves, instance, reserved) + as_primary;
                self.note(all, target, Some(secondary));
            }
            // f, r
            let reserved = there.reserved_with(instance, secondary);
            if there.fits_secondary(instance, reserved, rescued) {
                let after = there.mirrored(instance, reserved);
                let all = s_takes + (moves.part(target, &after) - without);
                self.note(all, secondary, Some(target));
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
struct Mirroring<'a> {
    base: Part,
    without: Without<'a>,
    node: usize,
    last: Option<(i64, Part)>,
}

impl<'a> Mirroring<'a> {
    fn new(base: Part, without: Without<'a>, node: usize) -> Self {
        Self {
            base,
            without,
            node,
            last: None,
        }
    }

    fn with(&mut self, moves: &Moves<'_>, instance: &Instance, reserved: i64) -> Part {
        match self.last {
            Some((same, all)) if same == reserved => all,
            _ => {
                let after = self.without.mirrored(instance, reserved);
                let all = self.base + moves.part(self.node, &after);
                self.last = Some((reserved, all));
                all
            }
        }
    }
}
