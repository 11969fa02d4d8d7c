use super::huge_pages::VmPages;
use super::*;

fn settings() -> Settings {
    Settings {
        overhead: Bytes::mib(64),
        overhead_share: 0.0,
        overhead_per_vcpu: Bytes(0),
        ..Settings::defaults().expect("all have defaults")
    }
}

fn vm(mib: i64) -> Vm {
    Vm {
        memory: Bytes::mib(mib),
        vcpus: 1,
        video: None,
        io_threads: None,
        state: None,
        running: false,
        pages: Rows::default(),
    }
}

/// The first member, which holds so much where it runs.
fn held(mib: i64) -> Rows<Current> {
    let row = Current {
        member: 0,
        holds: true,
        memory: Bytes::mib(mib),
        vcpus: 1,
        video: None,
        io_threads: None,
        pages: Rows::default(),
    };
    vec![row].into()
}

fn need(vms: Vec<Vm>, settings: &Settings) -> Need {
    Memory::prepare(&Request { vms: vms.into() }, settings).expect("nothing is refused")
}

/// 10,000 MiB, all of them free.
fn host() -> Host {
    Host {
        total: Bytes::mib(10_000),
        free: Some(Bytes::mib(10_000)),
        reserved: Bytes(0),
        overcommit: 1.0,
        committed: Bytes(0),
        pending: Bytes(0),
        unmeasured: Bytes(0),
        swap_free: None,
        vms: 0,
        vms_pending: 0,
        vms_unmeasured: 0,
        current: Rows::default(),
        pages: Rows::default(),
    }
}

fn verdict(mib: i64, host: &Host) -> Verdict<Reason> {
    Memory::keep(&need(vec![vm(mib)], &settings()), host)
}

#[test]
fn a_vm_fits_with_its_overhead_or_not_at_all() {
    assert_eq!(verdict(9_936, &host()), Verdict::Keep);
    assert_eq!(
        verdict(9_937, &host()),
        Verdict::Remove(Reason::TooLittleFree)
    );
}

#[test]
fn free_swap_counts_as_free_memory_but_not_as_promisable() {
    let swapping = Host {
        free: Some(Bytes::mib(9_000)),
        swap_free: Some(Bytes::mib(2_000)),
        ..host()
    };
    assert_eq!(verdict(9_936, &swapping), Verdict::Keep);
    assert_eq!(
        verdict(9_937, &swapping),
        Verdict::Remove(Reason::TooLittleToPromise)
    );
}

#[test]
fn over_commitment_allows_more_promises_than_memory() {
    let promised = Host {
        committed: Bytes::mib(9_000),
        vms: 1,
        overcommit: 2.0,
        reserved: Bytes::mib(500),
        ..host()
    };
    // 20,000 - 9,064 - 500 are left.
    let large = Host {
        free: None,
        ..promised
    };
    assert_eq!(verdict(10_372, &large), Verdict::Keep);
    assert_eq!(
        verdict(10_373, &large),
        Verdict::Remove(Reason::TooLittleToPromise)
    );
}

#[test]
fn a_reason_passes_only_if_pending_vms_alone_are_in_the_way() {
    let pending = Host {
        pending: Bytes::mib(2_000),
        vms_pending: 1,
        ..host()
    };
    assert_eq!(
        verdict(8_000, &pending),
        Verdict::Remove(Reason::TooLittleFreeWhilePending)
    );
    let unmeasured = Host {
        free: None,
        ..pending
    };
    assert_eq!(
        verdict(8_000, &unmeasured),
        Verdict::Remove(Reason::TooLittleToPromiseWhilePending)
    );
    assert_eq!(
        verdict(10_000, &unmeasured),
        Verdict::Remove(Reason::TooLittleToPromise)
    );
}

#[test]
fn placed_vms_take_their_overhead_unless_it_is_counted_already() {
    let full = Host {
        committed: Bytes::mib(5_000),
        vms: 10,
        free: None,
        ..host()
    };
    assert_ne!(verdict(4_500, &full), Verdict::Keep);
    let counted = Settings {
        placed_overhead: false,
        ..settings()
    };
    let need = need(vec![vm(4_500)], &counted);
    assert_eq!(Memory::keep(&need, &full), Verdict::Keep);
}

#[test]
fn hosts_without_measured_memory_can_be_left_out() {
    let unmeasured = Host {
        free: None,
        ..host()
    };
    assert_eq!(verdict(100, &unmeasured), Verdict::Keep);
    let strict = Settings {
        require_measured: true,
        ..settings()
    };
    assert_eq!(
        Memory::keep(&need(vec![vm(100)], &strict), &unmeasured),
        Verdict::Remove(Reason::Unmeasured)
    );
}

