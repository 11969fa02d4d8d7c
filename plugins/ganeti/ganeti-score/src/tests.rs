use placewright_sdk::prelude::*;

use crate::Settings;
use crate::balance::ranked;
use crate::cluster::Cluster;
use crate::moves;
use crate::rows::{Host, Secondary, Tag, Vm};

fn node(listed: i64, vms: Vec<Vm>) -> Host {
    let disk: i64 = 100 << 30;
    Host {
        id: format!("n{listed}").into(),
        listed,
        state: "up".into(),
        memory: Bytes::gib(16),
        memory_reserved: Bytes(0),
        memory_missing: None,
        cpu: Millicores::cores(16),
        cpu_overcommit: None,
        cpu_node: None,
        cpu_speed: None,
        cpu_ratio: None,
        disk: Some(disk),
        disk_available: Some(disk),
        spindles: Some(1),
        spindles_available: None,
        spindle_ratio: None,
        exclusive: None,
        group: None,
        location: Rows::default(),
        migration: Rows::default(),
        receives: Rows::default(),
        vms: vms.into(),
    }
}

fn vm(id: &str, template: &str, secondary: Option<i64>) -> Vm {
    let secondary = secondary.map(|node| Secondary {
        host: Some(format!("n{node}").into()),
    });
    Vm {
        id: id.into(),
        memory: Bytes::gib(1),
        vcpus: 1,
        disk: Some(10 << 30),
        disk_template: Some(template.into()),
        spindles: None,
        disk_spindles: None,
        status: None,
        auto_balance: None,
        forthcoming: None,
        exclusion: Rows::default(),
        desired_location: Rows::default(),
        secondary: secondary.into_iter().collect(),
    }
}

fn settings() -> Settings {
    Settings::defaults().expect("all have defaults")
}

fn score(hosts: Vec<Host>) -> f64 {
    moves::score(&Cluster::new(&hosts.into()))
}

/// The best move, as instance, primary and secondary.
fn first(hosts: Vec<Host>) -> Option<(usize, usize, Option<usize>)> {
    let moves = ranked(&Cluster::new(&hosts.into()), &settings());
    let first = moves.first()?;
    Some((first.instance, first.primary, first.secondary))
}

#[test]
fn nodes_that_are_alike_have_no_score_and_no_move() {
    let hosts = || {
        vec![
            node(0, vec![vm("a", "ext", None)]),
            node(1, vec![vm("b", "ext", None)]),
        ]
    };
    assert_eq!(score(hosts()), 0.0);
    assert_eq!(first(hosts()), None);
}

#[test]
fn the_score_is_the_weighted_sum_of_deviations() {
    // Of two values, the standard deviation is half their distance: the memory and
    // the vCPUs of two instances are an eighth of a node, each counts twice a half,
    // and four loads are two instances.
    let hosts = vec![
        node(0, vec![vm("a", "ext", None), vm("b", "ext", None)]),
        node(1, vec![]),
    ];
    assert!((score(hosts) - (0.0625 + 0.0625 + 4.0)).abs() < 1e-12);
}

#[test]
fn an_instance_with_outside_storage_goes_to_the_emptier_node() {
    let hosts = vec![
        node(0, vec![vm("a", "ext", None), vm("b", "ext", None)]),
        node(1, vec![]),
    ];
    assert_eq!(first(hosts), Some((0, 1, None)));
}

#[test]
fn an_instance_fails_over_to_its_mirror() {
    let on = |id| vm(id, "drbd", Some(1));
    let hosts = vec![node(0, vec![on("a"), on("b")]), node(1, vec![])];
    assert_eq!(first(hosts), Some((0, 1, Some(0))));
}

#[test]
fn instances_leave_a_node_that_is_offline() {
    let hosts = || {
        let offline = Host {
            state: "down".into(),
            ..node(0, vec![vm("a", "drbd", Some(1))])
        };
        vec![offline, node(1, vec![]), node(2, vec![])]
    };
    // As primary there it counts 4 and 16.
    assert!(score(hosts()) > 20.0);
    let (instance, primary, secondary) = first(hosts()).expect("there is a move");
    assert_eq!(instance, 0);
    let mut both = [primary, secondary.expect("it is mirrored")];
    both.sort();
    assert_eq!(both, [1, 2]);
}

#[test]
fn local_disks_stay_where_they_are() {
    let on = |id| vm(id, "plain", None);
    let hosts = vec![node(0, vec![on("a"), on("b")]), node(1, vec![])];
    assert_eq!(first(hosts), None);
}

