use super::*;
use crate::topology::{CpuOfHost, Hold};

/// Sockets, cores in each and threads in each, numbered in order; each socket is a
/// NUMA node.
fn topology(sockets: i64, cores: i64, threads: i64) -> Topology {
    let cpu = |cpu| CpuOfHost {
        cpu,
        socket: Some(cpu / threads / cores),
        core: Some(cpu / threads % cores),
        numa: Some(cpu / threads / cores),
        online: Some(true),
        exclusive: None,
    };
    let cpus = (0..sockets * cores * threads).map(cpu).collect();
    Topology::of_host(&cpus, &Rows::default())
}

fn wish(pinning: Pinning, sockets: i64, cores: i64, threads: i64) -> Wish {
    Wish::of(pinning, sockets, cores, threads).expect("exclusive")
}

fn allotted(topology: &mut Topology, wish: &Wish) -> Option<Vec<usize>> {
    let lots = allot(topology, wish, &Rows::default())?;
    Some(lots.into_iter().flatten().collect())
}

fn dedicated(topology: &mut Topology, shape: [i64; 3]) -> Option<Vec<usize>> {
    let [sockets, cores, threads] = shape;
    allotted(topology, &wish(Pinning::Dedicated, sockets, cores, threads))
}

#[test]
fn threads_are_dedicated_core_after_core_and_socket_after_socket() {
    let mut host = topology(3, 2, 2);
    assert_eq!(dedicated(&mut host, [2, 1, 1]), Some(vec![0, 1]));
    // Now the other sockets have more free threads than the first.
    assert_eq!(dedicated(&mut host, [1, 1, 2]), Some(vec![4, 5]));
    assert_eq!(dedicated(&mut host, [1, 2, 2]), Some(vec![8, 9, 10, 11]));
    assert_eq!(dedicated(&mut host, [1, 2, 2]), None);
    assert_eq!(host.exclusive_threads(), 8);
}

/// A VM of one socket with a virtual node for each of these, pinned to those of the host.
fn on_nodes(pinning: Pinning, cores: i64, nodes: &[&[i64]]) -> Wish {
    let node = |(index, to): (i64, &&[i64])| VmNode {
        index,
        memory: Bytes(1),
        mode: None,
        host_nodes: (to.iter())
            .map(|&index| crate::nodes::PinnedTo { index })
            .collect(),
    };
    let nodes = (0..).zip(nodes).map(node).collect();
    wish(pinning, 1, cores, 1).on(&nodes)
}

#[test]
fn vcpus_of_a_pinned_virtual_node_are_on_a_node_that_it_is_pinned_to() {
    let dedicated = |cores, nodes: &[&[i64]]| on_nodes(Pinning::Dedicated, cores, nodes);
    // Both have as many free threads.
    let mut host = topology(2, 4, 1);
    let second = allotted(&mut host, &dedicated(3, &[&[1]]));
    assert_eq!(second, Some(vec![4, 5, 6]));
    assert_eq!(allotted(&mut host, &dedicated(2, &[&[1]])), None);
    assert_eq!(
        allotted(&mut host, &dedicated(2, &[&[1, 0], &[1]])),
        Some(vec![0, 7])
    );
    // The one that may be on either gives way, and the node with most left comes first.
    let mut host = topology(2, 2, 1);
    assert_eq!(
        allotted(&mut host, &dedicated(4, &[&[0, 1], &[0]])),
        Some(vec![2, 3, 0, 1])
    );
    // One that is not pinned takes what there is.
    let mut host = topology(2, 3, 1);
    assert_eq!(
        allotted(&mut host, &dedicated(6, &[&[0], &[]])),
        Some(vec![0, 1, 2, 3, 4, 5])
    );
    // Whole cores.
    let mut host = topology(2, 2, 2);
    let isolated = on_nodes(Pinning::IsolateThreads, 2, &[&[1]]);
    assert_eq!(allotted(&mut host, &isolated), Some(vec![4, 5, 6, 7]));
}

#[test]
fn a_virtual_socket_does_not_span_sockets_but_several_share_one() {
    assert_eq!(dedicated(&mut topology(2, 2, 1), [1, 3, 1]), None);
    let split = dedicated(&mut topology(2, 2, 1), [3, 1, 1]);
    assert_eq!(split, Some(vec![0, 1, 2]));
}

#[test]
fn a_virtual_core_does_not_span_cores() {
    assert_eq!(dedicated(&mut topology(1, 4, 2), [1, 1, 3]), None);
    let mut host = topology(1, 2, 4);
    host.hold(2, Hold::Shared);
    assert_eq!(
        dedicated(&mut host, [1, 3, 2]),
        Some(vec![0, 1, 4, 5, 6, 7])
    );
}

#[test]
fn a_socket_in_pieces_does_not_hide_one_that_fits() {
    let mut host = topology(2, 4, 2);
    for cpu in [0, 2, 4, 6, 8, 10, 12, 13] {
        host.hold(cpu, Hold::Shared);
    }
    // Four single threads in the first socket; in the other, two and a whole core.
    assert_eq!(dedicated(&mut host, [1, 1, 2]), Some(vec![14, 15]));
}

#[test]
fn isolated_threads_take_whole_cores() {
    let mut host = topology(2, 4, 2);
    host.hold(3, Hold::Shared);
    let two = wish(Pinning::IsolateThreads, 2, 3, 1);
    let lots = allot(&mut host, &two, &Rows::default()).expect("three cores in each");
    assert_eq!(lots.len(), 6);
    assert_eq!(lots[0], [8, 9]);
    // Core 1 of the first socket, which is shared, is passed over.
    assert_eq!(lots[3..], [[0, 1], [4, 5], [6, 7]]);
    assert_eq!(host.exclusive_threads(), 12);
    assert_eq!(sockets_and_cores(&host, &lots), (2, 6));
    assert_eq!(host.unshared_cpus(false), 6);
}

#[test]
fn a_failed_wish_takes_nothing() {
    let mut host = topology(2, 2, 2);
    let before = host.clone();
    assert_eq!(dedicated(&mut host, [3, 2, 2]), None);
    assert_eq!(host, before);
}

#[test]
fn virtual_nodes_need_the_memory_of_the_socket() {
    let nodes: Rows<_> = [3000, 900]
        .iter()
        .zip(0..)
        .map(|(&free, index)| NodeOfHost {
            index,
            total: Bytes(4000),
            free: Some(Bytes(free)),
            ..NodeOfHost::default()
        })
        .collect();
    let with = |sockets, of| Wish {
        nodes: Some(of),
        ..wish(Pinning::Dedicated, sockets, 1, 1)
    };
    let fits = |wish| allot(&mut topology(2, 4, 1), &wish, &nodes).is_some();
    // A node in each virtual socket: three in the first socket, none in the other.
    assert!(fits(with(3, (3, Bytes(1000)))));
    assert!(!fits(with(4, (4, Bytes(1000)))));
    // Two in each: one virtual socket in the first.
    assert!(!fits(with(2, (4, Bytes(1000)))));
    assert!(fits(with(2, (4, Bytes(450)))));
    assert!(fits(with(4, (4, Bytes(0)))));
}

#[test]
fn absurd_shapes_are_not_to_be_had() {
    let mut host = topology(1, 2, 2);
    assert_eq!(dedicated(&mut host, [i64::MAX, 1, 1]), None);
    assert_eq!(dedicated(&mut host, [1, i64::MAX, i64::MAX]), None);
    assert_eq!(dedicated(&mut host, [1, 1, i64::MAX]), None);
    assert_eq!(dedicated(&mut Topology::default(), [1, 1, 1]), None);
}
