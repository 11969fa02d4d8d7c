//! What is not trusted any more decides and judges nothing.

use std::collections::BTreeSet;

use super::*;
use placewright_engine::unit::Digest;
use placewright_library::trust::Trust;

fn without(digest: Digest) -> Trust {
    Trust {
        revoked: BTreeSet::from([digest]),
        ..Trust::default()
    }
}

fn broken(cluster: &Cluster) -> Option<String> {
    let broken = cluster.turn(|state| Ok(state.broken().map(str::to_owned)));
    broken.wait().unwrap()
}

#[test]
fn a_cluster_whose_policy_needs_a_unit_that_is_not_trusted_decides_nothing_until_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    assert!(place(&cluster, request("x", 1)).is_some());
    let digest = generation.get("affinity").unwrap().digest();
    deployment.trust(without(digest)).unwrap();
    let why = broken(&cluster).unwrap();
    assert!(
        why.contains("\"affinity\" is not trusted: it is revoked"),
        "{why}"
    );
    let refused = cluster.turn(move |state| state.place(request("y", 1), None));
    let refused = refused.wait().unwrap_err().to_string();
    assert!(refused.contains("it is revoked"), "{refused}");
    assert!(cluster.policy().is_none(), "no unit of it is asked");
    assert_eq!(told(deployment, "cluster-without-policy"), 1);
    // What does not need it goes on.
    let other = r#"[[filters]]
        unit = "worst-fit"
        [[costs]]
        unit = "worst-fit""#;
    let other = Edit {
        name: "other".to_owned(),
        ..edit(other)
    };
    deployment.put_policy(&other, "somebody").unwrap();
    deployment.trust(Trust::default()).unwrap();
    assert_eq!(broken(&cluster), None);
    assert!(place(&cluster, request("y", 1)).is_some());
}

#[test]
fn a_cluster_whose_unit_is_not_trusted_decides_by_what_is_in_its_place_from_the_next_turn_on() {
    let folder = tempfile::tempdir().unwrap();
    let generation = units();
    let world = start(folder.path(), &generation);
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let embedded = generation.get("worst-fit").unwrap().digest();
    let bytes = plugins::UNITS.iter().find(|it| it.name == "worst-fit");
    // The same with a section that nobody reads.
    let mut bytes = bytes.unwrap().bytes.to_vec();
    bytes.extend([0, 5, 4, b'n', b'o', b't', b'e']);
    let candidate = Candidate {
        bytes: bytes.into(),
        signature: None,
    };
    let digest = Digest::of(&candidate.bytes);
    deployment.library().upload(&candidate, "me");
    let decides = |cluster: &Cluster| {
        let decided = cluster.turn(move |state| {
            let chain = state.scheduler().chain();
            let units = chain.units().into_iter();
            Ok(units.map(|unit| unit.digest()).collect::<BTreeSet<_>>())
        });
        decided.wait().unwrap()
    };
    assert!(decides(&cluster).contains(&digest));
    deployment.trust(without(digest)).unwrap();
    let units = decides(&cluster);
    assert!(units.contains(&embedded) && !units.contains(&digest));
    assert_eq!(broken(&cluster), None);
}

#[test]
fn a_candidate_that_is_not_trusted_any_more_judges_nothing_and_cannot_be_promoted() {
    let folder = tempfile::tempdir().unwrap();
    let world = start(folder.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(POLICY), "somebody").unwrap();
    deployment.create_cluster(document(), attach()).unwrap();
    let bytes = plugins::UNITS.iter().find(|it| it.name == "worst-fit");
    let mut bytes = bytes.unwrap().bytes.to_vec();
    bytes.extend([0, 5, 4, b'n', b'o', b't', b'e']);
    let candidate = Candidate {
        bytes: bytes.into(),
        signature: None,
    };
    deployment.begin_shadow(&candidate, "me", 1).unwrap();
    deployment.shadow("worst-fit").unwrap();
    deployment
        .trust(without(Digest::of(&candidate.bytes)))
        .unwrap();
    deployment.shadow("worst-fit").unwrap_err();
    deployment.promote_shadow("worst-fit", "me").unwrap_err();
    assert_eq!(told(deployment, "shadow-discarded"), 1);
}
