use named_amounts::Name;

use super::*;

fn vm(priority: i64) -> Vm {
    Vm {
        priority,
        stickiness: None,
    }
}

fn sticky(stickiness: i64) -> Vm {
    Vm {
        priority: 0,
        stickiness: Some(stickiness),
    }
}

/// A host of which nothing is said.
fn host(id: &str) -> Host {
    Host {
        id: id.into(),
        state: "up".into(),
        health: None,
        location: Rows::default(),
        current: Rows::default(),
        amounts: Rows::default(),
    }
}

fn location(scores: &[(i64, i64)]) -> Rows<Location> {
    let row = |&(member, score): &(i64, i64)| Location { member, score };
    scores.iter().map(row).collect()
}

fn current(members: &[i64]) -> Rows<Current> {
    members.iter().map(|&member| Current { member }).collect()
}

fn cpus(total: i64) -> Rows<FreeAmount> {
    let amount = FreeAmount {
        name: Name(0),
        free: total,
    };
    vec![amount].into()
}

fn order(strategy: Strategy, vms: Vec<Vm>, hosts: Vec<Host>) -> Vec<u32> {
    let batch = Batch {
        vms: vms.into(),
        hosts: hosts.into(),
    };
    turns(&batch, strategy)
}

const FITTING: [Strategy; 3] = [Strategy::Utilization, Strategy::Balanced, Strategy::Minimal];

#[test]
fn the_highest_priority_goes_first_and_equals_go_as_listed() {
    let all = [Strategy::Default].into_iter().chain(FITTING);
    for strategy in all {
        let vms = vec![vm(0), vm(-5), vm(10), vm(0), vm(10)];
        assert_eq!(order(strategy, vms, vec![host("a")]), [2, 4, 0, 3, 1]);
    }
}

#[test]
fn under_default_scores_play_no_part() {
    let hosts = || {
        vec![Host {
            location: location(&[(0, 1)]),
            current: current(&[1]),
            ..host("a")
        }]
    };
    let vms = || vec![sticky(0), sticky(5)];
    assert_eq!(order(Strategy::Default, vms(), hosts()), [0, 1]);
    for strategy in FITTING {
        assert_eq!(order(strategy, vms(), hosts()), [1, 0]);
    }
}

#[test]
fn priority_outweighs_every_score() {
    let running = Host {
        current: current(&[0]),
        ..host("a")
    };
    let vms = vec![sticky(1_000_000), vm(1)];
    assert_eq!(order(Strategy::Utilization, vms, vec![running]), [1, 0]);
}

#[test]
fn the_higher_score_where_it_runs_goes_first() {
    let hosts = vec![
        Host {
            current: current(&[0, 1]),
            ..host("a")
        },
        Host {
            current: current(&[2]),
            location: location(&[(2, 7)]),
            ..host("b")
        },
    ];
    let vms = vec![sticky(1), sticky(3), sticky(0)];
    assert_eq!(order(Strategy::Utilization, vms, hosts), [2, 1, 0]);
}

#[test]
fn one_that_runs_goes_before_one_that_does_not_whatever_its_scores_elsewhere() {
    let hosts = vec![Host {
        location: location(&[(0, 500)]),
        current: current(&[1]),
        ..host("a")
    }];
    let vms = vec![vm(0), vm(0)];
    assert_eq!(order(Strategy::Utilization, vms, hosts), [1, 0]);
}

#[test]
fn one_that_may_not_be_where_it_runs_counts_as_one_that_does_not_run() {
    let hosts = vec![Host {
        location: location(&[(0, -1_000_000), (1, -1_000_000)]),
        current: current(&[1]),
        ..host("a")
    }];
    assert_eq!(order(Strategy::Minimal, vec![vm(0), vm(0)], hosts), [0, 1]);
}

#[test]
fn a_host_that_is_not_up_still_lends_its_score_to_what_runs_there() {
    let drained = Host {
        state: "maintenance".into(),
        current: current(&[1]),
        ..host("z")
    };
    let vms = vec![vm(0), sticky(9)];
    assert_eq!(order(Strategy::Utilization, vms, vec![drained]), [1, 0]);
}

