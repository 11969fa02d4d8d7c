use super::*;

/// 10,000 MiB, of which 6,000 are promised and 6,000 free.
fn host() -> Host {
    Host {
        total: Bytes::mib(10_000),
        free: Bytes::mib(6_000),
        overcommit: 1.0,
        committed: Bytes::mib(6_000),
        pending: Bytes(0),
    }
}

fn verdict(mib: &[i64], host: &Host) -> Verdict<Reason> {
    let vm = |&mib: &i64| Vm {
        memory: Bytes::mib(mib),
    };
    let request = Request {
        vms: mib.iter().map(vm).collect(),
    };
    let settings = Settings::defaults().expect("all have defaults");
    let need = MemoryRoom::prepare(&request, &settings).expect("nothing is refused");
    MemoryRoom::keep(&need, host)
}

#[test]
fn the_memory_left_to_promise_must_be_more_than_vm_and_overhead() {
    assert_eq!(verdict(&[2_975], &host()), Verdict::Keep);
    let too_little = Verdict::Remove(Reason::Promised);
    assert_eq!(verdict(&[2_976], &host()), too_little);
}

#[test]
fn the_free_memory_must_be_more_than_vm_and_overhead() {
    let contended = Host {
        overcommit: 1.5,
        ..host()
    };
    assert_eq!(verdict(&[4_975], &contended), Verdict::Keep);
    let too_little = Verdict::Remove(Reason::Contended);
    assert_eq!(verdict(&[4_976], &contended), too_little);
}

#[test]
fn what_is_pending_counts_in_both_and_may_pass() {
    let waiting = Verdict::Remove(Reason::Reserved);
    let reserved = |overcommit| Host {
        pending: Bytes::mib(1_000),
        overcommit,
        ..host()
    };
    assert_eq!(verdict(&[1_975], &reserved(1.0)), Verdict::Keep);
    assert_eq!(verdict(&[1_976], &reserved(1.0)), waiting);
    assert_eq!(verdict(&[3_975], &reserved(2.0)), Verdict::Keep);
    assert_eq!(verdict(&[3_976], &reserved(2.0)), waiting);
}

#[test]
fn several_vms_need_room_together_and_one_overhead() {
    assert_eq!(verdict(&[1_000, 1_975], &host()), Verdict::Keep);
    assert!(verdict(&[1_000, 1_976], &host()) != Verdict::Keep);
}

#[test]
fn a_host_that_promised_too_much_has_no_room() {
    let full = Host {
        committed: Bytes::mib(20_000),
        ..host()
    };
    let too_little = Verdict::Remove(Reason::Promised);
    assert_eq!(verdict(&[0], &full), too_little);
}
