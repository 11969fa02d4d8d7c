//! What the VMs of a request need together.

use placewright_sdk::contract::Problem;

/// Amounts by name, each greater than 0: a need of 0 always fits.
pub struct Need<N>(pub Vec<(N, i64)>);

impl<N: PartialEq> Need<N> {
    /// The sums of what each needs.
    ///
    /// # Errors
    /// If one of them is negative.
    pub fn sum(needs: impl IntoIterator<Item = (N, i64)>) -> Result<Self, Problem> {
        let mut sums: Vec<(N, i64)> = Vec::new();
        for (name, need) in needs {
            if need < 0 {
                return Err(Problem::refused(format!(
                    "what a VM needs of an amount must be 0 or more, not {need}"
                )));
            }
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum = sum.saturating_add(need),
                None if need > 0 => sums.push((name, need)),
                None => {}
            }
        }
        Ok(Self(sums))
    }
}
