use host_load::moving::{Host, Vm};

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

/// One empty host that may be switched off, for the part that is about power.
fn idle() -> power::Host {
    power::Host {
        state: "up".into(),
        vms: 0,
        vms_pending: 0,
        vms_migrating: 0,
        managed: Some(true),
        keep_on: None,
        by_policy: None,
        status: None,
        spm: None,
    }
}

fn proposals(hosts: Vec<Host>, settings: Settings) -> Vec<Proposal<Reason>> {
    let request = Request {
        request: Now {
            now: Seconds(1_000),
        },
        hosts: hosts.into(),
        power: vec![idle()].into(),
    };
    PowerSaving::balance(&request, &settings).expect("nothing is refused")
}

/// Moves as (VM, among, reason).
fn moves(hosts: Vec<Host>, settings: Settings) -> Vec<(u32, Vec<u32>, Reason)> {
    let parts = proposals(hosts, settings).into_iter();
    let parts = parts.filter_map(|proposal| match proposal {
        Proposal::Move {
            vm, among, reason, ..
        } => Some((vm, among, reason)),
        _ => None,
    });
    parts.collect()
}

fn settings() -> Settings {
    Settings {
        high_utilization: Some(80.0),
        ..Settings::defaults().expect("all have defaults")
    }
}

#[test]
fn over_utilised_hosts_are_relieved_before_others_are_emptied() {
    let hosts = vec![
        host(10.0, 0, vec![vm(10.0)]),
        host(64.0, 0, vec![vm(20.0)]),
        host(85.0, 0, vec![vm(20.0)]),
        host(63.0, 0, vec![vm(20.0)]),
    ];
    let (over, under) = (Reason::OverUtilized, Reason::UnderUtilized);
    // 64 + 20 and 63 + 20 would be above the limit.
    assert_eq!(
        moves(hosts, settings()),
        [
            (0, vec![0, 2], over),
            (0, vec![0, 1], over),
            (0, vec![1, 3, 0], under),
        ]
    );
}

#[test]
fn a_host_with_much_memory_is_emptied_into_any_that_is_not_short() {
    let settings = Settings {
        low_memory: Bytes::mib(512),
        high_memory: Some(Bytes::mib(900)),
        ..settings()
    };
    let hosts = vec![
        host(50.0, 100, vec![vm(25.0)]),
        host(50.0, 200, vec![vm(25.0)]),
        host(50.0, 600, vec![vm(25.0)]),
    ];
    assert_eq!(
        moves(hosts, settings),
        [
            (0, vec![0, 1, 2], Reason::ShortOfMemory),
            (0, vec![1, 0], Reason::RichInMemory),
        ]
    );
}

#[test]
fn hosts_are_switched_only_if_that_is_enabled_and_after_all_moves() {
    assert_eq!(proposals(vec![], settings()), []);
    let enabled = Settings {
        enable_host_power_management: true,
        ..settings()
    };
    let hosts = vec![host(10.0, 0, vec![vm(10.0)]), host(50.0, 0, vec![])];
    let proposals = proposals(hosts, enabled);
    assert_eq!(proposals.len(), 2);
    let last = Proposal::HostState {
        host: 0,
        state: "maintenance".into(),
        reason: Reason::NotNeeded,
    };
    assert_eq!(proposals.last(), Some(&last));
}
