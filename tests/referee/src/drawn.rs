//! Histories by chance: small clusters in which everything is scarce.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::history::{GroupSpec, History, Request, Rule, Stray};
use crate::needs::{HostSpec, Needs, VirtualNode};
use crate::policies::{GENERAL, POLICIES};

/// VMs that a history speaks of, at most.
const VMS: usize = 6;

/// Hosts of a cluster, at most.
const HOSTS: usize = 4;

/// Histories of clusters of at most four hosts and six VMs, with at most so many requests.
pub fn histories(requests: usize) -> impl Strategy<Value = History> {
    let hosts = vec(host(), 1..=HOSTS);
    let groups = vec(group(), 0..=2);
    let most = requests;
    let requests = vec(request(), 1..=most).prop_map(move |requests| {
        let mut requests: Vec<Request> = requests.into_iter().flatten().collect();
        requests.truncate(most);
        requests
    });
    let policy = prop_oneof![4 => 0..GENERAL, 1 => GENERAL..POLICIES.len()];
    (policy, hosts, groups, requests).prop_map(|(policy, hosts, groups, requests)| History {
        policy,
        hosts,
        groups,
        requests,
    })
}

fn host() -> impl Strategy<Value = HostSpec> {
    let memory = (4..=16_i64, select(vec![10, 10, 15, 20]));
    let cpu = (1..=6_i64, select(vec![10, 10, 20]));
    let more = (0..=3_i64, 0..=4_i64, subsequence(vec![0_u8, 1], 0..=2));
    let load = option::of(select(vec![0_i64, 20, 50, 70]));
    let measured = (0..=3_i64, nodes(), option::of(0..=4_i64), load);
    (memory, cpu, more, measured).prop_map(|(memory, cpu, more, measured)| HostSpec {
        memory: memory.0,
        memory_overcommit: memory.1,
        cores: cpu.0,
        cpu_overcommit: cpu.1,
        gpus: more.0,
        licences: more.1,
        devices: more.2,
        pages: measured.0,
        nodes: measured.1,
        // As little less than all as makes it count.
        free: measured.2.map(|taken| memory.0 - taken),
        load: measured.3,
    })
}

fn nodes() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        1 => Just(Vec::new()),
        2 => (2..=8_i64, 2..=8_i64).prop_map(|(first, second)| vec![first, second]),
    ]
}

fn group() -> impl Strategy<Value = GroupSpec> {
    let rule = select(vec![Rule::Together, Rule::Apart]);
    let vms = subsequence((0..VMS).collect::<Vec<_>>(), 2..=3);
    (rule, vms).prop_map(|(rule, vms)| GroupSpec { rule, vms })
}

/// Most VMs need memory and CPU alone, some one thing more.
fn needs() -> impl Strategy<Value = Needs> {
    let plain = (1..=6_i64, select(vec![250, 500, 1000, 2000, 3000]));
    let plain = plain.prop_map(|(memory, cpu)| Needs {
        memory,
        cpu,
        gpu_share: 1000,
        ..Needs::default()
    });
    let more = prop_oneof![
        4 => Just(Needs::default()),
        1 => (1..=2_i64, select(vec![250, 500, 1000])).prop_map(|(gpus, gpu_share)| Needs {
            gpus,
            gpu_share,
            ..Needs::default()
        }),
        1 => (1..=3_i64).prop_map(|licences| Needs { licences, ..Needs::default() }),
        1 => select(vec![0_u8, 1]).prop_map(|device| Needs {
            devices: vec![device],
            ..Needs::default()
        }),
        1 => (1..=2_i64).prop_map(|pages| Needs { pages, ..Needs::default() }),
        2 => (virtual_nodes(), any::<bool>()).prop_map(|(nodes, exclusive)| Needs {
            nodes,
            exclusive,
            ..Needs::default()
        }),
        1 => Just(Needs { exclusive: true, ..Needs::default() }),
        1 => Just(Needs { stays: true, ..Needs::default() }),
    ];
    (plain, more).prop_map(|(plain, more)| Needs {
        memory: plain.memory.max(more.pages),
        cpu: plain.cpu,
        gpu_share: if more.gpus > 0 { more.gpu_share } else { 1000 },
        nodes: with_memory(more.nodes.clone(), plain.memory),
        ..more
    })
}

/// One virtual node or two, each pinned to a node of the host or to both.
fn virtual_nodes() -> impl Strategy<Value = Vec<VirtualNode>> {
    let allowed = select(vec![vec![0], vec![1], vec![0, 1]]);
    let node = allowed.prop_map(|allowed| VirtualNode { allowed, memory: 0 });
    vec(node, 1..=2)
}

