//! Plans that are made, begun, followed and cancelled.

use super::*;
use crate::cluster::{Begin, MoveNamed, MoveState, PlanShown, only_tried};
use crate::{Cluster, DeploymentError};
use placewright_model::budget::Collection;

use MoveState::{Begun, Cancelled, Confirmed, Expired, Planned, Stale};

/// A cluster of which host a runs v0 to v5, and b nothing.
fn uneven_cluster(folder: &Path) -> (World, Arc<Cluster>) {
    let world = start(folder, &units());
    world
        .deployment
        .put_policy(&edit(EVENING_OUT), "somebody")
        .unwrap();
    let cluster = world.deployment.create_cluster(uneven(), attach()).unwrap();
    (world, cluster)
}

/// A plan that empties host a.
fn emptied(cluster: &Cluster, max_in_flight: Option<usize>) -> PlanShown {
    let planner = cluster.turn(ClusterState::planner).wait().unwrap();
    let plan = planner.evacuate(&["a".into()]).unwrap();
    let kept = cluster.turn(move |state| state.remember_plan(plan, max_in_flight));
    kept.wait().unwrap()
}

fn try_begin(cluster: &Cluster, begin: Begin) -> Result<PlanShown, DeploymentError> {
    cluster
        .turn(move |state| state.begin_plan(1, &begin))
        .wait()
}

fn begin(cluster: &Cluster, begin: Begin) -> PlanShown {
    try_begin(cluster, begin).unwrap()
}

fn named(moves: Vec<MoveNamed>) -> Begin {
    Begin {
        moves: Some(moves),
        ..Begin::default()
    }
}

fn states(plan: &PlanShown) -> Vec<MoveState> {
    plan.moves.iter().map(|it| it.state).collect()
}

fn shown(cluster: &Cluster) -> PlanShown {
    cluster.turn(|state| state.plan(1)).wait().unwrap()
}

fn confirm(cluster: &Cluster, vm: &Arc<str>) {
    let vm = vm.clone();
    cluster
        .turn(move |state| state.confirm(&[vm], None).map(|_| ()))
        .wait()
        .unwrap();
}

fn change(cluster: &Cluster, changes: &str) {
    let changes = InventoryChanges::read(changes, "c.json", &cluster.schema()).unwrap();
    cluster
        .turn(|state| state.change(changes).map(|_| ()))
        .wait()
        .unwrap();
}

#[test]
fn no_more_moves_are_under_way_at_once_than_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, Some(2));
    assert_eq!(states(&plan), [Planned; 6], "{plan:?}");
    let begun = begin(&cluster, Begin::default());
    assert_eq!(states(&begun)[..3], [Begun, Begun, Planned]);
    for waiting in &begun.moves[2..] {
        let why = waiting.why.as_deref().unwrap();
        assert!(
            why.contains("2 are under way, and at most 2 may be"),
            "{why}"
        );
    }
    let expires = world.clock.load(Ordering::Relaxed) + 300;
    assert_eq!(begun.moves[0].expires, Some(expires));
    let again = begin(&cluster, Begin::default());
    assert_eq!(again.counted.begun, 2);
    confirm(&cluster, &plan.moves[0].planned.vm);
    assert_eq!(states(&shown(&cluster))[..2], [Confirmed, Begun]);
    let more = begin(&cluster, Begin::default());
    assert_eq!(states(&more)[..4], [Confirmed, Begun, Begun, Planned]);
    let all = Begin {
        max_in_flight: Some(9),
        ..Begin::default()
    };
    assert_eq!(begin(&cluster, all).counted.begun, 5);
}

#[test]
fn a_move_that_cannot_begin_holds_up_none_that_can() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, None);
    let first = plan.moves[0].planned.vm.clone();
    let request = Request {
        members: vec![placewright_model::Vm::new(first.clone())],
        ..Request::default()
    };
    let moved = cluster.turn(move |state| state.migrate(request, None).map(|_| ()));
    moved.wait().unwrap();
    let begun = begin(&cluster, Begin::default());
    let expected = [Planned, Begun, Begun, Begun, Begun, Begun];
    assert_eq!(states(&begun), expected, "{begun:?}");
    let why = begun.moves[0].why.as_deref().unwrap();
    assert!(why.contains("has a place reserved already"), "{why}");
    let events = world.deployment.events().listen(Some(0)).missed;
    let told = events.iter().filter(|it| it.kind == EventKind::PlanBegun);
    let told: Vec<&str> = told.map(|it| &*it.message).collect();
    assert!(
        told[0].contains("5 are under way and 0 done; 1 waits: VM"),
        "{told:?}"
    );
    // What it waited for is over.
    let back = cluster.turn(move |state| state.cancel(&[first]));
    back.wait().unwrap();
    assert_eq!(states(&begin(&cluster, Begin::default())), [Begun; 6]);
}

