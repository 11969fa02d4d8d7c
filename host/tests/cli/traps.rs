//! What an author is told when a unit panics or meets a limit, with the names of its functions
//! and without.

use placewright_build::{self as build, Options};
use placewright_tests::component::by_default;
use placewright_tests::target_folder;
use placewright_tests::units::{component, crate_folder};

use crate::run::{Folder, NO, placewright};

/// What `unit check` says of the unit `misbehaving` that goes wrong in that way, as JSON.
fn check(component: &[u8], how: &str) -> String {
    let folder = Folder::new();
    let unit = folder.write("misbehaves.wasm", by_default(component, how));
    let run = placewright(&["unit", "check", &unit, "--format", "json"]);
    assert_eq!(run.code, NO, "{how}: {}{}", run.out, run.err);
    run.out
}

/// What it says of the unit that panics.
fn check_of_panic(component: &[u8]) -> String {
    let out = check(component, "panics");
    assert!(
        out.contains("the headroom of 1073741824 is beyond me"),
        "{out}"
    );
    out
}

/// The component of the unit `misbehaving` with the names of its functions.
fn with_names() -> Vec<u8> {
    let options = Options {
        names: true,
        // Apart from the units without names: cargo would write both to one file.
        target_folder: Some(target_folder().join("units-with-names")),
        ..Options::default()
    };
    let built = build::build(&crate_folder("misbehaving"), &options).unwrap();
    built.bytes
}

#[test]
fn a_panic_is_told_with_the_authors_functions_where_the_unit_has_names() {
    let out = check_of_panic(&with_names());
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

/// Settings of the unit that meet a limit, and what is said of each.
const LIMITS: [(&str, &str); 3] = [
    ("loops-forever", "units of fuel were used"),
    ("eats-memory", "the limit being 256.0 MiB"),
    ("recurses-forever", "used up its stack of 1.0 MiB"),
];

#[test]
fn a_limit_is_told_with_the_authors_functions_where_the_unit_has_names() {
    let named = with_names();
    for (how, told) in LIMITS {
        let out = check(&named, how);
        assert!(out.contains(&format!("{told} (in misbehaving::")), "{out}");
        for noise in ["alloc::", "NativeUnit", "judge@", "--names"] {
            assert!(!out.contains(noise), "{how}: {noise}: {out}");
        }
    }
}

#[test]
fn a_limit_that_is_met_without_names_tells_how_to_have_them() {
    for (how, told) in LIMITS {
        let out = check(&component("misbehaving"), how);
        let advice = format!("{told}; built with `placewright unit build --names`");
        assert!(out.contains(&advice), "{how}: {out}");
        assert!(!out.contains("misbehaving::"), "{how}: {out}");
    }
}
