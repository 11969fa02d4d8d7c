//! What the book shows of files, and the reference of columns.

use std::fs;

use placewright_tests::{repository, server};

use super::page::{Block, Page};
use super::{REMEDY, is_to_be_updated, pages};

#[test]
fn what_the_book_shows_of_files_is_what_they_hold() {
    let mut problems = Vec::new();
    for page in Page::all() {
        if is_to_be_updated() {
            update(&page);
        }
    }
    for page in Page::all() {
        for block in &page.blocks {
            let problem = match (block.value("source"), block.value("excerpt")) {
                (Some(file), _) if file_text(file) != block.text => Some("is not all of"),
                (None, Some(file)) if !file_text(file).contains(&block.text) => {
                    Some("does not stand in")
                }
                _ => None,
            };
            let file = block.value("source").or(block.value("excerpt"));
            if let (Some(problem), Some(file)) = (problem, file) {
                problems.push(format!("{}: {problem} {file}", page.place(block)));
            }
        }
    }
    assert!(problems.is_empty(), "{}\n{REMEDY}", problems.join("\n"));
}

#[test]
fn rust_in_the_book_is_from_files_that_are_compiled() {
    let mut problems = Vec::new();
    for page in Page::all() {
        for block in page.blocks.iter().filter(|it| it.language() == "rust") {
            if block.value("source").or(block.value("excerpt")).is_none() {
                problems.push(page.place(block));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "say where these are from (source=PATH or excerpt=PATH):\n{}",
        problems.join("\n")
    );
}

#[test]
fn every_block_says_what_it_is() {
    let known = [
        "c", "console", "cpp", "diff", "json", "python", "rust", "sh", "text", "toml", "wit",
    ];
    for page in Page::all() {
        for block in &page.blocks {
            let language = block.language();
            assert!(
                known.contains(&language),
                "{}: {language:?}",
                page.place(block)
            );
        }
    }
}

#[test]
fn the_reference_of_columns_is_current() {
    let path = pages().join("columns.md");
    let page = fs::read_to_string(&path).unwrap();
    let first = page.find("\n## ").expect("the page has tables") + 1;
    let mut columns = server::placewright(["columns", "--format", "markdown"]);
    let printed = String::from_utf8(columns.output().unwrap().stdout).unwrap();
    if is_to_be_updated() {
        fs::write(&path, format!("{}{printed}", &page[..first])).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(
        page[first..] == printed,
        "book/src/columns.md is out of date; {REMEDY}"
    );
}

fn file_text(file: &str) -> String {
    let path = repository().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Write the files into the blocks that show them whole.
fn update(page: &Page) {
    let mut lines: Vec<&str> = page.text.lines().collect();
    let of_files = |block: &&Block| block.value("source").is_some();
    let texts: Vec<(&Block, String)> = (page.blocks.iter())
        .filter(of_files)
        .map(|block| (block, file_text(block.value("source").unwrap_or_default())))
        .collect();
    // From the end, so that the lines before keep their numbers.
    for (block, text) in texts.iter().rev() {
        let shown = block.line..block.line + block.text.lines().count();
        lines.splice(shown, text.lines());
    }
    let text = lines.join("\n") + "\n";
    if text != page.text {
        fs::write(&page.path, text).unwrap();
    }
}
