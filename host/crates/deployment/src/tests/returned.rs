//! Units that fail on what probes cannot know: before they come into force, and after.

use super::*;

/// So many hosts that no probe has as many.
const HOSTS: usize = 61;

/// Traps where there are so many hosts.
const TRAPS: &str = "
    (local $hosts i32)
    (local.set $hosts (i32.load (local.get $rows)))
    (if (i32.eq (local.get $hosts) (i32.const 61)) (then unreachable))
    (call $answer
      (select (local.get $hosts) (i32.const 0) (local.get $verdicts))
      (select (local.get $hosts) (i32.const 0) (local.get $costs)))";

/// A unit "judge" that judges all hosts together.
fn judge(reason: &'static str, traps: bool) -> Vec<u8> {
    let judging = Judging {
        name: "judge",
        evaluation: 1,
        reasons: vec![reason],
        ..Judging::default()
    };
    let judging = Judging {
        judge: if traps { TRAPS } else { judging.judge },
        ..judging
    };
    judging.component()
}

fn candidate(bytes: Vec<u8>) -> Candidate {
    Candidate {
        bytes: bytes.into(),
        signature: None,
    }
}

fn many_hosts() -> ClusterDocument {
    let hosts: String = (0..HOSTS)
        .map(|it| format!("[[hosts]]\nid = \"h{it}\"\ncpu.cores = 8\nmemory.total = \"32 GiB\"\n"))
        .collect();
    ClusterDocument::read(&format!("name = \"c\"\n{hosts}"), "c.toml").unwrap()
}

/// A deployment that decides by a unit that works.
fn working(folder: &Path, set: impl FnOnce(&mut DeploymentOptions)) -> (World, Arc<Cluster>) {
    let good = units();
    let engine = good.units().next().unwrap().engine().clone();
    let judge = Unit::load(&engine, &judge("works", false), "judge").unwrap();
    let all = good.units().cloned().chain([judge]);
    let world = start_with(folder, &Generation::new(all).unwrap(), set);
    let policy = FAILING.replace("ON_FAILURE", "fail");
    let deployment = &world.deployment;
    deployment.put_policy(&edit(&policy), "somebody").unwrap();
    let cluster = deployment.create_cluster(many_hosts(), attach()).unwrap();
    (world, cluster)
}

fn in_force(world: &World) -> Digest {
    world.deployment.generation().get("judge").unwrap().digest()
}

fn asked(cluster: &Cluster, id: &str) -> Result<Option<String>, DeploymentError> {
    let request = request(id, 1);
    let placed = cluster.turn(move |state| state.place(request, None)).wait();
    placed.map(|placed| placed.host.map(|host| host.to_string()))
}

#[test]
fn a_candidate_that_fails_where_the_unit_in_force_answered_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = working(folder.path(), |_| {});
    let before = in_force(&world);
    asked(&cluster, "web-1").unwrap();
    let library = world.deployment.library();
    let staging = library.upload(&candidate(judge("fails", true)), "me");
    let placewright_library::stage::Outcome::Refused { why, .. } = &staging.outcome else {
        panic!("{staging}");
    };
    assert!(
        why.contains("1 of 1 recorded decisions would fail"),
        "{why}"
    );
    assert!(why.contains("VM \"web-1\""), "{why}");
    assert!(!why.contains("in another way"), "{why}");
    assert_eq!(staging.replay.as_ref().unwrap().failing, 1);
    assert_eq!(in_force(&world), before);
    asked(&cluster, "web-2").unwrap();
}

#[test]
fn where_a_unit_fails_after_it_came_into_force_its_predecessor_decides_again() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = working(folder.path(), |_| {});
    let (deployment, before) = (&world.deployment, in_force(&world));
    // Nothing is recorded: the trial finds nothing.
    let bad = judge("fails", true);
    deployment.library().upload(&candidate(bad.clone()), "me");
    assert_eq!(in_force(&world), Digest::of(&bad));
    for number in 0..3 {
        assert!(asked(&cluster, &format!("lost-{number}")).is_err());
    }
    deployment.return_from_failing();
    assert_eq!(in_force(&world), before);
    assert!(asked(&cluster, "web").unwrap().is_some(), "at once");
    let events = deployment.events().listen(Some(0)).missed;
    let returned = events.iter().find(|it| it.kind == EventKind::UnitReturned);
    let returned = returned.expect("it is told");
    assert!(returned.kind.is_warning());
    let message = &returned.message;
    assert!(
        message.contains("failed in 3 of the last 100 decisions"),
        "{message}"
    );
    assert!(
        message.contains("POST /v1/units/judge/rollback"),
        "{message}"
    );
    let last = deployment.library().history();
    let last = last.of("judge").next_back().unwrap();
    assert_eq!(last.digest, before);
}

#[test]
fn a_unit_without_a_predecessor_or_where_nobody_wants_it_is_not_gone_back_from() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = with_failing(folder.path(), "fail");
    for id in ["a", "b", "c"] {
        assert!(asked(&cluster, id).is_err());
    }
    world.deployment.return_from_failing();
    world.deployment.return_from_failing();
    let told = kinds(&world);
    let told = told.iter().filter(|kind| **kind == "unit-not-returned");
    assert_eq!(told.count(), 1, "it is told once");

    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = working(folder.path(), |options| options.return_after = None);
    let bad = judge("fails", true);
    world
        .deployment
        .library()
        .upload(&candidate(bad.clone()), "me");
    for id in ["a", "b", "c"] {
        assert!(asked(&cluster, id).is_err());
    }
    world.deployment.return_from_failing();
    assert_eq!(in_force(&world), Digest::of(&bad));
}
