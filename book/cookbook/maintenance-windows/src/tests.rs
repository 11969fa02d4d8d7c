use super::*;

fn need(now: i64, ends: &[Option<i64>], trust_ends: bool) -> Need {
    let request = Request {
        request: Now { now: Seconds(now) },
        vms: (ends.iter())
            .map(|ends| Vm {
                ends: ends.map(Seconds),
            })
            .collect(),
    };
    let settings = Settings {
        notice: Seconds(100),
        trust_ends,
    };
    MaintenanceWindows::prepare(&request, &settings).expect("nothing is refused")
}

fn host(windows: &[(Option<i64>, Option<i64>)]) -> Host {
    let window = |(from, to): &(Option<i64>, Option<i64>)| Window {
        from: from.map(Seconds),
        to: to.map(Seconds),
    };
    Host {
        windows: windows.iter().map(window).collect(),
    }
}

/// The verdict at a time, and until when it holds.
fn at(now: i64, host: &Host, ends: &[Option<i64>]) -> (Verdict<Reason>, i64) {
    let need = need(now, ends, true);
    (
        MaintenanceWindows::keep(&need, host),
        MaintenanceWindows::until(&need, host),
    )
}

const IN: Verdict<Reason> = Verdict::Remove(Reason::InWindow);
const BEFORE: Verdict<Reason> = Verdict::Remove(Reason::BeforeWindow);

#[test]
fn a_window_closes_a_host_from_its_notice_to_its_end() {
    let host = host(&[(Some(1_000), Some(2_000))]);
    assert_eq!(at(0, &host, &[None]), (Verdict::Keep, 899));
    assert_eq!(at(899, &host, &[None]), (Verdict::Keep, 899));
    assert_eq!(at(900, &host, &[None]), (BEFORE, 999));
    assert_eq!(at(1_000, &host, &[None]), (IN, 1_999));
    assert_eq!(at(2_000, &host, &[None]), (Verdict::Keep, FOR_GOOD));
}

#[test]
fn every_answer_holds_until_it_says() {
    let host = host(&[
        (Some(50), Some(80)),
        (Some(70), None),
        (Some(200), Some(200)),
    ]);
    let ends = [Some(49)];
    for now in -200..300 {
        let (verdict, until) = at(now, &host, &ends);
        for later in now..=until.min(300) {
            assert_eq!(at(later, &host, &ends).0, verdict, "{now} {later}");
        }
    }
}

#[test]
fn a_vm_that_ends_before_may_run_until_then() {
    let host = host(&[(Some(1_000), None)]);
    assert_eq!(at(950, &host, &[Some(1_000)]), (Verdict::Keep, 999));
    assert_eq!(at(950, &host, &[Some(1_001)]), (BEFORE, 999));
    assert_eq!(at(950, &host, &[Some(1_000), None]), (BEFORE, 999));
    let distrusted = need(950, &[Some(1_000)], false);
    assert_eq!(MaintenanceWindows::keep(&distrusted, &host), BEFORE);
}

#[test]
fn a_window_may_have_no_beginning_and_no_end() {
    assert_eq!(at(5, &host(&[(None, None)]), &[None]), (IN, FOR_GOOD));
    assert_eq!(at(5, &host(&[(None, Some(6))]), &[None]), (IN, 5));
}