#[test]
fn a_place_on_a_host_that_goes_down_ends_at_once_and_the_move_says_so() {
    for lost in ["down", "error"] {
        let folder = tempfile::tempdir().unwrap();
        let (world, cluster) = uneven_cluster(folder.path());
        emptied(&cluster, Some(2));
        let begun = begin(&cluster, Begin::default());
        let vm = begun.moves[0].planned.vm.clone();
        let state = format!(r#"{{"hosts": [{{"id": "b", "state": "{lost}"}}]}}"#);
        change(&cluster, &state);
        assert_eq!(counted(&cluster).2, 0, "no place is reserved any more");
        let after = shown(&cluster);
        assert_eq!(states(&after)[..3], [Stale, Stale, Planned], "{after:?}");
        let why = after.moves[0].why.as_deref().unwrap();
        assert_eq!(
            why,
            format!("the place on host b has ended: its state is {lost}")
        );
        let events = world.deployment.events().listen(Some(0)).missed;
        let ends = events
            .iter()
            .filter(|it| it.kind == EventKind::ReservationLost);
        let ends: Vec<_> = ends.map(|it| (it.vm.clone(), it.host.as_deref())).collect();
        assert_eq!(ends.len(), 2, "{events:?}");
        assert_eq!(ends[0], (Some(vm.clone()), Some("b")));
        let late = vm.clone();
        let confirmed = cluster.turn(move |state| state.confirm(&[late], None));
        let refused = confirmed.wait().unwrap_err();
        assert!(
            matches!(refused, DeploymentError::ReservationEnded { .. }),
            "{refused}"
        );
        // It is kept like that.
        world.deployment.stop();
        drop((world, cluster));
        let world = start(folder.path(), &units());
        let cluster = world.deployment.cluster("c").unwrap();
        assert_eq!(
            (counted(&cluster).2, states(&shown(&cluster))[0]),
            (0, Stale)
        );
        let gone = cluster.turn(move |state| state.reservation(&vm).map(|_| ()));
        let gone = gone.wait().unwrap_err().to_string();
        assert!(gone.contains("ended with that host"), "{gone}");
    }
}

#[test]
fn a_plan_that_goes_on_by_itself_begins_the_next_moves_as_one_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, Some(2));
    let auto = |auto: bool| Begin {
        auto: Some(auto),
        reserve_for: Some(40),
        ..Begin::default()
    };
    let begun = begin(&cluster, auto(true));
    assert!(begun.auto);
    assert_eq!(begun.counted.begun, 2);
    let expires = world.clock.load(Ordering::Relaxed) + 40;
    assert_eq!(begun.moves[1].expires, Some(expires));
    confirm(&cluster, &plan.moves[0].planned.vm);
    let after = shown(&cluster);
    assert_eq!(states(&after)[..4], [Confirmed, Begun, Begun, Planned]);
    assert_eq!(after.moves[2].expires, Some(expires));
    // To begin moves otherwise leaves it at that; only to say so ends it.
    assert!(begin(&cluster, Begin::default()).auto);
    assert!(!begin(&cluster, auto(false)).auto);
    confirm(&cluster, &plan.moves[1].planned.vm);
    assert_eq!(shown(&cluster).counted.begun, 1);
    // In the place of those that nobody confirms others are begun, and not the same again.
    begin(&cluster, auto(true));
    let after_time = || {
        world.clock.fetch_add(41, Ordering::Relaxed);
        // What has expired is seen in one turn, and the next ones are begun at its end.
        shown(&cluster);
        states(&shown(&cluster))
    };
    assert_eq!(after_time()[2..], [Expired, Expired, Begun, Begun]);
    assert_eq!(after_time()[2..], [Expired; 4]);
    let cancelled = cluster.turn(|state| state.cancel_plan(1)).wait().unwrap();
    assert!(!cancelled.auto);
}