#[test]
fn headroom_stays_free() {
    let settings = Settings {
        headroom: Bytes::mib(1_000),
        ..settings()
    };
    let keep = |mib| Memory::keep(&need(vec![vm(mib)], &settings), &host());
    assert_eq!(keep(8_936), Verdict::Keep);
    assert_ne!(keep(8_937), Verdict::Keep);
}

#[test]
fn paused_vms_need_nothing_before_they_run_and_all_of_it_on_any_other_host() {
    let full = Host {
        free: Some(Bytes(0)),
        ..host()
    };
    let keep = |mib, running, host: &Host| {
        let paused = Vm {
            state: Some("paused".into()),
            running,
            ..vm(mib)
        };
        Memory::keep(&need(vec![paused], &settings()), host)
    };
    assert_eq!(keep(8_000, false, &full), Verdict::Keep);
    let too_little = Verdict::Remove(Reason::TooLittleFree);
    assert_eq!(keep(8_000, true, &full), too_little);
    let own = Host {
        current: held(8_000),
        ..full
    };
    assert_eq!(keep(8_000, true, &own), Verdict::Keep);
    assert_eq!(keep(8_001, true, &own), too_little);
}

#[test]
fn vms_that_run_on_the_host_need_what_they_grow_by() {
    let full = Host {
        free: Some(Bytes(0)),
        ..host()
    };
    let need_of = |vms| need(vms, &settings());
    let own = Host {
        current: held(8_000),
        ..full
    };
    assert_eq!(verdict(8_000, &own), Verdict::Keep);
    assert_eq!(verdict(7_000, &own), Verdict::Keep);
    assert_ne!(verdict(8_001, &own), Verdict::Keep);
    let two = need_of(vec![vm(8_000), vm(1)]);
    assert_ne!(Memory::keep(&two, &own), Verdict::Keep);
}

#[test]
fn huge_pages_come_from_static_pages_and_the_rest_from_ordinary_memory() {
    let paged = |count| Vm {
        pages: vec![VmPages {
            size: Bytes::mib(2),
            count,
        }]
        .into(),
        ..vm(2 * count)
    };
    let with_pages = Host {
        free: Some(Bytes::mib(1_000)),
        pages: vec![HostPages {
            size: Bytes::mib(2),
            free: 3_000,
            pending: Some(500),
            pending_memory: None,
        }]
        .into(),
        ..host()
    };
    let keep = |count, host: &Host| Memory::keep(&need(vec![paged(count)], &settings()), host);
    // 936 MiB are left beside the overhead: 468 pages.
    assert_eq!(keep(2_968, &with_pages), Verdict::Keep);
    assert_ne!(keep(2_969, &with_pages), Verdict::Keep);
    assert_ne!(keep(4_969, &host()), Verdict::Keep);
}

/// 1,000 MiB of ordinary memory free beside pages of 2 MiB, and a pending VM of 4,000 MiB in pages
/// of that size.
fn with_pending_pages(free: i64, pending: i64) -> Host {
    Host {
        free: Some(Bytes::mib(1_000)),
        pending: Bytes::mib(4_000),
        vms_pending: 1,
        pages: vec![HostPages {
            size: Bytes::mib(2),
            free,
            pending: Some(pending),
            pending_memory: Some(Bytes::mib(4_000)),
        }]
        .into(),
        ..host()
    }
}

#[test]
fn memory_of_pending_vms_in_free_huge_pages_is_none_of_the_free_memory() {
    // 64 MiB of overhead for each of the two.
    let roomy = with_pending_pages(2_000, 2_000);
    assert_eq!(verdict(872, &roomy), Verdict::Keep);
    let passing = Verdict::Remove(Reason::TooLittleFreeWhilePending);
    assert_eq!(verdict(873, &roomy), passing);
}

#[test]
fn memory_of_pending_vms_for_which_huge_pages_lack_is_ordinary() {
    // 200 MiB of it find no pages.
    let scarce = with_pending_pages(1_900, 2_000);
    assert_eq!(verdict(672, &scarce), Verdict::Keep);
    assert_ne!(verdict(673, &scarce), Verdict::Keep);
    assert_ne!(verdict(1, &with_pending_pages(0, 2_000)), Verdict::Keep);
}

