//! Lists the components of `plugins/`, so that they become part of the program.
//!
//! A unit whose component was not built yet is left out with a warning: the program
//! that builds components must itself be built first.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let plugins = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../plugins");
    println!("cargo::rerun-if-changed={}", plugins.display());
    let mut list = String::from("&[\n");
    for folder in folders(&plugins)? {
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
    fs::write(Path::new(&env::var("OUT_DIR")?).join("units.rs"), list)?;
    Ok(())
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
