//! GPUs for several VMs together.

use crate::held::Beyond;

/// No search for GPUs takes more steps.
const MOST_STEPS: usize = 10_000;

/// The places of the GPUs that each of these is to be given, of so much free of each: those with
/// the least room that is enough, one VM after the other; where that does not work out, any that
/// are enough for all. None: they are too few, or no choice was found in so many steps.
pub fn pack(wanted: &[Beyond], free: &[i64]) -> Option<Vec<Vec<usize>>> {
    let mut left = free.to_vec();
    let in_order = wanted.iter().map(|beyond| {
        let places = beyond.more.least_room(&beyond.free_for_more(&left))?;
        for place in &places {
            left[*place] -= beyond.more.share;
        }
        Some(places)
    });
    let found: Option<Vec<Vec<usize>>> = in_order.collect();
    let needed = wanted.iter().map(|beyond| beyond.more.thousandths());
    let needed = needed.fold(0_i64, i64::saturating_add);
    let all: i64 = free.iter().map(|free| (*free).max(0)).sum();
    if found.is_some() || wanted.len() < 2 || needed > all {
        return found;
    }
    let mut order: Vec<usize> = (0..wanted.len())
        .flat_map(|vm| (0..wanted[vm].more.count.max(0)).map(move |_| vm))
        .take(MOST_STEPS)
        .collect();
    // Those that fit on the fewest GPUs first.
    order.sort_by_key(|vm| std::cmp::Reverse(wanted[*vm].more.share));
    let mut search = Search {
        wanted,
        order,
        left: free.to_vec(),
        places: vec![Vec::new(); wanted.len()],
    };
    search.run().then_some(search.places)
}

struct Search<'a> {
    wanted: &'a [Beyond],
    /// The VM of each GPU that is sought.
    order: Vec<usize>,
    left: Vec<i64>,
    places: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Not recursive: how many GPUs a VM wants is up to whoever describes it.
    fn run(&mut self) -> bool {
        let mut steps = 0;
        // The places that are left to try for each GPU that is sought, the best last.
        let mut open: Vec<Vec<usize>> = vec![self.choices(0)];
        while open.len() <= self.order.len() {
            steps += 1;
            let number = open.len() - 1;
            let vm = self.order[number];
            let next = open.last_mut().and_then(Vec::pop);
            match next {
                _ if steps > MOST_STEPS => return false,
                Some(place) => {
                    self.left[place] -= self.wanted[vm].more.share;
                    self.places[vm].push(place);
                    open.push(self.choices(number + 1));
                }
                None => {
                    open.pop();
                    let Some(before) = number.checked_sub(1) else {
                        return false;
                    };
                    let vm = self.order[before];
                    if let Some(place) = self.places[vm].pop() {
                        self.left[place] += self.wanted[vm].more.share;
                    }
                }
            }
        }
        true
    }

    /// The places that a GPU may be given at, that with the least room last.
    fn choices(&self, number: usize) -> Vec<usize> {
        let Some(vm) = self.order.get(number).copied() else {
            return Vec::new();
        };
        let (wanted, taken) = (&self.wanted[vm], &self.places[vm]);
        let mut places: Vec<usize> = (0..self.left.len())
            .filter(|place| self.left[*place] >= wanted.more.share)
            .filter(|place| !taken.contains(place) && !wanted.own.contains(place))
            .collect();
        places.sort_by_key(|place| std::cmp::Reverse((self.left[*place], *place)));
        places
    }
}
