//! The rules on a small cloud, and what must hold in any history.

mod cloud;
mod histories;

use cloud::{Cloud, Pod, active, ended};

use super::*;

/// One zone, three ordinary pods.
fn general() -> Cloud {
    let pod = |id| Pod::new(id, "az1", "");
    Cloud::of([pod("pod1"), pod("pod2"), pod("pod3")])
}

/// Two zones, each with a pod of either kind.
fn zones() -> Cloud {
    Cloud::of([
        Pod::new("pod1", "az1", ""),
        Pod::new("pod2", "az1", "resource=HPC"),
        Pod::new("pod3", "az2", ""),
        Pod::new("pod4", "az2", "resource=HPC"),
    ])
}

#[test]
fn a_tenant_without_a_binding_is_bound_to_the_chosen_pod() {
    let mut cloud = general();
    assert_eq!(cloud.request(5, None, ""), Some("pod1"));
    assert_eq!(cloud.bindings, [active("pod1", "az1", "", 5)]);
}

#[test]
fn a_bound_tenant_stays_and_nothing_is_written() {
    let mut cloud = general();
    cloud.bindings = vec![active("pod2", "az1", "", 5)];
    assert_eq!(cloud.request(9, Some("az1"), ""), Some("pod2"));
    assert_eq!(cloud.bindings, [active("pod2", "az1", "", 5)]);
}

#[test]
fn an_exhausted_pod_is_left_and_does_not_call_back_when_it_has_recovered() {
    let mut cloud = general();
    cloud.request(1, None, "");
    cloud.pod("pod1").fit = false;
    assert_eq!(cloud.request(2, None, ""), Some("pod2"));
    cloud.pod("pod1").fit = true;
    assert_eq!(cloud.request(3, None, ""), Some("pod2"));
    let moved = [ended("pod1", "az1", "", 1, 2), active("pod2", "az1", "", 2)];
    assert_eq!(cloud.bindings, moved);
}

#[test]
fn a_tenant_may_come_back_to_a_pod_by_a_second_row() {
    let mut cloud = general();
    cloud.request(1, None, "");
    cloud.pod("pod1").fit = false;
    cloud.request(2, None, "");
    cloud.pod("pod1").fit = true;
    cloud.pod("pod2").fit = false;
    assert_eq!(cloud.request(3, None, ""), Some("pod1"));
    let there_and_back = [
        ended("pod1", "az1", "", 1, 2),
        ended("pod2", "az1", "", 2, 3),
        active("pod1", "az1", "", 3),
    ];
    assert_eq!(cloud.bindings, there_and_back);
}

#[test]
fn where_nobody_can_serve_the_bindings_stay_as_they_are() {
    let mut cloud = general();
    cloud.request(1, None, "");
    for pod in ["pod1", "pod2", "pod3"] {
        cloud.pod(pod).fit = false;
    }
    assert_eq!(cloud.request(2, None, ""), None);
    assert_eq!(cloud.bindings, [active("pod1", "az1", "", 1)]);
}

#[test]
fn a_binding_to_a_pod_that_is_gone_ends_with_the_next_request() {
    let mut cloud = general();
    cloud.bindings = vec![active("pod0", "az1", "", 1)];
    assert_eq!(cloud.request(2, Some("az1"), ""), Some("pod1"));
    let moved = [ended("pod0", "az1", "", 1, 2), active("pod1", "az1", "", 2)];
    assert_eq!(cloud.bindings, moved);
}

#[test]
fn zones_and_kinds_of_resources_have_bindings_of_their_own() {
    let mut cloud = zones();
    assert_eq!(cloud.request(1, Some("az1"), ""), Some("pod1"));
    assert_eq!(cloud.request(2, Some("az2"), ""), Some("pod3"));
    assert_eq!(cloud.request(3, Some("az1"), "resource=HPC"), Some("pod2"));
    let each = [
        active("pod1", "az1", "", 1),
        active("pod3", "az2", "", 2),
        active("pod2", "az1", "resource=HPC", 3),
    ];
    assert_eq!(cloud.bindings, each);
}

