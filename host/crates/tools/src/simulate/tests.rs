use std::sync::Arc;

use super::*;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_model::Value;
use placewright_model::schema::Schema;
use placewright_testing::component::Judging;

const FLEET: Fleet = Fleet {
    hosts: 2,
    cpu: 4000,
    memory: 8 << 30,
};

/// No unit at all: the tie rule decides.
const FEWEST_VMS: &str = "tie-rule = [\"fewest-vms\", \"id\"]\n";

/// Removes every host.
const NOBODY: &str = "
    (local $hosts i32) (local $answer i32)
    (local.set $hosts (i32.load (local.get $rows)))
    (local.set $answer (call $answer (local.get $hosts) (i32.const 0)))
    (memory.fill (i32.load offset=4 (local.get $answer)) (i32.const 1) (local.get $hosts))
    (local.get $answer)";

fn trace(rows: &str) -> Trace {
    let text = format!("vm,tenant,core_u,ram_u,prio,start_s,end_s\n{rows}");
    Trace::read("t.csv", std::io::Cursor::new(text)).unwrap()
}

fn replay(trace: &Trace) -> Replay<'_> {
    Replay {
        trace,
        fleet: FLEET,
        limit: None,
        statistics: None,
        seed: 0,
        reuse: Some(Reuse::default()),
        balance: None,
    }
}

fn policy(text: &str, units: &Generation) -> Arc<Policy> {
    Arc::new(Policy::load(text, "test.toml", units, Schema::built_in()).unwrap())
}

fn run(replay: Replay<'_>, observer: &mut dyn Observer) -> Report {
    let units = Generation::default();
    let outcome = replay.run(policy(FEWEST_VMS, &units), &units, observer);
    outcome.unwrap().report
}

fn hash(hosts: &[Option<u32>]) -> String {
    let mut hash = DecisionHash::default();
    for host in hosts {
        hash.decided(*host);
    }
    hash.digits()
}

/// Two VMs from the beginning, a third, and one that comes as the first leaves.
const FOUR: &str = "\
0,0,100,4,0,-1,10
1,0,200,8,0,0,-1
2,1,100,4,0,5,20
3,1,100,4,0,10,12
";

#[test]
fn a_small_trace_is_decided_as_by_hand() {
    let trace = trace(FOUR);
    let report = run(replay(&trace), &mut ());
    // When the fourth comes, the first has left: each host has one VM.
    let hosts = [Some(0), Some(1), Some(0), Some(0)];
    assert_eq!(report.decision_fnv1a64, hash(&hosts));
    assert_eq!((report.placed, report.rejected), (4, 0));
    assert_eq!((report.peak_vms, report.peak_used_hosts), (3, 2));
    assert_eq!((report.end_vms, report.end_used_hosts), (1, 1));
    assert_eq!(report.peak_cpu_pct, 50.0);
    assert_eq!(report.peak_memory_pct, 25.0);
}

#[test]
fn the_same_replay_gives_the_same_report() {
    let trace = trace(FOUR);
    let timeless = |report: Report| Report {
        time: Duration::ZERO,
        decisions_per_second: 0.0,
        ..report
    };
    let (one, two) = (run(replay(&trace), &mut ()), run(replay(&trace), &mut ()));
    assert_eq!(timeless(one), timeless(two));
}

#[test]
fn a_limit_cuts_the_trace_off_after_so_many_arrivals() {
    let trace = trace(FOUR);
    let limited = Replay {
        limit: Some(3),
        ..replay(&trace)
    };
    let report = run(limited, &mut ());
    assert_eq!((report.trace.arrivals, report.placed), (3, 3));
    // The first has left before the fourth would have come.
    assert_eq!(report.end_vms, 2);
}

