//! The order in which pods come.

use super::files::Pod;
use super::numbers::Numbers;

/// How much of the cluster's GPUs is asked for in the end, in percent.
const ASKED_PCT: i64 = 130;

/// The pods in the order in which they come: shuffled by the seed, then others drawn
/// at random from the list until they ask for 130 % of `thousandths`. Each is given by
/// its place in the list.
pub fn arrivals(pods: &[Pod], thousandths: i64, seed: u64) -> Vec<usize> {
    let mut numbers = Numbers::new(seed);
    let mut order: Vec<usize> = (0..pods.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, numbers.below(last + 1));
    }
    let mut asked: i64 = pods.iter().map(Pod::thousandths).sum();
    // A list that asks for no GPU would never reach it.
    while asked > 0 && asked.saturating_mul(100) < thousandths.saturating_mul(ASKED_PCT) {
        let drawn = numbers.below(pods.len());
        asked += pods[drawn].thousandths();
        order.push(drawn);
    }
    order
}
