use super::*;

fn vm(cores: i64) -> Vm {
    Vm {
        sockets: 1,
        cores,
        vcpus: cores,
        exclusive: false,
        cpu: Millicores::cores(cores),
    }
}

fn exclusive(cores: i64) -> Vm {
    Vm {
        exclusive: true,
        ..vm(cores)
    }
}

fn host(cores: i64) -> Host {
    Host {
        sockets: Some(1),
        cores: Some(cores),
        threads: Some(2 * cores),
        total: Millicores::cores(cores),
        overcommit: None,
        committed: Millicores(0),
        pending: Millicores(0),
        exclusive: 0,
        widest: 0,
        current: Rows::default(),
    }
}

/// The first member, which runs on the host as this VM.
fn held(vm: &Vm) -> Rows<Current> {
    let row = Current {
        member: 0,
        sockets: vm.sockets,
        cores: vm.cores,
        vcpus: vm.vcpus,
        exclusive: vm.exclusive,
        cpu: vm.cpu,
        others_widest: 0,
    };
    vec![row].into()
}

#[test]
fn a_vm_that_stays_as_it_is_stays_and_one_that_grows_needs_the_growth() {
    let crowded = Host {
        committed: Millicores::cores(6),
        exclusive: 4,
        widest: 4,
        overcommit: Some(1.0),
        current: held(&vm(2)),
        ..host(4)
    };
    assert_eq!(verdict(vec![vm(2)], &crowded), Verdict::Keep);
    assert_eq!(verdict(vec![vm(1)], &crowded), Verdict::Keep);
    assert_eq!(verdict(vec![vm(3)], &crowded), TOO_FEW);
    let half = Host {
        committed: Millicores::cores(2),
        exclusive: 0,
        widest: 2,
        ..crowded
    };
    assert_eq!(verdict(vec![vm(4)], &half), Verdict::Keep);
    let too_little = Verdict::Remove(Reason::TooLittleToPromise);
    let filled = Host {
        committed: Millicores::cores(3),
        ..half
    };
    assert_eq!(verdict(vec![vm(4)], &filled), too_little);
}

fn settings() -> Settings {
    Settings::defaults().expect("all have defaults")
}

fn need(vms: Vec<Vm>, settings: &Settings) -> Need {
    Cpu::prepare(&Request { vms: vms.into() }, settings).expect("nothing is refused")
}

fn verdict(vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
    Cpu::keep(&need(vms, &settings()), host)
}

const TOO_FEW: Verdict<Reason> = Verdict::Remove(Reason::TooFewCpus);

#[test]
fn the_widest_vm_must_fit_and_any_number_of_narrower_ones_may_share() {
    let busy = Host {
        committed: Millicores::cores(400),
        widest: 4,
        ..host(4)
    };
    assert_eq!(verdict(vec![vm(4), vm(4), vm(2)], &busy), Verdict::Keep);
    assert_eq!(verdict(vec![vm(5)], &busy), TOO_FEW);
}

#[test]
fn exclusive_cpus_leave_room_for_the_widest_of_the_others() {
    let shared = Host {
        exclusive: 2,
        widest: 3,
        ..host(8)
    };
    assert_eq!(verdict(vec![exclusive(3)], &shared), Verdict::Keep);
    assert_eq!(verdict(vec![exclusive(4)], &shared), TOO_FEW);
    assert_eq!(verdict(vec![exclusive(2), vm(4)], &shared), Verdict::Keep);
    // One CPU stays shared even if no VM shares it yet.
    assert_eq!(verdict(vec![exclusive(8)], &host(8)), TOO_FEW);
}

#[test]
fn exclusive_vms_that_run_on_the_host_are_not_counted_twice() {
    let own = Host {
        exclusive: 6,
        current: held(&exclusive(6)),
        ..host(8)
    };
    assert_eq!(verdict(vec![exclusive(6)], &own), Verdict::Keep);
    assert_eq!(verdict(vec![exclusive(7)], &own), Verdict::Keep);
    assert_eq!(verdict(vec![exclusive(8)], &own), TOO_FEW);
    // What it gives back is shared by itself as well.
    assert_eq!(verdict(vec![vm(8)], &own), Verdict::Keep);
    assert_eq!(verdict(vec![vm(9)], &own), TOO_FEW);
}

#[test]
fn a_vm_that_is_to_have_cpus_of_its_own_is_not_among_those_that_share() {
    let beside = |others_widest: i64| {
        let row = held(&vm(4)).get(0).expect("there is one");
        Host {
            widest: 4,
            current: vec![Current {
                others_widest,
                ..row
            }]
            .into(),
            ..host(6)
        }
    };
    assert_eq!(verdict(vec![exclusive(4)], &beside(0)), Verdict::Keep);
    assert_eq!(verdict(vec![exclusive(4)], &beside(2)), Verdict::Keep);
    assert_eq!(verdict(vec![exclusive(4)], &beside(3)), TOO_FEW);
    // One that goes on sharing needs its own width, and so does whoever comes.
    assert_eq!(verdict(vec![exclusive(3), vm(4)], &beside(0)), TOO_FEW);
    let other = Host {
        widest: 4,
        ..host(6)
    };
    assert_eq!(verdict(vec![exclusive(3)], &other), TOO_FEW);
}

