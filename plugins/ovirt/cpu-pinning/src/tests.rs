use super::request::Pin;
use super::*;
use numa_fit::nodes::PinnedTo;
use numa_fit::topology::PinOnHost;

pub fn vm(pinning: &str) -> Vm {
    Vm {
        is_pinned: true,
        pinning: Some(pinning.into()),
        sockets: 1,
        cores: 2,
        threads: 1,
        exclusive: matches!(pinning, "dedicated" | "isolate-threads"),
        pins: Rows::default(),
        nodes: Rows::default(),
    }
}

fn pinned_to(cpus: &[i64]) -> Vm {
    Vm {
        pins: cpus.iter().map(|&cpu| Pin { cpu }).collect(),
        ..vm("manual")
    }
}

/// One socket; two threads in each core, those of these numbers online.
pub fn host(online: &[i64]) -> Host {
    let cpu = |&cpu: &i64| CpuOfHost {
        cpu,
        socket: Some(0),
        core: Some(cpu / 2),
        numa: Some(0),
        online: Some(true),
        exclusive: None,
    };
    Host {
        cpus: online.iter().map(cpu).collect(),
        nodes: Rows::default(),
        vms: Rows::default(),
        current: Rows::default(),
    }
}

/// With a VM on the host that is pinned to these.
pub fn beside(exclusive: bool, cpus: &[i64], host: Host) -> Host {
    let vm = VmOnHost {
        exclusive,
        pins: cpus.iter().map(|&cpu| PinOnHost { cpu }).collect(),
    };
    Host {
        vms: vec![vm].into(),
        ..host
    }
}

fn keep(vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
    let request = Request { vms: vms.into() };
    let pinned = CpuPinning::prepare(&request, &()).expect("nothing is refused");
    CpuPinning::keep(&pinned, host)
}

/// Of which only the CPUs are given.
fn with_pins(cpus: &[i64]) -> Vm {
    Vm {
        pinning: None,
        ..pinned_to(cpus)
    }
}

#[test]
fn cpus_that_are_named_count_without_a_word_on_how_the_vm_is_pinned() {
    assert_eq!(
        keep(vec![with_pins(&[1, 3])], &host(&[1, 3])),
        Verdict::Keep
    );
    assert_eq!(keep(vec![with_pins(&[1, 3])], &host(&[1, 2])), MISSING);
}

const MISSING: Verdict<Reason> = Verdict::Remove(Reason::PinnedCpuMissing);
const TOO_FEW: Verdict<Reason> = Verdict::Remove(Reason::TooFewToSpare);

#[test]
fn vms_that_are_not_pinned_run_anywhere() {
    let unpinned = Vm {
        pinning: None,
        ..vm("")
    };
    assert_eq!(keep(vec![unpinned], &host(&[])), Verdict::Keep);
}

#[test]
fn cpus_that_a_vm_is_pinned_to_must_be_online() {
    assert_eq!(
        keep(vec![pinned_to(&[0, 3])], &host(&[0, 1, 3])),
        Verdict::Keep
    );
    assert_eq!(keep(vec![pinned_to(&[0, 2])], &host(&[0, 1, 3])), MISSING);
    assert_eq!(keep(vec![pinned_to(&[0])], &host(&[])), MISSING);
}

#[test]
fn they_may_be_shared_with_vms_that_are_pinned_there_too_but_with_no_owner() {
    let online = [0, 1, 2, 3];
    let shared = beside(false, &[0], host(&online));
    assert_eq!(keep(vec![pinned_to(&[0])], &shared), Verdict::Keep);
    let owned = beside(true, &[0], host(&online));
    assert_eq!(keep(vec![pinned_to(&[0])], &owned), MISSING);
    assert_eq!(keep(vec![pinned_to(&[1])], &owned), Verdict::Keep);
}

#[test]
fn a_vm_with_cpus_for_itself_needs_some_to_which_nobody_is_pinned() {
    let online = [0, 1, 2, 3];
    assert_eq!(keep(vec![vm("dedicated")], &host(&online)), Verdict::Keep);
    let two_left = beside(false, &[0, 2], host(&online));
    assert_eq!(keep(vec![vm("dedicated")], &two_left), Verdict::Keep);
    assert_eq!(keep(vec![vm("isolate-threads")], &two_left), TOO_FEW);
    let one_left = beside(true, &[0, 2, 3], host(&online));
    assert_eq!(keep(vec![vm("dedicated")], &one_left), TOO_FEW);
}

#[test]
fn all_vms_of_a_request_get_theirs_and_named_cpus_are_left_out() {
    let online = [0, 1, 2, 3];
    let two = || vec![vm("dedicated"), vm("dedicated")];
    assert_eq!(keep(two(), &host(&online)), Verdict::Keep);
    assert_eq!(keep(two(), &host(&online[1..])), TOO_FEW);
    let beside_named = |cpus: &[i64]| vec![vm("dedicated"), pinned_to(cpus)];
    assert_eq!(keep(beside_named(&[0, 2]), &host(&online)), Verdict::Keep);
    assert_eq!(keep(beside_named(&[0, 1, 2]), &host(&online)), TOO_FEW);
}

