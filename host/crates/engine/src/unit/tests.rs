use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::Limits;
use crate::contract::{Answers, Call};
use placewright_testing::component::Judging;

/// For calls that never end.
const BUDGET: Duration = Duration::from_millis(200);

/// For calls that end, on however busy a machine.
const PATIENT: Duration = Duration::from_secs(300);

fn engine() -> Engine {
    engine_with(Limits::default())
}

fn engine_with(limits: Limits) -> Engine {
    let limits = Limits {
        instances: 4,
        ..limits
    };
    Engine::new(limits, None).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    let error = Unit::load(&engine(), bytes, "sample.wasm").unwrap_err();
    error.to_string()
}

fn hosts(rows: u32) -> Call {
    Call {
        rows: vec![rows],
        ..Call::default()
    }
}

/// How a call of the unit with two hosts ends.
fn ends(limits: Limits, unit: &Judging) -> Cause {
    *fault(limits, unit).cause
}

/// The fault of a call of the unit with two hosts.
fn fault(limits: Limits, unit: &Judging) -> Fault {
    fault_within(limits, unit, PATIENT)
}

/// The fault of such a call that may take so long.
fn fault_within(limits: Limits, unit: &Judging, time: Duration) -> Fault {
    let unit = Unit::load(&engine_with(limits), &unit.component(), "sample").unwrap();
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    let fault = instance
        .judge(Answers::BOTH, &hosts(2), 2, time)
        .unwrap_err();
    assert!(fault.to_string().contains(&unit.digest().short()));
    fault
}

#[test]
fn a_sound_unit_is_loaded_and_answers() {
    let bytes = Judging::default().component();
    let unit = Unit::load(&engine(), &bytes, "sample.wasm").unwrap();
    assert_eq!(unit.name(), "sample");
    assert_eq!(unit.digest(), Digest::of(&bytes));
    assert_eq!(unit.source(), "sample.wasm");
    assert_eq!(unit.size(), bytes.len());
    assert_eq!(
        unit.exports().into_iter().collect::<Vec<_>>(),
        [Part::Unit, Part::Judge]
    );
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    for (want, verdicts, costs) in [
        (Answers::BOTH, 3, 3),
        (Answers::VERDICTS, 3, 0),
        (Answers::COSTS, 0, 3),
    ] {
        let judgement = instance.judge(want, &hosts(3), 3, PATIENT).unwrap();
        assert_eq!(judgement.verdicts, vec![0; verdicts]);
        assert_eq!(judgement.costs, vec![0.0; costs]);
    }
    let fault = instance.balance(&hosts(3), PATIENT).unwrap_err();
    assert!(matches!(*fault.cause, Cause::NotCallable(_)));
    assert!(!instance.is_poisoned());
}

#[test]
fn bytes_that_are_no_component_are_refused_with_a_sentence() {
    assert_eq!(
        refused(b"garbage"),
        "cannot load sample.wasm: it is not a WebAssembly component"
    );
    assert_eq!(refused(b""), "cannot load sample.wasm: it is empty");
    let module = wat::parse_str("(module)").unwrap();
    assert!(refused(&module).contains("placewright unit build"));
    let whole = Judging::default().component();
    for cut in [1, 7] {
        assert!(refused(&whole[..cut]).contains("is not a WebAssembly component"));
    }
    // Where a section ends, a cut leaves a component that lacks its exports.
    for cut in [9, 50, whole.len() / 2, whole.len() - 1] {
        let said = refused(&whole[..cut]);
        assert!(
            said.contains("cut off or damaged") || said.contains("no unit"),
            "{cut}: {said}"
        );
    }
}

#[test]
fn a_damaged_component_never_panics() {
    let whole = Judging::default().component();
    let engine = engine();
    for place in (8..whole.len()).step_by(37) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x55;
        // Some damage is invisible, as in a text.
        let _ = Unit::load(&engine, &damaged, "damaged");
    }
}

#[test]
fn a_file_beyond_the_limit_is_refused() {
    let limits = Limits {
        file: 100,
        ..Limits::default()
    };
    let bytes = Judging::default().component();
    let error = Unit::load(&engine_with(limits), &bytes, "big").unwrap_err();
    assert!(matches!(
        error.error,
        LoadError::TooLarge { limit: 100, .. }
    ));
}

