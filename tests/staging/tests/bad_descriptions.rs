//! Units that say too much of themselves: it is refused before anything is made of it.

use placewright_engine::unit::Unit;
use placewright_tests::component::{long_named, long_winded};
use placewright_tests::units::engine;

fn refused(bytes: &[u8]) -> String {
    let error = Unit::load(engine(), bytes, "given.wasm").unwrap_err();
    error.to_string()
}

#[test]
fn a_description_of_many_megabytes_is_not_read() {
    for bytes in [2 << 20, 50 << 20] {
        let said = refused(&long_winded(bytes));
        assert!(
            said.contains("describes itself with more than 1.0 MiB"),
            "{said}"
        );
        assert!(said.len() < 500, "{}", said.len());
    }
}

#[test]
fn a_long_sentence_is_quoted_in_short() {
    let said = refused(&long_winded(100_000));
    assert!(
        said.contains("the summary has 100000 bytes, and at most 1024 are allowed"),
        "{said}"
    );
    assert!(said.len() < 500, "{}", said.len());
}

#[test]
fn long_names_are_compared_with_nothing() {
    // Comparing these two would take 10^11 steps.
    let said = refused(&long_named(300_000));
    assert!(
        said.contains("the name of a setting has 300000 characters"),
        "{said}"
    );
    assert!(
        said.contains("the name of a column has 300000 characters"),
        "{said}"
    );
    assert!(said.len() < 1000, "{}", said.len());
    let said = refused(&long_named(16 << 20));
    assert!(said.contains("describes itself with more than"), "{said}");
}
