//! Projects in Rust.
//!
//! The SDK is written into the project rather than kept in one place for all: so a project
//! can be moved, kept in a repository and built on another machine, and goes on being built
//! with the SDK that it was begun with until its author takes a newer one. It lies there as
//! it does in Placewright's own repository, file by file, in a workspace of its own.

use super::carried::{self, template};
use super::lock::Crates;
use super::{File, Project, ProjectError, ProjectNameError};

/// The manifest of Placewright's repository, of which the SDK's crates take their version.
const WORKSPACE: &str = include_str!("../../../../../Cargo.toml");

/// What stands for the folder of the SDK in the template.
const SDK: &str = "placewright-0.0.0";

/// All files of a project.
pub(super) fn files(project: &Project) -> Result<Vec<File>, ProjectError> {
    let crates = Crates::of_sdk()?;
    if crates.has(&project.name) {
        return Err(ProjectNameError::Crate(project.name.clone()).into());
    }
    let sdk = format!("placewright-{}", env!("CARGO_PKG_VERSION"));
    let variant = project.variant();
    let manifest = template("rust/project/Cargo.toml")?.replace(SDK, &sdk);
    let mut files: Vec<File> = vec![
        ("Cargo.toml".to_owned(), project.filled_quoted(&manifest)),
        ("Cargo.lock".to_owned(), crates.lock_file(&project.name)),
        (
            ".gitignore".to_owned(),
            template("rust/project/gitignore")?.to_owned(),
        ),
        (
            "README.md".to_owned(),
            project.readme(template("rust/project/README.md")?),
        ),
        (
            "src/lib.rs".to_owned(),
            template(&format!("rust/{variant}/lib.rs"))?.to_owned(),
        ),
        (
            format!("scenarios/{}.toml", project.name),
            project.filled(template(&format!("rust/{variant}/scenario.toml"))?),
        ),
        (format!("vendor/{sdk}/Cargo.toml"), workspace()?),
    ];
    let sdk = carried::SDK.iter();
    files.extend(sdk.map(|file| {
        let path = format!(
            "vendor/placewright-{}/{}",
            env!("CARGO_PKG_VERSION"),
            file.path
        );
        (path, file.text.to_owned())
    }));
    Ok(files)
}

/// The manifest of the workspace that the SDK's crates are in.
fn workspace() -> Result<String, ProjectError> {
    let ours: toml::Table = WORKSPACE
        .parse()
        .map_err(|error| ProjectError::Sdk(format!("Cargo.toml: {error}")))?;
    let package = ours.get("workspace").and_then(|it| it.get("package"));
    let package = package.and_then(toml::Value::as_table);
    let package = package.map(ToString::to_string).unwrap_or_default();
    Ok(format!(
        "# The SDK of Placewright {}, as it is in Placewright's own repository.\n\n\
         [workspace]\nresolver = \"3\"\nmembers = [\"sdk/rust\", \"sdk/rust/derive\"]\n\n\
         [workspace.package]\n{package}",
        env!("CARGO_PKG_VERSION"),
    ))
}
