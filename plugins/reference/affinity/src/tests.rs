use super::*;

fn group(rule: Option<&str>, hard: bool) -> Group {
    Group {
        rule: rule.map(Text::from),
        hard,
        host_rule: None,
        host_hard: false,
        priority: 1.0,
        here: 1,
        elsewhere: true,
    }
}

fn for_hosts(rule: &str, hard: bool, priority: f64) -> Group {
    Group {
        host_rule: Some(rule.into()),
        host_hard: hard,
        priority,
        elsewhere: false,
        ..group(None, false)
    }
}

fn rules(groups: Vec<Group>) -> Rules {
    let groups = groups.into();
    let settings = Settings::defaults().expect("all have defaults");
    Affinity::prepare(&Request { groups }, &settings).expect("nothing is refused")
}

/// Rows are (group, VMs, unmovable ones).
fn running(rows: &[(i64, i64, i64)]) -> Host {
    let row = |&(group, vms, unmovable): &(i64, i64, i64)| Members {
        group,
        vms,
        unmovable,
    };
    Host {
        members: rows.iter().map(row).collect(),
        groups: Rows::default(),
    }
}

fn within(groups: &[i64]) -> Host {
    let row = |&group: &i64| Membership { group };
    Host {
        members: Rows::default(),
        groups: groups.iter().map(row).collect(),
    }
}

fn removed(reason: Reason) -> Verdict<Reason> {
    Verdict::Remove(reason)
}

#[test]
fn vms_that_belong_together_go_where_one_of_them_is() {
    let together = rules(vec![group(Some("positive"), true)]);
    assert_eq!(
        Affinity::keep(&together, &running(&[(0, 2, 0)])),
        Verdict::Keep
    );
    assert_eq!(
        Affinity::keep(&together, &running(&[])),
        removed(Reason::WithoutTheOthers)
    );
}

#[test]
fn the_first_vm_of_a_group_may_go_anywhere() {
    let first = Group {
        elsewhere: false,
        ..group(Some("positive"), true)
    };
    assert_eq!(
        Affinity::keep(&rules(vec![first]), &running(&[])),
        Verdict::Keep
    );
}

#[test]
fn of_several_positive_groups_the_hosts_of_each_are_good() {
    let two = rules(vec![
        group(Some("positive"), true),
        group(Some("positive"), true),
    ]);
    assert_eq!(Affinity::keep(&two, &running(&[(0, 1, 0)])), Verdict::Keep);
    assert_eq!(Affinity::keep(&two, &running(&[(1, 1, 0)])), Verdict::Keep);
}

#[test]
fn vms_that_are_kept_apart_avoid_each_other() {
    let apart = rules(vec![group(Some("negative"), true)]);
    assert_eq!(Affinity::keep(&apart, &running(&[])), Verdict::Keep);
    assert_eq!(
        Affinity::keep(&apart, &running(&[(0, 1, 0)])),
        removed(Reason::BesideOthers)
    );
    let both_here = Group {
        here: 2,
        ..group(Some("negative"), true)
    };
    assert_eq!(
        Affinity::keep(&rules(vec![both_here]), &running(&[])),
        removed(Reason::ApartFromEachOther)
    );
}

#[test]
fn soft_rules_remove_nothing() {
    let soft = rules(vec![
        group(Some("positive"), false),
        for_hosts("positive", false, 1.0),
    ]);
    assert_eq!(Affinity::keep(&soft, &running(&[])), Verdict::Keep);
}

#[test]
fn hard_host_rules_ask_for_all_their_hosts_and_forbid_others() {
    let hard = rules(vec![
        for_hosts("positive", true, 1.0),
        for_hosts("positive", true, 1.0),
        for_hosts("negative", true, 1.0),
    ]);
    assert_eq!(Affinity::keep(&hard, &within(&[0, 1])), Verdict::Keep);
    assert_eq!(
        Affinity::keep(&hard, &within(&[0])),
        removed(Reason::NotAmongHosts)
    );
    assert_eq!(
        Affinity::keep(&hard, &within(&[0, 1, 2])),
        removed(Reason::AmongHosts)
    );
    assert_eq!(Affinity::cost(&hard, &within(&[2])), 0.0);
}

#[test]
fn one_rule_of_higher_priority_outweighs_all_of_lower() {
    let soft = rules(vec![
        for_hosts("negative", false, 1.0),
        for_hosts("negative", false, 1.0),
        for_hosts("negative", false, 1.5),
    ]);
    let cost = |groups: &[i64]| Affinity::cost(&soft, &within(groups));
    let in_order = [
        cost(&[]),
        cost(&[0]),
        cost(&[0, 1]),
        cost(&[2]),
        cost(&[0, 2]),
        cost(&[0, 1, 2]),
    ];
    assert!(
        in_order.is_sorted_by(|one, next| one < next),
        "{in_order:?}"
    );
    assert_eq!(cost(&[0]), cost(&[1]));
}

#[test]
fn among_equals_unmovable_company_counts_before_more_company() {
    let soft = rules(vec![
        group(Some("positive"), false),
        group(Some("negative"), false),
    ]);
    let cost = |rows: &[(i64, i64, i64)]| Affinity::cost(&soft, &running(rows));
    let in_order = [
        cost(&[(0, 1, 1)]),
        cost(&[(0, 9, 0)]),
        cost(&[(0, 1, 0)]),
        cost(&[]),
        cost(&[(1, 1, 0)]),
    ];
    assert!(
        in_order.is_sorted_by(|one, next| one < next),
        "{in_order:?}"
    );
    assert!(cost(&[(0, 5, 5), (1, 1, 0)]) > cost(&[(0, 1, 0)]));
}

#[test]
fn each_side_can_be_switched_off() {
    let groups = || {
        let both = Group {
            host_rule: Some("positive".into()),
            host_hard: true,
            ..group(Some("negative"), true)
        };
        Request {
            groups: vec![both].into(),
        }
    };
    let only = |vms, hosts| {
        let settings = Settings { vms, hosts };
        Affinity::prepare(&groups(), &settings).expect("nothing is refused")
    };
    let host = running(&[(0, 1, 0)]);
    assert_eq!(
        Affinity::keep(&only(true, false), &host),
        removed(Reason::BesideOthers)
    );
    assert_eq!(
        Affinity::keep(&only(false, true), &host),
        removed(Reason::NotAmongHosts)
    );
    assert_eq!(Affinity::keep(&only(false, false), &host), Verdict::Keep);
    assert_eq!(Affinity::cost(&only(false, false), &host), 0.0);
}

#[test]
fn costs_are_exact_however_many_groups_there_are() {
    let many = |count: i64| {
        let group = |priority| for_hosts("negative", false, priority as f64);
        rules((0..count).map(group).collect())
    };
    let rules = many(29);
    let all: Vec<i64> = (0..29).collect();
    let (worst, better) = (
        Affinity::cost(&rules, &within(&all)),
        Affinity::cost(&rules, &within(&all[1..])),
    );
    assert!(better < worst && worst < (1_u64 << 53) as f64);
    // Beyond, those of the lowest priorities are passed over.
    let rules = many(40);
    assert_eq!(Affinity::cost(&rules, &within(&[0])), 0.0);
    assert!(Affinity::cost(&rules, &within(&[39])) > Affinity::cost(&rules, &within(&[38])));
}
