use super::*;

fn host(account: &str, quota: Option<i64>, running: i64) -> Host {
    Host {
        id: format!("{account}-host").into(),
        account: Some(account.into()),
        quota,
        running: Some(running),
        vms: 0,
        pending: 0,
    }
}

fn request(instances: Option<i64>, members: usize) -> Request {
    Request {
        request: Deployment { instances },
        members: (0..members).map(|_| Vm {}).collect(),
    }
}

/// Which hosts stay.
fn kept(instances: Option<i64>, hosts: Vec<Host>) -> Vec<bool> {
    let verdicts = Quota::keep(&request(instances, 1), &hosts.into(), &());
    let verdicts = verdicts.expect("nothing is refused");
    verdicts.iter().map(|it| *it == Verdict::Keep).collect()
}

#[test]
fn a_quota_may_be_used_up_and_not_exceeded() {
    let hosts = vec![
        host("a", Some(5), 3),
        host("b", Some(5), 4),
        host("c", None, 900),
    ];
    assert_eq!(kept(Some(2), hosts), [true, false, true]);
}

#[test]
fn without_a_number_of_instances_the_vms_are_counted() {
    let two = request(None, 2);
    let hosts = vec![host("a", Some(5), 3), host("b", Some(5), 4)].into();
    let verdicts = Quota::keep(&two, &hosts, &()).expect("nothing is refused");
    assert_eq!(
        verdicts,
        [Verdict::Keep, Verdict::Remove(Reason::QuotaExceeded)]
    );
}

#[test]
fn what_was_placed_counts_on_all_hosts_of_the_account() {
    let placed = |vms, pending| Host {
        vms,
        pending,
        ..host("a", Some(3), 0)
    };
    assert_eq!(
        kept(Some(1), vec![placed(1, 0), placed(0, 1)]),
        [true, true]
    );
    assert_eq!(
        kept(Some(1), vec![placed(2, 0), placed(0, 1)]),
        [false, false]
    );
}

#[test]
fn hosts_without_account_have_quotas_of_their_own() {
    let alone = |id: &str, running| Host {
        id: id.into(),
        account: None,
        ..host("", Some(1), running)
    };
    assert_eq!(
        kept(Some(1), vec![alone("h1", 1), alone("h2", 0)]),
        [false, true]
    );
}

#[test]
fn absurd_numbers_are_no_trouble() {
    let hosts = vec![host("a", Some(i64::MAX), i64::MAX), host("b", Some(-1), -9)];
    assert_eq!(kept(Some(i64::MAX), hosts), [true, false]);
}
