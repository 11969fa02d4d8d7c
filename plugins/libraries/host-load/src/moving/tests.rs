use super::*;

const LIMITS: Limits = Limits {
    counting: Counting {
        threads_as_cores: false,
        assumed_load: 10.0,
    },
    high_utilization: 80.0,
    duration: Seconds(120),
    vcpu_ratio: 0.0,
    low_memory: Bytes(0),
};

const NOW: Now = Now {
    now: Seconds(1_000),
};

fn vm(percent: f64) -> Vm {
    Vm {
        vcpus: 1,
        memory: Bytes::gib(1),
        usage: Some(percent / 100.0),
        exclusive: false,
        migratable: true,
    }
}

/// A CPU with this load since 880, and 4 GiB of which 1 is promised to one VM.
fn host(percent: f64) -> Host {
    Host {
        state: "up".into(),
        cores: Some(1),
        threads: Some(1),
        cpu: Millicores::cores(1),
        usage: Some(percent / 100.0),
        exclusive: 0,
        vcpus: 1,
        memory: Bytes::gib(4),
        memory_reserved: Bytes(0),
        memory_overcommit: 1.0,
        memory_committed: Bytes::gib(1),
        vms_count: 1,
        vms_pending: 0,
        vms_migrating: 0,
        since: Some(Seconds(880)),
        spm: None,
        vms: Rows::default(),
    }
}

fn cluster(hosts: Vec<Host>) -> Cluster {
    Cluster::new(&NOW, &hosts.into(), LIMITS)
}

fn all(cluster: &Cluster) -> Vec<&Place> {
    cluster.hosts(|_| true)
}

/// Moves of the VMs of host 0, as (VM, among).
fn moves(hosts: Vec<Host>) -> Vec<(u32, Vec<u32>)> {
    let cluster = cluster(hosts);
    let places = all(&cluster);
    let proposals = cluster.moves(&places[..1], &places, ());
    let parts = proposals.into_iter().filter_map(|proposal| match proposal {
        Proposal::Move { vm, among, .. } => Some((vm, among)),
        _ => None,
    });
    parts.collect()
}

fn with_vms(host: Host, vms: Vec<Vm>) -> Host {
    Host {
        vms: vms.into(),
        ..host
    }
}

#[test]
fn hosts_that_are_not_up_or_not_settled_have_no_part() {
    let away = Host {
        state: "maintenance".into(),
        ..host(50.0)
    };
    let pending = Host {
        vms_pending: 1,
        ..host(50.0)
    };
    let migrating = Host {
        vms_migrating: 1,
        ..host(50.0)
    };
    let cluster = cluster(vec![away, pending, migrating, host(50.0)]);
    let rows: Vec<_> = all(&cluster).iter().map(|place| place.row).collect();
    assert_eq!(rows, [3]);
}

#[test]
fn a_host_is_over_the_limit_only_if_that_lasts_and_vms_run() {
    let over = |host| {
        let cluster = cluster(vec![host]);
        cluster.is_over(&cluster.places[0], 80.0)
    };
    assert!(over(host(80.0)));
    assert!(!over(host(79.0)));
    let since = |since| Host {
        since,
        ..host(80.0)
    };
    assert!(!over(since(Some(Seconds(881)))));
    assert!(!over(since(None)));
    assert!(!over(Host {
        vms_count: 0,
        ..host(80.0)
    }));
}

#[test]
fn a_host_is_under_the_limit_if_that_lasts_as_far_as_is_known() {
    let under = |host| {
        let cluster = cluster(vec![host]);
        cluster.is_under(&cluster.places[0], 20.0, 1)
    };
    let since = |since| Host {
        since,
        ..host(19.0)
    };
    assert!(under(since(Some(Seconds(880)))));
    assert!(under(since(None)));
    assert!(!under(since(Some(Seconds(881)))));
    assert!(!under(host(20.0)));
    assert!(!under(Host {
        vms_count: 0,
        ..host(10.0)
    }));
    assert!(!under(Host {
        usage: None,
        ..host(10.0)
    }));
}

#[test]
fn too_many_vcpus_are_over_the_limit_whatever_the_load() {
    let limits = Limits {
        vcpu_ratio: 3.0,
        ..LIMITS
    };
    let crowded = Host {
        vcpus: 3,
        ..host(0.0)
    };
    let cluster = Cluster::new(&NOW, &vec![crowded, host(0.0)].into(), limits);
    let over = |row: usize| cluster.is_over(&cluster.places[row], 80.0);
    assert_eq!((over(0), over(1)), (true, false));
}

#[test]
fn vms_with_the_least_load_are_moved_first() {
    let vms = vec![vm(30.0), vm(10.0), vm(20.0)];
    let moves = moves(vec![with_vms(host(90.0), vms), host(0.0)]);
    assert_eq!(moves, [(1, vec![1, 0]), (2, vec![1, 0]), (0, vec![1, 0])]);
}

#[test]
fn vms_that_may_not_be_moved_or_were_not_measured_stay() {
    let pinned = Vm {
        migratable: false,
        ..vm(10.0)
    };
    let unmeasured = Vm {
        usage: None,
        ..vm(10.0)
    };
    let vms = vec![pinned, unmeasured];
    assert_eq!(moves(vec![with_vms(host(90.0), vms), host(0.0)]), []);
}

#[test]
fn a_destination_keeps_within_the_limits_with_the_vm() {
    let tight = Host {
        memory_committed: Bytes::gib(3),
        ..host(0.0)
    };
    let hosts = vec![
        with_vms(host(90.0), vec![vm(10.0)]),
        host(71.0),
        host(70.0),
        tight,
    ];
    assert_eq!(moves(hosts), [(0, vec![2, 0])]);
}

#[test]
fn exclusive_vms_bring_no_load_but_take_cpus() {
    let exclusive = Vm {
        exclusive: true,
        ..vm(90.0)
    };
    let two = Host {
        cores: Some(2),
        ..host(40.0)
    };
    // 80 percent of one CPU is all that is left on the second; nothing on the third.
    let hosts = vec![with_vms(host(90.0), vec![exclusive]), two, host(0.0)];
    assert_eq!(moves(hosts), [(0, vec![1, 0])]);
}

#[test]
fn equal_loads_keep_their_order() {
    let cluster = cluster(vec![host(50.0), host(60.0), host(50.0)]);
    let rows = |places: &[&Place]| places.iter().map(|place| place.row).collect::<Vec<_>>();
    let mut places = all(&cluster);
    least_load_first(&mut places);
    assert_eq!(rows(&places), [0, 2, 1]);
    most_load_first(&mut places);
    assert_eq!(rows(&places), [1, 0, 2]);
}

#[test]
fn the_target_lies_a_fifth_and_at_least_the_load_of_a_vcpu_below_the_limit() {
    let target = |high_utilization, assumed_load| {
        let counting = Counting {
            assumed_load,
            ..LIMITS.counting
        };
        let limits = Limits {
            counting,
            high_utilization,
            ..LIMITS
        };
        limits.target()
    };
    assert_eq!(target(80.0, 10.0), 64.0);
    assert_eq!(target(75.0, 10.0), 60.0);
    assert_eq!(target(40.0, 10.0), 30.0);
    assert_eq!(target(80.0, 20.0), 60.0);
}