#[test]
fn imports_other_than_log_are_refused_by_name() {
    let component = |import: &str| {
        wat::parse_str(format!(
            r#"(component (import "{import}" (instance (export "f" (func)))))"#
        ))
        .unwrap()
    };
    let said = refused(&component("wasi:clocks/wall-clock@0.2.0"));
    assert!(said.contains("wasi:clocks/wall-clock@0.2.0"), "{said}");
    assert!(said.contains("wasm32-unknown-unknown"), "{said}");
    let said = refused(&component("acme:secrets/all"));
    assert!(
        said.contains("acme:secrets/all") && !said.contains("WASI"),
        "{said}"
    );
    assert!(refused(&component("placewright:policy/log@0.1.7")).contains("no unit"));
}

#[test]
fn a_unit_that_imports_log_is_loaded() {
    let unit = Judging {
        judge: "(call $log (i32.const 2) (i32.const 4096) (i32.const 6))
                (call $answer (i32.const 2) (i32.const 2))",
        ..Judging::default()
    };
    let unit = Unit::load(&engine(), &unit.component(), "sample").unwrap();
    assert_eq!(
        unit.imports(),
        [
            "placewright:policy/log@0.1.0",
            "placewright:policy/types@0.1.0"
        ]
    );
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    instance
        .judge(Answers::BOTH, &hosts(2), 2, PATIENT)
        .unwrap();
    let logged = instance.logged();
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0].level, crate::contract::Level::Info);
}

#[test]
fn another_version_of_the_contract_is_refused_with_both_versions() {
    let unit = Judging::default();
    let newer = refused(&unit.component_of_version("0.2.0"));
    assert_eq!(
        newer,
        "cannot load sample.wasm: it is built for placewright:policy@0.2.0 and this runtime offers 0.1.0: upgrade Placewright, or rebuild the unit with an SDK for the version offered"
    );
    let older = refused(&unit.component_of_version("0.0.9"));
    assert!(
        older.contains("rebuild the unit with the current SDK"),
        "{older}"
    );
    let engine = engine();
    Unit::load(&engine, &unit.component_of_version("0.1.5"), "patch").unwrap();
}

#[test]
fn a_description_that_contradicts_the_exports_is_refused() {
    let said = refused(
        &Judging {
            described: false,
            ..Judging::default()
        }
        .component(),
    );
    assert!(
        said.contains("judge@0.1.0 is exported and the part judge is not described"),
        "{said}"
    );
}

