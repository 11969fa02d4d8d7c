//! Lists what becomes part of the program: the components of `plugins/`, the SDK for
//! Rust with the contract, and the templates of new units.
//!
//! A unit whose component was not built yet is left out with a warning: the program
//! that builds components must itself be built first.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let host = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("units.rs"), units(&host.join("../plugins"))?)?;
    let sdk = [
        "LICENSE",
        "wit",
        "sdk/rust/Cargo.toml",
        "sdk/rust/src",
        "sdk/rust/derive",
    ];
    fs::write(out.join("sdk.rs"), carried(&host.join(".."), &sdk)?)?;
    let templates = carried(&host.join("templates"), &["."])?;
    fs::write(out.join("templates.rs"), templates)?;
    Ok(())
}

/// The texts of files and of all files in folders below `root`, with their paths from there.
fn carried(root: &Path, paths: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    for path in paths {
        let path = root.join(path);
        println!("cargo::rerun-if-changed={}", path.display());
        collect(&path, &mut files)?;
    }
    files.sort();
    let root = root.canonicalize()?;
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root)?;
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let name = name.join("/");
        writeln!(
            list,
            "CarriedFile {{ path: {name:?}, text: include_str!({file:?}) }},"
        )?;
    }
    list.push_str("]\n");
    Ok(list)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_file() {
        files.push(path.canonicalize()?);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

/// The components of the units in `plugins`.
fn units(plugins: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", plugins.display());
    let mut list = String::from("&[\n");
    for folder in folders(plugins)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let component = folder.join(format!("{name}.wasm"));
        if component.is_file() {
            let path = component.canonicalize()?;
            writeln!(
                list,
                "EmbeddedUnit {{ name: {name:?}, bytes: include_bytes!({path:?}) }},"
            )?;
        } else if is_unit(&folder) {
            println!(
                "cargo::warning=the unit {name} is left out: build it with \
                 `cargo run -- unit build plugins/{name}`"
            );
        }
    }
    list.push_str("]\n");
    Ok(list)
}

/// The folders in `plugins`, by name.
fn folders(plugins: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(plugins)? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Whether the crate becomes a component; others are what units share.
fn is_unit(folder: &Path) -> bool {
    fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("cdylib"))
}
