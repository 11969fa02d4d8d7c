//! Whether a move lowers the policy's cost.

/// Whether the costs `after` are lower than those `before`, tier by tier: the first
/// tier in which they differ by more than the margin decides. Where the VM cannot
/// stay (None), any host is better; none is that costs +infinity.
pub(super) fn falls(before: Option<&[f64]>, after: &[f64], margin: f64) -> bool {
    let first_bad = after.first().is_some_and(|cost| *cost == f64::INFINITY);
    let Some(before) = before else {
        return !first_bad;
    };
    let decides = |(before, after): (&f64, &f64)| {
        // Infinite costs are equal, and their difference is no number.
        let fall = before - after;
        (fall.abs() > margin).then_some(fall > 0.0)
    };
    before.iter().zip(after).find_map(decides).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFINITE: f64 = f64::INFINITY;

    #[test]
    fn a_fall_of_no_more_than_the_margin_is_none() {
        assert!(falls(Some(&[5.0]), &[3.9], 1.0));
        assert!(!falls(Some(&[5.0]), &[4.0], 1.0));
        assert!(!falls(Some(&[5.0]), &[9.0], 1.0));
        assert!(!falls(Some(&[]), &[], 0.0));
    }

    #[test]
    fn the_first_tier_that_differs_decides() {
        assert!(falls(Some(&[5.0, 9.0]), &[5.5, 1.0], 1.0));
        assert!(!falls(Some(&[5.0, 9.0]), &[7.0, 1.0], 1.0));
    }

    #[test]
    fn any_host_is_better_than_one_where_the_vm_cannot_stay() {
        assert!(falls(None, &[7.0], 1.0));
        assert!(falls(None, &[], 1.0));
        assert!(falls(Some(&[INFINITE]), &[7.0], 1.0));
        assert!(!falls(None, &[INFINITE], 1.0));
        assert!(!falls(Some(&[INFINITE]), &[INFINITE], 1.0));
        assert!(!falls(Some(&[7.0]), &[INFINITE], 1.0));
    }
}