#[test]
fn without_known_cpus_none_can_be_had_alone() {
    assert_eq!(
        keep(vec![vm("dedicated")], &host(&[])),
        Verdict::Remove(Reason::UnknownCpus)
    );
}

#[test]
fn a_resized_vm_stands_beside_no_vm_with_cpus_for_itself() {
    let online = [0, 1, 2, 3];
    let resized = || vec![vm("resize-and-pin")];
    let not = Verdict::Remove(Reason::ResizedBesideExclusive);
    assert_eq!(keep(resized(), &host(&online)), Verdict::Keep);
    assert_eq!(keep(resized(), &beside(true, &[3], host(&online))), not);
    let both = vec![vm("resize-and-pin"), vm("dedicated")];
    assert_eq!(keep(both, &host(&online)), not);
}

#[test]
fn a_vm_that_runs_on_the_host_has_its_cpus() {
    let own = Host {
        current: vec![Current {
            member: 0,
            holds: true,
            sockets: 1,
            cores: 2,
            threads: 1,
            vcpus: 2,
            exclusive: true,
            pinning: Some("dedicated".into()),
            pins: Rows::default(),
            nodes: Rows::default(),
        }]
        .into(),
        ..beside(true, &[0, 1], host(&[0, 1, 2, 3]))
    };
    assert_eq!(keep(vec![vm("dedicated")], &own), Verdict::Keep);
    assert_eq!(
        keep(vec![vm("dedicated"), vm("dedicated")], &own),
        Verdict::Keep
    );
    let three = vec![vm("dedicated"), vm("dedicated"), vm("dedicated")];
    assert_eq!(keep(three, &own), TOO_FEW);
}

#[test]
fn cpus_that_an_exclusive_vm_names_are_nobody_elses() {
    let online = [0, 1, 2, 3];
    let own = |cpus: &[i64]| Vm {
        exclusive: true,
        ..pinned_to(cpus)
    };
    let shared = Verdict::Remove(Reason::PinnedCpuShared);
    let beside_one = beside(false, &[1], host(&online));
    assert_eq!(keep(vec![own(&[0, 2])], &beside_one), Verdict::Keep);
    assert_eq!(keep(vec![own(&[0, 1])], &beside_one), shared);
    assert_eq!(
        keep(vec![own(&[0])], &beside(true, &[0], host(&online))),
        MISSING
    );
    assert_eq!(
        keep(vec![own(&[0]), pinned_to(&[0])], &host(&online)),
        MISSING
    );
    assert_eq!(
        keep(vec![pinned_to(&[0]), own(&[0])], &host(&online)),
        shared
    );
}

#[test]
fn a_vm_that_grows_keeps_the_cpus_that_it_holds() {
    let held = |cpus: &[i64]| Current {
        member: 0,
        holds: true,
        sockets: 1,
        cores: 2,
        threads: 1,
        vcpus: 2,
        exclusive: true,
        pinning: Some("dedicated".into()),
        pins: cpus.iter().map(|&cpu| Pin { cpu }).collect(),
        nodes: Rows::default(),
    };
    let with = |online: &[i64]| Host {
        current: vec![held(&[0, 1])].into(),
        ..beside(true, &[0, 1], host(online))
    };
    let grown = Vm {
        cores: 4,
        ..vm("dedicated")
    };
    let again = || {
        vec![Vm {
            cores: 4,
            ..vm("dedicated")
        }]
    };
    assert_eq!(keep(vec![grown], &with(&[0, 1, 2, 3])), Verdict::Keep);
    assert_eq!(keep(again(), &with(&[0, 1, 2])), TOO_FEW);
    // As if it had no place: it holds nothing, and no VM of the host has these.
    let from_nothing = Host {
        current: vec![Current {
            holds: false,
            ..held(&[])
        }]
        .into(),
        ..host(&[0, 1, 2, 3])
    };
    assert_eq!(keep(again(), &from_nothing), Verdict::Keep);
    assert_eq!(keep(again(), &beside(true, &[0], from_nothing)), TOO_FEW);
}