#[test]
fn without_a_zone_the_oldest_binding_to_a_fit_pod_is_kept() {
    let mut cloud = zones();
    cloud.bindings = vec![active("pod1", "az1", "", 7), active("pod3", "az2", "", 4)];
    assert_eq!(cloud.request(8, None, ""), Some("pod3"));
    cloud.pod("pod3").fit = false;
    assert_eq!(cloud.request(9, None, ""), Some("pod1"));
    assert_eq!(cloud.bindings.len(), 2);
}

#[test]
fn of_bindings_that_began_at_once_the_one_written_first_is_kept() {
    let mut cloud = zones();
    cloud.bindings = vec![active("pod3", "az2", "", 4), active("pod1", "az1", "", 4)];
    assert_eq!(cloud.request(8, None, ""), Some("pod3"));
}

#[test]
fn without_a_zone_all_bindings_end_when_none_can_be_kept() {
    let mut cloud = zones();
    cloud.pods.push(Pod::new("pod5", "az3", ""));
    let hpc = active("pod2", "az1", "resource=HPC", 2);
    cloud.bindings = vec![
        active("pod1", "az1", "", 1),
        hpc.clone(),
        active("pod3", "az2", "", 3),
    ];
    cloud.pod("pod1").fit = false;
    cloud.pod("pod3").fit = false;
    assert_eq!(cloud.request(4, None, ""), Some("pod5"));
    let after = [
        ended("pod1", "az1", "", 1, 4),
        hpc,
        ended("pod3", "az2", "", 3, 4),
        active("pod5", "az3", "", 4),
    ];
    assert_eq!(cloud.bindings, after);
}

#[test]
fn bindings_that_ended_are_neither_kept_nor_ended_again() {
    let mut cloud = general();
    cloud.bindings = vec![ended("pod3", "az1", "", 1, 2)];
    assert_eq!(cloud.request(4, None, ""), Some("pod1"));
    assert_eq!(cloud.bindings[0], ended("pod3", "az1", "", 1, 2));
}

#[test]
fn a_policy_without_zones_or_tags_has_one_binding_for_all_of_them() {
    let mut cloud = zones();
    cloud.settings.by_zone = false;
    cloud.settings.by_tag = false;
    cloud.request(1, Some("az1"), "");
    assert_eq!(cloud.request(2, Some("az2"), "resource=HPC"), Some("pod1"));
    cloud.pod("pod1").fit = false;
    assert_eq!(cloud.request(3, Some("az2"), ""), Some("pod2"));
    let after = [
        ended("pod1", "az1", "", 1, 3),
        active("pod2", "az1", "resource=HPC", 3),
    ];
    assert_eq!(cloud.bindings, after);
}

#[test]
fn a_request_for_any_of_two_kinds_keeps_a_binding_for_either() {
    let mut cloud = zones();
    cloud.bindings = vec![active("pod2", "az1", "resource=HPC", 1)];
    let both = "class=gold,resource=HPC";
    assert_eq!(cloud.request(2, Some("az1"), both), Some("pod2"));
    assert_eq!(cloud.bindings.len(), 1);
}

#[test]
fn of_several_tags_of_a_pod_the_one_that_is_asked_for_is_written() {
    let mut cloud = Cloud::of([Pod::new("pod1", "az1", "class=gold,resource=HPC")]);
    cloud.request(1, None, "resource=HPC");
    cloud.bind(2, "pod1");
    let after = [
        active("pod1", "az1", "resource=HPC", 1),
        active("pod1", "az1", "class=gold", 2),
    ];
    assert_eq!(cloud.bindings, after);
}

