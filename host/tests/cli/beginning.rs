//! An author's first minutes: a project from `unit new`, built and checked as it is, and
//! what the check tells step by step.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use placewright_tests::component::by_default;
use placewright_tests::repository;
use placewright_tests::units::component;

use crate::run::{Folder, INPUT, NO, placewright};

/// The kinds that a unit may be of, as the command line has them.
const KINDS: [&str; 3] = ["filter", "cost", "filter,cost"];

/// A folder that is the same in every run, so that cargo finds what it has built before.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    folder
}

/// Begin a unit in `folder` with these words beside; what is printed.
pub(crate) fn begin(name: &str, folder: &Path, words: &[&str]) -> String {
    let folder = folder.display().to_string();
    let all = [&["unit", "new", name, "--dir", &folder], words].concat();
    let out = placewright(&all).done();
    assert!(!out.contains("cannot be built"), "{out}");
    out
}

/// Run cargo in `folder`, without a network and without a change to `Cargo.lock`.
fn cargo(folder: &Path, words: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(words)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
}

/// Where begun projects are built.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("begun-target")
}

#[test]
fn a_new_unit_of_any_kind_is_built_offline_and_let_in() {
    for evaluation in ["row-wise", "whole-table"] {
        for kinds in KINDS {
            let name = format!("{evaluation}-{}", kinds.replace(',', "-and-"));
            let folder = fresh(&format!("begun-{name}"));
            let words = ["--kind", kinds, "--evaluation", evaluation];
            begin(&name, &folder, &words);
            cargo(&folder, &["fmt", "--check"]);
            // Only what the lock file names, from cargo's cache alone.
            cargo(&folder, &["fetch", "--offline", "--locked"]);

            let folder = folder.display().to_string();
            let target = target().display().to_string();
            let built = placewright(&["unit", "build", &folder, "--target-dir", &target]);
            assert_eq!(built.code, 0, "{name}: {}", built.err);
            assert!(!built.err.contains("warning"), "{name}: {}", built.err);

            let unit = format!("{folder}/{name}.wasm");
            let checked = placewright(&["unit", "check", &unit]);
            assert_eq!(checked.code, 0, "{name}: {}{}", checked.out, checked.err);
            let shown = placewright(&["unit", "inspect", &unit, "--format", "json"]).json();
            assert_eq!(shown["name"], name.as_str());
        }
    }
}

#[test]
fn the_tests_of_a_new_unit_pass_offline_with_the_lock_file_as_it_is() {
    let folder = fresh("begun-tested");
    begin("memory-left", &folder, &[]);
    cargo(&folder, &["test", "--offline", "--locked"]);
}

#[test]
fn the_next_commands_are_told() {
    let folder = Folder::new();
    let place = folder.path("quiet-racks");
    let out = begin("quiet-racks", Path::new(&place), &["--kind", "cost"]);
    for command in [
        &format!("cd {place}"),
        "cargo test",
        "placewright unit build",
        "placewright unit check quiet-racks.wasm",
    ] {
        assert!(out.contains(command), "{command}: {out}");
    }
}

/// What is in a folder and those below it, as paths from there.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => found.push(path.strip_prefix(folder).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_unit_may_be_begun_in_other_languages_than_rust() {
    for (language, expected) in [
        (
            "python",
            &[
                ".gitignore",
                "README.md",
                "pyproject.toml",
                "scenarios/quiet-racks.toml",
                "unit.py",
            ][..],
        ),
        (
            "javascript",
            &[
                ".gitignore",
                "README.md",
                "jsconfig.json",
                "package.json",
                "scenarios/quiet-racks.toml",
                "types/placewright.d.ts",
                "unit.js",
            ],
        ),
        (
            "typescript",
            &[
                ".gitignore",
                "README.md",
                "package.json",
                "scenarios/quiet-racks.toml",
                "tsconfig.json",
                "types/placewright.d.ts",
                "unit.ts",
            ],
        ),
    ] {
        let folder = Folder::new();
        let place = folder.path("quiet-racks");
        let words = [
            "unit",
            "new",
            "quiet-racks",
            "--dir",
            &place,
            "--lang",
            language,
        ];
        let out = placewright(&words).done();
        assert_eq!(files(Path::new(&place)), expected, "{language}");
        let module = expected.last().unwrap();
        assert!(
            out.contains(&format!("its README.md and {module}")),
            "{out}"
        );
        for command in [
            "placewright unit build",
            "placewright unit check quiet-racks.wasm",
        ] {
            assert!(out.contains(command), "{command}: {out}");
        }
        assert!(!out.contains("cargo"), "{out}");
        for file in expected {
            let text = fs::read_to_string(Path::new(&place).join(file)).unwrap();
            assert!(!text.contains("my-unit"), "{language}: {file}");
        }
        // A second time it is there already.
        let said = placewright(&words).refused(INPUT);
        assert!(said.contains("is there already"), "{said}");
    }
}

