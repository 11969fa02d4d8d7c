//! From a project in Python to a component.
//!
//! The SDK that comes with this program does the work (`sdk/python`, package
//! `placewright.building`), in the Python of the author's machine.

mod sources;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::carried::CarriedSdk;
use super::{BuildError, Built, Options};

/// The file that makes a folder a project in Python.
pub(super) const MANIFEST: &str = "pyproject.toml";

/// Build the project whose `pyproject.toml` is given.
pub(super) fn build(manifest: &Path, options: &Options) -> Result<Built, BuildError> {
    Ok(Built {
        bytes: sdk(manifest, options).build()?,
        name: name(manifest)?,
        warnings: Vec::new(),
    })
}

/// Whether Python and componentize-py are there for the project whose `pyproject.toml` is given.
pub(super) fn is_ready(manifest: &Path, options: &Options) -> Result<(), BuildError> {
    sdk(manifest, options).is_ready()
}

fn sdk(manifest: &Path, options: &Options) -> CarriedSdk<impl Fn(&Path) -> Command> {
    let home = manifest.parent().unwrap_or(Path::new("."));
    let python = interpreter(home, options.python.as_deref());
    CarriedSdk {
        files: sources::FILES,
        command: move |work: &Path| {
            let mut python = Command::new(&python);
            python
                .args(["-m", "placewright.building"])
                .arg(manifest)
                // Alone on the path: another SDK may be installed.
                .env("PYTHONPATH", work)
                .env("PYTHONDONTWRITEBYTECODE", "1");
            python
        },
        no_runtime: |program, error| BuildError::NoPython { program, error },
        refused: BuildError::Python,
    }
}

/// The Python that is given; else the one of the project's virtual environment, else the
/// one on the path.
fn interpreter(home: &Path, given: Option<&Path>) -> PathBuf {
    if let Some(given) = given {
        return given.to_owned();
    }
    let own = home.join(".venv").join("bin").join("python");
    match own.is_file() {
        true => own,
        false => PathBuf::from("python3"),
    }
}

/// The project's name, which the build has found to be there.
pub(super) fn name(manifest: &Path) -> Result<String, BuildError> {
    let unreadable = |error| BuildError::Unreadable(manifest.to_owned(), error);
    let content = fs::read_to_string(manifest).map_err(unreadable)?;
    let content: toml::Table = content
        .parse()
        .map_err(|error| unreadable(io::Error::other(error)))?;
    let name = content
        .get("project")
        .and_then(|project| project.get("name"));
    let name = name.and_then(toml::Value::as_str);
    Ok(name.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_sdk_comes_with_the_program() {
        let package =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../sdk/python/src/placewright");
        let mut there = BTreeSet::new();
        for folder in ["", "building/"] {
            for entry in fs::read_dir(package.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if name.ends_with(".py") || name.ends_with(".typed") {
                    there.insert(format!("{folder}{name}"));
                }
            }
        }
        there.insert("wit/policy.wit".to_owned());
        let there: BTreeSet<String> =
            (there.iter().map(|name| format!("placewright/{name}"))).collect();
        let carried: BTreeSet<String> =
            (sources::FILES.iter().map(|(name, _)| (*name).to_owned())).collect();
        assert_eq!(carried, there);
    }

    #[test]
    fn a_machine_without_that_python_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join(MANIFEST);
        fs::write(&manifest, "[project]\nname = \"sample\"\n").unwrap();
        let options = Options {
            python: Some(folder.path().join("no-python")),
            ..Options::default()
        };
        let error = build(&manifest, &options).unwrap_err();
        assert!(matches!(error, BuildError::NoPython { .. }));
        assert!(error.to_string().contains("no-python"), "{error}");
    }

    #[test]
    fn the_python_of_the_projects_environment_comes_before_that_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(interpreter(folder.path(), None), Path::new("python3"));
        let own = folder.path().join(".venv/bin/python");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(&own, "").unwrap();
        assert_eq!(interpreter(folder.path(), None), own);
        let given = Path::new("/given/python");
        assert_eq!(interpreter(folder.path(), Some(given)), given);
    }
}
