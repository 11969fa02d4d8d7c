use super::*;

/// Hosts with these free amounts, named in their order.
fn named(hosts: &[Vec<i64>]) -> impl Iterator<Item = Rows<FreeAmount>> {
    let named = |free: &Vec<i64>| amounts((0..).zip(free.iter().copied()));
    hosts.iter().map(named)
}

fn amounts(free: impl Iterator<Item = (i64, i64)>) -> Rows<FreeAmount> {
    let amount = |(name, free)| FreeAmount {
        name: Name(name),
        free,
    };
    free.map(amount).collect()
}

fn costs_of(hosts: impl Iterator<Item = Rows<FreeAmount>>) -> Vec<f64> {
    ahead(&Lines::read(hosts))
}

fn ranks_of(hosts: impl Iterator<Item = Rows<FreeAmount>>) -> Vec<usize> {
    ranks(&Lines::read(hosts))
}

fn costs<const N: usize>(hosts: &[[i64; N]]) -> Vec<f64> {
    let hosts: Vec<Vec<i64>> = hosts.iter().map(|host| host.to_vec()).collect();
    costs_of(named(&hosts))
}

fn order<const N: usize>(hosts: &[[i64; N]]) -> Vec<usize> {
    let hosts: Vec<Vec<i64>> = hosts.iter().map(|host| host.to_vec()).collect();
    ranks_of(named(&hosts))
}

#[test]
fn of_one_amount_the_more_the_better_and_absolutely_so() {
    assert_eq!(costs(&[[24], [16], [24]]), [0.0, 1.0, 0.0]);
}

#[test]
fn hosts_level_by_majority_are_equally_good() {
    assert_eq!(costs(&[[9, 3], [3, 20]]), [0.0, 0.0]);
    assert_eq!(costs(&[[4, 4], [4, 4]]), [0.0, 0.0]);
}

#[test]
fn more_of_more_amounts_is_better_by_however_little() {
    assert_eq!(costs(&[[9, 4, 10], [2, 8, 11]]), [1.0, 0.0]);
}

#[test]
fn an_amount_that_a_host_does_not_have_is_0() {
    let hosts = [
        amounts([(0, 8), (1, 1)].into_iter()),
        amounts([(2, 9), (1, 9), (0, 7)].into_iter()),
        amounts([].into_iter()),
    ];
    assert_eq!(costs_of(hosts.into_iter()), [1.0, 0.0, 2.0]);
}

#[test]
fn who_has_less_than_nothing_free_is_behind_who_has_nothing() {
    assert_eq!(costs(&[[-1, 0], [0, 0]]), [1.0, 0.0]);
}

#[test]
fn without_amounts_all_hosts_are_equal() {
    assert_eq!(costs_of(named(&[vec![], vec![]])), [0.0, 0.0]);
    assert_eq!(ranks_of(named(&[vec![], vec![]])), [0, 1]);
    assert!(costs_of(named(&[])).is_empty());
}

#[test]
fn in_a_circle_of_three_all_are_equal_and_others_are_behind_them() {
    // The first is ahead of the second, that of the third, and that of the first.
    let hosts = [[3, 2, 1], [2, 1, 3], [1, 3, 2], [1, 1, 1]];
    assert_eq!(costs(&hosts), [1.0, 1.0, 1.0, 3.0]);
    // One that none is ahead of ends the dispute.
    let hosts = [[3, 2, 1], [2, 1, 3], [1, 3, 2], [3, 3, 0]];
    assert_eq!(costs(&hosts)[3], 0.0);
}

#[test]
fn a_level_host_that_another_outdoes_is_no_longer_the_best() {
    // By vote alone, 2/2 and 1/9 are level; but 3/3 is ahead of the one only.
    assert_eq!(costs(&[[2, 2], [1, 9], [3, 3]]), [2.0, 0.0, 0.0]);
}

#[test]
fn ranks_are_the_order_where_the_vote_is_one_and_level_hosts_go_as_listed() {
    assert_eq!(order(&[[2, 2], [3, 3], [1, 9]]), [1, 0, 2]);
    assert_eq!(order(&[[5], [7], [5], [1]]), [1, 0, 2, 3]);
}

/// Numbers that look random, always the same ones.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn hosts(&mut self) -> Vec<Vec<i64>> {
        let (hosts, names, values) = (1 + self.below(12), self.below(5), 2 + self.below(9));
        let host = |random: &mut Self| (0..names).map(|_| random.below(values) as i64).collect();
        (0..hosts).map(|_| host(self)).collect()
    }
}

/// How many more amounts the one host has more of than the other has.
fn lead(one: &[i64], other: &[i64]) -> i64 {
    (one.iter().zip(other))
        .map(|(one, other)| (one - other).signum())
        .sum()
}

#[test]
fn exactly_the_hosts_that_none_is_ahead_of_cost_0() {
    let mut random = Random(1);
    for _ in 0..3_000 {
        let hosts = random.hosts();
        let costs = costs_of(named(&hosts));
        for (host, cost) in hosts.iter().zip(&costs) {
            let beaten = hosts.iter().any(|other| lead(other, host) > 0);
            assert_eq!(*cost > 0.0, beaten, "{host:?} among {hosts:?}");
        }
    }
}

#[test]
fn who_has_less_and_more_of_nothing_costs_more_than_the_best() {
    let mut random = Random(2);
    for _ in 0..3_000 {
        let hosts = random.hosts();
        let costs = costs_of(named(&hosts));
        let best = costs.iter().copied().fold(f64::INFINITY, f64::min);
        for (host, cost) in hosts.iter().zip(&costs) {
            let outdone = |other: &Vec<i64>| {
                other != host && other.iter().zip(host).all(|(other, own)| other >= own)
            };
            assert!(
                *cost > best || !hosts.iter().any(outdone),
                "{host:?} among {hosts:?}"
            );
        }
    }
}

#[test]
fn costs_and_ranks_depend_neither_on_the_order_of_hosts_nor_on_that_of_amounts() {
    let mut random = Random(3);
    for _ in 0..3_000 {
        let hosts = random.hosts();
        let costs = costs_of(named(&hosts));
        let turn = random.below(hosts.len() as u64) as usize;
        let turned = |host: &Vec<i64>| {
            let (first, turn) = (random.below(5) as usize, host.len().max(1));
            let named: Vec<_> = (0..).zip(host.iter().copied()).collect();
            amounts(
                named
                    .into_iter()
                    .cycle()
                    .skip(first % turn)
                    .take(host.len()),
            )
        };
        let mut shuffled: Vec<_> = hosts.iter().map(turned).collect();
        shuffled.rotate_left(turn);
        let mut expected = costs;
        expected.rotate_left(turn);
        assert_eq!(costs_of(shuffled.into_iter()), expected, "{hosts:?}");
    }
}

#[test]
fn who_beats_all_others_is_ranked_first() {
    let mut random = Random(4);
    let mut winners = 0;
    for _ in 0..3_000 {
        let hosts = random.hosts();
        let ranks = ranks_of(named(&hosts));
        let beats = |one: usize, other: usize| match lead(&hosts[one], &hosts[other]) {
            0 => one < other,
            lead => lead > 0,
        };
        let all = || 0..hosts.len();
        let winner = all().find(|&one| all().all(|other| one == other || beats(one, other)));
        if let Some(winner) = winner {
            winners += 1;
            assert_eq!(ranks[winner], 0, "{hosts:?}");
            assert_eq!(ranks.iter().filter(|rank| **rank == 0).count(), 1);
        }
    }
    assert!(winners > 1_000, "only {winners}");
}