#[test]
fn what_builds_units_in_a_language_and_is_missing_is_told_with_the_command_that_gets_it() {
    for (language, variable, told, command) in [
        (
            "python",
            "PLACEWRIGHT_PYTHON",
            "Python 3.11",
            "pip install componentize-py==",
        ),
        (
            "javascript",
            "PLACEWRIGHT_NODE",
            "Node.js 20",
            "npm install",
        ),
        (
            "typescript",
            "PLACEWRIGHT_NODE",
            "Node.js 20",
            "npm install",
        ),
    ] {
        let folder = Folder::new();
        let place = folder.path("quiet-racks");
        let output = Command::new(env!("CARGO_BIN_EXE_placewright"))
            .args(["unit", "new", "quiet-racks", "--no-questions"])
            .args(["--dir", &place, "--lang", language])
            .env(variable, folder.path("not-there"))
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{out}");
        for text in ["It cannot be built yet", "not-there", told, command] {
            assert!(out.contains(text), "{text}: {out}");
        }
    }
}

#[test]
fn a_unit_in_python_cannot_look_at_all_hosts_at_once() {
    let folder = Folder::new();
    let place = folder.path("even-memory");
    let words = ["unit", "new", "even-memory", "--dir", &place];
    let more = ["--lang", "python", "--evaluation", "whole-table"];
    let said = placewright(&[&words[..], &more].concat()).refused(INPUT);
    assert!(said.contains("can only be row-wise"), "{said}");
    assert!(said.contains("Rust, JavaScript or TypeScript"), "{said}");
    assert!(!Path::new(&place).exists());
}

#[test]
fn nothing_is_asked_and_nothing_is_made_without_a_name_where_there_is_no_terminal() {
    let said = placewright(&["unit", "new"]).refused(INPUT);
    assert!(said.contains("placewright unit new NAME"), "{said}");
}

#[test]
fn bad_names_and_folders_that_are_there_are_refused_with_a_sentence() {
    let folder = Folder::new();
    let place = folder.path("made");
    let said = placewright(&["unit", "new", "Rack_Spread", "--dir", &place]).refused(INPUT);
    assert!(
        said.contains("\"Rack_Spread\" is no name of a unit"),
        "{said}"
    );
    assert!(!Path::new(&place).exists());
    let there = folder.write("there/kept", "as it was");
    let there = Path::new(&there).parent().unwrap().display().to_string();
    let said = placewright(&["unit", "new", "rack-spread", "--dir", &there]).refused(INPUT);
    assert!(said.contains("is there already"), "{said}");
}

/// Whether a line of the output begins with this mark and step.
fn has_step(out: &str, mark: char, step: &str) -> bool {
    let begins = format!("  {mark} {step}");
    out.lines().any(|line| line.starts_with(&begins))
}

#[test]
fn each_step_of_the_check_is_told_with_a_tick_or_a_cross() {
    let sound = repository().join("plugins/reference/memory/memory.wasm");
    let out = placewright(&["unit", "check", &sound.display().to_string()]).done();
    for step in [
        "read",
        "signature",
        "contract",
        "compile",
        "describe",
        "probes",
    ] {
        assert!(has_step(&out, '✓', step), "{step}: {out}");
    }
    let folder = Folder::new();
    let cut = folder.write("cut.wasm", &std::fs::read(&sound).unwrap()[..3000]);
    let run = placewright(&["unit", "check", &cut]);
    assert_eq!(run.code, NO, "{}", run.err);
    assert!(has_step(&run.out, '✗', "contract"), "{}", run.out);
    assert!(!run.out.contains("compile"), "{}", run.out);
    assert!(run.out.contains("cut off or damaged"), "{}", run.out);
}

#[test]
fn a_unit_without_a_signature_is_refused_where_a_key_is_given() {
    let unit = repository().join("plugins/reference/memory/memory.wasm");
    let unit = unit.display().to_string();
    // The first public key of RFC 8032's test vectors.
    let key = "alice=d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let run = placewright(&["unit", "check", &unit, "--trusted-key", key]);
    assert_eq!(run.code, NO, "{}", run.err);
    assert!(has_step(&run.out, '✗', "signature"), "{}", run.out);
    assert!(run.out.contains("it is not signed and units must be"));
    let said = placewright(&["unit", "check", &unit, "--trusted-key", "alice"]).refused(INPUT);
    assert!(said.contains("NAME=KEY"), "{said}");
}

#[test]
fn two_units_of_one_name_in_a_folder_fail_the_check() {
    let folder = Folder::new();
    let whole = component("misbehaving");
    folder.write("a.wasm", &whole);
    folder.write("b.wasm", by_default(&whole, "chatters"));
    let run = placewright(&["unit", "check", &folder.path("")]);
    assert_eq!(run.code, NO, "{}", run.err);
    assert!(has_step(&run.out, '✗', "name"), "{}", run.out);
    assert!(run.out.contains("both call themselves \"misbehaving\""));
}
