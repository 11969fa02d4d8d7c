//! What a VM holds of the GPUs of the host where it runs, and what it takes beyond that.

use placewright_sdk::prelude::*;

use crate::want::{Model, WHOLE, Want};

/// A GPU that a VM was given on the host where it runs.
#[derive(Clone, Row)]
pub struct HeldGpu {
    /// Its number.
    pub index: i64,
    /// Thousandths of it.
    pub share: i64,
}

/// A member that runs on the host now, and the GPUs that it holds there.
#[derive(Clone, Row)]
pub struct Current {
    /// Row number in `members`.
    pub member: i64,
    /// How many GPUs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
    /// Those of which the numbers are known.
    #[table("gpus")]
    pub gpus: Rows<HeldGpu>,
    /// Models that it has asked for.
    #[table("gpu-models")]
    pub models: Rows<Model>,
}

/// What a VM takes of the GPUs of a host beyond those that it holds there.
#[derive(Clone, Debug, PartialEq)]
pub struct Beyond {
    /// The GPUs that it is to be given: how many, and the share of each.
    pub more: Want,
    /// Places of GPUs that it goes on having, and the thousandths that it takes of each besides.
    pub grown: Vec<(usize, i64)>,
    /// Places of all GPUs that it has: it is given none of them once more.
    pub own: Vec<usize>,
    /// Whether it takes another share of each than it does now.
    pub is_other_share: bool,
    /// How many GPUs it has then.
    count: i64,
}

impl Beyond {
    /// Of a VM that holds nothing there.
    pub fn all(want: &Want) -> Self {
        Self {
            more: want.clone(),
            grown: Vec::new(),
            own: Vec::new(),
            is_other_share: false,
            count: want.count,
        }
    }

    /// Of a VM that holds these. It goes on with its own GPUs; one that has too little free for
    /// a greater share is replaced by another.
    pub fn of(want: &Want, held: &Current, indices: &[i64], free: &[i64]) -> Self {
        let share = held.share.unwrap_or(WHOLE);
        let is_other_share = share != want.share;
        let wanted = want.count.max(0);
        let lasting = held.count.unwrap_or(0).clamp(0, wanted);
        let place = |row: &HeldGpu| indices.iter().position(|index| *index == row.index);
        let mut known: Vec<(usize, i64)> = (held.gpus.iter())
            .filter_map(|row| Some((place(&row)?, row.share)))
            .collect();
        let mut beyond = Self {
            more: want.clone(),
            grown: Vec::new(),
            own: known.iter().map(|(place, _)| *place).collect(),
            is_other_share,
            count: wanted,
        };
        let growth = |had: i64| match is_other_share {
            true => want.share.saturating_sub(had).max(0),
            false => 0,
        };
        let has_room = |place: usize, had: i64| growth(had) == 0 || free[place] >= growth(had);
        // Of fewer than it has it keeps those first that can grow.
        known.sort_by_key(|(place, had)| !has_room(*place, *had));
        let mut replaced = 0;
        let mut known = known.into_iter();
        for _ in 0..lasting {
            let grown = match known.next() {
                Some((place, had)) => Some((place, growth(had))).filter(|_| has_room(place, had)),
                // It is some GPU, on which there is as much taken at least.
                None if growth(share) > 0 => {
                    let more = growth(share);
                    let mut others: Vec<usize> = (0..free.len())
                        .filter(|place| !beyond.own.contains(place))
                        .filter(|place| (more..=WHOLE - share).contains(&free[*place]))
                        .collect();
                    others.sort_by_key(|place| free[*place]);
                    others.first().map(|place| (*place, more))
                }
                None => continue,
            };
            match grown {
                Some((place, more)) => {
                    beyond.grown.push((place, more));
                    if !beyond.own.contains(&place) {
                        beyond.own.push(place);
                    }
                }
                None => replaced += 1,
            }
        }
        beyond.more.count = wanted - lasting + replaced;
        beyond
    }

    /// Does it take nothing but what it holds?
    pub fn is_nothing(&self) -> bool {
        self.more.count <= 0 && self.grown.iter().all(|(_, more)| *more <= 0)
    }

    /// Takes what its own GPUs grow by; false: it is to be given GPUs and the host has fewer than
    /// it has then.
    pub fn grow(&self, free: &mut [i64]) -> bool {
        for (place, more) in &self.grown {
            free[*place] -= more;
        }
        self.more.count <= 0 || self.count <= i64::try_from(free.len()).unwrap_or(i64::MAX)
    }

    /// What is free for the GPUs that it is to be given: nothing of those that it has.
    pub fn free_for_more(&self, free: &[i64]) -> Vec<i64> {
        let mut free = free.to_vec();
        for place in &self.own {
            free[*place] = i64::MIN;
        }
        free
    }
}
