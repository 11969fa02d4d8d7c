//! Preferring the candidates for which some number is greater: what `priority` and
//! `cost` have in common.

use std::cmp::Reverse;

use placewright_sdk::prelude::*;

use crate::candidates::{Candidate, Candidates};
use crate::unit::Unit;

/// How candidates are preferred.
#[derive(Settings)]
pub struct Settings {
    /// Strict: the better ones come first, the others only when none of these is left.
    /// Probabilistic: the better ones get larger shares at the expense of the others.
    #[setting(default = "strict", choices = ["strict", "probabilistic"])]
    pub mode: Text,
    /// What the best gains on the worst; needed if the mode is probabilistic, else of
    /// no effect.
    #[setting(least = 0, measure = "percent")]
    pub percent: Option<f64>,
    /// What the percentage is of: points of the whole chance of a group, or relative to
    /// a candidate's own share.
    #[setting(default = "points", choices = ["points", "relative"])]
    pub unit: Text,
}

/// How candidates are preferred, from settings that go together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preference {
    /// By groups of their own.
    Strict,
    /// By larger shares.
    Probabilistic {
        /// What the best gains on the worst, 1 = all.
        gain: f64,
        /// Of what.
        unit: Unit,
    },
}

impl Preference {
    /// The preference that is set.
    ///
    /// # Errors
    ///
    /// A sentence for the admin, if a probabilistic one has no percentage.
    pub fn of(settings: &Settings) -> Result<Self, String> {
        if settings.mode != "probabilistic" {
            return Ok(Self::Strict);
        }
        let Some(percent) = settings.percent else {
            return Err("the mode probabilistic needs percent: what the best gains".into());
        };
        Ok(Self::Probabilistic {
            gain: percent / 100.0,
            unit: Unit::named(&settings.unit),
        })
    }

    /// Prefers hosts of greater value; those without one are last.
    pub fn apply<H>(
        self,
        candidates: Candidates<H>,
        value: impl Fn(&H) -> Option<i64>,
    ) -> Candidates<H> {
        match self {
            Self::Strict => candidates.split(|host| Reverse(value(host))),
            Self::Probabilistic { gain, unit } => {
                candidates.changed(|group| tilted(group, &value, gain, unit))
            }
        }
    }
}

/// Shares that are tilted towards greater values: what the better ones gain on the
/// mean, the others lose.
fn tilted<H>(
    group: &[Candidate<H>],
    value: impl Fn(&H) -> Option<i64>,
    gain: f64,
    unit: Unit,
) -> Vec<f64> {
    let merits = merits(group, value);
    let live = group.iter().zip(&merits).filter(|(it, _)| it.is_live());
    let count = live.clone().count().max(1);
    let mean = live.map(|(_, merit)| merit).sum::<f64>() / count as f64;
    let tilt = |(candidate, merit): (&Candidate<H>, &f64)| {
        let change = gain * (merit - mean);
        match unit {
            Unit::Points => candidate.share + change,
            Unit::Relative => candidate.share * (1.0 + change),
        }
    };
    group.iter().zip(&merits).map(tilt).collect()
}

/// From 0 for the least value among those that have a chance to 1 for the greatest. Who
/// has no value is as good as the least; if the values are equal, all are.
fn merits<H>(group: &[Candidate<H>], value: impl Fn(&H) -> Option<i64>) -> Vec<f64> {
    let values = || group.iter().map(|it| value(&it.host).map(i128::from));
    let live = || group.iter().zip(values()).filter(|(it, _)| it.is_live());
    let known = || live().filter_map(|(_, value)| value);
    let (Some(least), Some(greatest)) = (known().min(), known().max()) else {
        return vec![0.0; group.len()];
    };
    if least == greatest {
        return vec![0.0; group.len()];
    }
    let merit = |value| (value - least) as f64 / (greatest - least) as f64;
    values().map(|value| value.map_or(0.0, merit)).collect()
}
