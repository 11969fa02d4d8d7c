//! What is installed: a Debian package, a service of systemd, an image. Where a tool is missing
//! that these are made or tried with, that is told: `tests/run --install` installs them.

mod container;
mod debian;
mod systemd;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use placewright_tests::repository;

fn folder() -> PathBuf {
    repository().join("packaging")
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|it| it.stdout == b"0\n")
}

fn is_there(program: &str) -> bool {
    let asked = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .stdout(Stdio::null())
        .status();
    asked.is_ok_and(|it| it.success())
}

/// Run it; it must succeed. What it prints, its complaints before.
fn succeeds(mut command: Command) -> String {
    let done = command.stdin(Stdio::null()).output().unwrap();
    let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(done.status.success(), "{command:?}: {out}{err}");
    format!("{err}{out}")
}
