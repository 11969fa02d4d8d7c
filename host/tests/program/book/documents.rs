//! TOML in the book is what it is said to be:
//!
//! - `policy`: one over the units that come with the program and those of the cookbook,
//!   as `placewright policy check` says.
//! - `policy-text`: one that names units which nobody has.
//! - `scenario`: the scenarios of a unit; `scenario-cases`: some more of them.
//! - `cluster`, `vm`: documents for `placewright place`.
//! - `server`: a configuration, as `placewright serve --check` says.
//! - `manifest`: what describes a project, which is only read as TOML.

use std::fs;
use std::path::Path;

use placewright_document::ClusterDocument;
use placewright_policy::Policy;
use placewright_tests::server;

use super::cookbook;
use super::page::{Block, Page};

#[test]
fn toml_in_the_book_is_what_it_is_said_to_be() {
    let units = cookbook::built();
    let folder = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    let mut documents = 0;
    for page in Page::all() {
        for block in page.blocks.iter().filter(|it| it.language() == "toml") {
            documents += 1;
            if let Err(problem) = check(block, units.path(), folder.path()) {
                problems.push(format!("{}: {problem}", page.place(block)));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(documents > 10, "the book has documents");
}

fn check(block: &Block, units: &Path, folder: &Path) -> Result<(), String> {
    let text = &block.text;
    let kind = block.words.get(1).map_or("", String::as_str);
    match kind {
        "policy" => {
            let file = folder.join("policy.toml");
            fs::write(&file, text).unwrap();
            let words = ["policy", "check", "--units"].map(Path::new);
            run(words.into_iter().chain([units, &file]))
        }
        "policy-text" => Policy::read(text, "policy.toml").map(drop).map_err(shown),
        "cluster" => ClusterDocument::read(text, "cluster.toml")
            .map(drop)
            .map_err(shown),
        "scenario" | "scenario-cases" | "manifest" | "vm" => {
            text.parse::<toml::Table>().map(drop).map_err(shown)
        }
        "server" => {
            let file = folder.join("placewright.toml");
            let data = folder.join("data").display().to_string();
            fs::write(&file, format!("data = {data:?}\n{text}")).unwrap();
            let words = ["serve", "--check", "--config"].map(Path::new);
            run(words.into_iter().chain([file.as_path()]))
        }
        other => Err(format!("{other:?} is no kind of document; see {}", file!())),
    }
}

fn run<'a>(words: impl Iterator<Item = &'a Path>) -> Result<(), String> {
    let done = server::placewright(words).output().unwrap();
    match done.status.success() {
        true => Ok(()),
        false => {
            let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
            Err(format!("{out}{err}"))
        }
    }
}

fn shown(problem: impl std::fmt::Display) -> String {
    problem.to_string()
}
