//! Brings the costs of different units onto scales that can be added.
//!
//! Loops over all hosts are compiled twice, also for processors whose vectors are twice as
//! wide: the results are the same, bit for bit.
//!
//! A scale is made from the finite costs of the hosts that are left. An infinite cost is
//! no part of it: where the greatest finite cost becomes 1, an infinite one becomes 2;
//! unscaled it stays infinite. Where all finite costs are equal, they become 0
//! (stretched: 1). Stretched scales are oVirt's: an infinite cost becomes 1000 there, as
//! the greatest finite cost does.
//!
//! A factor below 0 turns the scale around for finite costs and not for infinite ones.
//! Their place gets the sign of the factor, so that times the factor it is above 0,
//! where all finite costs come out as 0 or less.

use multiversion::multiversion;

use placewright_policy::Scaling;

/// The greatest value of a stretched cost.
const STRETCHED: f64 = 1000.0;

/// The place of an infinite cost on a scale that ends at 1, for a factor that is not below 0 and
/// for one that is.
fn beyond(factor: f64) -> f64 {
    match factor.is_sign_negative() {
        true => -1.0,
        false => 2.0,
    }
}

/// Scale `costs`, which count by `factor`, in place. `range` is what the unit declares
/// as its least and greatest cost; only [`Scaling::Range`] uses it.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn scale(scaling: Scaling, range: Option<(f64, f64)>, factor: f64, costs: &mut [f64]) {
    let infinite = beyond(factor);
    match scaling {
        Scaling::None => {}
        Scaling::Range => {
            let (least, greatest) = range.unwrap_or((0.0, 1.0));
            between(least, greatest, infinite, costs);
        }
        Scaling::MinMax => {
            let (least, greatest) = bounds(costs);
            between(least, greatest, infinite, costs);
        }
        Scaling::Rank if factor < 0.0 => turned(costs, rank),
        Scaling::Rank => rank(costs),
        Scaling::Stretch => stretch(STRETCHED.copysign(factor), costs),
        Scaling::StretchedRank if factor < 0.0 => turned(costs, stretched_rank),
        Scaling::StretchedRank => stretched_rank(costs),
    }
}

/// Scale so for a factor below 0: what was infinite gets the negative of its place.
fn turned(costs: &mut [f64], scaled: impl Fn(&mut [f64])) {
    let infinite: Vec<bool> = costs.iter().map(|cost| !is_finite(*cost)).collect();
    scaled(costs);
    for (cost, is_infinite) in costs.iter_mut().zip(infinite) {
        if is_infinite {
            *cost = against(*cost);
        }
    }
}

/// The place of an infinite cost for a factor below 0.
#[inline(always)]
pub(super) fn against(place: f64) -> f64 {
    // -0 and 0 are one place.
    0.0 - place
}

/// Add to each sum the weighted cost that is scaled so.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn add(sums: &mut [f64], factor: f64, scaled: &[f64]) {
    for (sum, scaled) in sums.iter_mut().zip(scaled) {
        *sum = plus(*sum, weighted(factor, *scaled));
    }
}

/// A scaled cost times its factor. Infinite stays infinite, whatever the factor's
/// sign.
#[inline(always)]
pub(super) fn weighted(factor: f64, scaled: f64) -> f64 {
    match is_finite(scaled) {
        true => factor * scaled,
        false => f64::INFINITY,
    }
}

/// Finite costs beyond the range of f64 count as infinite, so that no sum is NaN.
#[inline(always)]
pub(super) fn plus(sum: f64, cost: f64) -> f64 {
    let sum = sum + cost;
    match is_finite(sum) {
        // -0 and 0 are one sum.
        true => sum + 0.0,
        false => f64::INFINITY,
    }
}

/// [`f64::is_finite`], as vector instructions do it best: nothing infinite and no NaN
/// times 0 is 0.
#[inline(always)]
fn is_finite(cost: f64) -> bool {
    cost * 0.0 == 0.0
}

