//! VMs of hosts that are down are restarted by the server itself.

use super::*;
use crate::cluster::{AutomaticRestart, MoveState, PlanShown};
use crate::{Cluster, Event};
use placewright_scheduler::questions::Restart;

use MoveState::{Begun, Confirmed, Expired, Planned, Stale};

/// Room is heeded, and groups.
const ROOMY: &str = r#"
    [[filters]]
    unit = "worst-fit"
    [[filters]]
    unit = "affinity"
    [[costs]]
    unit = "worst-fit"
"#;

/// Three hosts of 16 GiB; on a run three VMs, and one that is stopped.
const FLEET: &str = r#"
    name = "c"
    hosts = [
        { id = "a", cpu.cores = 8, memory.total = "16 GiB" },
        { id = "b", cpu.cores = 8, memory.total = "16 GiB" },
        { id = "d", cpu.cores = 8, memory.total = "16 GiB" },
    ]
    vms = [
        { id = "low", host = "a", memory = "1 GiB" },
        { id = "high", host = "a", memory = "1 GiB", priority = 9, ha = true },
        { id = "fixed", host = "a", memory = "2 GiB", migratable = false },
        { id = "off", host = "a", memory = "1 GiB", state = "down" },
        { id = "large", host = "b", memory = "12 GiB" },
    ]
"#;

fn fleet(folder: &Path, restart: AutomaticRestart) -> (World, Arc<Cluster>) {
    let world = start(folder, &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(ROOMY), "somebody").unwrap();
    let document = ClusterDocument::read(FLEET, "c.toml").unwrap();
    let cluster = deployment.create_cluster(document, attach()).unwrap();
    let attach = Attach {
        restart: Some(restart),
        ..attach()
    };
    deployment.attach("c", attach).unwrap();
    (world, cluster)
}

fn set_state(cluster: &Cluster, host: &str, state: &str) {
    let changes = format!(r#"{{"hosts": [{{"id": "{host}", "state": "{state}"}}]}}"#);
    let changes = InventoryChanges::read(&changes, "c.json", &cluster.schema()).unwrap();
    cluster
        .turn_as("engine", |state| state.change(changes).map(|_| ()))
        .wait()
        .unwrap();
}

/// So many seconds pass, and then it is looked whether anything is due.
fn after(world: &World, seconds: i64) {
    world.clock.fetch_add(seconds, Ordering::Relaxed);
    world.deployment.restart_due();
}

fn plans(cluster: &Cluster) -> Vec<PlanShown> {
    cluster.turn(|state| Ok(state.plans())).wait().unwrap()
}

/// The moves of a plan, by VM, with their states.
fn moves(plan: &PlanShown) -> Vec<(&str, MoveState)> {
    let moves = plan.moves.iter();
    moves.map(|it| (&*it.planned.vm, it.state)).collect()
}

fn confirm(cluster: &Cluster, vm: &str) {
    let vm: Arc<str> = vm.into();
    cluster
        .turn(move |state| state.confirm(&[vm], None).map(|_| ()))
        .wait()
        .unwrap();
}

fn told(world: &World, kind: EventKind) -> Vec<Arc<Event>> {
    let events = world.deployment.events().listen(Some(0)).missed;
    events.into_iter().filter(|it| it.kind == kind).collect()
}

/// One restart at a time.
fn one_by_one() -> AutomaticRestart {
    AutomaticRestart {
        max_in_flight: 1,
        ..AutomaticRestart::default()
    }
}

#[test]
fn vms_of_a_host_that_is_down_for_long_enough_are_restarted_by_priority() {
    for state in ["down", "error"] {
        let folder = tempfile::tempdir().unwrap();
        let (world, cluster) = fleet(folder.path(), AutomaticRestart::default());
        set_state(&cluster, "a", state);
        after(&world, 59);
        assert_eq!(plans(&cluster), []);
        after(&world, 1);
        let plan = plans(&cluster).remove(0);
        // What may not be moved while it runs runs no more; what was stopped stays so.
        let expected = [("high", Begun), ("fixed", Begun), ("low", Begun)];
        assert_eq!(moves(&plan), expected, "{plan:?}");
        assert_eq!(plan.by.as_deref(), Some("restart"));
        assert!(plan.auto && plan.moves.iter().all(|it| !it.planned.live));
        let begun = told(&world, EventKind::RestartBegun).remove(0);
        assert_eq!(
            (begun.by.as_deref(), begun.plan),
            (Some("restart"), Some(1))
        );
        for vm in ["high", "fixed", "low"] {
            confirm(&cluster, vm);
        }
        assert_eq!(told(&world, EventKind::PlanEnded).len(), 1);
        after(&world, 600);
        assert_eq!(plans(&cluster).len(), 1);
    }
}

#[test]
fn nothing_is_restarted_where_nobody_wants_that() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), AutomaticRestart::default());
    world.deployment.attach("c", attach()).unwrap();
    set_state(&cluster, "a", "down");
    after(&world, 10_000);
    assert_eq!(plans(&cluster), []);
}