#[test]
fn an_administrator_ends_the_bindings_of_the_pods_zone_and_tag_only() {
    let mut cloud = zones();
    cloud.pods.push(Pod::new("pod5", "az1", ""));
    cloud.request(1, Some("az1"), "");
    cloud.request(2, Some("az2"), "");
    cloud.request(3, Some("az1"), "resource=HPC");
    cloud.bind(4, "pod5");
    let after = [
        ended("pod1", "az1", "", 1, 4),
        active("pod3", "az2", "", 2),
        active("pod2", "az1", "resource=HPC", 3),
        active("pod5", "az1", "", 4),
    ];
    assert_eq!(cloud.bindings, after);
}

#[test]
fn an_administrator_may_bind_to_a_pod_that_no_filter_keeps() {
    let mut cloud = zones();
    cloud.pod("pod4").fit = false;
    cloud.bind(1, "pod4");
    assert_eq!(cloud.bindings, [active("pod4", "az2", "resource=HPC", 1)]);
}

#[test]
fn binding_to_the_same_pod_again_changes_nothing() {
    let mut cloud = zones();
    cloud.bind(1, "pod2");
    cloud.bind(2, "pod2");
    assert_eq!(cloud.bindings, [active("pod2", "az1", "resource=HPC", 1)]);
}

#[test]
fn a_pod_without_a_zone_has_bindings_of_its_own() {
    let mut cloud = general();
    cloud.pods.push(Pod::new("pod4", "", ""));
    cloud.bind(1, "pod1");
    cloud.bind(2, "pod4");
    cloud.bind(3, "pod4");
    assert_eq!(cloud.bindings.len(), 2);
    assert_eq!(cloud.bindings[1], active("pod4", "", "", 2));
}

#[test]
fn a_request_for_no_tenant_binds_nobody() {
    let mut cloud = general();
    cloud.tenant = false;
    assert_eq!(cloud.request(1, None, ""), Some("pod1"));
    assert_eq!(cloud.bindings, []);
}

#[test]
fn the_selection_leaves_the_bound_pod_alone_or_everybody() {
    let mut cloud = general();
    let refine = |cloud: &Cloud| {
        let candidates = cloud.candidates(None, "");
        PodBinding::refine(&candidates, &cloud.settings).expect("nothing is refused")
    };
    assert_eq!(refine(&cloud), Groups::only([0, 1, 2]));
    cloud.bindings = vec![active("pod2", "az1", "", 1)];
    assert_eq!(refine(&cloud), Groups::only([1]));
    for pod in ["pod1", "pod2", "pod3"] {
        cloud.pod(pod).fit = false;
    }
    assert_eq!(refine(&cloud), Groups::default());
}

#[test]
fn the_effects_set_the_rows_that_end_and_append_the_one_that_begins() {
    let mut cloud = general();
    cloud.bindings = vec![ended("pod2", "az1", "", 1, 2), active("pod1", "az1", "", 2)];
    let mut expected = Changes::<Binding>::new();
    expected.set(TENANT, 1, ended("pod1", "az1", "", 2, 7));
    expected.append(TENANT, active("pod3", "az1", "", 7));
    let placement = cloud.placement(7, Some("az1"), "", "pod3");
    let changes = PodBinding::placed(&placement, &cloud.settings).expect("nothing is refused");
    assert_eq!(changes.into_contract(), expected.into_contract());
}

#[test]
fn it_writes_the_tenants_bindings_with_the_decision() {
    let effects = native_unit().describe().effects.expect("it has effects");
    let [write] = &effects.writes[..] else {
        panic!("one table is written");
    };
    let columns: Vec<_> = write.columns.iter().map(|(name, _)| &**name).collect();
    assert_eq!(write.table, "bindings");
    assert_eq!(columns, ["host", "zone", "tag", "start", "end"]);
}

#[test]
fn bad_keys_are_refused() {
    assert_eq!(PodBinding::check(&cloud::settings()), Ok(()));
    let key = "a=b".into();
    let ambiguous = Settings {
        affinity_keys: vec![AffinityKey { key }].into(),
        ..cloud::settings()
    };
    assert!(PodBinding::check(&ambiguous).is_err());
}