#[test]
fn instances_with_one_exclusion_tag_do_not_meet() {
    let tagged = |id| Vm {
        exclusion: vec![Tag {
            tag: Some("service:dns".into()),
        }]
        .into(),
        ..vm(id, "ext", None)
    };
    let hosts = vec![
        node(0, vec![tagged("a"), vm("c", "ext", None)]),
        node(1, vec![tagged("b")]),
    ];
    let both = vec![node(0, vec![tagged("a"), tagged("b")]), node(1, vec![])];
    assert_eq!(first(hosts), None);
    assert_eq!(first(both), Some((0, 1, None)));
}

/// Every move's score is that of a cluster in which it was made.
#[test]
fn scores_of_moves_are_exact() {
    let tag = |tag: &str| Tag {
        tag: Some(tag.into()),
    };
    let place = |primary: usize, secondary: usize, number: usize| {
        let made = vm(&format!("i{number}"), "drbd", Some(secondary as i64));
        let made = Vm {
            memory: Bytes::mib(700 + 400 * (number as i64 % 3)),
            vcpus: 1 + number as i64 % 4,
            exclusion: vec![tag(["x:1", "x:2"][number % 2])].into(),
            desired_location: vec![tag(["l:1", "l:2", "l:3"][number % 3])].into(),
            forthcoming: (number == 5).then_some(true),
            status: (number == 4).then(|| "ADMIN_down".into()),
            ..made
        };
        (primary, made)
    };
    let cluster = |places: &[(usize, Vm)]| {
        let mut hosts = Vec::new();
        for number in 0..5 {
            let here = places.iter().filter(|(primary, _)| *primary == number);
            let mut host = node(number as i64, here.map(|(_, vm)| vm.clone()).collect());
            host.location = vec![tag(["l:1", "l:2"][number % 2])].into();
            host.cpu_speed = Some(1.0 + number as f64 / 4.0);
            hosts.push(host);
        }
        hosts[4].state = "down".into();
        hosts
    };
    let mut places: Vec<(usize, Vm)> = (0..12)
        .map(|number| place(number % 3, (number + 1 + number % 2) % 5, number))
        .filter(|(primary, vm)| {
            vm.secondary
                .iter()
                .next()
                .is_none_or(|it| it.host != Some(format!("n{primary}").into()))
        })
        .collect();
    places.push(place(4, 0, 12));
    places.sort_by(|a, b| a.1.id.cmp(&b.1.id));
    let mut made = 0;
    for _ in 0..20 {
        let now = Cluster::new(&cluster(&places).into());
        let (_, moves) = moves::best(&now, usize::MAX);
        for it in &moves {
            let mut after = places.clone();
            let (primary, vm) = &mut after[it.instance];
            *primary = it.primary;
            if let Some(secondary) = it.secondary {
                vm.secondary = vec![Secondary {
                    host: Some(format!("n{secondary}").into()),
                }]
                .into();
            }
            let exact = score(cluster(&after));
            assert!((exact - it.score).abs() < 1e-9, "{it:?}: {exact}");
            made += 1;
        }
        let Some(first) = moves.iter().min_by(|a, b| a.score.total_cmp(&b.score)) else {
            break;
        };
        let (primary, vm) = &mut places[first.instance];
        *primary = first.primary;
        if let Some(secondary) = first.secondary {
            vm.secondary = vec![Secondary {
                host: Some(format!("n{secondary}").into()),
            }]
            .into();
        }
    }
    assert!(made > 20, "{made} moves");
}

/// Nodes from which most of the instances are to go.
fn uneven(nodes: i64, instances: usize) -> Vec<Host> {
    let mut hosts: Vec<Vec<Vm>> = (0..nodes).map(|_| Vec::new()).collect();
    for number in 0..instances {
        let primary = (number * number) % 7 % hosts.len();
        let secondary = (primary as i64 + 1 + number as i64 % (nodes - 1)) % nodes;
        let memory = Bytes::mib(100 * (1 + number as i64 % 5));
        hosts[primary].push(Vm {
            memory,
            ..vm(&format!("i{number:02}"), "drbd", Some(secondary))
        });
    }
    (0..).zip(hosts).map(|(n, vms)| node(n, vms)).collect()
}

#[test]
fn moves_that_are_left_out_are_none_of_the_best() {
    let mut left_out = 0;
    for nodes in 5..16 {
        let cluster = Cluster::new(&uneven(nodes, 3 * nodes as usize).into());
        let least = |wanted: usize| {
            let (_, mut moves) = moves::best(&cluster, wanted);
            let found = moves.len();
            moves.sort_by(|a, b| a.score.total_cmp(&b.score));
            moves.truncate(5);
            (found, moves)
        };
        let ((all, best), (some, same)) = (least(usize::MAX), least(5));
        assert_eq!(best, same);
        left_out += all - some;
    }
    assert!(left_out > 20, "{left_out}");
}
