//! The crates of the host, as cargo knows them, are those of the papers, and each is compiled
//! under the workspace's rules.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use placewright_tests::repository;
use serde_json::Value;

/// A crate of the host: the program, and what lies in `host/crates`.
struct Package {
    /// Without `placewright-`.
    name: String,
    manifest: toml::Table,
    /// The crates of the host that it uses.
    uses: BTreeSet<String>,
    /// Those that its tests alone use.
    tests_use: BTreeSet<String>,
}

/// The packages of the workspace, as cargo describes them.
fn metadata() -> Value {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(repository())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The crates of the host by name.
fn packages() -> BTreeMap<String, Package> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let host = repository().join("host").canonicalize().unwrap();
    let of_host = packages.iter().filter(|package| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.canonicalize().unwrap().starts_with(&host)
    });
    let packages: Vec<&Value> = of_host.collect();
    let names: BTreeSet<&str> = packages.iter().map(|it| name_of(it)).collect();
    let made = packages.iter().map(|package| {
        let dependencies = package["dependencies"].as_array().unwrap();
        let of_kind = |wanted: Option<&str>| {
            let all = dependencies.iter();
            let of_kind = all.filter(|it| it["kind"].as_str() == wanted);
            let used = of_kind.map(name_of).filter(|name| names.contains(name));
            used.map(str::to_owned).collect()
        };
        let manifest = fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        let package = Package {
            name: name_of(package).to_owned(),
            manifest: manifest.parse().unwrap(),
            uses: of_kind(None),
            tests_use: of_kind(Some("dev")),
        };
        (package.name.clone(), package)
    });
    made.collect()
}

/// The name of a package or dependency, without `placewright-`.
fn name_of(package: &Value) -> &str {
    let name = package["name"].as_str().unwrap();
    name.strip_prefix("placewright-").unwrap_or(name)
}

/// The rows of the table of crates in `ARCHITECTURE.md`: name, path and used crates.
fn rows(page: &str) -> Vec<(String, String, BTreeSet<String>)> {
    let (_, table) = page.split_once("<!-- crates -->").unwrap();
    let (table, _) = table.split_once("<!-- /crates -->").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| [`"));
    let rows = rows.map(|line| {
        let cells: Vec<&str> = line.split('|').collect();
        let name = cells[1].split('`').nth(1).unwrap();
        let (_, path) = cells[1].split_once("](").unwrap();
        let path = path.trim_end().trim_end_matches(')');
        let uses = cells[3].split_whitespace().map(str::to_owned).collect();
        (name.to_owned(), path.to_owned(), uses)
    });
    rows.collect()
}

