use numa_fit::nodes::PinnedTo;

use super::*;

/// A virtual node of 1 GiB.
fn node(index: i64, host_nodes: &[i64]) -> VmNode {
    VmNode {
        index,
        memory: Bytes::gib(1),
        mode: None,
        host_nodes: host_nodes.iter().map(|&index| PinnedTo { index }).collect(),
    }
}

/// Two vCPUs, of which some are pinned.
fn vm(nodes: Vec<VmNode>, pins: &[(i64, i64)]) -> Vm {
    let pin = |&(vcpu, cpu): &(i64, i64)| Pin { vcpu, cpu };
    Vm {
        vcpus: 2,
        exclusive: false,
        nodes: nodes.into(),
        pages: Rows::default(),
        pins: pins.iter().map(pin).collect(),
    }
}

/// A node of 1 GiB and a CPU for each, numbered alike.
fn host(nodes: i64) -> Host {
    let node = |index| NodeOfHost {
        index,
        total: Bytes::gib(2),
        free: Some(Bytes::gib(1)),
        ..NodeOfHost::default()
    };
    let cpu = |cpu| Cpu {
        cpu,
        numa: Some(cpu),
    };
    Host {
        nodes: (0..nodes).map(node).collect(),
        pages: Rows::default(),
        promised_pages: Rows::default(),
        cpus: (0..nodes).map(cpu).collect(),
        current: Rows::default(),
    }
}

fn cost(vms: Vec<Vm>, host: &Host) -> f64 {
    let request = Request { vms: vms.into() };
    let need = NumaPinning::prepare(&request, &()).expect("nothing is refused");
    NumaPinning::cost(&need, host)
}

#[test]
fn pinned_nodes_need_a_host_that_has_them_with_enough_memory() {
    let two = || vec![vm(vec![node(0, &[0]), node(1, &[1])], &[])];
    assert_eq!(cost(two(), &host(2)), 1.0);
    assert_eq!(cost(two(), &host(1)), 1000.0);
    assert_eq!(cost(two(), &host(0)), 1000.0);
    let crowded = vec![vm(vec![node(0, &[0]), node(1, &[0])], &[])];
    assert_eq!(cost(crowded, &host(2)), 1000.0);
}

#[test]
fn vms_without_pinned_nodes_fit_everywhere() {
    assert_eq!(cost(vec![vm(vec![], &[(0, 7)])], &host(0)), 1.0);
    assert_eq!(cost(vec![vm(vec![node(0, &[])], &[])], &host(0)), 1.0);
}

#[test]
fn vms_that_would_rather_but_need_not_do_not_count() {
    let preferred = VmNode {
        mode: Some("preferred".into()),
        ..node(0, &[7])
    };
    assert_eq!(cost(vec![vm(vec![preferred], &[])], &host(1)), 1.0);
}

#[test]
fn a_pinned_vcpu_must_run_on_the_node_of_its_memory() {
    let vm = |pins| vec![vm(vec![node(0, &[0]), node(1, &[1])], pins)];
    assert_eq!(cost(vm(&[(0, 0), (1, 1)]), &host(2)), 1.0);
    assert_eq!(cost(vm(&[(0, 1)]), &host(2)), 1000.0);
    // One of its CPUs is enough.
    assert_eq!(cost(vm(&[(0, 1), (0, 0)]), &host(2)), 1.0);
}

#[test]
fn pins_may_ask_for_another_assignment() {
    let vm = vm(vec![node(0, &[0, 1]), node(1, &[0, 1])], &[(0, 1), (1, 0)]);
    assert_eq!(cost(vec![vm], &host(2)), 1.0);
}

#[test]
fn a_vm_has_what_it_needs_where_it_runs() {
    let own = Host {
        current: vec![Current {
            pages: Rows::default(),
            member: 0,
            holds: true,
            vcpus: 2,
            exclusive: false,
            nodes: vec![node(0, &[0]), node(1, &[1])].into(),
        }]
        .into(),
        ..host(1)
    };
    let two = vec![
        vm(vec![node(0, &[0]), node(1, &[1])], &[]),
        vm(vec![node(0, &[0])], &[]),
    ];
    assert_eq!(cost(two, &own), 1.0);
}
