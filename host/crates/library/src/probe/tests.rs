use std::sync::Arc;

use super::*;
use placewright_engine::{Engine, Limits};
use placewright_model::Value;
use placewright_testing::component::{Asking, Judging, NOTHING};

fn load(component: &[u8]) -> Arc<Unit> {
    let engine = Engine::new(Limits::reproducible(), None).unwrap();
    Unit::load(&engine, component, "sample").unwrap()
}

/// The claims that do not hold.
fn claims(component: &[u8]) -> Vec<&'static str> {
    let report = probe(&load(component), 1);
    report.failed().map(|step| step.claim).collect()
}

fn failed(unit: &Judging) -> Vec<&'static str> {
    claims(&unit.component())
}

/// Columns of a host, of every kind.
fn reads() -> Vec<(&'static str, Vec<placewright_testing::component::Column>)> {
    vec![
        ("members", vec![("memory", 0, true)]),
        (
            "hosts",
            vec![("memory.free", 0, false), ("cpu.usage", 1, false)],
        ),
        ("hosts/networks", vec![("name", 3, true)]),
    ]
}

#[test]
fn a_unit_that_is_alike_to_all_hosts_passes_and_the_report_is_the_same_each_time() {
    let unit = load(&Judging::default().component());
    let report = probe(&unit, 7);
    assert!(report.passed(), "{report:#?}");
    assert_eq!(report, probe(&unit, 7));
    assert!(report.steps.len() >= 9);
    assert_eq!(report.fuel.len(), 1);
    assert!(report.fuel[0].host > 0.0);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["steps"][0]["outcome"]["result"], "ok");
}

#[test]
fn a_unit_that_says_row_wise_and_looks_at_other_hosts_is_found() {
    // Each host costs as much as there are hosts.
    let unit = Judging {
        judge: "(local $p i32) (local $n i32) (local $i i32)
            (local.set $n (i32.load (local.get $rows)))
            (local.set $p (call $answer
              (select (local.get $n) (i32.const 0) (local.get $verdicts))
              (select (local.get $n) (i32.const 0) (local.get $costs))))
            (if (local.get $costs) (then
              (block $done (loop $next
                (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
                (f64.store
                  (i32.add (i32.load offset=12 (local.get $p)) (i32.shl (local.get $i) (i32.const 3)))
                  (f64.convert_i32_u (local.get $n)))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br $next)))))
            (local.get $p)",
        ..Judging::default()
    };
    let found = failed(&unit);
    assert!(found.contains(&"answers the same in batches"), "{found:?}");
    assert!(found.contains(&"answers for each host alone as among others"));
    assert!(!found.contains(&"answers the same when it is asked again"));
    let honest = Judging {
        evaluation: 1,
        ..unit
    };
    assert_eq!(failed(&honest), [] as [&str; 0]);
}

