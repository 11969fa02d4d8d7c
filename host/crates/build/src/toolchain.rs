//! The Rust toolchain that applies in a folder.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{BuildError, TARGET};

/// Cargo and rustc as a crate's folder selects them.
pub(super) struct Toolchain {
    home: PathBuf,
    sysroot: PathBuf,
}

impl Toolchain {
    /// The toolchain for the crate in `home`, if it can make WebAssembly.
    pub(super) fn find(home: &Path) -> Result<Self, BuildError> {
        let ask = |arguments: &[&str]| ask(home, arguments);
        let libraries = ask(&["--print", "target-libdir", "--target", TARGET])?;
        if !libraries.is_dir() {
            return Err(BuildError::NoTarget);
        }
        Ok(Self {
            home: home.to_owned(),
            sysroot: ask(&["--print", "sysroot"])?,
        })
    }

    /// Cargo, in the crate's folder.
    pub(super) fn cargo(&self) -> Command {
        let mut cargo = Command::new(program("CARGO", "cargo"));
        cargo.current_dir(&self.home);
        // It would replace the flags below.
        cargo.env_remove("RUSTFLAGS");
        cargo
    }

    /// What rustc is told beyond the profile, as `CARGO_ENCODED_RUSTFLAGS` wants
    /// it: the author's own flags, then new names for all folders of this
    /// machine, which would otherwise stand in the messages of panics.
    pub(super) fn flags(&self) -> OsString {
        const SEPARATOR: &str = "\u{1f}";
        let mut flags: Vec<OsString> = own_flags(SEPARATOR);
        for (folder, name) in self.folders() {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(folder);
            flag.push("=");
            flag.push(name);
            flags.push(flag);
        }
        flags.join(SEPARATOR.as_ref())
    }

    /// Later entries win, so the more special come last.
    fn folders(&self) -> Vec<(PathBuf, &'static str)> {
        let mut folders = Vec::new();
        let user = env::var_os("HOME").map(PathBuf::from);
        folders.extend(user.clone().map(|folder| (folder, "/home")));
        folders.extend(workspace(&self.home).map(|folder| (folder, "/source")));
        folders.push((self.home.clone(), "/unit"));
        let cargo = env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo = cargo.or(user.map(|folder| folder.join(".cargo")));
        folders.extend(cargo.map(|folder| (folder, "/cargo")));
        folders.push((self.sysroot.clone(), "/rust"));
        folders
    }
}

/// The folder of the workspace around the crate: that of the outermost
/// `Cargo.toml`, which is near enough for a name.
fn workspace(home: &Path) -> Option<PathBuf> {
    home.ancestors()
        .skip(1)
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .last()
        .map(Path::to_owned)
}

fn own_flags(separator: &str) -> Vec<OsString> {
    let split = |name: &str, separator: &str| {
        let flags = env::var(name).ok()?;
        let flags = flags.split(separator).filter(|flag| !flag.is_empty());
        Some(flags.map(OsString::from).collect::<Vec<_>>())
    };
    split("CARGO_ENCODED_RUSTFLAGS", separator)
        .or_else(|| split("RUSTFLAGS", " "))
        .unwrap_or_default()
}

fn program(variable: &str, name: &str) -> OsString {
    env::var_os(variable).unwrap_or_else(|| name.into())
}

fn ask(home: &Path, arguments: &[&str]) -> Result<PathBuf, BuildError> {
    let mut rustc = Command::new(program("RUSTC", "rustc"));
    let output = rustc
        .args(arguments)
        .current_dir(home)
        .output()
        .map_err(|error| BuildError::no_toolchain(&rustc, error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(BuildError::BrokenToolchain(said.trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}
