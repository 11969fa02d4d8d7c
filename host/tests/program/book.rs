//! The book says what is so: its sources are those of crates that are built, its documents
//! are good ones, its commands run, its links lead somewhere.
//!
//! The first words of a block's info string say what it is:
//!
//! - `rust source=PATH`: the whole file; `UPDATE_BOOK=1` writes it into the page.
//! - `rust excerpt=PATH`: lines of that file.
//! - `toml KIND`: a document of that kind, see [`documents`].
//! - `console`: commands that are run, each after `$`, with what they print; `...` stands for
//!   anything.
//! - `text`: nothing that could be tried; `c`, `cpp` and `sh`: what the page itself says was
//!   tried in another way, or only once.

mod commands;
mod configuration;
mod cookbook;
mod documents;
mod heeded;
mod html;
mod links;
mod metrics;
mod page;
mod requests;
mod resources;
mod scenarios;
mod sources;

use std::fs;
use std::path::PathBuf;

use placewright_tests::repository;

/// Set to 1, it lets the tests write what the book copies from elsewhere.
const UPDATE: &str = "UPDATE_BOOK";

fn is_to_be_updated() -> bool {
    std::env::var(UPDATE).is_ok_and(|value| value == "1")
}

/// What to run where a copy is out of date.
const REMEDY: &str = "run UPDATE_BOOK=1 cargo test -p placewright --test program book::";

/// Where the pages are.
fn pages() -> PathBuf {
    repository().join("book/src")
}

/// Check that a page has these tables between their marks, or write them there.
fn check_tables(page: &str, tables: &[(&str, String)]) {
    let path = pages().join(page);
    let mut text = fs::read_to_string(&path).unwrap();
    for (mark, table) in tables {
        let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->\n"));
        let (before, rest) = text.split_once(&begin).expect("the page has the marks");
        let (known, after) = rest.split_once(&end).expect("the page has both marks");
        if !is_to_be_updated() {
            assert_eq!(known, table, "{REMEDY}");
        }
        text = format!("{before}{begin}{table}{end}{after}");
    }
    if is_to_be_updated() {
        fs::write(&path, text).unwrap();
    }
}
