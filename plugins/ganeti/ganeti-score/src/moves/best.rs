//! The best move of one instance.

use super::{EQUAL, Move, Moves};
use crate::cluster::{Instance, Mirror};
use crate::fits::Without;
use crate::score::{Bounds, Part};

/// The best move of one instance so far.
pub(super) struct Best<'a, const N: usize> {
    moves: &'a Moves<'a, N>,
    number: usize,
    instance: &'a Instance,
    best: Option<Move>,
    /// A move with this score, or a greater one, is not wanted.
    limit: f64,
    /// What of the score is about tags is not less, wherever the instance goes.
    least_misplaced: f64,
}

impl<'a, const N: usize> Best<'a, N> {
    /// The best move of an instance if it lowers the score, and below `limit`.
    pub(super) fn of(
        moves: &'a Moves<'a, N>,
        number: usize,
        instance: &'a Instance,
        limit: f64,
    ) -> Option<Move> {
        let mut best = Best {
            moves,
            number,
            instance,
            best: None,
            limit,
            least_misplaced: moves.misplaced.least_change(moves.cluster, instance),
        };
        match (instance.mirror, instance.secondary) {
            (Mirror::None, _) | (Mirror::Internal, None) => {}
            (Mirror::External, _) => best.external(),
            (Mirror::Internal, Some(secondary)) => best.internal(secondary),
        }
        best.best
    }

    /// Whether a move with parts and a change of them within these bounds could be the
    /// best one.
    fn can_be(&self, parts: &Bounds<N>, change: &Bounds<N>) -> bool {
        let moves = self.moves;
        let of_both = moves.score.least_of_both(parts, change);
        let least = of_both + moves.now_misplaced + self.least_misplaced;
        let so_far = self.best.map_or(moves.now, |best| best.score);
        // What is not a number says nothing.
        !(least >= self.limit || least >= so_far - EQUAL)
    }

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
        let of_size = moves.of_size(instance);
        if !self.can_be(&Bounds::of(base), &of_size.primaries) {
            return;
        }
        for target in self.targets() {
            let there = Without::other(&nodes[target]);
            if from.migrates_to(there.node)
                && there.fits_primary(instance, self.shares(target), from.offline)
            {
                self.note(
                    &base,
                    &of_size.by_node[target].as_primary,
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
        let of_size = moves.of_size(instance);
        let secondaries = &of_size.secondaries;
        // r: somebody must be there to copy the disks from.
        let replaces = !rescued && can_stay && self.can_be(&Bounds::of(p_stays), secondaries);
        // r, f
        let replaces_fails = self.can_be(&p_mirrors.bounds(moves, instance), &of_size.primaries);
        // f, r, f
        let fails_replaces_fails =
            fails_over && self.can_be(&s_mirrors.bounds(moves, instance), &of_size.primaries);
        // f, r
        let fails_replaces = fails_over && self.can_be(&Bounds::of(s_takes), secondaries);
        if !(replaces || replaces_fails || fails_replaces_fails || fails_replaces) {
            return;
        }
        for target in self.targets() {
            let there = Without::other(&nodes[target]);
            let change = &of_size.by_node[target];
            let as_primary = &change.as_primary;
            let as_secondary = |reserved| {
                let load = there.load + instance.as_secondary;
                let part = change.as_secondary;
                score.reserving(part, there.node, &load, there.reserved, reserved)
            };
            if replaces {
                let reserved = there.reserved_with(instance, primary);
                if there.fits_secondary(instance, reserved, mirror.offline) {
                    self.note(&p_stays, &as_secondary(reserved), primary, Some(target));
                }
            }
            if replaces_fails || fails_replaces_fails {
                let shares = self.shares(target);
                let fits = there.fits_primary(instance, shares, false);
                let reserved = p.reserved_with(instance, target);
                if replaces_fails
                    && fits
                    && from.migrates_to(there.node)
                    && p.fits_secondary(instance, reserved, mirror.offline)
                {
                    let parts = p_mirrors.with(moves, instance, reserved);
                    self.note(parts, as_primary, target, Some(primary));
                }
                let fits_rescued = fits || rescued && there.fits_primary(instance, shares, true);
                let reserved = s.reserved_with(instance, target);
                if fails_replaces_fails
                    && fits_rescued
                    && mirror.migrates_to(there.node)
                    && s.fits_secondary(instance, reserved, rescued)
                {
                    let parts = s_mirrors.with(moves, instance, reserved);
                    self.note(parts, as_primary, target, Some(secondary));
                }
            }
            if fails_replaces {
                let reserved = there.reserved_with(instance, secondary);
                if there.fits_secondary(instance, reserved, rescued) {
                    self.note(&s_takes, &as_secondary(reserved), secondary, Some(target));
                }
            }
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

    /// Bounds of all parts, whatever the target.
    fn bounds(&self, moves: &Moves<'_, N>, instance: &Instance) -> Bounds<N> {
        let node = self.without.node;
        let most_for_one = node.reserved_for.iter().copied().max().unwrap_or(0);
        let most = most_for_one + instance.reserves();
        let bounds = Bounds::of(self.all);
        (moves.score).reserving_up_to(bounds, node, self.reserved, most)
    }
}
