//! The bytes of units by which recorded decisions were made.

use super::restart::again;
use super::*;

/// The digest and bytes of a unit that comes with the program.
fn embedded(name: &str) -> (String, &'static [u8]) {
    let unit = plugins::UNITS
        .iter()
        .find(|unit| unit.name == name)
        .unwrap();
    (Digest::of(unit.bytes).to_string(), unit.bytes)
}

#[test]
fn units_of_the_program_that_have_decided_are_kept_for_versions_that_lack_them() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let (affinity, bytes) = embedded("affinity");
    assert_eq!(deployment.store().artifact(&affinity).unwrap(), None);
    place(&cluster, request("new", 1));
    let kept = deployment.store().artifact(&affinity).unwrap();
    assert_eq!(kept.as_deref(), Some(bytes));
    let (unused, _) = embedded("even-guest-distribution");
    assert!(!deployment.store().has_artifact(&unused).unwrap());
    drop(cluster);
    let (world, cluster) = again(folder.path(), world, &generation);
    place(&cluster, request("other", 1));
    let kept = world.deployment.store().artifact(&affinity).unwrap();
    assert_eq!(kept.as_deref(), Some(bytes));
}

#[test]
fn what_recorded_decisions_were_made_by_is_needed_until_they_are_gone() {
    let store = Store::in_memory(StoreOptions {
        decisions: 16,
        ..StoreOptions::default()
    })
    .unwrap();
    let chain = |digest: &str| Change::PutChain {
        cluster: "c".to_owned(),
        body: format!(r#"{{"policy": {{}}, "units": {{"mine": "{digest}"}}}}"#),
    };
    let decide = |number: u64| Change::RecordDecision {
        cluster: "c".to_owned(),
        number,
        at: 0,
        body: "{}".to_owned(),
    };
    let put = Change::PutCluster {
        cluster: "c".to_owned(),
        body: "{}".to_owned(),
    };
    store
        .commit(vec![put, chain("old"), decide(1), chain("new"), decide(2)])
        .unwrap();
    let needed = digests_of_decisions(&store).unwrap();
    assert!(needed.contains("old") && needed.contains("new"));
    assert!(needed.contains(&embedded("affinity").0));
    for number in 3..40 {
        store.commit(vec![decide(number)]).unwrap();
    }
    let needed = digests_of_decisions(&store).unwrap();
    assert!(!needed.contains("old") && needed.contains("new"));
    // Whether others are needed is not known then.
    let unread = Change::PutChain {
        cluster: "c".to_owned(),
        body: "?".to_owned(),
    };
    store.commit(vec![unread]).unwrap();
    assert!(digests_of_decisions(&store).is_err());
}

/// The unit of that name with a section that nobody reads.
fn version(name: &str, number: u8) -> Candidate {
    let mut bytes = embedded(name).1.to_vec();
    bytes.extend([0, 3, 1, b'n', number]);
    Candidate {
        bytes: bytes.into(),
        signature: None,
    }
}

#[test]
fn units_that_were_replaced_are_removed_unless_recorded_decisions_were_made_by_them() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    for number in 0..16 {
        let staging = deployment
            .library()
            .upload(&version("worst-fit", number), "me");
        assert!(!staging.is_refused(), "{staging}");
        if number == 1 {
            place(&cluster, request("new", 1));
        }
    }
    let kept = |number: u8| {
        let digest = Digest::of(&version("worst-fit", number).bytes).to_string();
        deployment.store().has_artifact(&digest).unwrap()
    };
    let kept: Vec<u8> = (0..16).filter(|number| kept(*number)).collect();
    let expected: Vec<u8> = [1].into_iter().chain(6..16).collect();
    assert_eq!(kept, expected);
    let past = deployment.kept_past("c", 1).unwrap();
    assert!(past.replay().unwrap());
}

#[test]
fn decisions_by_chains_from_long_ago_hold_no_code_and_are_made_again_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    for round in 0..12 {
        let policy = format!("{POLICY}\n# {round}");
        deployment.put_policy(&edit(&policy), "somebody").unwrap();
        place(&cluster, request(&format!("v{round}"), 1));
    }
    let chains = cluster.turn(|state| {
        let decisions = state.scheduler().decisions();
        let mut chains: Vec<_> = decisions
            .map(|it| Arc::as_ptr(&it.chain) as usize)
            .collect();
        chains.dedup();
        Ok((chains.len(), state.past(1).is_err()))
    });
    assert_eq!(chains.wait().unwrap(), (5, true));
    assert!(deployment.kept_past("c", 1).unwrap().replay().unwrap());
}
