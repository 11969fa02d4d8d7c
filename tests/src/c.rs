//! Units in C, compiled where clang can make WebAssembly.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::repository;

/// The folder of the header and bindings for C.
pub fn sdk() -> PathBuf {
    repository().join("sdk/c")
}

/// Whether the machine has clang, a linker and a libc for WebAssembly; where it has not, that
/// is told once.
pub fn has_compiler() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let runs = |program: &str| {
            let mut ask = Command::new(program);
            ask.arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            ask.status().is_ok_and(|it| it.success())
        };
        let libc = Path::new("/usr/include/wasm32-wasi/stdlib.h");
        let all = runs("clang") && runs("wasm-ld") && libc.is_file();
        if !all {
            eprintln!("units in C are not tried: there is no clang for WebAssembly");
        }
        all
    })
}
