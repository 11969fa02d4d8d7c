//! Candidates in groups, and the rules that every step keeps.

use placewright_sdk::prelude::*;

/// Where a candidate stands before the step.
#[derive(Row)]
pub struct Standing {
    /// Number of its group, best first.
    pub group: i64,
    /// Its share of chance in the group.
    pub share: f64,
}

/// A candidate, with what the unit reads of the host.
pub struct Candidate<H> {
    /// Its row in `candidates`, which is that in `hosts` too.
    pub row: u32,
    listed: i64,
    /// Its share of chance in the group; 0 = none, for good.
    pub share: f64,
    /// The host.
    pub host: H,
}

impl<H> Candidate<H> {
    /// Has it a chance?
    pub fn is_live(&self) -> bool {
        self.share > 0.0
    }
}

/// Candidates in groups, best group first. Inside a group they stand in the order in
/// which hosts were listed, so that nothing depends on the order of rows: neither
/// the answer nor how a sum is rounded.
pub struct Candidates<H>(Vec<Vec<Candidate<H>>>);

impl<H: Row> Candidates<H> {
    /// The candidates of a call; `listed` is `hosts.listed`.
    pub fn read(standings: &Rows<Standing>, hosts: &Rows<H>, listed: impl Fn(&H) -> i64) -> Self {
        let rows = (0..).zip(standings).zip(hosts);
        let candidate = |((row, standing), host): ((u32, Standing), H)| {
            let candidate = Candidate {
                row,
                listed: listed(&host),
                share: standing.share,
                host,
            };
            (standing.group, candidate)
        };
        let mut candidates: Vec<_> = rows.map(candidate).collect();
        candidates.sort_by_key(|(group, candidate)| (*group, candidate.listed));
        Self(chunks(candidates))
    }
}

impl<H> Candidates<H> {
    /// Puts all in one group and gives each a share by its weight. If all weights are
    /// 0, nobody has a chance.
    #[must_use]
    pub fn weighed(self, weigh: impl Fn(&[Candidate<H>]) -> Vec<f64>) -> Self {
        let mut all = self.into_list();
        if all.is_empty() {
            return Self(Vec::new());
        }
        let weights = weigh(&all);
        let shares = rescaled(&weights).unwrap_or(vec![0.0; all.len()]);
        set_shares(&mut all, shares);
        Self(vec![all])
    }

    /// Splits every group: the candidates of the least key come first. The shares of
    /// each part are rescaled; a part without chance keeps its place.
    #[must_use]
    pub fn split<K: Ord>(self, key: impl Fn(&H) -> K) -> Self {
        let parts = self.0.into_iter().flat_map(|group| {
            let keyed = group.into_iter().map(|it| (key(&it.host), it));
            let mut keyed: Vec<_> = keyed.collect();
            keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
            chunks(keyed)
        });
        Self(parts.collect()).changed(shares_of)
    }

    /// Changes the shares inside each group to what `change` makes of the group.
    #[must_use]
    pub fn changed(mut self, change: impl Fn(&[Candidate<H>]) -> Vec<f64>) -> Self {
        for group in &mut self.0 {
            let changed = change(group).into_iter().zip(&*group);
            let floored: Vec<f64> = changed
                .map(|(changed, candidate)| floored(candidate.share, changed))
                .collect();
            if let Some(shares) = rescaled(&floored) {
                set_shares(group, shares);
            }
        }
        self
    }

    /// All of them, in the order in which hosts were listed, whatever their groups.
    pub fn into_list(self) -> Vec<Candidate<H>> {
        let mut all: Vec<_> = self.0.into_iter().flatten().collect();
        all.sort_by_key(|candidate| candidate.listed);
        all
    }

    /// The groups, best first.
    pub fn groups(&self) -> impl Iterator<Item = &[Candidate<H>]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// The answer of the step.
    pub fn answer(&self) -> Groups {
        let share = |candidate: &Candidate<H>| Share {
            candidate: candidate.row,
            share: candidate.share,
        };
        let groups = self.groups();
        Groups(groups.map(|it| it.iter().map(share).collect()).collect())
    }
}

/// The shares of a group as they are.
fn shares_of<H>(group: &[Candidate<H>]) -> Vec<f64> {
    group.iter().map(|candidate| candidate.share).collect()
}

fn set_shares<H>(group: &mut [Candidate<H>], shares: Vec<f64>) {
    for (candidate, share) in group.iter_mut().zip(shares) {
        candidate.share = share;
    }
}

/// Neighbours of equal key together.
fn chunks<K: PartialEq, C>(keyed: Vec<(K, C)>) -> Vec<Vec<C>> {
    let mut chunks: Vec<Vec<C>> = Vec::new();
    let mut last = None;
    for (key, candidate) in keyed {
        match chunks.last_mut().filter(|_| last.as_ref() == Some(&key)) {
            Some(chunk) => chunk.push(candidate),
            None => chunks.push(vec![candidate]),
        }
        last = Some(key);
    }
    chunks
}

/// What is left of a share when less than this part of it is left is what rounding
/// made of nothing: 0.3 less six times 0.05 is not 0 in floats. Far above the error
/// of a few operations, far below the tolerance of 1e-9 to which shares are known.
const ROUNDING: f64 = 1e-12;

/// A changed share, not below nothing; nothing stays nothing.
fn floored(before: f64, changed: f64) -> f64 {
    if before > 0.0 && changed > before * ROUNDING {
        changed
    } else {
        0.0
    }
}

/// Shares that sum to 1, in proportion to weights; none if no weight is above 0.
fn rescaled(weights: &[f64]) -> Option<Vec<f64>> {
    let positive = |weight: &f64| {
        if *weight > 0.0 {
            weight.min(f64::MAX)
        } else {
            0.0
        }
    };
    let weights = weights.iter().map(positive);
    let greatest = weights.clone().fold(0.0, f64::max);
    if greatest == 0.0 {
        return None;
    }
    // Divided by the greatest first, so that no sum is infinite.
    let weights = weights.map(|weight| weight / greatest);
    let sum: f64 = weights.clone().sum();
    Some(weights.map(|weight| weight / sum).collect())
}