/// The memory of a VM, shared out to its virtual nodes.
fn with_memory(mut nodes: Vec<VirtualNode>, memory: i64) -> Vec<VirtualNode> {
    let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX).max(1);
    for (number, node) in (0..).zip(&mut nodes) {
        node.memory = memory / count + i64::from(number < memory % count);
    }
    nodes
}

/// A request, or a few that matter in this order. A restart takes as long as a few hundred
/// requests.
fn request() -> impl Strategy<Value = Vec<Request>> {
    prop_oneof![
        480 => asked().prop_map(|request| vec![request]),
        20 => plan_that_waits(),
        10 => placed_after_a_host_is_lost(),
        1 => Just(vec![Request::Restart]),
    ]
}

/// A VM runs on a host that is lost, perhaps, and others are placed, perhaps of its groups: where it
/// lies holds them nowhere.
fn placed_after_a_host_is_lost() -> impl Strategy<Value = Vec<Request>> {
    let placed = || (0..VMS, needs());
    let lost = (0..HOSTS, select(vec!["down", "error"]));
    (placed(), lost, placed(), placed()).prop_map(
        |((first, needs), (host, state), second, third)| {
            vec![
                Request::Place(first, needs),
                Request::Confirm(first),
                Request::State(host, state),
                Request::Place(second.0, second.1),
                Request::Place(third.0, third.1),
            ]
        },
    )
}

/// A plan is made, waits while its cause may end, and is begun: a host is left and comes up again,
/// or VMs of a group that is broken move or are gone.
fn plan_that_waits() -> impl Strategy<Value = Vec<Request>> {
    let vm = || 0..VMS;
    let left = (0..HOSTS, select(vec!["maintenance", "down", "error"]));
    let host_comes_up = (left, any::<bool>()).prop_map(|((host, state), confirm)| {
        vec![
            Request::State(host, state),
            Request::PlanForLater,
            Request::State(host, "up"),
            Request::BeginNow(confirm),
        ]
    });
    let between = prop_oneof![
        vm().prop_map(|vm| vec![Request::Gone(vm)]),
        vm().prop_map(|vm| vec![Request::Migrate(vm), Request::Confirm(vm)]),
    ];
    let group_changes = (between, any::<bool>()).prop_map(|(between, confirm)| {
        let mut requests = vec![Request::PlanForLater];
        requests.extend(between);
        requests.push(Request::BeginNow(confirm));
        requests
    });
    prop_oneof![2 => host_comes_up, 1 => group_changes]
}

fn asked() -> impl Strategy<Value = Request> {
    let vm = || 0..VMS;
    let host = || 0..HOSTS;
    prop_oneof![
        8 => (vm(), needs()).prop_map(|(vm, needs)| Request::Place(vm, needs)),
        6 => vm().prop_map(Request::Confirm),
        2 => (vm(), option::of(needs())).prop_map(|(vm, needs)| Request::Again(vm, needs)),
        2 => (vm(), 1..=8_i64).prop_map(|(vm, memory)| Request::Resize(vm, memory)),
        2 => vec((vm(), needs()), 1..=3).prop_map(Request::Batch),
        1 => subsequence((0..VMS).collect::<Vec<_>>(), 1..=3).prop_map(Request::FromNothing),
        2 => vm().prop_map(Request::Migrate),
        1 => vm().prop_map(Request::Cancel),
        1 => select(vec![20_i64, 400]).prop_map(Request::Wait),
        2 => host().prop_map(Request::Measure),
        2 => (host(), select(vec!["up", "up", "maintenance", "down", "error"]))
            .prop_map(|(host, state)| Request::State(host, state)),
        1 => (host(), any::<bool>()).prop_map(|(host, confirm)| Request::Evacuate(host, confirm)),
        1 => any::<bool>().prop_map(Request::Plan),
        1 => Just(Request::PlanForLater),
        1 => any::<bool>().prop_map(Request::BeginNow),
        1 => host().prop_map(Request::WhatIf),
        1 => (vm(), 1..=8_i64).prop_map(|(vm, memory)| Request::PatchVm(vm, memory)),
        1 => (host(), 2..=16_i64).prop_map(|(host, memory)| Request::PatchHost(host, memory)),
        1 => (vm(), 0..=3_usize).prop_map(|(vm, first)| Request::Gpus(vm, first)),
        1 => (subsequence((0..VMS).collect::<Vec<_>>(), 1..=3), option::of((vm(), needs())), any::<bool>())
            .prop_map(|(vms, new, whole)| Request::Anew(vms, new, whole)),
        1 => vm().prop_map(Request::Gone),
        1 => (0..=usize::MAX, select(vec![Stray::Key, Stray::Parameter]))
            .prop_map(|(route, stray)| Request::Stray(route, stray)),
    ]
}
