//! The functions that a trap went through, as the unit's author knows them.
//!
//! Between the author's code and the trap lies what Rust does at a panic, and between the
//! call and the author's code what the SDK does at every call. Neither helps to find a
//! mistake, so both are left out.

use std::collections::HashSet;
use std::fmt::{self, Write};

use wasmtime::WasmBacktrace;

use crate::contract::PACKAGE;

/// Bytes of a function's name that are kept.
const LONGEST_NAME: usize = 256;

/// Bytes of all names together, which end a sentence.
const LONGEST_TRACE: usize = 2048;

/// Crates whose functions are not the author's.
const LIBRARIES: &[&str] = &[
    "__rustc",
    "alloc",
    "compiler_builtins",
    "core",
    "dlmalloc",
    "hashbrown",
    "placewright_sdk",
    "std",
];

/// The traits that the SDK's macro implements for the author's unit: every call comes by them.
const ENTRY: &str = "placewright_sdk::native::";

/// Beginnings of names that compilers make, besides those of [`LIBRARIES`].
const MADE: &[&str] = &["__rust_", "rust_", "cabi_"];

/// Beginnings of names of functions that run what the author wrote in Python or JavaScript.
const INTERPRETERS: &[&str] = &["_PyEval_", "PyEval_", "JS_Call"];

/// The functions that the error's trap went through, innermost first, each once however often a
/// recursion went through it. None if the component has no names, or those of an interpreter.
pub(super) fn functions(error: &wasmtime::Error) -> Vec<String> {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else {
        return Vec::new();
    };
    let frames = backtrace.frames().iter();
    let names = frames.filter_map(|frame| frame.func_name());
    let mut room = LONGEST_TRACE;
    let mut kept = authors(names.map(demangled));
    kept.retain(|name| {
        let fits = name.len() <= room;
        room = room.saturating_sub(name.len());
        fits
    });
    kept
}

/// The name as its author wrote it, as far as there is room: a short name can stand for one of
/// any length.
fn demangled(name: &str) -> String {
    let name = &name[..name.floor_char_boundary(LONGEST_TRACE)];
    let mut short = Short(String::new());
    // What does not fit is left out.
    let _ = write!(short, "{:#}", rustc_demangle::demangle(name));
    let Short(short) = short;
    short
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// A name of at most [`LONGEST_NAME`] bytes. Writing more fails.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.floor_char_boundary(LONGEST_NAME - self.0.len());
        self.0.push_str(&text[..end]);
        match end == text.len() {
            true => Ok(()),
            false => Err(fmt::Error),
        }
    }
}

/// Those that are the author's; if there is none, all.
fn authors(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = HashSet::new();
    // What a call enters by says nothing.
    let names = names.filter(|name| !name.starts_with(PACKAGE));
    let mut all: Vec<String> = names.filter(|name| known.insert(name.clone())).collect();
    let interprets = |name: &String| INTERPRETERS.iter().any(|begin| name.starts_with(begin));
    if all.iter().any(interprets) {
        return Vec::new();
    }
    if all.iter().all(|name| is_machinery(name)) {
        return all;
    }
    all.retain(|name| !is_machinery(name));
    all
}

/// Whether a function is of Rust's libraries, of the SDK, or made by a compiler.
fn is_machinery(name: &str) -> bool {
    if MADE.iter().any(|begin| name.starts_with(begin)) {
        return true;
    }
    let Some(inner) = name.strip_prefix('<').map(up_to_closing) else {
        return is_of_library(name);
    };
    // A method: of a type, or of a trait for a type.
    match split_trait(inner) {
        Some((_, of)) if of.starts_with(ENTRY) => true,
        Some((of, implemented)) => is_foreign_type(of) && is_of_library(implemented),
        None => is_foreign_type(inner),
    }
}

/// Whether a path begins with a crate of [`LIBRARIES`].
fn is_of_library(path: &str) -> bool {
    path.split_once("::")
        .is_some_and(|(root, _)| LIBRARIES.contains(&root))
}

