//! What the VMs of a request need together.

use placewright_sdk::contract::Problem;
use placewright_sdk::takes::Resources;

/// Amounts by name, each greater than 0: a need of 0 always fits.
#[derive(Clone, Debug)]
pub struct Need<N>(pub Vec<(N, i64)>);

impl<N> Default for Need<N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N: Clone + PartialEq> Resources for Need<N> {
    fn add(&mut self, other: &Self) {
        for (name, need) in &other.0 {
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum = sum.saturating_add(*need),
                None => self.0.push((name.clone(), *need)),
            }
        }
    }

    fn less(&mut self, held: &Self) {
        for (name, need) in &mut self.0 {
            let held = held.0.iter().find(|(known, _)| known == name);
            *need = need.saturating_sub(held.map_or(0, |(_, need)| *need));
        }
        self.0.retain(|(_, need)| *need > 0);
    }
}

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
