//! Files that are no units, or units that do not fit.

use placewright_engine::unit::Unit;
use placewright_tests::component::{contradicting, importing_wasi, renamed};
use placewright_tests::units::{component, engine};

/// What is said of the bytes, in one line.
fn refused(bytes: &[u8]) -> String {
    let error = Unit::load(engine(), bytes, "given.wasm")
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("cannot load given.wasm: "), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn truncated_bytes_are_refused_wherever_they_end() {
    let whole = component("misbehaving");
    for cut in (0..whole.len()).step_by(whole.len() / 40).skip(1) {
        let said = refused(&whole[..cut]);
        let plain = ["cut off or damaged", "no unit"];
        assert!(
            plain.iter().any(|part| said.contains(part)),
            "{cut}: {said}"
        );
    }
}

#[test]
fn an_empty_file_is_refused() {
    assert_eq!(refused(b""), "cannot load given.wasm: it is empty");
}

#[test]
fn random_bytes_are_refused_and_never_panic() {
    // A linear congruential generator with Knuth's constants: any will do.
    let mut state: u64 = 1;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    let bytes: Vec<u8> = (0..4096).map(|_| next()).collect();
    assert!(refused(&bytes).contains("it is not a WebAssembly component"));
    // The same behind the first bytes of a component.
    let mut bytes = [b"\0asm\x0d\0\x01\0".as_slice(), &bytes].concat();
    assert!(refused(&bytes).contains("cut off or damaged"));
    for _ in 0..200 {
        let length = 8 + usize::from(next());
        bytes.truncate(8);
        bytes.extend((8..length).map(|_| next()));
        let _ = Unit::load(engine(), &bytes, "given.wasm");
    }
}

#[test]
fn a_core_module_is_refused_with_the_command_that_makes_a_component() {
    let said = refused(b"\0asm\x01\0\0\0");
    assert!(said.contains("core WebAssembly module"), "{said}");
    assert!(said.contains("placewright unit build"), "{said}");
}

#[test]
fn an_unknown_version_of_the_contract_is_refused_with_both_versions() {
    let newer = renamed(&component("misbehaving"), "@0.1.0", "@0.9.0");
    assert_eq!(
        refused(&newer),
        "cannot load given.wasm: it is built for placewright:policy@0.9.0 and this runtime offers 0.1.0: upgrade Placewright, or rebuild the unit with an SDK for the version offered"
    );
    let older = renamed(&component("misbehaving"), "@0.1.0", "@0.0.7");
    assert!(refused(&older).contains("rebuild the unit with the current SDK"));
}

#[test]
fn imports_of_wasi_are_refused_by_name_with_the_remedy() {
    assert_eq!(
        refused(&importing_wasi()),
        "cannot load given.wasm: it imports wasi:cli/environment@0.2.0, and a unit may import nothing but placewright:policy/log: it has no files, no clock and no chance; build it for wasm32-unknown-unknown, or stub WASI out"
    );
}

#[test]
fn a_description_that_contradicts_the_exports_is_refused() {
    let error = Unit::load(engine(), &contradicting(), "given.wasm").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot load given.wasm: its description is wrong:\n  \
         - the interface placewright:policy/judge@0.1.0 is exported and the part judge is not described\n  \
         - no part is described, so that there is nothing to call"
    );
}

#[test]
fn an_unknown_column_is_refused_with_the_nearest() {
    let unit = renamed(&component("unsound"), "memory.total", "memory.totel");
    let said = Unit::load(engine(), &unit, "given.wasm")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("there is no column memory.totel (did you mean memory.total?)"),
        "{said}"
    );
}