#[test]
fn huge_pages_that_others_wait_for_are_not_free_for_pending_vms() {
    // 100 pages are those of a VM that runs and is not yet measured.
    let unmeasured = with_pending_pages(2_000, 2_100);
    assert_eq!(verdict(672, &unmeasured), Verdict::Keep);
    assert_ne!(verdict(673, &unmeasured), Verdict::Keep);
    // And so are all pages that are pending where no pending memory is to be in them.
    let mut ordinary = with_pending_pages(2_000, 2_000);
    let mut pages = ordinary.pages.get(0).expect("there is a row");
    pages.pending_memory = Some(Bytes(0));
    ordinary.pages = vec![pages].into();
    assert_ne!(verdict(1, &ordinary), Verdict::Keep);
}

#[test]
fn ordinary_memory_that_pending_vms_have_instead_of_huge_pages_is_taken() {
    let mut host = with_pending_pages(2_000, 0);
    let mut pages = host.pages.get(0).expect("there is a row");
    // Its memory is no more than it was, and 300 MiB of it are in pages no longer.
    pages.pending_memory = Some(Bytes::mib(-300));
    (host.pages, host.pending, host.vms_pending) = (vec![pages].into(), Bytes(0), 0);
    assert_eq!(verdict(636, &host), Verdict::Keep);
    let passing = Verdict::Remove(Reason::TooLittleFreeWhilePending);
    assert_eq!(verdict(637, &host), passing);
}

#[test]
fn what_pending_vms_were_promised_is_promised_in_huge_pages_too() {
    let promised = Host {
        free: None,
        ..with_pending_pages(2_000, 2_000)
    };
    // 10,000 - 4,064 - 64 are left.
    assert_eq!(verdict(5_872, &promised), Verdict::Keep);
    let passing = Verdict::Remove(Reason::TooLittleToPromiseWhilePending);
    assert_eq!(verdict(5_873, &promised), passing);
}

#[test]
fn free_huge_pages_are_none_of_the_memory_of_other_vms_if_that_is_set() {
    let with_pages = Host {
        free: None,
        pages: vec![HostPages {
            size: Bytes::mib(2),
            free: 3_000,
            pending: Some(500),
            pending_memory: None,
        }]
        .into(),
        ..host()
    };
    let reserving = Settings {
        reserve_huge_pages: true,
        ..settings()
    };
    let keep = |mib, settings: &Settings| Memory::keep(&need(vec![vm(mib)], settings), &with_pages);
    // 2,500 pages of 2 MiB are neither given out nor promised.
    assert_eq!(keep(4_936, &reserving), Verdict::Keep);
    assert_eq!(
        keep(4_937, &reserving),
        Verdict::Remove(Reason::TooLittleToPromise)
    );
    assert_eq!(keep(9_936, &settings()), Verdict::Keep);
}

#[test]
fn what_a_vm_may_come_to_take_is_promised_but_not_needed_at_once() {
    let settings = Settings {
        overhead_per_vcpu: Bytes::mib(8),
        overhead_per_io_thread: Bytes::mib(8),
        ..settings()
    };
    let big = Vm {
        vcpus: 4,
        video: Some(Bytes::mib(16)),
        io_threads: Some(2),
        ..vm(9_872)
    };
    // 9,872 + 64 + 16 + 4 * 8 + 2 * 8 = 10,000.
    let need = need(vec![big], &settings);
    assert_eq!(Memory::keep(&need, &host()), Verdict::Keep);
    let smaller = Host {
        total: Bytes::mib(9_999),
        ..host()
    };
    assert_eq!(
        Memory::keep(&need, &smaller),
        Verdict::Remove(Reason::TooLittleToPromise)
    );
}

#[test]
fn the_cost_is_minus_what_is_left_to_promise() {
    let need = need(vec![vm(936)], &settings());
    assert_eq!(Memory::cost(&need, &host()), -(Bytes::mib(9_000).0 as f64));
    let own = Host {
        current: held(936),
        ..host()
    };
    assert_eq!(Memory::cost(&need, &own), -(Bytes::mib(10_000).0 as f64));
}

#[test]
fn costs_are_total() {
    let whole = (1 << 53) - 1;
    let absurd = Host {
        total: Bytes(whole),
        overcommit: f64::MAX,
        committed: Bytes(-whole),
        pending: Bytes(whole),
        vms: whole,
        vms_pending: whole,
        reserved: Bytes(whole),
        ..host()
    };
    let need = need(vec![vm(1 << 33)], &settings());
    assert!(Memory::cost(&need, &absurd).is_finite());
}

