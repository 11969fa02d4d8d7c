//! Where of several places each of several needs counts, when it is not known.

use std::cmp::Reverse;

/// No search takes more steps: what is counted is counted again with every change of a host.
const MOST_STEPS: usize = 2_000;

/// Amounts of each kind: of NUMA nodes memory, memory as it is measured, and CPUs; of GPUs the
/// first alone.
pub(super) type Amounts = [i64; 3];

/// One of the places: a NUMA node or a GPU of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number, if it has one.
    pub(super) number: Option<i64>,
    /// What is left of it, of each kind of amount.
    pub(super) left: Amounts,
    /// Huge pages that are left: their size in bytes, and how many.
    pub(super) pages: Vec<(i64, i64)>,
    /// How many needs share its CPUs: one must be left for them.
    pub(super) sharers: i64,
}

/// Which of the amounts is CPUs.
const CPUS: usize = 2;

/// Something that takes of one of the places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// The places that it may be at.
    pub(super) allowed: Vec<usize>,
    /// What it takes, of each kind of amount.
    pub(super) amounts: Amounts,
    /// Huge pages that it takes: their size in bytes, and how many.
    pub(super) pages: Vec<(i64, i64)>,
    /// Whether it shares CPUs of its place with others.
    pub(super) shares: bool,
    /// Needs with one such number are all at different places.
    pub(super) distinct: Option<usize>,
}

/// Which of the places that have enough left a need counts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    /// Of those with enough the one with most left, the lower number first; of the others, too, if
    /// none has enough.
    MostLeft,
    /// The one with the least left that is enough, the first of equal ones.
    LeastEnough,
}

impl Place {
    fn has(&self, need: &Need) -> bool {
        let to_share = i64::from(need.shares || (need.amounts[CPUS] > 0 && self.sharers > 0));
        let mut amounts = self.left.iter().zip(need.amounts);
        let mut pages = need.pages.iter();
        (to_share == 0 || self.left[CPUS] >= need.amounts[CPUS].saturating_add(to_share))
            && amounts.all(|(left, amount)| amount <= 0 || *left >= amount)
            && pages.all(|(size, count)| self.pages_of(*size) >= *count)
    }

    fn pages_of(&self, size: i64) -> i64 {
        let pages = self.pages.iter().find(|(known, _)| *known == size);
        pages.map_or(0, |(_, left)| *left)
    }

    fn take(&mut self, need: &Need, by: i64) {
        self.sharers += by * i64::from(need.shares);
        for (left, amount) in self.left.iter_mut().zip(need.amounts) {
            *left = left.saturating_sub(amount.saturating_mul(by));
        }
        for (size, count) in &need.pages {
            let pages = self.pages.iter_mut().find(|(known, _)| known == size);
            if let Some((_, left)) = pages {
                *left = left.saturating_sub(count.saturating_mul(by));
            }
        }
    }

    /// What is left for a need: of the kind of which the least is, among those that it takes of;
    /// pages if it takes nothing else.
    fn left_for(&self, need: &Need) -> i64 {
        let kinds = self.left.iter().zip(need.amounts);
        let kinds = kinds.filter(|(_, amount)| *amount > 0);
        let pages = || need.pages.iter().map(|(size, _)| self.pages_of(*size));
        let least = kinds.map(|(left, _)| *left).min();
        least.or_else(|| pages().min()).unwrap_or(self.left[0])
    }
}

/// For each need the place that it counts at; None: it may be at none.
///
/// They are put one after the other on the place that is preferred. Where more would be taken so
/// than there is, others are looked for that are enough for all: the needs with the fewest places
/// first, the largest of these first. If there are none, or none are found in so many steps, it is
/// as they were put first.
pub(super) fn assign(
    needs: &[Need],
    places: &[Place],
    preference: Preference,
) -> Vec<Option<usize>> {
    let mut search = Search {
        needs,
        places: places.to_vec(),
        preference,
        chosen: vec![None; needs.len()],
    };
    let mut all_fit = true;
    for (number, need) in needs.iter().enumerate() {
        let choices = search.choices(number, false);
        if let Some(place) = choices.last().copied() {
            all_fit &= search.places[place].has(need);
            search.put(number, place);
        } else {
            all_fit &= need.allowed.is_empty();
        }
    }
    if all_fit || needs.len() < 2 || is_hopeless(needs, places) {
        return search.chosen;
    }
    let first = std::mem::replace(&mut search.chosen, vec![None; needs.len()]);
    search.places = places.to_vec();
    match search.run() {
        true => search.chosen,
        false => first,
    }
}