#[test]
fn scores_are_compared_host_by_host_in_the_order_of_ids() {
    let hosts = vec![
        Host {
            location: location(&[(0, 9), (1, 1)]),
            ..host("n2")
        },
        Host {
            location: location(&[(1, 2)]),
            ..host("n10")
        },
    ];
    assert_eq!(
        order(Strategy::Utilization, vec![vm(0), vm(0)], hosts),
        [1, 0]
    );
}

#[test]
fn under_balanced_scores_on_the_host_with_the_most_capacity_are_compared_first() {
    let hosts = || {
        vec![
            Host {
                location: location(&[(0, 100), (1, 100)]),
                amounts: cpus(2),
                ..host("a")
            },
            Host {
                location: location(&[(0, -1), (1, 1)]),
                amounts: cpus(3),
                ..host("b")
            },
            Host {
                location: location(&[(0, 5)]),
                amounts: cpus(1),
                ..host("c")
            },
        ]
    };
    let vms = || vec![vm(0), vm(0)];
    assert_eq!(order(Strategy::Balanced, vms(), hosts()), [1, 0]);
    assert_eq!(order(Strategy::Minimal, vms(), hosts()), [1, 0]);
    let without_b = || vec![hosts().remove(0), hosts().remove(2)];
    assert_eq!(order(Strategy::Balanced, vms(), without_b()), [0, 1]);
}

#[test]
fn hosts_that_are_not_up_are_compared_last() {
    let hosts = vec![
        Host {
            state: "maintenance".into(),
            location: location(&[(0, 50)]),
            amounts: cpus(100),
            ..host("a")
        },
        Host {
            location: location(&[(1, 1)]),
            ..host("b")
        },
    ];
    assert_eq!(order(Strategy::Balanced, vec![vm(0), vm(0)], hosts), [1, 0]);
}

#[test]
fn health_counts_where_something_else_is_said_of_one_vm_only() {
    let hosts = vec![Host {
        health: Some(-20),
        location: location(&[(1, 5)]),
        ..host("a")
    }];
    assert_eq!(order(Strategy::Minimal, vec![vm(0), vm(0)], hosts), [1, 0]);
    // Health is minus infinity for both: nothing is left to tell them apart.
    let hosts = vec![Host {
        health: Some(-1_000_000),
        location: location(&[(1, 5)]),
        ..host("a")
    }];
    assert_eq!(order(Strategy::Minimal, vec![vm(0), vm(0)], hosts), [0, 1]);
}

#[test]
fn the_order_of_hosts_and_of_their_rows_does_not_matter() {
    let hosts = || {
        (0..6_i64).map(|n| Host {
            location: location(&[(n % 4, n - 3), (2, n), ((n + 1) % 4, 2)]),
            current: current(if n == 3 { &[3, 1] } else { &[] }),
            amounts: cpus(n % 3),
            ..host(&format!("h{n}"))
        })
    };
    let vms = || (0..4).map(sticky).collect::<Vec<_>>();
    let mut turned: Vec<Host> = hosts().collect();
    turned.reverse();
    for host in &mut turned {
        let mut rows: Vec<_> = host.location.iter().collect();
        rows.reverse();
        host.location = rows.into();
    }
    for strategy in FITTING {
        let expected = order(strategy, vms(), hosts().collect());
        let turned = turned.iter().map(Row::duplicate).collect();
        assert_eq!(order(strategy, vms(), turned), expected);
    }
}

#[test]
fn rows_that_name_no_vm_of_the_batch_are_passed_over() {
    let hosts = vec![Host {
        location: location(&[(7, 5), (-1, 5)]),
        current: current(&[9]),
        ..host("a")
    }];
    assert_eq!(order(Strategy::Minimal, vec![vm(0), vm(1)], hosts), [1, 0]);
}
