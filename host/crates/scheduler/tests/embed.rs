//! The example for who embeds the scheduler does what it shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[expect(
    unreachable_pub,
    reason = "its main is public, so that it can be called"
)]
#[path = "../examples/embed.rs"]
mod embed;

#[test]
fn the_example_places_all_vms_and_explains_the_last() {
    embed::main().unwrap();
}

/// The crates that a source file names in paths.
fn crates_of(source: &str) -> BTreeSet<String> {
    let code = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| {
        line.split(|it: char| !it.is_alphanumeric() && it != '_' && it != ':')
            .filter(|path| path.contains("::") && path.starts_with(char::is_lowercase))
            .filter_map(|path| path.split("::").next())
    });
    let paths = paths.filter(|name| *name != "std").map(str::to_owned);
    paths.collect()
}

#[test]
fn the_book_names_every_crate_that_the_example_depends_on() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = fs::read_to_string(package.join("examples/embed.rs")).unwrap();
    let page = fs::read_to_string(package.join("../../../book/src/embed.md")).unwrap();
    let named = page.lines().filter_map(|line| line.split_once(" = "));
    let named: BTreeSet<String> = named.map(|(name, _)| name.replace('-', "_")).collect();
    let crates = crates_of(&example);
    assert!(crates.contains("placewright_scheduler"), "{crates:?}");
    let missing: Vec<_> = crates.difference(&named).collect();
    assert!(
        missing.is_empty(),
        "{missing:?} are not among the dependencies in the book"
    );
}
