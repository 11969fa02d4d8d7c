use super::*;
use numa_fit::nodes::PinnedTo;

/// MiB, and the host's nodes that it is pinned to.
pub fn node(mib: i64, pinned: &[i64]) -> VmNode {
    VmNode {
        index: 0,
        memory: Bytes::mib(mib),
        mode: Some("strict".into()),
        host_nodes: pinned.iter().map(|&index| PinnedTo { index }).collect(),
    }
}

pub fn vm(nodes: Vec<VmNode>) -> Vm {
    Vm {
        pinning: None,
        vcpus: 2,
        exclusive: false,
        nodes: nodes.into(),
        pages: Rows::default(),
    }
}

/// So many nodes with 1 GiB free in each.
pub fn host(nodes: i64) -> Host {
    let node = |index| NodeOfHost {
        index,
        total: Bytes::gib(4),
        free: Some(Bytes::gib(1)),
        promised: Bytes(0),
        pending: Bytes(0),
        ..NodeOfHost::default()
    };
    Host {
        nodes: (0..nodes).map(node).collect(),
        pages: Rows::default(),
        promised_pages: Rows::default(),
        current: Rows::default(),
    }
}

fn keep(vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
    let request = Request { vms: vms.into() };
    let need = Numa::prepare(&request, &()).expect("nothing is refused");
    Numa::keep(&need, host)
}

const NO_NODES: Verdict<Reason> = Verdict::Remove(Reason::NoNodes);
const TOO_LITTLE: Verdict<Reason> = Verdict::Remove(Reason::TooLittleMemory);

#[test]
fn vms_without_pinned_nodes_run_anywhere() {
    assert_eq!(keep(vec![vm(vec![])], &host(0)), Verdict::Keep);
    let unpinned = vm(vec![node(9_000, &[])]);
    assert_eq!(keep(vec![unpinned], &host(0)), Verdict::Keep);
}

#[test]
fn a_pinned_node_needs_the_hosts_node_and_memory_there() {
    let pinned = |mib| vec![vm(vec![node(mib, &[1])])];
    assert_eq!(keep(pinned(1_024), &host(2)), Verdict::Keep);
    assert_eq!(keep(pinned(1_025), &host(2)), TOO_LITTLE);
    assert_eq!(keep(pinned(1), &host(1)), TOO_LITTLE);
    assert_eq!(keep(pinned(1), &host(0)), NO_NODES);
}

#[test]
fn nodes_without_a_pin_beside_pinned_ones_take_nothing() {
    let mixed = vm(vec![node(1_024, &[0]), node(9_000, &[])]);
    assert_eq!(keep(vec![mixed], &host(1)), Verdict::Keep);
}

#[test]
fn all_nodes_of_all_vms_must_fit_at_the_same_time() {
    let small = |count| vm((0..count).map(|_| node(256, &[0, 1])).collect());
    assert_eq!(keep(vec![small(4), small(4)], &host(2)), Verdict::Keep);
    assert_eq!(keep(vec![small(4), small(5)], &host(2)), TOO_LITTLE);
}

#[test]
fn a_vm_that_only_prefers_its_nodes_needs_no_memory_there() {
    let preferring = || {
        let preferred = VmNode {
            mode: Some("preferred".into()),
            ..node(9_000, &[7])
        };
        vec![vm(vec![node(1, &[0]), preferred])]
    };
    assert_eq!(keep(preferring(), &host(1)), Verdict::Keep);
    assert_eq!(keep(preferring(), &host(0)), NO_NODES);
}

#[test]
fn a_vm_that_runs_on_the_host_needs_nothing_there() {
    let own = |nodes| Host {
        current: held(9_000),
        ..host(nodes)
    };
    let pinned = |mib| vm(vec![node(mib, &[0])]);
    assert_eq!(keep(vec![pinned(9_000)], &own(0)), Verdict::Keep);
    let two = || vec![pinned(9_000), pinned(1_024)];
    assert_eq!(keep(two(), &own(1)), Verdict::Keep);
    assert_eq!(keep(two(), &host(1)), TOO_LITTLE);
    let grown = Host {
        current: held(512),
        ..host(1)
    };
    assert_eq!(keep(vec![pinned(1_536)], &grown), Verdict::Keep);
    assert_eq!(keep(vec![pinned(1_537)], &grown), TOO_LITTLE);
}

