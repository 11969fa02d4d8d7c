//! What a score of a VM on a host is, and how scores add up.
//!
//! A score is what was said of the host for this VM (its *location* scores), how
//! strongly the VM wants to stay if it runs there (its *stickiness*), and how well
//! the host is (its *health*, the same for every VM).

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A score that was given to a host for one of the VMs.
#[derive(Row)]
pub struct Location {
    /// Row number of the VM.
    pub member: i64,
    /// How well it suits; negative: not there.
    pub score: i64,
}

/// A VM that runs on the host now.
#[derive(Row)]
pub struct Current {
    /// Row number of the VM.
    pub member: i64,
}

/// How well a host suits a VM: a whole number from minus infinity to infinity. Below
/// 0 the VM must not run there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i64);

impl Score {
    /// Nothing was said, for or against it.
    pub const ZERO: Self = Self(0);
    /// The highest score: 1,000,000, and whatever was given beyond it.
    pub const INFINITE: Self = Self(1_000_000);
    /// The lowest score.
    pub const FORBIDDEN: Self = Self(-Self::INFINITE.0);

    /// A score as it was given.
    #[inline]
    pub fn of(given: i64) -> Self {
        Self(given.clamp(Self::FORBIDDEN.0, Self::INFINITE.0))
    }

    /// The sum of scores: minus infinity if one of them is, else infinity if one of
    /// them is, else what they add up to, within these.
    pub fn sum(scores: impl IntoIterator<Item = i64>) -> Self {
        let (mut sum, mut infinite) = (0_i64, false);
        for score in scores {
            if score <= Self::FORBIDDEN.0 {
                return Self::FORBIDDEN;
            }
            infinite |= score >= Self::INFINITE.0;
            sum = sum.saturating_add(score);
        }
        match infinite {
            true => Self::INFINITE,
            false => Self::of(sum),
        }
    }

    /// As a number: plus or minus 1,000,000 where it is infinite.
    pub fn value(self) -> i64 {
        self.0
    }
}

/// What a host's rows say of the VMs.
pub struct Said<'a> {
    /// Scores given to the host.
    pub location: &'a Rows<Location>,
    /// Which of the VMs run there.
    pub current: &'a Rows<Current>,
    /// Added for every VM.
    pub health: Option<i64>,
}

impl Said<'_> {
    /// The score of every VM, if nothing is said of one of them that is not said of all.
    #[inline]
    pub fn of_all(&self) -> Option<Score> {
        let same_for_all = self.location.is_empty() && self.current.is_empty();
        same_for_all.then(|| self.health.map_or(Score::ZERO, Score::of))
    }

    /// The score of a VM on the host, by the VM's row number.
    pub fn score(&self, member: i64, stickiness: i64) -> Score {
        let given = self.location.iter().filter(|row| row.member == member);
        // Only who wants to stay counts it: nobody wants to leave by being sticky.
        let stays = (stickiness > 0 && self.runs(member)).then_some(stickiness);
        Score::sum(
            self.health
                .into_iter()
                .chain(stays)
                .chain(given.map(|row| row.score)),
        )
    }

    /// Does the VM run there?
    pub fn runs(&self, member: i64) -> bool {
        self.current.iter().any(|row| row.member == member)
    }
}

#[cfg(test)]
mod tests;