/// Whether a type is of a library or of the language itself, as slices are, whatever they hold.
fn is_foreign_type(name: &str) -> bool {
    if name.starts_with(['[', '(', '*']) {
        return true;
    }
    let name = name.trim_start_matches('&');
    let name = ["mut ", "dyn "]
        .iter()
        .fold(name, |name, word| name.strip_prefix(word).unwrap_or(name));
    is_of_library(name) || !name.contains("::")
}

/// What lies before the bracket that closes the one before this text.
fn up_to_closing(text: &str) -> &str {
    let end = outside_brackets(text).find(|&(_, rest)| rest.starts_with('>'));
    end.map_or(text, |(place, _)| &text[..place])
}

/// The type and the trait in `TYPE as TRAIT`.
fn split_trait(inner: &str) -> Option<(&str, &str)> {
    const AS: &str = " as ";
    let (place, rest) = outside_brackets(inner).find(|(_, rest)| rest.starts_with(AS))?;
    Some((&inner[..place], &rest[AS.len()..]))
}

/// Places of a text that no brackets of its own enclose, each with the text from there.
fn outside_brackets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut depth = 0_i32;
    let mut before = ' ';
    text.char_indices().filter_map(move |(place, letter)| {
        let outside = depth == 0;
        match letter {
            '<' => depth += 1,
            // The arrow of a function's type closes nothing.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = letter;
        outside.then_some((place, &text[place..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_functions_of_the_author_are_kept() {
        let names = [
            "__rustc::rust_panic",
            "std::panicking::panic_handler::{closure#0}",
            "std::sys::backtrace::__rust_end_short_backtrace::<std::panicking::panic_handler::{closure#0}, !>",
            "core::panicking::panic_fmt",
            "racks::deepest",
            "racks::deep",
            "racks::deepest",
            "<core::slice::Iter<racks::Rack> as core::iter::Iterator>::fold::<f64, fn(f64) -> f64>",
            "<[racks::Rack]>::sort_by::<racks::order>",
            "racks::spread::{closure#1}",
            "<racks::Racks as placewright_sdk::row::RowCost>::cost",
            "<alloc::vec::Vec<u8> as racks::Named>::name",
            "placewright_sdk::entry::judge::<racks::Racks>",
            "<racks::native_unit::Unit as placewright_sdk::native::NativeUnit>::judge",
            "placewright:policy/judge@0.1.0#judge",
        ];
        let kept = authors(names.iter().map(ToString::to_string));
        assert_eq!(
            kept,
            [
                "racks::deepest",
                "racks::deep",
                "racks::spread::{closure#1}",
                "<racks::Racks as placewright_sdk::row::RowCost>::cost",
                "<alloc::vec::Vec<u8> as racks::Named>::name",
            ]
        );
    }

    #[test]
    fn a_long_name_is_cut_and_does_not_reach_terminals_as_it_is() {
        assert_eq!(
            demangled(&"ä".repeat(1 << 20)),
            "ä".repeat(LONGEST_NAME / 2)
        );
        assert_eq!(demangled("a\u{1b}[31m"), "a [31m");
        // A name that stands for itself, twice each time.
        let doubling = "_RC1aTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT".to_owned();
        assert!(demangled(&doubling).len() <= LONGEST_NAME);
    }

    #[test]
    fn a_recursion_is_told_once() {
        let names = [
            "racks::deeper",
            "racks::deeper",
            "core::ops::call",
            "racks::deeper",
        ];
        let kept = authors(names.iter().map(ToString::to_string));
        assert_eq!(kept, ["racks::deeper"]);
    }

    #[test]
    fn where_no_function_is_of_the_author_all_are_told() {
        let names = ["core::panicking::panic", "placewright_sdk::entry::judge"];
        let kept = authors(names.iter().map(ToString::to_string));
        assert_eq!(kept, names);
    }
}