#[test]
fn a_vm_that_only_prefers_its_nodes_or_has_pages_there_holds_none_of_their_memory() {
    let preferred = VmNode {
        mode: Some("preferred".into()),
        ..node(2_000, &[0])
    };
    let with = |nodes: Vec<VmNode>, pages: Vec<VmPages>| Host {
        current: vec![Current {
            pages: pages.into(),
            member: 0,
            holds: true,
            vcpus: 2,
            exclusive: false,
            nodes: nodes.into(),
        }]
        .into(),
        ..host(1)
    };
    let strict = || vec![vm(vec![node(2_000, &[0])])];
    assert_eq!(keep(strict(), &with(vec![preferred], vec![])), TOO_LITTLE);
    let held = || vec![node(2_000, &[0])];
    assert_eq!(keep(strict(), &with(held(), vec![])), Verdict::Keep);
    let pages = || VmPages {
        size: Bytes::mib(2),
        count: 1_000,
    };
    assert_eq!(keep(strict(), &with(held(), vec![pages()])), TOO_LITTLE);
    let paged = Vm {
        pages: vec![pages()].into(),
        ..vm(held())
    };
    assert_eq!(
        keep(vec![paged], &with(held(), vec![pages()])),
        Verdict::Keep
    );
}

/// The first member, of which a node of so many MiB is on node 0 of the host.
fn held(mib: i64) -> Rows<Current> {
    let row = Current {
        pages: Rows::default(),
        member: 0,
        holds: true,
        vcpus: 2,
        exclusive: false,
        nodes: vec![node(mib, &[0])].into(),
    };
    vec![row].into()
}

#[test]
fn what_is_promised_of_a_node_is_not_free() {
    let pinned = |mib| vec![vm(vec![node(mib, &[0])])];
    let with = |free: Option<Bytes>, promised, pending| {
        let node = NodeOfHost {
            index: 0,
            total: Bytes::gib(4),
            free,
            promised: Bytes::mib(promised),
            pending: Bytes::mib(pending),
            ..NodeOfHost::default()
        };
        Host {
            nodes: vec![node].into(),
            ..host(0)
        }
    };
    // Of what is measured, pending VMs have nothing yet.
    let measured = with(Some(Bytes::gib(2)), 1_024, 512);
    assert_eq!(keep(pinned(1_536), &measured), Verdict::Keep);
    assert_eq!(keep(pinned(1_537), &measured), TOO_LITTLE);
    let unmeasured = with(None, 3_000, 96);
    assert_eq!(keep(pinned(1_000), &unmeasured), Verdict::Keep);
    assert_eq!(keep(pinned(1_001), &unmeasured), TOO_LITTLE);
    let promised = with(Some(Bytes::gib(4)), 3_000, 96);
    assert_eq!(keep(pinned(1_001), &promised), TOO_LITTLE);
}

#[test]
fn a_vm_that_is_resized_needs_a_host_with_nodes() {
    let resized = || Vm {
        pinning: Some("resize-and-pin".into()),
        ..vm(vec![])
    };
    assert_eq!(keep(vec![resized()], &host(2)), Verdict::Keep);
    assert_eq!(keep(vec![resized()], &host(0)), NO_NODES);
}

#[test]
fn huge_pages_must_be_free_on_the_node_itself() {
    let paged = |mib, count| Vm {
        pages: vec![VmPages {
            size: Bytes::mib(2),
            count,
        }]
        .into(),
        ..vm(vec![node(mib, &[0])])
    };
    let with = |free, promised| {
        let promised = PromisedPages {
            node: 0,
            size: Bytes::mib(2),
            pending: promised,
        };
        Host {
            pages: vec![PagesOfNode {
                node: Some(0),
                size: Some(Bytes::mib(2)),
                free: Some(free),
            }]
            .into(),
            promised_pages: vec![promised].into(),
            ..host(1)
        }
    };
    let whole = || vec![paged(512, 256)];
    assert_eq!(keep(whole(), &with(256, 0)), Verdict::Keep);
    assert_eq!(keep(whole(), &with(255, 0)), TOO_LITTLE);
    assert_eq!(keep(whole(), &with(300, 44)), Verdict::Keep);
    assert_eq!(keep(whole(), &with(300, 45)), TOO_LITTLE);
    assert_eq!(keep(whole(), &host(1)), TOO_LITTLE);
    // What is not in pages is ordinary memory.
    assert_eq!(keep(vec![paged(1_026, 1)], &with(1, 0)), Verdict::Keep);
    assert_eq!(keep(vec![paged(1_027, 1)], &with(1, 0)), TOO_LITTLE);
}

#[test]
fn a_node_of_unknown_free_memory_counts_as_empty() {
    let unmeasured = NodeOfHost {
        index: 0,
        total: Bytes::gib(4),
        free: None,
        promised: Bytes(0),
        pending: Bytes(0),
        ..NodeOfHost::default()
    };
    let host = Host {
        nodes: vec![unmeasured].into(),
        ..host(0)
    };
    assert_eq!(
        keep(vec![vm(vec![node(4_096, &[0])])], &host),
        Verdict::Keep
    );
    assert_eq!(keep(vec![vm(vec![node(4_097, &[0])])], &host), TOO_LITTLE);
}