#[test]
fn a_plan_of_which_all_moves_are_stale_does_not_go_on_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    emptied(&cluster, None);
    change(
        &cluster,
        r#"{"gone": {"vms": ["v0", "v1", "v2", "v3", "v4", "v5"]}}"#,
    );
    let auto = Begin {
        auto: Some(true),
        ..Begin::default()
    };
    let begun = begin(&cluster, auto);
    assert_eq!(states(&begun), [Stale; 6]);
    assert!(!begun.auto);
}

#[test]
fn a_plan_is_idle_until_something_of_it_is_begun_and_once_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    emptied(&cluster, Some(1));
    let is_idle = || {
        let idle = cluster.turn(|state| Ok(state.is_plan_idle(1)));
        idle.wait().unwrap()
    };
    assert!(is_idle());
    let begun = begin(&cluster, Begin::default());
    assert_eq!(begun.counted.begun, 1);
    assert!(!is_idle());
    let cancel = || cluster.turn(|state| state.cancel_plan(1)).wait().unwrap();
    assert_eq!(cancel().counted.begun, 0);
    assert!(is_idle());
    assert!(cancel().cancelled);
    assert!(is_idle());
    let none = cluster.turn(|state| Ok(state.is_plan_idle(2)));
    assert!(!none.wait().unwrap());
}

#[test]
fn a_plan_that_goes_on_by_itself_begins_the_next_move_when_one_is_stale_or_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, Some(1));
    let auto = Begin {
        auto: Some(true),
        ..Begin::default()
    };
    begin(&cluster, auto);
    let vm = |step: usize| plan.moves[step].planned.vm.clone();
    let gone = format!(r#"{{"gone": {{"vms": ["{}"]}}}}"#, vm(0));
    change(&cluster, &gone);
    assert_eq!(states(&shown(&cluster))[..2], [Stale, Begun]);
    let given_back = vm(1);
    let cancelled = cluster.turn(move |state| state.cancel(&[given_back]));
    cancelled.wait().unwrap();
    let after = shown(&cluster);
    assert_eq!(states(&after)[..3], [Stale, Cancelled, Begun]);
    assert_eq!(after.counted.begun, 1);
}

#[test]
fn a_plan_ends_when_whoever_had_it_go_on_by_itself_may_not_operate_there_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, Some(1));
    let wanted = Begin {
        auto: Some(true),
        ..Begin::default()
    };
    begin(&cluster, wanted);
    drop(cluster);
    drop(world);
    let world = start_with(folder.path(), &units(), |options| {
        options.authority = Arc::new(|_, cluster| cluster != "c");
    });
    let cluster = world.deployment.cluster("c").unwrap();
    let events = world.deployment.events().last();
    confirm(&cluster, &plan.moves[0].planned.vm);
    let after = shown(&cluster);
    assert!(!after.auto);
    assert_eq!(states(&after)[..2], [Confirmed, Planned], "{after:?}");
    let told = world.deployment.events().listen(Some(events)).missed;
    assert!(
        told.iter().any(|it| it.kind == EventKind::PlanHalted),
        "{told:?}"
    );
}

#[test]
fn a_plan_goes_on_by_itself_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, Some(1));
    let wanted = Begin {
        auto: Some(true),
        ..Begin::default()
    };
    begin(&cluster, wanted);
    drop(cluster);
    drop(world);
    let world = start(folder.path(), &units());
    let cluster = world.deployment.cluster("c").unwrap();
    confirm(&cluster, &plan.moves[0].planned.vm);
    let after = shown(&cluster);
    assert_eq!(
        states(&after)[..3],
        [Confirmed, Begun, Planned],
        "{after:?}"
    );
}

#[test]
fn places_of_a_plan_are_reserved_no_longer_than_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    emptied(&cluster, None);
    let wanted = Begin {
        reserve_for: Some(i64::MAX),
        ..Begin::default()
    };
    let refused = try_begin(&cluster, wanted).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("\"reserve-for\" must be from 1 to"),
        "{refused}"
    );
    assert_eq!(shown(&cluster).counted.begun, 0);
}

