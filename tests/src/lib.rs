//! What the tests of behaviour stand on: units built from source, small clusters,
//! policies, components written as text, servers, and the digests of plugins' sources.
//!
//! The claims themselves are in `tests/decisions`, `tests/staging`, `tests/tests` and
//! `host/tests`. A component that one of them has built is taken by the others.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod built;
pub mod c;
pub mod component;
pub mod guest;
pub mod javascript;
pub mod parts;
pub mod python;
pub mod scene;
pub mod server;
pub mod sources;
pub mod units;
pub mod waiting;

use std::env;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The folder in which cargo put this program: cargo marks it for backup programs.
pub fn target_folder() -> PathBuf {
    let this = env::current_exe().unwrap_or_default();
    this.ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())
        .map_or_else(|| repository().join("target"), Path::to_owned)
}
