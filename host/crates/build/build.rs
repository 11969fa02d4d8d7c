//! Lists what becomes part of the program: the SDK for Rust with the contract, and the
//! templates of new units.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let host = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR")?);
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
