//! The rounds and their thresholds.

use crate::Settings;

/// One round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Counted from 0.
    pub number: i64,
    /// What scores must be above.
    pub threshold: f64,
}

/// All rounds: thresholds go evenly from the initial to the final one, both
/// included.
pub fn of(settings: &Settings) -> impl Iterator<Item = Round> {
    let &Settings {
        steps,
        initial,
        last,
    } = settings;
    (0..steps).map(move |number| Round {
        number,
        threshold: if steps == 1 {
            last
        } else {
            initial + (last - initial) * number as f64 / (steps - 1) as f64
        },
    })
}
