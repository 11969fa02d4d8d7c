use super::*;

/// What is said of one VM on a host: its location score, and whether it runs there.
fn host(location: Option<i64>, runs: bool) -> Host {
    let location = location.map(|score| Location { member: 0, score });
    Host {
        health: None,
        location: location.into_iter().collect(),
        current: runs.then_some(Current { member: 0 }).into_iter().collect(),
    }
}

fn sticky(stickiness: i64) -> Stickiness {
    let vms = vec![Vm {
        stickiness: Some(stickiness),
    }];
    let request = Request { vms: vms.into() };
    HostScore::prepare(&request, &()).expect("nothing is refused")
}

fn cost(stickiness: i64, host: &Host) -> f64 {
    HostScore::cost(&sticky(stickiness), host)
}

fn verdict(stickiness: i64, host: &Host) -> Verdict<Reason> {
    HostScore::keep(&sticky(stickiness), host)
}

#[test]
fn a_host_of_which_nothing_is_said_is_kept_at_cost_0() {
    assert_eq!(verdict(0, &host(None, false)), Verdict::Keep);
    assert_eq!(cost(0, &host(None, false)), 0.0);
    let without = HostScore::prepare(
        &Request {
            vms: vec![Vm { stickiness: None }].into(),
        },
        &(),
    );
    let without = without.expect("nothing is refused");
    assert_eq!(HostScore::cost(&without, &host(None, true)), 0.0);
}

#[test]
fn a_negative_score_forbids_however_small() {
    let below_zero = Verdict::Remove(Reason::BelowZero);
    assert_eq!(verdict(0, &host(Some(-1), false)), below_zero);
    assert_eq!(verdict(1, &host(Some(-1), true)), Verdict::Keep);
    assert_eq!(verdict(0, &host(Some(0), false)), Verdict::Keep);
}

#[test]
fn minus_infinity_forbids_even_beside_infinity() {
    let forbidden = Verdict::Remove(Reason::Forbidden);
    assert_eq!(verdict(1_000_000, &host(Some(-1_000_000), true)), forbidden);
}

#[test]
fn the_higher_score_costs_less() {
    assert!(cost(0, &host(Some(2), false)) < cost(0, &host(Some(1), false)));
    assert!(cost(0, &host(Some(1_000_000), false)) < cost(0, &host(Some(999_999), false)));
}

#[test]
fn at_equal_scores_above_0_a_vm_stays() {
    assert!(cost(50, &host(None, true)) < cost(50, &host(Some(50), false)));
    assert!(cost(1_000_000, &host(None, true)) < cost(0, &host(Some(1_000_000), false)));
}

#[test]
fn a_score_higher_by_one_outweighs_staying() {
    assert!(cost(50, &host(Some(51), false)) < cost(50, &host(None, true)));
}

#[test]
fn at_score_0_nothing_speaks_for_staying() {
    assert_eq!(cost(0, &host(None, true)), cost(0, &host(None, false)));
    assert_eq!(cost(9, &host(Some(-9), true)), 0.0);
}

#[test]
fn health_counts_for_every_vm() {
    let healthy = |health| Host {
        health: Some(health),
        ..host(None, false)
    };
    assert!(cost(0, &healthy(10)) < cost(0, &healthy(0)));
    assert_eq!(verdict(0, &healthy(-1)), Verdict::Remove(Reason::BelowZero));
    assert_eq!(
        verdict(0, &healthy(-1_000_000)),
        Verdict::Remove(Reason::Forbidden)
    );
}

#[test]
fn vms_placed_together_need_a_host_that_suits_each_and_add_their_scores() {
    let both = Stickiness(vec![5, 7]);
    let location = |scores: [i64; 2]| Host {
        location: (0..)
            .zip(scores)
            .map(|(member, score)| Location { member, score })
            .collect(),
        ..host(None, false)
    };
    assert_eq!(HostScore::cost(&both, &location([10, 20])), -30.0);
    assert_eq!(
        HostScore::keep(&both, &location([10, -1])),
        Verdict::Remove(Reason::BelowZero)
    );
    let runs = |members: &[i64]| Host {
        current: members.iter().map(|&member| Current { member }).collect(),
        ..host(None, false)
    };
    assert_eq!(HostScore::cost(&both, &runs(&[0, 1])), -12.5);
    assert_eq!(HostScore::cost(&both, &runs(&[1])), -7.0);
}
