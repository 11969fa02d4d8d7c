//! VMs of one request go on one host: they have one turn, and all of them a host or none.

use std::collections::{BTreeMap, BTreeSet};

use super::joined::first;

/// The turns, with those that VMs of one request have made one, at the place of the first of them.
/// `together` has the places of the members of each request of several. Where one of these has no
/// turn, none of its request has one.
pub(super) fn turns(turns: Vec<Vec<usize>>, together: &[Vec<usize>]) -> Vec<Vec<usize>> {
    if together.is_empty() {
        return turns;
    }
    let mut turn_of = BTreeMap::new();
    for (turn, places) in turns.iter().enumerate() {
        turn_of.extend(places.iter().map(|place| (*place, turn)));
    }
    let mut joined: Vec<usize> = (0..turns.len()).collect();
    let mut without: BTreeSet<usize> = BTreeSet::new();
    for places in together {
        let of_places: Option<Vec<usize>> = places
            .iter()
            .map(|place| turn_of.get(place).copied())
            .collect();
        let Some(of_places) = of_places else {
            without.extend(places.iter().copied());
            continue;
        };
        for pair in of_places.windows(2) {
            let (one, two) = (first(&joined, pair[0]), first(&joined, pair[1]));
            joined[one.max(two)] = one.min(two);
        }
    }
    let mut whole: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (turn, places) in turns.into_iter().enumerate() {
        let places = places.into_iter().filter(|place| !without.contains(place));
        let of_turn = whole.entry(first(&joined, turn)).or_default();
        of_turn.extend(places);
    }
    whole
        .into_values()
        .filter(|turn| !turn.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vms_of_a_request_have_the_turn_of_the_first_of_them() {
        let each = vec![vec![3], vec![0], vec![2], vec![1]];
        assert_eq!(turns(each.clone(), &[]), each);
        let whole = turns(each, &[vec![0, 1], vec![2, 3]]);
        assert_eq!(whole, [vec![3, 2], vec![0, 1]]);
    }

    #[test]
    fn where_one_of_a_request_has_no_turn_none_of_it_has_one() {
        let whole = turns(vec![vec![0], vec![2]], &[vec![0, 1]]);
        assert_eq!(whole, [vec![2]]);
    }
}
