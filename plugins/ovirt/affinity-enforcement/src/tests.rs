use affinity_groups::{HostRow, VmRow};

use super::cluster::Vm;
use super::*;

fn group(rule: &str, hard: bool, vms: &[i64]) -> GroupRow {
    GroupRow {
        rule: Some(rule.into()),
        hard,
        host_rule: None,
        host_hard: false,
        priority: 1.0,
        vms: vms.iter().map(|&vm| VmRow { vm }).collect(),
        hosts: Rows::default(),
    }
}

fn for_hosts(rule: &str, hard: bool, vms: &[i64], hosts: &[i64]) -> GroupRow {
    GroupRow {
        rule: None,
        host_rule: Some(rule.into()),
        host_hard: hard,
        hosts: hosts.iter().map(|&host| HostRow { host }).collect(),
        ..group("", false, vms)
    }
}

fn with_priority(priority: f64, group: GroupRow) -> GroupRow {
    GroupRow { priority, ..group }
}

fn vm(number: usize) -> Vm {
    Vm {
        id: format!("vm{number}").into(),
        migratable: true,
        pending: false,
    }
}

/// Hosts with so many VMs each, which are numbered through.
fn hosts(counts: &[usize]) -> Vec<Host> {
    let mut next = 0;
    let host = |&count: &usize| {
        let numbers = next..next + count;
        next += count;
        Host {
            state: "up".into(),
            migrating: 0,
            vms: numbers.map(vm).collect(),
        }
    };
    counts.iter().map(host).collect()
}

/// Three VMs on the first host, one on the second, two on the third.
fn three_hosts() -> Vec<Host> {
    hosts(&[3, 1, 2])
}

/// The same with other facts of one VM.
fn with_vm(mut hosts: Vec<Host>, host: usize, number: usize, vm: Vm) -> Vec<Host> {
    let mut vms: Vec<Vm> = hosts[host].vms.iter().collect();
    vms[number] = vm;
    hosts[host].vms = vms.into();
    hosts
}

fn unmovable(number: usize) -> Vm {
    Vm {
        migratable: false,
        ..vm(number)
    }
}

fn proposals(groups: Vec<GroupRow>, hosts: Vec<Host>) -> Vec<Proposal<Reason>> {
    let request = Request {
        groups: groups.into(),
        hosts: hosts.into(),
    };
    AffinityEnforcement::balance(&request, &()).expect("nothing is refused")
}

/// The VMs in order.
fn order(groups: Vec<GroupRow>, hosts: Vec<Host>) -> Vec<u32> {
    let vms = proposals(groups, hosts).into_iter();
    let vms = vms.filter_map(|proposal| match proposal {
        Proposal::Move { vm, .. } => Some(vm),
        _ => None,
    });
    vms.collect()
}

#[test]
fn kept_rules_move_nothing() {
    let kept = vec![
        group("positive", true, &[0, 1]),
        group("negative", true, &[0, 3]),
        for_hosts("positive", true, &[0, 3], &[0, 1]),
        for_hosts("negative", false, &[0], &[2]),
    ];
    assert_eq!(order(kept, three_hosts()), []);
}

#[test]
fn to_join_vms_the_hosts_with_the_fewest_are_left_first() {
    let all = vec![group("positive", true, &[0, 1, 2, 3, 4, 5])];
    assert_eq!(order(all, three_hosts()), [3, 4, 5, 0, 1, 2]);
}

#[test]
fn to_part_vms_the_hosts_with_the_most_are_left_first() {
    let all = vec![group("negative", true, &[0, 1, 2, 3, 4, 5])];
    assert_eq!(order(all, three_hosts()), [0, 1, 2, 4, 5]);
}

#[test]
fn positive_hard_groups_with_a_common_vm_are_one() {
    let two = vec![
        group("positive", true, &[0, 1]),
        group("positive", true, &[1, 4]),
    ];
    assert_eq!(order(two, three_hosts()), [4, 0, 1]);
    // Soft ones are not, and VM 1 would only change one companion for another.
    let soft = vec![
        group("positive", false, &[0, 1]),
        group("positive", false, &[1, 4]),
    ];
    assert_eq!(order(soft, three_hosts()), [4]);
}

#[test]
fn larger_groups_come_first_and_equal_ones_by_their_lowest_id_from_above() {
    let larger = vec![
        group("positive", true, &[1, 4]),
        group("positive", true, &[0, 3, 5]),
    ];
    assert_eq!(order(larger, three_hosts()), [0, 3, 5, 1, 4]);
    let equal = vec![
        group("positive", true, &[0, 3]),
        group("positive", true, &[1, 4]),
    ];
    assert_eq!(order(equal, three_hosts()), [1, 4, 0, 3]);
}