/// Costs that are looked at side by side, so that the compiler may use vector
/// instructions.
const SIDE_BY_SIDE: usize = 8;

/// The least of these costs; infinite if there is none. Where 0 and -0 are least, it is
/// one of them.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn least(costs: &[f64]) -> f64 {
    extreme(costs, f64::INFINITY, |cost, least| cost < least)
}

/// The cost that comes before all others, or `last` if none comes before that.
#[inline(always)]
fn extreme(costs: &[f64], last: f64, before: impl Fn(f64, f64) -> bool) -> f64 {
    let first = |cost: f64, so_far: f64| match before(cost, so_far) {
        true => cost,
        false => so_far,
    };
    let (many, rest) = costs.as_chunks::<SIDE_BY_SIDE>();
    let mut so_far = [last; SIDE_BY_SIDE];
    for costs in many {
        for (so_far, cost) in so_far.iter_mut().zip(costs) {
            *so_far = first(*cost, *so_far);
        }
    }
    let all = so_far.iter().chain(rest);
    all.fold(last, |so_far, cost| first(*cost, so_far))
}

/// The least and the greatest finite cost. Costs so far apart that no number holds their
/// difference are halved before: it changes no scale.
#[inline(always)]
fn bounds(costs: &mut [f64]) -> (f64, f64) {
    let finite = |cost: f64, or: f64| match is_finite(cost) {
        true => cost,
        false => or,
    };
    let least = extreme(costs, f64::INFINITY, |cost, least| {
        finite(cost, f64::INFINITY) < least
    });
    let greatest = extreme(costs, f64::NEG_INFINITY, |cost, greatest| {
        finite(cost, f64::NEG_INFINITY) > greatest
    });
    if greatest - least < f64::INFINITY {
        return (least, greatest);
    }
    costs.iter_mut().for_each(|cost| *cost /= 2.0);
    (least / 2.0, greatest / 2.0)
}

/// 0 for the best, 1 for the worst, 0 for all if they are equal, and `infinite` for
/// infinite costs.
#[inline(always)]
fn between(least: f64, greatest: f64, infinite: f64, costs: &mut [f64]) {
    let width = greatest - least;
    match width > 0.0 {
        true => put(infinite, costs, |cost| (cost - least) / width),
        false => put(infinite, costs, |_| 0.0),
    }
}

/// 1 for the best, 1000 for the worst, rounded half up, and `infinite` for infinite
/// costs.
#[inline(always)]
fn stretch(infinite: f64, costs: &mut [f64]) {
    let (least, greatest) = bounds(costs);
    let width = greatest - least;
    match width > 0.0 {
        true => put(infinite, costs, |cost| {
            let exact = 1.0 + (cost - least) / width * (STRETCHED - 1.0);
            floor(exact + 0.5)
        }),
        false => put(infinite, costs, |_| 1.0),
    }
}

/// The rank of what stretching makes of each cost.
fn stretched_rank(costs: &mut [f64]) {
    stretch(STRETCHED, costs);
    rank(costs);
}

/// Put `place` of it for every finite cost, and `infinite` for every other.
#[inline(always)]
fn put(infinite: f64, costs: &mut [f64], place: impl Fn(f64) -> f64) {
    for cost in costs {
        *cost = match is_finite(*cost) {
            true => place(*cost),
            false => infinite,
        };
    }
}

/// The greatest whole number that is not above a cost from 0 to 2^51. Unlike
/// [`f64::floor`] it is no call where the processor has no instruction for it.
#[inline(always)]
fn floor(cost: f64) -> f64 {
    // From here on numbers have no fraction: adding it rounds to a whole number.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let rounded = (cost + WHOLE) - WHOLE;
    match rounded > cost {
        true => rounded - 1.0,
        false => rounded,
    }
}

