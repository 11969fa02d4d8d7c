//! Brings the costs of different units onto scales that can be added.
//!
//! A scale is made from the finite costs of the hosts that are left. An infinite
//! cost is no part of it, and gets the worst place on it; unscaled it stays
//! infinite. Where all finite costs are equal, they become 0 (stretched: 1).

use crate::policy::Scaling;

/// The greatest value of a stretched cost.
const STRETCHED: f64 = 1000.0;

/// Scale `costs` in place. `range` is what the unit declares as its least and
/// greatest cost; only [`Scaling::Range`] uses it.
pub(super) fn scale(scaling: Scaling, range: Option<(f64, f64)>, costs: &mut [f64]) {
    match scaling {
        Scaling::None => {}
        Scaling::Range => {
            let (least, greatest) = range.unwrap_or((0.0, 1.0));
            between(least, greatest, 0.0, costs);
        }
        Scaling::MinMax => {
            let (least, greatest) = bounds(costs);
            between(least, greatest, 0.0, costs);
        }
        Scaling::Rank => rank(costs),
        Scaling::Stretch => stretch(costs),
        Scaling::StretchedRank => {
            stretch(costs);
            rank(costs);
        }
    }
}

/// The least and the greatest finite cost. Costs so far apart that no number holds their
/// difference are halved before: it changes no scale.
fn bounds(costs: &mut [f64]) -> (f64, f64) {
    let finite = costs.iter().filter(|cost| cost.is_finite());
    let (least, greatest) = finite.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, greatest), cost| (least.min(*cost), greatest.max(*cost)),
    );
    if greatest - least < f64::INFINITY {
        return (least, greatest);
    }
    costs.iter_mut().for_each(|cost| *cost /= 2.0);
    (least / 2.0, greatest / 2.0)
}

fn between(least: f64, greatest: f64, all_equal: f64, costs: &mut [f64]) {
    let width = greatest - least;
    for cost in costs {
        *cost = match (cost.is_finite(), width > 0.0) {
            (false, _) => 1.0,
            (true, true) => (*cost - least) / width,
            (true, false) => all_equal,
        };
    }
}

/// 1 for the best, 1000 for the worst, rounded half up.
fn stretch(costs: &mut [f64]) {
    let (least, greatest) = bounds(costs);
    let width = greatest - least;
    for cost in costs {
        *cost = match (cost.is_finite(), width > 0.0) {
            (false, _) => STRETCHED,
            (true, true) => {
                let exact = 1.0 + (*cost - least) / width * (STRETCHED - 1.0);
                // From 1 to 1000: cutting off rounds down, and is one instruction.
                f64::from((exact + 0.5) as u32)
            }
            (true, false) => 1.0,
        };
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
    use super::*;

    fn scaled(scaling: Scaling, costs: &[f64]) -> Vec<f64> {
        let mut costs = costs.to_vec();
        scale(scaling, Some((0.0, 50.0)), &mut costs);
        costs
    }

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
        assert_eq!(scaled(Scaling::MinMax, &costs), [0.0, 1.0, 1.0]);
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
        assert_eq!(scaled(Scaling::MinMax, &costs), [0.0, 1.0, 0.5, 1.0]);
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
}