#[test]
fn a_vm_that_asks_for_its_cpus_otherwise_does_not_have_them() {
    let own = |exclusive: bool, pinning: &str, host: Host| Host {
        current: vec![Current {
            member: 0,
            holds: true,
            sockets: 1,
            cores: 2,
            threads: 1,
            vcpus: 2,
            exclusive,
            pinning: Some(pinning.into()),
            pins: [0, 1].into_iter().map(|cpu| Pin { cpu }).collect(),
            nodes: Rows::default(),
        }]
        .into(),
        ..host
    };
    let for_itself = || Vm {
        exclusive: true,
        ..pinned_to(&[0, 1])
    };
    let shared = |others: &[i64]| own(false, "manual", beside(false, others, host(&[0, 1, 2])));
    assert_eq!(keep(vec![pinned_to(&[0, 1])], &shared(&[0])), Verdict::Keep);
    let not_own = Verdict::Remove(Reason::PinnedCpuShared);
    assert_eq!(keep(vec![for_itself()], &shared(&[0, 1, 0])), not_own);
    assert_eq!(keep(vec![for_itself()], &shared(&[0, 1])), Verdict::Keep);
    let dedicated = |online: &[i64]| own(true, "dedicated", beside(true, &[0, 1], host(online)));
    let isolated = || vec![vm("isolate-threads")];
    assert_eq!(keep(isolated(), &dedicated(&[0, 1, 2, 3])), Verdict::Keep);
    assert_eq!(keep(isolated(), &dedicated(&[0, 1])), TOO_FEW);
}

#[test]
fn a_vm_keeps_its_cpus_only_where_they_suit_its_cores_sockets_and_nodes_by_now() {
    let nodes = |host_node: i64| -> Rows<VmNode> {
        let node = VmNode {
            index: 0,
            memory: Bytes::gib(1),
            mode: Some("strict".into()),
            host_nodes: vec![PinnedTo { index: host_node }].into(),
        };
        vec![node].into()
    };
    // CPUs 0 to 3 are those of node 0, with two threads in each core.
    let of_two_nodes = |cpu: CpuOfHost| CpuOfHost {
        numa: Some(cpu.cpu / 4),
        ..cpu
    };
    let cpus = host(&[0, 1, 2, 3, 4, 5, 6, 7]).cpus;
    let had = |host_node: i64, cpus_had: &[i64]| Host {
        cpus: cpus.iter().map(of_two_nodes).collect(),
        current: vec![Current {
            member: 0,
            holds: true,
            sockets: 1,
            cores: 2,
            threads: 1,
            vcpus: 2,
            exclusive: true,
            pinning: Some("dedicated".into()),
            pins: cpus_had.iter().map(|&cpu| Pin { cpu }).collect(),
            nodes: nodes(host_node),
        }]
        .into(),
        ..beside(true, cpus_had, host(&[]))
    };
    let wanted = |cores: i64, threads: i64, host_node: i64| {
        request::asked(
            &vec![Vm {
                cores,
                threads,
                nodes: nodes(host_node),
                ..vm("dedicated")
            }]
            .into(),
        )
    };
    let given = |asked: &Asked, host: &Host| {
        let allotted = host.pin(asked).expect("there are enough");
        let cpus = allotted.own_cpus().map(|own| own.thread.cpu);
        cpus.collect::<Vec<_>>()
    };
    let as_it_is = given(&wanted(2, 1, 0), &had(0, &[0, 2]));
    assert_eq!(as_it_is, [0_i64; 0], "it has them already");
    assert_eq!(given(&wanted(2, 1, 1), &had(0, &[0, 2])), [4, 5]);
    let of_one_core = given(&wanted(1, 2, 0), &had(0, &[0, 2]));
    assert_eq!(of_one_core[0] / 2, of_one_core[1] / 2, "{of_one_core:?}");
}

/// Two nodes of four threads each, in cores of two; so many virtual nodes that share CPUs on each.
fn nodes_shared_by(sharers: [i64; 2]) -> Host {
    let cpu = |cpu: i64| CpuOfHost {
        cpu,
        socket: Some(0),
        core: Some(cpu / 2),
        numa: Some(cpu / 4),
        online: Some(true),
        exclusive: None,
    };
    let node = |(index, sharers): (i64, i64)| NodeOfHost {
        index,
        total: Bytes::gib(1),
        sharers,
        ..NodeOfHost::default()
    };
    Host {
        cpus: (0..8).map(cpu).collect(),
        nodes: (0..).zip(sharers).map(node).collect(),
        ..host(&[])
    }
}

#[test]
fn a_cpu_of_each_node_is_left_to_vms_that_share_its_cpus() {
    let own = |cores| Vm {
        cores,
        ..vm("dedicated")
    };
    assert_eq!(keep(vec![own(8)], &nodes_shared_by([0, 0])), Verdict::Keep);
    assert_eq!(keep(vec![own(7)], &nodes_shared_by([2, 0])), Verdict::Keep);
    assert_eq!(keep(vec![own(8)], &nodes_shared_by([2, 0])), TOO_FEW);
    assert_eq!(keep(vec![own(7)], &nodes_shared_by([1, 1])), TOO_FEW);
    let isolated = |cores| Vm {
        cores,
        ..vm("isolate-threads")
    };
    let both = nodes_shared_by([1, 1]);
    assert_eq!(keep(vec![isolated(2)], &both), Verdict::Keep);
    assert_eq!(keep(vec![isolated(3)], &both), TOO_FEW);
}