/// Whether it is plain that there is not enough for all.
fn is_hopeless(needs: &[Need], places: &[Place]) -> bool {
    let needs = || needs.iter().filter(|need| !need.allowed.is_empty());
    let needed = needs().fold(0, |sum: i64, need| {
        sum.saturating_add(need.amounts[0].max(0))
    });
    let left = places.iter().fold(0, |sum: i64, place| {
        sum.saturating_add(place.left[0].max(0))
    });
    let mut lonely = needs().filter(|need| !need.allowed.iter().any(|at| places[*at].has(need)));
    needed > left || lonely.next().is_some()
}

struct Search<'a> {
    needs: &'a [Need],
    places: Vec<Place>,
    preference: Preference,
    chosen: Vec<Option<usize>>,
}

impl Search<'_> {
    fn put(&mut self, number: usize, place: usize) {
        self.places[place].take(&self.needs[number], 1);
        self.chosen[number] = Some(place);
    }

    /// The places that a need may be put at, only those with enough left or all; the preferred
    /// one last.
    fn choices(&self, number: usize, enough: bool) -> Vec<usize> {
        let need = &self.needs[number];
        let is_taken = |place: usize| {
            let mut others = self.needs.iter().zip(&self.chosen);
            need.distinct.is_some()
                && others.any(|(other, at)| other.distinct == need.distinct && *at == Some(place))
        };
        let allowed = need.allowed.iter().copied();
        let mut places: Vec<usize> = allowed
            .filter(|place| !is_taken(*place))
            .filter(|place| !enough || self.places[*place].has(need))
            .collect();
        places.sort_by_key(|at| {
            let place = &self.places[*at];
            let left = place.left_for(need);
            let key = match self.preference {
                Preference::MostLeft => (!place.has(need), left.saturating_neg(), place.number),
                Preference::LeastEnough if place.has(need) => (false, left, None),
                Preference::LeastEnough => (true, left.saturating_neg(), None),
            };
            Reverse((key, *at))
        });
        places
    }

    /// Not recursive: how many needs there are is up to whoever describes VMs.
    fn run(&mut self) -> bool {
        let mut order: Vec<usize> = (0..self.needs.len())
            .filter(|number| !self.needs[*number].allowed.is_empty())
            .collect();
        order.sort_by_key(|number| {
            let need = &self.needs[*number];
            let pages = need.pages.iter();
            let pages = pages.fold(0, |sum: i64, (_, count)| sum.saturating_add(*count));
            (need.allowed.len(), Reverse((need.amounts[0], pages)))
        });
        let Some(first) = order.first() else {
            return true;
        };
        // The places that are left to try for each need, the preferred one last.
        let mut open: Vec<Vec<usize>> = vec![self.choices(*first, true)];
        for _ in 0..MOST_STEPS {
            let number = order[open.len() - 1];
            match open.last_mut().and_then(Vec::pop) {
                Some(place) => {
                    self.put(number, place);
                    match order.get(open.len()) {
                        Some(next) => open.push(self.choices(*next, true)),
                        None => return true,
                    }
                }
                None => {
                    open.pop();
                    let Some(before) = open.len().checked_sub(1) else {
                        return false;
                    };
                    let before = order[before];
                    if let Some(place) = self.chosen[before].take() {
                        self.places[place].take(&self.needs[before], -1);
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(left: &[i64]) -> Vec<Place> {
        let place = |(number, left): (i64, &i64)| Place {
            number: Some(number),
            left: [*left, i64::MAX, i64::MAX],
            ..Place::default()
        };
        (0..).zip(left).map(place).collect()
    }

    fn need(amount: i64, allowed: &[usize]) -> Need {
        Need {
            allowed: allowed.to_vec(),
            amounts: [amount, 0, 0],
            ..Need::default()
        }
    }

    #[test]
    fn a_place_with_enough_of_each_kind_goes_before_one_with_more_of_another() {
        let mut places = places(&[2, 6]);
        for place in &mut places {
            place.left[CPUS] = 2;
        }
        places[0].left[CPUS] = 9;
        let own = Need {
            amounts: [3, 0, 1],
            ..need(3, &[0, 1])
        };
        assert_eq!(assign(&[own], &places, Preference::MostLeft), [Some(1)]);
        // None has enough.
        let too_large = need(7, &[0, 1]);
        let found = assign(&[too_large], &places, Preference::MostLeft);
        assert_eq!(found, [Some(1)]);
    }

    #[test]
    fn a_cpu_of_a_place_is_left_to_the_needs_that_share_it() {
        let with = |cpus: [i64; 2]| {
            let mut places = places(&[9, 8]);
            for (place, cpus) in places.iter_mut().zip(cpus) {
                place.left[CPUS] = cpus;
            }
            places
        };
        let shared = |allowed: &[usize]| Need {
            shares: true,
            ..need(1, allowed)
        };
        let own = |cpus: i64, allowed: &[usize]| Need {
            amounts: [1, 0, cpus],
            ..need(1, allowed)
        };
        let found = |needs: &[Need], cpus| assign(needs, &with(cpus), Preference::MostLeft);
        let both = [shared(&[0, 1]), own(4, &[0])];
        assert_eq!(found(&both, [4, 4]), [Some(1), Some(0)]);
        assert_eq!(found(&both, [5, 0]), [Some(0), Some(0)]);
        let both = [own(4, &[0, 1]), shared(&[0])];
        assert_eq!(found(&both, [4, 4]), [Some(1), Some(0)]);
    }

    #[test]
    fn needs_are_put_where_all_have_enough_if_they_can_be() {
        let most =
            |needs: &[Need], left: &[i64]| assign(needs, &places(left), Preference::MostLeft);
        let both = [need(20, &[0, 1]), need(20, &[0])];
        assert_eq!(most(&both, &[32, 32]), [Some(1), Some(0)]);
        let alone = [need(20, &[0, 1]), need(20, &[])];
        assert_eq!(most(&alone, &[32, 32]), [Some(0), None]);
        // There is not enough for both: as they come.
        assert_eq!(most(&both, &[19, 19]), [Some(0), Some(0)]);
        let least = |amounts: &[i64], left: &[i64]| {
            let needs: Vec<Need> = (amounts.iter().map(|it| need(*it, &[0, 1]))).collect();
            assign(&needs, &places(left), Preference::LeastEnough)
        };
        let full = least(&[300, 600, 700, 400], &[1000, 1000]);
        assert_eq!(full, [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(least(&[300, 300], &[1000, 1000]), [Some(0), Some(0)]);
    }

    #[test]
    fn needs_of_pages_are_put_where_there_are_enough_of_their_size() {
        let paged = |size: i64, count: i64, allowed: &[usize]| Need {
            pages: vec![(size, count)],
            ..need(0, allowed)
        };
        let mut nodes = places(&[0, 0]);
        nodes[0].pages = vec![(2, 8), (1024, 1)];
        nodes[1].pages = vec![(2, 6)];
        let most = |needs: &[Need]| assign(needs, &nodes, Preference::MostLeft);
        assert_eq!(most(&[paged(2, 1, &[0, 1])]), [Some(0)]);
        assert_eq!(most(&[paged(1024, 1, &[0, 1])]), [Some(0)]);
        let both = [paged(2, 6, &[0, 1]), paged(2, 8, &[0])];
        assert_eq!(most(&both), [Some(1), Some(0)]);
        // There are not enough: as they come.
        let too_many = [paged(2, 7, &[0, 1]), paged(2, 8, &[0])];
        assert_eq!(most(&too_many), [Some(0), Some(0)]);
    }

    #[test]
    fn distinct_needs_are_at_different_places() {
        let need = Need {
            distinct: Some(0),
            ..need(100, &[0, 1])
        };
        let needs = [need.clone(), need.clone(), need];
        let found = assign(&needs, &places(&[1000, 1000]), Preference::LeastEnough);
        assert_eq!(found, [Some(0), Some(1), None]);
    }

    #[test]
    fn a_search_without_an_end_in_sight_ends() {
        let needs: Vec<Need> = (0..60)
            .map(|_| need(334, &[0, 1, 2, 3, 4, 5, 6, 7]))
            .collect();
        let left = [1000; 8];
        let found = assign(&needs, &places(&left), Preference::LeastEnough);
        assert!(found.iter().all(Option::is_some));
    }
}
