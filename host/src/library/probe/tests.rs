use std::sync::Arc;

use super::*;
use crate::engine::{Engine, Limits};
use crate::unit::testing::Judging;

fn load(unit: &Judging) -> Arc<Unit> {
    let engine = Engine::new(Limits::reproducible(), None).unwrap();
    Unit::load(&engine, &unit.component(), "sample").unwrap()
}

fn failed(unit: &Judging) -> Vec<&'static str> {
    let report = probe(&load(unit), 1);
    report.failed().map(|step| step.claim).collect()
}

/// Columns of a host, of every kind.
fn reads() -> Vec<(&'static str, Vec<crate::unit::testing::Column>)> {
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
    let unit = load(&Judging::default());
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
