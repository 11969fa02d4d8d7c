//! Units that do not depend on what they declare alone are found out.

use placewright_chain::{Reuse, Runner};

use super::life::Life;
use super::{PATIENT, Twins};

/// Make decisions until a unit is found out, and some more: these are as if nothing was
/// ever kept.
fn found_out(unit: &str, settings: &str) {
    let mut life = Life::new(11).of_few_shapes();
    let policy = format!(
        "tie-rule = ['id']\n[[costs]]\nunit = '{unit}'\n{settings}\n[[costs]]\nunit = 'even-distribution'\n"
    );
    let mut twins = Twins::new(&life, &policy, Reuse::default());
    let mut after = 0;
    for _ in 0..600 {
        let scheduler = &mut twins.with;
        for change in life.changes() {
            change.make(scheduler.inventory_mut());
        }
        let was_known = !scheduler.quarantined().is_empty();
        let decision = scheduler.place(life.request()).expect("nothing is refused");
        if scheduler.quarantined().is_empty() {
            continue;
        }
        // The very decision that shows it is made anew.
        let past = scheduler.inventory().at_version(decision.inventory_version);
        let past = past.expect("the last change is remembered");
        let mut runner = Runner::new(decision.chain.clone(), PATIENT);
        let anew = runner.decide(&past, &decision.request, decision.draw);
        assert_eq!(anew.as_ref(), Ok(&decision.decided), "{unit} {settings}");
        after += usize::from(was_known);
    }
    let quarantined = twins.with.quarantined();
    assert_eq!(quarantined.len(), 1, "{unit} {settings}");
    assert_eq!(&*quarantined[0].unit, unit);
    assert!(after > 200, "{unit} {settings}: found out too late");
}

#[test]
fn a_unit_that_counts_rows_is_found_out() {
    found_out("unsound", "settings = { how = 'counts-rows' }");
}

#[test]
fn a_unit_that_compares_rows_is_found_out() {
    found_out("unsound", "settings = { how = 'compares-rows' }");
}

#[test]
fn a_unit_that_reads_codes_is_found_out() {
    found_out("unsound", "settings = { how = 'reads-codes' }");
}

#[test]
fn a_unit_that_remembers_calls_is_found_out() {
    found_out("misbehaving", "settings = { how = 'remembers' }");
}

#[test]
fn a_unit_whose_answers_end_sooner_than_it_says_is_found_out() {
    found_out("everlasting", "");
}

#[test]
fn a_unit_that_remembers_calls_where_it_is_asked_about_relations_is_found_out() {
    found_out("growing", "");
}

#[test]
fn units_that_keep_to_the_contract_are_never_suspected() {
    let mut life = Life::new(12);
    let mut twins = Twins::new(&life, super::policies::ONE_BY_ONE, Reuse::default());
    twins.live(&mut life, 300);
    assert_eq!(twins.with.quarantined(), []);
    assert!(twins.with.unit_reuse().iter().any(|unit| unit.checked > 50));
}