#[test]
fn a_move_that_nobody_confirms_expires_and_can_be_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    emptied(&cluster, None);
    assert_eq!(begin(&cluster, Begin::default()).counted.begun, 6);
    world.clock.fetch_add(301, Ordering::Relaxed);
    assert_eq!(states(&shown(&cluster)), [Expired; 6]);
    assert_eq!(begin(&cluster, Begin::default()).counted.begun, 6);
    let cancelled = cluster
        .turn(|state| state.cancel(&["v3"]).map(|_| ()))
        .wait();
    cancelled.unwrap();
    assert_eq!(shown(&cluster).counted.cancelled, 1);
    let cancelled = cluster.turn(|state| state.cancel_plan(1)).wait().unwrap();
    assert_eq!(states(&cancelled), [Cancelled; 6]);
    assert!(cancelled.cancelled);
    let refused = try_begin(&cluster, Begin::default()).unwrap_err();
    assert!(refused.to_string().contains("was cancelled"), "{refused}");
    assert_eq!(counted(&cluster).2, 0, "no place is reserved any more");
}

#[test]
fn single_moves_are_begun_by_step_or_by_vm() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, None);
    let last = plan.moves[5].planned.vm.to_string();
    let begun = begin(
        &cluster,
        named(vec![MoveNamed::Step(2), MoveNamed::Vm(last)]),
    );
    let expected = [Planned, Begun, Planned, Planned, Planned, Begun];
    assert_eq!(states(&begun), expected);
    for unknown in [MoveNamed::Step(0), MoveNamed::Step(7)] {
        let refused = try_begin(&cluster, named(vec![unknown])).unwrap_err();
        assert!(
            refused.to_string().contains("move in this plan"),
            "{refused}"
        );
    }
    let refused = try_begin(&cluster, named(vec![MoveNamed::Vm("v9".into())]));
    assert!(refused.unwrap_err().to_string().contains("did you mean"));
}

#[test]
fn a_move_that_is_none_any_more_is_stale_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    let plan = emptied(&cluster, None);
    let vm = |step: usize| plan.moves[step].planned.vm.clone();
    change(
        &cluster,
        &format!(
            r#"{{"gone": {{"vms": ["{}"]}}, "vms": [{{"id": "{}", "host": "b"}}]}}"#,
            vm(0),
            vm(1)
        ),
    );
    let begun = begin(&cluster, Begin::default());
    assert_eq!(states(&begun)[..3], [Stale, Stale, Begun]);
    let why = begun.moves[1].why.as_deref().unwrap();
    assert!(why.contains("does not run on host \"a\" any more"), "{why}");
    // One that is under way, and ends otherwise.
    change(
        &cluster,
        &format!(r#"{{"gone": {{"vms": ["{}"]}}}}"#, vm(2)),
    );
    let after = shown(&cluster);
    assert_eq!(after.moves[2].state, Stale);
    assert_eq!(after.moves[2].why.as_deref(), Some("the VM is gone"));
}

#[test]
fn a_move_to_a_host_that_takes_nothing_any_more_is_stale() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    emptied(&cluster, None);
    change(&cluster, r#"{"hosts": [{"id": "b", "state": "down"}]}"#);
    let begun = begin(&cluster, Begin::default());
    assert_eq!(states(&begun)[0], Stale);
    let why = begun.moves[0].why.as_deref().unwrap();
    assert!(why.contains("its state is down"), "{why}");
}

#[test]
fn hosts_that_are_emptied_tell_what_cannot_go_and_what_is_reserved() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    place(&cluster, request("new", 1));
    change(&cluster, r#"{"vms": [{"id": "v0", "memory": "60 GiB"}]}"#);
    let planner = cluster.turn(ClusterState::planner).wait().unwrap();
    let plan = only_tried(planner.evacuate(&["b".into()]).unwrap(), None);
    assert_eq!((plan.number, plan.moves.len()), (None, 0));
    let reserved = &plan.told.reserved[0];
    assert_eq!((&*reserved.vm, &*reserved.host), ("new", "b"));
    assert!(reserved.expires.is_some());
    let plan = emptied(&cluster, None);
    // The largest is placed first, and then there is little room.
    assert_eq!(&*plan.moves[0].planned.vm, "v0");
    assert_eq!(plan.told.stuck.len() + plan.moves.len(), 6);
    let stuck = &plan.told.stuck[0];
    assert!(
        !stuck.removed.is_empty() && !stuck.why.is_empty(),
        "{stuck:?}"
    );
    assert_eq!(stuck.reason, "host a is to be emptied");
    let unknown = cluster.turn(ClusterState::planner).wait().unwrap();
    let unknown = unknown.evacuate(&["bb".into()]).unwrap_err();
    assert!(
        unknown.to_string().contains("there is no host"),
        "{unknown}"
    );
}

