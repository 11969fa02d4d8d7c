//! Two helpers of oVirt that costs do the work of here: the ranks of a list, which are
//! what ranked costs are, and the order of lists, which is that of costs by tiers.

use std::sync::Arc;

use serde::Deserialize;

use super::document::Entry;
use super::outcome::Outcome;
use super::recorded::{self, Recorded};
use super::vector::Vector;
use crate::units::Units;

/// A list to be ranked, or lists to be sorted.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Input {
    Ranks { sorted: Vec<f64>, order: Order },
    Lists { lists: Vec<Vec<f64>> },
}

/// By which order a list is sorted, so that the first has the lowest rank.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    Ascending,
    Descending,
}

/// What is expected of either.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    ranks: Option<Vec<f64>>,
    lexicographic: Option<Vec<Vec<f64>>>,
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Expect = vector.expect()?;
    let mut outcome = Outcome::default();
    match (vector.input()?, expect.ranks, expect.lexicographic) {
        (Input::Ranks { sorted, order }, Some(expected), None) => {
            let got = ranks(&sorted, order, units)?;
            outcome.check("ranks", expected == got, shown(&expected), shown(&got));
        }
        (Input::Lists { lists }, None, Some(expected)) => {
            let got = in_order(&lists, units)?;
            outcome.check("order", expected == got, shown(&expected), shown(&got));
        }
        _ => return Err("field expect: a list has ranks, and lists have an order".to_owned()),
    }
    Ok(outcome)
}

fn shown<T: std::fmt::Debug>(list: &[T]) -> String {
    format!("{list:?}")
}

/// Hosts are called by the places of items in their list, all of one length, so that
/// their ids sort as the places do.
fn host(place: usize) -> String {
    format!("{place:04}")
}

fn hosts(count: usize) -> Vec<String> {
    (0..count).map(host).collect()
}

/// How many items come strictly before each: the cost of each, ranked.
fn ranks(sorted: &[f64], order: Order, units: &Units) -> Result<Vec<f64>, String> {
    let hosts = hosts(sorted.len());
    let hosts = || hosts.iter().map(String::as_str);
    let cost = |item: &f64| match order {
        Order::Ascending => *item,
        Order::Descending => -*item,
    };
    let records = hosts().zip(sorted.iter().map(cost)).collect();
    let costs = vec![recorded::entry("items", "rank", records)];
    let explanation = Recorded::new(hosts(), costs, units)?.explained()?;
    let shown = explanation.stages.iter().flat_map(|stage| &stage.hosts);
    Ok(shown
        .flat_map(|host| &host.costs)
        .map(|cost| cost.scaled)
        .collect())
}

/// The lists, best first: a cost for each place in them, of a tier of its own, and the
/// best host is taken, time after time.
fn in_order(lists: &[Vec<f64>], units: &Units) -> Result<Vec<Vec<f64>>, String> {
    let hosts = hosts(lists.len());
    let hosts = || hosts.iter().map(String::as_str);
    let length = lists.iter().map(Vec::len).max().unwrap_or(0);
    let least = lists.iter().flatten().copied().fold(0.0, f64::min);
    let costs = (0..length).map(|place| {
        // What is not there comes before all that is.
        let cost = |list: &Vec<f64>| list.get(place).copied().unwrap_or(least - 1.0);
        let records = hosts().zip(lists.iter().map(cost)).collect();
        Entry {
            tier: Some(place + 1),
            ..recorded::entry(format!("place {place}"), "none", records)
        }
    });
    let mut recorded = Recorded::new(hosts(), costs.collect(), units)?;
    let mut taken: Vec<Arc<str>> = Vec::new();
    while let Some(next) = recorded.chosen_without(&taken)? {
        taken.push(next);
    }
    let list = |host: &Arc<str>| lists.get(host.parse::<usize>().ok()?).cloned();
    Ok(taken.iter().filter_map(list).collect())
}