#[test]
fn a_unit_that_counts_its_calls_is_found() {
    let unit = Judging {
        definitions: "(global $calls (mut i32) (i32.const 0))",
        judge: "(local $p i32) (local $n i32)
            (local.set $n (i32.load (local.get $rows)))
            (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
            (local.set $p (call $answer
              (select (local.get $n) (i32.const 0) (local.get $verdicts))
              (select (local.get $n) (i32.const 0) (local.get $costs))))
            (if (i32.and (local.get $costs) (i32.gt_u (local.get $n) (i32.const 0))) (then
              (f64.store (i32.load offset=12 (local.get $p))
                (f64.convert_i32_u (global.get $calls)))))
            (local.get $p)",
        ..Judging::default()
    };
    let found = failed(&unit);
    assert!(found.contains(&"answers the same when it is asked again"));
    assert!(found.contains(&"answers the same in a fresh instance"));
}

#[test]
fn a_unit_that_takes_codes_of_texts_for_values_is_found() {
    // The first host costs as much as the code of the last host's last network.
    let unit = Judging {
        judge: "(local $p i32) (local $n i32)
            (local.set $n (i32.load offset=4 (local.get $rows)))
            (local.set $p (call $answer
              (select (local.get $n) (i32.const 0) (local.get $verdicts))
              (select (local.get $n) (i32.const 0) (local.get $costs))))
            (if (i32.and (local.get $costs) (i32.gt_u (local.get $n) (i32.const 0))) (then
              (f64.store (i32.load offset=12 (local.get $p))
                (f64.convert_i64_s (i64.load
                  (i32.add (local.get $integers)
                    (i32.shl (i32.sub (local.get $integers.len) (i32.const 1)) (i32.const 3))))))))
            (local.get $p)",
        evaluation: 1,
        reads: reads(),
        ..Judging::default()
    };
    let found = failed(&unit);
    assert!(
        found.contains(&"answers the same whatever the codes of texts are"),
        "{found:?}"
    );
}

#[test]
fn a_unit_that_traps_is_found_and_the_probe_goes_no_further() {
    let unit = Judging {
        judge: "unreachable",
        reads: reads(),
        ..Judging::default()
    };
    assert_eq!(failed(&unit), ["answers made-up requests"]);
}

/// The parts that are asked once about all of their tables, balance apart.
const ONCE: [Part; 4] = [Part::Selection, Part::Effects, Part::Order, Part::Explain];

fn asking(part: Part, answer: &'static str) -> Asking {
    let candidates = (
        "candidates",
        vec![("share", 1, true), ("cost.load", 1, false)],
    );
    let mut reads = vec![("members", vec![("memory", 0, true)]), ("hosts", vec![])];
    if matches!(part, Part::Selection | Part::Explain) {
        reads.push(candidates);
    }
    Asking {
        part: part.name(),
        reads,
        definitions: "",
        answer,
    }
}

#[test]
fn a_part_that_has_nothing_to_say_passes_and_every_claim_is_tried() {
    for part in ONCE {
        let report = probe(&load(&asking(part, NOTHING).component()), 3);
        assert!(report.passed(), "{report:#?}");
        let tried = report.steps.iter().filter(|step| step.part == part);
        let tried: Vec<_> = tried.collect();
        assert!(tried.len() >= 4, "{tried:#?}");
        assert!(tried.iter().all(|step| step.outcome == Outcome::Ok));
        assert_eq!(report.fuel[0].part, part);
    }
}

#[test]
fn a_trap_in_any_part_is_found_and_the_probe_of_that_part_goes_no_further() {
    for (part, claim) in ONCE.into_iter().zip([
        "answers for made-up candidates",
        "answers for made-up placements",
        "answers for made-up batches",
        "answers for made-up requests",
    ]) {
        assert_eq!(claims(&asking(part, "unreachable").component()), [claim]);
    }
}

#[test]
fn an_answer_that_breaks_the_contract_is_found_with_the_sentence() {
    // The first of the two offsets is not 0.
    let answer = "(local $p i32)
        (local.set $p (call $zeros (i32.const 64)))
        (i32.store offset=4 (local.get $p) (i32.add (local.get $p) (i32.const 40)))
        (i32.store offset=8 (local.get $p) (i32.const 2))
        (i32.store offset=40 (local.get $p) (i32.const 1))
        (local.get $p)";
    for part in [Part::Selection, Part::Order] {
        let report = probe(&load(&asking(part, answer).component()), 1);
        let outcome = report.failed().next().map(|step| &step.outcome);
        let Some(Outcome::Failed { why }) = outcome else {
            panic!("it passes");
        };
        assert!(why.contains("do not lead from 0 to the 0 rows"), "{why}");
    }
}

/// Takes the candidate in the first row, whoever that is.
const FIRST_ROW: &str = "(local $p i32)
    (local.set $p (call $zeros (i32.const 64)))
    (if (i32.load offset=4 (local.get $rows)) (then
      (i32.store offset=4 (local.get $p) (i32.add (local.get $p) (i32.const 32)))
      (i32.store offset=8 (local.get $p) (i32.const 2))
      (i32.store offset=12 (local.get $p) (i32.add (local.get $p) (i32.const 40)))
      (i32.store offset=16 (local.get $p) (i32.const 1))
      (i32.store offset=20 (local.get $p) (i32.add (local.get $p) (i32.const 48)))
      (i32.store offset=24 (local.get $p) (i32.const 1))
      (i32.store offset=36 (local.get $p) (i32.const 1))
      (f64.store offset=48 (local.get $p) (f64.const 1))))
    (local.get $p)";

#[test]
fn a_selection_that_goes_by_row_numbers_is_found() {
    let unit = asking(Part::Selection, FIRST_ROW);
    assert_eq!(
        claims(&unit.component()),
        ["answers the same in whatever order the candidates are"]
    );
}

#[test]
fn a_selection_that_counts_its_calls_is_found() {
    let unit = Asking {
        definitions: "(global $calls (mut i32) (i32.const 0))",
        answer: "(local $p i32)
            (global.set $calls (i32.xor (global.get $calls) (i32.const 1)))
            (local.set $p (call $zeros (i32.const 64)))
            (i32.store offset=4 (local.get $p) (i32.add (local.get $p) (i32.const 32)))
            (i32.store offset=8 (local.get $p) (i32.add (i32.const 1) (global.get $calls)))
            (local.get $p)",
        ..asking(Part::Selection, NOTHING)
    };
    let found = claims(&unit.component());
    assert!(
        found.contains(&"answers the same when it is asked again"),
        "{found:?}"
    );
}

#[test]
fn the_groups_of_made_up_candidates_are_ones_that_a_runtime_could_show() {
    let column = |column: &str, kind| placewright_engine::contract::ColumnRead {
        column: column.to_owned(),
        kind,
        required: true,
        gate: false,
    };
    let read = placewright_engine::contract::TableRead {
        table: candidates::TABLE.to_owned(),
        columns: vec![
            column("group", placewright_engine::contract::Kind::Integer),
            column("share", placewright_engine::contract::Kind::Number),
        ],
    };
    let mut random = Random::new(1);
    for hosts in [0, 1, 7, 24] {
        for _ in 0..20 {
            let variety = Variety {
                hosts,
                ..Variety::default()
            };
            let rows = candidates::rows(&read, variety, &mut random);
            assert_eq!(rows.len(), hosts);
            let mut sums = [0.0; 3];
            for row in rows {
                let [Some(Value::Integer(group)), Some(Value::Number(share))] = &row.cells[..]
                else {
                    panic!("both are always given");
                };
                assert!((0.0..=1.0).contains(share));
                sums[*group as usize] += share;
            }
            let whole = |sum: &f64| *sum == 0.0 || (sum - 1.0).abs() < 1e-9;
            assert!(sums.iter().all(whole), "{sums:?}");
        }
    }
}
