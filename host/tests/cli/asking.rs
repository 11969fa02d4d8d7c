//! What `unit new` asks on a terminal, and what it makes of the answers. The terminal is one that
//! Python makes; without Python nothing is asked.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use placewright_tests::python;

use crate::run::{Folder, INPUT};

/// Run `placewright unit new` with these words and answer its prompts with keys; the exit code
/// and what was on the terminal. None without Python.
fn asked(folder: &Folder, words: &[&str], answers: &[(&str, &str)]) -> Option<(i32, String)> {
    let Some(python) = python::interpreter() else {
        eprintln!("the questions of `unit new` are not tried: there is no Python 3.11");
        return None;
    };
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/terminal.py");
    let mut command = Command::new(python);
    command
        .arg(driver)
        .arg(env!("CARGO_BIN_EXE_placewright"))
        .args(["unit", "new"])
        .args(words)
        .arg("--")
        .args(answers.iter().flat_map(|(prompt, keys)| [prompt, keys]))
        .current_dir(folder.path(""))
        .stdin(Stdio::null());
    let done = command.output().unwrap();
    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
    let said = String::from_utf8_lossy(&done.stderr);
    Some((done.status.code().unwrap_or(-1), shown + &said))
}

#[test]
fn all_that_the_command_line_leaves_out_is_asked_for_and_made_so() {
    let folder = Folder::new();
    let Some((code, shown)) = asked(
        &folder,
        &[],
        &[
            // Told at once, and asked for again.
            ("Name of the unit", "Quiet_Racks enter"),
            ("is no name of a unit", "quiet-racks enter"),
            ("The language that it is written in", "down down enter"),
            // Without the first of the two, which are both chosen.
            ("What it does", "space enter"),
            ("How it looks at hosts", "down enter"),
            ("What it is for", "Prefers enter"),
        ],
    ) else {
        return;
    };
    assert_eq!(code, 0, "{shown}");
    let read = |file: &str| fs::read_to_string(folder.path(file)).unwrap();
    let rule = read("quiet-racks/unit.js");
    assert!(rule.contains("wholeTable"), "{rule}");
    assert!(rule.contains("cost(") && !rule.contains("keep("), "{rule}");
    assert!(read("quiet-racks/package.json").contains("\"Prefers\""));
    assert!(shown.contains("begin with its README.md"), "{shown}");
}

#[test]
fn enter_alone_takes_what_is_proposed_and_what_was_given_is_not_asked_for() {
    let folder = Folder::new();
    let Some((code, shown)) = asked(
        &folder,
        &["quiet-racks", "--lang", "python"],
        &[("What it does", "enter"), ("What it is for", "enter")],
    ) else {
        return;
    };
    assert_eq!(code, 0, "{shown}");
    for question in ["Name of the unit", "The language", "How it looks"] {
        assert!(!shown.contains(question), "{shown}");
    }
    let rule = fs::read_to_string(folder.path("quiet-racks/unit.py")).unwrap();
    assert!(rule.contains("def keep") && rule.contains("def cost"));
    let manifest = fs::read_to_string(folder.path("quiet-racks/pyproject.toml")).unwrap();
    assert!(manifest.contains("Keeps hosts with enough memory left to promise"));
}

#[test]
fn answers_that_make_no_unit_are_told_and_nothing_is_made() {
    let folder = Folder::new();
    let words = ["quiet-racks", "--lang", "rust"];
    let answers = [("What it does", "space down space enter")];
    let Some((code, shown)) = asked(&folder, &words, &answers) else {
        return;
    };
    assert_eq!(code, INPUT, "{shown}");
    assert!(shown.contains("a unit does at least one thing"), "{shown}");
    assert!(!Path::new(&folder.path("quiet-racks")).exists());
}
