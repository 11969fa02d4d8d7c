//! The book as HTML. `tests/run` installs what makes it; without that it is not tried.

use std::process::{Command, Stdio};

use placewright_tests::{repository, target_folder};

#[test]
fn the_book_is_made_into_html_without_a_warning() {
    let program = target_folder().join("mdbook/bin/mdbook");
    if !program.is_file() {
        eprintln!(
            "the book is not made into HTML: {} is missing",
            program.display()
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut build = Command::new(program);
    build.arg("build").arg(repository().join("book"));
    build
        .arg("--dest-dir")
        .arg(folder.path())
        .stdin(Stdio::null());
    let done = build.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
    assert!(folder.path().join("ideas.html").is_file());
}
