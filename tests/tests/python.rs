//! Units in Python: like any other, and slower. Where Python or what builds its components
//! is missing and cannot be installed, the claims about components are not tried.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use placewright::chain::{Chain, Runner};
use placewright::contract::{Answers, Call, Part};
use placewright::inventory::Inventory;
use placewright::library::{Generation, probe};
use placewright::model::schema::Schema;
use placewright::model::{Host, Request, Vm};
use placewright::scheduler::{Scheduler, SchedulerOptions};
use placewright::unit::{Cause, Unit};
use placewright_tests::scene::{GIB, policy};
use placewright_tests::{python, units};

const TWIN: &str = "examples/cpu-in-python";
const MISBEHAVING: &str = "tests/misbehaving";

/// Limits by time are no part of the claims: other tests run beside these.
const PATIENT: Duration = Duration::from_secs(60);

#[test]
fn the_sdk_for_python_passes_its_own_tests() {
    let Some(interpreter) = python::interpreter() else {
        eprintln!("the SDK for Python is not tried: there is no Python 3.11");
        return;
    };
    let mut tests = Command::new(interpreter);
    tests
        .args(["-m", "unittest", "discover", "--start-directory", "tests"])
        .current_dir(python::sdk())
        .env("PYTHONPATH", python::sdk().join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null());
    let done = tests.output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn a_unit_in_python_keeps_to_what_it_says_under_the_default_limits() {
    let Some(unit) = python::unit(python::engine_by_fuel(), TWIN) else {
        return;
    };
    let report = probe::probe(&unit, 0);
    assert!(report.passed(), "{report:?}");
}

#[test]
fn there_may_be_as_many_instances_in_python_as_the_limits_say() {
    let Some(unit) = python::unit(python::engine(), TWIN) else {
        return;
    };
    let limit = python::engine().limits().instances;
    let start = || unit.instantiate(Part::Judge);
    let all: Vec<_> = (0..limit).map(|_| start().unwrap()).collect();
    let refused = start().map(drop).unwrap_err();
    assert_eq!(*refused.cause, Cause::NoInstance(limit));
    drop(all);
    assert!(start().is_ok());
}

/// Hosts of which some lack a topology, full to different degrees.
fn fleet() -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for number in 0..24_i64 {
        let id = format!("h{number:02}");
        let mut host = Host::new(id.as_str()).with("memory.total", 256 * GIB);
        host = match number % 3 {
            0 => host.with("cpu.total", (number % 7) * 4_000),
            1 => host.with("cpu.cores", 8 + number % 5),
            _ => host
                .with("cpu.sockets", 2_i64)
                .with("cpu.cores", 16_i64)
                .with("cpu.threads", 32_i64),
        };
        inventory.add_host(host).unwrap();
        for place in 0..number % 6 {
            let running = vm(&format!("v{number}-{place}"), number + place);
            inventory.run_vm(running, &id).unwrap();
        }
    }
    inventory
}

fn vm(id: &str, number: i64) -> Vm {
    Vm::new(id)
        .with("cores", 1 + number % 7)
        .with("memory", GIB)
        .with("cpu", 700 * (1 + number % 5))
        .with("exclusive", number % 4 == 3)
}

/// One VM or several, which is new or runs already.
fn request(number: i64) -> Request {
    let new = |member: i64| vm(&format!("n{number}-{member}"), number + member);
    let mut members: Vec<Vm> = (0..=number % 3).map(new).collect();
    if number % 5 == 4 {
        members.push(vm("v11-2", 13));
    }
    Request {
        members,
        ..Request::default()
    }
}

/// A filter and a cost function of the unit.
fn text(unit: &str, settings: &str) -> String {
    let part = |list| format!("[[{list}]]\nunit = '{unit}'\nsettings = {{ {settings} }}\n");
    part("filters") + &part("costs")
}

