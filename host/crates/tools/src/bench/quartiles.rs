//! What lies in the middle of many measurements, and how far they are apart.

use serde::Serialize;

/// The middle half of what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quartiles {
    /// A quarter was less.
    pub lower: f64,
    /// Half was less.
    pub median: f64,
    /// A quarter was more.
    pub upper: f64,
}

impl Quartiles {
    /// Those of these measurements; None if there are none.
    pub fn of(mut measured: Vec<f64>) -> Option<Self> {
        measured.sort_unstable_by(f64::total_cmp);
        let last = measured.len().checked_sub(1)?;
        let at = |quarter: usize| measured[last * quarter / 4];
        Some(Self {
            lower: at(1),
            median: at(2),
            upper: at(3),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_was_measured_lies_between_the_quartiles() {
        let measured = [5.0, 1.0, 4.0, 2.0, 3.0].to_vec();
        let quartiles = Quartiles {
            lower: 2.0,
            median: 3.0,
            upper: 4.0,
        };
        assert_eq!(Quartiles::of(measured), Some(quartiles));
        assert_eq!(Quartiles::of(Vec::new()), None);
    }
}
