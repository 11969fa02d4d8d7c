//! From a project in JavaScript or TypeScript to a component.
//!
//! The SDK that comes with this program does the work (`sdk/javascript`, folder `building`), in
//! the Node.js of the author's machine, with packages that the author has installed there.

mod sources;

use std::fs;
use std::path::Path;
use std::process::Command;

use super::carried::CarriedSdk;
use super::{BuildError, Built, Options};

/// The file that makes a folder a project in JavaScript.
pub(super) const MANIFEST: &str = "package.json";

/// Whether the `package.json` is that of a unit: it has a key `placewright`, or depends on the
/// package of that name. One that cannot be read is taken for a unit's, and explained then.
pub(super) fn is_unit(manifest: &Path) -> bool {
    let Ok(content) = read(manifest) else {
        return true;
    };
    let depends = |key: &str| content[key].get("placewright").is_some();
    content.get("placewright").is_some() || depends("dependencies") || depends("devDependencies")
}

/// Build the project whose `package.json` is given.
pub(super) fn build(manifest: &Path, options: &Options) -> Result<Built, BuildError> {
    Ok(Built {
        bytes: sdk(manifest, options).build()?,
        name: name(manifest)?,
        warnings: Vec::new(),
    })
}

/// Whether Node.js and the packages are there for the project whose `package.json` is given.
pub(super) fn is_ready(manifest: &Path, options: &Options) -> Result<(), BuildError> {
    sdk(manifest, options).is_ready()
}

fn sdk(manifest: &Path, options: &Options) -> CarriedSdk<impl Fn(&Path) -> Command> {
    CarriedSdk {
        files: sources::FILES,
        command: move |work: &Path| {
            let mut node = Command::new(options.node.as_deref().unwrap_or(Path::new("node")));
            node.arg(work.join("building/main.js")).arg(manifest);
            if let Some(folder) = &options.node_modules {
                node.arg("--node-modules").arg(folder);
            }
            node
        },
        no_runtime: |program, error| BuildError::NoNode { program, error },
        refused: BuildError::JavaScript,
    }
}

fn read(manifest: &Path) -> Result<serde_json::Value, BuildError> {
    let unreadable = |error| BuildError::Unreadable(manifest.to_owned(), error);
    let content = fs::read(manifest).map_err(unreadable)?;
    serde_json::from_slice(&content).map_err(|error| unreadable(error.into()))
}

/// The project's name without its scope, which the build has found to be there.
pub(super) fn name(manifest: &Path) -> Result<String, BuildError> {
    let content = read(manifest)?;
    let name = content["name"].as_str().unwrap_or_default();
    Ok(name.rsplit('/').next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_sdk_comes_with_the_program() {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../sdk/javascript");
        let mut there = BTreeSet::from(["package.json".to_owned(), "wit/policy.wit".to_owned()]);
        for folder in ["src", "building"] {
            for entry in fs::read_dir(sdk.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if name.ends_with(".js") {
                    there.insert(format!("{folder}/{name}"));
                }
            }
        }
        let carried: BTreeSet<String> =
            (sources::FILES.iter().map(|(name, _)| (*name).to_owned())).collect();
        assert_eq!(carried, there);
    }

    #[test]
    fn a_machine_without_that_node_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join(MANIFEST);
        fs::write(&manifest, r#"{"name": "sample", "placewright": {}}"#).unwrap();
        let options = Options {
            node: Some(folder.path().join("no-node")),
            ..Options::default()
        };
        let error = build(&manifest, &options).unwrap_err();
        assert!(matches!(error, BuildError::NoNode { .. }));
        assert!(error.to_string().contains("no-node"), "{error}");
    }

    #[test]
    fn only_a_package_that_speaks_of_placewright_is_a_unit() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join(MANIFEST);
        for (text, unit) in [
            (r#"{"name": "web", "placewright": {}}"#, true),
            (r#"{"devDependencies": {"placewright": "0.1.0"}}"#, true),
            (r#"{"name": "web", "dependencies": {"react": "19"}}"#, false),
            ("{", true),
        ] {
            fs::write(&manifest, text).unwrap();
            assert_eq!(is_unit(&manifest), unit, "{text}");
        }
    }

    #[test]
    fn the_scope_of_a_package_is_no_part_of_the_units_name() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join(MANIFEST);
        fs::write(&manifest, r#"{"name": "@mine/racks"}"#).unwrap();
        assert_eq!(name(&manifest).unwrap(), "racks");
    }
}