#[test]
fn a_unit_in_python_answers_as_its_twin_in_rust() {
    let Some(python) = python::unit(python::engine(), TWIN) else {
        return;
    };
    let rust = units::unit("cpu");
    let generation = Generation::new([rust.clone()]).unwrap();
    let mut asked = 0;
    for settings in [
        "",
        "overcommit = 1.5",
        "overcommit = 0.6, count-threads-as-cores = true",
        "require-topology = true",
    ] {
        let mut inventory = fleet();
        let policy = policy(&text("cpu", settings), &generation).unwrap();
        let chain = Chain::resolve(Arc::new(policy), &generation, &mut inventory).unwrap();
        let mut runner = Runner::new(Arc::new(chain), PATIENT);
        let mut twins = [&rust, &python].map(|it| it.instantiate(Part::Judge).unwrap());
        for number in 0..15 {
            runner.explain(&inventory, &request(number), 0.5).unwrap();
            let calls: Vec<Call> = runner.calls().map(|(_, call)| call.clone()).collect();
            for call in calls {
                let rows = call.rows[1] as usize;
                asked += rows;
                let [one, other] = twins
                    .each_mut()
                    .map(|twin| twin.judge(Answers::BOTH, &call, rows, PATIENT));
                assert_eq!(one.unwrap(), other.unwrap(), "{settings}, request {number}");
            }
        }
    }
    assert!(asked > 500, "{asked} hosts are too few to tell");
}

#[test]
fn a_chain_with_a_unit_in_python_decides_as_with_its_twin() {
    let Some(python) = python::unit(python::engine(), TWIN) else {
        return;
    };
    let decided = |unit: Arc<Unit>| -> Vec<_> {
        let generation = Generation::new([unit.clone(), units::unit("memory")]).unwrap();
        let text = text(unit.name(), "overcommit = 2.0") + "[[filters]]\nunit = 'memory'\n";
        let options = SchedulerOptions {
            chain_limit: PATIENT,
            ..SchedulerOptions::default()
        };
        let policy = Arc::new(policy(&text, &generation).unwrap());
        let mut scheduler = Scheduler::new(fleet(), policy, &generation, options).unwrap();
        let place = |number| {
            let members = vec![vm(&format!("n{number}"), number)];
            let request = Request {
                members,
                ..Request::default()
            };
            scheduler.place(request).unwrap().host
        };
        (0..60).map(place).collect()
    };
    let [rust, python] = [units::unit("cpu"), python].map(decided);
    assert!(rust.iter().any(Option::is_some));
    assert_eq!(rust, python);
}

#[test]
fn what_goes_wrong_in_python_is_told_and_never_looks_like_an_answer() {
    let Some(unit) = python::unit(python::engine(), MISBEHAVING) else {
        return;
    };
    let verdicts = Answers {
        verdicts: true,
        costs: false,
    };
    let cause = |how: &str| {
        let call = Call {
            rows: vec![1, 1],
            integers: vec![GIB, 0],
            texts: vec![how.into()],
            ..Call::default()
        };
        let mut instance = unit.instantiate(Part::Judge).unwrap();
        let answer = instance.judge(verdicts, &call, 1, Duration::from_secs(20));
        answer.map_err(|fault| *fault.cause)
    };
    assert_eq!(cause("well").unwrap().verdicts, [0]);
    assert_eq!(cause("prints").unwrap().verdicts, [0]);
    assert_eq!(
        cause("refuses"),
        Err(Cause::Refused("is not in the mood".to_owned()))
    );
    assert_eq!(
        cause("fails"),
        Err(Cause::Failed("cannot go on".to_owned()))
    );
    for (how, told) in [
        ("raises", "ZeroDivisionError"),
        ("raises", "in divide: return one / other"),
        ("raises", "in keep: return divide(host.total, 0) > 1"),
        ("forgets to answer", "keep returned None"),
        ("asks the clock", "a unit has no clock"),
        ("draws", "a unit has no chance"),
        ("reads a file", "a unit has no files"),
        ("exits", "SystemExit"),
        ("recurses", "RecursionError"),
        ("takes memory", "MemoryError"),
    ] {
        match cause(how) {
            Err(Cause::Failed(sentence)) => assert!(sentence.contains(told), "{how}: {sentence}"),
            other => panic!("{how}: {other:?}"),
        }
    }
}