fn read(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

#[test]
fn the_architecture_lists_the_crates_and_what_each_uses() {
    let packages = packages();
    let rows = rows(&read("ARCHITECTURE.md"));
    let listed: BTreeSet<_> = rows.iter().map(|(name, ..)| name.clone()).collect();
    assert_eq!(listed, packages.keys().cloned().collect());
    let mut above = BTreeSet::new();
    for (name, path, uses) in rows {
        let package = &packages[&name];
        assert_eq!(uses, package.uses, "the row of {name}");
        assert!(uses.is_subset(&above), "{name} stands above what it uses");
        assert!(repository().join(&path).is_file(), "{path}");
        above.insert(name);
    }
}

#[test]
fn tests_of_a_crate_use_no_crate_that_uses_it() {
    let packages = packages();
    for package in packages.values() {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&String> = package.tests_use.iter().collect();
        while let Some(name) = next.pop() {
            // A crate may turn on a feature of one below it for its tests.
            if reached.insert(name) {
                next.extend(&packages[name].uses);
            }
        }
        assert!(
            !reached.contains(&package.name),
            "the tests of {} need a crate above it, so it is compiled twice for them",
            package.name
        );
    }
}

#[test]
fn every_crate_of_the_host_checks_for_overflow_and_takes_the_lints_of_the_workspace() {
    let packages = packages();
    let workspace: toml::Table = read("Cargo.toml").parse().unwrap();
    let profiles = workspace["profile"]["release"]["package"].as_table();
    let checked = profiles.unwrap().iter().filter(|(_, profile)| {
        profile
            .get("overflow-checks")
            .and_then(toml::Value::as_bool)
            == Some(true)
    });
    let checked = checked.map(|(name, _)| name.strip_prefix("placewright-").unwrap_or(name));
    let checked: BTreeSet<_> = checked.map(str::to_owned).collect();
    assert_eq!(checked, packages.keys().cloned().collect());
    for package in packages.values() {
        let lints = package.manifest.get("lints");
        let taken = lints.and_then(|lints| lints.get("workspace"));
        assert_eq!(
            taken.and_then(toml::Value::as_bool),
            Some(true),
            "{} has \"lints.workspace = true\"",
            package.name
        );
    }
}

/// For a file that is missing cargo takes a build script as out of date at every call, and compiles
/// all that stands above its crate anew.
#[test]
fn build_scripts_name_only_files_that_are_there() {
    // Beside this test are the crates that were built with it.
    let here = env::current_exe().unwrap();
    let builds = here.parent().and_then(Path::parent).unwrap().join("build");
    let mut newest = BTreeMap::new();
    for build in fs::read_dir(&builds).unwrap() {
        let folder = build.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let output = folder.join("output");
        let Ok(written) = fs::metadata(&output).and_then(|it| it.modified()) else {
            continue;
        };
        let Some((package, _)) = name.rsplit_once('-') else {
            continue;
        };
        if package.starts_with("placewright-") {
            let known = newest
                .entry(package.to_owned())
                .or_insert((written, output.clone()));
            if known.0 < written {
                *known = (written, output);
            }
        }
    }
    assert!(newest.contains_key("placewright-plugins"), "{newest:?}");
    for (package, (_, output)) in newest {
        let output = fs::read_to_string(output).unwrap();
        let watched = output.lines().filter_map(|line| {
            let rest = line.strip_prefix("cargo::rerun-if-changed=");
            rest.or_else(|| line.strip_prefix("cargo:rerun-if-changed="))
        });
        let missing =
            watched.filter(|path| Path::new(path).is_absolute() && !Path::new(path).exists());
        let missing: Vec<&str> = missing.collect();
        assert!(missing.is_empty(), "{package}: {missing:?}");
    }
}

#[test]
fn the_cases_of_the_cycle_edit_files_that_are_there() {
    let cycle = read("tests/cycle");
    let named = cycle.split('"').filter(|it| it.ends_with(".rs"));
    let named: Vec<&str> = named.collect();
    assert!(named.len() >= 5, "{named:?}");
    for file in named {
        assert!(
            repository().join(file).is_file(),
            "tests/cycle edits {file}"
        );
    }
}

#[test]
fn the_papers_link_to_files_that_are_there() {
    for name in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
    ] {
        let page = read(name);
        let links = page.split("](").skip(1);
        let links: Vec<&str> = links
            .filter_map(|rest| rest.split([')', '#']).next())
            .filter(|link| !link.is_empty() && !link.contains("://"))
            .collect();
        let is_missing = |link: &&&str| !repository().join(link).exists();
        let missing: Vec<_> = links.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        assert!(!links.is_empty(), "{name}");
    }
}

/// Cargo starts rustdoc once for every library that does not say `doctest = false`, one after the
/// other: a minute for libraries whose documentation has no example.
#[test]
fn doc_tests_are_looked_for_where_the_documentation_has_an_example() {
    let top = repository().canonicalize().unwrap();
    for package in metadata()["packages"].as_array().unwrap() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        // Whoever copies a unit of the cookbook may add examples, and where a component is
        // committed the manifest is one of the sources that it is held against.
        let is_below = |folder: &str| manifest.starts_with(top.join(folder));
        let folders = ["book", "plugins", "tests/units/recorded-costs"];
        if folders.iter().any(|folder| is_below(folder)) {
            continue;
        }
        let targets = package["targets"].as_array().unwrap();
        let kinds = |target: &Value| target["kind"].to_string();
        let is_library = |target: &&Value| kinds(target).contains("lib");
        for target in targets.iter().filter(is_library) {
            let source = Path::new(target["src_path"].as_str().unwrap());
            let has_example = has_example(source.parent().unwrap());
            assert_eq!(
                target["doctest"],
                has_example,
                "{}: `doctest = false` stands under [lib] if and only if the documentation has no example",
                manifest.display()
            );
        }
    }
}

/// Whether a source in this folder, or below, documents something with a block of code.
fn has_example(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return has_example(&path);
        }
        let is_source = path.extension().is_some_and(|it| it == "rs");
        is_source
            && fs::read_to_string(&path).unwrap().lines().any(|line| {
                let line = line.trim_start();
                let documented = line.strip_prefix("///").or(line.strip_prefix("//!"));
                documented.is_some_and(|text| text.trim_start().starts_with("```"))
            })
    })
}