#[test]
fn vms_larger_than_a_host_are_left_out() {
    let trace = trace("0,0,500,4,0,0,9\n1,0,100,4,0,0,9\n2,0,100,100,0,0,9\n");
    let report = run(replay(&trace), &mut ());
    assert_eq!(
        (report.trace.arrivals, report.trace.left_out_too_large),
        (1, 2)
    );
    let tiny = Replay {
        fleet: Fleet { cpu: 10, ..FLEET },
        ..replay(&trace)
    };
    let units = Generation::default();
    let error = tiny
        .run(policy(FEWEST_VMS, &units), &units, &mut ())
        .unwrap_err();
    assert!(matches!(error, ReplayError::NothingFits(_)), "{error}");
}

#[test]
fn a_vm_that_is_rejected_has_no_departure() {
    let engine = Engine::new(
        Limits {
            instances: 4,
            ..Limits::default()
        },
        None,
    )
    .unwrap();
    let judging = Judging {
        name: "nobody",
        judge: NOBODY,
        ..Judging::default()
    };
    let unit = Unit::load(&engine, &judging.component(), "nobody").unwrap();
    let units = Generation::new([unit]).unwrap();
    let trace = trace(FOUR);
    let policy = policy("filters = [{ unit = \"nobody\" }]", &units);
    let replay = Replay {
        reuse: None,
        ..replay(&trace)
    };
    let report = replay.run(policy, &units, &mut ()).unwrap().report;
    assert_eq!(report.decision_fnv1a64, hash(&[None; 4]));
    assert_eq!((report.placed, report.rejected), (0, 4));
    assert_eq!(
        (report.rejected_cores, report.rejected_millicores),
        (5.0, 5000)
    );
    assert_eq!(report.rejected_memory_bytes, 5 << 30);
    assert_eq!((report.calls[0].calls, report.calls[0].rows), (4, 8));
    assert_eq!(report.units[0].name, "nobody");
}

/// Notes what the first host reports after each arrival.
#[derive(Default)]
struct FirstHost {
    usage: Vec<Option<Value>>,
    free: Vec<Option<Value>>,
    done: Vec<usize>,
}

impl Observer for FirstHost {
    fn decided(&mut self, scheduler: &Scheduler, decision: &Decision) {
        let inventory = scheduler.inventory();
        self.usage.push(inventory.host_value(0, "cpu.usage"));
        self.free.push(inventory.host_value(0, "memory.free"));
        assert!(scheduler.explain(decision.number).is_ok());
    }

    fn progressed(&mut self, done: usize, of: usize) {
        assert!(done <= of);
        self.done.push(done);
    }
}

#[test]
fn hosts_report_as_if_vms_used_what_they_were_promised() {
    let trace = trace(FOUR);
    let mut first = FirstHost::default();
    let measured = Replay {
        statistics: Some(true),
        ..replay(&trace)
    };
    run(measured, &mut first);
    let usage = [0.25, 0.25, 0.5, 0.5].map(|usage| Some(Value::Number(usage)));
    assert_eq!(first.usage, usage);
    let free = [7, 7, 6, 6].map(|gib: i64| Some(Value::Integer(gib << 30)));
    assert_eq!(first.free, free);
    assert_eq!(first.done, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn without_a_unit_that_reads_them_there_are_no_statistics() {
    let trace = trace(FOUR);
    let mut first = FirstHost::default();
    assert!(!run(replay(&trace), &mut first).statistics);
    assert_eq!(first.usage, [None, None, None, None]);
}

#[test]
fn a_replay_is_drawn_with_its_title_and_axes() {
    let trace = trace(FOUR);
    let units = Generation::default();
    let outcome = replay(&trace)
        .run(policy(FEWEST_VMS, &units), &units, &mut ())
        .unwrap();
    let svg = plot::svg(&outcome).unwrap();
    for text in [
        "on 2 hosts of 4 cores and 8 GiB",
        "Memory, GiB",
        "all of the fleet: 8",
        "seconds",
    ] {
        assert!(svg.contains(text), "{text}");
    }
}