#[test]
fn all_problems_of_a_description_are_told_at_once() {
    let said = refused(
        &Judging {
            name: "Not A Name",
            reads: vec![
                ("hosts/vms", vec![]),
                (
                    "hosts",
                    vec![("memory.fre", 0, true), ("memory.free", 3, true)],
                ),
                ("hostz", vec![]),
            ],
            cost_range: Some((2.0, 1.0)),
            ..Judging::default()
        }
        .component(),
    );
    for part in [
        "the name \"Not A Name\" must be lower-case",
        "hosts is not declared before it",
        "there is no column memory.fre (did you mean memory.free?)",
        "memory.free is of kind integer and is declared as text",
        "there is no table hostz (did you mean hosts?)",
        "2 to 1 is no range of costs",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_unit_that_never_returns_is_stopped_at_its_deadline() {
    let unit = Judging {
        judge: "(loop $ever (br $ever)) unreachable",
        ..Judging::default()
    };
    let before = Instant::now();
    let cause = *fault_within(Limits::default(), &unit, BUDGET).cause;
    assert_eq!(cause, Cause::Time(BUDGET));
    assert!(cause.is_limit());
    assert!(before.elapsed() >= BUDGET);
}

/// Judges alike, after so long a loop that its engine's epoch moves on meanwhile.
const SLOW: &str = "
    (local $hosts i32)
    (local $count i32)
    (local.set $count (i32.const 200000000))
    (loop $again
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $again (local.get $count)))
    (local.set $hosts (i32.load (local.get $rows)))
    (call $answer
      (select (local.get $hosts) (i32.const 0) (local.get $verdicts))
      (select (local.get $hosts) (i32.const 0) (local.get $costs)))";

#[test]
fn a_call_that_no_decision_waits_for_is_not_stopped_while_it_waits_for_the_processor() {
    let unit = Judging {
        judge: SLOW,
        ..Judging::default()
    };
    let engine = engine();
    let unit = Unit::load(&engine, &unit.component(), "sample").unwrap();
    let mut waited_for = unit.instantiate(Part::Judge).unwrap();
    let mut other = unit.instantiate_beside_decisions(Part::Judge).unwrap();
    let is_over = AtomicBool::new(false);
    // The epoch runs ahead as it does where others have the processor.
    let ahead = || {
        while !is_over.load(Ordering::Relaxed) {
            engine.wasmtime().increment_epoch();
        }
    };
    let budget = Duration::from_secs(60);
    let ask = |instance: &mut Instance| instance.judge(Answers::BOTH, &hosts(2), 2, budget);
    let (answered, stopped) = std::thread::scope(|scope| {
        scope.spawn(ahead);
        let answers = (ask(&mut other), ask(&mut waited_for));
        is_over.store(true, Ordering::Relaxed);
        answers
    });
    answered.unwrap();
    assert_eq!(*stopped.unwrap_err().cause, Cause::Time(budget));
}

#[test]
fn a_call_that_no_decision_waits_for_is_stopped_when_it_has_used_its_time() {
    let unit = Judging {
        judge: "(loop $ever (br $ever)) unreachable",
        ..Judging::default()
    };
    let unit = Unit::load(&engine(), &unit.component(), "sample").unwrap();
    let mut instance = unit.instantiate_beside_decisions(Part::Judge).unwrap();
    let fault = instance.judge(Answers::BOTH, &hosts(2), 2, BUDGET);
    assert_eq!(*fault.unwrap_err().cause, Cause::Time(BUDGET));
}

#[test]
fn without_time_left_nothing_is_run() {
    let unit = Unit::load(&engine(), &Judging::default().component(), "sample").unwrap();
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    let fault = instance
        .judge(Answers::BOTH, &hosts(2), 2, Duration::ZERO)
        .unwrap_err();
    assert_eq!(*fault.cause, Cause::Time(Duration::ZERO));
}

#[test]
fn fuel_ends_a_call_where_time_does_not() {
    let unit = Judging {
        judge: "(loop $ever (br $ever)) unreachable",
        ..Judging::default()
    };
    let limits = Limits {
        fuel: Some(1_000_000),
        ..Limits::default()
    };
    assert_eq!(ends(limits, &unit), Cause::Fuel(1_000_000));
}

#[test]
fn the_same_call_uses_the_same_fuel() {
    let engine = engine_with(Limits::reproducible());
    let unit = Unit::load(&engine, &Judging::default().component(), "sample").unwrap();
    let fuel = || {
        let mut instance = unit.instantiate(Part::Judge).unwrap();
        instance
            .judge(Answers::BOTH, &hosts(5), 5, PATIENT)
            .unwrap();
        instance.fuel_used()
    };
    assert!(fuel() > 0);
    assert_eq!(fuel(), fuel());
}

#[test]
fn memory_beyond_the_limit_is_refused_and_named() {
    let unit = Judging {
        judge:
            "(drop (call $realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 10000000)))
                (call $answer (i32.const 2) (i32.const 2))",
        ..Judging::default()
    };
    let limits = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    assert_eq!(
        ends(limits, &unit),
        Cause::Memory {
            wanted: (1 << 20) + (1 << 16),
            limit: 1 << 20
        }
    );
}

#[test]
fn a_unit_that_begins_with_too_much_memory_is_not_started() {
    let limits = Limits {
        memory: 1 << 16,
        ..Limits::default()
    };
    let bytes = Judging::default().component();
    let error = Unit::load(&engine_with(limits), &bytes, "sample").unwrap_err();
    let LoadError::Describe(fault) = error.error else {
        panic!("{error}");
    };
    assert!(matches!(*fault.cause, Cause::Memory { .. }), "{fault}");
}

#[test]
fn a_table_beyond_the_limit_is_refused_and_named() {
    let unit = Judging {
        definitions: "(table $t 1 funcref)",
        judge: "(if (i32.eq (table.grow $t (ref.null func) (i32.const 100000)) (i32.const -1))
                  (then unreachable))
                (call $answer (i32.const 2) (i32.const 2))",
        ..Judging::default()
    };
    let limits = Limits {
        table_elements: 1000,
        ..Limits::default()
    };
    assert_eq!(
        ends(limits, &unit),
        Cause::Table {
            wanted: 100_001,
            limit: 1000
        }
    );
}