/// Hosts of which some amounts are ordinary and others as absurd as the contract allows.
fn hosts_of_all_kinds() -> impl Iterator<Item = Host> {
    const GIB: i64 = 1 << 30;
    const MOST: i64 = (1 << 53) - 1;
    const AMOUNTS: [i64; 8] = [0, 1, 3 * GIB, 5 * GIB + 7, 9 * GIB, -GIB, MOST, -MOST];
    const SHARES: [f64; 4] = [1.0, 1.5, 0.0, 9e15];
    // Drawn by a generator of Lehmer's, so that they are the same in every run.
    let mut drawn: u64 = 1;
    let mut draw = move |kinds: usize| {
        drawn = drawn * 48_271 % 0x7fff_ffff;
        (drawn >> 8) as usize % kinds
    };
    (0..20_000).map(move |_| {
        // Mostly none of the absurd ones at the end.
        let kinds = [AMOUNTS.len() - 3, AMOUNTS.len()][draw(5) / 4];
        let mut amount = || AMOUNTS[draw(kinds)];
        let [total, reserved, committed, pending, unmeasured] = [(); 5].map(|()| Bytes(amount()));
        let [vms, vms_pending, vms_unmeasured] = [(); 3].map(|()| amount() % 1_000);
        let [free, swap_free] = [(); 2].map(|()| Some(Bytes(amount())).filter(|free| free.0 != 1));
        Host {
            total,
            free,
            reserved,
            overcommit: SHARES[draw(if kinds < AMOUNTS.len() { 2 } else { 4 })],
            committed,
            pending,
            unmeasured,
            swap_free,
            vms,
            vms_pending,
            vms_unmeasured,
            current: Rows::default(),
            pages: Rows::default(),
        }
    })
}

#[test]
fn verdict_and_cost_in_one_go_are_those_of_the_rule() {
    let strict = Settings {
        require_measured: true,
        headroom: Bytes::mib(100),
        ..settings()
    };
    let absurd = Settings {
        overhead: Bytes((1 << 53) - 1),
        ..settings()
    };
    for settings in [settings(), strict, absurd] {
        let need = need(vec![vm(1_000), vm(24)], &settings);
        let (mut together, mut verdicts) = (0, Vec::new());
        for host in hosts_of_all_kinds() {
            let Some((verdict, cost)) = keep_and_cost(&need, &host) else {
                continue;
            };
            assert_eq!(verdict, Memory::keep(&need, &host));
            assert_eq!(cost.to_bits(), Memory::cost(&need, &host).to_bits());
            together += 1;
            if !verdicts.contains(&verdict) {
                verdicts.push(verdict);
            }
        }
        // Not so where one VM is said to take more than a host ever has.
        assert_eq!(together > 10_000, settings.overhead.0 < 1 << 50);
        assert!(settings.overhead.0 > 1 << 50 || verdicts.len() >= 5);
    }
}

#[test]
fn memory_that_a_vm_gives_back_pays_for_what_it_may_come_to_take() {
    let settings = Settings {
        overhead_per_vcpu: Bytes::mib(8),
        ..settings()
    };
    // Nothing is left to promise.
    let full = Host {
        committed: Bytes::mib(9_936),
        vms: 1,
        free: None,
        current: held(2_000),
        ..host()
    };
    let keep = |mib, vcpus| {
        let changed = Vm { vcpus, ..vm(mib) };
        Memory::keep(&need(vec![changed], &settings), &full)
    };
    assert_eq!(keep(2_000, 1), Verdict::Keep);
    assert_eq!(keep(1_984, 3), Verdict::Keep);
    assert_ne!(keep(1_985, 3), Verdict::Keep);
    assert_ne!(keep(2_000, 2), Verdict::Keep);
}

#[test]
fn vms_that_free_memory_does_not_show_take_their_overhead_as_pending_ones_do() {
    // Of 1,000 MiB two VMs of 300 MiB have come to run since.
    let unmeasured = Host {
        free: Some(Bytes::mib(400)),
        unmeasured: Bytes::mib(600),
        vms_unmeasured: 2,
        committed: Bytes::mib(600),
        vms: 2,
        ..host()
    };
    let pending = Host {
        free: Some(Bytes::mib(1_000)),
        pending: Bytes::mib(600),
        vms_pending: 2,
        ..host()
    };
    for (mib, keeps) in [(208, true), (209, false)] {
        for host in [&unmeasured, &pending] {
            assert_eq!(verdict(mib, host) == Verdict::Keep, keeps, "{mib}");
        }
    }
}
