//! What a module imports that no unit may, and the crates that it comes with.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::TARGET;
use super::toolchain::Toolchain;
use placewright_engine::contract::PACKAGE;

/// The crate that binds to the functions of a browser: what crates use for the clock and for
/// random numbers where there is no operating system.
pub(super) const BROWSER: &str = "wasm-bindgen";

/// What names the modules begin with that [`BROWSER`] imports from.
const OF_BROWSER: &str = "__wbindgen";

/// So many imports are named; the others are counted.
const SHOWN: usize = 5;

/// What the module imports besides the contract, and what the adapter for `adapted` stands for.
pub(super) fn foreign(module: &[u8], adapted: Option<&str>) -> Vec<String> {
    let mut names: Vec<String> = wasmparser::Parser::new(0)
        .parse_all(module)
        .filter_map(Result::ok)
        .filter_map(|payload| match payload {
            wasmparser::Payload::ImportSection(section) => Some(section),
            _ => None,
        })
        .flat_map(|section| section.into_imports().filter_map(Result::ok))
        .filter(|import| !import.module.starts_with(PACKAGE))
        .filter(|import| adapted != Some(import.module))
        .map(|import| format!("{}.{}", import.module, import.name))
        .collect();
    names.dedup();
    names
}

/// The first of the names, and how many more there are.
pub(super) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The crates by which the one of the manifest comes to import these names, itself first;
/// none if that cannot be told.
pub(super) fn way(manifest: &Path, toolchain: &Toolchain, names: &[String]) -> Vec<String> {
    if !names.iter().any(|name| name.starts_with(OF_BROWSER)) {
        return Vec::new();
    }
    let mut cargo = toolchain.cargo();
    cargo
        .args(["metadata", "--format-version=1", "--offline"])
        .args(["--filter-platform", TARGET, "--manifest-path"])
        .arg(manifest);
    // The crate was built just now, so cargo has all that it asks for.
    let output = cargo.stdin(Stdio::null()).output();
    let metadata = output.map(|output| serde_json::from_slice(&output.stdout));
    match metadata {
        Ok(Ok(metadata)) => shortest(&metadata, BROWSER).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The shortest way in what `cargo metadata` says from its root to the crate of that name.
fn shortest(metadata: &Value, name: &str) -> Option<Vec<String>> {
    let resolve = &metadata["resolve"];
    let names: BTreeMap<&str, &str> = (metadata["packages"].as_array()?.iter())
        .filter_map(named)
        .collect();
    let node = |node: &Value| {
        let uses = node["deps"].as_array()?.iter().filter(|it| is_linked(it));
        let uses = uses.filter_map(|it| it["pkg"].as_str().map(str::to_owned));
        Some((node["id"].as_str()?.to_owned(), uses.collect()))
    };
    let uses: BTreeMap<String, Vec<String>> = (resolve["nodes"].as_array()?.iter())
        .filter_map(node)
        .collect();
    let mut ways = VecDeque::from([vec![resolve["root"].as_str()?]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = *way.last()?;
        if names.get(last) == Some(&name) {
            let way = way.iter().filter_map(|id| names.get(id));
            return Some(way.map(|name| (*name).to_owned()).collect());
        }
        for next in uses.get(last).into_iter().flatten() {
            if seen.insert(next.as_str()) {
                ways.push_back([way.as_slice(), &[next.as_str()]].concat());
            }
        }
    }
    None
}

/// The id and the name of a package.
fn named(package: &Value) -> Option<(&str, &str)> {
    Some((package["id"].as_str()?, package["name"].as_str()?))
}

/// Whether it becomes part of the module, and is not only there for tests or for building.
fn is_linked(dependency: &Value) -> bool {
    let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
    kinds.any(|kind| kind["kind"].is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_by_which_a_crate_is_linked_is_found() {
        let uses = |id: &str, kind: Value| serde_json::json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = serde_json::json!({
            "packages": [
                { "id": "1", "name": "unit" }, { "id": "2", "name": "rand" },
                { "id": "3", "name": "getrandom" }, { "id": "4", "name": "wasm-bindgen" },
                { "id": "5", "name": "bench" },
            ],
            "resolve": { "root": "1", "nodes": [
                { "id": "1", "deps": [uses("5", "dev".into()), uses("2", Value::Null)] },
                { "id": "2", "deps": [uses("3", Value::Null)] },
                { "id": "3", "deps": [uses("2", Value::Null), uses("4", Value::Null)] },
                { "id": "4", "deps": [] },
                { "id": "5", "deps": [uses("4", Value::Null)] },
            ] },
        });
        let way = shortest(&metadata, BROWSER).unwrap();
        assert_eq!(way, ["unit", "rand", "getrandom", "wasm-bindgen"]);
        assert_eq!(shortest(&metadata, "js-sys"), None);
    }

    #[test]
    fn many_imports_are_counted() {
        let names: Vec<String> = ["a", "b", "c", "d", "e", "f", "g"]
            .map(str::to_owned)
            .into();
        assert_eq!(listed(&names[..5]), "a, b, c, d, e");
        assert_eq!(listed(&names), "a, b, c, d, e and 2 more");
    }
}