#[test]
fn host_rules_come_before_vm_rules_and_hard_ones_before_soft() {
    let all = vec![
        group("negative", false, &[4, 5]),
        for_hosts("positive", false, &[3], &[0]),
        group("negative", true, &[1, 2]),
        for_hosts("negative", true, &[0], &[0]),
    ];
    let reasons = [
        Reason::HardRuleForHosts,
        Reason::HardRuleForVms,
        Reason::HardRuleForVms,
        Reason::SoftRuleForHosts,
        Reason::SoftRuleForVms,
        Reason::SoftRuleForVms,
    ];
    let proposals = proposals(all, three_hosts());
    let found: Vec<_> = proposals
        .iter()
        .filter_map(|proposal| match proposal {
            Proposal::Move { vm, reason, .. } => Some((*vm, *reason)),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = [0, 1, 2, 3, 4, 5].into_iter().zip(reasons).collect();
    assert_eq!(found, expected);
}

#[test]
fn vms_that_break_the_fewest_host_rules_come_first() {
    let rules = vec![
        for_hosts("positive", true, &[0, 1], &[1]),
        for_hosts("positive", true, &[0, 1], &[2]),
        for_hosts("positive", true, &[3], &[0]),
    ];
    assert_eq!(order(rules, three_hosts()), [3, 0, 1]);
}

#[test]
fn a_vm_against_several_rules_is_proposed_once() {
    let rules = vec![
        for_hosts("negative", true, &[0], &[0]),
        group("negative", true, &[0, 1]),
        group("negative", false, &[0, 1]),
    ];
    assert_eq!(order(rules, three_hosts()), [0, 1]);
}

#[test]
fn a_group_without_hosts_binds_its_vms_to_none() {
    let rules = vec![for_hosts("positive", true, &[0], &[])];
    assert_eq!(order(rules, three_hosts()), []);
}

#[test]
fn vms_join_the_one_that_cannot_be_moved() {
    let hosts = with_vm(three_hosts(), 2, 1, unmovable(5));
    let group = || vec![group("positive", true, &[0, 1, 2, 4, 5])];
    assert_eq!(order(group(), hosts), [0, 1, 2]);
    let hosts = with_vm(three_hosts(), 0, 2, unmovable(2));
    assert_eq!(order(group(), hosts), [4, 5]);
}

#[test]
fn a_vm_that_cannot_be_moved_is_not_proposed_whatever_it_breaks() {
    let hosts = with_vm(three_hosts(), 0, 0, unmovable(0));
    let rules = vec![for_hosts("positive", true, &[0, 1], &[1])];
    assert_eq!(order(rules, hosts), [1]);
}

#[test]
fn reserved_places_do_not_count_and_nothing_happens_while_a_vm_moves() {
    let pending = Vm {
        pending: true,
        ..vm(3)
    };
    let rules = || vec![group("positive", true, &[0, 3])];
    assert_eq!(order(rules(), with_vm(three_hosts(), 1, 0, pending)), []);
    let mut moving = three_hosts();
    moving[2].migrating = 1;
    assert_eq!(order(rules(), moving), []);
}

#[test]
fn against_hard_rules_any_other_host_that_is_up_will_do() {
    let mut hosts = three_hosts();
    hosts[2].state = "maintenance".into();
    let rules = vec![group("positive", true, &[0, 3])];
    let expected = |vm, among| Proposal::Move {
        vm,
        among,
        accept: vec![],
        changes: Changes::new(),
        reason: Reason::HardRuleForVms,
    };
    assert_eq!(
        proposals(rules, hosts),
        [expected(0, vec![1]), expected(3, vec![0])]
    );
    let alone = vec![group("negative", true, &[0, 1])];
    assert_eq!(proposals(alone, self::hosts(&[2])), []);
}

/// The hosts that are accepted for VM 0 against soft rules; it runs on host 0.
fn accepted(groups: Vec<GroupRow>, counts: &[usize]) -> Vec<u32> {
    let moves = proposals(groups, hosts(counts)).into_iter();
    let mut accepted = moves.filter_map(|proposal| match proposal {
        Proposal::Move {
            vm: 0,
            among,
            accept,
            ..
        } => Some((among, accept)),
        _ => None,
    });
    let (among, accept) = accepted.next().unwrap_or_default();
    assert_eq!(among, [], "the chain may choose any host");
    accept
}

#[test]
fn against_soft_host_rules_a_choice_must_break_fewer() {
    let rules = vec![for_hosts("positive", false, &[0], &[1])];
    assert_eq!(accepted(rules, &[1, 0, 0]), [1]);
    let equal = vec![
        for_hosts("positive", false, &[0], &[1]),
        for_hosts("negative", false, &[0], &[1]),
    ];
    assert_eq!(accepted(equal, &[1, 0, 0]), []);
    let decided = vec![
        with_priority(2.0, for_hosts("positive", false, &[0], &[1])),
        for_hosts("negative", false, &[0], &[1]),
    ];
    assert_eq!(accepted(decided, &[1, 0, 0]), [1]);
}

#[test]
fn to_join_others_a_choice_must_have_more_company() {
    // VM 0 alone, two on the second host, one on the third.
    let rules = || vec![group("positive", false, &[0, 1, 2, 3])];
    assert_eq!(accepted(rules(), &[1, 2, 1]), [1, 2]);
    // One with it: only two are more.
    assert_eq!(accepted(rules(), &[2, 2, 0]), [1]);
    assert_eq!(accepted(rules(), &[2, 1, 1]), []);
}

#[test]
fn to_part_from_others_a_choice_must_have_none() {
    let rules = vec![group("negative", false, &[0, 1, 2])];
    assert_eq!(accepted(rules, &[2, 1, 0]), [2]);
}

#[test]
fn company_that_is_wanted_does_not_make_up_for_company_that_is_not() {
    let rules = |priority| {
        vec![
            with_priority(priority, group("positive", false, &[0, 1])),
            group("negative", false, &[0, 2]),
        ]
    };
    // Both on the second host.
    assert_eq!(accepted(rules(1.0), &[1, 2]), []);
    assert_eq!(accepted(rules(2.0), &[1, 2]), [1]);
}

#[test]
fn rules_for_hosts_or_rules_for_vms_may_be_what_improves() {
    let rules = vec![
        for_hosts("positive", false, &[0], &[1]),
        with_priority(5.0, group("negative", false, &[0, 1])),
    ];
    assert_eq!(accepted(rules, &[1, 1]), [1]);
}

#[test]
fn soft_groups_of_higher_priority_come_first() {
    let rules = vec![
        group("negative", false, &[0, 1]),
        with_priority(2.0, group("negative", false, &[4, 5])),
    ];
    assert_eq!(order(rules, three_hosts()), [4, 5, 0, 1]);
}
