//! Components that no SDK would make: written as text, or made from a sound one by
//! changing its names.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The contract, as authors read it.
pub const CONTRACT: &str = include_str!("../../wit/policy.wit");

/// A world that is not the contract's: what a program for WASI imports.
const WASI: &str = "
    package wasi:cli@0.2.0;
    interface environment { initial-cwd: func() -> option<string>; }
    world command { import environment; }
";

/// A core module, written as text, with the metadata of a world, as a component.
///
/// # Panics
/// If the text is no module, or does not fit the world.
pub fn encoded(module: &str, wit: &str, world: &str) -> Vec<u8> {
    let mut module = wat::parse_str(module).expect("the text is a module");
    let mut resolve = Resolve::default();
    let package = resolve.push_str("test.wit", wit).expect("the WIT is sound");
    let world = resolve
        .select_world(&[package], Some(world))
        .expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)
        .expect("metadata fits in");
    ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|encoder| encoder.encode())
        .expect("the module fits the world")
}

/// A component that wants to know about files: it imports WASI.
pub fn importing_wasi() -> Vec<u8> {
    let module = r#"(module
        (import "wasi:cli/environment@0.2.0" "initial-cwd" (func (param i32)))
        (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0)))"#;
    encoded(module, WASI, "command")
}

/// A unit that exports `judge` and does not describe it.
pub fn contradicting() -> Vec<u8> {
    let text = |text: &str, at: u32| {
        let length = u32::try_from(text.len()).expect("texts are short");
        [at.to_le_bytes(), length.to_le_bytes()].concat()
    };
    // The record `description`: name, version and summary, and no part.
    let mut description = text("contrary", 512);
    description.extend(text("1.0.0", 520));
    description.extend(text("contrary", 512));
    description.resize(256, 0);
    let bytes: String = description.iter().map(|b| format!("\\{b:02x}")).collect();
    let module = format!(
        r#"(module
        (memory (export "memory") 1)
        (data (i32.const 1024) "{bytes}")
        (data (i32.const 512) "contrary1.0.0")
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32) (i32.const 1024))
        (func (export "placewright:policy/judge@0.1.0#judge")
          (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
          unreachable))"#
    );
    encoded(&module, CONTRACT, "judging")
}

/// A unit that says so many bytes of itself in one sentence, none of which can be shown as it
/// is. At most 100 MB.
pub fn long_winded(bytes: usize) -> Vec<u8> {
    let pages = 2 + bytes.div_ceil(1 << 16);
    let module = format!(
        r#"(module (memory (export "memory") {pages})
        (data (i32.const 16) "x") (data (i32.const 32) "1.0.0")
        (func $w (param i32 i32) (i32.store (local.get 0) (local.get 1)))
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32)
          (memory.fill (i32.const 65536) (i32.const 1) (i32.const {bytes}))
          (call $w (i32.const 1024) (i32.const 16)) (call $w (i32.const 1028) (i32.const 1))
          (call $w (i32.const 1032) (i32.const 32)) (call $w (i32.const 1036) (i32.const 5))
          (call $w (i32.const 1040) (i32.const 65536)) (call $w (i32.const 1044) (i32.const {bytes}))
          (i32.const 1024)))"#
    );
    encoded(&module, CONTRACT, "described")
}

/// A unit with a setting and a column whose names have so many bytes each, and are unlike. At
/// most 16 MiB.
pub fn long_named(bytes: usize) -> Vec<u8> {
    let module = format!(
        r#"(module (memory (export "memory") 600)
        (data (i32.const 16) "stuck") (data (i32.const 32) "1.0.0") (data (i32.const 64) "settings")
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0x2100000))
        (func $w (param i32 i32) (i32.store (local.get 0) (local.get 1)))
        (func (export "placewright:policy/explain@0.1.0#explain")
          (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) unreachable)
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32)
          (memory.fill (i32.const 0x10000) (i32.const 97) (i32.const {bytes}))
          (memory.fill (i32.const 0x1010000) (i32.const 98) (i32.const {bytes}))
          (call $w (i32.const 1024) (i32.const 16)) (call $w (i32.const 1028) (i32.const 5))
          (call $w (i32.const 1032) (i32.const 32)) (call $w (i32.const 1036) (i32.const 5))
          (call $w (i32.const 1040) (i32.const 16)) (call $w (i32.const 1044) (i32.const 5))
          (call $w (i32.const 1056) (i32.const 2048)) (call $w (i32.const 1060) (i32.const 1))
          (call $w (i32.const 1196) (i32.const 1)) (call $w (i32.const 1200) (i32.const 3072))
          (call $w (i32.const 1204) (i32.const 1))
          (call $w (i32.const 2048) (i32.const 0x10000)) (call $w (i32.const 2052) (i32.const {bytes}))
          (call $w (i32.const 3072) (i32.const 64)) (call $w (i32.const 3076) (i32.const 8))
          (call $w (i32.const 3080) (i32.const 4096)) (call $w (i32.const 3084) (i32.const 1))
          (call $w (i32.const 4096) (i32.const 0x1010000)) (call $w (i32.const 4100) (i32.const {bytes}))
          (i32.const 1024)))"#
    );
    encoded(&module, CONTRACT, "explaining")
}

/// A unit with a function of so many local variables, which so many branches carry; it takes
/// some ten bytes of the compiler's memory for each of each.
pub fn branching(locals: usize, branches: usize) -> Vec<u8> {
    let variables = "i64 ".repeat(locals);
    let branches: String = (0..branches)
        .map(|number| {
            let local = 1 + number % locals;
            format!(
                "(local.set {local} (i64.add (local.get {local}) (i64.const {number}))) \
                 (br_if 0 (local.get 0))"
            )
        })
        .collect();
    let module = format!(
        r#"(module (memory (export "memory") 1)
        (func (export "hard") (param i32) (local {variables}) (loop {branches}))
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32) (i32.const 1024)))"#
    );
    encoded(&module, CONTRACT, "described")
}

/// A unit whose table has so many elements that are written by code.
pub fn computed_elements(elements: usize) -> Vec<u8> {
    let functions = "$f ".repeat(elements);
    let module = format!(
        r#"(module (memory (export "memory") 1) (table {elements} funcref) (func $f)
        (elem (offset (i32.add (i32.const 0) (i32.const 0))) func {functions})
        (func (export "placewright:policy/unit@0.1.0#describe") (result i32) (i32.const 1024)))"#
    );
    encoded(&module, CONTRACT, "described")
}

/// The component of a unit for tests that goes wrong in this way unless it is told
/// otherwise. At most 16 characters.
pub fn by_default(component: &[u8], how: &str) -> Vec<u8> {
    renamed(component, "keeps-everything", &format!("{how:-<16}"))
}

/// The component with one text in place of another of the same length, wherever it
/// stands.
///
/// # Panics
/// If the lengths differ, or the text is not there.
pub fn renamed(component: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "sections have fixed lengths");
    let mut changed = component.to_vec();
    let mut found = false;
    for place in 0..=component.len() - from.len() {
        if component[place..].starts_with(from.as_bytes()) {
            changed[place..place + to.len()].copy_from_slice(to.as_bytes());
            found = true;
        }
    }
    assert!(found, "the component does not name {from}");
    changed
}
