use super::*;

fn node(memory: i64, allowed: &[i64]) -> Node {
    Node {
        takes: Take {
            memory: Bytes(memory),
            pages: Vec::new(),
        },
        allowed: allowed.to_vec(),
        pins: Vec::new(),
        own_cpus: 0,
        shares_cpus: true,
    }
}

/// Host nodes 0, 1, ... with this much free.
fn host(free: &[i64]) -> Vec<Place> {
    let place = |(index, &free): (i64, &i64)| Place {
        index,
        free: Bytes(free),
        ..Place::default()
    };
    (0..).zip(free).map(place).collect()
}

/// Does everything fit where it was put?
fn fits(nodes: &[Node], free: &[i64], assigned: &[Option<i64>]) -> bool {
    let mut left = free.to_vec();
    for (node, index) in nodes.iter().zip(assigned) {
        let Some(index) = index else {
            continue;
        };
        if !node.allowed.contains(index) {
            return false;
        }
        left[*index as usize] -= node.takes.memory.0;
    }
    left.iter().all(|&left| left >= 0)
}

#[test]
fn nodes_are_put_where_there_is_room() {
    let nodes = vec![node(1000, &[0, 1]); 4];
    let assigned = assign(&nodes, host(&[2500, 2500])).expect("two on each");
    assert!(fits(&nodes, &[2500, 2500], &assigned));
    assert_eq!(assign(&nodes, host(&[2500, 1500])), None);
}

#[test]
fn nodes_are_put_where_there_are_the_cpus_that_they_have_for_themselves() {
    let own = |cpus| Node {
        own_cpus: cpus,
        shares_cpus: false,
        ..node(0, &[0, 1])
    };
    let with = |cpus: [i64; 2]| {
        let mut places = host(&[0, 0]);
        for (place, cpus) in places.iter_mut().zip(cpus) {
            place.free_cpus = Some(cpus);
        }
        places
    };
    let assigned = assign(&[own(2), own(3)], with([3, 2]));
    assert_eq!(assigned, Some(vec![Some(1), Some(0)]));
    assert_eq!(assign(&[own(3), own(3)], with([3, 2])), None);
    // Who shares CPUs needs one that is shared, and takes none.
    let shared = || [node(0, &[0]), node(0, &[0])];
    assert!(assign(&shared(), with([1, 0])).is_some());
    assert_eq!(assign(&shared(), with([0, 9])), None);
    let many: Vec<Node> = (0..9).map(|_| own(1)).collect();
    assert!(assign(&many, host(&[0, 0])).is_some(), "CPUs are not known");
}

#[test]
fn no_virtual_nodes_cannot_be_assigned() {
    assert_eq!(assign(&[], host(&[1000])), None);
}

#[test]
fn a_node_pinned_to_one_that_the_host_lacks_fits_nowhere() {
    assert_eq!(assign(&[node(1, &[0, 4])], host(&[1000])), None);
}

#[test]
fn nodes_that_are_not_pinned_take_nothing() {
    let nodes = [node(1000, &[0]), node(9000, &[]), node(1000, &[1])];
    let assigned = assign(&nodes, host(&[1000, 1000]));
    assert_eq!(assigned, Some(vec![Some(0), None, Some(1)]));
}

#[test]
fn a_first_choice_is_taken_back_if_a_later_node_needs_the_room() {
    let nodes = [node(600, &[0, 1]), node(600, &[1])];
    let assigned = assign(&nodes, host(&[600, 600]));
    assert_eq!(assigned, Some(vec![Some(0), Some(1)]));
    let mixed = [
        node(500, &[0, 1, 2]),
        node(700, &[0, 2]),
        node(800, &[1, 2]),
        node(300, &[2]),
    ];
    let free = [700, 800, 800];
    let assigned = assign(&mixed, host(&free)).expect("0 and 3 share the last");
    assert!(fits(&mixed, &free, &assigned));
}

#[test]
fn many_nodes_alike_that_do_not_fit_are_found_out_soon() {
    let everywhere: Vec<i64> = (0..8).collect();
    let nodes = vec![node(100, &everywhere); 25];
    assert_eq!(assign(&nodes, host(&[300; 8])), None);
}

#[test]
fn all_that_fit_are_found_as_trying_everything_finds_them() {
    // A small generator is enough: what counts is that many shapes occur.
    let mut state = 12_345_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..500 {
        let free: Vec<i64> = (0..3).map(|_| random(6) as i64).collect();
        let nodes: Vec<Node> = (0..4)
            .map(|_| {
                let allowed: Vec<i64> = (0..3).filter(|_| random(3) > 0).collect();
                node(random(4) as i64, &allowed)
            })
            .collect();
        let found = assign(&nodes, host(&free));
        let all = (0..81).any(|number| {
            let digit = |place: u32| i64::from(number / 3_i32.pow(place) % 3);
            let assigned: Vec<_> = (nodes.iter().zip(0..))
                .map(|(node, place)| (!node.allowed.is_empty()).then(|| digit(place)))
                .collect();
            fits(&nodes, &free, &assigned)
        });
        assert_eq!(found.is_some(), all, "{nodes:?} on {free:?}");
        assert!(found.is_none_or(|assigned| fits(&nodes, &free, &assigned)));
    }
}