/// How many hosts have a strictly lower cost.
fn rank(costs: &mut [f64]) {
    let Some(first) = costs.first().copied() else {
        return;
    };
    // So say most units of most clusters, where there is nothing to be said.
    if costs.iter().all(|cost| *cost == first) {
        costs.fill(0.0);
        return;
    }
    let mut sorted = costs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    // Each different cost, with how many are lower: often few.
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (lower, cost) in sorted.into_iter().enumerate() {
        if steps.last().is_none_or(|(last, _)| *last < cost) {
            steps.push((cost, lower as f64));
        }
    }
    for cost in costs {
        // Every cost is there: the search ends at one.
        let step = steps.partition_point(|(other, _)| other < cost);
        *cost = steps[step].1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scaled(scaling: Scaling, costs: &[f64]) -> Vec<f64> {
        let mut costs = costs.to_vec();
        scale(scaling, Some((0.0, 50.0)), 1.0, &mut costs);
        costs
    }

    const SCALINGS: [Scaling; 6] = [
        Scaling::None,
        Scaling::Range,
        Scaling::MinMax,
        Scaling::Rank,
        Scaling::Stretch,
        Scaling::StretchedRank,
    ];

    #[test]
    fn each_scaling_does_what_it_says() {
        let costs = [10.0, 30.0, 20.0, 10.0];
        assert_eq!(scaled(Scaling::None, &costs), costs);
        assert_eq!(scaled(Scaling::Range, &costs), [0.2, 0.6, 0.4, 0.2]);
        assert_eq!(scaled(Scaling::MinMax, &costs), [0.0, 1.0, 0.5, 0.0]);
        assert_eq!(scaled(Scaling::Rank, &costs), [0.0, 3.0, 2.0, 0.0]);
        assert_eq!(scaled(Scaling::Stretch, &costs), [1.0, 1000.0, 501.0, 1.0]);
    }

    #[test]
    fn an_infinite_cost_is_worst_and_no_part_of_the_scale() {
        let costs = [1.0, f64::INFINITY, 3.0];
        assert_eq!(scaled(Scaling::None, &costs), costs);
        assert_eq!(scaled(Scaling::MinMax, &costs), [0.0, 2.0, 1.0]);
        assert_eq!(scaled(Scaling::Stretch, &costs), [1.0, 1000.0, 1000.0]);
        assert_eq!(scaled(Scaling::Rank, &costs), [0.0, 2.0, 1.0]);
    }

    #[test]
    fn equal_costs_become_the_best_value() {
        let costs = [7.0, 7.0];
        assert_eq!(scaled(Scaling::MinMax, &costs), [0.0, 0.0]);
        assert_eq!(scaled(Scaling::Rank, &costs), [0.0, 0.0]);
        assert_eq!(scaled(Scaling::Stretch, &costs), [1.0, 1.0]);
    }

    #[test]
    fn costs_of_one_step_have_one_rank() {
        let costs = [0.0, 0.1, 500.0, 1000.0, f64::INFINITY];
        assert_eq!(
            scaled(Scaling::StretchedRank, &costs),
            [0.0, 0.0, 2.0, 3.0, 3.0]
        );
    }

    #[test]
    fn a_rank_counts_the_lower_costs_whatever_their_order() {
        let costs: Vec<f64> = (0..500)
            .map(|it| f64::from(it * 7919 % 83) - 40.0)
            .collect();
        let lower = |cost: &f64| costs.iter().filter(|other| *other < cost).count() as f64;
        let expected: Vec<f64> = costs.iter().map(lower).collect();
        assert_eq!(scaled(Scaling::Rank, &costs), expected);
        assert_eq!(scaled(Scaling::Rank, &[0.0, -0.0, 1.0]), [0.0, 0.0, 2.0]);
        assert!(scaled(Scaling::Rank, &[]).is_empty());
    }

    #[test]
    fn costs_as_far_apart_as_can_be_have_a_scale() {
        let costs = [-f64::MAX, f64::MAX, 0.0, f64::INFINITY];
        assert_eq!(scaled(Scaling::MinMax, &costs), [0.0, 1.0, 0.5, 2.0]);
        assert_eq!(
            scaled(Scaling::Stretch, &costs),
            [1.0, 1000.0, 501.0, 1000.0]
        );
    }

    #[test]
    fn stretching_rounds_half_up() {
        // 1 + 999/2 = 500.5
        assert_eq!(
            scaled(Scaling::Stretch, &[0.0, 1.0, 2.0]),
            [1.0, 501.0, 1000.0]
        );
    }

    /// One cost after the other, as the words above say.
    fn plainly(scaling: Scaling, costs: &[f64]) -> Vec<f64> {
        let finite = || costs.iter().copied().filter(|cost| cost.is_finite());
        let least = finite().fold(f64::INFINITY, f64::min);
        let width = finite().fold(f64::NEG_INFINITY, f64::max) - least;
        let scaled = |cost: &f64| match (scaling, cost.is_finite()) {
            (Scaling::MinMax, false) => 2.0,
            (Scaling::MinMax, true) if width == 0.0 => 0.0,
            (Scaling::MinMax, true) => (cost - least) / width,
            (_, false) => 1000.0,
            (_, true) if width == 0.0 => 1.0,
            (_, true) => (1.0 + (cost - least) / width * 999.0 + 0.5).floor(),
        };
        costs.iter().map(scaled).collect()
    }

    fn cost() -> impl Strategy<Value = f64> {
        prop_oneof![
            8 => -1e6..1e6,
            2 => (-3..3i8).prop_map(f64::from),
            1 => Just(-0.0),
            1 => Just(f64::INFINITY),
            1 => Just(f64::NEG_INFINITY),
        ]
    }

    proptest! {
        #[test]
        fn no_infinite_cost_comes_before_a_finite_one_whatever_the_scaling_and_the_factor(
            costs in proptest::collection::vec(
                prop_oneof![2 => 0.0..50.0, 1 => Just(7.0), 2 => Just(f64::INFINITY)], 0..40),
            factor in prop_oneof![-9.0..9.0, Just(1.0), Just(-1.0), Just(0.0), Just(-0.0)],
        ) {
            for scaling in SCALINGS {
                let mut weighed = costs.clone();
                scale(scaling, Some((0.0, 50.0)), factor, &mut weighed);
                let mut sums = vec![0.0; costs.len()];
                add(&mut sums, factor, &weighed);
                let of = |finite| costs.iter().zip(&sums).filter(move |(cost, _)| cost.is_finite() == finite);
                let worst = of(true).map(|(_, sum)| *sum).fold(f64::NEG_INFINITY, f64::max);
                for (_, sum) in of(false) {
                    // On a stretched scale it may be beside the greatest.
                    let is_beside = matches!(scaling, Scaling::Stretch | Scaling::StretchedRank) && factor > 0.0;
                    let is_worse = *sum > worst || (factor == 0.0 || is_beside) && *sum >= worst;
                    prop_assert!(is_worse, "{scaling:?} {factor}: {sum} beside {worst}");
                }
            }
        }

        #[test]
        fn many_costs_are_scaled_and_added_as_one_after_the_other(
            costs in proptest::collection::vec(cost(), 0..90),
            factor in prop_oneof![-9.0..9.0, Just(f64::MAX), Just(-f64::MAX)],
        ) {
            for scaling in [Scaling::MinMax, Scaling::Stretch] {
                prop_assert_eq!(scaled(scaling, &costs), plainly(scaling, &costs));
            }
            let mut sums = vec![1.0; costs.len()];
            add(&mut sums, factor, &costs);
            let expected = costs.iter().map(|cost| match (cost.is_finite(), 1.0 + factor * cost) {
                (true, sum) if sum.is_finite() => sum,
                _ => f64::INFINITY,
            });
            prop_assert_eq!(&sums, &expected.collect::<Vec<f64>>());
            let least_plainly = costs.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert_eq!(least(&costs), least_plainly);
        }
    }
}
