use numa_fit::nodes::PinnedTo;
use numa_fit::topology::PinOnHost;

use super::*;

/// Two sockets of two cores of two threads.
fn vm() -> Vm {
    Vm {
        made_for: Some("high-performance".into()),
        sockets: 2,
        cores: 2,
        threads: 2,
        pinning: None,
        passthrough: None,
        pins: Rows::default(),
        nodes: Rows::default(),
    }
}

fn plain() -> Vm {
    Vm {
        made_for: None,
        ..vm()
    }
}

fn host(sockets: i64, cores: i64, threads: i64) -> Host {
    Host {
        sockets: Some(sockets),
        cores: Some(cores),
        threads: Some(threads),
        cpus: Rows::default(),
        vms: Rows::default(),
        nodes: Rows::default(),
        current: Rows::default(),
    }
}

/// Sockets of two cores of two threads, numbered in order, of which a VM has some
/// for itself.
fn with_threads(sockets: i64, taken: &[i64]) -> Host {
    let cpu = |cpu| CpuOfHost {
        cpu,
        socket: Some(cpu / 4),
        core: Some(cpu % 4 / 2),
        numa: None,
        online: None,
        exclusive: None,
    };
    let pins = taken.iter().map(|&cpu| PinOnHost { cpu }).collect();
    let other = VmOnHost {
        exclusive: true,
        pins,
    };
    Host {
        cpus: (0..4 * sockets).map(cpu).collect(),
        vms: vec![other].into(),
        ..host(sockets, 2 * sockets, 4 * sockets)
    }
}

fn cost(vm: &Vm, host: &Host) -> f64 {
    let need = HighPerformanceCpu::prepare(vm, &()).expect("nothing is refused");
    HighPerformanceCpu::cost(&need, host)
}

#[test]
fn sockets_cores_and_threads_must_all_fit() {
    let hosts = [
        host(8, 8, 8),
        host(4, 8, 8),
        host(2, 4, 8),
        host(1, 4, 8),
        host(4, 16, 64),
    ];
    let costs: Vec<f64> = hosts.iter().map(|host| cost(&vm(), host)).collect();
    assert_eq!(costs, [1000.0, 1000.0, 1.0, 1000.0, 1.0]);
}

#[test]
fn a_host_of_unknown_layout_does_not_fit() {
    assert_eq!(cost(&vm(), &host(0, 0, 0)), 1000.0);
    let unknown = Host {
        threads: None,
        ..host(4, 16, 64)
    };
    assert_eq!(cost(&vm(), &unknown), 1000.0);
}

#[test]
fn other_vms_fit_everywhere() {
    assert_eq!(cost(&plain(), &host(1, 1, 1)), 1.0);
}

#[test]
fn vms_that_are_tied_to_a_host_are_particular_too() {
    let node = VmNode {
        index: 0,
        memory: Bytes::gib(1),
        mode: None,
        host_nodes: vec![PinnedTo { index: 0 }].into(),
    };
    let tied = [
        Vm {
            passthrough: Some(true),
            ..plain()
        },
        Vm {
            pins: vec![Pin {}].into(),
            ..plain()
        },
        Vm {
            nodes: vec![node].into(),
            ..plain()
        },
    ];
    for vm in &tied {
        assert_eq!(cost(vm, &host(1, 1, 1)), 1000.0);
    }
}

/// Two vCPUs for itself, in one virtual socket.
fn own_cpus(pinning: &str) -> Vm {
    Vm {
        sockets: 1,
        cores: 2,
        threads: 1,
        pinning: Some(pinning.into()),
        ..plain()
    }
}

#[test]
fn cpus_of_ones_own_cost_by_sockets_and_then_by_cores() {
    assert_eq!(cost(&own_cpus("dedicated"), &with_threads(1, &[])), 1001.0);
    let isolated = own_cpus("isolate-threads");
    assert_eq!(cost(&isolated, &with_threads(1, &[])), 1002.0);
    let two_sockets = Vm {
        sockets: 2,
        ..own_cpus("isolate-threads")
    };
    assert_eq!(cost(&two_sockets, &with_threads(2, &[])), 2004.0);
}

#[test]
fn where_they_are_not_to_be_had_is_worst_of_all() {
    let full = with_threads(1, &[0, 2, 3]);
    assert_eq!(cost(&own_cpus("dedicated"), &full), f64::INFINITY);
    let current = |holds, cpus: &[i64]| Current {
        holds,
        vcpus: 2,
        exclusive: true,
        pins: cpus.iter().map(|&cpu| PinOnHost { cpu }).collect(),
    };
    let with = |row| Host {
        current: vec![row].into(),
        ..with_threads(1, &[0, 2, 3])
    };
    // What it holds is its own, and of which the numbers are not known it has as many.
    let own = with(current(true, &[2, 3]));
    assert_eq!(cost(&own_cpus("dedicated"), &own), 1001.0);
    assert_eq!(cost(&own_cpus("dedicated"), &with(current(true, &[]))), 1.0);
    let grown = Vm {
        cores: 4,
        ..own_cpus("dedicated")
    };
    assert_eq!(cost(&grown, &own), f64::INFINITY);
    let nowhere = with(current(false, &[]));
    assert_eq!(cost(&own_cpus("dedicated"), &nowhere), f64::INFINITY);
}

#[test]
fn without_known_threads_the_layout_decides() {
    assert_eq!(cost(&own_cpus("dedicated"), &host(1, 2, 2)), 1.0);
    assert_eq!(cost(&own_cpus("dedicated"), &host(1, 1, 1)), 1000.0);
}
