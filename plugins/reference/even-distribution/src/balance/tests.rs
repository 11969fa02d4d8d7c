use host_load::moving::Vm;

use super::*;

fn vm(percent: f64) -> Vm {
    Vm {
        vcpus: 1,
        memory: Bytes::mib(128),
        usage: Some(percent / 100.0),
        exclusive: false,
        migratable: true,
    }
}

/// One CPU that has been as busy for long, and 1 GiB of memory.
fn host(percent: f64, committed: i64, vms: Vec<Vm>) -> Host {
    Host {
        state: "up".into(),
        cores: Some(1),
        threads: Some(1),
        cpu: Millicores::cores(1),
        usage: Some(percent / 100.0),
        exclusive: 0,
        vcpus: 2,
        memory: Bytes::gib(1),
        memory_reserved: Bytes(0),
        memory_overcommit: 1.0,
        memory_committed: Bytes::mib(committed),
        vms_count: 2,
        vms_pending: 0,
        vms_migrating: 0,
        since: Some(Seconds(0)),
        spm: None,
        vms: vms.into(),
    }
}

/// Moves as (VM, among, reason).
fn moves(hosts: Vec<Host>) -> Vec<(u32, Vec<u32>, Reason)> {
    let request = Request {
        request: Now {
            now: Seconds(1_000),
        },
        hosts: hosts.into(),
    };
    let settings = Settings {
        high_utilization: 80.0,
        low_memory: Bytes::mib(512),
        high_memory: Bytes::mib(900),
        ..Settings::defaults().expect("all have defaults")
    };
    let proposals = EvenDistribution::balance(&request, &settings);
    let moves = proposals.expect("nothing is refused").into_iter();
    let parts = moves.filter_map(|proposal| match proposal {
        Proposal::Move {
            vm, among, reason, ..
        } => Some((vm, among, reason)),
        _ => None,
    });
    parts.collect()
}

#[test]
fn vms_go_from_the_busiest_hosts_to_the_least_busy() {
    let hosts = vec![
        host(85.0, 0, vec![vm(20.0)]),
        host(50.0, 0, vec![]),
        host(25.0, 0, vec![]),
        host(95.0, 0, vec![vm(20.0)]),
        // Not over-utilised, but no place for more.
        host(64.0, 0, vec![vm(1.0)]),
    ];
    let reason = Reason::OverUtilized;
    assert_eq!(
        moves(hosts),
        [(0, vec![2, 1, 3], reason), (0, vec![2, 1, 0], reason)]
    );
}

#[test]
fn vms_go_from_hosts_short_of_memory_to_hosts_with_much() {
    let hosts = vec![
        host(30.0, 600, vec![vm(20.0)]),
        host(30.0, 400, vec![]),
        host(30.0, 100, vec![]),
    ];
    assert_eq!(moves(hosts), [(0, vec![2, 0], Reason::ShortOfMemory)]);
}

#[test]
fn an_even_cluster_stays_as_it_is() {
    let hosts = vec![
        host(70.0, 200, vec![vm(20.0)]),
        host(10.0, 200, vec![vm(10.0)]),
    ];
    assert_eq!(moves(hosts), []);
}
