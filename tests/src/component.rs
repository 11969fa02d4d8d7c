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