#[test]
fn only_vms_that_are_highly_available_are_restarted_if_it_is_set_so() {
    let folder = tempfile::tempdir().unwrap();
    let set = AutomaticRestart {
        vms: Restart::Ha,
        settle: 0,
        ..AutomaticRestart::default()
    };
    let (world, cluster) = fleet(folder.path(), set);
    set_state(&cluster, "a", "down");
    after(&world, 0);
    assert_eq!(moves(&plans(&cluster)[0]), [("high", Begun)]);
}

#[test]
fn a_host_that_comes_back_in_time_has_nothing_restarted_and_begins_to_wait_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), AutomaticRestart::default());
    for _ in 0..5 {
        set_state(&cluster, "a", "down");
        after(&world, 59);
        set_state(&cluster, "a", "up");
        after(&world, 1);
    }
    assert_eq!(plans(&cluster), []);
    set_state(&cluster, "a", "down");
    after(&world, 59);
    // From down to error it is the same failure.
    set_state(&cluster, "a", "error");
    after(&world, 1);
    assert_eq!(plans(&cluster).len(), 1);
}

#[test]
fn moves_that_have_not_begun_are_none_once_the_host_is_not_down_any_more() {
    for state in ["up", "maintenance"] {
        let folder = tempfile::tempdir().unwrap();
        let (world, cluster) = fleet(folder.path(), one_by_one());
        set_state(&cluster, "a", "down");
        after(&world, 60);
        let expected = [("high", Begun), ("fixed", Planned), ("low", Planned)];
        assert_eq!(moves(&plans(&cluster)[0]), expected);
        set_state(&cluster, "a", state);
        let plan = plans(&cluster).remove(0);
        let expected = [("high", Begun), ("fixed", Stale), ("low", Stale)];
        assert_eq!(moves(&plan), expected, "{plan:?}");
        let why = plan.moves[1].why.as_deref().unwrap();
        assert!(why.starts_with("host a is"), "{why}");
        confirm(&cluster, "high");
        after(&world, 600);
        assert_eq!(plans(&cluster)[0].counted.begun, 0);
    }
}

#[test]
fn a_move_that_nobody_carried_out_is_begun_again_only_once_the_host_has_settled_again() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), one_by_one());
    set_state(&cluster, "a", "down");
    after(&world, 60);
    world.clock.fetch_add(301, Ordering::Relaxed);
    assert_eq!(moves(&plans(&cluster)[0])[0], ("high", Expired));
    world.deployment.restart_due();
    assert_eq!(moves(&plans(&cluster)[0])[0], ("high", Begun));
    // The host is up for a moment while the move is under way.
    set_state(&cluster, "a", "up");
    set_state(&cluster, "a", "down");
    world.clock.fetch_add(301, Ordering::Relaxed);
    assert_eq!(moves(&plans(&cluster)[0])[0], ("high", Expired));
    world.deployment.restart_due();
    set_state(&cluster, "a", "up");
    set_state(&cluster, "a", "down");
    after(&world, 59);
    assert!(plans(&cluster).iter().all(|plan| plan.counted.begun <= 1));
    let begun: usize = plans(&cluster).iter().map(|plan| plan.counted.begun).sum();
    after(&world, 1);
    let then: usize = plans(&cluster).iter().map(|plan| plan.counted.begun).sum();
    assert!(begun <= then && then == 1, "{:?}", plans(&cluster));
}

#[test]
fn what_may_be_under_way_is_shared_by_all_hosts_that_fail_and_goes_by_priority() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), one_by_one());
    set_state(&cluster, "a", "down");
    after(&world, 60);
    confirm(&cluster, "high");
    let expected = [("high", Confirmed), ("fixed", Begun), ("low", Planned)];
    assert_eq!(moves(&plans(&cluster)[0]), expected);
    let urgent = r#"{"vms": [{"id": "large", "priority": 5}]}"#;
    let changes = InventoryChanges::read(urgent, "c.json", &cluster.schema()).unwrap();
    cluster
        .turn(|state| state.change(changes).map(|_| ()))
        .wait()
        .unwrap();
    set_state(&cluster, "b", "down");
    after(&world, 60);
    let [first, second] = &plans(&cluster)[..] else {
        panic!("{:?}", plans(&cluster));
    };
    let expected = [("high", Confirmed), ("fixed", Begun), ("low", Stale)];
    assert_eq!(moves(first), expected);
    let expected = [("large", Planned), ("low", Planned)];
    assert_eq!(moves(second), expected);
    let why = second.moves[0].why.as_deref().unwrap();
    assert!(why.contains("at most 1 may be"), "{why}");
    confirm(&cluster, "fixed");
    let expected = [("large", Begun), ("low", Planned)];
    assert_eq!(moves(&plans(&cluster)[1]), expected);
}

