//! What watches a server: its metrics, and the alerts and the dashboard that are made of them.

mod alerts;
mod dashboard;
#[cfg(unix)]
mod faults;
mod query;
mod scrape;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use placewright_tests::repository;

pub(crate) use alerts::{Alert, alerts};

/// A folder of what watches a server.
fn folder(of: &str) -> PathBuf {
    repository().join("monitoring").join(of)
}

/// A program of Prometheus, if it is there: `tests/run --install` installs it.
fn prometheus(program: &str) -> Option<Command> {
    let asked = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    if asked.is_ok_and(|it| it.status.success()) {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        return Some(command);
    }
    eprintln!(
        "METRICS AND ALERTS ARE NOT TRIED WITH PROMETHEUS: {program} is missing; install it with tests/run --install"
    );
    None
}

/// Run it; it must succeed.
fn succeeds(mut command: Command) -> String {
    let done = command.output().unwrap();
    let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(done.status.success(), "{command:?}: {out}{err}");
    format!("{out}{err}")
}