#[test]
fn threads_count_as_cores_if_that_is_set() {
    let threads = Settings {
        count_threads_as_cores: true,
        ..settings()
    };
    assert_eq!(verdict(vec![vm(4)], &host(2)), TOO_FEW);
    assert_eq!(
        Cpu::keep(&need(vec![vm(4)], &threads), &host(2)),
        Verdict::Keep
    );
}

#[test]
fn without_a_topology_the_cpu_total_counts_or_the_host_is_left_out() {
    let plain = Host {
        sockets: None,
        cores: None,
        threads: None,
        total: Millicores(4500),
        ..host(4)
    };
    assert_eq!(verdict(vec![vm(4)], &plain), Verdict::Keep);
    assert_eq!(verdict(vec![vm(5)], &plain), TOO_FEW);
    let strict = Settings {
        require_topology: true,
        ..settings()
    };
    assert_eq!(
        Cpu::keep(&need(vec![vm(1)], &strict), &plain),
        Verdict::Remove(Reason::UnknownTopology)
    );
}

#[test]
fn promises_stay_within_the_limit_that_is_set() {
    let twice = Settings {
        overcommit: Some(2.0),
        ..settings()
    };
    let keep = |host: &Host| Cpu::keep(&need(vec![vm(2)], &twice), host);
    let promised = Host {
        committed: Millicores::cores(5),
        pending: Millicores::cores(1),
        ..host(4)
    };
    assert_eq!(keep(&promised), Verdict::Keep);
    let more_pending = Host {
        pending: Millicores(1_001),
        ..promised
    };
    assert_eq!(
        keep(&more_pending),
        Verdict::Remove(Reason::TooLittleToPromiseWhilePending)
    );
    let full = Host {
        committed: Millicores(6_001),
        ..more_pending
    };
    assert_eq!(keep(&full), Verdict::Remove(Reason::TooLittleToPromise));
}

#[test]
fn a_host_that_says_how_much_it_may_promise_is_asked_before_the_policy() {
    let promised = |overcommit| Host {
        overcommit,
        committed: Millicores::cores(7),
        ..host(4)
    };
    let keep = |overcommit: Option<f64>, of_host: Option<f64>| {
        let settings = Settings {
            overcommit,
            ..settings()
        };
        Cpu::keep(&need(vec![vm(2)], &settings), &promised(of_host))
    };
    let too_little = Verdict::Remove(Reason::TooLittleToPromise);
    assert_eq!(keep(None, None), Verdict::Keep);
    assert_eq!(keep(None, Some(2.0)), too_little);
    assert_eq!(keep(Some(1.0), Some(3.0)), Verdict::Keep);
    assert_eq!(keep(Some(3.0), Some(1.0)), too_little);
    assert_eq!(keep(Some(3.0), None), Verdict::Keep);
}

#[test]
fn the_cost_is_the_share_that_will_be_promised() {
    let half = Host {
        committed: Millicores::cores(2),
        pending: Millicores::cores(1),
        ..host(8)
    };
    let need = need(vec![vm(1)], &settings());
    assert_eq!(Cpu::cost(&need, &half), 0.5);
    let own = Host {
        current: held(&vm(1)),
        ..half
    };
    assert_eq!(Cpu::cost(&need, &own), 0.375);
    let twice = Host {
        overcommit: Some(2.0),
        current: Rows::default(),
        ..own
    };
    assert_eq!(Cpu::cost(&need, &twice), 0.25);
    assert_eq!(Cpu::cost(&need, &host(0)), f64::INFINITY);
}

#[test]
fn a_vm_that_gives_back_its_cpus_shares_them_from_then_on() {
    // All CPUs but two are its own.
    let own = Host {
        exclusive: 4,
        current: held(&exclusive(4)),
        ..host(6)
    };
    assert_eq!(verdict(vec![vm(4)], &own), Verdict::Keep);
    assert_eq!(verdict(vec![vm(6)], &own), Verdict::Keep);
    assert_eq!(verdict(vec![vm(7)], &own), TOO_FEW);
    assert_eq!(verdict(vec![exclusive(2)], &own), Verdict::Keep);
    // Another VM has two of them for itself.
    let beside = Host {
        exclusive: 6,
        ..own
    };
    assert_eq!(verdict(vec![vm(4)], &beside), Verdict::Keep);
    assert_eq!(verdict(vec![vm(5)], &beside), TOO_FEW);
}