#[test]
fn after_a_start_of_the_server_nothing_is_done_twice_and_what_was_begun_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), one_by_one());
    set_state(&cluster, "a", "down");
    after(&world, 30);
    let stopped_at = world.clock.load(Ordering::Relaxed);
    let again = |world: World, cluster: Arc<Cluster>, at: i64| {
        world.deployment.stop();
        drop((world, cluster));
        let world = start(folder.path(), &units());
        world.clock.store(at, Ordering::Relaxed);
        let cluster = world.deployment.cluster("c").unwrap();
        (world, cluster)
    };
    // How long it has been down is not forgotten.
    let (world, cluster) = again(world, cluster, stopped_at);
    after(&world, 29);
    assert_eq!(plans(&cluster), []);
    after(&world, 1);
    assert_eq!(plans(&cluster)[0].counted.begun, 1);
    let at = world.clock.load(Ordering::Relaxed);
    let (world, cluster) = again(world, cluster, at);
    for _ in 0..3 {
        after(&world, 60);
        let plans = plans(&cluster);
        assert_eq!((plans.len(), plans[0].counted.begun), (1, 1), "{plans:?}");
    }
    confirm(&cluster, "high");
    let expected = [("high", Confirmed), ("fixed", Begun), ("low", Planned)];
    assert_eq!(moves(&plans(&cluster)[0]), expected);
}

#[test]
fn hosts_whose_restarts_somebody_stops_are_left_alone_until_they_have_been_up() {
    for stops in ["cancel", "auto"] {
        let folder = tempfile::tempdir().unwrap();
        let (world, cluster) = fleet(folder.path(), one_by_one());
        set_state(&cluster, "a", "down");
        after(&world, 60);
        let stopped = match stops {
            "cancel" => cluster.turn(|state| state.cancel_plan(1)),
            _ => cluster.turn(|state| {
                let begin = Begin {
                    auto: Some(false),
                    ..Begin::default()
                };
                state.begin_plan(1, &begin)
            }),
        };
        stopped.wait().unwrap();
        after(&world, 3600);
        assert_eq!(plans(&cluster).len(), 1);
        set_state(&cluster, "a", "up");
        set_state(&cluster, "a", "down");
        after(&world, 60);
        assert_eq!(plans(&cluster).len(), 2);
    }
}

#[test]
fn to_set_it_otherwise_halts_what_was_planned() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), one_by_one());
    set_state(&cluster, "a", "down");
    after(&world, 60);
    world.deployment.attach("c", attach()).unwrap();
    confirm(&cluster, "high");
    let plan = plans(&cluster).remove(0);
    assert!(!plan.auto);
    assert_eq!(plan.counted.begun, 0, "{plan:?}");
    assert_eq!(told(&world, EventKind::PlanHalted).len(), 1);
    // It is set so again: the host waits from then on.
    let wanted = Attach {
        restart: Some(one_by_one()),
        ..attach()
    };
    world.deployment.attach("c", wanted).unwrap();
    after(&world, 59);
    assert_eq!(plans(&cluster).len(), 1);
    after(&world, 1);
    assert_eq!(plans(&cluster)[1].counted.begun, 1);
}

#[test]
fn vms_that_find_no_host_are_told_of_once_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), AutomaticRestart::default());
    set_state(&cluster, "d", "maintenance");
    set_state(&cluster, "b", "down");
    set_state(&cluster, "a", "maintenance");
    after(&world, 60);
    for _ in 0..3 {
        after(&world, 60);
    }
    let failed = told(&world, EventKind::RestartFailed);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(
        failed[0].message.contains("no host takes large"),
        "{failed:?}"
    );
    let [plan] = &plans(&cluster)[..] else {
        panic!("{:?}", plans(&cluster));
    };
    assert_eq!((plan.moves.len(), &*plan.told.stuck[0].vm), (0, "large"));
    set_state(&cluster, "d", "up");
    after(&world, 60);
    assert_eq!(moves(&plans(&cluster)[1]), [("large", Begun)]);
}

#[test]
fn what_a_hard_group_keeps_together_goes_to_one_host() {
    let folder = tempfile::tempdir().unwrap();
    let (world, cluster) = fleet(folder.path(), AutomaticRestart::default());
    let group =
        r#"{"groups": [{"id": "pair", "vms": ["high", "low"], "rule": "positive", "hard": true}]}"#;
    let changes = InventoryChanges::read(group, "c.json", &cluster.schema()).unwrap();
    cluster
        .turn(|state| state.change(changes).map(|_| ()))
        .wait()
        .unwrap();
    set_state(&cluster, "a", "down");
    after(&world, 60);
    let plan = plans(&cluster).remove(0);
    let to = |vm: &str| {
        let of_vm = plan.moves.iter().find(|it| &*it.planned.vm == vm);
        of_vm.unwrap().planned.to.clone()
    };
    assert_eq!(to("high"), to("low"), "{plan:?}");
}
