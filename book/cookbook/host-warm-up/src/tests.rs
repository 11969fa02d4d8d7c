use super::*;

fn need(now: i64, vms: &[(i64, bool)], allow_ha: bool) -> Need {
    let vm = |(cores, ha): &(i64, bool)| Vm {
        cpu: Millicores::cores(*cores),
        ha: *ha,
    };
    let request = Request {
        request: Now { now: Seconds(now) },
        vms: vms.iter().map(vm).collect(),
    };
    let settings = Settings {
        period: Seconds(1_000),
        allow_ha,
    };
    HostWarmUp::prepare(&request, &settings).expect("nothing is refused")
}

/// A host of 10 cores that was added at 5,000.
fn host(committed: i64, pending: i64) -> Host {
    Host {
        created: Some(Seconds(5_000)),
        total: Millicores::cores(10),
        committed: Millicores::cores(committed),
        pending: Millicores::cores(pending),
        current: Rows::default(),
    }
}

fn removed(reason: Reason) -> Verdict<Reason> {
    Verdict::Remove(reason)
}

#[test]
fn a_host_takes_more_as_time_passes() {
    let at = |now| need(now, &[(1, false), (1, false)], false).verdict(&host(1, 0));
    assert_eq!(at(5_000), (removed(Reason::TooMuch), 5_299));
    assert_eq!(at(5_299), (removed(Reason::TooMuch), 5_299));
    assert_eq!(at(5_300), (Verdict::Keep, FOR_GOOD));
}

#[test]
fn pending_vms_count_and_may_go_away() {
    let at = |now| need(now, &[(1, false)], false).verdict(&host(1, 2));
    assert_eq!(at(5_100), (removed(Reason::TooMuch), 5_199));
    assert_eq!(at(5_200), (removed(Reason::TooMuchWhilePending), 5_399));
    assert_eq!(at(5_400), (Verdict::Keep, FOR_GOOD));
}

#[test]
fn highly_available_vms_wait_for_the_whole_period_unless_allowed() {
    let vm = [(0, true)];
    let at = |now, allow| need(now, &vm, allow).verdict(&host(0, 0));
    assert_eq!(at(5_999, false), (removed(Reason::NotForHa), 5_999));
    assert_eq!(at(6_000, false), (Verdict::Keep, FOR_GOOD));
    assert_eq!(at(5_001, true), (Verdict::Keep, FOR_GOOD));
}

#[test]
fn an_old_host_is_no_concern_of_this_rule_however_full_it_is() {
    let full = need(6_000, &[(4, false)], false).verdict(&host(10, 0));
    assert_eq!(full, (Verdict::Keep, FOR_GOOD));
    let unknown = Host {
        created: None,
        ..host(0, 0)
    };
    let verdict = need(0, &[(4, true)], false).verdict(&unknown);
    assert_eq!(verdict, (Verdict::Keep, FOR_GOOD));
}

#[test]
fn a_vm_that_runs_there_may_stay() {
    let mut here = host(4, 0);
    here.current = vec![Current { member: 0 }].into();
    let verdict = need(5_000, &[(4, true)], false).verdict(&here);
    assert_eq!(verdict, (Verdict::Keep, FOR_GOOD));
}
