//! What an author is told when a unit panics, with the names of its functions and without.

use placewright::unit::build::{self, Options};
use placewright_tests::component::by_default;
use placewright_tests::target_folder;
use placewright_tests::units::{component, crate_folder};

use crate::run::{Folder, NO, placewright};

/// What `unit check` says of the unit `misbehaving` that panics, as JSON.
fn check_of_panic(component: &[u8]) -> String {
    let folder = Folder::new();
    let unit = folder.write("panics.wasm", by_default(component, "panics"));
    let run = placewright(&["unit", "check", &unit, "--format", "json"]);
    assert_eq!(run.code, NO, "{}{}", run.out, run.err);
    assert!(
        run.out.contains("the headroom of 1073741824 is beyond me"),
        "{}",
        run.out
    );
    run.out
}

#[test]
fn a_panic_is_told_with_the_authors_functions_where_the_unit_has_names() {
    let options = Options {
        names: true,
        // Apart from the units without names: cargo would write both to one file.
        target_folder: Some(target_folder().join("units-with-names")),
        ..Options::default()
    };
    let built = build::build(&crate_folder("misbehaving"), &options).unwrap();
    let out = check_of_panic(&built.bytes);
    assert!(out.contains("(in misbehaving::begin"), "{out}");
    for noise in [
        "panic_fmt",
        "rust_panic",
        "__rustc",
        "std::",
        "NativeUnit",
        "judge@",
        "--names",
    ] {
        assert!(!out.contains(noise), "{noise}: {out}");
    }
}

#[test]
fn a_panic_without_names_tells_how_to_have_them() {
    let out = check_of_panic(&component("misbehaving"));
    assert!(out.contains("placewright unit build --names"), "{out}");
    assert!(!out.contains("misbehaving::begin"), "{out}");
}