#[test]
fn a_recursion_without_end_uses_up_its_stack_and_nothing_else() {
    let unit = Judging {
        definitions: "(func $deep (param i32) (result i32)
            (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))",
        judge: "(drop (call $deep (i32.const 0))) (call $answer (i32.const 2) (i32.const 2))",
        ..Judging::default()
    };
    assert_eq!(ends(Limits::default(), &unit), Cause::Stack(1 << 20));
}

#[test]
fn an_answer_beyond_the_limit_is_not_read() {
    let unit = Judging {
        judge: "(call $answer (i32.const 2) (i32.const 200000))",
        ..Judging::default()
    };
    let limits = Limits {
        answer: 1 << 20,
        ..Limits::default()
    };
    assert_eq!(ends(limits, &unit), Cause::AnswerTooLarge(1 << 20));
}

#[test]
fn an_answer_that_lies_outside_the_memory_is_not_read() {
    let unit = Judging {
        judge: "(i32.const 0x7ffffff8)",
        ..Judging::default()
    };
    assert!(matches!(
        ends(Limits::default(), &unit),
        Cause::Unreadable(_)
    ));
}

#[test]
fn lengths_and_costs_are_checked() {
    let unit = Judging {
        judge: "(call $answer (i32.const 2) (i32.const 3))",
        ..Judging::default()
    };
    assert_eq!(
        ends(Limits::default(), &unit),
        Cause::Length {
            list: "costs",
            want: 2,
            got: 3
        }
    );
    let unit = Judging {
        judge: "(local $p i32)
            (local.set $p (call $answer (i32.const 2) (i32.const 2)))
            (f64.store offset=8 (i32.load offset=12 (local.get $p)) (f64.const nan))
            (local.get $p)",
        ..Judging::default()
    };
    assert!(matches!(
        ends(Limits::default(), &unit),
        Cause::NoCost { row: 1, .. }
    ));
}

#[test]
fn the_last_error_before_a_trap_is_told_and_the_instance_is_not_entered_again() {
    let unit = Judging {
        definitions: "(data (i32.const 1024) \"hosts ran out\")",
        judge: "(call $log (i32.const 0) (i32.const 1024) (i32.const 13)) unreachable",
        ..Judging::default()
    };
    let unit = Unit::load(&engine(), &unit.component(), "sample").unwrap();
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    let fault = instance
        .judge(Answers::BOTH, &hosts(2), 2, PATIENT)
        .unwrap_err();
    let Cause::Panic(message) = &*fault.cause else {
        panic!("{fault}");
    };
    assert_eq!(message, "hosts ran out");
    assert!(instance.is_poisoned());
    let fault = instance
        .judge(Answers::BOTH, &hosts(2), 2, PATIENT)
        .unwrap_err();
    assert_eq!(*fault.cause, Cause::Poisoned);
    let mut fresh = unit.instantiate(Part::Judge).unwrap();
    assert!(!fresh.is_poisoned());
    assert!(fresh.judge(Answers::BOTH, &hosts(2), 2, PATIENT).is_err());
}

#[test]
fn a_trap_names_the_functions_it_went_through() {
    let unit = Judging {
        definitions: "(func $divide (param i32) (result i32)
            (i32.div_u (i32.const 1) (local.get 0)))",
        judge: "(drop (call $divide (i32.const 0))) (call $answer (i32.const 2) (i32.const 2))",
        ..Judging::default()
    };
    let fault = fault(Limits::default(), &unit);
    let Cause::Trap(trap) = &*fault.cause else {
        panic!("{fault}");
    };
    assert!(trap.contains("divide by zero"));
    assert_eq!(innermost(&fault), "divide");
}

/// The function in which a call ended.
fn innermost(fault: &Fault) -> &str {
    match &fault.place {
        Place::Functions(names) => &names[0],
        _ => panic!("{fault}"),
    }
}