#[test]
fn cpus_of_a_node_that_vms_have_for_themselves_are_not_given_to_others() {
    let own = |vcpus| Vm {
        vcpus,
        exclusive: true,
        ..vm(vec![node(1, &[0])])
    };
    let with = |promised, pending, current| Host {
        nodes: vec![NodeOfHost {
            total: Bytes::gib(4),
            cpus: Some(4),
            cpus_promised: promised,
            cpus_pending: pending,
            ..NodeOfHost::default()
        }]
        .into(),
        current,
        ..host(0)
    };
    const TOO_FEW: Verdict<Reason> = Verdict::Remove(Reason::TooFewCpus);
    assert_eq!(
        keep(vec![own(4)], &with(0, 0, Rows::default())),
        Verdict::Keep
    );
    assert_eq!(keep(vec![own(3)], &with(1, 1, Rows::default())), TOO_FEW);
    assert_eq!(
        keep(vec![own(2), own(2)], &with(0, 1, Rows::default())),
        TOO_FEW
    );
    let shared = || vec![vm(vec![node(1, &[0])])];
    assert_eq!(keep(shared(), &with(2, 1, Rows::default())), Verdict::Keep);
    assert_eq!(keep(shared(), &with(2, 2, Rows::default())), TOO_FEW);
    // Who runs there has its CPUs, and needs what it asks for beyond them.
    let held = || {
        let row = held(1).get(0).expect("there is one");
        let row = Current {
            pages: Rows::default(),
            exclusive: true,
            ..row
        };
        Rows::from(vec![row])
    };
    assert_eq!(keep(vec![own(2)], &with(4, 4, held())), Verdict::Keep);
    assert_eq!(keep(vec![own(3)], &with(2, 1, held())), Verdict::Keep);
    assert_eq!(keep(vec![own(4)], &with(2, 1, held())), TOO_FEW);
}

#[test]
fn a_cpu_of_a_node_is_left_to_the_vms_that_share_its_cpus() {
    let own = |vcpus| Vm {
        vcpus,
        exclusive: true,
        ..vm(vec![node(1, &[0])])
    };
    let shared = || vm(vec![node(1, &[0])]);
    let with = |sharers, promised, current| Host {
        nodes: vec![NodeOfHost {
            total: Bytes::gib(4),
            cpus: Some(4),
            cpus_promised: promised,
            sharers,
            ..NodeOfHost::default()
        }]
        .into(),
        current,
        ..host(0)
    };
    const TOO_FEW: Verdict<Reason> = Verdict::Remove(Reason::TooFewCpus);
    let nobody = Rows::default;
    assert_eq!(keep(vec![own(3)], &with(1, 0, nobody())), Verdict::Keep);
    assert_eq!(keep(vec![own(4)], &with(1, 0, nobody())), TOO_FEW);
    assert_eq!(keep(vec![own(1)], &with(1, 3, nobody())), TOO_FEW);
    // Whoever comes first, the two do not go together.
    assert_eq!(keep(vec![shared(), own(4)], &with(0, 0, nobody())), TOO_FEW);
    assert_eq!(keep(vec![own(4), shared()], &with(0, 0, nobody())), TOO_FEW);
    let held = || {
        let row = held(1).get(0).expect("there is one");
        let row = Current {
            pages: Rows::default(),
            exclusive: false,
            ..row
        };
        Rows::from(vec![row])
    };
    // Who shares them alone may have all; who shares them already needs none more.
    assert_eq!(keep(vec![own(4)], &with(1, 0, held())), Verdict::Keep);
    assert_eq!(keep(vec![own(4)], &with(2, 0, held())), TOO_FEW);
    let grown = || vec![vm(vec![node(2, &[0])])];
    assert_eq!(keep(grown(), &with(1, 4, held())), Verdict::Keep);
    assert_eq!(keep(grown(), &with(0, 4, nobody())), TOO_FEW);
}

#[test]
fn a_vm_that_comes_to_prefer_nodes_needs_some_on_its_own_host_too() {
    let preferred = || VmNode {
        mode: Some("preferred".into()),
        ..node(1, &[0])
    };
    let own = |nodes: Vec<VmNode>| Host {
        current: vec![Current {
            pages: Rows::default(),
            member: 0,
            holds: true,
            vcpus: 2,
            exclusive: false,
            nodes: nodes.into(),
        }]
        .into(),
        ..host(0)
    };
    let again = || vec![vm(vec![preferred()])];
    assert_eq!(keep(again(), &own(vec![])), NO_NODES);
    assert_eq!(
        keep(again(), &own(vec![preferred()])),
        Verdict::Keep,
        "as it is"
    );
}
