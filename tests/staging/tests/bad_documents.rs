//! Documents with mistakes: every mistake is told, with its place and the name that
//! was probably meant.

use placewright_document::ClusterDocument;
use placewright_tests::scene::{both, policy};

fn policy_problems(text: &str) -> String {
    policy(text, &both()).unwrap_err().to_string()
}

fn cluster_problems(text: &str) -> String {
    ClusterDocument::read(text, "cluster.toml")
        .unwrap_err()
        .to_string()
}

#[test]
fn a_misspelt_unit_is_told_with_its_place_and_the_nearest_name() {
    assert_eq!(
        policy_problems("[[filters]]\nunit = 'misbehavin'"),
        "policy.toml:2:8: there is no unit \"misbehavin\" (did you mean \"misbehaving\"?)"
    );
}

#[test]
fn a_misspelt_key_is_told_with_its_place_and_the_nearest_key() {
    assert_eq!(
        policy_problems("[[costs]]\nunit = 'misbehaving'\nfactr = 2"),
        "policy.toml:3:1: a cost has no key \"factr\" (did you mean \"factor\"?)"
    );
}

#[test]
fn a_setting_out_of_range_is_told_with_the_range() {
    assert_eq!(
        policy_problems("[[filters]]\nunit = 'misbehaving'\nsettings.headroom = '2 TiB'"),
        "policy.toml:3:21: \"headroom\" of unit \"misbehaving\" must be from 0 to 1.0 TiB, not 2199023255552"
    );
}

#[test]
fn a_setting_that_is_none_of_the_choices_is_told_with_the_choices() {
    let said = policy_problems("[[filters]]\nunit = 'misbehaving'\nsettings.how = 'loop-forever'");
    assert!(
        said.contains("policy.toml:3:16: \"how\" of unit \"misbehaving\" must be "),
        "{said}"
    );
    assert!(said.contains("did you mean \"loops-forever\"?"), "{said}");
}

#[test]
fn several_problems_of_a_policy_are_told_at_once_in_the_order_of_their_places() {
    let said = policy_problems(
        "tie-rule = ['fewest']\n\
         [[filters]]\nunit = 'misbehavin'\n\
         [[filters]]\nunit = 'unsound'\nsettings.hov = 'x'\n\
         [[costs]]\nunit = 'unsound'\nscaling = 'minmax'\n\
         [balance]\nunit = 'nothing-like-it'",
    );
    let places: Vec<_> = said
        .lines()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "policy.toml:1:13",
            "policy.toml:3:8",
            "policy.toml:6:10",
            "policy.toml:9:11",
            "policy.toml:11:8",
        ],
        "{said}"
    );
}

#[test]
fn a_policy_that_is_no_toml_is_told_with_its_place() {
    let said = policy_problems("[[filters]\nunit = 'memory'");
    assert!(said.starts_with("policy.toml:1:"), "{said}");
}

#[test]
fn duplicate_ids_are_told_with_both_places() {
    assert_eq!(
        cluster_problems("[[hosts]]\nid = 'h1'\n[[hosts]]\nid = 'h1'"),
        "cluster.toml:4:6: there is a second host \"h1\"; the first is at cluster.toml:2:6"
    );
    let said = cluster_problems(
        "[[hosts]]\nid = 'h1'\n[[vms]]\nid = 'v'\nhost = 'h1'\n[[vms]]\nid = 'v'\nhost = 'h1'",
    );
    assert!(said.contains("there is a second VM \"v\""), "{said}");
}

#[test]
fn negative_memory_is_told_with_its_place() {
    let said = cluster_problems("[[hosts]]\nid = 'h1'\nmemory.total = '-1 GiB'");
    assert!(
        said.starts_with("cluster.toml:3:16: \"memory.total\" must be "),
        "{said}"
    );
    let said = cluster_problems("[[hosts]]\nid = 'h1'\nmemory.total = -1");
    assert!(
        said.starts_with("cluster.toml:3:16: \"memory.total\" must be "),
        "{said}"
    );
}

#[test]
fn a_vm_on_an_unknown_host_is_told_with_the_nearest_host() {
    assert_eq!(
        cluster_problems("[[hosts]]\nid = 'north-1'\n[[vms]]\nid = 'v'\nhost = 'nort-1'"),
        "cluster.toml:5:8: there is no host \"nort-1\" (did you mean \"north-1\"?)"
    );
}

#[test]
fn several_problems_of_a_cluster_are_told_at_once() {
    let said = cluster_problems(
        "[[hosts]]\nid = 'h1'\nmemory.total = -1\n[[hosts]]\nid = 'h1'\n[[vms]]\nid = 'v'\nhost = 'x'",
    );
    assert_eq!(said.lines().count(), 3, "{said}");
}