#[test]
fn a_limit_names_the_function_in_which_it_was_met_and_says_what_to_do() {
    let endless = "(func $endless (loop $ever (br $ever)))";
    let hungry = "(func $hungry (if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1))
        (then unreachable)))";
    let deep = "(func $deep (call $deep))";
    let fuel = Limits {
        fuel: Some(1_000_000),
        ..Limits::default()
    };
    let memory = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    for (limits, definitions, judge, function, advice) in [
        (
            Limits::default(),
            endless,
            "(call $endless) unreachable",
            "endless",
            "`unit-time`",
        ),
        (
            fuel,
            endless,
            "(call $endless) unreachable",
            "endless",
            "a loop that does not end",
        ),
        (
            memory,
            hungry,
            "(call $hungry) unreachable",
            "hungry",
            "`unit-memory`",
        ),
        (
            Limits::default(),
            deep,
            "(call $deep) unreachable",
            "deep",
            "be a loop",
        ),
    ] {
        let unit = Judging {
            definitions,
            judge,
            ..Judging::default()
        };
        // One of them never ends.
        let time = match advice {
            "`unit-time`" => BUDGET,
            _ => PATIENT,
        };
        let fault = fault_within(limits, &unit, time);
        assert!(fault.is_limit(), "{fault}");
        assert_eq!(innermost(&fault), function, "{fault}");
        let said = fault.to_string();
        assert!(said.contains(&format!(" (in {function})")), "{said}");
        assert!(said.contains(advice), "{said}");
    }
}

#[test]
fn no_more_instances_exist_than_allowed() {
    let unit = Unit::load(&engine(), &Judging::default().component(), "sample").unwrap();
    let held: Vec<_> = (0..4)
        .map(|_| unit.instantiate(Part::Judge).unwrap())
        .collect();
    let fault = unit.instantiate(Part::Judge).err().unwrap();
    assert_eq!(*fault.cause, Cause::NoInstance(4));
    drop(held);
    unit.instantiate(Part::Judge).unwrap();
}

#[test]
fn where_no_instance_is_free_the_holder_of_the_most_ready_ones_loses_one() {
    let engine = engine();
    let unit = Unit::load(&engine, &Judging::default().component(), "sample").unwrap();
    let make = || Box::new(unit.instantiate(Part::Judge).unwrap());
    let (greedy, modest) = (engine.idle_instances(), engine.idle_instances());
    let ready = |holder: &crate::IdleInstances| {
        let mut place = holder.place();
        place.keep(make());
        place
    };
    let mut many: Vec<_> = (0..3).map(|_| ready(&greedy)).collect();
    let one = ready(&modest);
    // Four of four exist.
    let in_use = [make(), make()];
    assert!(one.has_one());
    assert_eq!(many.iter().filter(|place| place.has_one()).count(), 1);
    // What is in use stays: then there are none.
    let taken = many.iter_mut().find_map(|place| place.take()).unwrap();
    drop(one);
    let last = make();
    let fault = unit.instantiate(Part::Judge).err().unwrap();
    assert_eq!(*fault.cause, Cause::NoInstance(4));
    drop((in_use, taken, last));
}

#[test]
fn where_no_memory_is_free_ready_instances_go_for_one_that_is_made_or_grows() {
    let bytes = Judging::default().component();
    let memory = {
        let unit = Unit::load(&engine(), &bytes, "sample").unwrap();
        unit.instantiate(Part::Judge).unwrap().memory()
    };
    let limits = Limits {
        total_memory: 2 * memory + memory / 2,
        ..Limits::default()
    };
    let engine = engine_with(limits);
    let unit = Unit::load(&engine, &bytes, "sample").unwrap();
    let holder = engine.idle_instances();
    let mut places = [holder.place(), holder.place()];
    for place in &mut places {
        place.keep(Box::new(unit.instantiate(Part::Judge).unwrap()));
    }
    let made = unit.instantiate(Part::Judge).unwrap();
    assert_eq!(places.iter().filter(|place| place.has_one()).count(), 1);
    drop(made);
}

#[test]
fn an_instance_that_takes_longer_to_make_than_the_limit_is_not_used() {
    let limits = Limits {
        time: Duration::from_nanos(1),
        ..Limits::default()
    };
    let bytes = Judging::default().component();
    let error = Unit::load(&engine_with(limits), &bytes, "sample").unwrap_err();
    let LoadError::Describe(fault) = &error.error else {
        panic!("{error}");
    };
    // On a busy machine the instance's own code may have met it.
    assert!(
        matches!(*fault.cause, Cause::Start(_) | Cause::Time(_)),
        "{fault}"
    );
    assert!(fault.is_limit());
}

