//! Writes units that attack whoever loads or calls them, for `tests/attacks/attack`.
//!
//!     cargo run -p placewright-fuzz --bin hostile-units -- FOLDER

#![forbid(unsafe_code)]

use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder =
        folder.ok_or_else(|| io::Error::other("give the folder that they are written to"))?;
    std::fs::create_dir_all(&folder)?;
    for (name, component) in placewright_fuzz::hostile::units() {
        std::fs::write(folder.join(name).with_extension("wasm"), component)?;
    }
    Ok(())
}
