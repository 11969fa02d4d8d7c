use std::collections::BTreeSet;

use affinity_groups::{Rule, Wish};

use super::*;

const POSITIVE: Wish = Wish::Positive;
const NEGATIVE: Wish = Wish::Negative;

fn soft(wish: Wish) -> Option<Rule> {
    Some(Rule { wish, hard: false })
}

fn hard(wish: Wish) -> Option<Rule> {
    Some(Rule { wish, hard: true })
}

/// Numbered when they are put together.
fn group(for_vms: Option<Rule>, vms: &[u32], for_hosts: Option<Rule>, hosts: &[u32]) -> Group {
    Group {
        row: 0,
        for_vms,
        for_hosts,
        priority: Default::default(),
        vms: vms.to_vec(),
        hosts: hosts.to_vec(),
    }
}

type Parts = (Vec<u32>, Vec<u32>, Vec<u32>);

/// Conflicts as (reason, (groups, hosts, VMs)).
fn conflicts(groups: Vec<Group>) -> Vec<(Reason, Parts)> {
    let groups: Vec<Group> = (0..)
        .zip(groups)
        .map(|(row, group)| Group { row, ..group })
        .collect();
    let rows = |rows: BTreeSet<u32>| rows.into_iter().collect();
    let parts = |conflict: Conflict| {
        (
            rows(conflict.groups),
            rows(conflict.hosts),
            rows(conflict.vms),
        )
    };
    let found = find(&groups).into_iter();
    found
        .map(|(reason, conflict)| (reason, parts(conflict)))
        .collect()
}

#[test]
fn rules_that_can_all_be_kept_are_no_conflict() {
    let groups = vec![
        group(hard(POSITIVE), &[0, 1], hard(POSITIVE), &[0, 1]),
        group(hard(NEGATIVE), &[0, 2], hard(NEGATIVE), &[2]),
        group(None, &[3], hard(NEGATIVE), &[0]),
    ];
    assert_eq!(conflicts(groups), []);
}

#[test]
fn a_host_that_is_required_and_forbidden_comes_first() {
    let groups = vec![
        group(None, &[0, 1], hard(POSITIVE), &[0, 1]),
        group(None, &[1, 2], hard(NEGATIVE), &[1, 2]),
    ];
    let parts = || (vec![0, 1], vec![1], vec![1]);
    assert_eq!(
        conflicts(groups),
        [
            (Reason::HostsRequiredAndForbidden, parts()),
            (Reason::HostsWantedAndUnwanted, parts()),
        ]
    );
}

#[test]
fn wishes_conflict_too() {
    let groups = vec![
        group(None, &[0], soft(POSITIVE), &[0]),
        group(None, &[0], hard(NEGATIVE), &[0]),
    ];
    let parts = (vec![0, 1], vec![0], vec![0]);
    assert_eq!(conflicts(groups), [(Reason::HostsWantedAndUnwanted, parts)]);
}

#[test]
fn vms_that_belong_together_cannot_be_on_and_off_a_host() {
    let groups = vec![
        group(None, &[0], hard(POSITIVE), &[0]),
        group(None, &[2], hard(NEGATIVE), &[0]),
        group(soft(POSITIVE), &[0, 1], None, &[]),
        group(hard(POSITIVE), &[1, 2], None, &[]),
    ];
    let parts = (vec![0, 1], vec![0], vec![0, 2]);
    assert_eq!(
        conflicts(groups),
        [(Reason::HostsDivideVmsWantedTogether, parts)]
    );
}

#[test]
fn vms_that_are_to_be_apart_cannot_be_on_one_host() {
    let groups = vec![
        group(hard(NEGATIVE), &[0, 1], None, &[]),
        group(None, &[0], hard(POSITIVE), &[0]),
        group(None, &[1], hard(POSITIVE), &[0]),
        group(None, &[2], hard(POSITIVE), &[0]),
    ];
    let parts = (vec![0, 1, 2], vec![0], vec![0, 1]);
    assert_eq!(
        conflicts(groups),
        [(Reason::HostsJoinVmsWantedApart, parts)]
    );
}

#[test]
fn one_group_may_have_a_host_for_each_of_vms_that_are_to_be_apart() {
    let groups = vec![group(hard(NEGATIVE), &[0, 1], hard(POSITIVE), &[0, 1])];
    assert_eq!(conflicts(groups), []);
}

#[test]
fn hosts_that_not_all_groups_of_a_vm_name_are_told_of() {
    let groups = vec![
        group(None, &[0, 1], hard(POSITIVE), &[0, 1]),
        group(None, &[0, 2], hard(POSITIVE), &[0, 2]),
    ];
    let parts = (vec![0, 1], vec![1, 2], vec![0]);
    assert_eq!(conflicts(groups), [(Reason::HostsNotWantedByAll, parts)]);
}

#[test]
fn vms_cannot_be_together_and_apart() {
    let groups = vec![
        group(hard(POSITIVE), &[0, 1], None, &[]),
        group(hard(POSITIVE), &[1, 2], None, &[]),
        group(soft(NEGATIVE), &[0, 2, 3], None, &[]),
    ];
    let parts = (vec![2], vec![], vec![0, 1, 2]);
    assert_eq!(
        conflicts(groups),
        [(Reason::VmsWantedTogetherAndApart, parts)]
    );
}

#[test]
fn findings_name_tables_and_leave_out_places_that_are_only_reserved() {
    use affinity_groups::{HostRow, VmRow};
    let row = |word: &str, vms: &[i64]| GroupRow {
        rule: None,
        hard: false,
        host_rule: Some(word.into()),
        host_hard: false,
        priority: 1.0,
        vms: vms.iter().map(|&vm| VmRow { vm }).collect(),
        hosts: vec![HostRow { host: 1 }].into(),
    };
    let host = |pending: &[bool]| Host {
        vms: pending.iter().map(|&pending| Vm { pending }).collect(),
    };
    let request = Request {
        groups: vec![row("positive", &[0, 1, 2]), row("negative", &[1, 2])].into(),
        hosts: vec![host(&[false]), host(&[true, false])].into(),
    };
    let findings = AffinityConflicts::balance(&request, &()).expect("nothing is refused");
    let rows = vec![("groups", 0), ("groups", 1), ("hosts", 1), ("hosts/vms", 2)];
    let reason = Reason::HostsWantedAndUnwanted;
    assert_eq!(findings, [Proposal::Finding { reason, rows }]);
}