#[test]
fn huge_pages_come_from_the_pages_of_the_node() {
    let paged = |count| Node {
        takes: Take {
            memory: Bytes(0),
            pages: vec![(Bytes::mib(2), count)],
        },
        ..node(0, &[0])
    };
    let mut place = host(&[-1]);
    place[0].pages = vec![(Bytes::gib(1), 100), (Bytes::mib(2), 8)];
    assert!(assign(&[paged(5), paged(3)], place.clone()).is_some());
    assert!(assign(&[paged(5), paged(4)], place).is_none());
    assert!(assign(&[paged(1)], host(&[1 << 40])).is_none());
}

#[test]
fn memory_is_in_pages_as_far_as_they_go() {
    let shared_out = |memory: &[i64], pages: &[(i64, i64)]| -> Vec<(i64, Vec<(i64, i64)>)> {
        let row = |&(size, count): &(i64, i64)| VmPages {
            size: Bytes(size),
            count,
        };
        let pages = pages.iter().map(row).collect();
        let takes = Take::of_nodes(memory.iter().map(|memory| Bytes(*memory)), &pages);
        let take = |take: Take| {
            let pages = take.pages.into_iter();
            (
                take.memory.0,
                pages.map(|(size, count)| (size.0, count)).collect(),
            )
        };
        takes.into_iter().map(take).collect()
    };
    // Whole pages, rounded up.
    assert_eq!(shared_out(&[30], &[(10, 3)]), [(0, vec![(10, 3)])]);
    assert_eq!(shared_out(&[31], &[(10, 9)]), [(0, vec![(10, 4)])]);
    assert_eq!(shared_out(&[31], &[(10, 1)]), [(21, vec![(10, 1)])]);
    // The first nodes have them first.
    let both = shared_out(&[30, 30], &[(10, 4)]);
    assert_eq!(both, [(0, vec![(10, 3)]), (20, vec![(10, 1)])]);
    let sizes = shared_out(&[25], &[(20, 1), (2, 9)]);
    assert_eq!(sizes, [(0, vec![(20, 1), (2, 3)])]);
    assert_eq!(shared_out(&[31], &[(0, 9)]), [(31, vec![])]);
}

#[test]
fn a_node_with_memory_and_pages_needs_both() {
    let both = |memory| Node {
        takes: Take {
            memory: Bytes(memory),
            pages: vec![(Bytes::mib(2), 1)],
        },
        ..node(0, &[0])
    };
    let mut place = host(&[100]);
    place[0].pages = vec![(Bytes::mib(2), 1)];
    assert!(assign(&[both(100)], place.clone()).is_some());
    assert!(assign(&[both(101)], place.clone()).is_none());
    assert!(assign(&[both(50), both(50)], place).is_none());
}

#[test]
fn pages_that_are_promised_are_not_free() {
    let nodes = (0..2).map(|index| NodeOfHost {
        index,
        ..NodeOfHost::default()
    });
    let free = (0..2).map(|node| PagesOfNode {
        node: Some(node),
        size: Some(Bytes::mib(2)),
        free: Some(8),
    });
    let promised = PromisedPages {
        node: 1,
        size: Bytes::mib(2),
        pending: 3,
    };
    let promised = vec![promised].into();
    let places = Place::of_host(&nodes.collect(), &free.collect(), &promised);
    let pages: Vec<i64> = places.iter().map(|place| place.pages[0].1).collect();
    assert_eq!(pages, [8, 5]);
}

#[test]
fn pinned_vcpus_must_be_able_to_run_on_the_node() {
    let pinned = |pins: &[&[i64]]| Node {
        pins: pins.iter().map(|cpus| cpus.to_vec()).collect(),
        ..node(1, &[0, 1])
    };
    let mut places = host(&[10, 10]);
    places[0].cpus = vec![0, 1];
    places[1].cpus = vec![2, 3];
    let on = |node| assign(&[node], places.clone()).map(|assigned| assigned[0]);
    assert_eq!(on(pinned(&[&[0]])), Some(Some(0)));
    assert_eq!(on(pinned(&[&[0, 3], &[2]])), Some(Some(1)));
    assert_eq!(on(pinned(&[&[0], &[2]])), None);
}

#[test]
fn vcpus_are_spread_over_nodes_in_order() {
    let spread = |nodes, vcpus| -> Vec<_> {
        (0..nodes)
            .map(|node| vcpus_of_node(node, nodes, vcpus))
            .collect()
    };
    assert_eq!(spread(2, 4), [0..2, 2..4]);
    assert_eq!(spread(3, 4), [0..2, 2..3, 3..4]);
    assert_eq!(spread(2, 0), [0..0, 0..0]);
}