#[test]
fn a_vm_pinned_to_cpus_by_name_for_itself_leaves_one_to_those_that_share_them() {
    let own = |cpus: &[i64]| Vm {
        exclusive: true,
        ..pinned_to(cpus)
    };
    let shared = Verdict::Remove(Reason::PinnedCpuShared);
    let host = || nodes_shared_by([1, 0]);
    assert_eq!(keep(vec![own(&[0, 1, 2])], &host()), Verdict::Keep);
    assert_eq!(keep(vec![own(&[0, 1, 2, 3])], &host()), shared);
    assert_eq!(keep(vec![own(&[4, 5, 6, 7])], &host()), Verdict::Keep);
    // Where none is left by now, nobody else is to blame for it.
    let taken = || beside(true, &[0, 1, 2, 3], host());
    assert_eq!(keep(vec![own(&[4])], &taken()), Verdict::Keep);
}

#[test]
fn a_vm_that_shares_the_cpus_of_its_node_alone_may_have_all_of_them() {
    let nodes = || {
        let to = vec![numa_fit::nodes::PinnedTo { index: 0 }];
        Rows::from(vec![VmNode {
            index: 0,
            memory: Bytes(1),
            mode: None,
            host_nodes: to.into(),
        }])
    };
    let current = || Current {
        member: 0,
        holds: true,
        sockets: 1,
        cores: 4,
        threads: 1,
        vcpus: 4,
        exclusive: false,
        pinning: None,
        pins: Rows::default(),
        nodes: nodes(),
    };
    let own = || Vm {
        cores: 4,
        nodes: nodes(),
        ..vm("dedicated")
    };
    let on = |sharers| Host {
        current: vec![current()].into(),
        ..nodes_shared_by([sharers, 0])
    };
    assert_eq!(keep(vec![own()], &on(1)), Verdict::Keep);
    assert_eq!(keep(vec![own()], &on(2)), TOO_FEW);
}

/// A VM of one virtual node that is pinned to this node of the host, and to no CPUs.
fn divided(exclusive: bool, cores: i64, node: i64) -> Vm {
    let node = VmNode {
        index: 0,
        memory: Bytes(1),
        mode: None,
        host_nodes: vec![numa_fit::nodes::PinnedTo { index: node }].into(),
    };
    Vm {
        is_pinned: false,
        pinning: None,
        cores,
        exclusive,
        nodes: vec![node].into(),
        ..vm("")
    }
}

fn dedicated(cores: i64) -> Vm {
    Vm {
        cores,
        ..vm("dedicated")
    }
}

#[test]
fn cpus_of_a_node_that_are_promised_without_numbers_are_given_to_nobody_else() {
    let promised = |cpus_promised, cpus_pending| Host {
        nodes: vec![NodeOfHost {
            index: 1,
            total: Bytes::gib(1),
            cpus_promised,
            cpus_pending,
            ..NodeOfHost::default()
        }]
        .into(),
        ..nodes_shared_by([0, 0])
    };
    for (running, pending) in [(3, 0), (0, 3), (1, 2)] {
        let host = promised(running, pending);
        assert_eq!(keep(vec![dedicated(5)], &host), Verdict::Keep);
        assert_eq!(keep(vec![dedicated(6)], &host), TOO_FEW);
        let own = |cpus: &[i64]| Vm {
            exclusive: true,
            ..pinned_to(cpus)
        };
        assert_eq!(keep(vec![own(&[0, 4])], &host), Verdict::Keep);
        let shared = Verdict::Remove(Reason::PinnedCpuShared);
        assert_eq!(keep(vec![own(&[4, 5])], &host), shared);
    }
    // Those whose numbers are known are counted once.
    let numbered = beside(true, &[4, 5, 6], promised(3, 0));
    assert_eq!(keep(vec![dedicated(5)], &numbered), Verdict::Keep);
    assert_eq!(keep(vec![dedicated(6)], &numbered), TOO_FEW);
}

#[test]
fn vms_placed_together_leave_each_other_their_cpus_of_a_node() {
    let host = nodes_shared_by([0, 0]);
    let beside_owner = |cores| vec![divided(true, 3, 1), dedicated(cores)];
    assert_eq!(keep(beside_owner(5), &host), Verdict::Keep);
    assert_eq!(keep(beside_owner(6), &host), TOO_FEW);
    let beside_sharer = |cores| vec![dedicated(cores), divided(false, 4, 0)];
    assert_eq!(keep(beside_sharer(7), &host), Verdict::Keep);
    assert_eq!(keep(beside_sharer(8), &host), TOO_FEW);
}