/// A plan of repairs, with host a in maintenance.
fn repaired(cluster: &Cluster) -> PlanShown {
    change(
        cluster,
        r#"{"hosts": [{"id": "a", "state": "maintenance"}]}"#,
    );
    let planner = cluster.turn(ClusterState::planner).wait().unwrap();
    let plan = planner.plan(&Default::default()).unwrap();
    let kept = cluster.turn(move |state| state.remember_plan(plan, Some(2)));
    kept.wait().unwrap()
}

#[test]
fn moves_off_a_host_that_is_up_again_are_stale_and_say_when_they_were_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = uneven_cluster(folder.path());
    let plan = repaired(&cluster);
    assert_eq!(states(&plan)[..6], [Planned; 6], "{plan:?}");
    assert!(plan.moves.iter().all(|it| it.checked.is_none()));
    world.clock.fetch_add(5, Ordering::Relaxed);
    let now = Some(world.clock.load(Ordering::Relaxed));
    let first = begin(&cluster, named(vec![MoveNamed::Step(1)]));
    assert_eq!((first.moves[0].state, first.moves[0].checked), (Begun, now));
    assert_eq!(first.moves[1].checked, None);
    change(&cluster, r#"{"hosts": [{"id": "a", "state": "up"}]}"#);
    let after = begin(&cluster, Begin::default());
    assert_eq!(states(&after)[1..6], [Stale; 5], "{after:?}");
    let why = after.moves[1].why.as_deref().unwrap();
    assert!(why.contains("host a is up again"), "{why}");
    assert_eq!(after.moves[1].checked, now);
    assert_eq!(counted(&cluster).2, 1, "only the first has a place");
}

#[test]
fn a_plan_that_goes_on_by_itself_ends_when_its_cause_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    let plan = repaired(&cluster);
    let wanted = Begin {
        auto: Some(true),
        ..Begin::default()
    };
    assert_eq!(begin(&cluster, wanted).counted.begun, 2);
    change(&cluster, r#"{"hosts": [{"id": "a", "state": "up"}]}"#);
    for place in 0..2 {
        confirm(&cluster, &plan.moves[place].planned.vm);
    }
    let after = shown(&cluster);
    assert_eq!(
        (after.counted.confirmed, after.counted.stale),
        (2, 4),
        "{after:?}"
    );
    assert!(!after.auto);
    assert_eq!(counted(&cluster).2, 0, "no place is reserved");
}

#[test]
fn a_plan_that_is_under_way_is_not_forgotten_for_younger_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    assert_eq!(emptied(&cluster, Some(1)).number, Some(1));
    let auto = Begin {
        auto: Some(true),
        ..Begin::default()
    };
    assert!(begin(&cluster, auto).auto);
    for number in 2..=40 {
        assert_eq!(emptied(&cluster, None).number, Some(number));
    }
    let plans = cluster.turn(|state| Ok(state.plans())).wait().unwrap();
    let numbers: Vec<_> = plans.iter().filter_map(|plan| plan.number).collect();
    assert_eq!(numbers[..2], [1, 10]);
    assert_eq!(numbers.len(), 32);
    assert!(plans[0].auto && plans[0].counted.begun == 1, "{plans:?}");
}

#[test]
fn plans_take_so_many_bytes_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let (_world, cluster) = uneven_cluster(folder.path());
    for _ in 0..3 {
        emptied(&cluster, Some(1));
    }
    begin(&cluster, Begin::default());
    let room = |bytes| cluster.turn(move |state| state.make_room_for(bytes)).wait();
    let numbers = || -> Vec<_> {
        let plans = cluster.turn(|state| Ok(state.plans())).wait().unwrap();
        plans.iter().filter_map(|plan| plan.number).collect()
    };
    let bound = Collection::Plans.bound();
    let refused = room(bound).unwrap_err().to_string();
    assert!(refused.contains("may take 32 MiB"), "{refused}");
    assert_eq!(numbers(), [1, 2, 3], "nothing has changed");
    let all = cluster.turn(|state| Ok(state.plan_bytes())).wait().unwrap();
    room(bound - all / 2).unwrap();
    assert_eq!(numbers(), [1], "the one that is under way stays");
}
