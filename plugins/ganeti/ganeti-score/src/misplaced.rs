//! What counts about tags: exclusion tags that meet on a node or in a failure
//! domain, mirrors in the failure domain of what they mirror, and locations that
//! instances would rather be in.

use std::collections::BTreeMap;

use crate::cluster::{Cluster, Instance, Node, TagNumber};

const SHARED_EXCLUSION: f64 = 2.0;

/// How often each exclusion tag is in each failure domain.
pub struct Misplaced {
    pairs: BTreeMap<(TagNumber, TagNumber), i64>,
    any: bool,
}

impl Misplaced {
    /// Of the cluster as it is.
    pub fn new(cluster: &Cluster) -> Self {
        let mut pairs = BTreeMap::new();
        for instance in &cluster.instances {
            for pair in pairs_of(instance, &cluster.nodes[instance.primary]) {
                *pairs.entry(pair).or_default() += 1;
            }
        }
        let instances = cluster.instances.iter();
        let mut tagged = instances.map(|it| !it.exclusion.is_empty() || !it.desired.is_empty());
        let mut located = cluster.nodes.iter().map(|node| !node.location.is_empty());
        Self {
            pairs,
            any: tagged.any(|it| it) || located.any(|it| it),
        }
    }

    /// What all instances add to the score.
    pub fn total(&self, cluster: &Cluster) -> f64 {
        let online = || cluster.nodes.iter().filter(|node| !node.offline);
        let counts = online().flat_map(|node| node.exclusion.values());
        let shared: i64 = counts.map(|count| (count - 1).max(0)).sum();
        let met: i64 = self.pairs.values().map(|count| (count - 1).max(0)).sum();
        let instances = cluster.instances.iter();
        let located = instances.map(|it| location(cluster, it, it.primary, it.secondary));
        SHARED_EXCLUSION * shared as f64 + met as f64 + located.sum::<f64>()
    }

    /// What the score gets more if the instance has these nodes.
    #[inline]
    pub fn change(
        &self,
        cluster: &Cluster,
        instance: &Instance,
        primary: usize,
        secondary: Option<usize>,
    ) -> f64 {
        if !self.any {
            return 0.0;
        }
        let before = location(cluster, instance, instance.primary, instance.secondary);
        let located = location(cluster, instance, primary, secondary) - before;
        if instance.exclusion.is_empty() || primary == instance.primary {
            return located;
        }
        let (from, to) = (&cluster.nodes[instance.primary], &cluster.nodes[primary]);
        let mut change = located;
        if !from.offline {
            let several = |tag: &&TagNumber| from.exclusion.get(tag).is_some_and(|it| *it > 1);
            let shared = instance.exclusion.iter().filter(several).count();
            change -= SHARED_EXCLUSION * shared as f64;
        }
        if !to.offline {
            change += SHARED_EXCLUSION * to.shares(&instance.exclusion) as f64;
        }
        change + self.meetings(instance, from, to)
    }

    /// What [`Misplaced::change`] is not less than, wherever the instance goes.
    pub fn least_change(&self, cluster: &Cluster, instance: &Instance) -> f64 {
        if !self.any {
            return 0.0;
        }
        let from = &cluster.nodes[instance.primary];
        let tags = instance.exclusion.len() as f64;
        let met = from.location.len() as f64;
        let located = location(cluster, instance, instance.primary, instance.secondary);
        -located - (SHARED_EXCLUSION + met) * tags
    }

    /// What the score gets more with the instance, which the cluster does not have.
    pub fn added(&self, cluster: &Cluster, instance: &Instance) -> f64 {
        let primary = &cluster.nodes[instance.primary];
        if !self.any && instance.desired.is_empty() {
            return 0.0;
        }
        let located = location(cluster, instance, instance.primary, instance.secondary);
        let shared = match primary.offline {
            true => 0,
            false => primary.shares(&instance.exclusion),
        };
        let meets = |pair: &(TagNumber, TagNumber)| self.pairs.get(pair).is_some_and(|it| *it > 0);
        let met = pairs_of(instance, primary).filter(meets).count();
        located + SHARED_EXCLUSION * shared as f64 + met as f64
    }

    /// How many more exclusion tags meet in a failure domain.
    fn meetings(&self, instance: &Instance, from: &Node, to: &Node) -> f64 {
        let left: Vec<_> = pairs_of(instance, from).collect();
        let count = |pair: &(TagNumber, TagNumber)| self.pairs.get(pair).copied().unwrap_or(0);
        let parted = left.iter().filter(|pair| count(pair) > 1).count();
        let met = pairs_of(instance, to).filter(|pair| {
            let own = left.contains(pair);
            count(pair) - i64::from(own) > 0
        });
        met.count() as f64 - parted as f64
    }
}

/// The failure domains of the primary node with the exclusion tags of the instance.
fn pairs_of<'a>(
    instance: &'a Instance,
    primary: &'a Node,
) -> impl Iterator<Item = (TagNumber, TagNumber)> + 'a {
    let counts = !instance.forthcoming && !primary.offline;
    let locations = primary.location.iter().filter(move |_| counts);
    locations.flat_map(|location| instance.exclusion.iter().map(|tag| (*location, *tag)))
}

/// The failure domains that both nodes are in, and the desired locations that the
/// primary is not in.
fn location(
    cluster: &Cluster,
    instance: &Instance,
    primary: usize,
    secondary: Option<usize>,
) -> f64 {
    let primary = &cluster.nodes[primary];
    if primary.offline || instance.forthcoming {
        return 0.0;
    }
    let secondary = secondary.map(|node| &cluster.nodes[node].location);
    let common = secondary.map_or(0, |other| {
        let here = primary.location.iter();
        here.filter(|tag| other.contains(tag)).count()
    });
    let desired = instance.desired.iter();
    let missed = desired
        .filter(|tag| !primary.location.contains(tag))
        .count();
    (common + missed) as f64
}