#[test]
fn an_instance_that_takes_a_while_to_make_is_used_as_long_as_that_is_within_the_limit() {
    // On any processor this loop takes longer than 10 ms, after which an instance is made again.
    let slow = Judging {
        definitions: "
            (func $begin (local $rounds i32)
              (local.set $rounds (i32.const 200000000))
              (loop $again
                (br_if $again
                  (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1))))))
            (start $begin)",
        ..Judging::default()
    };
    let limits = Limits {
        time: Duration::from_secs(60),
        ..Limits::default()
    };
    let unit = Unit::load(&engine_with(limits), &slow.component(), "sample").unwrap();
    unit.instantiate(Part::Judge).unwrap();
}

#[test]
fn all_instances_together_have_no_more_memory_than_allowed() {
    let bytes = Judging::default().component();
    let memory = {
        let unit = Unit::load(&engine(), &bytes, "sample").unwrap();
        unit.instantiate(Part::Judge).unwrap().memory()
    };
    let limits = Limits {
        total_memory: 2 * memory + memory / 2,
        ..Limits::default()
    };
    let unit = Unit::load(&engine_with(limits), &bytes, "sample").unwrap();
    let held: Vec<_> = (0..2)
        .map(|_| unit.instantiate(Part::Judge).unwrap())
        .collect();
    let fault = unit.instantiate(Part::Judge).err().unwrap();
    assert!(
        matches!(*fault.cause, Cause::TotalMemory { wanted, .. } if wanted == memory),
        "{fault}"
    );
    assert!(fault.to_string().contains("unit-total-memory"), "{fault}");
    drop(held);
    unit.instantiate(Part::Judge).unwrap();
}

#[test]
fn compiled_code_is_taken_from_disk_and_made_again_where_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        instances: 4,
        ..Limits::default()
    };
    let code = folder.path().join("code");
    let bytes = Judging::default().component();
    let load = || {
        let engine = Engine::new(limits.clone(), Some(&code)).unwrap();
        Unit::load(&engine, &bytes, "sample").unwrap()
    };
    load();
    let entry = std::fs::read_dir(&code)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let written = std::fs::read(&entry).unwrap();
    load();
    std::fs::write(&entry, b"damaged").unwrap();
    let unit = load();
    assert_eq!(std::fs::read(&entry).unwrap(), written);
    let mut instance = unit.instantiate(Part::Judge).unwrap();
    instance
        .judge(Answers::BOTH, &hosts(2), 2, PATIENT)
        .unwrap();
}

#[test]
fn code_that_was_compiled_too_late_is_there_for_who_asks_next() {
    let folder = tempfile::tempdir().unwrap();
    let code = folder.path().join("code");
    let bytes = Judging::default().component();
    let load = |compile_time| {
        let limits = Limits {
            compile_time,
            instances: 4,
            ..Limits::default()
        };
        let engine = Engine::new(limits, Some(&code)).unwrap();
        Unit::load(&engine, &bytes, "sample")
    };
    assert!(load(Duration::ZERO).is_err());
    let begun = Instant::now();
    while load(Duration::ZERO).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn compiling_is_given_up_after_its_limit() {
    let limits = Limits {
        compile_time: Duration::ZERO,
        ..Limits::default()
    };
    let bytes = Judging::default().component();
    let error = Unit::load(&engine_with(limits), &bytes, "slow").unwrap_err();
    assert!(
        error.to_string().contains("compiling took longer"),
        "{error}"
    );
}

#[test]
fn an_export_of_another_type_is_refused() {
    let component = wat::parse_str(
        r#"(component
            (core module $m (func (export "f") (result i32) (i32.const 7)))
            (core instance $i (instantiate $m))
            (func $f (result u32) (canon lift (core func $i "f")))
            (instance $unit (export "describe" (func $f)))
            (export "placewright:policy/unit@0.1.0" (instance $unit)))"#,
    )
    .unwrap();
    let said = refused(&component);
    assert!(said.contains("does not fit the contract"), "{said}");
}
